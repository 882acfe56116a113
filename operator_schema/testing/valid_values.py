"""Which JSON values does a node of a graph accept? Hypothesis strategies for them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ..codec.example import NO_EXAMPLE, example_of
from ..codec.interpret import interpret
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
from ..json_values import MAX_DEPTH
from ..sameness import same_text
from ..schema.document import DocumentCodec, SchemaDocument
from ..tools.raw_arguments import RawArguments
from .scalar_values import (
    JSON_SCALARS,
    JSON_VALUES,
    length_limits,
    scalars,
    texts,
    with_floats,
)
from .written_leaves import leaf_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..codec.codec import Codec
    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Node, Target
    from ..schema.keywords import Constraints


class ValuesOfNodes(ABC):
    """The strategies for the nodes of one graph, each made once.

    Args:
        graph: the graph of a registered type.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._made: dict[tuple[int, int], SearchStrategy[Any]] = {}

    def of(self, node: Node, levels: int) -> SearchStrategy[Any]:
        """Return the strategy for a node, with up to `levels` levels of references in the values."""
        key = (id(node), levels)
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._make(node, levels)
        return known

    @abstractmethod
    def _make(self, node: Node, levels: int) -> SearchStrategy[Any]: ...

    def takes(self, node: Node) -> Callable[[object], bool]:
        """Return a function that tests whether a node decodes a JSON value."""
        graph = Graph(node, self.graph.definitions)
        return lambda value: not interpret(graph, value, MAX_DEPTH)[1].found


_MORE = 3
"""How many items and entries are generated beyond the required number; one fewer behind each reference."""

_DEEPER = 2
"""How many levels of references are generated beyond those that the smallest value of any definition
needs."""


class ValidValues(ValuesOfNodes):
    """The JSON values of each node of a graph.

    Args:
        graph: the graph of a registered type.
        json_values: type of a leaf to the strategy of its JSON values.

    Attributes:
        levels: how many nested references are followed.

    Raises:
        ValueError: a type in `json_values` isn't the type of a leaf in the graph.
    """

    def __init__(self, graph: Graph, json_values: Mapping[type, SearchStrategy[Any]]) -> None:
        super().__init__(graph)
        self._json_values = json_values
        _check_types(json_values, _leaf_types(graph))
        # Strategies that are made to find the levels depend on them too, so they are made again.
        self.levels = 0
        self.levels = self._enough_levels() + _DEEPER
        self._made.clear()

    def _enough_levels(self) -> int:
        definitions = self.graph.definitions.values()
        for levels in range(len(definitions)):
            if not any(self.of(node, levels).is_empty for node in definitions):
                return levels
        return len(definitions)

    def _sizes(
        self, constraints: Constraints | None, levels: int, *parts: SearchStrategy[Any]
    ) -> tuple[int, int]:
        """Return the least and the greatest number of items or entries to generate from some parts."""
        least, most = length_limits(constraints)
        if any(part.is_empty for part in parts):
            return least, 0
        return least, least + max(0, _MORE - self.levels + levels) if most is None else most

    def root(self) -> SearchStrategy[Any]:
        """Generate the values of the type itself."""
        return self.of(self.graph.root, self.levels)

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
        example = example_of(Graph(node, self.graph.definitions))
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
        distinct = st.lists(items, min_size=least, max_size=most, unique_by=same_text)
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
        """Generate JSON keys of a map, given the node of its keys."""
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
            objects = st.tuples(objects, _OTHER_ENTRIES).map(_with_other_entries(node))
        return objects.filter(self.takes(node))

    def _reference(self, target: Target, levels: int) -> SearchStrategy[Any]:
        return self.of(self.graph.definitions[target], levels - 1) if levels else st.nothing()


def values_of(
    codec: Codec[Any], json_values: Mapping[type, SearchStrategy[Any]] | None = None
) -> SearchStrategy[Any]:
    """Generate the JSON values that a codec decodes; the strategy is empty if there are none."""
    values = ValidValues(codec.graph, json_values or {}).root()
    return values.filter(lambda value: not codec.report(value))


def _own_values(leaf: SchemaLeaf[Any]) -> SearchStrategy[Any]:
    if leaf.type is not RawArguments:
        return leaf_values(leaf)
    return values_of(DocumentCodec(SchemaDocument("arguments", leaf.json_schema)))


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


_NO_ENTRIES = st.builds(dict[str, Any])
_SOME_ENTRIES = st.dictionaries(texts(), JSON_SCALARS, min_size=1, max_size=2)
_OTHER_ENTRIES = st.integers(0, 3).flatmap(lambda drawn: _SOME_ENTRIES if drawn > 2 else _NO_ENTRIES)  # noqa: PLR2004  # one time in four
"""Entries with any keys; in three of four cases, there are none."""


def _with_other_entries(
    node: ObjectNode,
) -> Callable[[tuple[dict[str, Any], dict[str, Any]]], dict[str, Any]]:
    """Return a function that adds entries with unknown keys to an object."""
    known = frozenset([field.key for field in node.fields])

    def joined(drawn: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
        own, other = drawn
        return own | {key: value for key, value in other.items() if key not in known}

    return joined


def _leaf_types(graph: Graph) -> set[type]:
    nodes = visit([graph.root, *graph.definitions.values()])
    return {node.leaf.type for node in nodes if isinstance(node, LeafNode)}


def _check_types(json_values: Mapping[type, object], leaves: Collection[type]) -> None:
    strange = [cls.__name__ for cls in json_values if cls not in leaves]
    if strange:
        known = ", ".join(sorted([cls.__name__ for cls in leaves])) or "none"
        message = f"json_values is for the leaves of this type ({known}), not {', '.join(strange)}"
        raise ValueError(message)
