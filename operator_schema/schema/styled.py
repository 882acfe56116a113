"""Schemas for hosts that don't take all of JSON Schema: the same values, in fewer words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..json_values import copy_json
from .keywords import KEYWORDS
from .render import MAX_WITHOUT_REFERENCES, Renderer, render, write
from .subschemas import mapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.nodes import Graph, LeafNode, Node
    from .style import SchemaStyle

__all__ = ["render_in_style", "restyled"]


def render_in_style(
    graph: Graph, encode_value: Callable[[Node, Any], Any], style: SchemaStyle, name: str
) -> dict[str, Any]:
    """Render a graph as `render` does, in a style.

    Args:
        graph: of a registered type.
        encode_value: as `render` takes it.
        style: what the schema may hold.
        name: of the type, for the error.

    Raises:
        SchemaError: without `$defs` it would hold more than `MAX_WITHOUT_REFERENCES` schemas.
    """
    document = _inline(graph, encode_value, name) if style.inline else render(graph, encode_value)
    styled: dict[str, Any] = restyled(document, style)
    return styled


def _inline(graph: Graph, encode_value: Callable[[Node, Any], Any], name: str) -> dict[str, Any]:
    most = MAX_WITHOUT_REFERENCES
    document, renderer = write(graph, graph.definitions, {}, encode_value, most, _InlineRenderer)
    if renderer.left < 0:
        from ..errors import SchemaError
        from ..findings import about_type

        message = f"written without references, its schema holds more than {most:,} schemas"
        remedy = "Leave inline out, or use fewer types inside each other"
        raise SchemaError(name, [about_type((), "unsupported", name, message, remedy)])
    return document


class _InlineRenderer(Renderer):
    """Renders without references, but for recursive types."""

    __slots__ = ()

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf, whose schema anybody may have written."""
        from .references import with_references_inlined

        return self.hoist(with_references_inlined(copy_json(node.leaf.json_schema), self._may_write))

    def _may_write(self) -> bool:
        self.left -= 1
        return self.left >= 0


_OPEN: Final = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
"""Where a boolean isn't a schema for those who take none."""

_ABOUT_NO_VALUE: Final = frozenset([name for name, row in KEYWORDS.items() if row.says in {"note", "name"}])


def restyled(schema: Any, style: SchemaStyle) -> Any:
    """Return a schema in a style; the meaning is the same."""
    if isinstance(schema, bool) and not style.boolean_schemas:
        schema = {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType]  # of whatever items
    if found.get("items") is False and not style.boolean_schemas:
        found = _without_boolean_items(found)
    document = mapped(found, partial(restyled, style=style))
    for keyword in found.keys() & _OPEN:
        if isinstance(found[keyword], bool):
            document[keyword] = found[keyword]
    if not style.empty_schemas and document.keys() <= _ABOUT_NO_VALUE:
        return {**_every_type(), **document}
    return document


def _without_boolean_items(document: dict[str, Any]) -> dict[str, Any]:
    """Say how many items there may be instead of `"items": false`."""
    kept = {keyword: value for keyword, value in document.items() if keyword != "items"}
    allowed = len(document.get("prefixItems", ()))
    kept["maxItems"] = min(allowed, kept.get("maxItems", allowed))
    return kept


def _every_type() -> dict[str, Any]:
    # Not a list of types: fewer hosts take that.
    return {"anyOf": [{"type": name} for name in _EVERY_TYPE]}


_EVERY_TYPE: Final = ("string", "number", "boolean", "null", "array", "object")
"""Each integer is a number."""
