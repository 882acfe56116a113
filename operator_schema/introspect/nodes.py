"""The node graph: what every renderer reads.

One small immutable class a kind of JSON value, with no behaviour. Cycles go through `RefNode`,
so a graph is a finite tree of values that can be compared, printed and pickled.

The `__new__` of the nodes that registration makes by the dozen is for speed alone: `ValueType` says
how, and type checkers read the attributes. For speed, too, `type(node) is …` is written where nodes are
met by the dozen: if a class has a metaclass, `isinstance` takes six times as long to say no.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value, content_of

if TYPE_CHECKING:
    import builtins
    import re
    from collections.abc import Callable, Hashable, Mapping
    from enum import Enum

    from .leaves import SchemaLeaf

    ScalarType = Literal["string", "integer", "number", "boolean", "null"]
    ObjectForm = Literal["dataclass", "typed_dict", "named_tuple", "function", "attrs", "struct"]

__all__ = [
    "ANY",
    "NULL",
    "STRING",
    "TAKERS",
    "TAG",
    "UNKNOWN",
    "AnyNode",
    "ArrayNode",
    "Constraints",
    "EnumNode",
    "Field",
    "Graph",
    "LeafNode",
    "LiteralNode",
    "MapNode",
    "Node",
    "ObjectNode",
    "RefNode",
    "ScalarNode",
    "Target",
    "TupleNode",
    "UnionNode",
    "field_draft",
    "is_null",
    "new_array",
    "new_enum",
    "new_leaf",
    "new_literal",
    "new_map",
    "new_object",
    "new_union",
    "resolve",
]

TAG: Final = "<tag>"
"""The name of a field that its class holds: no instance has it as an attribute, no constructor takes it."""


class Constraints(Value):
    """What restricts the values of a node; None where nothing does.

    Attributes:
        minimum: the least number.
        exclusive_minimum: a number that every value is above.
        maximum: the greatest number.
        exclusive_maximum: a number that every value is below.
        multiple_of: a positive number that divides every value.
        min_length: least number of characters, items or entries.
        max_length: greatest number of them.
        pattern: a regular expression that is found in every string.
    """

    minimum: float | None = None
    exclusive_minimum: float | None = None
    maximum: float | None = None
    exclusive_maximum: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: re.Pattern[str] | None = None


class ScalarNode(Value):
    """A JSON string, integer, number, boolean or null."""

    type: ScalarType
    constraints: Constraints | None = None
    description: str | None = None


TAKERS: Final[Mapping[str, tuple[ScalarType, ...]]] = {
    "string": ("string",),
    "integer": ("integer", "number"),
    "number": ("number", "integer"),
    "boolean": ("boolean",),
    "null": ("null",),
}
"""JSON type of a value, as `type_of` names it, to the types of the scalars that may take it.

3.0 comes as a number and is an integer too. An integer stays one, and so does a number: `int | float` keeps
the kind that was given.
"""


class AnyNode(Value):
    """Any JSON value, handed through as it is."""

    description: str | None = None


class LeafNode(Value):
    """A value of a type that a `SchemaLeaf` reads and writes."""

    leaf: SchemaLeaf[Any]
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, leaf, description):
            self = cls._draft()
            self.leaf = leaf
            self.description = description
            self.__class__ = cls
            return self


class LiteralNode(Value):
    """One of a fixed set of JSON scalars.

    Attributes:
        values: the JSON values, in order of declaration.
        members: what each of them decodes to, in the same order.
        table: `choice_key(value)` to member.
    """

    values: tuple[Any, ...]
    members: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, values, members, table, description):
            self = cls._draft()
            self.values = values
            self.members = members
            self.table = table
            self.description = description
            self.__class__ = cls
            return self


class EnumNode(Value):
    """A member of an Enum, given by its value.

    Attributes:
        type: the Enum.
        values: the members' JSON values, in order of declaration.
        table: `choice_key(value)` to member.
        doc: the Enum's own docstring, which every other description wins over.
    """

    type: builtins.type[Enum]
    values: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    doc: str | None = None
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, type, values, table, doc, description):
            self = cls._draft()
            self.type = type
            self.values = values
            self.table = table
            self.doc = doc
            self.description = description
            self.__class__ = cls
            return self


class ArrayNode(Value):
    """A JSON array whose items are all of one node.

    Attributes:
        items: node of each item.
        container: the class that is built: list, tuple, set, frozenset or deque. Sets refuse
            duplicates.
        accepts: the class of what can be encoded; the container, or an abstract base of it.
        constraints: on the number of items.
    """

    items: Node
    container: builtins.type[Any] = list
    accepts: builtins.type[Any] = list
    constraints: Constraints | None = None
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, items, container, accepts, constraints, description):
            self = cls._draft()
            self.items = items
            self.container = container
            self.accepts = accepts
            self.constraints = constraints
            self.description = description
            self.__class__ = cls
            return self

    @property
    def unique(self) -> bool:
        """Whether no item may come twice."""
        return self.container in {set, frozenset}


class TupleNode(Value):
    """A JSON array of fixed length, with a node for each position."""

    items: tuple[Node, ...]
    description: str | None = None


class MapNode(Value):
    """A JSON object with free keys, whose values are all of one node.

    Attributes:
        keys: node of each key: a string, an integer written in decimal, a choice of texts, or a
            leaf that reads strings.
        values: node of each value.
        container: the class that is built: dict or OrderedDict.
        accepts: the class of what can be encoded; the container, or an abstract base of it.
        constraints: on the number of entries.
    """

    keys: Node
    values: Node
    container: builtins.type[Any] = dict
    accepts: builtins.type[Any] = dict
    constraints: Constraints | None = None
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, keys, values, container, accepts, constraints, description):
            self = cls._draft()
            self.keys = keys
            self.values = values
            self.container = container
            self.accepts = accepts
            self.constraints = constraints
            self.description = description
            self.__class__ = cls
            return self


class Field(Value):
    """One field of an object.

    Attributes:
        name: attribute name in Python.
        key: its JSON name.
        node: what its value is; without null where `absent_is_none`.
        required: whether the key must be there.
        default: the default value, or `dataclasses.MISSING`; factories stay with the class.
        absent_is_none: whether an absent key and an explicit null both mean None, so that null
            need not be in the schema.
        init_only: whether the instance does not keep it (`InitVar`), so that it can't be encoded.
        description: for the model, or None.
        examples: JSON values of the field; while its class is being read, as they are written there.
    """

    name: str
    key: str
    node: Node
    required: bool
    default: Any
    absent_is_none: bool
    init_only: bool
    description: str | None
    examples: tuple[Any, ...]

    if not TYPE_CHECKING:

        def __new__(
            cls, name, key, node, required, default, absent_is_none, init_only, description, examples
        ):
            self = cls._draft()
            self.name = name
            self.key = key
            self.node = node
            self.required = required
            self.default = default
            self.absent_is_none = absent_is_none
            self.init_only = init_only
            self.description = description
            self.examples = examples
            self.__class__ = cls
            return self

    def __reduce__(self) -> tuple[Any, ...]:
        name, key, node, required, default, *others = content_of(self)
        # A copy of `MISSING` would be another object, and a default.
        given = () if default is MISSING else (default,)
        return _restored, (name, key, node, required, given, *others)


def _restored(
    name: str,
    key: str,
    node: Node,
    required: bool,
    given: tuple[Any, ...],
    *others: Any,
) -> Field:
    return Field(name, key, node, required, given[0] if given else MISSING, *others)


class ObjectNode(Value):
    """A JSON object with named fields.

    Attributes:
        type: the class that is built from it.
        name: what messages and definitions call it, such as `Page[User]`.
        form: what kind of class that is.
        fields: in the order of declaration.
        closed: whether unknown keys are refused.
        doc: the class's own docstring, which every other description wins over.
    """

    type: builtins.type[Any]
    name: str
    form: ObjectForm
    fields: tuple[Field, ...]
    closed: bool
    doc: str | None = None
    description: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, type, name, form, fields, closed, doc, description):
            self = cls._draft()
            self.type = type
            self.name = name
            self.form = form
            self.fields = fields
            self.closed = closed
            self.doc = doc
            self.description = description
            self.__class__ = cls
            return self


class UnionNode(Value):
    """One of several nodes; the value alone says which.

    Attributes:
        members: the nodes.
        discriminator: the field that pydantic names as what distinguishes the members, or None.
    """

    members: tuple[Node, ...]
    description: str | None = None
    discriminator: str | None = None

    if not TYPE_CHECKING:

        def __new__(cls, members, description, discriminator):
            self = cls._draft()
            self.members = members
            self.description = description
            self.discriminator = discriminator
            self.__class__ = cls
            return self


class Target(Value):
    """What identifies a recursive type; two are equal when they mean the same type.

    Attributes:
        identity: what only the same type shares.
        name: what messages and definitions call it, such as `Node[int]`.
        qualified: the same with modules, for when two types share a name.
        is_object: whether it is a class with fields, rather than an alias.
    """

    identity: Hashable
    name: str
    qualified: str
    is_object: bool

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


class RefNode(Value):
    """A place where a recursive type is used again; `Graph.definitions` has the node."""

    target: Target
    description: str | None = None


Node: TypeAlias = (
    ScalarNode
    | AnyNode
    | LeafNode
    | LiteralNode
    | EnumNode
    | ArrayNode
    | TupleNode
    | MapNode
    | ObjectNode
    | UnionNode
    | RefNode
)


def is_null(node: Node) -> bool:
    """Return whether a node takes null alone."""
    return type(node) is ScalarNode and node.type == "null"


def resolve(node: Node, definitions: Mapping[Target, Node]) -> Node:
    """Follow a reference to its node; return any other node as it is."""
    while type(node) is RefNode:
        node = definitions[node.target]
    return node


NO_ALIASES: Mapping[Target, Node] = {}


class Graph(Value):
    """What a type means.

    Attributes:
        root: the node of the type itself.
        definitions: the nodes of its recursive types, by what `RefNode.target` says.
        aliases: the nodes of its type aliases, which are the same objects wherever they are used.
    """

    root: Node
    definitions: Mapping[Target, Node]
    aliases: Mapping[Target, Node] = NO_ALIASES

    if not TYPE_CHECKING:

        def __new__(cls, root, definitions, aliases):
            self = cls._draft()
            self.root = root
            self.definitions = definitions
            self.aliases = aliases
            self.__class__ = cls
            return self

    def resolve_root(self) -> Node:
        """Return the node of the type itself, never a reference."""
        return resolve(self.root, self.definitions)

    def resolve(self, node: Node) -> Node:
        """Follow a reference to its node; return any other node as it is."""
        return resolve(node, self.definitions)


ANY: Final = AnyNode()
NULL: Final = ScalarNode("null")
STRING: Final = ScalarNode("string")
UNKNOWN: Final = AnyNode("an annotation that was complained about")
"""The node of an annotation that could not be read; compare by identity."""

# `new_array(ArrayNode, …)` is `ArrayNode(…)` in 2,600 instructions instead of 3,600: calling a class
# takes a detour.
new_array: Callable[..., ArrayNode] = ArrayNode.__new__
new_enum: Callable[..., EnumNode] = EnumNode.__new__
new_leaf: Callable[..., LeafNode] = LeafNode.__new__
new_literal: Callable[..., LiteralNode] = LiteralNode.__new__
new_map: Callable[..., MapNode] = MapNode.__new__
new_object: Callable[..., ObjectNode] = ObjectNode.__new__
new_union: Callable[..., UnionNode] = UnionNode.__new__
field_draft: Callable[[], Any] = vars(Field)["_draft"]
"""Makes a `Field` that still may change, until its `__class__` is set."""
