"""What does each kind of node have in common with the others? One table: a new kind gets its row here.

Each column is a function of a node of that kind. `flat_members` and `visit` follow references and enter inner
nodes, so that no other module has to; `Distinct` finds equal nodes.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..immutable import Value, content_of
from ..json_values import JSON_TYPES, type_of
from .leaves import SchemaLeaf
from .nodes import (
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    Field,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    Target,
    TupleNode,
    UnionNode,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping

    from .nodes import Node

    N = TypeVar("N")


Parts = list[tuple[tuple[str, ...], "Node"]]
"""Nodes, each with the steps of a path that lead to it."""


def _no_parts(_node: object) -> Parts:
    return []


def _is_subclass(node: object, cls: type) -> bool:
    return issubclass(cls, TRAITS[node.__class__].classes(node))


def _always(_node: object) -> bool:
    return True


class Traits(Value):
    """Facts about the nodes of one kind.

    Attributes:
        kind: the class of the nodes.
        json_types: the JSON types of their values (`integer` if only integers are taken); none for unions and
            references, because their values are those of other nodes.
        classes: the classes that their Python values usually have.
        takes: whether a value of a class may be encoded by the node.
        parts: the nodes directly inside, each with the steps of a path that lead to it.
        can_hash: whether their Python values have a hash.
    """

    kind: type
    json_types: Callable[[Any], frozenset[str]]
    classes: Callable[[Any], tuple[type, ...]]
    takes: Callable[[Any, type], bool] = _is_subclass
    parts: Callable[[Any], Parts] = _no_parts
    can_hash: Callable[[Any], bool] = _always


# --- JSON types ----------------------------------------------------------------------------------

_NONE: Final = frozenset[str]()
_EVERY: Final = frozenset(JSON_TYPES)
_ARRAY: Final = frozenset({"array"})
_OBJECT: Final = frozenset({"object"})
_NUMBERS: Final = frozenset({"integer", "number"})
_SCALAR_TYPES: Final[Mapping[str, frozenset[str]]] = {
    **{name: frozenset({name}) for name in ("string", "integer", "boolean", "null")},
    "number": _NUMBERS,
}


def _choice_types(node: LiteralNode | EnumNode) -> frozenset[str]:
    return _with_integers(frozenset([type_of(value) or "" for value in node.values]))


def _with_integers(types: frozenset[str]) -> frozenset[str]:
    return types | _NUMBERS if "number" in types else types


# --- Python classes ------------------------------------------------------------------------------

_SCALAR_CLASSES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}
NO_ARRAYS: Final = (str, bytes, bytearray, dict)
"""Iterable classes that never become a JSON array: texts (a str is a Sequence) and maps."""


def _takes_scalar(node: ScalarNode, cls: type) -> bool:
    if issubclass(cls, bool):
        return node.type == "boolean"
    return issubclass(cls, _SCALAR_CLASSES[node.type]) or (node.type == "number" and issubclass(cls, int))


def _takes_array(node: ArrayNode, cls: type) -> bool:
    return issubclass(cls, node.accepts) and not issubclass(cls, NO_ARRAYS)


_ROWS = (
    Traits(
        ScalarNode,
        json_types=lambda node: _SCALAR_TYPES[node.type],
        classes=lambda node: (_SCALAR_CLASSES[node.type],),
        takes=_takes_scalar,
    ),
    Traits(
        AnyNode,
        json_types=lambda _: _EVERY,
        classes=lambda _: (object,),
        can_hash=lambda node: node is UNKNOWN,
    ),
    Traits(
        LeafNode,
        json_types=lambda node: _with_integers(frozenset(node.leaf.json_types)),
        classes=lambda node: (node.leaf.type,),
        can_hash=lambda node: node.leaf.type.__hash__ is not None,
    ),
    Traits(
        LiteralNode,
        json_types=_choice_types,
        classes=lambda node: tuple(map(type, node.members)),
        takes=lambda node, cls: any(type(member) is cls for member in node.members),
    ),
    Traits(EnumNode, json_types=_choice_types, classes=lambda node: (node.type,)),
    Traits(
        ArrayNode,
        json_types=lambda _: _ARRAY,
        classes=lambda node: (node.container,),
        takes=_takes_array,
        parts=lambda node: [(("*",), node.items)],
        can_hash=lambda node: node.container in {tuple, frozenset},
    ),
    Traits(
        TupleNode,
        json_types=lambda _: _ARRAY,
        classes=lambda _: (tuple,),
        parts=lambda node: [(("*",), item) for item in node.items],
    ),
    Traits(
        MapNode,
        json_types=lambda _: _OBJECT,
        classes=lambda node: (node.container,),
        takes=lambda node, cls: issubclass(cls, node.accepts),
        parts=lambda node: [(("*",), node.keys), (("*",), node.values)],
        can_hash=lambda _: False,
    ),
    Traits(
        ObjectNode,
        json_types=lambda _: _OBJECT,
        # A TypedDict is a dict, and refuses isinstance.
        classes=lambda node: (dict if node.form == "typed_dict" else node.type,),
        parts=lambda node: [((field.name,), field.node) for field in node.fields],
        can_hash=lambda node: node.form != "typed_dict" and node.type.__hash__ is not None,
    ),
    Traits(
        UnionNode,
        json_types=lambda _: _NONE,
        classes=lambda _: (object,),
        parts=lambda node: [((), member) for member in node.members],
    ),
    Traits(RefNode, json_types=lambda _: _NONE, classes=lambda _: (object,)),
)
TRAITS: Final[Mapping[type, Traits]] = {row.kind: row for row in _ROWS}
"""The facts about each kind of node."""


# --- one node ------------------------------------------------------------------------------------


def parts_of(node: Node) -> Parts:
    """Return the nodes directly inside a node, each with the steps of a path that lead to it."""
    return TRAITS[node.__class__].parts(node)


def takes_null(node: Node) -> bool:
    """Return whether null is one of the node's own values."""
    return "null" in TRAITS[node.__class__].json_types(node)


def received_types(node: Node) -> frozenset[str]:
    """Return the JSON types of the values that may be given for a node, as `type_of` names them.

    Unions and references get every type, because only their members narrow it.
    """
    types = TRAITS[node.__class__].json_types(node)
    # 3.0 comes as a number and is an integer too.
    return types | _NUMBERS if types & _NUMBERS else types or _EVERY


class ShapedDecoder(Value):
    """The `decode` of a leaf that reads objects whose fields are known."""

    @property
    @abstractmethod
    def shape(self) -> ObjectNode | None:
        """The known fields of its objects; None if it reads something else."""

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Return the instance for a JSON value.

        Raises:
            ValueError: the value doesn't fit.
        """


def shape_of(node: Node) -> ObjectNode | None:
    """Return the fields of a node's objects: those of an object, and of a leaf that knows them."""
    if isinstance(node, ObjectNode):
        return node
    decode = node.leaf.decode if isinstance(node, LeafNode) else None
    return decode.shape if isinstance(decode, ShapedDecoder) else None


def may_be(node: Node, value: object) -> bool:
    """Return whether a node may encode a Python value, judging by the value's class."""
    takes, cls = TRAITS[node.__class__].takes, type(value)
    # A proxy has two classes, and `isinstance` accepts either.
    return takes(node, cls) or (value.__class__ is not cls and takes(node, value.__class__))


def is_exactly(node: Node, cls: type) -> bool:
    """Return whether a class is one of the usual classes of a node's values."""
    return cls in TRAITS[node.__class__].classes(node)


# --- what is inside ------------------------------------------------------------------------------


def flat_members(
    node: Node, definitions: Mapping[Target, Node], known: Mapping[int, list[Node]] | None = None
) -> list[Node]:
    """Return the members of a union, with references followed and inner unions flattened.

    Equal members of the unions of one graph are one object, so that identity distinguishes them.

    Args:
        node: the union; any other node is its own only member.
        definitions: the definitions of its graph.
        known: identity of a union to its members, for unions that were flattened before.
    """
    known = known or {}
    members: dict[int, Node] = {}
    spread: set[int] = set()
    pending = [node]
    while pending:
        member = resolve(pending.pop(), definitions)
        if not isinstance(member, UnionNode):
            members[id(member)] = member
        elif id(member) in known:
            members.update({id(inner): inner for inner in known[id(member)]})
        elif id(member) not in spread:
            spread.add(id(member))
            pending.extend(reversed(member.members))
    return list(members.values())


def spread_members(node: Node, definitions: Mapping[Target, Node]) -> list[Node]:
    """Return the members of a union as `flat_members` does, equal ones too: in linear time, for messages.

    A reference without a definition stays a reference.
    """
    if isinstance(node, RefNode):
        node = definitions.get(node.target, node)
    if not isinstance(node, UnionNode):
        return [node]
    return [inner for member in node.members for inner in spread_members(member, definitions)]


def json_types_of(node: Node, definitions: Mapping[Target, Node]) -> frozenset[str]:
    """Return the JSON types of a node's values, with references and unions followed."""
    members = flat_members(node, definitions)
    return _NONE.union(*[TRAITS[member.__class__].json_types(member) for member in members])


def visit_places(
    roots: Iterable[Node],
    definitions: Mapping[Target, Node] | None = None,
    known: Container[int] = frozenset(),
) -> Iterator[tuple[Node, bool]]:
    """Go through every place of a graph, each node before its inner nodes.

    Args:
        roots: the nodes to begin with.
        definitions: the definitions, to follow references; without them, references are nodes like others.
        known: identities of nodes that were visited before.

    Yields:
        The node, and whether it is met for the first time; it is entered only then.
    """
    seen: set[int] = set()
    pending = [*roots]
    pending.reverse()
    while pending:
        node = pending.pop()
        if definitions is not None:
            node = resolve(node, definitions)
        is_new = id(node) not in seen and id(node) not in known
        if is_new:
            seen.add(id(node))
            inside = [inner for _, inner in parts_of(node)]
            inside.reverse()
            pending += inside
        yield node, is_new


def visit(
    roots: Iterable[Node],
    definitions: Mapping[Target, Node] | None = None,
    known: Container[int] = frozenset(),
) -> Iterator[Node]:
    """Go through every node once; the arguments are those of `visit_places`."""
    return (node for node, is_new in visit_places(roots, definitions, known) if is_new)


def with_parts(node: Node, change: Callable[[Node], Node], change_field: Callable[[Field], Field]) -> Node:
    """Return a node with its inner nodes and its fields changed; the node itself if all stay the same.

    Args:
        node: any node.
        change: returns what replaces an inner node.
        change_field: returns what replaces a field of an object.
    """
    if not parts_of(node):
        return node  # some code recognises nodes by their identity

    def changed(part: Any) -> Any:
        if part.__class__ is tuple:
            made = tuple(map(changed, part))
            return part if are_same(made, part) else made
        if isinstance(part, Field):
            return change_field(part)
        return change(part) if part.__class__ in TRAITS else part

    given = content_of(node)
    made = tuple(map(changed, given))
    return node if are_same(made, given) else type(node)(*made)


def are_same(made: Iterable[Any], given: Iterable[Any]) -> bool:
    """Return whether two lists of equal length hold the same objects."""
    return all(one is other for one, other in zip(made, given, strict=True))


# --- equal nodes ----------------------------------------------------------------------------------

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Distinct:
    """The nodes of one walk: finds equal ones, looking into each node once.

    Comparing two nodes by content would visit shared parts again and again: an alias that is used twice at
    each of thirty levels is in a billion places.
    """

    __slots__ = ("_first", "_met")

    def __init__(self) -> None:
        self._first: dict[Hashable, Node] = {}
        # With the node itself, because a new node could get the identity of a deleted one.
        self._met: dict[int, tuple[Node, Node]] = {}

    def members(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return the nodes without repetitions."""
        return tuple({id(node): node for node in map(self.node, nodes)}.values())

    def union(self, node: UnionNode) -> UnionNode:
        """Return a union in which equal members are one object, as `flat_members` needs for nested unions."""
        return node.replace(members=self.members(node.members))

    def node(self, node: Node) -> Node:
        """Return the first known node that is equal to this one."""
        met = self._met.get(id(node))
        if met is None:
            met = self._met[id(node)] = (node, self._first.setdefault(self._key(node), node))
        return met[1]

    def _key(self, node: Node) -> Hashable:
        if isinstance(node, ScalarNode) and node.constraints is None:
            return node.type if node.description is None else (node.type, node.description)
        if isinstance(node, ObjectNode) and node.name == node.type.__name__:
            # A class without type parameters is read once; only its description may differ.
            return (ObjectNode, id(node.type), id(node.fields), node.description)
        return (node.__class__, tuple([self._part(part) for part in content_of(node)]))

    def _part(self, part: Any) -> Hashable:
        cls = part.__class__
        if cls in _SCALARS:
            return (cls, part)  # 1, 1.0 and True are three
        if cls in TRAITS:
            return id(self.node(part))
        if cls is tuple:
            return tuple([self._part(inner) for inner in part])
        if isinstance(part, (Target, SchemaLeaf, re.Pattern)):
            return part  # pyright: ignore[reportUnknownVariableType]  # of whatever type
        if isinstance(part, Value):  # a field, or constraints
            return tuple([self._part(inner) for inner in content_of(part)])
        # The table of a choice follows from its values and members; classes, members of an Enum
        # and defaults are what they are.
        return None if cls is dict else id(part)
