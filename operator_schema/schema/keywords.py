"""Which keywords does JSON Schema have? One table: a new one gets its row here.

A keyword that limits values is made from the row of its constraint, which has an attribute in `Constraints`
too. All code that renders, reads, checks, compares or describes schemas looks up keywords here; there is no
second table.
"""

from __future__ import annotations

import operator
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal

from ..immutable import Value
from ..json_values import LONGEST_BITS

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

INTEGER_KEY = "^(0|-?[1-9][0-9]*)$"
"""The pattern of an integer that is written as a JSON key."""

UNITS: Final[Mapping[str, str]] = {"string": "characters", "array": "items", "object": "keys"}
"""The unit of length for values of each JSON type."""


class LimitError(ValueError):
    """A leaf's value is outside the limits of its annotation; it becomes a problem `out_of_range`."""


def _as_it_is(value: Any) -> Any:
    return value


def is_no_multiple(value: float, of: float) -> bool:
    """Return whether a number doesn't divide another one exactly."""
    numerator, denominator = value.as_integer_ratio()
    divisor, unit = of.as_integer_ratio()
    return (numerator * unit) % (denominator * divisor) != 0


class Constraints(Value):
    """The restrictions on the values of a node; None for an absent one.

    Attributes:
        minimum: the least number.
        exclusive_minimum: a number that every value is above.
        maximum: the greatest number.
        exclusive_maximum: a number that every value is below.
        multiple_of: a positive number that divides every value.
        min_length: least number of characters, items or entries.
        max_length: greatest number of them.
        pattern: a regular expression that must match somewhere in every string.
    """

    minimum: float | None = None
    exclusive_minimum: float | None = None
    maximum: float | None = None
    exclusive_maximum: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: re.Pattern[str] | None = None


class Limit(Value):
    """One constraint.

    Attributes:
        slot: the attribute of `Constraints`.
        given_as: its attribute in annotated-types; empty for a pattern, which is given as an `re.Pattern`.
        of: the thing that it limits.
        keywords: JSON type to the keyword of JSON Schema.
        sign: the symbol or words before its value in messages.
        breaks: returns whether a number, a length or a text breaks it.
        said: words in a message for a number or text that breaks it, or for the expected length.
        words: words in a description, with `{}` for the value; for a length, without its unit.
        tighter: returns the one of two limits to keep; None if two can't be combined.
        test: the operator for `breaks` in generated code.
        finder: makes a function for generated code that returns a true value for values that fit. Without
            `test` and `finder`, generated code calls `breaks`.
        written: turns the limit into the value of the keyword.
        check: turns the value in an annotation into a limit, given its name, the value and the annotation, or
            raises an UnfitError; needed for a limit that is neither a number nor a length.
    """

    slot: str
    given_as: str
    of: Literal["number", "length", "text"]
    keywords: Mapping[str, str]
    sign: str
    breaks: Callable[[Any, Any], bool]
    said: str
    words: str
    tighter: Callable[[Any, Any], Any] | None = None
    test: str = ""
    finder: Callable[[Any], Callable[[str], Any]] | None = None
    written: Callable[[Any], Any] = _as_it_is
    check: Callable[[str, Any, object], Any] | None = None


def _number(slot: str, given_as: str, keyword: str, *rest: Any) -> Limit:
    return Limit(slot, given_as, "number", {"integer": keyword, "number": keyword}, *rest)


def _length(slot: str, start: str, *rest: Any) -> Limit:
    ends = {"string": "Length", "array": "Items", "object": "Properties"}
    return Limit(slot, slot, "length", {kind: start + end for kind, end in ends.items()}, *rest)


LIMITS: Final = (
    _number("minimum", "ge", "minimum", "≥", operator.lt, "below the minimum", "at least {}", max, "<"),
    _number("exclusive_minimum", "gt", "exclusiveMinimum", ">",
            operator.le, "not above", "more than {}", max, "<="),
    _number("maximum", "le", "maximum", "≤", operator.gt, "above the maximum", "at most {}", min, ">"),
    _number("exclusive_maximum", "lt", "exclusiveMaximum", "<",
            operator.ge, "not below", "less than {}", min, ">="),
    _number("multiple_of", "multiple_of", "multipleOf", "a multiple of",
            is_no_multiple, "not a multiple of", "a multiple of {}"),
    _length("min_length", "min", "length ≥", operator.lt, "at least", "at least {}", max, "<"),
    _length("max_length", "max", "length ≤", operator.gt, "at most", "at most {}", min, ">"),
    Limit("pattern", "", "text", {"string": "pattern"}, "matching",
          lambda text, pattern: not pattern.search(text), "does not match the pattern",
          "matching the pattern {}",
          finder=operator.attrgetter("search"), written=operator.attrgetter("pattern")),
)  # fmt: skip
"""All constraints, in the order in which schemas and messages name them."""

NUMBERS: Final = tuple([limit for limit in LIMITS if limit.of == "number"])
LENGTHS: Final = tuple([limit for limit in LIMITS if limit.of == "length"])
TEXTS: Final = tuple([limit for limit in LIMITS if limit.of == "text"])
EXCLUSIVE: Final = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
"""The limits of draft 4, each with the keyword that made it exclusive."""
COMPOSING: Final = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"})
"""Keywords that APIs don't take at the root of a tool's schema, which must be one object with properties."""
SIGNS: Final = {limit.slot: limit.sign for limit in LIMITS}


class Keyword(Value):
    """One keyword.

    Attributes:
        name: the name of the keyword.
        of: the JSON types whose values it is about; empty if it is about all.
        holds: the kind of its value: a `schema`, `schemas` in a list, `either` of both, `named` schemas in an
            object, or a plain `value`.
        says: the kind of its meaning: it restricts `values` · it only works `beside` another keyword · it is
            the `format` of a value · it is a `note` for a person · it is a `name` or place of something.
        words: its meaning in a description, with `{}` for its value; empty if a few words aren't enough.
        in_graph: whether a node can express it.
        limit: the constraint that it belongs to.
    """

    name: str
    of: tuple[str, ...] = ()
    holds: Literal["value", "schema", "schemas", "either", "named"] = "value"
    says: Literal["values", "beside", "format", "note", "name"] = "values"
    words: str = ""
    in_graph: bool = True
    limit: Limit | None = None


def _limiting(limit: Limit) -> list[Keyword]:
    """Return the keywords of a constraint; a length has a different one for each type."""
    types: dict[str, list[str]] = {}
    for json_type, name in limit.keywords.items():
        types.setdefault(name, []).append(json_type)
    units = {name: f" {UNITS[of[0]]}" if limit.of == "length" else "" for name, of in types.items()}
    return [
        Keyword(name, tuple(of), words=f"{limit.words}{units[name]}", limit=limit)
        for name, of in types.items()
    ]


_STRING: Final = ("string",)
_ARRAY: Final = ("array",)
_OBJECT: Final = ("object",)
_NOTES: Final = ("example", "deprecated", "readOnly", "writeOnly", "$comment")
_NAMES: Final = ("$schema", "$vocabulary", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")

_ROWS: Final = (
    *[Keyword(name) for name in ("type", "enum", "const", "$ref")],
    *[Keyword(name, holds="schemas") for name in ("anyOf", "oneOf", "allOf")],
    *[Keyword(name, holds="schema", in_graph=False) for name in ("not", "if")],
    *[Keyword(name, holds="schema", says="beside") for name in ("then", "else")],
    Keyword("dependentRequired", _OBJECT, in_graph=False),
    *[Keyword(name, _OBJECT, "named", in_graph=False) for name in ("dependentSchemas", "dependencies")],
    Keyword("contains", _ARRAY, "schema", in_graph=False),
    *[Keyword(name, _ARRAY, says="beside") for name in ("minContains", "maxContains")],
    Keyword("unevaluatedItems", _ARRAY, "schema", in_graph=False),
    Keyword("unevaluatedProperties", _OBJECT, "schema", in_graph=False),
    *[Keyword(name, in_graph=False) for name in ("$dynamicRef", "$recursiveRef")],
    *[keyword for limit in LIMITS for keyword in _limiting(limit)],
    Keyword("items", _ARRAY, "either"),
    Keyword("prefixItems", _ARRAY, "schemas"),
    Keyword("additionalItems", _ARRAY, "schema"),
    Keyword("uniqueItems", _ARRAY, words="no two items the same"),
    Keyword("properties", _OBJECT, "named"),
    Keyword("required", _OBJECT),
    Keyword("additionalProperties", _OBJECT, "schema"),
    Keyword("patternProperties", _OBJECT, "named"),
    Keyword("propertyNames", _OBJECT, "schema", words="keys that fit {}"),
    Keyword("format", ("string", "integer", "number"), says="format", words="in the format {}"),
    Keyword("contentEncoding", _STRING, says="format", words="in {}"),
    Keyword("contentMediaType", _STRING, says="format", words="of the type {}"),
    Keyword("contentSchema", _STRING, "schema", says="format"),
    *[Keyword(name, says="note") for name in ("title", "description")],
    Keyword("default", says="note", words="default {}"),
    Keyword("examples", says="note", words="for example {}"),
    *[Keyword(name, says="note") for name in _NOTES],
    *[Keyword(name, says="beside") for name in ("discriminator", "nullable")],
    Keyword("propertyOrdering", _OBJECT, says="note"),
    *[Keyword(name, says="name") for name in _NAMES],
    *[Keyword(name, holds="named", says="name") for name in ("$defs", "definitions")],
)
KEYWORDS: Final[Mapping[str, Keyword]] = {row.name: row for row in _ROWS}
"""All keywords by name; those that restrict values are in the order in which a reader looks at them."""

DEFINITIONS: Final = tuple([row.name for row in _ROWS if row.says == "name" and row.holds == "named"])
"""The keywords under which a schema has its definitions."""


def about(json_type: str, says: Literal["values", "format"] = "values") -> tuple[str, ...]:
    """Return the keywords that are about values of one JSON type only."""
    return tuple([row.name for row in _ROWS if json_type in row.of and row.says == says])


def keywords_of(constraints: object, json_type: str) -> dict[str, Any]:
    """Return the keywords of JSON Schema that express `Constraints` on values of a JSON type."""
    found: dict[str, Any] = {}
    for limit in LIMITS:
        value = getattr(constraints, limit.slot)
        if value is not None and json_type in limit.keywords:
            found[limit.keywords[json_type]] = limit.written(value)
    return found


def limit_of(keyword: str, value: Any) -> int | float | None:
    """Return the limit that a keyword sets; None if no graph can hold it."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not isfinite(value)):
        return None
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(whole, int) and whole.bit_length() > LONGEST_BITS:
        return None
    row = KEYWORDS[keyword].limit
    if row is not None and row.of == "length":
        return whole if isinstance(whole, int) and 0 <= whole < 2**63 else None
    if keyword == "multipleOf":
        # Validators disagree about other numbers.
        return whole if whole > 0 and _is_exact(whole) else None
    limit: float = whole
    return limit


def has_exact_step(constraints: Constraints) -> bool:
    """Return whether all validators agree about `multiple_of`, so that a schema may have it."""
    return constraints.multiple_of is None or _is_exact(constraints.multiple_of)


def _is_exact(step: float) -> bool:
    return step.as_integer_ratio()[1] <= _EXACT_DENOMINATOR


_EXACT_DENOMINATOR = 2**20
"""Up to this denominator, every validator calculates exactly."""
