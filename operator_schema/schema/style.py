"""In which form does a host take a schema? Checks the options of `json_schema`, and renders with them."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ..immutable import Value
from ..json_values import copy_json
from ..message_text import as_written
from .keywords import KEYWORDS
from .references import mapped
from .render import MAX_VALUES, MAX_WITHOUT_REFERENCES, Renderer, render, without_boolean_items, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..introspect.nodes import AnyNode, Graph, LeafNode, Node, TupleNode


class StyleOptions(TypedDict, total=False):
    """The options of the function `json_schema` and of the methods of that name."""

    inline: bool
    boolean_schemas: bool
    empty_schemas: bool


class SchemaStyle(Value):
    """The forms that a schema may use.

    Attributes:
        inline: whether only recursive types are under `$defs`.
        boolean_schemas: whether `true` and `false` may be schemas. They always may after
            `additionalProperties`, `unevaluatedProperties` and `unevaluatedItems`.
        empty_schemas: whether a schema may leave out the type of a value.
    """

    inline: bool = False
    boolean_schemas: bool = True
    empty_schemas: bool = True

    def as_options(self) -> StyleOptions:
        """Return the options for this style."""
        return {
            "inline": self.inline,
            "boolean_schemas": self.boolean_schemas,
            "empty_schemas": self.empty_schemas,
        }


def style_of(options: Mapping[str, Any]) -> SchemaStyle | None:
    """Return the style that the options choose; None means full JSON Schema.

    Raises:
        TypeError: an option doesn't exist, or is neither True nor False.
    """
    known = SchemaStyle.__field_defaults__
    for name, value in options.items():
        if name not in known:
            from ..similar_names import nearest

            near = nearest(name, list(known))
            hint = f"did you mean {near}?" if near else f"it takes {', '.join(known)}"
            message = f"a schema has no option {name!r}; {hint}"
            raise TypeError(message)
        if not isinstance(value, bool):
            message = f"{name} is {as_written(value)}, not True or False"
            raise TypeError(message)
    return _style(**options)


@cache  # of options that are True or False alone
def _style(**options: bool) -> SchemaStyle | None:
    style = SchemaStyle(**options)
    return None if style == SchemaStyle() else style


def render_in_style(
    graph: Graph, encode_value: Callable[[Node, Any], Any], style: SchemaStyle, name: str
) -> dict[str, Any]:
    """Render a graph as `render` does, in a style.

    Args:
        graph: the graph of a registered type.
        encode_value: as `render` takes it.
        style: the forms that the schema may use.
        name: name of the type, for the error.

    Raises:
        SchemaError: without `$defs`, the document would hold more than `MAX_WITHOUT_REFERENCES` schemas or
            `MAX_VALUES` values.
    """
    make = partial(_StyledRenderer, style)
    if not style.inline:
        return render(graph, encode_value, make)
    document, renderer = write(graph, graph.definitions, {}, encode_value, MAX_WITHOUT_REFERENCES, make)
    if renderer.left < 0:
        from ..errors import SchemaError
        from ..findings import about_type

        has_many_values = renderer.values_left < 0
        most = (
            f"{MAX_VALUES:,} values in its defaults, examples, literals and enums"
            if has_many_values
            else f"{MAX_WITHOUT_REFERENCES:,} schemas"
        )
        message = f"without references, its schema has more than {most}"
        fewer = "shorten the defaults" if has_many_values else "use fewer types inside each other"
        remedy = f"Leave inline out, or {fewer}"
        raise SchemaError(name, [about_type((), "unsupported", name, message, remedy)])
    return document


class _StyledRenderer(Renderer):
    """Renders nodes in a style, without the schemas `true`, `false` and `{}` that the base class writes.

    Args:
        style: the forms that the schema may use.
        content: the arguments of `Renderer`.
    """

    __slots__ = ("_style",)

    def __init__(self, style: SchemaStyle, *content: Any) -> None:
        super().__init__(*content)
        self._style = style

    def any(self, _node: AnyNode) -> dict[str, Any]:
        """Render a node that takes every value."""
        return {} if self._style.empty_schemas else every_type()

    def tuple(self, node: TupleNode) -> dict[str, Any]:
        """Render an array of fixed length."""
        document = super().tuple(node)
        return document if self._style.boolean_schemas else without_boolean_items(document)

    def key_schema(self, node: Node) -> dict[str, Any]:
        """Render the restrictions on keys."""
        document = super().key_schema(node)
        return _with_type(document) if document and not self._style.empty_schemas else document

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf and restyle its schema, which a user may have written."""
        if not node.leaf.json_schema.keys() <= _PLAIN:
            return super().leaf(node)
        document = copy_json(node.leaf.json_schema)
        return document if self._style.empty_schemas else _with_type(document)

    def hoist(self, document: dict[str, Any]) -> dict[str, Any]:
        """Move the definitions of a leaf's schema to the root, and return the rest, all in the style."""
        if self._style.inline:
            from .moved_definitions import with_references_inlined  # few schemas are inlined

            self.left += 1  # it counts the root as `schema` has done
            document = with_references_inlined(document, self._may_write)
        known = set(self.hoisted.found) if self.hoisted is not None else set[str]()
        document = super().hoist(document)
        if self.hoisted is not None:
            found = self.hoisted.found
            found.update({name: restyled(found[name], self._style) for name in found.keys() - known})
        styled: dict[str, Any] = restyled(document, self._style)
        return styled

    def _may_write(self) -> bool:
        self.left -= 1
        return self.left >= 0


_PLAIN: Final = frozenset(
    [
        name
        for name, row in KEYWORDS.items()
        if row.holds == "value" and row.says != "beside" and name[0] != "$"
    ]
)
"""Keywords that neither contain nor refer to schemas: their values stay the same in every style."""

_OPEN: Final = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
"""Replacements of `true` and `false`, for hosts that take no boolean schemas."""

_ABOUT_NO_VALUE: Final = frozenset([name for name, row in KEYWORDS.items() if row.says in {"note", "name"}])


def restyled(schema: Any, style: SchemaStyle) -> Any:
    """Return a schema in a style; the meaning is the same."""
    if isinstance(schema, bool) and not style.boolean_schemas:
        schema = {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]  # of whatever items
    if found.get("items") is False and not style.boolean_schemas:
        found = without_boolean_items(found)
    document = mapped(found, partial(restyled, style=style))
    for keyword in found.keys() & _OPEN:
        if isinstance(found[keyword], bool):
            document[keyword] = found[keyword]
    return document if style.empty_schemas else _with_type(document)


def _with_type(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with a `type`, which lists all types if there was none."""
    return {**every_type(), **document} if document.keys() <= _ABOUT_NO_VALUE else document


def every_type() -> dict[str, Any]:
    """Return the schema of any value, as a list of all types."""
    # Not a list of types: fewer hosts take that.
    return {"anyOf": [{"type": name} for name in _EVERY_TYPE]}


_EVERY_TYPE: Final = ("string", "number", "boolean", "null", "array", "object")
"""All types except `integer`, because each integer is a number."""
