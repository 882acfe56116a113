"""What a Python set can hold: values with a hash, of which no two are equal by accident."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Complaint
from .graph import parts_of
from .nodes import (
    UNKNOWN,
    AnyNode,
    ArrayNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    UnionNode,
)
from .unions import flat_members, json_types_of, node_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .nodes import Node, Target

__all__ = ["check_set"]


def check_set(
    node: ArrayNode, definitions: Mapping[Target, Node], path: tuple[str, ...], owner: str
) -> Iterator[Complaint]:
    """Complain about a set whose items can't be in one.

    Args:
        node: an array whose container is a set.
        definitions: of its graph.
        path: where it stands.
        owner: name of the class in which it stands.
    """
    what = node_name(node.items)
    if not _is_hashable(node.items, definitions):
        message = f"the items of the set, {what}, can't be in a Python set"
        yield Complaint(path, "unsupported", owner, message, "Make it a list, or the items frozen")
    elif _mixes_booleans(node.items, definitions):
        message = f"in a set of {what} True and 1 are one item, in JSON two"
        yield Complaint(path, "ambiguous", owner, message, "Make it a list")


def _is_hashable(node: Node, definitions: Mapping[Target, Node]) -> bool:
    seen: set[int] = set()
    pending = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, RefNode):
            inner = definitions[inner.target]
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        if not _can_hash(inner):
            return False
        pending.extend([part for _, part in parts_of(inner)])
    return True


def _can_hash(node: Node) -> bool:
    match node:
        case LeafNode(leaf=leaf):
            return leaf.type.__hash__ is not None
        case ArrayNode(container=container):
            return container in {tuple, frozenset}
        case ObjectNode(type=cls, form=form):
            can_hash: bool = form != "typed_dict" and cls.__hash__ is not None
            return can_hash
        case MapNode():
            return False
        case AnyNode():
            return node is UNKNOWN
        case _:
            return True


def _mixes_booleans(node: Node, definitions: Mapping[Target, Node]) -> bool:
    members = flat_members(UnionNode((node,)), definitions)
    types: set[str] = set()
    for member in members:
        if isinstance(member, (ScalarNode, LiteralNode)):
            types |= json_types_of(member)
    return "boolean" in types and bool(types & {"integer", "number"})
