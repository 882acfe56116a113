"""JSON values that decode: the node graph rendered as Hypothesis strategies.

References are followed a few levels deep, then they are `nothing()`, which Hypothesis avoids: lists stay
empty, optional keys are left out, unions choose another member.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ..codec.example import NO_EXAMPLE, example_of
from ..codec.interpret import interpret
from ..codec.limits import MAX_DEPTH
from ..introspect.node_kinds import visit
from ..introspect.nodes import (
    NULL,
    AnyNode,
    ArrayNode,
    EnumNode,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ..schema.document import SchemaDocument
from ..schema.document_codec import DocumentCodec
from ..tools.raw_arguments import RawArguments
from .leaf_values import leaf_values
from .scalar_values import JSON_SCALARS, JSON_VALUES, identity, length_limits, scalars, with_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Constraints, Node, Target

__all__ = ["ValidValues"]

_MORE = 3
"""Items and entries beyond the required number; one fewer behind each reference."""

_DEEPER = 2
"""Levels of references beyond those that the deepest definition needs for its smallest value."""


class ValidValues:
    """The JSON values of each node of a graph.

    Args:
        graph: of a registered type.
        json_values: type of a leaf to the JSON values that are generated for it.

    Attributes:
        levels: how many nested references are followed.

    Raises:
        ValueError: a type in `json_values` isn't the type of a leaf in the graph.
    """

    def __init__(self, graph: Graph, json_values: Mapping[type, SearchStrategy[Any]]) -> None:
        self._graph = graph
        self._json_values = json_values
        self._made: dict[tuple[int, int], SearchStrategy[Any]] = {}
        _check_types(json_values, _leaf_types(graph))
        # Strategies that are made to find the levels depend on them too, so they are made again.
        self.levels = 0
        self.levels = self._enough_levels() + _DEEPER
        self._made.clear()

    def _enough_levels(self) -> int:
        definitions = self._graph.definitions.values()
        for levels in range(len(definitions)):
            if not any(self.of(node, levels).is_empty for node in definitions):
                return levels
        return len(definitions)

    def _sizes(
        self, constraints: Constraints | None, levels: int, *parts: SearchStrategy[Any]
    ) -> tuple[int, int]:
        """Return the least and the greatest number of items or entries made of such parts."""
        least, most = length_limits(constraints)
        if any(part.is_empty for part in parts):
            return least, 0
        return least, least + max(0, _MORE - self.levels + levels) if most is None else most

    def root(self) -> SearchStrategy[Any]:
        """Generate the values of the type itself."""
        return self.of(self._graph.root, self.levels)

    def of(self, node: Node, levels: int) -> SearchStrategy[Any]:
        """Generate the values of a node, with so many levels of references in them."""
        key = (id(node), levels)
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._make(node, levels)
        return known

    def takes(self, node: Node) -> Callable[[object], bool]:
        """Return a function that returns whether a JSON value decodes as a node."""
        graph = Graph(node, self._graph.definitions)

        def decodes(value: object) -> bool:
            return not interpret(graph, value, MAX_DEPTH)[1].found

        return decodes

    def _make(self, node: Node, levels: int) -> SearchStrategy[Any]:
        match node:
            case ScalarNode():
                return scalars(node)
            case AnyNode():
                return JSON_VALUES
            case LiteralNode() | EnumNode():
                return st.sampled_from(with_floats(node.values))
            case LeafNode():
                return self._leaf(node)
            case ArrayNode():
                return self._array(node, levels)
            case TupleNode():
                return st.tuples(*[self.of(item, levels) for item in node.items]).map(list)
            case MapNode():
                return self._map(node, levels)
            case ObjectNode():
                return self._object(node, levels)
            case UnionNode():
                return st.one_of([self.of(member, levels) for member in node.members])
            case RefNode():
                return self._reference(node.target, levels)
            case _:
                return self._example(node)

    def _example(self, node: Node) -> SearchStrategy[Any]:
        example = example_of(Graph(node, self._graph.definitions), lambda _, value: value)
        return st.nothing() if example is NO_EXAMPLE else st.just(example)

    def _leaf(self, node: LeafNode) -> SearchStrategy[Any]:
        given = self._json_values.get(node.leaf.type)
        values = _own_values(node.leaf) if given is None else given
        return values.filter(self.takes(node))

    def _array(self, node: ArrayNode, levels: int) -> SearchStrategy[Any]:
        items = self.of(node.items, levels)
        least, most = self._sizes(node.constraints, levels, items)
        if not node.unique:
            return st.lists(items, min_size=least, max_size=most) if least <= most else st.nothing()
        most = min(most, _distinct(node.items))
        if least > most:
            return st.nothing()
        distinct = st.lists(items, min_size=least, max_size=most, unique_by=identity)
        return distinct.filter(self.takes(node))

    def _map(self, node: MapNode, levels: int) -> SearchStrategy[Any]:
        keys, values = self.keys(node.keys), self.of(node.values, levels)
        least, most = self._sizes(node.constraints, levels, keys, values)
        most = min(most, _distinct(node.keys))
        if least > most:
            return st.nothing()
        entries = st.dictionaries(keys, values, min_size=least, max_size=most)
        return entries.filter(self.takes(node))

    def keys(self, node: Node) -> SearchStrategy[str]:
        """Generate the JSON keys of a map whose keys are of a node."""
        if isinstance(node, ScalarNode) and node.type == "integer":
            return st.integers().map(str)
        return self.of(node, 0)

    def _object(self, node: ObjectNode, levels: int) -> SearchStrategy[Any]:
        required: dict[str, SearchStrategy[Any]] = {}
        optional: dict[str, SearchStrategy[Any]] = {}
        for field in node.fields:
            values = self.of(field.node, levels)
            if field.absent_is_none:
                values = self.of(NULL, 0) | values
            (required if field.required else optional)[field.key] = values
        objects = st.fixed_dictionaries(required, optional=optional)
        if not node.closed:
            unknown = _unknown(frozenset([field.key for field in node.fields]))
            objects = st.tuples(objects, unknown).map(lambda drawn: drawn[0] | drawn[1])
        return objects.filter(self.takes(node))

    def _reference(self, target: Target, levels: int) -> SearchStrategy[Any]:
        return self.of(self._graph.definitions[target], levels - 1) if levels else st.nothing()


def _own_values(leaf: SchemaLeaf[Any]) -> SearchStrategy[Any]:
    if leaf.type is not RawArguments:
        return leaf_values(leaf)
    codec = DocumentCodec(SchemaDocument("arguments", leaf.json_schema))
    return ValidValues(codec.graph, {}).root().filter(lambda value: not codec.report(value))


def _distinct(node: Node) -> int:
    """Return the greatest number of values of a node; `sys.maxsize` if there are many."""
    match node:
        case LiteralNode() | EnumNode():
            return len(node.values)
        case ScalarNode(type="boolean"):
            return 2
        case ScalarNode(type="null"):
            return 1
        case _:
            return sys.maxsize


def _unknown(known: Collection[str]) -> SearchStrategy[dict[str, Any]]:
    """Generate entries with other keys than the known ones; none, three times out of four."""
    keys = st.text().filter(lambda key: key not in known)
    some = st.dictionaries(keys, JSON_SCALARS, min_size=1, max_size=2)
    none: dict[str, Any] = {}
    return st.integers(0, 3).flatmap(lambda drawn: some if drawn > 2 else st.just(none))  # noqa: PLR2004  # one time in four


def _leaf_types(graph: Graph) -> set[type]:
    nodes = visit([graph.root, *graph.definitions.values()])
    return {node.leaf.type for node in nodes if isinstance(node, LeafNode)}


def _check_types(json_values: Mapping[type, object], leaves: Collection[type]) -> None:
    strange = [cls.__name__ for cls in json_values if cls not in leaves]
    if strange:
        known = ", ".join(sorted([cls.__name__ for cls in leaves])) or "none"
        message = f"json_values is for the leaves of this type ({known}), not {', '.join(strange)}"
        raise ValueError(message)
