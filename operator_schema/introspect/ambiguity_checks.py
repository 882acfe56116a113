"""Checks that need the whole graph: of nulls, unions and sets.

A field may take null through a recursive alias, members of a union may be impossible to distinguish, and a
set may have items that a Python set can't hold.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ..findings import Finding, about_type
from ..json_values import JSON_TYPES, choice_key
from ..message_text import excerpt, listed, quote
from .node_kinds import TRAITS, flat_members, parts_of, received_types, shape_of, visit
from .nodes import (
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    Field,
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
from .shipped_leaves import shipped_leaf
from .shown_annotations import show_value
from .union_plans import field_choices, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

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
            yield from sets.check(node, path, owner)
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
            yield from _misnamed(node.discriminator, members, path, owner)
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


def _misnamed(name: str, members: Sequence[Node], path: Path, owner: str) -> Iterator[Finding]:
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


class SetChecker:
    """Checks the sets of one graph, and looks into each node once.

    Args:
        definitions: the definitions of the graph.
        members_of: returns the members of a union, as `flat_members` does.
    """

    __slots__ = ("_definitions", "_faults", "_fine", "_members_of")

    def __init__(
        self, definitions: Mapping[Target, Node], members_of: Callable[[UnionNode], Sequence[Node]]
    ) -> None:
        self._definitions = definitions
        self._members_of = members_of
        self._fine: set[int] = set()
        self._faults: dict[int, Fault | None] = {}

    def check(self, node: ArrayNode, path: tuple[str, ...], owner: str) -> Iterator[Finding]:
        """Complain about a set whose items can't be in one.

        Args:
            node: an array whose container is a set.
            path: path to the array.
            owner: name of the class that it is in.
        """
        items = node.items
        if id(items) not in self._faults:
            self._faults[id(items)] = self._find_fault(items)
        fault = self._faults[id(items)]
        if fault is not None:
            code, message, remedy = fault
            yield about_type(path, code, owner, message.format(node_name(items)), remedy)

    def _find_fault(self, node: Node) -> Fault | None:
        found: Fault | None = None
        seen: set[int] = set()
        for inner in visit([node], self._definitions, self._fine):
            seen.add(id(inner))
            fault = self._fault_of(inner)
            if fault is _NO_HASH:
                return fault
            found = found or fault
        if found is None:
            self._fine |= seen
        return found

    def _fault_of(self, node: Node) -> Fault | None:
        if not TRAITS[node.__class__].can_hash(node):
            return _NO_HASH
        if isinstance(node, ObjectNode):
            return None if _compares(node.type) else _BY_IDENTITY
        if isinstance(node, LeafNode):
            # `ZoneInfo` has no `__eq__`, and one object for each name.
            cls = node.leaf.type
            return None if _compares(cls) or shipped_leaf(cls) else _BY_IDENTITY
        members = self._members_of(node) if isinstance(node, UnionNode) else (node,)
        numbers = {isinstance(value, bool) for member in members for value in _numbers_of(member)}
        return _BOOLEANS if len(numbers) > 1 else None


_NO_HASH: Fault = (
    "unsupported",
    "the items of the set, {}, can't be in a Python set",
    "Make the set a list, or make its items hashable, such as tuples or frozen dataclasses",
)
_BY_IDENTITY: Fault = (
    "unsupported",
    "the items of the set, {}, compare by identity, so that no two are ever equal",
    "Make the set a list, or give their class an __eq__ and a __hash__, as @dataclass(frozen=True) does",
)
_BOOLEANS: Fault = (
    "ambiguous",
    "in a set of {} True and 1 are one item, but two in JSON",
    "Make the set a list",
)


def _compares(cls: type[Any]) -> bool:
    equal: object = cls.__eq__
    return equal is not object.__eq__


def _numbers_of(node: Node) -> list[float]:
    """Return sample values of a node that are numbers or booleans in Python."""
    match node:
        case ScalarNode(type=name):
            return _SAMPLES.get(name, [])
        case LiteralNode(members=members):
            values = list(members)
        case EnumNode(table=table):
            values = list(table.values())
        case _:
            return []
    return [value for value in values if isinstance(value, (int, float))]


_SAMPLES: Mapping[str, list[float]] = {"boolean": [True], "integer": [1], "number": [1.0]}


def null_fields(fields: Iterable[Field], definitions: Mapping[Target, Node]) -> dict[int, Field]:
    """Return the replacement of each field for which null means the same as an absent key (`X | None`).

    Null stays in the schema of these fields, because other places share the node.

    Args:
        fields: required fields whose types may refer to aliases.
        definitions: the definitions of the graph.

    Returns:
        A map from the identity of a field to its replacement.
    """
    found: dict[int, Field] = {}
    for field in fields:
        members = flat_members(UnionNode((field.node,)), definitions)
        if any(map(is_null, members)):
            found[id(field)] = field.replace(required=False, absent_is_none=True)
    return found


def with_fields(graph: Graph, changed: Mapping[int, Field]) -> Graph:
    """Return a graph with other fields in place of some of its own.

    Args:
        graph: any graph.
        changed: from the identity of a field to its replacement, whose node is the same.
    """
    rebuilt = _RebuiltGraph(changed)
    definitions = {target: rebuilt.node(node) for target, node in graph.definitions.items()}
    aliases = {target: rebuilt.node(node) for target, node in graph.aliases.items()}
    return graph.replace(root=rebuilt.node(graph.root), definitions=definitions, aliases=aliases)


class _RebuiltGraph:
    """Rebuilds the nodes of a graph with some fields replaced, each node once."""

    def __init__(self, changed: Mapping[int, Field]) -> None:
        self._changed = changed
        self._made: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = self._make(node)
        return made

    def _make(self, node: Node) -> Node:
        if not parts_of(node):
            return node  # some code recognises nodes by their identity
        return node.replace(**{name: self._part(getattr(node, name)) for name in node.__slots__})

    def _part(self, part: Any) -> Any:
        if part.__class__ in TRAITS:
            return self.node(part)
        if part.__class__ is tuple:
            return tuple(map(self._part, part))
        if isinstance(part, Field):
            return self._changed.get(id(part), part).replace(node=self.node(part.node))
        return part
