"""Checks of a user's own provider, and of replaced attributes of a provider."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

from ..message_text import checked_switch, checked_text, quote, received
from ..schema.dialect import Dialect
from ..schema.keywords import KEYWORDS
from ..similar_names import nearest
from .tool_names import Features, HostedTool, IdRule, NameRule, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..immutable import Value


def check_table(table: Mapping[str, Any]) -> None:
    """Check the options of `openai_compatible`.

    Raises:
        TypeError: an option has a wrong type.
        ValueError: Chat Completions has no form for a feature, JSON Schema doesn't have a keyword, or a value
            isn't one of its choices.
    """
    check_changes({name: table[name] for name in table.keys() & {*_KINDS, *_FLAGS}})
    if table["dialect"] is not None:
        _check_keywords(table["dialect"])
    _check_forms(table["features"])
    _check_one("required", table["required"], "str")
    for flag in ("takes_images", "needs_reasoning"):
        _check_one(flag, table[flag], "bool")
    if table["sent_keys"] is not None:
        _check_one("sent_keys", table["sent_keys"], "frozenset[str]")


def check_changes(attributes: Mapping[str, Any]) -> None:
    """Check the new attributes of a provider.

    Raises:
        TypeError: an attribute has a wrong type.
        ValueError: an attribute isn't one of its choices.
    """
    for name, value in attributes.items():
        if name == "name":
            checked_text("the name of a provider", value)
        elif name in _FLAGS:
            _check_one(name, value, "bool")
        elif name in _KINDS and not (value is None and name in _MAY_LACK):
            _check_kind(name, value, _KINDS[name])
            _CONTENTS.get(name, _check_content)(name, value)


_FLAGS = ("takes_unions", "calls_in_text")
_KINDS: dict[str, type[Value]] = {
    "names": NameRule,
    "dialect": Dialect,
    "always": Dialect,
    "rules": Rules,
    "features": Features,
}
_MAY_LACK = ("dialect", "always")


def _check_kind(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        message = f"{name} must be a {kind.__name__}(…), not {received(value)}"
        raise TypeError(message)


def _check_content(name: str, value: Value) -> None:
    """Check the attributes of a value by their annotations, which are texts."""
    for attribute, annotation in type(value).__annotations__.items():
        _check_one(f"{name}.{attribute}", getattr(value, attribute), annotation)


def _check_one(name: str, value: object, annotation: str) -> None:
    if annotation.startswith("Literal["):
        choices = literal_eval(annotation.removeprefix("Literal"))
        if not isinstance(value, str) or value not in choices:
            near = nearest(value, choices) if isinstance(value, str) else None
            hint = f"; did you mean {quote(near)}?" if near else ""
            message = f"{name} must be {' or '.join(map(repr, choices))}, not {received(value)}{hint}"
            raise ValueError(message)
        return
    wanted, fits = _WANTED[annotation]
    if not fits(value):
        message = f"{name} must be {wanted}, not {received(value)}"
        raise TypeError(message)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_limit(pair: Any) -> bool:
    is_pair = issubclass(type(pair), tuple) and len(pair) == 2  # noqa: PLR2004  # as the name says
    return is_pair and isinstance(pair[0], str) and _is_count(pair[1])


def _are_texts(value: Any) -> bool:
    return issubclass(type(value), frozenset) and all(isinstance(one, str) for one in value)


def _are_limits(value: Any) -> bool:
    return issubclass(type(value), tuple) and all(_is_limit(one) for one in value)


_WANTED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("a string", lambda value: isinstance(value, str)),
    "bool": ("True or False", lambda value: type(value) is bool),
    "int": ("a number of at least 0", _is_count),
    "int | None": ("a number of at least 0, or None", lambda value: value is None or _is_count(value)),
    "str | None": ("a string or None", lambda value: value is None or isinstance(value, str)),
    "IdRule": ("an IdRule(…)", lambda value: isinstance(value, IdRule)),
    "NameRule | None": (
        "a NameRule(…) or None",
        lambda value: value is None or isinstance(value, NameRule),
    ),
    "frozenset[str]": ("a frozenset of strings", _are_texts),
    "tuple[tuple[str, int], ...]": ("a tuple of pairs (keyword, number)", _are_limits),
}
"""The requirements of an attribute by its annotation, in words and as a test."""


def _check_keywords(dialect: Dialect) -> None:
    for keyword in sorted({*dialect.keywords, *[keyword for keyword, _ in dialect.most]}):
        if keyword not in KEYWORDS:
            near = nearest(keyword, list(KEYWORDS))
            hint = f"; did you mean {quote(near)}?" if near else ""
            message = f"dialect: JSON Schema has no keyword {quote(keyword)}{hint}"
            raise ValueError(message)


def _check_rules(name: str, rules: Rules) -> None:
    _check_content(name, rules)
    if rules.keys is not None:
        _check_content(f"{name}.keys", rules.keys)
    _check_content(f"{name}.ids", rules.ids)


def _check_features(_: str, features: Features) -> None:
    for feature in features.__slots__:
        value: Any = getattr(features, feature)
        if feature not in _HOSTED:
            checked_switch(f"the feature {feature}", value)
        elif not issubclass(type(value), tuple) or not all(
            _is_hosted(each, _HOSTED[feature]) for each in value
        ):
            message = (
                f"the feature {feature} is a tuple of pairs (name, HostedTool(…)), not {received(value)}"
            )
            raise TypeError(message)


_CONTENTS: dict[str, Callable[[str, Any], None]] = {"rules": _check_rules, "features": _check_features}


def _check_forms(features: Features) -> None:
    """Check that Chat Completions has a form for each feature.

    Raises:
        ValueError: it has no form for a feature.
    """
    unknown = [feature for feature in _NO_FORM if getattr(features, feature)]
    if unknown:
        message = f"Chat Completions has no form for {unknown[0]}: leave it out of features"
        raise ValueError(message)


_HOSTED: dict[str, tuple[type, ...]] = {"searches": (HostedTool,), "callers": (HostedTool, type(None))}
"""The types that each feature may contain besides names."""


def _is_hosted(pair: Any, kinds: tuple[type, ...]) -> bool:
    is_pair = issubclass(type(pair), tuple) and len(pair) == 2  # noqa: PLR2004  # as the name says
    return is_pair and isinstance(pair[0], str) and isinstance(pair[1], kinds)


_NO_FORM = ("cache", "examples", "loads_found")
"""Features that need a wire form of another family."""
