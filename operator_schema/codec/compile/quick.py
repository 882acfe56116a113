"""Decode what is not all right: only the parts that their compiled functions give up on are walked.

The interpreter still makes every report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interpret import DECODERS, Run, Shared, follow
from ..problems import GIVE_UP, INVALID, Problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...introspect.graph import Graph
    from ...introspect.nodes import ArrayNode, Node
    from ...introspect.unions import UnionPlan
    from ..problems import Path
    from .helpers import Fill, Parts

__all__ = ["interpret_quickly"]


def interpret_quickly(
    graph: Graph, parts: Parts, max_depth: int, plans: dict[int, UnionPlan], value: object
) -> tuple[Any, Problems]:
    """Decode a JSON value as `interpret` does, sooner where little of it is wrong.

    Args:
        graph: of the type.
        parts: the compiled functions of the graph. Keys that name no field are not noted in what
            they decode.
        max_depth: levels of arrays and objects that are followed.
        plans: of the unions of this graph, as `interpret` takes them.
        value: likewise.

    Returns:
        The instance and no problems, or `INVALID` and at least one.
    """
    shared = Shared(graph.definitions, max_depth, plans)
    return follow(_QuickRun(shared, Problems(graph.definitions), parts), graph.root, value)


class _QuickRun(Run):
    """A decode that walks only into the parts that their compiled functions give up on."""

    __slots__ = ("_decoder_of", "_filler_of")

    def __init__(self, shared: Shared, problems: Problems, parts: Parts) -> None:
        super().__init__(shared, problems)
        self._decoder_of = parts.decoder_of
        self._filler_of = parts.filler_of

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        part = self._decoder_of(id(node))
        if part is not None:
            try:
                decoded = part(value, depth)
            except RecursionError:  # the walk finds out whose it is
                decoded = GIVE_UP
            if decoded is not GIVE_UP:
                return decoded
        return DECODERS[node.__class__](self, node, value, path, depth)

    def decode_items(self, node: ArrayNode, value: list[Any], path: Path, depth: int) -> list[Any] | None:
        fill = self._filler_of(id(node))
        if fill is None or value.__class__ is not list:
            return Run.decode_items(self, node, value, path, depth)
        valid = True
        decoded: list[Any] = []
        items = iter(value)
        while _stops(fill, items, decoded, depth):
            index = len(decoded)
            result = Run.decode(self, node.items, value[index], (path, index), depth)
            valid = valid and result is not INVALID
            decoded.append(result)
        return decoded if valid else None


def _stops(fill: Fill, items: Iterator[Any], decoded: list[Any], depth: int) -> bool:
    try:
        return fill(items, decoded, depth) is GIVE_UP
    except RecursionError:  # likewise
        return True
