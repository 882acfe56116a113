"""How the members of a union are distinguished by the JSON value alone, whatever their order.

First by JSON type. Among strings, enums and literals come before leaves, leaves go by their
`rank`, plain strings come last. Objects go by a discriminator, else by which of them fits and leaves
the fewest keys unused. `ambiguity` finds members that can't be distinguished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import JSON_TYPES, choice_key
from .nodes import EnumNode, LeafNode, LiteralNode, ScalarNode, UnionNode
from .traits import flat_members, received_types, shape_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from .nodes import Field, Node, Target

__all__ = [
    "Tag",
    "UnionPlan",
    "choices_of",
    "make_plan",
    "tag_of",
]


class Tag(Value):
    """The discriminator of a union: the key whose value says which of its objects is meant.

    Attributes:
        key: its JSON name.
        members: `choice_key(value)` of each of its values to the member.
        choices: a node of all its values, for messages.
        required: whether it must be there in each of them.
    """

    key: str
    members: Mapping[Hashable, Node]
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
    """Return which members of a union a value may belong to.

    Args:
        node: a union whose members can be distinguished.
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
    return UnionPlan(candidates, tag_of(members))


def _ranked(json_type: str, members: list[Node]) -> tuple[Node, ...]:
    return tuple(sorted(members, key=lambda member: _rank(member, json_type)))


def _rank(node: Node, json_type: str) -> tuple[int, int]:
    if isinstance(node, (LiteralNode, EnumNode)):
        return 0, 0
    if isinstance(node, LeafNode):
        return 1, node.leaf.rank
    # An integer stays one, and so does a number: `int | float` keeps the kind that was given.
    return 2, isinstance(node, ScalarNode) and node.type != json_type


def tag_of(members: Sequence[Node]) -> Tag | None:
    """Find the discriminator of the objects among members: a key at which no two take the same value.

    Of several keys the one that each of them requires wins, then the one with the fewest values.
    """
    shapes = [(member, shape) for member in members if (shape := shape_of(member)) is not None]
    if len(shapes) < 2:  # noqa: PLR2004  # nothing to distinguish
        return None
    fields = [(member, {field.key: field for field in shape.fields}) for member, shape in shapes]
    found = [tag for key in fields[0][1] for tag in _tags_at(key, fields)]
    return min(found, key=lambda tag: (not tag.required, len(tag.members)), default=None)


def _tags_at(key: str, fields: Sequence[tuple[Node, Mapping[str, Field]]]) -> list[Tag]:
    """Return the discriminator that a key is, if it is one."""
    rows = [(node, known[key]) for node, known in fields if key in known]
    values = [choices_of(field.node) for _, field in rows]
    if len(rows) < len(fields) or not all(values):
        return []
    nullable = [number for number, (_, field) in enumerate(rows) if field.absent_is_none]
    if len(nullable) == 1 and not any(None in several for several in values):
        values[nullable[0]] = (*values[nullable[0]], None)
    members = {
        choice_key(value): node for (node, _), several in zip(rows, values, strict=True) for value in several
    }
    every = tuple([value for several in values for value in several])
    if len(members) < len(every):
        return []
    table = {choice_key(value): value for value in every}
    required = all(field.required for _, field in rows)
    return [Tag(key, members, LiteralNode(every, every, table), required)]


def choices_of(node: Node) -> tuple[Any, ...]:
    """Return the JSON values of a node that takes no others than a few; nothing for any other node."""
    if isinstance(node, (LiteralNode, EnumNode)):
        return node.values
    if isinstance(node, ScalarNode) and node.type == "null":
        return (None,)
    if not isinstance(node, UnionNode):
        return ()
    several = [choices_of(member) for member in node.members]
    return tuple([value for values in several for value in values]) if all(several) else ()
