"""The node graph: what every renderer reads.

One small immutable class a kind of JSON value, with no behaviour. Cycles go through `RefNode`,
so a graph is a finite tree of values that can be compared, printed and pickled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from .._value import Value, set_once

if TYPE_CHECKING:
    import builtins
    from collections.abc import Hashable, Mapping
    from enum import Enum

    from .leaves import SchemaLeaf

__all__ = [
    "ANY",
    "NULL",
    "AnyNode",
    "ArrayNode",
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
    "ScalarType",
    "UnionNode",
    "choice_key",
    "takes_null",
]

ScalarType = Literal["string", "integer", "number", "boolean", "null"]


class ScalarNode(Value):
    """A JSON string, integer, number, boolean or null."""

    __slots__ = ("type", "description")

    type: ScalarType
    description: str | None

    def __init__(self, type: ScalarType, description: str | None = None) -> None:  # noqa: A002  # JSON Schema's word
        set_once(self, "type", type)
        set_once(self, "description", description)


class AnyNode(Value):
    """Any JSON value, handed through as it is."""

    __slots__ = ("description",)

    description: str | None

    def __init__(self, description: str | None = None) -> None:
        set_once(self, "description", description)


class LeafNode(Value):
    """A value of a type that a `SchemaLeaf` reads and writes."""

    __slots__ = ("leaf", "description")

    leaf: SchemaLeaf[Any]
    description: str | None

    def __init__(self, leaf: SchemaLeaf[Any], description: str | None = None) -> None:
        set_once(self, "leaf", leaf)
        set_once(self, "description", description)


class LiteralNode(Value):
    """One of a fixed set of JSON scalars.

    Attributes:
        values: the JSON values, in order of declaration.
        members: what each of them decodes to, in the same order.
        table: `choice_key(value)` to member.
    """

    __slots__ = ("values", "members", "table", "description")

    values: tuple[Any, ...]
    members: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    description: str | None

    def __init__(
        self,
        values: tuple[Any, ...],
        members: tuple[Any, ...],
        table: Mapping[Hashable, Any],
        description: str | None = None,
    ) -> None:
        set_once(self, "values", values)
        set_once(self, "members", members)
        set_once(self, "table", table)
        set_once(self, "description", description)


class EnumNode(Value):
    """A member of an Enum, told by its value.

    Attributes:
        type: the Enum.
        values: the members' JSON values, in order of declaration.
        table: `choice_key(value)` to member.
    """

    __slots__ = ("type", "values", "table", "description")

    type: builtins.type[Enum]
    values: tuple[Any, ...]
    table: Mapping[Hashable, Any]
    description: str | None

    def __init__(
        self,
        type: builtins.type[Enum],  # noqa: A002  # the attribute's name
        values: tuple[Any, ...],
        table: Mapping[Hashable, Any],
        description: str | None = None,
    ) -> None:
        set_once(self, "type", type)
        set_once(self, "values", values)
        set_once(self, "table", table)
        set_once(self, "description", description)


class ArrayNode(Value):
    """A JSON array whose items are all of one node."""

    __slots__ = ("items", "description")

    items: Node
    description: str | None

    def __init__(self, items: Node, description: str | None = None) -> None:
        set_once(self, "items", items)
        set_once(self, "description", description)


class MapNode(Value):
    """A JSON object with free keys, whose values are all of one node."""

    __slots__ = ("values", "description")

    values: Node
    description: str | None

    def __init__(self, values: Node, description: str | None = None) -> None:
        set_once(self, "values", values)
        set_once(self, "description", description)


class Field(Value):
    """One field of an object.

    Attributes:
        name: attribute name in Python.
        key: its JSON name.
        node: what its value is; without null where `absent_is_none`.
        required: whether the key must be there.
        default: the default value, or `dataclasses.MISSING`; factories stay with the class.
        absent_is_none: whether an absent key and an explicit null both mean None, so that null
            need not stand in the schema.
        description: for the model, or None.
        examples: Python values of the field.
    """

    __slots__ = (
        "name",
        "key",
        "node",
        "required",
        "default",
        "absent_is_none",
        "description",
        "examples",
    )

    name: str
    key: str
    node: Node
    required: bool
    default: Any
    absent_is_none: bool
    description: str | None
    examples: tuple[Any, ...]

    def __init__(
        self,
        name: str,
        key: str,
        node: Node,
        required: bool,  # noqa: FBT001  # `Value.replace` gives every attribute by position
        default: Any,
        absent_is_none: bool,  # noqa: FBT001  # likewise
        description: str | None,
        examples: tuple[Any, ...],
    ) -> None:
        set_once(self, "name", name)
        set_once(self, "key", key)
        set_once(self, "node", node)
        set_once(self, "required", required)
        set_once(self, "default", default)
        set_once(self, "absent_is_none", absent_is_none)
        set_once(self, "description", description)
        set_once(self, "examples", examples)


class ObjectNode(Value):
    """A JSON object with named fields.

    Attributes:
        type: the dataclass that is built from it.
        fields: in the order of declaration.
        closed: whether unknown keys are refused.
    """

    __slots__ = ("type", "fields", "closed", "description")

    type: builtins.type[Any]
    fields: tuple[Field, ...]
    closed: bool
    description: str | None

    def __init__(
        self,
        type: builtins.type[Any],  # noqa: A002  # the attribute's name
        fields: tuple[Field, ...],
        closed: bool,  # noqa: FBT001  # `Value.replace` gives every attribute by position
        description: str | None = None,
    ) -> None:
        set_once(self, "type", type)
        set_once(self, "fields", fields)
        set_once(self, "closed", closed)
        set_once(self, "description", description)


class UnionNode(Value):
    """One of several nodes, which can be told apart by the value alone."""

    __slots__ = ("members", "description")

    members: tuple[Node, ...]
    description: str | None

    def __init__(self, members: tuple[Node, ...], description: str | None = None) -> None:
        set_once(self, "members", members)
        set_once(self, "description", description)


class RefNode(Value):
    """A place where a recursive type comes round; `Graph.definitions` has the node."""

    __slots__ = ("target", "description")

    target: Hashable
    description: str | None

    def __init__(self, target: Hashable, description: str | None = None) -> None:
        set_once(self, "target", target)
        set_once(self, "description", description)


Node: TypeAlias = (
    ScalarNode
    | AnyNode
    | LeafNode
    | LiteralNode
    | EnumNode
    | ArrayNode
    | MapNode
    | ObjectNode
    | UnionNode
    | RefNode
)


class Graph(Value):
    """What a type means.

    Attributes:
        root: the node of the type itself.
        definitions: the nodes of its recursive types, by what `RefNode.target` says.
    """

    __slots__ = ("root", "definitions")

    root: Node
    definitions: Mapping[Hashable, Node]

    def __init__(self, root: Node, definitions: Mapping[Hashable, Node]) -> None:
        set_once(self, "root", root)
        set_once(self, "definitions", definitions)

    def resolve_root(self) -> Node:
        """Return the node of the type itself, never a reference."""
        return self.resolve(self.root)

    def resolve(self, node: Node) -> Node:
        """Return the node that a reference stands for, any other node as it is."""
        while isinstance(node, RefNode):
            node = self.definitions[node.target]
        return node


ANY: Final = AnyNode()
NULL: Final = ScalarNode("null")


def choice_key(value: object) -> Hashable:
    """Return what two JSON scalars share exactly when they are the same JSON value.

    `1` and `1.0` are one value, `True` and `1` are two.
    """
    return (value.__class__ is bool, value)


def takes_null(node: Node) -> bool:
    """Say whether null is one of the node's own values."""
    match node:
        case AnyNode() | ScalarNode(type="null"):
            return True
        case LiteralNode(values=values) | EnumNode(values=values):
            return None in values
        case LeafNode(leaf=leaf):
            return "null" in leaf.json_types
        case _:
            return False
