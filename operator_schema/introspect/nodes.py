"""The node graph: what every renderer reads.

One small immutable class a kind of JSON value, with no behaviour. Cycles go through `RefNode`,
so a graph is a finite tree of values that can be compared, printed and pickled.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value, draft_of, set_once

if TYPE_CHECKING:
    import builtins
    import re
    from collections.abc import Hashable, Mapping
    from enum import Enum

    from .leaves import SchemaLeaf

__all__ = [
    "ANY",
    "NULL",
    "STRING",
    "UNKNOWN",
    "AnyNode",
    "ArrayDraft",
    "ArrayNode",
    "Constraints",
    "EnumDraft",
    "EnumNode",
    "Field",
    "FieldDraft",
    "LeafDraft",
    "LeafNode",
    "LiteralDraft",
    "LiteralNode",
    "MapDraft",
    "MapNode",
    "Node",
    "ObjectDraft",
    "ObjectForm",
    "ObjectNode",
    "RefNode",
    "ScalarNode",
    "ScalarType",
    "Target",
    "TupleNode",
    "UnionDraft",
    "UnionNode",
]

ScalarType = Literal["string", "integer", "number", "boolean", "null"]
ObjectForm = Literal["dataclass", "typed_dict", "named_tuple", "function"]


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

    __slots__ = (
        "minimum",
        "exclusive_minimum",
        "maximum",
        "exclusive_maximum",
        "multiple_of",
        "min_length",
        "max_length",
        "pattern",
    )

    minimum: float | None
    exclusive_minimum: float | None
    maximum: float | None
    exclusive_maximum: float | None
    multiple_of: float | None
    min_length: int | None
    max_length: int | None
    pattern: re.Pattern[str] | None

    def __init__(
        self,
        minimum: float | None = None,
        exclusive_minimum: float | None = None,
        maximum: float | None = None,
        exclusive_maximum: float | None = None,
        multiple_of: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: re.Pattern[str] | None = None,
    ) -> None:
        set_once(self, "minimum", minimum)
        set_once(self, "exclusive_minimum", exclusive_minimum)
        set_once(self, "maximum", maximum)
        set_once(self, "exclusive_maximum", exclusive_maximum)
        set_once(self, "multiple_of", multiple_of)
        set_once(self, "min_length", min_length)
        set_once(self, "max_length", max_length)
        set_once(self, "pattern", pattern)


class ScalarNode(Value):
    """A JSON string, integer, number, boolean or null."""

    __slots__ = ("type", "constraints", "description")

    type: ScalarType
    constraints: Constraints | None
    description: str | None

    def __init__(
        self,
        type: ScalarType,  # noqa: A002  # JSON Schema's word
        constraints: Constraints | None = None,
        description: str | None = None,
    ) -> None:
        set_once(self, "type", type)
        set_once(self, "constraints", constraints)
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
    """A JSON array whose items are all of one node.

    Attributes:
        items: node of each item.
        container: the class that is built: list, tuple, set, frozenset or deque. Sets refuse
            duplicates.
        accepts: the class of what can be encoded; the container, or an abstract base of it.
        constraints: on the number of items.
    """

    __slots__ = ("items", "container", "accepts", "constraints", "description")

    items: Node
    container: builtins.type[Any]
    accepts: builtins.type[Any]
    constraints: Constraints | None
    description: str | None

    def __init__(
        self,
        items: Node,
        container: builtins.type[Any] = list,
        accepts: builtins.type[Any] = list,
        constraints: Constraints | None = None,
        description: str | None = None,
    ) -> None:
        set_once(self, "items", items)
        set_once(self, "container", container)
        set_once(self, "accepts", accepts)
        set_once(self, "constraints", constraints)
        set_once(self, "description", description)

    @property
    def unique(self) -> bool:
        """Whether no item may come twice."""
        return self.container in {set, frozenset}


class TupleNode(Value):
    """A JSON array of fixed length, with a node for each position."""

    __slots__ = ("items", "description")

    items: tuple[Node, ...]
    description: str | None

    def __init__(self, items: tuple[Node, ...], description: str | None = None) -> None:
        set_once(self, "items", items)
        set_once(self, "description", description)


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

    __slots__ = ("keys", "values", "container", "accepts", "constraints", "description")

    keys: Node
    values: Node
    container: builtins.type[Any]
    accepts: builtins.type[Any]
    constraints: Constraints | None
    description: str | None

    def __init__(
        self,
        keys: Node,
        values: Node,
        container: builtins.type[Any] = dict,
        accepts: builtins.type[Any] = dict,
        constraints: Constraints | None = None,
        description: str | None = None,
    ) -> None:
        set_once(self, "keys", keys)
        set_once(self, "values", values)
        set_once(self, "container", container)
        set_once(self, "accepts", accepts)
        set_once(self, "constraints", constraints)
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
        init_only: whether the instance does not keep it (`InitVar`), so that it can't be encoded.
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
        "init_only",
        "description",
        "examples",
    )

    name: str
    key: str
    node: Node
    required: bool
    default: Any
    absent_is_none: bool
    init_only: bool
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
        init_only: bool,  # noqa: FBT001  # likewise
        description: str | None,
        examples: tuple[Any, ...],
    ) -> None:
        set_once(self, "name", name)
        set_once(self, "key", key)
        set_once(self, "node", node)
        set_once(self, "required", required)
        set_once(self, "default", default)
        set_once(self, "absent_is_none", absent_is_none)
        set_once(self, "init_only", init_only)
        set_once(self, "description", description)
        set_once(self, "examples", examples)

    def __reduce__(self) -> tuple[Any, ...]:
        name, key, node, required, default, *others = self.content()
        # A copy of `MISSING` would be another object, and a default.
        given = () if default is MISSING else (default,)
        return _restored, (name, key, node, required, given, *others)


def _restored(
    name: str,
    key: str,
    node: Node,
    required: bool,  # noqa: FBT001  # as above
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

    __slots__ = ("type", "name", "form", "fields", "closed", "doc", "description")

    type: builtins.type[Any]
    name: str
    form: ObjectForm
    fields: tuple[Field, ...]
    closed: bool
    doc: str | None
    description: str | None

    def __init__(
        self,
        type: builtins.type[Any],  # noqa: A002  # the attribute's name
        name: str,
        form: ObjectForm,
        fields: tuple[Field, ...],
        closed: bool,  # noqa: FBT001  # `Value.replace` gives every attribute by position
        doc: str | None = None,
        description: str | None = None,
    ) -> None:
        set_once(self, "type", type)
        set_once(self, "name", name)
        set_once(self, "form", form)
        set_once(self, "fields", fields)
        set_once(self, "closed", closed)
        set_once(self, "doc", doc)
        set_once(self, "description", description)


class UnionNode(Value):
    """One of several nodes, which can be told apart by the value alone."""

    __slots__ = ("members", "description")

    members: tuple[Node, ...]
    description: str | None

    def __init__(self, members: tuple[Node, ...], description: str | None = None) -> None:
        set_once(self, "members", members)
        set_once(self, "description", description)


class Target(Value):
    """What a recursive type is known by; two are equal when they stand for the same type.

    Attributes:
        identity: what only the same type shares.
        name: what messages and definitions call it, such as `Node[int]`.
        qualified: the same with modules, for when two types share a name.
        is_object: whether it is a class with fields, rather than an alias.
    """

    __slots__ = ("identity", "name", "qualified", "is_object")

    identity: Hashable
    name: str
    qualified: str
    is_object: bool

    def __init__(
        self,
        identity: Hashable,
        name: str,
        qualified: str,
        is_object: bool,  # noqa: FBT001  # `Value.replace` gives every attribute by position
    ) -> None:
        set_once(self, "identity", identity)
        set_once(self, "name", name)
        set_once(self, "qualified", qualified)
        set_once(self, "is_object", is_object)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


class RefNode(Value):
    """A place where a recursive type comes round; `Graph.definitions` has the node."""

    __slots__ = ("target", "description")

    target: Target
    description: str | None

    def __init__(self, target: Target, description: str | None = None) -> None:
        set_once(self, "target", target)
        set_once(self, "description", description)


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


ANY: Final = AnyNode()
NULL: Final = ScalarNode("null")
STRING: Final = ScalarNode("string")
UNKNOWN: Final = AnyNode("an annotation that was complained about")
"""Stands in the graph where an annotation could not be read; told by identity."""

FieldDraft: Final = draft_of(Field)
ObjectDraft: Final = draft_of(ObjectNode)
ArrayDraft: Final = draft_of(ArrayNode)
MapDraft: Final = draft_of(MapNode)
LeafDraft: Final = draft_of(LeafNode)
LiteralDraft: Final = draft_of(LiteralNode)
EnumDraft: Final = draft_of(EnumNode)
UnionDraft: Final = draft_of(UnionNode)
