"""The places of an input: each parameter, and what is inside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value
from .nodes import ArrayNode, MapNode, ObjectNode, RefNode, TupleNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .nodes import Field, Graph, Node, Target

__all__ = ["Place", "places_of"]

_MOST = 10_000


class Place(Value):
    """A parameter, or a part of one.

    Attributes:
        path: attribute names that lead to it; `*` stands for the items of an array or the values of a map.
        node: what may be there, without reference.
        field: that it is; None for items and members of unions.
        level: of objects and arrays around it.
    """

    path: tuple[str, ...]
    node: Node
    field: Field | None
    level: int


def places_of(graph: Graph) -> Iterator[Place]:
    """Yield each place of an input once, a recursive type only where it is first used.

    Args:
        graph: of the input.
    """
    root = graph.resolve_root()
    waiting = [Place((), root, None, 0)]
    seen: set[Target] = {graph.root.target} if isinstance(graph.root, RefNode) else set()
    for _ in range(_MOST):
        if not waiting:
            return
        place = waiting.pop()
        yield place
        inner: list[Place] = []
        for path, node, field in _inside(place.node):
            if isinstance(node, RefNode):
                if node.target in seen:
                    continue
                seen.add(node.target)
            level = place.level + (not isinstance(place.node, UnionNode))
            inner.append(Place((*place.path, *path), graph.resolve(node), field, level))
        waiting += reversed(inner)


def _inside(node: Node) -> Iterator[tuple[tuple[str, ...], Node, Field | None]]:
    match node:
        case ObjectNode(fields=fields):
            for field in fields:
                yield (field.name,), field.node, field
        case ArrayNode(items=items):
            yield ("*",), items, None
        case MapNode(values=values):
            yield ("*",), values, None
        case TupleNode(items=places):
            for item in places:
                yield ("*",), item, None
        case UnionNode(members=members):
            for member in members:
                yield (), member, None
        case _:
            pass
