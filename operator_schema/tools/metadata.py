"""Metadata of a tool, and its validation."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from sys import float_info
from typing import TYPE_CHECKING, Any, TypeGuard, get_args

from ..codec.options import UnknownFields
from ..errors import Complaint
from ..immutable import Value
from ..introspect.docstrings import split_summary
from ..wording import clip, escape, quote, received
from .signature import is_coroutine_function, is_generator_function

if TYPE_CHECKING:
    Enabled = bool | Callable[[], bool] | None

__all__ = [
    "Metadata",
    "Documentation",
    "check_metadata",
    "is_duration",
    "is_switch",
    "pascal_case",
    "read_documentation",
    "snake_case",
]

_MOST_SECONDS = int(float_info.max)
_BREAK = re.compile(r"[\W_]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[^\W_]+")


class Documentation(Value):
    """The documentation of a tool.

    Attributes:
        summary: its first sentence, which the model gets with every request.
        details: the rest, which it may get on demand, or None.
        description: both, as they were written.
    """

    summary: str
    details: str | None
    description: str


class Metadata(Value):
    """What is known about a tool besides its function and its input.

    Attributes:
        name: by which the model calls it.
        documentation: for the model.
        enabled: whether the model may call it, or a function that says so; None leaves it to the
            registry.
        timeout: seconds that a call may take, or None where the executor decides.
        tags: for the host to choose by.
        examples: arguments of calls, as JSON values.
        described_by: name of the tool that gives the long documentation, or None.
    """

    name: str
    documentation: Documentation
    enabled: Enabled = None
    timeout: float | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()
    described_by: str | None = None


def read_documentation(
    name: str, description: str | None, summary: str | None, doc: str | None
) -> Documentation:
    """Return the documentation of a tool, from its options or its docstring.

    Args:
        name: of the tool.
        description: given; wins over the docstring.
        summary: given; the description then has the details only.
        doc: the prose of the docstring.
    """
    text = doc if description is None else description
    text = (text or "").strip()
    if summary is not None:
        summary = summary.strip()
        return Documentation(summary, text or None, f"{summary}\n\n{text}".strip())
    if not text:
        text = f"Use this tool for {name}. Auto generated."
        return Documentation(text, None, text)
    first, rest = split_summary(text)
    return Documentation(first, rest, text)


def check_metadata(given: Mapping[str, Any]) -> dict[str, Complaint]:
    """Complain about every option that is not of its kind.

    Args:
        given: option to value.

    Returns:
        Option to complaint, for those that are wrong.
    """
    found: dict[str, Complaint] = {}
    for option, value in given.items():
        fits, kind, remedy = _OPTIONS.get(option, _ANY)
        if not fits(value):
            message = f"{option} is {received(value)}, not {kind}"
            found[option] = Complaint((), "bad_option", _owner_of(given), message, remedy)
    name = given["name"]
    if "name" in found or not _NAME.fullmatch(name):
        what = quote(name, 100) if isinstance(name, str) else received(name)
        message = f"the name {what} is refused by providers" if name != "" else "it has no name"
        found["name"] = Complaint((), "bad_name", _owner_of(given), message, _NAME_REMEDY)
    return found


def _owner_of(given: Mapping[str, Any]) -> str:
    name = given["name"]
    return clip(escape(name), 100) if name and isinstance(name, str) else "tool"


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_name(value: object) -> bool:
    return value is None or (isinstance(value, str) and _NAME.fullmatch(value) is not None)


def is_switch(value: object) -> bool:
    """Say whether it tells if a model may call a tool: a boolean, or a function that gives one at once."""
    if isinstance(value, bool):
        return True
    # What these give is true whatever they would say.
    return callable(value) and not is_coroutine_function(value) and not is_generator_function(value)


def _is_enabled(value: object) -> bool:
    return value is None or is_switch(value)


def _is_timeout(value: Any) -> bool:
    return value is None or (is_duration(value) and value > 0)


def is_duration(value: object) -> TypeGuard[float]:
    """Say whether it is a number of seconds that clocks can count with, or infinity."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value >= 0:
        return False
    return isinstance(value, float) or value <= _MOST_SECONDS


def _is_collection(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, (str, bytes))


def _are_examples(value: object) -> bool:
    return _is_collection(value) and not isinstance(value, Mapping)  # which is one of them, alone


def _are_names(value: Any) -> bool:
    return _is_collection(value) and all(isinstance(item, str) for item in value)


def _is_mapping(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


def _is_choice(value: object) -> bool:
    return value in get_args(UnknownFields)


_NAME_REMEDY = "Give name= with 1 to 64 letters, digits, _ and - of ASCII"
_OPTIONS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "name": (lambda name: isinstance(name, str), "a string", _NAME_REMEDY),
    "description": (_is_text, "a string", "Write it as text"),
    "summary": (_is_text, "a string", "Write it as text"),
    "described_by": (_is_name, "the name of a tool", "Give the name of a tool"),
    "repair": (lambda repair: isinstance(repair, bool), "True or False", "Give True or False"),
    "skip": (_are_names, "a list of names", 'Write skip=("db",)'),
    "enabled": (_is_enabled, "a boolean", "Give True, False, or a function without parameters (def)"),
    "timeout": (_is_timeout, "a positive number", "Give it in seconds"),
    "unknown_fields": (_is_choice, "'ignore' or 'reject'", "Give one of the two"),
    "examples": (_are_examples, "a list", "Give a list with the arguments of a call for each"),
    "tags": (_are_names, "a list of texts", 'Write tags=("files",)'),
    "namespace": (_is_mapping, "a dict", "Give names and what they mean"),
}


_ANY: tuple[Callable[[Any], bool], str, str] = (lambda _: True, "", "")


def pascal_case(name: str) -> str:
    """Write a name as a class is written: `web_search` → `WebSearch`."""
    is_plain = name.isascii() and name.isidentifier()
    parts = name.split("_") if is_plain else _BREAK.split(name)
    return "".join([part[:1].upper() + part[1:] for part in parts])


def snake_case(name: str) -> str:
    """Write a name as a function is written: `ParseURLInput` → `parse_url_input`."""
    return "_".join([word.lower() for word in _WORD.findall(name)])
