"""Which members of a union can't be distinguished by their JSON? Checks all unions and sets of a graph."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from ..findings import Finding, about_type
from ..json_values import JSON_TYPES, choice_key
from ..message_text import excerpt, listed, quote
from .node_kinds import flat_members, parts_of, received_types, shape_of
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
    is_null,
    resolve,
)
from .overlaps import Objects
from .set_checks import SetChecker
from .shown_annotations import show_value
from .union_plans import field_choices, tags_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ..findings import TypeCode
    from .nodes import Graph, Target
    from .overlaps import Marks

    Path = tuple[str, ...]
    Fault = tuple[TypeCode, str, str]


MAX_COMPARED_MEMBERS = 1_000_000
"""Members of unions, and pairs of them that might be alike, that one registration compares."""


def check_graph(graph: Graph, name: str) -> tuple[list[Finding], bool]:
    """Complain about unions whose members can't be distinguished, and sets that Python can't build.

    Args:
        graph: the graph of the whole type.
        name: name of the type, for complaints about its root.

    Returns:
        The complaints, and whether a union has tags that its members don't require yet.
    """
    unions = _Unions(graph)
    complaints = list(_complaints(graph, name, unions))
    return complaints, unions.lack_tags


def _complaints(graph: Graph, name: str, unions: _Unions) -> Iterator[Finding]:
    sets: SetChecker | None = None
    seen: set[int] = set()
    pending: list[tuple[Path, str, Node]] = [((), name, graph.root)]
    while pending:
        path, owner, node = pending.pop()
        node = resolve(node, graph.definitions)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, UnionNode):
            yield from unions.check(node, path, owner)
        if isinstance(node, ArrayNode) and node.unique:
            sets = sets or SetChecker(graph.definitions, unions.members_of)
            fault = sets.fault_of(node.items)
            if fault is not None:
                code, message, remedy = fault
                yield about_type(path, code, owner, message.format(node_name(node.items)), remedy)
        inner_owner = node.name if isinstance(node, ObjectNode) else owner
        pending += [
            ((*path, *step), inner_owner, inner)
            for step, inner in reversed(parts_of(node))
            if inner.__class__ is not ScalarNode
        ]


class _Unions:
    """The unions of one graph; each is flattened once, and there is one bound on all their comparisons.

    Attributes:
        lack_tags: whether a union checked so far has tags that its members don't require yet.
    """

    __slots__ = ("_compared", "_graph", "_members", "lack_tags")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.lack_tags = False
        self._members: dict[int, list[Node]] = {}
        self._compared = 0

    def members_of(self, node: UnionNode) -> Sequence[Node]:
        members = self._members.get(id(node))
        if members is None:
            members = self._members[id(node)] = flat_members(node, self._graph.definitions, self._members)
        return members

    def check(self, node: UnionNode, path: Path, owner: str) -> Iterator[Finding]:
        members = self.members_of(node)
        self.lack_tags = (
            self.lack_tags
            or node.discriminator is not None
            or any(isinstance(resolve(each, self._graph.definitions), UnionNode) for each in node.members)
            or any(not tag.required for tag in tags_of(members, of_all=False))
        )
        if node.discriminator is not None:
            yield from _complain_discriminator(node.discriminator, members, path, owner)
        left = MAX_COMPARED_MEMBERS - self._compared
        most = max(left, 0) + 1
        looked_at, complaints = check_union(members, path, owner, self._graph.definitions, most)
        self._compared += looked_at
        yield from complaints
        if left >= 0 and self._compared > MAX_COMPARED_MEMBERS:
            message = "the unions of the type have too many members to be told apart"
            yield about_type(
                path, "too_large", owner, message, "Use fewer, or an Enum for those that are texts"
            )


_TEXT_ALONE = frozenset({"string"})


def _complain_discriminator(name: str, members: Sequence[Node], path: Path, owner: str) -> Iterator[Finding]:
    """Yield a complaint about each member in which pydantic's discriminator isn't a Literal or an Enum."""
    for member in members:
        shape = shape_of(member)
        named = [field for field in shape.fields if name in {field.name, field.key}] if shape else []
        # A leaf may have another name for the field than its key.
        is_none = not named and isinstance(member, ObjectNode)
        if is_none or not all(map(field_choices, named)):
            message = f"the discriminator {quote(name)} isn't a Literal or an Enum in {node_name(member)}"
            yield about_type(path, "unsupported", owner, message, "Name a field that is one in each member")


def check_union(
    members: Sequence[Node], path: tuple[str, ...], owner: str, definitions: Mapping[Target, Node], most: int
) -> tuple[int, list[Finding]]:
    """Complain about the pairs of members of a union that JSON can't distinguish.

    Args:
        members: as `flat_members` gives them.
        path: path to the union.
        owner: name of the class that the union is in.
        definitions: the definitions of the graph.
        most: how many members and pairs may be compared.

    Returns:
        The number of members and pairs compared, and the complaints. There are none if `most` was reached;
        the last one is about all further pairs if there are more than a few.
    """
    if any(member is UNKNOWN for member in members):
        return 0, []
    looked_at, alike = _compare(members, definitions, most)
    if looked_at >= most or not alike:
        return looked_at, []
    texts = [(_describe_pair(members[i], members[j]), alike[i, j]) for i, j in sorted([*alike][:_MOST_NAMED])]
    if len(alike) > _MOST_NAMED:
        texts.append(("more of its members can't be told apart by their JSON", "Fix those named first"))
    return looked_at, [about_type(path, "ambiguous", owner, *text) for text in texts]


_MOST_NAMED = 20
"""Pairs of members of one union that complaints name."""


def _compare(
    members: Sequence[Node], definitions: Mapping[Target, Node], most: int
) -> tuple[int, dict[tuple[int, int], str]]:
    """Return how many members and pairs were compared, and each pair that is alike with its remedy."""
    objects = Objects(members, definitions)
    looked_at = len(members)
    seen: set[tuple[int, int]] = set()
    alike: dict[tuple[int, int], str] = {}
    for pair in islice(_close_pairs(members, objects), most):
        looked_at += 1
        if pair in seen:
            continue
        seen.add(pair)
        remedy = why_alike(pair, members, objects)
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


def _close_pairs(members: Sequence[Node], objects: Objects) -> Iterator[tuple[int, int]]:
    """Find the pairs of members that might be alike, without looking at every pair.

    Choices are alike if they share a value, and objects if each has the keys of the other. Any sensible union
    has only a few other members, so these are paired with every other one.
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


def _close_objects(marks: Mapping[int, Marks]) -> Iterator[tuple[int, int]]:
    """Find the pairs of objects that might be alike.

    An object that is like this one has each key that this one writes, and takes one of its values there. So
    only the objects with its rarest key need to be looked at.
    """
    holders: dict[tuple[str, Hashable], list[int]] = {}
    for i, each in marks.items():
        for key in each.fields:
            for value in (_ALL, *each.choices.get(key, (_OPEN,))):
                holders.setdefault((key, value), []).append(i)

    def near(each: Marks, key: str) -> list[list[int]]:
        values = [_OPEN, *each.choices[key]] if key in each.choices else [_ALL]
        return [holders[key, value] for value in values if (key, value) in holders]

    for i, each in marks.items():
        found = [near(each, key) for key in each.written] or [[list(marks)]]
        for several in min(found, key=lambda lists: sum(map(len, lists))):
            yield from [(min(i, j), max(i, j)) for j in several if i != j]


_ALL: Final = object()
_OPEN: Final = object()


def why_alike(pair: tuple[int, int], members: Sequence[Node], objects: Objects) -> str | None:
    """Return the remedy for two members that JSON can't distinguish; None if it can."""
    one, other = members[pair[0]], members[pair[1]]
    if (is_null(one) and _reads_null_as_none(other)) or (is_null(other) and _reads_null_as_none(one)):
        return None
    common = received_types(one) & received_types(other)
    if not common or _are_choice_and_other(one, other, common):
        return None
    if isinstance(one, ScalarNode) and isinstance(other, ScalarNode):
        return None if one.type != other.type else _KEEP_ONE
    if all(number in objects.shapes for number in pair):
        return None if objects.differ(*pair) else _tag_remedy(*[objects.shapes[number] for number in pair])
    if isinstance(one, LeafNode) and isinstance(other, LeafNode) and common == _TEXT_ALONE:
        return None if one.leaf.rank != other.leaf.rank else _KEEP_ONE
    if (
        LeafNode in {type(one), type(other)}
        and ScalarNode in {type(one), type(other)}
        and common == _TEXT_ALONE
    ):
        return None
    return _KEEP_ONE


def _tag_remedy(one: ObjectNode, other: ObjectNode) -> str:
    """Return the remedy for two objects that are alike: another tag value, or a tag."""
    others = {field.key: field_choices(field) for field in other.fields}
    for field in one.fields:
        choices = field_choices(field)
        theirs = {choice_key(value) for value in others.get(field.key, ())}
        shared = [value for value in choices if choice_key(value) in theirs]
        if shared and 1 in {len(choices), len(theirs)}:
            return f"Both take {excerpt(shared[0])} as {field.key}: give each a value of its own there"
    return ADD_TAG


def _reads_null_as_none(node: Node) -> bool:
    is_literal = isinstance(node, LiteralNode) and None in node.members
    return is_literal or isinstance(node, AnyNode) or is_null(node)


_KEEP_ONE = "Keep one of them, or put each into a dataclass of its own"
ADD_TAG: Final = 'Give each a tag, such as a field `kind: Literal["…"]` with a value of its own'


def _are_choice_and_other(one: Node, other: Node, common: frozenset[str]) -> bool:
    first = isinstance(one, (LiteralNode, EnumNode))
    second = isinstance(other, (LiteralNode, EnumNode))
    if isinstance(one, (LiteralNode, EnumNode)) and isinstance(other, (LiteralNode, EnumNode)):
        return not set(one.table) & set(other.table)
    # A choice doesn't win null from another member, because null must mean one thing.
    is_plain = not isinstance(one, AnyNode) and not isinstance(other, AnyNode)
    return (first or second) and is_plain and "null" not in common


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
