"""JSON values that came inside a string: `"5"`, `"true"`, `"[1, 2]"`."""

from __future__ import annotations

import re
from typing import Any, Final

from ..json_values import type_of
from .limits import MAX_INTEGER_DIGITS, most_digits

__all__ = ["NOTHING", "quoted_scalar", "quoted_type"]

NOTHING: Final[Any] = object()
"""`quoted_scalar` returns it for a string without a scalar."""

_WORDS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_CONTAINERS: Final = {"[": ("]", "array"), "{": ("}", "object")}


def quoted_scalar(text: str) -> Any:
    """Return the number, boolean or null that a string spells.

    Args:
        text: of any length.

    Returns:
        What JSON (RFC 8259) reads where it is without quotes, or for `True`, `False` and `None`
        what Python reads; `NOTHING` for every other string, and for numbers beyond the range of
        floats or of more digits than are read anywhere.
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_INTEGER_DIGITS:
        return NOTHING
    match = _NUMBER.fullmatch(text)
    if match is None:
        return NOTHING
    if match[1] is match[2] is None:
        return int(text) if len(text.lstrip("-")) <= most_digits() else NOTHING
    number = float(text)
    return number if number - number == 0 else NOTHING


def quoted_type(text: str) -> str | None:
    """Return the JSON type that a string seems to contain, judged by its ends; None for plain text."""
    scalar = quoted_scalar(text)
    if scalar is not NOTHING:
        return type_of(scalar)
    closing, name = _CONTAINERS.get(text.lstrip()[:1], ("", ""))
    return name if closing and text.rstrip().endswith(closing) else None
