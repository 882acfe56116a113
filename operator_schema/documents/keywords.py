"""The keywords of JSON Schema that say which values fit, arranged for the reader."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from ..introspect.limits import LIMITS
from ..json_values import LONGEST_BITS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BESIDE",
    "LIMITS_BY_TYPE",
    "OF_TYPE",
    "PLACEHOLDERS",
    "UNREADABLE",
    "UNREAD_PATTERN",
    "limit_of",
]

_TYPES = ("string", "integer", "number", "array", "object")

LIMITS_BY_TYPE: Final[Mapping[str, Mapping[str, str]]] = {
    json_type: {
        row.keywords[json_type]: row.slot for row in LIMITS if json_type in row.keywords and row.of != "text"
    }
    for json_type in _TYPES
}
"""By JSON type: keyword to attribute of `Constraints`, but for patterns."""

OF_TYPE: Final[Mapping[str, tuple[str, ...]]] = {
    "string": (*LIMITS_BY_TYPE["string"], "pattern"),
    "number": tuple(LIMITS_BY_TYPE["number"]),
    "array": (*LIMITS_BY_TYPE["array"], "items", "prefixItems", "additionalItems", "uniqueItems"),
    "object": (
        *LIMITS_BY_TYPE["object"],
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
    ),
}
"""The keywords that are about values of one type."""

UNREADABLE: Final = (
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
)
"""The keywords that no node can express."""

UNREAD_PATTERN: Final = (
    "it is too large, refers to groups, looks ahead or behind, or isn't an expression of ECMA 262"
)
"""Why a regular expression isn't run."""

BESIDE: Final = (
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    *UNREADABLE,
    *[keyword for keywords in OF_TYPE.values() for keyword in keywords],
)
"""All keywords that say which values fit."""

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "date-time": "2025-01-31T12:00:00Z",
    "date": "2025-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/path",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
"""A text of each format that is known; which texts fit is the server's to say."""

_EXACT_DENOMINATOR = 2**20


def limit_of(keyword: str, value: Any) -> int | float | None:
    """Return the limit that a keyword sets; None if no graph can hold it."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not isfinite(value)):
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, int) and whole.bit_length() > LONGEST_BITS:
        return None
    if keyword[:3] in {"min", "max"} and keyword not in {"minimum", "maximum"}:  # a length
        return whole if isinstance(whole, int) and 0 <= whole < 2**63 else None
    if keyword == "multipleOf":
        # Of other numbers validators calculate differently.
        return whole if whole > 0 and whole.as_integer_ratio()[1] <= _EXACT_DENOMINATOR else None
    limit: float = whole
    return limit
