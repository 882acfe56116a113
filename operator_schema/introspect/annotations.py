"""What does each kind of annotation mean? One row in a table, and one small function.

Each function takes the reader, the annotation, its arguments and its place, and returns a node. For an
unreadable annotation it calls `Reader.complain`. `constraints` reads `Annotated`.
"""

from __future__ import annotations

import collections
import collections.abc
import types
import typing
from dataclasses import MISSING
from enum import Enum, EnumType, Flag
from math import isfinite
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    Union,
    get_origin,
)

from ..json_values import LONGEST_BITS, choice_key, has_surrogate
from ..message_text import excerpt
from .classes import docstring_parser, own_docstring
from .leaves import has_attribute
from .nodes import (
    ANY,
    NULL,
    STRING,
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    new_array,
    new_union,
)
from .shown_annotations import name_of, show_annotation, show_briefly

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from .hints import Place
    from .nodes import Node
    from .protocols import Reader

    Arm = Callable[[Reader, Any, tuple[Any, ...], Place], Node]


SIMPLE: Final[Mapping[Any, Node]] = {
    str: STRING,
    int: ScalarNode("integer"),
    float: ScalarNode("number"),
    bool: ScalarNode("boolean"),
    None: NULL,
    types.NoneType: NULL,
    Any: ANY,
    object: ANY,
}
"""Annotations whose node is always the same."""


def read_inner(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a qualifier, which doesn't restrict the values, as the annotation inside it."""
    return reader.node(args[0], place) if args else reader.complain_unsupported(annotation, place)


def read_union(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a union of the arguments."""
    if not args:
        return reader.complain_unsupported(annotation, place)
    found: list[Node] = []
    discriminator: str | None = None
    simple = reader.simple
    for arg in args:
        node = simple.get(arg) if type(arg) is type and reader.left > 0 else None
        if node is None:
            node = reader.node(arg, place)
        else:
            reader.left -= 1
        if type(node) is not UnionNode or node.description is not None:
            found.append(node)
        elif node.discriminator is None or _is_null_or(arg, args):
            found += node.members
            discriminator = node.discriminator
        else:
            found.append(node)
    if (len(found) == 2 and found[1] is NULL and found[0] is not NULL) or _are_simple(found):  # noqa: PLR2004  # `X | None`, most often
        members = tuple(found)
    else:
        members = reader.distinct.members(found)
    if len(members) == 1:
        return members[0]
    if not (reader.has_choices or _differ_at_sight(members)):
        reader.has_choices = True
    return new_union(UnionNode, members, None, discriminator)


def _is_null_or(arg: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a member of a union has no alternative but null."""
    return all(other is arg or other is types.NoneType for other in args)


def _are_simple(nodes: list[Node]) -> bool:
    """Return whether all nodes come from `SIMPLE` and differ: `int | float | None`."""
    for node in nodes:
        if type(node) is not ScalarNode or node.description is not None or node.constraints is not None:
            return False
    return len({id(node) for node in nodes}) == len(nodes)


def _differ_at_sight(members: tuple[Node, ...]) -> bool:
    """Return whether no two members share a JSON type, so that there is nothing to check."""
    first = members[0]
    if members[-1] is NULL and len(members) == 2:  # noqa: PLR2004  # as above
        if type(first) is ScalarNode:
            return first.type != "null"
        if isinstance(first, LeafNode):
            return "null" not in first.leaf.json_types
        if isinstance(first, (LiteralNode, EnumNode)):
            return None not in first.values
        if first.__class__ in _NEVER_NULL:
            return True
    seen: set[str] = set()
    for member in members:
        types = _types_at_sight(member)
        if not seen.isdisjoint(types):
            return False
        seen.update(types)
    return True


def _types_at_sight(node: Node) -> Iterable[str]:
    if isinstance(node, ScalarNode):  # 3 is an int and 3.0 is a float: as members of a union, the two differ
        return (node.type,)
    from .node_kinds import received_types  # most types have no such unions

    return received_types(node)


_NEVER_NULL = frozenset({ArrayNode, TupleNode, MapNode, ObjectNode})


# --- lists, sets, tuples and maps -----------------------------------------------------------------


_SETS = (set, frozenset)


def _array_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    """Return a reader of arrays that are decoded to a container; encoding accepts a wider class."""
    is_set = container in _SETS
    encoded = accepts or container

    def read(reader: Reader, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
        items = reader.item_node(args[0] if args else Any, place)
        if is_set and not isinstance(items, ScalarNode):  # scalars can be in a set
            reader.has_choices = True
        return new_array(ArrayNode, items, container, encoded)

    return read


def is_unpacked(hint: object) -> bool:
    """Return whether an annotation is `Unpack[…]`, of typing or of typing_extensions."""
    return getattr(get_origin(hint), "_name", None) == "Unpack"


def _tuple(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a tuple: with a type for each position, or of any length."""
    if args and args[-1] is Ellipsis:
        args = (args[0],) if len(args) == 2 else (args,)  # noqa: PLR2004  # the item and the ellipsis
        return _array_of(tuple)(reader, annotation, args, place)
    if any(getattr(arg, "__unpacked__", False) or is_unpacked(arg) for arg in args):
        return reader.complain_unsupported(annotation, place)
    # `tuple[()]` has no arguments either, but `tuple` alone is any tuple.
    if not args and annotation in {tuple, typing.Tuple}:  # noqa: UP006  # the older spelling
        return _array_of(tuple)(reader, annotation, args, place)
    if not args:
        reader.item_node(Any, place)  # it has no items, but is a level of its own
    return TupleNode(tuple([reader.item_node(arg, place) for arg in args]))


def _map_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    """Return a reader of maps that are decoded to a container; encoding accepts a wider class."""

    def read(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
        keys, values = args or (str, Any)
        read_keys = reader.node(keys, place)
        key_node = _key_node(read_keys)
        if key_node is None:
            key_node = _complain_keys(reader, annotation, read_keys, place)
        return MapNode(key_node, reader.item_node(values, place), container, accepts or container)

    return read


def _complain_keys(reader: Reader, annotation: Any, keys: Node, place: Place) -> Node:
    if isinstance(keys, ScalarNode) and keys.type == "integer":
        message = (
            f"the keys of {show_annotation(annotation)} have limits, which JSON Schema can't put on keys"
        )
        return reader.complain(
            place, "bad_constraint", message, "Use int keys, and check them in __post_init__"
        )
    message = f"the keys of {show_annotation(annotation)} can't be written as text, and keys in JSON are text"
    remedy = "Make them str, int, an Enum or Literal of texts or ints, or a type whose leaf is a string"
    return reader.complain(place, "unsupported", message, remedy)


def _key_node(node: Node) -> Node | None:
    """Return the node of a map's keys, which reads them from strings; None if the type can't be a key."""
    match node:
        case ScalarNode(type="string") | ScalarNode(type="integer", constraints=None):
            return node
        case AnyNode():
            return node if node is UNKNOWN else STRING
        case LeafNode(leaf=leaf) if leaf.json_types == ("string",) and leaf.type.__hash__ is not None:
            return node
        case LiteralNode() | EnumNode():
            texts = tuple([_key_text(value) for value in node.values])
            if None in texts or len(set(texts)) < len(texts):
                return None
            table = dict(zip(map(choice_key, texts), node.table.values(), strict=True))
            return node.replace(values=texts, table=table)
        case _:
            return None


def _key_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


# --- Literal and Enum: one of a fixed set of JSON scalars -----------------------------------------


def _literal(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read `Literal[…]`."""
    if not args:
        return reader.complain(place, "unsupported", "Literal[()] has no values", "Give it some")
    values = members = args
    if not all([type(arg) is str and arg.isascii() for arg in args]):  # noqa: C419  # a generator costs more
        values = tuple([_plain(arg.value if isinstance(arg, Enum) else arg) for arg in args])
        members = tuple(
            [arg if isinstance(arg, Enum) else value for value, arg in zip(values, args, strict=True)]
        )
    table = dict(zip(map(choice_key, values), members, strict=True))
    if MISSING in values or len(table) < len(values):
        return _complain_choices(reader, annotation, args, values, place)
    return LiteralNode(values, tuple(table.values()), table)


def _complain_choices(
    reader: Reader, annotation: Any, args: tuple[Any, ...], values: tuple[Any, ...], place: Place
) -> Node:
    shown = show_annotation(annotation)
    if MISSING not in values:
        message = f"two values of {shown} are the same in JSON"
        return reader.complain(place, "ambiguous", message, "Leave one of them out")
    message = f"{shown} has {excerpt(args[values.index(MISSING)])}, which JSON can't hold"
    return reader.complain(place, "unsupported", message, "Use strings, numbers, booleans and None")


def _enum(reader: Reader, cls: type[Enum], _args: tuple[Any, ...], place: Place) -> Node:
    """Read an Enum."""
    # `_value_` is what `value` returns, unless an Enum overrides that, and takes a fifth of the time.
    is_usual = type(cls) is EnumType and not has_attribute(cls, "value")
    values: list[Any] = []
    table: dict[Hashable, Enum] = {}
    for member in cls.__members__.values() if is_usual else cls:
        written: Any = member._value_ if is_usual else member.value
        value = written if type(written) is str and written.isascii() else _plain(written)
        if value is MISSING:
            shown, what = (show_briefly(part, 60) for part in (member, written))
            message = f"{shown} has the value {what}, which isn't a JSON scalar"
            return reader.complain(place, "bad_enum", message, "Use strings, numbers, booleans and None")
        key = choice_key(value)
        if key not in table:
            table[key] = member
            values.append(value)
        elif table[key] is not member:  # an alias would be the same member
            message = f"two members of {name_of(cls)} are the same in JSON"
            return reader.complain(place, "ambiguous", message, "Give each a value of its own")
    if not values:
        return reader.complain(place, "bad_enum", f"{name_of(cls)} has no members", "Give it some")
    doc = None
    if cls.__dict__.get("__doc__") is not None:
        doc = _prose_of(cls, reader, place)
    return EnumNode(cls, tuple(values), table, doc)


def _prose_of(cls: type[Enum], reader: Reader, place: Place) -> str | None:
    text = docstring_parser()(own_docstring(cls)).text
    if has_surrogate(text):
        reader.complain_surrogate(text, place)
    return text or None


def _flag(reader: Reader, cls: type[Flag], _args: tuple[Any, ...], place: Place) -> Node:
    """Refuse a Flag."""
    message = f"{name_of(cls)} is a Flag, whose values are combinations of members"
    return reader.complain(place, "bad_enum", message, "Use list[…] of an Enum, or a SchemaLeaf")


def _plain(value: object) -> Any:
    """Return a JSON scalar as its built-in type; `dataclasses.MISSING` for a value that JSON can't hold."""
    if value is None or value is True or value is False or (type(value) is str and value.isascii()):
        return value
    if isinstance(value, str):
        text = str.__str__(value)
        return MISSING if has_surrogate(text) else text
    if isinstance(value, int):
        number = int.__int__(value)
        return MISSING if number.bit_length() > LONGEST_BITS else number
    if isinstance(value, float) and isfinite(value):
        return float.__float__(value)
    return MISSING


# --- the tables -----------------------------------------------------------------------------------


ORIGINS: Final[dict[object, tuple[Arm, int | None]]] = {
    Literal: (_literal, None),
    Union: (read_union, None),
    types.UnionType: (read_union, None),
    Required: (read_inner, 1),
    NotRequired: (read_inner, 1),
    Final: (read_inner, 1),
    list: (_array_of(list), 1),
    set: (_array_of(set), 1),
    frozenset: (_array_of(frozenset), 1),
    tuple: (_tuple, None),
    collections.deque: (_array_of(collections.deque), 1),
    collections.abc.Iterable: (_array_of(list, collections.abc.Iterable), 1),
    collections.abc.Collection: (_array_of(list, collections.abc.Collection), 1),
    collections.abc.Sequence: (_array_of(list, collections.abc.Sequence), 1),
    collections.abc.MutableSequence: (_array_of(list, collections.abc.MutableSequence), 1),
    collections.abc.Set: (_array_of(set, collections.abc.Set), 1),
    collections.abc.MutableSet: (_array_of(set, collections.abc.MutableSet), 1),
    dict: (_map_of(dict), 2),
    collections.OrderedDict: (_map_of(collections.OrderedDict), 2),
    collections.abc.Mapping: (_map_of(dict, collections.abc.Mapping), 2),
    collections.abc.MutableMapping: (_map_of(dict, collections.abc.MutableMapping), 2),
}
"""By the result of `typing.get_origin`: the function, and how many arguments the annotation takes."""

CLASSES: Final[tuple[tuple[type, Arm], ...]] = (
    (Flag, _flag),
    (Enum, _enum),
)
"""By base class; the first that fits counts."""
