"""Keeps the digits of numbers in a JSON text for types with a `Decimal`.

JSON numbers may have any number of digits, floats can't. The reader keeps them in a `WrittenFloat`; it
becomes a plain float again in every place without a `Decimal`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..introspect.input_parts import places_of
from ..introspect.nodes import ArrayNode, LeafNode, MapNode, ObjectNode, RefNode, TupleNode, UnionNode
from ..json_values import WrittenFloat, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..introspect.nodes import Graph, Node


def has_decimals(graph: Graph) -> bool:
    """Return whether a value of a type may contain a `Decimal`."""
    return any(_is_decimal(place.node) for place in places_of(graph))


def _is_decimal(node: Node) -> bool:
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(node, LeafNode) and issubclass(node.leaf.type, decimal.Decimal)


def with_digits_of_decimals(graph: Graph, value: Any) -> Any:
    """Return a value from the reader, in which only numbers that may be a `Decimal` keep their digits.

    Args:
        graph: the graph of the type of the value.
        value: the caller's value; it is changed.
    """
    return _with_digits(graph, [graph.root], value)


def _with_digits(graph: Graph, nodes: Sequence[Node], value: Any) -> Any:
    if type(value) is WrittenFloat:
        return value if any(_is_decimal(node) for node in _possible_nodes(graph, nodes)) else float(value)
    if is_object(value):
        meant = [*_possible_nodes(graph, nodes)]
        for key, inner in value.items():
            value[key] = _with_digits(
                graph, [part for node in meant for part in _nodes_under_key(node, key)], inner
            )
    elif is_array(value):
        meant = [*_possible_nodes(graph, nodes)]
        for at, inner in enumerate(value):
            value[at] = _with_digits(
                graph, [part for node in meant for part in _nodes_at_index(node, at)], inner
            )
    return value


def _possible_nodes(graph: Graph, nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield nodes with references followed and unions replaced by their members."""
    waiting, seen = [*nodes], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, RefNode):
            waiting.append(graph.resolve(node))
        elif isinstance(node, UnionNode):
            waiting += node.members
        else:
            yield node


def _nodes_under_key(node: Node, key: str) -> list[Node]:
    if isinstance(node, MapNode):
        return [node.values]
    return [field.node for field in node.fields if field.key == key] if isinstance(node, ObjectNode) else []


def _nodes_at_index(node: Node, index: int) -> Sequence[Node]:
    if isinstance(node, ArrayNode):
        return [node.items]
    return node.items[index : index + 1] if isinstance(node, TupleNode) else []
