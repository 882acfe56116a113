"""The meaning of each annotation: one row in a table, and one small function, for each kind.

Each function takes the reader, the annotation, its arguments and its place, and returns a node; where
it can't, it lets the reader complain. Containers, choices and `Annotated` have modules of their own.
"""

from __future__ import annotations

import collections
import collections.abc
import types
from dataclasses import MISSING
from enum import Enum, Flag
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired, Required, Union

from .choices import read_enum, read_flag, read_literal
from .containers import array_of, map_of, read_tuple
from .hints import Place, evaluate_forward
from .names import show_annotation
from .nodes import ANY, NULL, ScalarNode, UnionNode, new_union
from .traits import received_types

if TYPE_CHECKING:
    from collections.abc import Callable

    from .nodes import Node
    from .reader import Reader

    Arm = Callable[[Reader, Any, tuple[Any, ...], Place], Node]

__all__ = ["CLASSES", "NAMED", "ORIGINS"]


def _annotated(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    from .annotated import read_annotated

    return read_annotated(reader, annotation, args, place)


def _inner(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a qualifier, which says nothing about the values, as the annotation inside it."""
    return reader.node(args[0], place) if args else reader.complain_unsupported(annotation, place)


def _union(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    if not args:
        return reader.complain_unsupported(annotation, place)
    found: list[Node] = []
    for arg in args:
        node = reader.node(arg, place)
        if isinstance(node, UnionNode) and node.description is None:
            found += node.members
        else:
            found.append(node)
    if (len(found) == 2 and found[1] is NULL and found[0] is not NULL) or _are_simple(found):  # noqa: PLR2004  # `X | None`, most often
        members = tuple(found)
    else:
        members = reader.distinct.members(found)
    if len(members) == 1:
        return members[0]
    reader.has_choices = reader.has_choices or not _differ_at_sight(members)
    return new_union(UnionNode, members)


def _are_simple(nodes: list[Node]) -> bool:
    """Return whether nodes are several of `SIMPLE`, each of which is one object: `int | float | None`."""
    for node in nodes:
        if node.__class__ is not ScalarNode or node.description is not None or node.constraints is not None:
            return False
    return len({id(node) for node in nodes}) == len(nodes)


def _differ_at_sight(members: tuple[Node, ...]) -> bool:
    """Return whether each member has JSON types of its own, so that there is nothing to check."""
    seen: set[str] = set()
    for member in members:
        # 3 is an int and 3.0 is a float: as members of a union, the two differ.
        types = (member.type,) if isinstance(member, ScalarNode) else received_types(member)
        if not seen.isdisjoint(types):
            return False
        seen.update(types)
    return True


def _self(reader: Reader, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    meant = place.scope.self_type
    return reader.complain_unsupported(annotation, place) if meant is None else reader.node(meant, place)


def _type_variable(reader: Reader, variable: Any, _args: tuple[Any, ...], place: Place) -> Node:
    """Read a type parameter: what was given for it, else its default, its bound or its constraints."""
    bindings = place.scope.bindings
    if variable in bindings:
        return reader.node(bindings[variable], Place(place.path, place.owner, place.scope.outside()))
    from .type_parameters import declares

    if not declares(place.scope, variable):
        name = variable.__name__
        message = f"{show_annotation(variable)} isn't a type parameter of {place.owner}"
        remedy = f"Write the type, or add Generic[{name}] to the bases of the class"
        if place.scope.forgets_bases:
            remedy = "Write the type: before Python 3.12 a TypedDict forgets its bases"
        return reader.complain(place, "unresolved", message, remedy)
    default: Any = getattr(variable, "__default__", MISSING)
    if default is not MISSING and type(default).__name__ != "NoDefaultType":
        return reader.node(evaluate_forward(default, place.scope), place)
    if variable.__bound__ is not None:
        return reader.node(variable.__bound__, place)
    if variable.__constraints__:
        return _union(reader, variable, variable.__constraints__, place)
    return ANY


def _new_type(reader: Reader, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    return reader.node(annotation.__supertype__, place)


def _literal_string(reader: Reader, _annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    return reader.node(str, place)


def _alias(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    return reader.alias_node(getattr(annotation, "__origin__", annotation), args, place)


ORIGINS: Final[dict[object, tuple[Arm, int | None]]] = {
    Annotated: (_annotated, None),
    Literal: (read_literal, None),
    Union: (_union, None),
    types.UnionType: (_union, None),
    Required: (_inner, 1),
    NotRequired: (_inner, 1),
    Final: (_inner, 1),
    list: (array_of(list), 1),
    set: (array_of(set), 1),
    frozenset: (array_of(frozenset), 1),
    tuple: (read_tuple, None),
    collections.deque: (array_of(collections.deque), 1),
    collections.abc.Iterable: (array_of(list, collections.abc.Iterable), 1),
    collections.abc.Collection: (array_of(list, collections.abc.Collection), 1),
    collections.abc.Sequence: (array_of(list, collections.abc.Sequence), 1),
    collections.abc.MutableSequence: (array_of(list, collections.abc.MutableSequence), 1),
    collections.abc.Set: (array_of(set, collections.abc.Set), 1),
    collections.abc.MutableSet: (array_of(set, collections.abc.MutableSet), 1),
    dict: (map_of(dict), 2),
    collections.OrderedDict: (map_of(collections.OrderedDict), 2),
    collections.abc.Mapping: (map_of(dict, collections.abc.Mapping), 2),
    collections.abc.MutableMapping: (map_of(dict, collections.abc.MutableMapping), 2),
}
"""By what `typing.get_origin` returns: the function, and how many arguments it takes, if any."""

CLASSES: Final[tuple[tuple[type, Arm], ...]] = (
    (Flag, read_flag),
    (Enum, read_enum),
)
"""By base class; the first that fits counts."""

NAMED: Final[dict[str, Arm]] = {
    "Self": _self,
    "LiteralString": _literal_string,
    "ReadOnly": _inner,
    "TypeVar": _type_variable,
    "NewType": _new_type,
    "TypeAliasType": _alias,
}
"""By the name of a special form, or of the class of the annotation."""
