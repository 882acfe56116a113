"""Are the attributes of a user's own provider, or those that replace others, of the right types?"""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..message_text import checked_text, quote, received
from ..schema.dialect import Dialect
from ..schema.keywords import KEYWORDS
from ..similar_names import nearest
from .rules import Features, HostedTool, IdRule, NameRule, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ATTRIBUTES = {
    "names": "NameRule",
    "takes_unions": "bool",
    "dialect": "Dialect | None",
    "always": "Dialect | None",
    "rules": "Rules",
    "features": "Features",
    "calls_in_text": "bool",
    "required": "str",
    "sent_keys": "frozenset[str] | None",
    "takes_images": "bool",
    "needs_reasoning": "bool",
}
"""The annotations of a provider's attributes, and of the further options of `openai_compatible`."""

_NO_FORM = ("cache", "examples", "loads_found")
"""Features that need a wire form of another family."""


def check_custom_provider(provider: Any) -> None:
    """Check a provider made by `openai_compatible`.

    Raises:
        TypeError: an option has a wrong type.
        ValueError: Chat Completions has no form for a feature, JSON Schema doesn't have a keyword, or a value
            isn't one of its choices.
    """
    for part in (provider, provider.wire):
        check_changes({name: getattr(part, name) for name in part.__slots__})
    if provider.dialect is not None:
        _check_keywords(provider.dialect)
    unknown = [feature for feature in _NO_FORM if getattr(provider.features, feature)]
    if unknown:
        message = f"Chat Completions has no form for {unknown[0]}: leave it out of features"
        raise ValueError(message)


def _check_keywords(dialect: Dialect) -> None:
    for keyword in sorted({*dialect.keywords, *[keyword for keyword, _ in dialect.most]}):
        if keyword not in KEYWORDS:
            message = f"dialect: JSON Schema has no keyword {quote(keyword)}{_hint(keyword, list(KEYWORDS))}"
            raise ValueError(message)


def check_changes(attributes: Mapping[str, Any]) -> None:
    """Check the new attributes of a provider.

    Raises:
        TypeError: an attribute has a wrong type.
        ValueError: an attribute isn't one of its choices.
    """
    for name, value in attributes.items():
        if name == "name":
            checked_text("the name of a provider", value)
        elif name in _ATTRIBUTES:
            _check(name, value, _ATTRIBUTES[name])


def _check(name: str, value: Any, annotation: str) -> None:
    """Check a value, and the attributes in it, by their annotations, which are texts."""
    declared = annotation.removesuffix(" | None")
    if value is None and declared != annotation:
        return
    if declared.startswith("Literal["):
        _check_choice(name, value, literal_eval(declared.removeprefix("Literal")))
        return
    words, fits = _WANTED[declared]
    if not fits(value):
        words = words if declared == annotation else f"{words}, or None"
        message = f"{name} must be {words}, not {received(value)}"
        raise TypeError(message)
    if isinstance(value, Value):
        for attribute, inner in type(value).__annotations__.items():
            is_feature = isinstance(value, Features)
            part = f"the feature {attribute}" if is_feature else f"{name}.{attribute}"
            _check(part, getattr(value, attribute), inner)


def _check_choice(name: str, value: object, choices: list[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        hint = _hint(value, choices) if isinstance(value, str) else ""
        message = f"{name} must be {' or '.join(map(repr, choices))}, not {received(value)}{hint}"
        raise ValueError(message)


def _hint(name: str, names: list[str]) -> str:
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {quote(near)}?"


def _are_pairs(value: Any, fits: Callable[[Any], bool]) -> bool:
    return issubclass(type(value), tuple) and all(
        issubclass(type(pair), tuple) and len(pair) == 2 and isinstance(pair[0], str) and fits(pair[1])  # noqa: PLR2004  # as the name says
        for pair in value
    )


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_texts(value: Any) -> bool:
    return issubclass(type(value), frozenset) and all(isinstance(one, str) for one in value)


def _is_hosted(value: object) -> bool:
    return isinstance(value, HostedTool)


_WANTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "NameRule": ("a NameRule(…)", lambda value: isinstance(value, NameRule)),
    "IdRule": ("an IdRule(…)", lambda value: isinstance(value, IdRule)),
    "Rules": ("a Rules(…)", lambda value: isinstance(value, Rules)),
    "Features": ("a Features(…)", lambda value: isinstance(value, Features)),
    "Dialect": ("a Dialect(…)", lambda value: isinstance(value, Dialect)),
    "str": ("a string", lambda value: isinstance(value, str)),
    "bool": ("True or False", lambda value: type(value) is bool),
    "int": ("a number of at least 0", _is_count),
    "frozenset[str]": ("a frozenset of strings", _are_texts),
    "tuple[tuple[str, int], ...]": (
        "a tuple of pairs (keyword, number)",
        lambda value: _are_pairs(value, _is_count),
    ),
    "tuple[tuple[str, HostedTool], ...]": (
        "a tuple of pairs (name, HostedTool(…))",
        lambda value: _are_pairs(value, _is_hosted),
    ),
    "tuple[tuple[str, HostedTool | None], ...]": (
        "a tuple of pairs (name, HostedTool(…) or None)",
        lambda value: _are_pairs(value, lambda one: one is None or _is_hosted(one)),
    ),
}
"""The requirements of an attribute by its annotation, in words and as a test."""
