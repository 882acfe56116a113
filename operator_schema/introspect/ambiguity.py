"""Members of a union that JSON can't distinguish, which registration complains about."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from ..complaints import Complaint
from ..json_values import JSON_TYPES, choice_key
from ..wording import listed
from .names import show_value
from .nodes import (
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    resolve,
)
from .traits import flat_members, received_types, shape_of
from .unions import choices_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from .nodes import Field, Target

__all__ = ["check_union", "node_name"]

_TEXT_ALONE = frozenset({"string"})
_OBJECT_ALONE = frozenset({"object"})
_LAX = frozenset({"string", "integer", "number", "boolean"})


def check_union(
    members: Sequence[Node], path: tuple[str, ...], owner: str, definitions: Mapping[Target, Node], most: int
) -> tuple[int, list[Complaint]]:
    """Complain about the pairs of members of a union that JSON can't distinguish.

    Args:
        members: as `flat_members` gives them.
        path: where the union is.
        owner: name of the class that it is in.
        definitions: of the graph.
        most: members and pairs that may be looked at.

    Returns:
        The number of members and pairs looked at, and the complaints. There are none if `most` was
        reached, and one about all further pairs if there are more than a few.
    """
    if any(member is UNKNOWN for member in members):
        return 0, []
    looked_at, alike = _compare(members, definitions, most)
    if looked_at >= most or not alike:
        return looked_at, []
    texts = [(_describe_pair(members[i], members[j]), alike[i, j]) for i, j in sorted([*alike][:_MOST_NAMED])]
    if len(alike) > _MOST_NAMED:
        texts.append(("more of its members can't be told apart by their JSON", "Fix those named first"))
    return looked_at, [Complaint(path, "ambiguous", owner, *text) for text in texts]


_MOST_NAMED = 20
"""Pairs of members of one union that complaints name."""


def _compare(
    members: Sequence[Node], definitions: Mapping[Target, Node], most: int
) -> tuple[int, dict[tuple[int, int], str]]:
    """Return how many members and pairs were looked at, and the pairs that are alike with what to do."""
    objects = _Objects(members, definitions)
    looked_at = len(members)
    seen: set[tuple[int, int]] = set()
    alike: dict[tuple[int, int], str] = {}
    for pair in islice(_close_pairs(members, objects), most):
        looked_at += 1
        if pair in seen:
            continue
        seen.add(pair)
        remedy = _why_alike(members[pair[0]], members[pair[1]], objects)
        if remedy:
            alike[pair] = remedy
            if len(alike) > _MOST_NAMED:
                break
    return looked_at, alike


def _describe_pair(one: Node, other: Node) -> str:
    first, second = sorted([node_name(one), node_name(other)])
    if first == second:
        second = f"another {second.removeprefix('an ').removeprefix('a ')}"
    return f"{first} and {second} can't be told apart by their JSON"


class _Objects:
    """The objects of a union, and what distinguishes each from others.

    Attributes:
        shapes: number of a member to its fields.
    """

    __slots__ = ("_definitions", "_marks", "shapes")

    def __init__(self, members: Sequence[Node], definitions: Mapping[Target, Node]) -> None:
        self._definitions = definitions
        self._marks: dict[int, _Marks] = {}
        found = [(i, shape_of(member)) for i, member in enumerate(members)]
        self.shapes = {i: shape for i, shape in found if shape is not None}

    def marks(self, node: ObjectNode) -> _Marks:
        marks = self._marks.get(id(node))
        if marks is None:
            marks = self._marks[id(node)] = _Marks(node)
        return marks

    def differ(self, one: ObjectNode, other: ObjectNode, *, is_lax: bool, levels: int = 3) -> bool:
        """Return whether no object of the one can be read as the other.

        Args:
            one: fields of a member.
            other: those of another one.
            is_lax: whether a leaf reads one of them, which may take `"1"` for an integer.
            levels: of objects inside them that are compared.
        """
        first, second = self.marks(one), self.marks(other)
        shared = first.fields.keys() & second.fields.keys()
        if not (first.written | second.written) <= shared:
            return True
        return any(
            (key in first.written or second.fields[key].required)
            and (key in second.written or first.fields[key].required)
            and self._are_disjoint(first.fields[key], second.fields[key], levels, is_lax=is_lax)
            for key in shared
        )

    def _are_disjoint(self, one: Field, other: Field, levels: int, *, is_lax: bool) -> bool:
        """Return whether two fields take no value in common."""
        values, others = _choice_keys(one), _choice_keys(other)
        if values and others:
            return not values & others
        types, others_types = self._types(one), self._types(other)
        common = types & others_types
        if is_lax and types & _LAX and others_types & _LAX:
            return False
        if common != _OBJECT_ALONE or not levels:
            return not common
        inner = shape_of(resolve(one.node, self._definitions))
        outer = shape_of(resolve(other.node, self._definitions))
        if inner is None or outer is None:
            return False
        return self.differ(inner, outer, is_lax=is_lax, levels=levels - 1)

    def _types(self, field: Field) -> frozenset[str]:
        null = frozenset({"null"} if field.absent_is_none else ())
        return null.union(*map(received_types, flat_members(field.node, self._definitions)))


def _choice_keys(field: Field) -> frozenset[Hashable]:
    values = choices_of(field.node)
    also = (None,) if field.absent_is_none and values else ()
    return frozenset(map(choice_key, (*values, *also)))


class _Marks:
    """What distinguishes an object from others.

    Attributes:
        fields: by JSON key.
        written: keys that every encoded instance has.
        choices: key of those to the values that it may have there, where they are few.
    """

    __slots__ = ("choices", "fields", "written")

    def __init__(self, node: ObjectNode) -> None:
        self.fields = {field.key: field for field in node.fields}
        self.written = _always_written(node)
        found = {key: _choice_keys(self.fields[key]) for key in self.written}
        self.choices = {key: values for key, values in found.items() if values}


def _close_pairs(members: Sequence[Node], objects: _Objects) -> Iterator[tuple[int, int]]:
    """Find the pairs of members that might be alike, without looking at every pair.

    Choices are alike where they share a value, objects where each has the keys of the other; the rest
    are few in any union that makes sense.
    """
    special = {i for i, each in enumerate(members) if isinstance(each, (LiteralNode, EnumNode))}
    special.update(objects.shapes)
    for i in range(len(members)):
        if i not in special:
            yield from [(j, i) for j in range(i)]
            yield from [(i, j) for j in range(i + 1, len(members)) if j in special]
    holders: dict[Hashable, list[int]] = {}
    for i, member in enumerate(members):
        for value in member.table if isinstance(member, (LiteralNode, EnumNode)) else ():
            yield from [(j, i) for j in holders.setdefault(value, [])]
            holders[value].append(i)
    if len(objects.shapes) > 1:
        yield from _close_objects({i: objects.marks(shape) for i, shape in objects.shapes.items()})


def _close_objects(marks: Mapping[int, _Marks]) -> Iterator[tuple[int, int]]:
    """Find the pairs of objects that might be alike.

    Whatever is like an object has each key that the object writes, and takes one of its values there:
    the key that the fewest others have leads to those.
    """
    holders: dict[tuple[str, Hashable], list[int]] = {}
    for i, each in marks.items():
        for key in each.fields:
            for value in (_ALL, *each.choices.get(key, (_OPEN,))):
                holders.setdefault((key, value), []).append(i)

    def near(each: _Marks, key: str) -> list[list[int]]:
        values = [_OPEN, *each.choices[key]] if key in each.choices else [_ALL]
        return [holders[key, value] for value in values if (key, value) in holders]

    for i, each in marks.items():
        found = [near(each, key) for key in each.written] or [[list(marks)]]
        for several in min(found, key=lambda lists: sum(map(len, lists))):
            yield from [(min(i, j), max(i, j)) for j in several if i != j]


_ALL: Final = object()
_OPEN: Final = object()


def _why_alike(one: Node, other: Node, objects: _Objects) -> str | None:
    """Return what to do about two members that JSON can't distinguish, None where it can."""
    if (_is_null(one) and _reads_null_as_none(other)) or (_is_null(other) and _reads_null_as_none(one)):
        return None
    common = received_types(one) & received_types(other)
    if not common or _are_choice_and_other(one, other, common):
        return None
    if isinstance(one, ScalarNode) and isinstance(other, ScalarNode):
        return None if one.type != other.type else _KEEP_ONE
    first, second = shape_of(one), shape_of(other)
    if first is not None and second is not None:
        is_lax = isinstance(one, LeafNode) or isinstance(other, LeafNode)
        return None if objects.differ(first, second, is_lax=is_lax) else _ADD_TAG
    if isinstance(one, LeafNode) and isinstance(other, LeafNode) and common == _TEXT_ALONE:
        return None if one.leaf.rank != other.leaf.rank else _KEEP_ONE
    if (
        LeafNode in {type(one), type(other)}
        and ScalarNode in {type(one), type(other)}
        and common == _TEXT_ALONE
    ):
        return None
    return _KEEP_ONE


def _reads_null_as_none(node: Node) -> bool:
    is_literal = isinstance(node, LiteralNode) and None in node.members
    return is_literal or isinstance(node, AnyNode) or _is_null(node)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.type == "null"


_KEEP_ONE = "Keep one of them, or put each into a dataclass of its own"
_ADD_TAG = 'Give each a tag, such as a field `kind: Literal["…"]` with a value of its own'


def _are_choice_and_other(one: Node, other: Node, common: frozenset[str]) -> bool:
    first = isinstance(one, (LiteralNode, EnumNode))
    second = isinstance(other, (LiteralNode, EnumNode))
    if isinstance(one, (LiteralNode, EnumNode)) and isinstance(other, (LiteralNode, EnumNode)):
        return not set(one.table) & set(other.table)
    # Null is never a choice's alone: it has to mean one thing.
    is_plain = not isinstance(one, AnyNode) and not isinstance(other, AnyNode)
    return (first or second) and is_plain and "null" not in common


def _always_written(node: ObjectNode) -> set[str]:
    """Return the keys that every encoded instance has."""
    return {field.key for field in node.fields if _is_always_written(node, field)}


def _is_always_written(node: ObjectNode, field: Field) -> bool:
    if node.form == "typed_dict":
        return field.required
    return not (field.absent_is_none or field.init_only)


def node_name(node: Node) -> str:
    """Return the name by which a complaint calls a member of a union."""
    match node:
        case ObjectNode():
            return node.name
        case EnumNode():
            return node.type.__name__
        case LeafNode():
            return node.leaf.type.__name__
        case LiteralNode():
            return f"Literal[{listed([show_value(value) for value in node.values], 5)}]"
        case ScalarNode():
            return node.type
        case ArrayNode():
            return f"an array of {node_name(node.items)}"
        case TupleNode():
            return f"an array of {len(node.items)} items"
        case MapNode():
            return f"a map of {node_name(node.values)}"
        case UnionNode():
            return "a union"
        case RefNode():
            return node.target.name
        case _:
            types = received_types(node)
            return "any value" if len(types) == len(JSON_TYPES) else " or ".join(sorted(types))
