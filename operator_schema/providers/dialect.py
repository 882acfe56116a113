"""What a provider takes of JSON Schema in its strict mode; a dialect is data."""

from __future__ import annotations

from ..immutable import Value

__all__ = ["Dialect"]


class Dialect(Value):
    """What the strict mode of a provider takes of JSON Schema.

    Every dialect takes `type`, `properties`, `required`, `items`, `enum`, `anyOf` below the root, and
    `additionalProperties: false`, which it asks for at every object. None takes maps, values of any type,
    and arrays whose places have different types.

    Attributes:
        keywords: that it takes beside those.
        formats: of strings, that it takes.
        all_required: whether each property has to be required. One that may be left out takes null then.
        takes_recursion: whether a type may contain itself.
        least_items: values of `minItems` that it takes; None for all.
        most_tools: strict tools in a request; None for no limit. So for the rest, over a whole request.
        most_properties: properties of all objects.
        most_levels: levels of objects and arrays inside each other.
        most_choices: values of all enums.
        most_optional: properties that may be left out.
        most_unions: places that take several types, null being one.
    """

    keywords: frozenset[str]
    formats: frozenset[str]
    all_required: bool = False
    takes_recursion: bool = True
    least_items: frozenset[int] | None = None
    most_tools: int | None = None
    most_properties: int | None = None
    most_levels: int | None = None
    most_choices: int | None = None
    most_optional: int | None = None
    most_unions: int | None = None
