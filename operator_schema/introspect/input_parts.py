"""Which parts does an input have? Its parameters, and everything inside them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ..immutable import Value
from .nodes import ArrayNode, MapNode, ObjectNode, RefNode, TupleNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .nodes import Field, Graph, Node, Target

_MOST = 10_000


class ParameterPart(Value):
    """A parameter, or a part of one.

    Attributes:
        path: attribute names that lead to it; `*` stands for the items of an array or the values of a map.
        node: the node of its values, references followed.
        field: the field itself; None for items and members of unions.
        level: how many objects and arrays are around it.
        member: the name of the union member that it is in; None outside of unions.
    """

    path: tuple[str, ...]
    node: Node
    field: Field | None
    level: int
    member: str | None = None


def places_of(graph: Graph) -> Iterator[ParameterPart]:
    """Yield the places of an input, at most 10,000; a recursive type is entered only once.

    Args:
        graph: the graph of the input.
    """
    return islice(_places(graph), _MOST)


def _places(graph: Graph) -> Iterator[ParameterPart]:
    waiting = [(ParameterPart((), graph.resolve_root(), None, 0), True)]
    seen: set[Target] = {graph.root.target} if isinstance(graph.root, RefNode) else set()
    while waiting:
        place, is_new = waiting.pop()
        yield place
        inner: list[tuple[ParameterPart, bool]] = []
        for path, node, field in _inside(place.node) if is_new else ():
            level = place.level + (not isinstance(place.node, UnionNode))
            resolved = graph.resolve(node)
            found = ParameterPart((*place.path, *path), resolved, field, level, _member(place, resolved))
            inner.append((found, not isinstance(node, RefNode) or node.target not in seen))
            if isinstance(node, RefNode):
                seen.add(node.target)
        waiting += reversed(inner)


def _member(place: ParameterPart, inner: Node) -> str | None:
    """Return the name of the union member that a part of a place is in."""
    if isinstance(place.node, UnionNode) and isinstance(inner, ObjectNode):
        return inner.name
    return place.member


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
