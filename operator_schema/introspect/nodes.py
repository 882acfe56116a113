"""What is the meaning of a type made of? Nodes, which describe its JSON values; every renderer reads them.

One small immutable class a kind of JSON value, with no behaviour. Cycles go through `RefNode`,
so a graph is a finite tree of values that can be compared, printed and pickled.

Nodes that registration makes by the dozen have their own `__new__`, only for speed: see `ValueType`; type
checkers read the attributes. Also for speed, code that sees many nodes tests `type(node) is …`: `isinstance`
takes six times as long to return False if a class has a metaclass.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value, content_of

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Hashable, Mapping
    from enum import Enum

    from ..schema.keywords import Constraints
    from .leaves import SchemaLeaf

    ScalarType = Literal["string", "integer", "number", "boolean", "null"]
    ObjectForm = Literal["dataclass", "typed_dict", "named_tuple", "function", "attrs", "struct"]

TAG: Final = "<tag>"
"""The name of the field for a Struct's tag: no instance has it as an attribute, no constructor takes it."""


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

3.0 arrives as a number, and counts as an integer too. With `int | float`, integers stay integers and numbers
stay numbers.
"""


class AnyNode(Value):
    """Any JSON value, passed through unchanged."""

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
        members: the Python values that they decode to, in the same order.
        table: `choice_key(value)` to member.
    """

    values: tuple[Any, ...]
    members: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    description: str | None = None


class EnumNode(Value):
    """A member of an Enum, given by its value.

    Attributes:
        type: the Enum.
        values: the members' JSON values, in order of declaration.
        table: `choice_key(value)` to member.
        doc: the Enum's own docstring; every other description wins over it.
    """

    type: builtins.type[Enum]
    values: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    doc: str | None = None
    description: str | None = None


class ArrayNode(Value):
    """A JSON array whose items are all of one node.

    Attributes:
        items: node of each item.
        container: the class to build: list, tuple, set, frozenset or deque. Sets refuse duplicates.
        accepts: the class of values that can be encoded: the container, or an abstract base of it.
        constraints: the constraints on the number of items.
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
        container: the class to build: dict or OrderedDict.
        accepts: the class of values that can be encoded: the container, or an abstract base of it.
        constraints: the constraints on the number of entries.
    """

    keys: Node
    values: Node
    container: builtins.type[Any] = dict
    accepts: builtins.type[Any] = dict
    constraints: Constraints | None = None
    description: str | None = None


class Field(Value):
    """One field of an object.

    Attributes:
        name: attribute name in Python.
        key: its JSON name.
        node: the node of its value; without null if `absent_is_none`.
        required: whether the key must be there.
        default: the default value, or `dataclasses.MISSING`; factories stay with the class.
        absent_is_none: whether an absent key and an explicit null both mean None, so that the schema needs no
            null.
        init_only: whether the instance doesn't store it (`InitVar`), so that it can't be encoded.
        description: for the model, or None.
        examples: JSON values of the field; while its class is being read, the values as written in the class.
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


class Defaulted:
    """A field with a default or examples, which are checked against its node later."""

    __slots__ = ("field", "owner", "path")

    def __init__(self, path: tuple[str, ...], owner: str, field: Field) -> None:
        self.path = path
        self.owner = owner
        self.field = field

    @property
    def has_default(self) -> bool:
        """Whether the field has a default other than the `None` that an absent key means anyway."""
        default = self.field.default
        return default is not MISSING and not (default is None and self.field.absent_is_none)


class ObjectNode(Value):
    """A JSON object with named fields.

    Attributes:
        type: the class that is built from it.
        name: its name in messages and definitions, such as `Page[User]`.
        form: the kind of class.
        fields: in the order of declaration.
        closed: whether unknown keys are refused.
        doc: the class's own docstring; every other description wins over it.
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
    """One of several nodes; the value alone decides which.

    Attributes:
        members: the nodes.
        discriminator: the field that pydantic names as its discriminator, or None.
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
    """The identity of a recursive type; two are equal if they mean the same type.

    Attributes:
        identity: a key that only the same type has.
        name: its name in messages and definitions, such as `Node[int]`.
        qualified: the name with modules, for two types that share a name.
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
    """A place where a recursive type refers to itself; `Graph.definitions` has the node."""

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
    """Return whether a node takes only null."""
    return type(node) is ScalarNode and node.type == "null"


def resolve(node: Node, definitions: Mapping[Target, Node]) -> Node:
    """Follow a reference to its node; return any other node as it is."""
    while type(node) is RefNode:
        node = definitions[node.target]
    return node


NO_ALIASES: Mapping[Target, Node] = {}


class Graph(Value):
    """The meaning of a type, as nodes.

    Attributes:
        root: the node of the type itself.
        definitions: the nodes of its recursive types, by `RefNode.target`.
        aliases: the nodes of its type aliases; each is the same object wherever the alias is used.
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
"""The node of an annotation that could not be read; compare it by identity."""

# `new_array(ArrayNode, …)` is `ArrayNode(…)` in 2,600 instructions instead of 3,600: calling a class
# takes a detour.
new_array: Callable[..., ArrayNode] = ArrayNode.__new__
new_leaf: Callable[..., LeafNode] = LeafNode.__new__
new_object: Callable[..., ObjectNode] = ObjectNode.__new__
new_union: Callable[..., UnionNode] = UnionNode.__new__
field_draft: Callable[[], Any] = vars(Field)["_draft"]
"""Makes a `Field` whose attributes can be changed until its `__class__` is set."""
