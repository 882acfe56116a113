"""Interpret only the parts of a value whose compiled functions give up: for values with few mistakes.

The interpreter still makes every report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interpret import DECODERS, DecodeRun, DecodeState, follow
from ..problems import INVALID, GiveUp, Problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...introspect.nodes import ArrayNode, Graph, Node
    from ...introspect.unions import UnionPlan
    from ..problems import Path
    from .helpers import Fill, PartFunctions

__all__ = ["interpret_wrong_parts"]


def interpret_wrong_parts(
    graph: Graph, parts: PartFunctions, max_depth: int, plans: dict[int, UnionPlan], value: object
) -> tuple[Any, Problems]:
    """Decode a JSON value as `interpret` does, faster where little of it is wrong.

    Args:
        graph: of the type.
        parts: the compiled functions of the graph. Keys that name no field are not noted in what
            they decode.
        max_depth: levels of arrays and objects that are followed.
        plans: as `interpret` takes them.
        value: as `interpret` takes it.

    Returns:
        The instance and no problems, or `INVALID` and at least one.
    """
    shared = DecodeState(graph.definitions, max_depth, plans)
    return follow(_PartsRun(shared, Problems(graph.definitions), parts), graph.root, value)


class _PartsRun(DecodeRun):
    """A decode that walks only into the parts that their compiled functions give up on."""

    __slots__ = ("_decoder_of", "_filler_of")

    def __init__(self, shared: DecodeState, problems: Problems, parts: PartFunctions) -> None:
        super().__init__(shared, problems)
        self._decoder_of = parts.decoder_of
        self._filler_of = parts.filler_of

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        part = self._decoder_of(id(node))
        if part is not None:
            try:
                decoded = part(value, depth)
            except RecursionError:  # the interpreter finds out whether it is the user's
                decoded = GiveUp
            if decoded is not GiveUp:
                return decoded
        return DECODERS[node.__class__](self, node, value, path, depth)

    def decode_items(self, node: ArrayNode, value: list[Any], path: Path, depth: int) -> list[Any] | None:
        fill = self._filler_of(id(node))
        if fill is None or value.__class__ is not list:
            return DecodeRun.decode_items(self, node, value, path, depth)
        valid = True
        decoded: list[Any] = []
        items = iter(value)
        while _gives_up(fill, items, decoded, depth):
            index = len(decoded)
            result = DecodeRun.decode(self, node.items, value[index], (path, index), depth)
            valid = valid and result is not INVALID
            decoded.append(result)
        return decoded if valid else None


def _gives_up(fill: Fill, items: Iterator[Any], decoded: list[Any], depth: int) -> bool:
    try:
        return fill(items, decoded, depth) is GiveUp
    except RecursionError:  # the interpreter finds out whether it is the user's
        return True
