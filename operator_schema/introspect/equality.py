"""Equality of annotations and of nodes.

Equal nodes are found in time that grows with their number. Comparing two by content would visit what
they share again and again: an alias that is used twice at each of thirty levels is in a billion places.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from ..immutable import content_of
from .leaves import SchemaLeaf
from .nodes import (
    Constraints,
    Field,
    ObjectNode,
    ScalarNode,
    Target,
    UnionNode,
)
from .traits import TRAITS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from .nodes import Node

__all__ = ["Distinct", "annotation_key", "bindings_key"]

_COMPARED_PARTS: Final = 1000

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Distinct:
    """The nodes of one walk: finds equal ones, looking into each node once."""

    __slots__ = ("_first", "_met")

    def __init__(self) -> None:
        self._first: dict[Hashable, Node] = {}
        # Together with the node itself, because the identity of one that is gone is given again.
        self._met: dict[int, tuple[Node, Node]] = {}

    def members(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return nodes without those that are equal to an earlier one."""
        return tuple({id(node): node for node in map(self.node, nodes)}.values())

    def union(self, node: UnionNode) -> UnionNode:
        """Return a union that may be inside another one: `flat_members` compares members by identity."""
        return node.replace(members=self.members(node.members))

    def node(self, node: Node) -> Node:
        """Return the first node that was met of those that are equal to this one."""
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
        if isinstance(part, (Field, Constraints)):
            return tuple([self._part(inner) for inner in content_of(part)])
        if isinstance(part, (Target, SchemaLeaf, re.Pattern)):
            return part  # pyright: ignore[reportUnknownVariableType]  # of whatever type
        # The table of a choice follows from its values and members; classes, members of an Enum
        # and defaults are what they are.
        return None if cls is dict else id(part)


def annotation_key(annotation: Any) -> Any:
    """Return what only annotations of the same meaning share.

    Equality of annotations is not enough: `Annotated[int, Ge(1)] == Annotated[int, Ge(1.0)]`, and
    `list[Literal[0]]` may be the same object as `list[Literal[False]]`. Classes and
    metadata count by identity, so the key holds only as long as the annotation lives.

    Raises:
        TypeError: the annotation has more parts than are worth comparing; or, on hashing the key,
            something in it has no hash.
        RecursionError: the annotation nests too deep.
    """
    return _key(annotation, iter(range(_COMPARED_PARTS)))


def _key(annotation: Any, budget: Iterator[int]) -> Any:
    if next(budget, None) is None:
        message = "the annotation has too many parts"
        raise TypeError(message)
    origin: Any = get_origin(annotation)
    if origin is None:
        # By identity: a metaclass may call two classes equal.
        return id(annotation) if isinstance(annotation, type) else (annotation.__class__, annotation)
    if origin is Literal:
        return (origin, tuple([(value.__class__, value) for value in get_args(annotation)]))
    metadata: tuple[Any, ...] = getattr(annotation, "__metadata__", ())
    args: tuple[Any, ...] = (annotation.__origin__,) if metadata else get_args(annotation)
    return (origin, tuple([_key(arg, budget) for arg in args]), tuple(map(id, metadata)))


def bindings_key(bindings: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return what only equal bindings share."""
    return tuple([annotation_key(value) for value in bindings.values()])
