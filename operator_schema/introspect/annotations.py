"""What each annotation means: one row in a table, and one small function, for each kind.

Each function takes the walk, the annotation, its arguments and where it stands, and returns a
node; where it can't, it lets the walk complain.
"""

from __future__ import annotations

import types
from dataclasses import MISSING
from enum import Enum, Flag
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union

from ..wording import clip, escape, excerpt
from .identity import name_of, show_annotation
from .leaves import as_leaf
from .nodes import (
    ANY,
    NULL,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ScalarNode,
    UnionNode,
    choice_key,
    takes_null,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .hints import Place
    from .walk import Walk

    Arm = Callable[[Walk, Any, tuple[Any, ...], Place], Node]

__all__ = ["CLASSES", "ORIGINS"]

# Metadata in the annotated-types vocabulary restricts the values, so leaving it out of the schema
# would be wrong; other metadata is somebody else's and is ignored, as PEP 593 asks.
_CONSTRAINTS: Final = (
    "ge",
    "gt",
    "le",
    "lt",
    "multiple_of",
    "min_length",
    "max_length",
    "pattern",
)


def _annotated(walk: Walk, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    inner, *metadata = args
    leaf = next((item for item in map(as_leaf, reversed(metadata)) if item is not None), None)
    node = walk.node(inner, place) if leaf is None else LeafNode(leaf)
    for item in metadata:
        if isinstance(item, str):
            node = node.replace(description=item)
        elif leaf is None and any(getattr(item, name, None) is not None for name in _CONSTRAINTS):
            message = f"the constraint {clip(escape(repr(item)), 100)} is not supported"
            walk.complain(place, "unsupported", message, "Check the value in __post_init__")
    return node


def _array(walk: Walk, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    return ArrayNode(walk.item_node(args[0], place) if args else ANY)


def _map(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    if not args:
        return MapNode(ANY)
    keys, values = args
    if keys is not str and walk.node(keys, place) != ScalarNode("string"):
        message = f"the keys of {show_annotation(annotation)} are not str"
        walk.complain(place, "unsupported", message, "Make it dict[str, …]")
    return MapNode(walk.item_node(values, place))


def _union(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    members = tuple([walk.node(arg, place) for arg in args])
    if NULL in members and len(members) == 2:  # noqa: PLR2004  # X | None
        value = members[0] if members[1] == NULL else members[1]
        if isinstance(value, (EnumNode, LeafNode)) and takes_null(value):
            message = f"null means two things in {show_annotation(annotation)}"
            return walk.complain(place, "ambiguous", message, "Leave None out, or give it another value")
        return UnionNode(members)
    message = f"the union {show_annotation(annotation)} is not supported"
    remedy = "Only X | None is; make it one type, or a dataclass with one field a case"
    return walk.complain(place, "unsupported", message, remedy)


def _literal(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    values = tuple([_plain(arg.value if isinstance(arg, Enum) else arg) for arg in args])
    bad = [arg for arg, value in zip(args, values, strict=True) if value is MISSING]
    if bad:
        message = f"{show_annotation(annotation)} has {excerpt(bad[0])}, which JSON can't hold"
        return walk.complain(place, "unsupported", message, "Use strings, numbers, booleans and None")
    table = dict(zip(map(choice_key, values), args, strict=True))
    if len(table) < len(values):
        message = f"two values of {show_annotation(annotation)} are the same in JSON"
        return walk.complain(place, "ambiguous", message, "Leave one of them out")
    return LiteralNode(values, args, table)


def _enum(walk: Walk, cls: type[Enum], _args: tuple[Any, ...], place: Place) -> Node:
    members = tuple(cls)
    values = tuple([_plain(member.value) for member in members])
    bad = [member for member, value in zip(members, values, strict=True) if value is MISSING]
    if bad:
        message = f"{bad[0]} has the value {clip(escape(repr(bad[0].value)), 60)}, which is no JSON scalar"
        return walk.complain(place, "bad_enum", message, "Use strings, numbers, booleans and None")
    if not members:
        return walk.complain(place, "bad_enum", f"{name_of(cls)} has no members", "Give it some")
    return EnumNode(cls, values, dict(zip(map(choice_key, values), members, strict=True)))


def _flag(walk: Walk, cls: type[Flag], _args: tuple[Any, ...], place: Place) -> Node:
    message = f"{name_of(cls)} is a Flag, whose values are sums of members"
    return walk.complain(place, "bad_enum", message, "Use list[…] of an Enum, or a SchemaLeaf")


def _plain(value: object) -> Any:
    """Return a JSON scalar as its own built-in type, `dataclasses.MISSING` for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and isfinite(value):
        return float.__float__(value)
    return MISSING


ORIGINS: Final[dict[object, tuple[Arm, int | None]]] = {
    Annotated: (_annotated, None),
    Literal: (_literal, None),
    Union: (_union, None),
    types.UnionType: (_union, None),
    list: (_array, 1),
    dict: (_map, 2),
}
"""By what `typing.get_origin` returns: the function, and how many arguments it takes, if any."""

CLASSES: Final[tuple[tuple[type, Arm], ...]] = (
    (Flag, _flag),
    (Enum, _enum),
)
"""By base class; the first that fits counts."""
