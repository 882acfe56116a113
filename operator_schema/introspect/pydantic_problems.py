"""Which problem is meant by an error of pydantic?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..findings import Finding
from ..json_values import is_array, is_object
from ..message_text import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..findings import ValueCode


def problems_of(error: Any, value: Any) -> list[Finding]:
    """Return a problem for each error of pydantic.

    Args:
        error: a `ValidationError`.
        value: the JSON value with the errors, for paths.
    """
    return [_problem(entry, value) for entry in error.errors(include_url=False, include_context=False)]


def _problem(entry: Mapping[str, Any], value: Any) -> Finding:
    kind: str = entry["type"]
    path = _path(entry["loc"], value, is_absent=kind == "missing")
    if kind == "missing":
        return Finding(path, "missing", "missing (required)")
    received = excerpt(entry["input"])
    # The message of a validator may contain anything that the model sent.
    said = one_line(entry["msg"], _SAID_LENGTH)
    return Finding(path, _code(kind), f"{said}, got {received}", None, received)


_SAID_LENGTH: Final = 180


def _path(loc: Sequence[Any], value: Any, *, is_absent: bool) -> tuple[str | int, ...]:
    """Return the steps of a location that lead through a value, without names of union members."""
    path: list[str | int] = []
    for number, step in enumerate(loc, 1):
        is_item = is_array(value) and isinstance(step, int) and step < len(value)
        if is_item or (is_object(value) and step in value):
            path.append(step)
            value = value[step]
        elif is_absent and number == len(loc):
            path.append(step)
    return tuple(path)


_CODES: Final[dict[str, ValueCode]] = {
    "extra_forbidden": "unknown",
    "literal_error": "not_one_of",
    "enum": "not_one_of",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "multiple_of": "out_of_range",
    "finite_number": "out_of_range",
    "too_short": "bad_length",
    "too_long": "bad_length",
    "string_too_short": "bad_length",
    "string_too_long": "bad_length",
    "string_pattern_mismatch": "bad_format",
    "union_tag_invalid": "no_match",
    "union_tag_not_found": "no_match",
    "recursion_loop": "too_deep",
    "json_invalid": "bad_format",
    "value_error": "rejected",
    "assertion_error": "rejected",
}
"""Our code for each type of pydantic error."""


def _code(kind: str) -> ValueCode:
    if kind in _CODES:
        return _CODES[kind]
    if kind.endswith("_type") or kind in {"int_parsing", "float_parsing", "bool_parsing", "int_from_float"}:
        return "wrong_type"
    return "bad_format" if kind.endswith("_parsing") else "rejected"
