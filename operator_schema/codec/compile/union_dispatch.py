"""The member of a union that encodes a value, found by the value's class, as `encode` would find it."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from ...introspect.nodes import LiteralNode
from ...introspect.traits import TRAITS, is_exactly

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


def classes_of(members: list[Node]) -> list[type]:
    """Return the classes that values of a union usually have."""
    own = [cls for member in members for cls in TRAITS[member.__class__].classes(member)]
    known = dict.fromkeys([cls for cls in own if cls not in _BUILT_IN]) | dict.fromkeys(_BUILT_IN)
    return [cls for cls in known if any(_takes(member, cls) for member in members)]


def _takes(node: Node, cls: type) -> bool:
    return TRAITS[node.__class__].takes(node, cls)


def the_one(members: list[Node], cls: type) -> Node | None:
    """Return the member of a union that `encode` takes for values of exactly this class.

    None where the class alone does not say it.
    """
    members = [member for member in members if _takes(member, cls)]
    if len(members) == 1:
        return members[0]
    if any(isinstance(member, LiteralNode) for member in members):
        return None
    exact = [member for member in members if is_exactly(member, cls)]
    return exact[0] if len(exact) == 1 else None
