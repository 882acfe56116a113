"""How much the strict mode of a provider takes in one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from .keywords import DEFINITIONS, KEYWORDS
from .references import subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .style import Dialect

__all__ = ["MANY_CHOICES", "Size", "over_limits", "size_of"]


MANY_CHOICES = 250
"""An enum of more values counts its characters."""


class Size(Value):
    """The size of one strict schema, for the limits of a request.

    Attributes:
        properties: of all objects.
        levels: of objects and arrays inside each other.
        choices: values of all enums.
        optional: properties that may be left out.
        unions: places that take several types.
        characters: of all names of properties and definitions, and values of enums.
        choice_characters: of the values of the longest enum that has more than `MANY_CHOICES` values.
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
    found = list(_parts(schema))
    objects = [part for part, _ in found if "properties" in part]
    return Size(
        sum(len(part["properties"]) for part in objects),
        max([level for part, level in found if "properties" in part or "items" in part], default=0),
        sum(len(part.get("enum", ())) for part, _ in found),
        sum(map(_optional, objects)),
        sum(_is_union(part) for part, _ in found),
        sum(_characters(part) for part, _ in found),
        max([_of_choices(part) for part, _ in found if len(part.get("enum", ())) > MANY_CHOICES], default=0),
    )


def over_limits(dialect: Dialect, sizes: Sequence[Size]) -> list[str]:
    """List what is too much for one request.

    Args:
        dialect: of the provider.
        sizes: of the inputs of all strict tools of the request.
    """
    if not sizes:
        return []
    counted = (
        ("strict tools", len(sizes), dialect.most_tools),
        ("properties", sum([size.properties for size in sizes]), dialect.most_properties),
        ("levels inside each other", max([size.levels for size in sizes]), dialect.most_levels),
        ("values of enums", sum([size.choices for size in sizes]), dialect.most_choices),
        ("properties that may be left out", sum([size.optional for size in sizes]), dialect.most_optional),
        ("unions", sum([size.unions for size in sizes]), dialect.most_unions),
        (
            "properties of one tool that may be left out",
            max([size.optional for size in sizes]),
            dialect.most_optional_of_one,
        ),
        ("unions in one tool", max([size.unions for size in sizes]), dialect.most_unions_of_one),
        (
            "characters in names of properties and values of enums",
            sum([size.characters for size in sizes]),
            dialect.most_characters,
        ),
        (
            f"characters in an enum of more than {MANY_CHOICES} values",
            max([size.choice_characters for size in sizes]),
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


def _characters(part: Mapping[str, Any]) -> int:
    names = [*part.get("properties", ()), *part.get("$defs", ())]
    return sum(map(len, names)) + _of_choices(part)


def _of_choices(part: Mapping[str, Any]) -> int:
    return sum([len(str(value)) for value in part.get("enum", ())])


def _optional(part: Mapping[str, Any]) -> int:
    return len(part["properties"].keys() - set(part.get("required", ())))


def _is_union(part: Mapping[str, Any]) -> bool:
    return "anyOf" in part or isinstance(part.get("type"), list)
