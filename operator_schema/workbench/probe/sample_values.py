"""Which values does a part of a call get: right ones at its limits, wrong ones, and hostile ones?"""

from __future__ import annotations

import re
import unicodedata
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, Any, Final

from ...json_values import is_array, is_object, to_json_text
from .parts import FORMATS, choices_of, is_number, limits_of, members_of, type_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LARGEST: Final = 2**53 - 1
"""The largest integer that is the same in all programs: RFC 8259, section 6."""

_SMALL: Final = 1000
_LONG: Final = 100_000
_MOST_TEXT: Final = 5000
HOSTILE: Final = (
    "a\x00b",
    "\ud800",
    "../../../../probe",
    "--help",
    "-rf",
    "%s%n%x",
    "'; --",
    "$(true)",
    "\u202e\u0000\r\n",
    "x" * _LONG,
)
FEW_HOSTILE: Final = ("a\x00b", "'; --")
"""Hostile texts for parts inside of parameters."""

SAMPLES: Final[tuple[Any, ...]] = ("x", "5", 5, 1.5, True, None, [], {})
FEW_SAMPLES: Final[tuple[Any, ...]] = ("5", 5, None, [])
_COERCED: Final[Mapping[str, tuple[Any, ...]]] = {
    "boolean": ("true", "yes", 1),
    "array": ("[]", "a,b"),
    "object": ("{}",),
}
"""Values of other types that some programs convert to a type."""

_UNLIKELY: Final = ("", "!", "probe probe")
"""Texts that hardly any pattern allows together."""

_ENDS: Final = f"{digits}{ascii_lowercase}{ascii_uppercase}"
_MOST_ITEMS: Final = 50
_FEW_KEYS: Final = 3
_FEW_CHOICES: Final = 2
_NUMBERS: Final = (0, 1, -1, 1000, 10**6, 2**31, _LARGEST)
TEXTS: Final = ("a b", "\u00e9", "\u6f22", "\U0001f600", "a" * 300, "a" * 2000)
"""Texts with letters of each number of bytes in UTF-8, and long texts."""

_QUOTED: Final = re.compile(r"['\"`]([^'\"`\n]{1,60})['\"`]")
_PATH_NAME: Final = re.compile(r"path|file|dir|folder|repo|source|destination", re.IGNORECASE)


def plain_value(value: Any) -> Any:
    """Replace control characters, huge numbers and long texts, which some programs can't read."""
    if isinstance(value, str):
        return "".join(map(_plain_character, value[: _MOST_TEXT - 1]))
    if isinstance(value, (int, float)):
        return value if abs(value) <= _LARGEST else type(value)(abs(value) % _SMALL)
    if is_object(value):
        return {plain_value(key): plain_value(inner) for key, inner in value.items()}
    return [plain_value(inner) for inner in value] if is_array(value) else value


def _plain_character(character: str) -> str:
    is_readable = unicodedata.category(character) not in ("Cc", "Cs", "Cn", "Co")
    return character if is_readable else ascii_lowercase[ord(character) % len(ascii_lowercase)]


def meaningful_values(
    name: str, schema: Mapping[str, Any], work: str | None, others: Iterable[str]
) -> Iterator[Any]:
    """Return values that a schema or its description names, and for paths those of existing files."""
    if "default" in schema:
        yield schema["default"]
    examples = schema.get("examples")
    if is_array(examples):
        yield from examples
    if "string" not in type_names(schema):
        return
    if work is not None and _PATH_NAME.search(name):
        yield from (work, f"{work}/notes.txt", f"{work}/folder", f"{work}/new.txt")
    described = schema.get("description")
    if isinstance(described, str):
        names = {each.casefold() for each in others}
        yield from [each for each in _QUOTED.findall(described)[:5] if each.casefold() not in names]


def edge_values(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Return values at the limits of a schema, and different forms of values; some may not fit."""
    yield from choices_of(schema)
    for member in members_of(schema):
        types = type_names(member)
        if types & {"integer", "number"} and "enum" not in member:
            yield from _numbers(member, 0)
            yield from _NUMBERS
        if "number" in types and "enum" not in member:
            yield (limits_of(member)[0] or 2) + 0.5
        if "string" in types and "enum" not in member:
            yield from FORMATS.get(str(member.get("format")), ())
            yield from _texts(member)
        yield from (None,) if "null" in types else ()
        yield from ([],) if "array" in types else ()


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    least, most = _lengths(schema)
    for text in ("", *TEXTS):
        yield text[:most].ljust(least, "a")


def values_beyond(schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """Return values just beyond the limits of a schema; some may fit.

    Args:
        schema: the schema of a part of a call.
        value: the value of that part, which fits.
    """
    for member in members_of(schema):
        types = type_names(member)
        yield from [each for kind, texts in _COERCED.items() if kind in types for each in texts]
        if types & {"integer", "number"}:
            yield from _numbers(member, 1)
        step = member.get("multipleOf")
        if isinstance(step, (int, float)) and isinstance(value, (int, float)):
            yield from (value + step / 2, int(value) + 1)
        if "string" in types:
            least, most = _lengths(member)
            yield from ("a" * (least - 1),) if least else ()
            yield from ("a" * (most + 1),) if most < _MOST_TEXT else ()
            yield from _UNLIKELY if "pattern" in member else ()
        if is_array(value):
            yield from _lists_beyond(member, value)
        yield from ({},) if "minProperties" in member else ()
    choices = choices_of(schema)
    for each in choices[:_FEW_CHOICES]:
        if isinstance(each, str):
            yield from (each.swapcase(), f"{each}x", f" {each}")
    numbers = [each for each in choices if is_number(each)]
    yield from (max(numbers) + 1,) if numbers else ()


def _lists_beyond(schema: Mapping[str, Any], value: list[Any]) -> Iterator[list[Any]]:
    """Return lists with an item too few, too many, or twice."""
    least, most = list_sizes(schema)
    if least:
        yield value[: least - 1]
    if value and schema.get("uniqueItems") is True:
        yield [*value, value[0]]
    elif value and most is not None and most <= _MOST_ITEMS:
        yield _of_size(value, most + 1)


def edge_lists(schema: Mapping[str, Any], value: Any) -> Iterator[list[Any]]:
    """Return lists of the smallest and the largest size that a schema allows, with the items of a list."""
    for member in members_of(schema) if is_array(value) and value else ():
        least, most = list_sizes(member)
        if least:
            yield value[:least]
            yield _of_size(value, least + 1)
        if most is not None and most <= _MOST_ITEMS:
            is_unique = member.get("uniqueItems") is True
            yield from _different_items(member, value, most) if is_unique else [_of_size(value, most)]


def edge_maps(schema: Mapping[str, Any], value: Any) -> Iterator[dict[str, Any]]:
    """Return maps of the smallest and the largest size that a schema allows, with the values of a map."""
    for member in members_of(schema) if is_object(value) and value else ():
        if not is_object(member.get("additionalProperties")) or member.get("properties"):
            continue
        least, most = member.get("minProperties"), member.get("maxProperties")
        first = next(iter(value))
        keys = dict.fromkeys([*value, *[f"{first[:-1]}{character}" for character in _ENDS]])
        for size in (least or 1, min(most or _FEW_KEYS, _MOST_ITEMS)):
            yield {key: value.get(key, value[first]) for key in [*keys][:size]}


def _different_items(schema: Mapping[str, Any], value: list[Any], size: int) -> Iterator[list[Any]]:
    """Return a list of a size whose items differ: choices, texts with other ends, or numbers in a row."""
    items, first = schema.get("items"), value[0]
    others: list[Any] = choices_of(items) if is_object(items) else []
    if not others and isinstance(first, str):
        others = [f"{first[:-1]}{character}" for character in _ENDS]
    elif not others and is_number(first):
        others = [first + step for step in range(size)]
    different = {to_json_text(each): each for each in [*value, *others]}
    if len(different) >= size:
        yield [*different.values()][:size]


def _of_size(value: list[Any], size: int) -> list[Any]:
    return (value * (size // len(value) + 1))[:size]


def list_sizes(schema: Mapping[str, Any]) -> tuple[int, int | None]:
    """Return the minimum and the maximum number of items; None for no limit."""
    least, most = schema.get("minItems"), schema.get("maxItems")
    return (least if isinstance(least, int) else 0), (most if isinstance(most, int) else None)


def _numbers(schema: Mapping[str, Any], step: int) -> Iterator[Any]:
    """Return the limits of a number, or the numbers a step beyond them."""
    least, most = limits_of(schema)
    if least is not None and abs(least) < _LARGEST:
        yield least - step
    if most is not None and abs(most) < _LARGEST:
        yield most + step


def _lengths(schema: Mapping[str, Any]) -> tuple[int, int]:
    least, most = schema.get("minLength"), schema.get("maxLength")
    return (least if isinstance(least, int) else 0), (most if isinstance(most, int) else _MOST_TEXT)
