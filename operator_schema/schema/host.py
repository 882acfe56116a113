"""The node graph rendered for hosts that don't take all of JSON Schema: the same values, in fewer words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..complaints import Complaint
from ..json_values import copy_json
from .keywords import KEYWORDS
from .render import MAX_WITHOUT_REFERENCES, Renderer, render, write
from .subschemas import mapped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from ..introspect.nodes import AnyNode, Graph, LeafNode, Node, Target, TupleNode
    from .style import SchemaStyle

__all__ = ["MAX_WITHOUT_REFERENCES", "HostRenderer", "render_for_host", "restyled"]


def render_for_host(
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
    make = partial(HostRenderer, style)
    if not style.inline:
        return render(graph, encode_value, make)
    document, renderer = write(graph, graph.definitions, {}, encode_value, MAX_WITHOUT_REFERENCES, make)
    if renderer.left < 0:
        from ..errors import SchemaError

        message = f"written without references, its schema holds more than {MAX_WITHOUT_REFERENCES:,} schemas"
        remedy = "Leave inline out, or use fewer types inside each other"
        raise SchemaError(name, [Complaint((), "unsupported", name, message, remedy)])
    return document


class HostRenderer(Renderer):
    """Renders in a style.

    Args:
        style: what the schema may hold.
        names, shared, encode_value, most: as `Renderer` takes them.
    """

    __slots__ = ("style",)

    def __init__(
        self,
        style: SchemaStyle,
        names: Mapping[Target, str],
        shared: Mapping[Hashable, str],
        encode_value: Callable[[Node, Any], Any],
        most: int,
    ) -> None:
        super().__init__(names, shared, encode_value, most)
        self.style = style

    def any(self, node: AnyNode) -> dict[str, Any]:
        """Render a node that takes every value."""
        return super().any(node) if self.style.empty_schemas else _every_type()

    def tuple(self, node: TupleNode) -> dict[str, Any]:
        """Render an array of fixed length."""
        document = super().tuple(node)
        return document if self.style.boolean_schemas else _without_boolean_items(document)

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf, whose schema anybody may have written."""
        document: dict[str, Any] = copy_json(node.leaf.json_schema)
        if self.style.inline:
            from .references import with_references_inlined

            document = with_references_inlined(document, self._may_write)
        return self.hoist(restyled(document, self.style))

    def _may_write(self) -> bool:
        self.left -= 1
        return self.left >= 0


# --- schemas that are there already: those of leaves ----------------------------------------------

_OPEN: Final = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems")
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
    document.update({keyword: found[keyword] for keyword in _OPEN if isinstance(found.get(keyword), bool)})
    if not style.empty_schemas and document.keys() <= _ABOUT_NO_VALUE:
        return {**_every_type(), **document}
    return document


def _without_boolean_items(document: dict[str, Any]) -> dict[str, Any]:
    """Say how many items there may be instead of `"items": false`."""
    kept = {keyword: value for keyword, value in document.items() if keyword != "items"}
    if "items" in document:
        allowed = len(document.get("prefixItems", ()))
        kept["maxItems"] = min(allowed, kept.get("maxItems", allowed))
    return kept


def _every_type() -> dict[str, Any]:
    # Not a list of types: fewer hosts take that.
    return {"anyOf": [{"type": name} for name in _EVERY_TYPE]}


_EVERY_TYPE: Final = ("string", "number", "boolean", "null", "array", "object")
"""Each integer is a number."""
