"""Which fields take null through an alias, so that they may be left out?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .node_kinds import flat_members, with_parts
from .nodes import UnionNode, is_null

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .nodes import Field, Graph, Node, Target


def null_fields(fields: Iterable[Field], definitions: Mapping[Target, Node]) -> dict[int, Field]:
    """Return the replacement of each field for which null means the same as an absent key (`X | None`).

    Null stays in the schema of these fields, because other places share the node.

    Args:
        fields: required fields whose types may refer to aliases.
        definitions: the definitions of the graph.

    Returns:
        A map from the identity of a field to its replacement.
    """
    found: dict[int, Field] = {}
    for field in fields:
        members = flat_members(UnionNode((field.node,)), definitions)
        if any(map(is_null, members)):
            found[id(field)] = field.replace(required=False, absent_is_none=True)
    return found


def with_fields(graph: Graph, changed: Mapping[int, Field]) -> Graph:
    """Return a graph with other fields in place of some of its own.

    Args:
        graph: any graph.
        changed: from the identity of a field to its replacement, whose node is the same.
    """
    rebuilt = _RebuiltGraph(changed)
    definitions = {target: rebuilt.node(node) for target, node in graph.definitions.items()}
    aliases = {target: rebuilt.node(node) for target, node in graph.aliases.items()}
    return graph.replace(root=rebuilt.node(graph.root), definitions=definitions, aliases=aliases)


class _RebuiltGraph:
    """Rebuilds the nodes of a graph with some fields replaced, each node once."""

    def __init__(self, changed: Mapping[int, Field]) -> None:
        self._changed = changed
        self._made: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = with_parts(node, self.node, self._field)
        return made

    def _field(self, field: Field) -> Field:
        node = self.node(field.node)
        changed = self._changed.get(id(field), field)
        return changed if node is changed.node else changed.replace(node=node)
