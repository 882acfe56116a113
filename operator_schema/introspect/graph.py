"""The graph of nodes: a type's root, its recursive definitions, and what is asked of any node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value
from .nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .nodes import Node, Target

__all__ = ["Graph", "nodes_inside", "parts_of", "takes_null"]


NO_ALIASES: Mapping[Target, Node] = {}


class Graph(Value):
    """What a type means.

    Attributes:
        root: the node of the type itself.
        definitions: the nodes of its recursive types, by what `RefNode.target` says.
        aliases: the nodes of its type aliases, which are the same objects wherever they are used.
    """

    root: Node
    definitions: Mapping[Target, Node]
    aliases: Mapping[Target, Node] = NO_ALIASES

    if not TYPE_CHECKING:

        def __new__(cls, root, definitions, aliases):
            self = cls._draft()
            self.root = root
            self.definitions = definitions
            self.aliases = aliases
            self.__class__ = cls
            return self

    def resolve_root(self) -> Node:
        """Return the node of the type itself, never a reference."""
        return self.resolve(self.root)

    def resolve(self, node: Node) -> Node:
        """Return the node that a reference stands for, any other node as it is."""
        while isinstance(node, RefNode):
            node = self.definitions[node.target]
        return node


def takes_null(node: Node) -> bool:
    """Say whether null is one of the node's own values."""
    match node:
        case AnyNode() | ScalarNode(type="null"):
            return True
        case LiteralNode(values=values) | EnumNode(values=values):
            return None in values
        case LeafNode(leaf=leaf):
            return "null" in leaf.json_types
        case _:
            return False


def nodes_inside(node: Node) -> Sequence[Node]:
    """Return the nodes right inside a node, in the order of `parts_of`."""
    match node:
        case ObjectNode():
            return [field.node for field in node.fields]
        case ArrayNode():
            return (node.items,)
        case MapNode():
            return (node.values,)
        case TupleNode():
            return node.items
        case UnionNode():
            return node.members
        case _:
            return ()


def parts_of(node: Node) -> list[tuple[tuple[str, ...], Node]]:
    """Return the nodes right inside a node, each with the steps of a path that lead to it."""
    match node:
        case ArrayNode():
            return [(("*",), node.items)]
        case MapNode():
            return [(("*",), node.values)]
        case TupleNode():
            return [(("*",), item) for item in node.items]
        case UnionNode():
            return [((), member) for member in node.members]
        case ObjectNode():
            return [((field.name,), field.node) for field in node.fields]
        case _:
            return []
