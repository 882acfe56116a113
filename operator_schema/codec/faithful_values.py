"""Does an instance certainly equal the decoded form of some JSON? Decides it without decoding or encoding.

Yes means that the JSON value decodes to an instance with equal contents, and that the instance is encoded as
this JSON value. No means that only decoding and encoding can decide.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import repeat
from types import GetSetDescriptorType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..introspect.node_kinds import flat_members, received_types, visit
from ..introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ..json_values import choice_key
from ..sameness import slots_of
from .construction import static_member, way_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..introspect.nodes import Graph, Node, Target

    Definitions: TypeAlias = Mapping[Target, Node]


def comparison(graph: Graph) -> Callable[[Any, Any], bool] | None:
    """Return a function that tests whether an instance certainly has the value of some JSON.

    The function takes the JSON value and an instance that was decoded from it, or encoded to it.

    Returns:
        None if the function could never return True: if the user's code reads, makes or writes a part of the
        type, or if one type of a union could read the JSON of another.
    """
    root, definitions = graph.root, graph.definitions
    if not all(_is_faithful(node, definitions) for node in visit([root, *definitions.values()])):
        return None

    check = _ARMS[type(root)]

    def is_certainly(written: Any, value: Any) -> bool:
        try:
            return check(root, definitions, value, written)
        except RecursionError:  # the program is too deep in calls already
            return False

    return is_certainly


# --- which nodes ---------------------------------------------------------------------------------


def _is_faithful(node: Node, definitions: Definitions) -> bool:
    match node:
        case ScalarNode() | AnyNode() | RefNode() | TupleNode() | EnumNode():
            return True
        case LiteralNode():
            return all(type(member) in _SCALARS for member in node.members)
        case ArrayNode():
            return node.container is list or node.container is tuple
        case MapNode():
            return node.container is dict and _is_text(node.keys)
        case UnionNode():
            return _is_decided_by_json_type(node, definitions)
        case ObjectNode():
            return _is_faithful_class(node)
        case _:
            return False


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TEXT: Final = frozenset({str})


def _is_text(node: Node) -> bool:
    return type(node) is ScalarNode and node.type == "string"


def _is_decided_by_json_type(node: UnionNode, definitions: Definitions) -> bool:
    """Return whether the JSON type of a value decides which member of a union it is."""
    taken = [received_types(member) for member in flat_members(node, definitions)]
    return len(frozenset[str]().union(*taken)) == sum(map(len, taken))


def _is_faithful_class(node: ObjectNode) -> bool:
    """Return whether an instance stores nothing but its fields, and no user code makes or reads it."""
    cls: Any = node.type
    way = way_of(node)
    if way not in {"attributes", "dictionary", "slots"}:
        return way == "dict"
    names = {field.name for field in node.fields}
    has_dictionary = type(static_member(cls, "__dict__")) is GetSetDescriptorType
    return (
        bool(names)  # of an instance that keeps nothing, `is_same_state` says no
        and not any(field.init_only for field in node.fields)
        and names == {field.name for field in fields(cls)}
        and set(slots_of(cls)) == (set[str]() if has_dictionary else names)
        and cls.__getattribute__ is object.__getattribute__
    )


# --- which values --------------------------------------------------------------------------------


def _is_same(node: Node, definitions: Definitions, value: Any, written: Any) -> bool:
    return _ARMS[type(node)](node, definitions, value, written)


def _is_scalar(node: ScalarNode, _definitions: Definitions, value: object, written: object) -> bool:
    cls = type(value)
    return cls is _CLASSES[node.type] and type(written) is cls and bool(value == written)


_OBJECT: Final[Any] = dict
_ARRAY: Final[Any] = list
_TUPLE: Final[Any] = tuple
_CLASSES: Final = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}


def _is_anything(_node: AnyNode, _definitions: Definitions, value: Any, written: Any) -> bool:
    return _is_same_json(value, written)


def _is_same_json(value: Any, written: Any) -> bool:
    given: object = value
    if type(given) in _SCALARS:
        return type(written) is type(given) and given == written
    if type(value) is _ARRAY:
        return (
            type(written) is _ARRAY and len(value) == len(written) and all(map(_is_same_json, value, written))
        )
    return _has_same_keys(value, written) and all(map(_is_same_json, value.values(), written.values()))


def _is_choice(node: LiteralNode | EnumNode, _definitions: Definitions, value: Any, written: Any) -> bool:
    if type(written) not in _SCALARS:
        return False
    member = node.table.get(choice_key(written))
    return type(member) is type(value) and (member is value or (type(value) in _SCALARS and member == value))


def _is_array(node: ArrayNode, definitions: Definitions, value: Any, written: Any) -> bool:
    if type(value) is not node.container or type(written) is not _ARRAY or len(value) != len(written):
        return False
    items, check = node.items, _ARMS[type(node.items)]
    return all(map(check, repeat(items), repeat(definitions), value, written))


def _is_tuple(node: TupleNode, definitions: Definitions, value: Any, written: Any) -> bool:
    if (
        type(value) is not _TUPLE
        or type(written) is not _ARRAY
        or not len(node.items) == len(written) == len(value)
    ):
        return False
    return all(map(_is_same, node.items, repeat(definitions), value, written))


def _is_map(node: MapNode, definitions: Definitions, value: Any, written: Any) -> bool:
    if not _has_same_keys(value, written):
        return False
    values, check = node.values, _ARMS[type(node.values)]
    return all(map(check, repeat(values), repeat(definitions), value.values(), written.values()))


def _has_same_keys(value: Any, written: Any) -> bool:
    """Return whether two values are JSON objects with the same keys in the same order."""
    return (
        type(value) is _OBJECT
        and type(written) is _OBJECT
        and [*value] == [*written]
        and _TEXT.issuperset(map(type, value))
    )


def _is_object(node: ObjectNode, definitions: Definitions, value: Any, written: Any) -> bool:
    if type(written) is not _OBJECT:
        return False
    if node.form == "typed_dict":
        return _is_dict(node, definitions, value, written)
    if type(value) is not node.type:
        return False
    kept: dict[str, Any] | None = getattr(value, "__dict__", None)
    if kept is not None and len(kept) != len(node.fields):
        return False  # it has attributes that aren't fields
    left = len(written)
    for field in node.fields:
        if kept is not None and field.name not in kept:
            return False
        item = getattr(value, field.name)
        if item is None and field.absent_is_none:
            if field.key in written:
                return False
            continue
        inner = field.node
        if field.key not in written or not _ARMS[type(inner)](inner, definitions, item, written[field.key]):
            return False
        left -= 1
    return left == 0


def _is_dict(node: ObjectNode, definitions: Definitions, value: Any, written: dict[Any, Any]) -> bool:
    if type(value) is not _OBJECT or len(value) != len(written):
        return False
    given = [field for field in node.fields if field.name in value]
    return len(given) == len(written) and all(
        field.key in written and _is_same(field.node, definitions, value[field.name], written[field.key])
        for field in given
    )


def _is_union(node: UnionNode, definitions: Definitions, value: Any, written: Any) -> bool:
    return any(_ARMS[type(member)](member, definitions, value, written) for member in node.members)


def _is_reference(node: RefNode, definitions: Definitions, value: Any, written: Any) -> bool:
    return _is_same(definitions[node.target], definitions, value, written)


_ARMS: Final[Mapping[type, Callable[[Any, Definitions, Any, Any], bool]]] = {
    ScalarNode: _is_scalar,
    AnyNode: _is_anything,
    LiteralNode: _is_choice,
    EnumNode: _is_choice,
    ArrayNode: _is_array,
    TupleNode: _is_tuple,
    MapNode: _is_map,
    ObjectNode: _is_object,
    UnionNode: _is_union,
    RefNode: _is_reference,
}
"""By kind of node, the function that compares a value with a JSON value; a leaf runs code of its own."""
