"""What can only be checked once the whole graph is known: its unions and its sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .graph import parts_of
from .nodes import ArrayNode, ObjectNode, RefNode, UnionNode
from .sets import check_set
from .unions import check_union

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..errors import Complaint
    from .graph import Graph
    from .nodes import Node

__all__ = ["check_graph"]


def check_graph(graph: Graph, name: str) -> Iterator[Complaint]:
    """Complain about unions that can't be told apart and sets that can't be.

    Args:
        graph: of the whole type.
        name: of the type, for complaints about its root.
    """
    seen: set[int] = set()
    pending: list[tuple[tuple[str, ...], str, Node]] = [((), name, graph.root)]
    while pending:
        path, owner, node = pending.pop()
        if isinstance(node, RefNode):
            node = graph.definitions[node.target]
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, UnionNode):
            yield from check_union(node, graph.definitions, path, owner)
        if isinstance(node, ArrayNode) and node.unique:
            yield from check_set(node, graph.definitions, path, owner)
        inner_owner = node.name if isinstance(node, ObjectNode) else owner
        pending.extend(reversed([((*path, *step), inner_owner, inner) for step, inner in parts_of(node)]))
