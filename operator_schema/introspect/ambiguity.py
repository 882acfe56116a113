"""Members of a union that can't be told apart by their JSON, which registration complains about."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ..json_values import choice_key
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
)
from .traits import received_types
from .unions import leaf_rank, tags_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..errors import Complaint
    from .nodes import Field

__all__ = ["check_union", "node_name"]

_TEXT = frozenset({"string"})
# These read the same texts.
_ALIKE = ({"SplitResult", "ParseResult"},)


def check_union(members: Sequence[Node], path: tuple[str, ...], owner: str) -> Iterator[Complaint]:
    """Complain about each pair of members of a union that can't be told apart.

    Args:
        members: as `flat_members` gives them.
        path: where the union stands.
        owner: name of the class in which it stands.
    """
    if any(member is UNKNOWN for member in members):
        return
    objects = [member for member in members if isinstance(member, ObjectNode)]
    # One alone is told from what is no object by its JSON type.
    marks = {id(node): _Marks(node) for node in objects} if len(objects) > 1 else {}
    for one, other in combinations(members, 2):
        remedy = _why_alike(one, other, marks)
        if remedy:
            first, second = sorted([node_name(one), node_name(other)])
            if first == second:
                second = f"another {second.removeprefix('an ').removeprefix('a ')}"
            from ..errors import Complaint  # noqa: PLC0415  # only what is wrong pays for it

            message = f"{first} and {second} can't be told apart by their JSON"
            yield Complaint(path, "ambiguous", owner, message, remedy)


class _Marks:
    """What tells an object from others.

    Attributes:
        keys: of all its fields.
        written: those that stand in every encoded instance.
        tags: key to its one value, where every value of the object has it.
    """

    __slots__ = ("keys", "tags", "written")

    def __init__(self, node: ObjectNode) -> None:
        self.keys = {field.key for field in node.fields}
        self.written = _always_written(node)
        self.tags = {
            field.key: choice_key(literal.values[0])
            for field in node.fields
            if field.required or field.key in self.written
            for literal in tags_of_field(field)
        }

    def differ_from(self, other: _Marks) -> bool:
        shared = self.tags.keys() & other.tags.keys()
        if any(self.tags[key] != other.tags[key] for key in shared):
            return True
        return not (self.written | other.written) <= (self.keys & other.keys)


def _why_alike(one: Node, other: Node, marks: Mapping[int, _Marks]) -> str | None:
    """Return what to do about two members that can't be told apart, None where they can be."""
    if (_is_null(one) and _reads_null_as_none(other)) or (_is_null(other) and _reads_null_as_none(one)):
        return None
    common = received_types(one) & received_types(other)
    if not common or _are_choice_and_other(one, other, common):
        return None
    if isinstance(one, ScalarNode) and isinstance(other, ScalarNode):
        return None if one.type != other.type else _KEEP_ONE
    if isinstance(one, ObjectNode) and isinstance(other, ObjectNode):
        return None if marks[id(one)].differ_from(marks[id(other)]) else _ADD_TAG
    if isinstance(one, LeafNode) and isinstance(other, LeafNode) and common == _TEXT:
        names = {one.leaf.type.__name__, other.leaf.type.__name__}
        return None if leaf_rank(one) != leaf_rank(other) and names not in _ALIKE else _KEEP_ONE
    if LeafNode in {type(one), type(other)} and ScalarNode in {type(one), type(other)} and common == _TEXT:
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
    """Return the keys that stand in every encoded instance."""
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
        case AnyNode():  # pragma: no branch  # the type checker knows that it is the last
            return "any value"
