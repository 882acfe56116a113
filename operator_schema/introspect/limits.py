"""What each constraint is, in one table: a new one gets an attribute of `Constraints` and its row here."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final, Literal

from ..immutable import Value

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from .nodes import Constraints

    Pattern = re.Pattern[str]

__all__ = [
    "LENGTHS",
    "LIMITS",
    "NUMBERS",
    "SIGNS",
    "TEXTS",
    "Limit",
    "LimitError",
    "is_no_multiple",
    "keywords_of",
]


class LimitError(ValueError):
    """A leaf read a value that is beyond the limits of its annotation: a problem `out_of_range`."""


def _as_it_is(value: Any) -> Any:
    return value


def is_no_multiple(value: float, of: float) -> bool:
    """Return whether a number doesn't divide another one exactly."""
    numerator, denominator = value.as_integer_ratio()
    divisor, unit = of.as_integer_ratio()
    return (numerator * unit) % (denominator * divisor) != 0


def _misses(text: str, pattern: Pattern) -> bool:
    return not pattern.search(text)


def _search_of(pattern: Pattern) -> Callable[[str], Any]:
    return pattern.search


def _text_of(pattern: Pattern) -> str:
    return pattern.pattern


class Limit(Value):
    """One constraint.

    Attributes:
        slot: the attribute of `Constraints`.
        given_as: the attribute of annotated-types that says it; empty for a pattern, which is given as it is.
        of: what it limits.
        keywords: JSON type to the keyword of JSON Schema.
        sign: what messages show before its value.
        breaks: whether a number, a length or a text breaks it.
        said: how messages name a number or text that breaks it, or a length that is expected.
        tighter: of two limits, the one to keep; None where both can't be kept.
        test: the operator that generated code writes for `breaks`; empty where it calls that.
        finder: for a text, makes the function that generated code calls, which is true of what fits.
        written: makes the value of the keyword out of the limit.
    """

    slot: str
    given_as: str
    of: Literal["number", "length", "text"]
    keywords: Mapping[str, str]
    sign: str
    breaks: Callable[[Any, Any], bool]
    said: str
    tighter: Callable[[Any, Any], Any] | None = None
    test: str = ""
    finder: Callable[[Any], Callable[[str], Any]] | None = None
    written: Callable[[Any], Any] = _as_it_is


def _of_numbers(keyword: str) -> Mapping[str, str]:
    return {"integer": keyword, "number": keyword}


LIMITS: Final = (
    Limit("minimum", "ge", "number", _of_numbers("minimum"), "≥", operator.lt, "below the minimum", max, "<"),
    Limit(
        "exclusive_minimum",
        "gt",
        "number",
        _of_numbers("exclusiveMinimum"),
        ">",
        operator.le,
        "not above",
        max,
        "<=",
    ),
    Limit("maximum", "le", "number", _of_numbers("maximum"), "≤", operator.gt, "above the maximum", min, ">"),
    Limit(
        "exclusive_maximum",
        "lt",
        "number",
        _of_numbers("exclusiveMaximum"),
        "<",
        operator.ge,
        "not below",
        min,
        ">=",
    ),
    Limit(
        "multiple_of",
        "multiple_of",
        "number",
        _of_numbers("multipleOf"),
        "a multiple of",
        is_no_multiple,
        "not a multiple of",
    ),
    Limit(
        "min_length",
        "min_length",
        "length",
        {"string": "minLength", "array": "minItems", "object": "minProperties"},
        "length ≥",
        operator.lt,
        "at least",
        max,
        "<",
    ),
    Limit(
        "max_length",
        "max_length",
        "length",
        {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
        "length ≤",
        operator.gt,
        "at most",
        min,
        ">",
    ),
    Limit(
        "pattern",
        "",
        "text",
        {"string": "pattern"},
        "matching",
        _misses,
        "does not match the pattern",
        finder=_search_of,
        written=_text_of,
    ),
)
"""In the order in which schemas and messages name them."""

NUMBERS: Final = tuple([limit for limit in LIMITS if limit.of == "number"])
LENGTHS: Final = tuple([limit for limit in LIMITS if limit.of == "length"])
TEXTS: Final = tuple([limit for limit in LIMITS if limit.of == "text"])
SIGNS: Final = {limit.slot: limit.sign for limit in LIMITS}


def keywords_of(constraints: Constraints, json_type: str) -> dict[str, Any]:
    """Return the keywords of JSON Schema for the constraints of a value of a JSON type."""
    found: dict[str, Any] = {}
    for limit in LIMITS:
        value = getattr(constraints, limit.slot)
        if value is not None and json_type in limit.keywords:
            found[limit.keywords[json_type]] = limit.written(value)
    return found
