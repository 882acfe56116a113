"""Where in a call something can be damaged: its values, each with the node it is decoded by.

This reads the graph on its own, so that the engine does not say what it is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from operator_schema.engine import (
    AnyNode,
    ArrayNode,
    EnumNode,
    Field,
    Fitting,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from operator_schema.engine import Graph

ABSENT: Any = object()
"""The value of a field whose key was left out."""

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """One value of a call.

    Attributes:
        path: keys and indexes that lead to it.
        members: what the value may be decoded by: the members of the union, or the node alone.
        value: what stands there, or `ABSENT`.
        field: that it is the value of, if it is.
        owner: the object with that field.
        around: the value of the owner.
        fits: whether another value would do here as it stands.
    """

    path: Path
    members: tuple[Node, ...]
    value: Any
    field: Field | None
    owner: ObjectNode | None
    around: dict[str, Any]
    fitting: Fitting

    @property
    def takes_text(self) -> bool:
        """Whether some string could be meant here."""
        return any(map(takes_text, self.members))

    def fits(self, value: Any) -> bool:
        """Say whether another value would do here as it stands."""
        if value is None and self.field is not None and self.field.absent_is_none:
            return True
        return any(self.fitting.fits(member, value, 1) for member in self.members)


def takes_text(node: Node) -> bool:
    """Say whether a node that is no union takes some strings."""
    match node:
        case ScalarNode():
            return node.type == "string"
        case LeafNode():
            return "string" in node.leaf.json_types
        case LiteralNode() | EnumNode():
            return any(isinstance(value, str) for value in node.values)
        case _:
            return isinstance(node, AnyNode)


def places_of(graph: Graph, value: Any) -> list[Place]:
    """List the values of a call, those that hold others before them."""
    return list(_Places(graph).at(graph.root, value, ()))


class _Places:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.fitting = Fitting(graph.definitions, 100)

    def members(self, node: Node) -> tuple[Node, ...]:
        node = self.graph.resolve(node)
        if isinstance(node, UnionNode):
            return tuple([inner for member in node.members for inner in self.members(member)])
        return (node,)

    def at(
        self,
        node: Node,
        value: Any,
        path: Path,
        field: Field | None = None,
        owner: ObjectNode | None = None,
        around: Any = None,
    ) -> Iterator[Place]:
        members = self.members(node)
        yield Place(path, members, value, field, owner, around, self.fitting)
        meant = [member for member in members if value is not ABSENT and self.fitting.fits(member, value, 1)]
        if len(meant) == 1:
            yield from self.inside(meant[0], value, path)

    def inside(self, node: Node, value: Any, path: Path) -> Iterator[Place]:
        match node:
            case ObjectNode():
                for field in node.fields:
                    item = value.get(field.key, ABSENT)
                    yield from self.at(field.node, item, (*path, field.key), field, node, value)
            case MapNode():
                for key, item in value.items():
                    yield from self.at(node.values, item, (*path, key))
            case ArrayNode():
                for index, item in enumerate(value):
                    yield from self.at(node.items, item, (*path, index))
            case TupleNode():
                for index, (inner, item) in enumerate(zip(node.items, value, strict=True)):
                    yield from self.at(inner, item, (*path, index))
            case RefNode() | UnionNode():
                raise AssertionError("the members are resolved and spread out")
            case _:
                return
