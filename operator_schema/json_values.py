"""JSON values in Python: their types, their bounds, and how a document is copied and written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping
    from fractions import Fraction


LONGEST_BITS = 2125
"""The most bits of an integer in a schema: they fit into the 640 digits that every process can write
(CVE-2020-10735)."""

JSON_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
"""The values of `type` in JSON Schema 2020-12 (JSON Schema Validation, section 6.1.1)."""


JSON_SPACES = " \t\n\r"
"""What may stand around JSON values (RFC 8259, section 2)."""


def count_values(value: Any) -> int:
    """Count the values in a JSON value, itself included."""
    number = 0
    pending: list[Any] = [value]
    while pending:
        item: Any = pending.pop()
        number += 1
        if is_object(item):
            pending.extend(item.values())
        elif is_array(item):
            pending.extend(item)
    return number


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Return whether a value is a JSON array."""
    return isinstance(value, list)


class WrittenFloat(float):
    """A float from a JSON text that also keeps its digits as written.

    Attributes:
        text: the number as written in the JSON text.
    """

    __slots__ = ("text",)

    text: str


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Return whether a value is a JSON object; its keys may still be something other than strings."""
    return isinstance(value, dict)


def type_of(value: object) -> str | None:
    """Return the JSON type of a value, `integer` rather than `number` where both fit; None if it has none."""
    match value:
        case str():
            return "string"
        case bool():
            return "boolean"
        case None:
            return "null"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return None


def types_of_schema(json_schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the JSON types that a schema names in `type`."""
    declared: Any = json_schema.get("type")
    return (declared,) if isinstance(declared, str) else tuple(declared) if is_array(declared) else ()


def fits_types(value: object, types: Collection[str]) -> bool:
    """Return whether a value is of one of these JSON types, as JSON Schema counts them.

    Every integer is a number, and a number without fraction is an integer.
    """
    name = type_of(value)
    if name in types:
        return True
    if name == "integer":
        return "number" in types
    return isinstance(value, float) and "integer" in types and value.is_integer()


def choice_key(value: object) -> Hashable:
    """Return a key that is equal for two JSON scalars exactly when they are the same JSON value.

    `1` and `1.0` are one value, `True` and `1` are two.
    """
    return (value.__class__ is bool, value)


def plain_number(number: Fraction) -> float:
    """Return a fraction as an int if it is whole or too large for a float, else as a float."""
    try:
        return int(number) if number.denominator == 1 else float(number)
    except OverflowError:
        return int(number)


def has_surrogate(text: str) -> bool:
    """Return whether a string has a lone surrogate, so that no encoding can write it (RFC 7493)."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def without_surrogates(text: str) -> str:
    """Return a string with U+FFFD in place of each lone surrogate, which no encoding can write."""
    if not has_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def writable_json(value: Any) -> Any:
    """Return a JSON value with U+FFFD in place of each lone surrogate; the value itself if it has none."""
    if isinstance(value, str):
        return without_surrogates(value)
    if is_array(value):
        items = [writable_json(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if is_object(value):
        found = [(writable_json(key), writable_json(item)) for key, item in value.items()]
        pairs = zip(found, value.items(), strict=True)
        return value if all(new[0] is old[0] and new[1] is old[1] for new, old in pairs) else dict(found)
    return value


def copy_json(value: Any) -> Any:
    """Copy a JSON document, so that changes to one don't affect the other."""
    if isinstance(value, dict):  # not `is_object`: each call costs as much as copying a text
        pairs: Any = value.items()  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        return {key: item if item.__class__ in _PLAIN else copy_json(item) for key, item in pairs}
    if isinstance(value, list):
        items: Any = value  # pyright: ignore[reportUnknownVariableType]  # as above
        return [item if item.__class__ in _PLAIN else copy_json(item) for item in items]
    return value


def copy_at_most(value: Any, most: int) -> Any:
    """Copy a JSON document; return None if it has more than `most` values or nests too deeply."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        most -= sum([len(each) for each in level if is_object(each) or is_array(each)])
        level = _inside(level)
        if not level or most < 0:
            break
    return None if level or most < 0 else copy_json(value)


def is_finite(value: Any) -> bool:
    """Return whether all numbers in a JSON value are finite, as JSON requires (RFC 8259, section 6)."""
    # `is_finite_within` without a bound would do, and takes 20 % longer for small values.
    pending: list[Any] = [[value]]
    for holder in pending:  # the list grows during the loop, so no recursion is needed
        items: Any = holder.values() if isinstance(holder, dict) else holder  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        for found in items:
            if found.__class__ in _PLAIN:
                continue
            if isinstance(found, float):
                if found - found != 0:
                    return False
            elif isinstance(found, (dict, list)):
                pending.append(found)  # on purpose
    return True


def is_finite_within(value: Any, levels: int) -> bool:
    """Return whether all numbers are finite and nothing nests deeper than some levels, in one walk."""
    level: list[Any] = [[value]]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for holder in level:
            items: Any = holder.values() if isinstance(holder, dict) else holder  # pyright: ignore[reportUnknownVariableType]  # of whatever items
            for found in items:
                if found.__class__ in _PLAIN:
                    continue
                if isinstance(found, float):
                    if found - found != 0:
                        return False
                elif isinstance(found, (dict, list)):
                    inner.append(found)
        if not inner:
            return True
        level = inner
    return False


def nests_deeper(value: Any, levels: int) -> bool:
    """Return whether arrays and objects nest deeper than a number of levels."""
    level = [value]
    for _ in range(levels):
        level = _inside(level)
        if not level:
            return False
    return any(isinstance(found, (dict, list)) for found in level)


_PLAIN = frozenset({str, int, bool, type(None)})
"""The classes of most values in a document: no floats, and nothing that nests."""


def _inside(values: list[Any]) -> list[Any]:
    """Return the values directly inside arrays and objects, without strings, integers, booleans and nulls."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, dict):  # not `is_object`: the call costs a tenth of reading an answer
            items: Any = value.values()  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        elif isinstance(value, list):
            items = value  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        else:
            continue
        for item in items:
            if item.__class__ not in _PLAIN:
                found.append(item)  # noqa: PERF401  # most are plain: a comprehension costs more
    return found


def to_json_text(value: Any) -> str:
    """Write a JSON value as compact text.

    Raises:
        ValueError: a number in it isn't finite.
    """
    if type(value) is int:
        return repr(value)  # as the encoder, which takes five times as long to get ready
    global _encode  # noqa: PLW0603  # made once: `json.dumps` makes an encoder each time
    if _encode is None:
        # A program that writes no text does not pay for the json module.
        from json import JSONEncoder

        _encode = JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
    return _encode(value)


_encode: Callable[[Any], str] | None = None


MAX_DEPTH = 100
"""Levels of arrays and objects that a value may nest, the root being the first."""

MAX_TEXT_DEPTH = 500
"""Levels of arrays and objects that JSON text may nest, under `Any` too: fewer than the parser of any
supported interpreter can read."""

MAX_INTEGER_DIGITS = 4300
"""The most decimal digits of an integer: as many as `int(text)` takes by default (CVE-2020-10735)."""

_SHORT_BITS = 14_284
"""The most bits of an integer that surely has no more digits: `2**14284` is less than `10**4300`, `2**14285`
isn't."""

MAX_KEY_DIGITS = 64
"""The most characters of an integer that is written as a key of an object."""

MAX_COLLISIONS = 100
"""Different items of a set, or keys of a map, that may share one hash: `2**61 - 1` divides their
difference, as far as they are integers."""

MAX_LENIENT_VALUES = 1_000_000
"""How many values a lenient encode writes at most, because an iterator may never end."""

MAX_PROBLEMS = 100
"""How many problems one error carries; the others are only counted."""


def has_too_many_digits(number: int) -> bool:
    """Return whether an integer has more than `MAX_INTEGER_DIGITS` decimal digits."""
    # Computing only the power would take 2 % of the time to a first decode.
    return number.bit_length() > _SHORT_BITS and abs(number) >= 10**MAX_INTEGER_DIGITS


def most_digits() -> int:
    """Return how many digits of an integer are read: our limit or the interpreter's, whichever is smaller."""
    return min(MAX_INTEGER_DIGITS, sys.get_int_max_str_digits() or MAX_INTEGER_DIGITS)
