"""One node for all that are equal, found in time that grows with the number of nodes.

Comparing two nodes by content visits whatever they share again and again: an alias that is used
twice at each of thirty levels stands in a billion places.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..immutable import content_of
from .leaves import SchemaLeaf
from .nodes import (
    AnyNode,
    ArrayNode,
    Constraints,
    EnumNode,
    Field,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    Target,
    TupleNode,
    UnionNode,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from .nodes import Node

__all__ = ["Distinct"]

_NODES: Final = frozenset(
    {
        ScalarNode,
        AnyNode,
        LeafNode,
        LiteralNode,
        EnumNode,
        ArrayNode,
        TupleNode,
        MapNode,
        ObjectNode,
        UnionNode,
        RefNode,
    }
)
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Distinct:
    """The nodes of one walk, of which each is looked into once."""

    __slots__ = ("_first", "_met")

    def __init__(self) -> None:
        self._first: dict[Hashable, Node] = {}
        # Together with the node itself, because the identity of one that is gone is given again.
        self._met: dict[int, tuple[Node, Node]] = {}

    def members(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return nodes without those that are equal to an earlier one."""
        return tuple({id(node): node for node in map(self.node, nodes)}.values())

    def union(self, node: UnionNode) -> UnionNode:
        """Return a union that may stand inside another: `flat_members` tells members by identity."""
        return node.replace(members=self.members(node.members))

    def node(self, node: Node) -> Node:
        """Return the first node that was met of those that are equal to this one."""
        met = self._met.get(id(node))
        if met is None:
            met = self._met[id(node)] = (node, self._first.setdefault(self._key(node), node))
        return met[1]

    def _key(self, node: Node) -> Hashable:
        if isinstance(node, ScalarNode) and node.constraints is None:
            return node.type if node.description is None else (node.type, node.description)
        if isinstance(node, ObjectNode) and node.name == node.type.__name__:
            # A class without type parameters is read once; only its description may differ.
            return (ObjectNode, id(node.type), id(node.fields), node.description)
        return (node.__class__, tuple([self._part(part) for part in content_of(node)]))

    def _part(self, part: Any) -> Hashable:
        cls = part.__class__
        if cls in _SCALARS:
            return (cls, part)  # 1, 1.0 and True are three
        if cls in _NODES:
            return id(self.node(part))
        if cls is tuple:
            return tuple([self._part(inner) for inner in part])
        if isinstance(part, (Field, Constraints)):
            return tuple([self._part(inner) for inner in content_of(part)])
        if isinstance(part, (Target, SchemaLeaf, re.Pattern)):
            return part  # pyright: ignore[reportUnknownVariableType]  # of whatever type
        # The table of a choice follows from its values and members; classes, members of an Enum
        # and defaults are what they are.
        return None if cls is dict else id(part)
