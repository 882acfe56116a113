"""Which alternatives of a union can a decoder decide between, and which never fit together?"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ..introspect.node_kinds import flat_members, received_types
from ..introspect.nodes import AnyNode, LiteralNode, ObjectNode, RefNode, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Node, Target, UnionNode

__all__ = ["are_alternatives", "are_disjoint", "count_containers"]

_MOST_COMPARED = 100


def are_alternatives(node: UnionNode, definitions: Mapping[Target, Node]) -> bool:
    """Return whether decoding works: of several that take an object, each has known keys."""
    members = flat_members(node, definitions)
    objects = [member for member in members if "object" in received_types(member)]
    if any(isinstance(member, AnyNode) for member in members):
        return False
    return len(objects) < 2 or all(isinstance(member, ObjectNode) for member in objects)  # noqa: PLR2004  # several


def count_containers(node: UnionNode, definitions: Mapping[Target, Node]) -> int:
    """Return the number of alternatives that take an array or an object."""
    members = flat_members(node, definitions)
    return sum(not received_types(member).isdisjoint({"array", "object"}) for member in members)


def are_disjoint(node: UnionNode, definitions: Mapping[Target, Node]) -> bool:
    """Return whether it is plain to see that no value fits two of the alternatives."""
    members = [resolve(member, definitions) for member in node.members]
    if len(members) > _MOST_COMPARED:
        return False
    return all(_differ(one, other, definitions) for one, other in combinations(members, 2))


def _differ(one: Node, other: Node, definitions: Mapping[Target, Node]) -> bool:
    if not _types(one, definitions) & _types(other, definitions):
        return True
    if isinstance(one, LiteralNode) and isinstance(other, LiteralNode):
        return one.table.keys().isdisjoint(other.table)
    if not isinstance(one, ObjectNode) or not isinstance(other, ObjectNode):
        return False
    tags = {field.key: field.node for field in one.fields if field.required}
    return any(
        field.required and field.key in tags and _are_tags(tags[field.key], field.node)
        for field in other.fields
    )


def _are_tags(one: Node, other: Node) -> bool:
    return (
        isinstance(one, LiteralNode)
        and isinstance(other, LiteralNode)
        and one.table.keys().isdisjoint(other.table)
    )


def _types(node: Node, definitions: Mapping[Target, Node]) -> frozenset[str]:
    assert not isinstance(node, RefNode)  # noqa: S101  # they are resolved
    return frozenset[str]().union(*[received_types(member) for member in flat_members(node, definitions)])
