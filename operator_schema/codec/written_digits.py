"""Keeps the digits of numbers in a JSON text for types with a `Decimal`.

JSON numbers may have any number of digits, floats can't. The reader keeps them in a `WrittenFloat`; it
becomes a plain float again in every place without a `Decimal`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..introspect.input_parts import places_of
from ..introspect.node_kinds import flat_members
from ..introspect.nodes import ArrayNode, LeafNode, MapNode, ObjectNode, TupleNode
from ..json_values import WrittenFloat, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..introspect.nodes import Graph, Node, Target


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
    return _with_digits(graph.definitions, [graph.root], value)


def _with_digits(definitions: Mapping[Target, Node], nodes: Sequence[Node], value: Any) -> Any:
    """Return a value that one of some nodes may describe, in which only a `Decimal` keeps its digits."""
    if not (type(value) is WrittenFloat or is_object(value) or is_array(value)):
        return value
    members = [member for node in nodes for member in flat_members(node, definitions)]
    if isinstance(value, WrittenFloat):
        return value if any(map(_is_decimal, members)) else float(value)
    steps: Any = value.items() if is_object(value) else enumerate(value)
    nodes_at: Callable[[Node, Any], Sequence[Node]] = (
        _nodes_under_key if is_object(value) else _nodes_at_index
    )
    for step, inner in [*steps]:
        parts = [part for member in members for part in nodes_at(member, step)]
        value[step] = _with_digits(definitions, parts, inner)
    return value


def _nodes_under_key(node: Node, key: str) -> list[Node]:
    if isinstance(node, MapNode):
        return [node.values]
    return [field.node for field in node.fields if field.key == key] if isinstance(node, ObjectNode) else []


def _nodes_at_index(node: Node, index: int) -> Sequence[Node]:
    if isinstance(node, ArrayNode):
        return [node.items]
    return node.items[index : index + 1] if isinstance(node, TupleNode) else []
