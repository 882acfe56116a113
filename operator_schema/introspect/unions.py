"""Telling the members of a union apart by the JSON value alone, whatever their order.

First by JSON type. Among strings, enums and literals come before leaves, leaves go by
`LEAF_ORDER`, plain strings come last. Objects go by a tag, else by which of them fits and leaves
the fewest keys unused. `ambiguity` finds what can't be told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value
from ..json_values import JSON_TYPES, choice_key
from .nodes import EnumNode, LeafNode, LiteralNode, ObjectNode, ScalarNode
from .traits import flat_members, received_types

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from .nodes import Field, Node, Target, UnionNode

__all__ = [
    "LEAF_ORDER",
    "Tag",
    "UnionPlan",
    "is_shipped",
    "leaf_rank",
    "make_plan",
    "tag_of",
    "tags_of_field",
]

LEAF_ORDER = (
    "UUID",
    "datetime",
    "date",
    "time",
    "timedelta",
    "IPv4Address",
    "IPv6Address",
    "IPv4Network",
    "IPv6Network",
    "IPv4Interface",
    "IPv6Interface",
    "Decimal",
    "SplitResult",
    "ParseResult",
    "ZoneInfo",
    "bytes",
    "Pattern",
)
"""Names of shipped leaves' types, the most particular first; a user's own leaf comes before all."""

_LAST = len(LEAF_ORDER) + 1


class Tag(Value):
    """The key that tells the objects of a union apart.

    Attributes:
        key: its JSON name.
        members: `choice_key(value)` of the tag to the member.
        choices: a node of all its values, for messages.
        required: whether it must be there in each of them.
    """

    key: str
    members: Mapping[Hashable, ObjectNode]
    choices: LiteralNode
    required: bool


class UnionPlan(Value):
    """How a union is decoded.

    Attributes:
        candidates: JSON type to the members that values of it may belong to, the first that fits
            counts; objects are weighed against each other.
        tag: of its objects, where they have one.
    """

    candidates: Mapping[str, tuple[Node, ...]]
    tag: Tag | None


def make_plan(node: UnionNode, definitions: Mapping[Target, Node]) -> UnionPlan:
    """Say which members of a union a value may belong to.

    Args:
        node: a union whose members can be told apart.
        definitions: of its graph.
    """
    members = flat_members(node, definitions)
    known: dict[str, list[Node]] = {name: [] for name in JSON_TYPES}
    for member in members:
        for name in received_types(member):
            known[name].append(member)
    candidates = {
        name: _ranked(name, several) if len(several) > 1 else tuple(several)
        for name, several in known.items()
    }
    return UnionPlan(candidates, tag_of([m for m in members if isinstance(m, ObjectNode)]))


def _ranked(json_type: str, members: list[Node]) -> tuple[Node, ...]:
    return tuple(sorted(members, key=lambda member: _rank(member, json_type)))


def _rank(node: Node, json_type: str) -> tuple[int, bool]:
    if isinstance(node, (LiteralNode, EnumNode)):
        return -1, False
    if isinstance(node, LeafNode):
        return leaf_rank(node), False
    # An integer stays one, and so does a number: `int | float` keeps the kind that was given.
    return _LAST + 1, isinstance(node, ScalarNode) and node.type != json_type


def leaf_rank(node: LeafNode) -> int:
    """Return the place of a leaf among those that read strings, the most particular first."""
    cls = node.leaf.type
    if not is_shipped(cls):
        return 0
    return LEAF_ORDER.index(cls.__name__) + 1 if cls.__name__ in LEAF_ORDER else _LAST


def is_shipped(cls: type) -> bool:
    """Say whether a leaf's type is one of the standard library."""
    return cls.__module__.partition(".")[0] in _STANDARD


_STANDARD = frozenset(
    {"builtins", "datetime", "decimal", "ipaddress", "pathlib", "re", "urllib", "uuid", "zoneinfo"}
)


def tag_of(objects: list[ObjectNode]) -> Tag | None:
    """Find the key that tells objects apart: one literal of its own in each of them."""
    if len(objects) < 2:  # noqa: PLR2004  # nothing to tell apart
        return None
    for field in objects[0].fields:
        literals = [literal for node in objects for literal in _one_value(node, field.key)]
        values = tuple([literal.values[0] for literal in literals])
        members: dict[Hashable, ObjectNode] = dict(zip(map(choice_key, values), objects, strict=False))
        if len(literals) == len(objects) == len(members):
            table = {choice_key(value): value for value in values}
            required = all(field.key in [f.key for f in node.fields if f.required] for node in objects)
            return Tag(field.key, members, LiteralNode(values, values, table), required)
    return None


def _one_value(node: ObjectNode, key: str) -> list[LiteralNode]:
    """Return the literal of one value that stands at a key, if one does."""
    return [literal for field in node.fields if field.key == key for literal in tags_of_field(field)]


def tags_of_field(field: Field) -> list[LiteralNode]:
    """Return the literal of one value that a field holds, if it does."""
    node = field.node
    return [node] if isinstance(node, LiteralNode) and len(node.values) == 1 else []
