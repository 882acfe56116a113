"""How a schema is written where a host takes less than all of JSON Schema: the options, and their check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from .immutable import Value
from .wording import as_written, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SchemaStyle", "StyleOptions", "style_of"]


class StyleOptions(TypedDict, total=False):
    """What `json_schema` and the methods of that name take besides the type."""

    inline: bool
    boolean_schemas: bool
    empty_schemas: bool


class SchemaStyle(Value):
    """What a schema may hold.

    Attributes:
        inline: whether only recursive types are under `$defs`.
        boolean_schemas: whether `true` and `false` may stand for a schema. They always may after
            `additionalProperties`, `unevaluatedProperties` and `unevaluatedItems`.
        empty_schemas: whether a schema may leave open what type a value has.
    """

    inline: bool = False
    boolean_schemas: bool = True
    empty_schemas: bool = True

    def as_options(self) -> StyleOptions:
        """Return the options that ask for it."""
        return {
            "inline": self.inline,
            "boolean_schemas": self.boolean_schemas,
            "empty_schemas": self.empty_schemas,
        }


def style_of(options: Mapping[str, Any]) -> SchemaStyle | None:
    """Return the style that options ask for; None for that of all who take everything.

    Raises:
        TypeError: an option doesn't exist, or is neither True nor False.
    """
    known = SchemaStyle.__field_defaults__
    for name, value in options.items():
        if name not in known:
            near = nearest(name, list(known))
            hint = f"did you mean {near}?" if near else f"it takes {', '.join(known)}"
            message = f"a schema has no option {name!r}; {hint}"
            raise TypeError(message)
        if not isinstance(value, bool):
            message = f"{name} is {as_written(value)}, not True or False"
            raise TypeError(message)
    style = SchemaStyle(**options)
    return None if style == SchemaStyle() else style
