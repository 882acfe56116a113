"""Lists, sets, tuples and maps."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Unpack, get_origin

from ..json_values import choice_key
from .names import show_annotation
from .nodes import (
    STRING,
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ScalarNode,
    TupleNode,
    new_array,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .hints import Place
    from .nodes import Node
    from .reader import Reader

    Arm = Callable[[Reader, Any, tuple[Any, ...], Place], Node]

__all__ = ["array_of", "map_of", "read_tuple"]

_SETS = (set, frozenset)


def array_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    """Return what reads an array that becomes a container; encoding accepts a wider class."""

    def read(reader: Reader, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
        if container in _SETS:
            reader.has_choices = True
        items = reader.item_node(args[0] if args else Any, place)
        return new_array(ArrayNode, items, container, accepts or container)

    return read


def read_tuple(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a tuple: with a type for each position, or of any length."""
    if args and args[-1] is Ellipsis:
        args = (args[0],) if len(args) == 2 else (args,)  # noqa: PLR2004  # the item and the ellipsis
        return array_of(tuple)(reader, annotation, args, place)
    if any(getattr(arg, "__unpacked__", False) or get_origin(arg) is Unpack for arg in args):
        return reader.complain_unsupported(annotation, place)
    # `tuple[()]` has no arguments either, but `tuple` alone is any tuple.
    if not args and annotation in {tuple, typing.Tuple}:  # noqa: UP006  # the older spelling
        return array_of(tuple)(reader, annotation, args, place)
    if not args:
        reader.item_node(Any, place)  # it has no items, but is a level of its own
    return TupleNode(tuple([reader.item_node(arg, place) for arg in args]))


def map_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    """Return what reads a map that becomes a container; encoding accepts a wider class."""

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
    """Return the node of a JSON key, which is a string whatever it decodes to; None if it has none."""
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
