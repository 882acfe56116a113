"""How the members of a union are distinguished by the JSON value alone, whatever their order.

First by JSON type. Among strings, enums and literals come before leaves, leaves go by their
`rank`, plain strings come last. Objects go by a discriminator, else by which of them fits and leaves
the fewest keys unused. `graph_checks` finds members that can't be distinguished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import JSON_TYPES, choice_key, type_of
from .node_kinds import flat_members, received_types, shape_of
from .nodes import EnumNode, LeafNode, LiteralNode, ScalarNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from .nodes import Field, Node, ObjectNode, Target

__all__ = ["UnionPlan", "choices_of", "distance", "make_plan", "meant_object", "tag_of"]


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


# --- which object was meant -----------------------------------------------------------------------

_LEVELS_COMPARED = 3
_MOST_A_LEVEL = 1000


def meant_object(
    fitting: Sequence[Node],
    candidates: tuple[Node, ...],
    value: dict[Any, Any],
    definitions: Mapping[Target, Node],
) -> Node | None:
    """Return the member of a union that an object is, or was probably meant for.

    Args:
        fitting: the members that take it.
        candidates: all members that are objects.
        value: the object.
        definitions: of the graph.

    Returns:
        Of those that take it the one that leaves the fewest keys unused; if none does, the nearest one;
        None if the keys and values don't say which.
    """
    if fitting:
        return min(fitting, key=lambda member: distance(member, value))
    return _nearest_member(candidates, value, definitions)


def _nearest_member(
    members: tuple[Node, ...], value: dict[Any, Any], definitions: Mapping[Target, Node]
) -> Node | None:
    """Return the member that an object was probably meant for, if its keys and values say so."""
    by_keys = [_unused_and_lacking(member, value) for member in members]
    best = min(by_keys)
    unused, lacks = best
    # Comparing values goes several levels deep: only members whose keys fit equally well need it.
    nearest = [member for member, keys in zip(members, by_keys, strict=True) if keys == best]
    if unused >= len(value) or (lacks and len(nearest) > 1):
        return None
    if len(nearest) == 1:
        return nearest[0]
    return min(nearest, key=lambda each: (_mistakes(each, value, definitions), distance(each, value)))


def _mistakes(
    node: Node, value: Any, definitions: Mapping[Target, Node], levels: int = _LEVELS_COMPARED
) -> int:
    """Return how much a value differs at sight from those of a node: by JSON types, choices and keys.

    What the schema refuses weighs more than keys that nobody knows, and each level weighs more than all
    levels below it.
    """
    unknown: int = _MOST_A_LEVEL ** (2 * levels)
    weight = _MOST_A_LEVEL * unknown
    json_type = type_of(value)
    takers = [member for member in flat_members(node, definitions) if json_type in received_types(member)]
    if len(takers) != 1 or not levels:
        return 0 if takers else weight
    taker = takers[0]
    if isinstance(taker, (LiteralNode, EnumNode)):
        return 0 if choice_key(value) in taker.table else weight
    shape = shape_of(taker)
    if shape is None:
        return 0
    unused, lacks = _unused_and_lacking(shape, value)
    given = [field for field in shape.fields if value.get(field.key) is not None]
    inner = sum([_mistakes(field.node, value[field.key], definitions, levels - 1) for field in given])
    refused = lacks + (unused if shape.closed else 0)
    return refused * weight + min(unused, _MOST_A_LEVEL - 1) * unknown + min(inner, unknown - 1)


def _unused_and_lacking(node: Node, value: dict[Any, Any]) -> tuple[int, bool]:
    """Return how many keys a member leaves unused, and whether a required one is not there."""
    lacks = any(field.required and field.key not in value for field in _fields_of(node).fields)
    return distance(node, value)[0], lacks


def distance(node: Node, value: dict[Any, Any]) -> tuple[int, int, str]:
    """Return how far an object is from a member: keys left unused, keys not given, then by name."""
    shape = _fields_of(node)
    keys = {field.key for field in shape.fields}
    return len(value.keys() - keys), len(keys - value.keys()), f"{shape.type.__module__}.{shape.name}"


def _fields_of(node: Node) -> ObjectNode:
    shape = shape_of(node)
    assert shape is not None  # noqa: S101  # several members take an object only if all have known keys
    return shape
