"""Fields that take null through a recursive alias, which is only known when the walk has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .nodes import Field, ScalarNode, UnionNode
from .traits import TRAITS, flat_members, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .nodes import Graph, Node, Target

__all__ = ["null_fields", "with_fields"]


def null_fields(fields: Iterable[Field], definitions: Mapping[Target, Node]) -> dict[int, Field]:
    """Return what replaces each field that null leaves out like an absent key, as `X | None` does.

    Null stays in their schema: other places share the node.

    Args:
        fields: required ones, whose types may refer to aliases.
        definitions: of the graph.

    Returns:
        The identity of a field to the field that replaces it.
    """
    found: dict[int, Field] = {}
    for field in fields:
        members = flat_members(UnionNode((field.node,)), definitions)
        if any(isinstance(member, ScalarNode) and member.type == "null" for member in members):
            found[id(field)] = field.replace(required=False, absent_is_none=True)
    return found


def with_fields(graph: Graph, changed: Mapping[int, Field]) -> Graph:
    """Return a graph with other fields in place of some of its own.

    Args:
        graph: any graph.
        changed: the identity of a field to what replaces it; its node stays the same.
    """
    rebuilt = _Rebuilt(changed)
    definitions = {target: rebuilt.node(node) for target, node in graph.definitions.items()}
    aliases = {target: rebuilt.node(node) for target, node in graph.aliases.items()}
    return graph.replace(root=rebuilt.node(graph.root), definitions=definitions, aliases=aliases)


class _Rebuilt:
    """The nodes of a graph with other fields in them, each made once."""

    def __init__(self, changed: Mapping[int, Field]) -> None:
        self._changed = changed
        self._made: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = self._make(node)
        return made

    def _make(self, node: Node) -> Node:
        if not parts_of(node):
            return node  # some nodes are recognised by their identity
        return node.replace(**{name: self._part(getattr(node, name)) for name in node.__slots__})

    def _part(self, part: Any) -> Any:
        if part.__class__ in TRAITS:
            return self.node(part)
        if part.__class__ is tuple:
            return tuple(map(self._part, part))
        if isinstance(part, Field):
            return self._changed.get(id(part), part).replace(node=self.node(part.node))
        return part
