"""By what are the members of a union distinguished?

By the JSON value alone, whatever the order of the members. First by JSON type. Among strings, enums and
literals come before leaves, leaves go by their `rank`, plain strings come last. Objects go by a
discriminator, which `required_tags` makes required. Without one, the object that fits and leaves the fewest
keys unused is chosen, and a value that fits several is refused. Names never count. `ambiguity_checks` finds
members that can't be distinguished.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import JSON_TYPES, choice_key
from .node_kinds import flat_members, received_types, shape_of
from .nodes import TAKERS, EnumNode, LeafNode, LiteralNode, ScalarNode, UnionNode, is_null

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from .nodes import Field, Node, Target


class Tag(Value):
    """The discriminator of a union: the key whose value selects one of its objects.

    Attributes:
        key: its JSON name.
        members: `choice_key(value)` of each of its values to the member.
        choices: a node with all its values, for messages.
        required: whether each of the objects must have the key.
    """

    key: str
    members: Mapping[Hashable, Node]
    choices: LiteralNode
    required: bool


class UnionPlan(Value):
    """How a union is decoded.

    Attributes:
        candidates: JSON type to the members that values of it may belong to. The first one that fits wins;
            objects are compared with each other.
        tag: the discriminator of its objects, if they have one.
    """

    candidates: Mapping[str, tuple[Node, ...]]
    tag: Tag | None


def make_plan(node: UnionNode, definitions: Mapping[Target, Node]) -> UnionPlan:
    """Return which members of a union a value may belong to.

    Args:
        node: a union whose members can be distinguished.
        definitions: the definitions of its graph.
    """
    members = flat_members(node, definitions)
    known: dict[str, list[Node]] = {name: [] for name in JSON_TYPES}
    for member in members:
        for name in received_types(member):
            known[name].append(member)
    candidates = {name: tuple(sorted(several, key=partial(_rank, name))) for name, several in known.items()}
    return UnionPlan(candidates, tag_of(members))


def _rank(json_type: str, node: Node) -> tuple[int, int]:
    if isinstance(node, (LiteralNode, EnumNode)):
        return 0, 0
    if isinstance(node, LeafNode):
        return 1, node.leaf.rank
    return 2, TAKERS[json_type].index(node.type) if isinstance(node, ScalarNode) else 0


def tag_of(members: Sequence[Node]) -> Tag | None:
    """Return the discriminator by which the objects among members are chosen.

    Of several, the one that each object requires wins, then the one with the fewest values, then the first
    key in the alphabet.
    """
    return min(tags_of(members), key=lambda tag: (not tag.required, len(tag.members), tag.key), default=None)


def tags_of(members: Sequence[Node], *, of_all: bool = True) -> list[Tag]:
    """Return the discriminators of the objects among members: keys at which no two take the same value.

    Args:
        members: the members of a union; only objects count.
        of_all: whether every object must have a fixed set of values at the key; otherwise two are enough.
    """
    shapes = [(member, shape) for member in members if (shape := shape_of(member)) is not None]
    if len(shapes) < 2:  # noqa: PLR2004  # nothing to distinguish
        return []
    rows: dict[str, list[tuple[Node, Field]]] = {}
    for member, shape in shapes:
        for field in shape.fields:
            if field_choices(field):
                rows.setdefault(field.key, []).append((member, field))
    least = len(shapes) if of_all else 2
    return [tag for key, having in rows.items() if len(having) >= least for tag in _tags_at(key, having)]


def _tags_at(key: str, rows: Sequence[tuple[Node, Field]]) -> list[Tag]:
    """Return the discriminator at a key, if there is one; `rows` has the objects with few values there."""
    values = [field_choices(field) for _, field in rows]
    members = {
        choice_key(value): node for (node, _), several in zip(rows, values, strict=True) for value in several
    }
    every = tuple([value for several in values for value in several])
    if len(members) < len(every):
        return []
    table = {choice_key(value): value for value in every}
    required = all(field.required for _, field in rows)
    return [Tag(key, members, LiteralNode(every, every, table), required)]


def field_choices(field: Field) -> tuple[Any, ...]:
    """Return the JSON values of a field as `choices_of` does, with null if null means an absent key."""
    values = choices_of(field.node)
    return (*values, None) if values and field.absent_is_none and None not in values else values


def choices_of(node: Node) -> tuple[Any, ...]:
    """Return the JSON values of a node with a fixed set of values; an empty tuple for any other node."""
    if isinstance(node, (LiteralNode, EnumNode)):
        return node.values
    if is_null(node):
        return (None,)
    if not isinstance(node, UnionNode):
        return ()
    several = [choices_of(member) for member in node.members]
    return tuple([value for values in several for value in values]) if all(several) else ()
