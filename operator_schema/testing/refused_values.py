"""Which JSON values does a node of a graph nearly accept? Hypothesis strategies for them."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import (
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
from ..json_values import JSON_TYPES, choice_key, is_array, is_object
from .scalar_values import JSON_VALUES, OF_TYPE, length_limits, scalars_just_refused, texts
from .valid_values import ValidValues, ValuesOfNodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.nodes import Node, Target


_SMALL = st.sampled_from([True, True, True, True, True, False])
"""How many of six near misses have a small mistake; one has another JSON type."""


@st.composite
def _one_of_both(
    draw: st.DrawFn,
    near: SearchStrategy[Any],
    other: SearchStrategy[Any],
    takes: Callable[[object], bool],
) -> Any:
    """Generate a near miss; if it isn't one after all, generate another value."""
    if draw(_SMALL):
        value = draw(near)
        if not takes(value):
            return value
    return draw(other)


class NearMisses(ValuesOfNodes):
    """The JSON values that each node of a graph nearly accepts.

    Args:
        graph: the graph of a registered type.
        valid: the valid values of its nodes.
    """

    def __init__(self, graph: Graph, valid: ValidValues) -> None:
        super().__init__(graph)
        self._valid = valid

    def root(self) -> SearchStrategy[Any]:
        """Generate values that the type itself refuses; none if it accepts every value."""
        return self.of(self.graph.root, self._valid.levels)

    def _make(self, node: Node, levels: int) -> SearchStrategy[Any]:
        if _whole_types(node, self.graph.definitions) == _EVERY_TYPE:
            return st.nothing()
        takes = self.takes(node)
        near, other = self._near(node, levels), self._of_another_type(node, levels)
        if other.is_empty:
            return near.filter(lambda value: not takes(value))
        if near.is_empty:
            return other
        return _one_of_both(near, other, takes)

    def _of_another_type(self, node: Node, levels: int) -> SearchStrategy[Any]:
        types = json_types_of(node, self.graph.definitions)
        valid = self._valid.of(node, levels)
        others = [values for name, values in OF_TYPE.items() if name not in types]
        if "string" not in types:
            others.append(valid.map(json.dumps))
        if "array" not in types:
            others.append(valid.map(lambda value: [value]))
        return st.one_of(others)

    def _near(self, node: Node, levels: int) -> SearchStrategy[Any]:
        """Generate values with one small mistake; a few may be valid after all."""
        match node:
            case ScalarNode():
                return scalars_just_refused(node)
            case LiteralNode() | EnumNode():
                return _misspelt(node)
            case LeafNode():
                return st.tuples(self._valid.of(node, levels), st.integers(0, 3)).map(_garble)
            case ArrayNode():
                return self._array(node, levels)
            case TupleNode():
                return self._tuple(node, levels)
            case MapNode():
                return self._map(node, levels)
            case ObjectNode():
                return self._object(node, levels)
            case UnionNode():
                return st.one_of([self.of(member, levels) for member in node.members])
            case RefNode():
                inner = self.graph.definitions[node.target]
                return self.of(inner, levels - 1) if levels else st.nothing()
            case _:
                return st.nothing()

    def _array(self, node: ArrayNode, levels: int) -> SearchStrategy[Any]:
        valid, items = self._valid.of(node, levels), self._valid.of(node.items, levels)
        beside = st.just([]) if items.is_empty else st.lists(items, max_size=2)
        found = [st.tuples(beside, self.of(node.items, levels).map(_alone), beside).map(_joined)]
        least, most = length_limits(node.constraints)
        if least:
            found.append(valid.map(lambda items: items[: least - 1]))
        if most is not None:
            found.append(items.map(lambda item: [item] * (most + 1)))
        if node.unique:
            found.append(valid.map(lambda items: items + items[:1]))
        return st.one_of(found)

    def _tuple(self, node: TupleNode, levels: int) -> SearchStrategy[Any]:
        valid = self._valid.of(node, levels)
        found = [valid.map(lambda items: items[:-1]), valid.map(lambda items: [*items, None])]
        for index, item in enumerate(node.items):
            found.append(st.tuples(valid, self.of(item, levels)).map(partial(_with_item, index)))
        return st.one_of(found)

    def _map(self, node: MapNode, levels: int) -> SearchStrategy[Any]:
        valid, values = self._valid.of(node, levels), self._valid.of(node.values, levels)
        keys = self._valid.keys(node.keys)
        found = [
            st.tuples(valid, keys, self.of(node.values, levels)).map(_with_entry),
            st.tuples(valid, self._keys(node.keys), values).map(_with_entry),
        ]
        least, most = length_limits(node.constraints)
        if least:
            found.append(valid.map(lambda entries: dict(list(entries.items())[: least - 1])))
        if most is not None:
            found.append(st.tuples(keys, values, st.just(most + 1)).map(_repeated))
        return st.one_of(found)

    def _keys(self, node: Node) -> SearchStrategy[Any]:
        if isinstance(node, ScalarNode) and node.type == "integer":
            return st.sampled_from(["x", "", "1.0", "01", "+1", "1_000", " 1", "-0", "1\n", "٣"])
        return self._near(node, 0)

    def _object(self, node: ObjectNode, levels: int) -> SearchStrategy[Any]:
        valid = self._valid.of(node, levels)
        found: list[SearchStrategy[Any]] = []
        for field in node.fields:
            if field.required:
                found += [valid.map(partial(_without, field.key)), valid.map(partial(_renamed, field.key))]
            misses = self.of(field.node, levels)
            if field.absent_is_none:
                misses = misses.filter(lambda value: value is not None)
            found.append(st.tuples(valid, st.just(field.key), misses).map(_with_entry))
        if node.closed:
            keys = texts() | st.sampled_from([f"{field.key}_" for field in node.fields] or ["x"])
            found.append(st.tuples(valid, keys, JSON_VALUES).map(_with_entry))
        return st.one_of(found)


# --- edits ---------------------------------------------------------------------------------------


def _misspelt(node: LiteralNode | EnumNode) -> SearchStrategy[Any]:
    edited = [edit for value in node.values for edit in _misspellings(value)]
    wrong = [value for value in edited if choice_key(value) not in node.table]
    return st.sampled_from(wrong) if wrong else st.nothing()


def _misspellings(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [f"{value}x", value[:-1], value.swapcase(), f" {value}"]
    return [str(value)] if value is None else [int(value) + 1, str(value), bool(value), int(value)]


def _garble(drawn: tuple[Any, int]) -> Any:
    value, how = drawn
    if isinstance(value, str):
        return (f"{value}?", value[:-1], f" {value}", value.replace(value[:1], "x"))[how]
    if is_array(value) or is_object(value):
        return [] if is_array(value) else {}
    return -value - 1 if isinstance(value, (int, float)) else value


def _alone(item: Any) -> list[Any]:
    return [item]


def _joined(parts: tuple[list[Any], ...]) -> list[Any]:
    return [item for part in parts for item in part]


def _with_item(index: int, drawn: tuple[list[Any], Any]) -> list[Any]:
    items, item = drawn
    return [*items[:index], item, *items[index + 1 :]]


def _with_entry(drawn: tuple[dict[str, Any], str, Any]) -> dict[str, Any]:
    entries, key, value = drawn
    return {**entries, key: value}


def _repeated(drawn: tuple[str, Any, int]) -> dict[str, Any]:
    key, value, times = drawn
    return {f"{key}{i}": value for i in range(times)}


def _without(key: str, entries: dict[str, Any]) -> dict[str, Any]:
    return {other: value for other, value in entries.items() if other != key}


def _renamed(key: str, entries: dict[str, Any]) -> dict[str, Any]:
    return {(f"{other}_" if other == key else other): value for other, value in entries.items()}


# --- which JSON types a node takes ---------------------------------------------------------------

_NUMBERS = frozenset({"integer", "number"})
_EVERY_TYPE = frozenset(JSON_TYPES)
_NO_TYPE: frozenset[str] = frozenset()


def _whole_types(
    node: Node, definitions: Mapping[Target, Node], around: frozenset[Target] = frozenset()
) -> frozenset[str]:
    """Return the JSON types whose values a node takes without exception.

    A type that contains itself (`type JSON = … | list[JSON]`) accepts every value if it does so
    on the assumption that it does.
    """

    def takes_all(inner: Node) -> bool:
        return _whole_types(inner, definitions, around) == _EVERY_TYPE

    match node:
        case AnyNode():
            return _EVERY_TYPE
        case ScalarNode(type=name, constraints=None):
            return _NUMBERS if name == "number" else frozenset({name})
        case ArrayNode(constraints=None) if not node.unique and takes_all(node.items):
            return frozenset({"array"})
        case MapNode(constraints=None, keys=ScalarNode(type="string", constraints=None)):
            return frozenset({"object"}) if takes_all(node.values) else _NO_TYPE
        case UnionNode():
            return _NO_TYPE.union(*[_whole_types(inner, definitions, around) for inner in node.members])
        case RefNode() if node.target in around:
            return _EVERY_TYPE
        case RefNode():
            return _whole_types(definitions[node.target], definitions, around | {node.target})
        case _:
            return _NO_TYPE
