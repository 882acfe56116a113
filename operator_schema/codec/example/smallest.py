"""A smallest valid value of a type, to be shown where arguments were not even an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from .constrained import example_number, example_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...introspect.nodes import Field, Graph, Node, Target

    Encode = Callable[[Node, object], Any]

__all__ = ["NO_EXAMPLE", "example_of"]

_LONGEST = 100
"""Items or entries that an example has at most."""


class _NoExample(Exception):  # noqa: N818  # says that a branch holds none; never leaves this module
    pass


NO_EXAMPLE: Any = object()
"""`example_of` returns it if it found none."""


def example_of(graph: Graph, encode: Encode) -> Any:
    """Make a smallest value of a type.

    Args:
        graph: of the type.
        encode: turns an example that a field declares into JSON values.

    Returns:
        JSON values that satisfy every constraint but, perhaps, a pattern; `NO_EXAMPLE` where a type
        has no finite value, or none that is small.
    """
    try:
        return _Maker(graph, encode).make(graph.root)
    except (_NoExample, RecursionError):
        return NO_EXAMPLE


class _Maker:
    """Makes one example.

    Attributes:
        entered: the recursive types that are being made: a recursion through required fields never ends.
    """

    def __init__(self, graph: Graph, encode: Encode) -> None:
        self.graph = graph
        self.encode = encode
        self.entered: list[Target] = []

    def make(self, node: Node, turn: int = 0) -> Any:
        """Make the example of a node; with another `turn`, another one where there are more."""
        match node:
            case ScalarNode():
                return _scalar(node, turn)
            case LiteralNode() | EnumNode():
                return _nth(node.values, turn)
            case LeafNode():
                return _once(_placeholder(node), turn)
            case ObjectNode():
                return _once({f.key: self._field(f) for f in node.fields if f.required}, turn)
            case ArrayNode():
                return _once(self._items(node), turn)
            case TupleNode():
                return [self.make(item, turn) for item in node.items]
            case MapNode():
                return _once(self._entries(node), turn)
            case UnionNode():
                return self._first(node.members, turn)
            case RefNode():
                return self._reference(node, turn)
            case AnyNode():
                return _nth(({}, *range(1, _LONGEST + 1)), turn)
            case _:
                raise _NoExample

    def _field(self, field: Field) -> Any:
        if field.examples:
            return self.encode(field.node, field.examples[0])
        return self.make(field.node)

    def _items(self, node: ArrayNode) -> list[Any]:
        return [self.make(node.items, turn if node.unique else 0) for turn in range(_least(node))]

    def _entries(self, node: MapNode) -> dict[str, Any]:
        keys = [str(self.make(node.keys, turn)) for turn in range(_least(node))]
        return {key: self.make(node.values) for key in keys}

    def _reference(self, node: RefNode, turn: int) -> Any:
        if node.target in self.entered:
            raise _NoExample
        self.entered.append(node.target)
        try:
            return self.make(self.graph.definitions[node.target], turn)
        finally:
            self.entered.pop()

    def _first(self, members: Iterable[Node], turn: int) -> Any:
        for member in members:
            try:
                return self.make(member, turn)
            except _NoExample:
                continue
        raise _NoExample


def _scalar(node: ScalarNode, turn: int) -> Any:
    made: str | float | None
    if node.type == "string":
        made = example_text(node.constraints, turn)
    elif node.type == "integer" or node.type == "number":  # noqa: PLR1714  # the type checker reads this
        made = example_number(node.type, node.constraints, turn)
    else:
        return _nth((False, True) if node.type == "boolean" else (None,), turn)
    if made is None:
        raise _NoExample
    return made


def _placeholder(node: LeafNode) -> Any:
    try:
        return node.leaf.encode(node.leaf.placeholder)
    except ValueError:  # a pydantic model of which no small value is known
        raise _NoExample from None


def _nth(values: tuple[Any, ...], turn: int) -> Any:
    if turn >= len(values):
        raise _NoExample
    return values[turn]


def _once(value: Any, turn: int) -> Any:
    if turn:
        raise _NoExample
    return value


def _least(node: ArrayNode | MapNode) -> int:
    least = (node.constraints and node.constraints.min_length) or 0
    if least > _LONGEST:
        raise _NoExample
    return least
