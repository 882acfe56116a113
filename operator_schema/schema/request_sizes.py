"""Is a request too large for a provider's strict mode?"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from .keywords import DEFINITIONS, KEYWORDS
from .references import subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .dialect import Dialect


MANY_CHOICES = 250
"""If an enum has more values than this, its characters are limited too."""


class Size(Value):
    """The size of one strict schema, for the limits of a request.

    Attributes:
        properties: number of properties of all objects.
        levels: how deep objects and arrays nest.
        choices: number of values of all enums.
        optional: properties that may be left out.
        unions: places that take several types.
        characters: characters of all names of properties and definitions, and of all values of enums.
        choice_characters: characters of the longest enum that has more than `MANY_CHOICES` values.
    """

    properties: int
    levels: int
    choices: int
    optional: int
    unions: int
    characters: int
    choice_characters: int


def size_of(schema: Mapping[str, Any]) -> Size:
    """Return the size of a strict schema, for the limits of a request."""
    properties = levels = choices = optional = unions = characters = choice_characters = 0
    for part, level in _parts(schema):
        if "properties" in part or "items" in part:
            levels = max(levels, level)
        if "properties" in part:
            properties += len(part["properties"])
            optional += len(part["properties"].keys() - set(part.get("required", ())))
            characters += sum(map(len, part["properties"]))
        if "enum" in part:
            length = sum(map(len, map(str, part["enum"])))
            choices += len(part["enum"])
            characters += length
            choice_characters = max(choice_characters, length if len(part["enum"]) > MANY_CHOICES else 0)
        unions += "anyOf" in part or isinstance(part.get("type"), list)
        characters += sum(map(len, part.get("$defs", ())))
    return Size(properties, levels, choices, optional, unions, characters, choice_characters)


def over_limits(dialect: Dialect, sizes: Sequence[Size]) -> list[str]:
    """List the limits of one request that are exceeded.

    Args:
        dialect: dialect of the provider.
        sizes: sizes of the inputs of all strict tools in the request.
    """
    if not sizes:
        return []
    columns = zip(*map(attrgetter(*Size.__slots__), sizes), strict=True)
    properties, levels, choices, optional, unions, characters, choice_characters = columns
    counted = (
        ("strict tools", len(sizes), dialect.most_tools),
        ("properties", sum(properties), dialect.most_properties),
        ("levels inside each other", max(levels), dialect.most_levels),
        ("values of enums", sum(choices), dialect.most_choices),
        ("properties that may be left out", sum(optional), dialect.most_optional),
        ("unions", sum(unions), dialect.most_unions),
        (
            "properties of one tool that may be left out",
            max(optional),
            dialect.most_optional_of_one,
        ),
        ("unions in one tool", max(unions), dialect.most_unions_of_one),
        (
            "characters in names of properties and values of enums",
            sum(characters),
            dialect.most_characters,
        ),
        (
            f"characters in an enum of more than {MANY_CHOICES} values",
            max(choice_characters),
            dialect.most_choice_characters,
        ),
    )
    return [
        f"{number:,} {what}, but a request takes only {most:,}"
        for what, number, most in counted
        if most is not None and number > most
    ]


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Walk through a schema, and give each schema in it with its level: a definition begins at 1."""
    waiting: list[tuple[Mapping[str, Any], int]] = [(schema, 1)]
    while waiting:
        part, level = waiting.pop()
        yield part, level
        for steps, inner in subschemas(part):
            if is_object(inner):
                outer = 0 if steps[0] in DEFINITIONS else level
                waiting.append((inner, outer + (steps[0] not in _SAME_LEVEL)))


_SAME_LEVEL = frozenset([name for name, row in KEYWORDS.items() if row.holds == "schemas" and not row.of])
"""The keywords whose schemas are about the same value."""
