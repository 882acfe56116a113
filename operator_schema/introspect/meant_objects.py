"""Which member of a union was meant by an object?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import choice_key, type_of
from .node_kinds import flat_members, received_types, shape_of
from .nodes import EnumNode, LiteralNode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .nodes import Node, ObjectNode, Target


_LEVELS_COMPARED = 3


def nearest_objects(members: Sequence[Node], value: dict[Any, Any]) -> list[Node]:
    """Return the members of a union that leave the fewest keys of an object unused."""
    counts = [unused_keys(member, value) for member in members]
    least = min(counts, default=0)
    return [member for member, count in zip(members, counts, strict=True) if count == least]


def unused_keys(node: Node, value: dict[Any, Any]) -> int:
    """Return how many keys of an object a member of a union leaves unused."""
    return len(value.keys() - {field.key for field in _fields_of(node).fields})


def meant_object(
    members: Sequence[Node], value: dict[Any, Any], definitions: Mapping[Target, Node]
) -> Node | None:
    """Return the member of a union that was probably meant by an object that fits none of them.

    Args:
        members: the members that are objects.
        value: the object.
        definitions: the definitions of the graph.

    Returns:
        The nearest member; None if the keys and values don't decide.
    """
    by_keys = [_unused_and_lacking(member, value) for member in members]
    best = min(by_keys)
    unused, lacks = best
    # Comparing values goes several levels deep: only members whose keys fit equally well need it.
    nearest = [member for member, keys in zip(members, by_keys, strict=True) if keys == best]
    if unused >= len(value) or (lacks and len(nearest) > 1):
        return None
    if len(nearest) == 1:
        return nearest[0]
    found = [
        (
            (
                _mistakes(each, value, definitions),
                sum(field.key not in value for field in _fields_of(each).fields),
            ),
            each,
        )
        for each in nearest
    ]
    least = min(measure for measure, _ in found)
    meant = [member for measure, member in found if measure == least]
    return meant[0] if len(meant) == 1 else None


def _mistakes(
    node: Node, value: Any, definitions: Mapping[Target, Node], levels: int = _LEVELS_COMPARED
) -> int:
    """Return a score of how much a value differs from a node's values in JSON types, choices and keys.

    Violations of the schema weigh more than unknown keys, and each level weighs more than all levels below
    it.
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


_MOST_A_LEVEL = 1000


def _unused_and_lacking(node: Node, value: dict[Any, Any]) -> tuple[int, bool]:
    """Return how many keys a member leaves unused, and whether a required key is missing."""
    lacks = any(field.required and field.key not in value for field in _fields_of(node).fields)
    return unused_keys(node, value), lacks


def _fields_of(node: Node) -> ObjectNode:
    shape = shape_of(node)
    assert shape is not None  # noqa: S101  # several members take an object only if all have known keys
    return shape
