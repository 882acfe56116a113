"""What can only be checked once the whole graph is known: its unions and its sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..complaints import Complaint
from .ambiguity import check_union
from .nodes import ArrayNode, ObjectNode, ScalarNode, UnionNode, resolve
from .traits import flat_members, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .nodes import Graph, Node
    from .set_items import SetChecker

    Path = tuple[str, ...]

__all__ = ["MAX_COMPARED_MEMBERS", "check_graph"]

MAX_COMPARED_MEMBERS = 1_000_000
"""Members of unions, and pairs of them that might be alike, that one registration compares."""


def check_graph(graph: Graph, name: str) -> Iterator[Complaint]:
    """Complain about unions whose members can't be distinguished, and sets that Python can't build.

    Args:
        graph: of the whole type.
        name: of the type, for complaints about its root.
    """
    unions = _Unions(graph)
    sets: SetChecker | None = None
    seen: set[int] = set()
    pending: list[tuple[Path, str, Node]] = [((), name, graph.root)]
    while pending:
        path, owner, node = pending.pop()
        node = resolve(node, graph.definitions)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, UnionNode):
            yield from unions.check(node, path, owner)
        if isinstance(node, ArrayNode) and node.unique:
            sets = sets or _set_checker(graph, unions)
            yield from sets.check(node, path, owner)
        inner_owner = node.name if isinstance(node, ObjectNode) else owner
        pending += [
            ((*path, *step), inner_owner, inner)
            for step, inner in reversed(parts_of(node))
            if inner.__class__ is not ScalarNode
        ]


def _set_checker(graph: Graph, unions: _Unions) -> SetChecker:
    from .set_items import SetChecker

    return SetChecker(graph.definitions, unions.members_of)


class _Unions:
    """The unions of one graph: each is spread out once, and all together are compared within a bound."""

    __slots__ = ("_compared", "_graph", "_members")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._members: dict[int, list[Node]] = {}
        self._compared = 0

    def members_of(self, node: UnionNode) -> Sequence[Node]:
        members = self._members.get(id(node))
        if members is None:
            members = self._members[id(node)] = flat_members(node, self._graph.definitions, self._members)
        return members

    def check(self, node: UnionNode, path: Path, owner: str) -> Iterator[Complaint]:
        members = self.members_of(node)
        left = MAX_COMPARED_MEMBERS - self._compared
        most = max(left, 0) + 1
        looked_at, complaints = check_union(members, path, owner, self._graph.definitions, most)
        self._compared += looked_at
        yield from complaints
        if left >= 0 and self._compared > MAX_COMPARED_MEMBERS:
            message = "the unions of the type have too many members to be told apart"
            yield Complaint(
                path, "too_large", owner, message, "Use fewer, or an Enum for those that are texts"
            )
