"""Which member of a union a value is encoded as, told by its class: what `encode` would find out."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from ...introspect.nodes import (
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
)
from ..encode import SCALAR_CLASSES

if TYPE_CHECKING:
    from ...introspect.nodes import Node

__all__ = ["classes_of", "the_one"]

_BUILT_IN: tuple[type, ...] = (
    str,
    int,
    float,
    bool,
    type(None),
    list,
    tuple,
    set,
    frozenset,
    deque,
    dict,
    OrderedDict,
)
_NO_ARRAYS = (str, bytes, bytearray, dict)


def classes_of(members: list[Node]) -> list[type]:
    """Return the classes that values of a union usually have."""
    own = [cls for member in members for cls in _own_classes(member)]
    known = dict.fromkeys(own) | dict.fromkeys(_BUILT_IN)
    return [cls for cls in known if any(_may_be(member, cls) for member in members)]


def _own_classes(node: Node) -> list[type]:
    match node:
        case EnumNode() | ObjectNode():
            return [] if isinstance(node, ObjectNode) and node.form == "typed_dict" else [node.type]
        case LeafNode():
            return [node.leaf.type]
        case LiteralNode():
            return [type(member) for member in node.members]
        case _:
            return []


def _may_be(node: Node, cls: type) -> bool:
    """Say whether `encode` takes a value of exactly this class for a member of a union."""
    match node:
        case ScalarNode():
            is_boolean = node.type == "boolean"
            return issubclass(cls, SCALAR_CLASSES[node.type]) and (is_boolean or cls is not bool)
        case LiteralNode():
            return any(type(member) is cls for member in node.members)
        case EnumNode():
            return issubclass(cls, node.type)
        case LeafNode():
            return issubclass(cls, node.leaf.type)
        case ObjectNode():
            return issubclass(cls, dict if node.form == "typed_dict" else node.type)
        case ArrayNode():
            return issubclass(cls, node.accepts) and not issubclass(cls, _NO_ARRAYS)
        case MapNode():
            return issubclass(cls, node.accepts)
        case TupleNode():
            return issubclass(cls, tuple)
        case _:  # `Any`, which stands beside null alone
            return True


def the_one(members: list[Node], cls: type) -> Node | None:
    """Return the member of a union that `encode` takes for values of exactly this class.

    None where the class alone does not say it.
    """
    members = [member for member in members if _may_be(member, cls)]
    if len(members) == 1:
        return members[0]
    if any(isinstance(member, LiteralNode) for member in members):
        return None
    exact = [member for member in members if _is_exactly(member, cls)]
    return exact[0] if len(exact) == 1 else None


def _is_exactly(node: Node, cls: type) -> bool:
    match node:
        case ScalarNode():
            return cls in SCALAR_CLASSES[node.type][:1]
        case EnumNode() | ObjectNode():
            return cls is node.type
        case LeafNode():
            return cls is node.leaf.type
        case _:
            return False
