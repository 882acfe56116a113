"""Hypothesis strategies for the values of a type, for property tests of your tools."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "operator_schema.testing needs Hypothesis: pip install 'operator-schema[testing]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from ..codec.codec import Codec
from ..codec.example import NO_EXAMPLE, example_of
from ..codec.interpret import interpret
from ..errors import DecodeError
from ..introspect.node_kinds import json_types_of, visit
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
from ..json_values import JSON_TYPES, MAX_DEPTH, choice_key, is_array, is_object
from ..schema.document import DocumentCodec, SchemaDocument
from ..tools.raw_arguments import RawArguments
from ..tools.tool import Tool
from .scalar_values import (
    JSON_SCALARS,
    JSON_VALUES,
    OF_TYPE,
    identity,
    leaf_values,
    length_limits,
    scalars,
    scalars_just_refused,
    texts,
    with_floats,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Unpack

    from hypothesis.strategies import SearchStrategy

    from ..codec.options import CodecOptions
    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Node, Target
    from ..schema.keywords import Constraints


_MORE = 3
"""How many items and entries are generated beyond the required number; one fewer behind each reference."""

_DEEPER = 2
"""How many levels of references are generated beyond those that the smallest value of any definition
needs."""


class ValidValues:
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
        """Return the least and the greatest number of items or entries to generate from some parts."""
        least, most = length_limits(constraints)
        if any(part.is_empty for part in parts):
            return least, 0
        return least, least + max(0, _MORE - self.levels + levels) if most is None else most

    def root(self) -> SearchStrategy[Any]:
        """Generate the values of the type itself."""
        return self.of(self._graph.root, self.levels)

    def of(self, node: Node, levels: int) -> SearchStrategy[Any]:
        """Generate the values of a node, with up to `levels` levels of references in them."""
        key = (id(node), levels)
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._make(node, levels)
        return known

    def takes(self, node: Node) -> Callable[[object], bool]:
        """Return a function that tests whether a node decodes a JSON value."""
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
        example = example_of(Graph(node, self._graph.definitions))
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


T = TypeVar("T")


def arguments(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that decode, as a model would send them.

    Optional keys are present or not, null is used where it is accepted, integers come as `3` and as
    `3.0`, and there are unknown keys if they are ignored.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: type of your own leaf to a strategy of JSON values that it decodes; without it, only the
            leaf's placeholder is used.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: no JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    values = ValidValues(codec.graph, json_values or {}).root()
    if values.is_empty:
        message = f"no JSON value decodes as {codec.name}: its constraints leave none, or it never ends"
        raise ValueError(message)
    return values.filter(lambda value: not codec.report(value))


@overload
def instances(
    annotation: Tool[..., Any],
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
) -> SearchStrategy[Any]: ...
@overload
def instances(
    annotation: type[T] | Codec[T],
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[T]: ...
@overload
def instances(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]: ...
def instances(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate instances, decoded from `arguments` of the same type.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of instances of the type.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: no JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    decode = annotation.decode if isinstance(annotation, Tool) else codec.decode
    return arguments(codec, json_values=json_values).map(decode)


def near_misses(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that do not decode, most of them by one small mistake.

    The mistake may be a missing, misspelt or refused unknown key, another JSON type, a number just out of
    range, a string or array just too short or too long, a misspelt choice, or a null that is refused.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: every JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    misses = NearMisses(codec.graph, ValidValues(codec.graph, json_values or {})).root()
    if misses.is_empty:
        message = f"every JSON value decodes as {codec.name}, so there are no near misses"
        raise ValueError(message)
    if isinstance(annotation, Tool):
        misses = misses.filter(partial(_is_refused_by, annotation))
    return misses.filter(lambda value: bool(codec.report(value)))


def _is_refused_by(tool: Tool[..., Any], value: object) -> bool:
    """Return whether a tool refuses arguments; a text is tried as JSON too."""
    try:
        tool.decode(value)
    except DecodeError:
        return True
    return False


def _codec_of(annotation: Any, options: CodecOptions) -> Codec[Any]:
    codec = annotation.codec if isinstance(annotation, Tool) else _as_codec(annotation)
    if codec is None:
        return Codec(annotation, **options)
    if options:
        owner = "tool" if isinstance(annotation, Tool) else "Codec"
        message = f"give options to the {owner} itself: {', '.join(options)}"
        raise TypeError(message)
    return codec


def _as_codec(annotation: Any) -> Codec[Any] | None:
    return annotation if isinstance(annotation, Codec) else None  # pyright: ignore[reportUnknownVariableType]  # of whatever type


_SMALL = st.sampled_from([True, True, True, True, True, False])
"""How many of six near misses have a small mistake; one has another JSON type."""


@st.composite
def _one_of_both(
    draw: st.DrawFn,
    near: SearchStrategy[Any],
    other: SearchStrategy[Any],
    refuses: Callable[[object], bool],
) -> Any:
    """Generate a near miss; if it isn't one after all, generate another value."""
    if draw(_SMALL):
        value = draw(near)
        if refuses(value):
            return value
    return draw(other)


class NearMisses:
    """The JSON values that each node of a graph nearly accepts.

    Args:
        graph: the graph of a registered type.
        valid: the valid values of its nodes.
    """

    def __init__(self, graph: Graph, valid: ValidValues) -> None:
        self._graph = graph
        self._valid = valid
        self._made: dict[tuple[int, int], SearchStrategy[Any]] = {}

    def root(self) -> SearchStrategy[Any]:
        """Generate values that the type itself refuses; none if it accepts every value."""
        return self.of(self._graph.root, self._valid.levels)

    def of(self, node: Node, levels: int) -> SearchStrategy[Any]:
        """Generate values that a node refuses, with up to `levels` levels of references in them."""
        key = (id(node), levels)
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._make(node, levels)
        return known

    def _make(self, node: Node, levels: int) -> SearchStrategy[Any]:
        if _whole_types(node, self._graph.definitions) == _EVERY_TYPE:
            return st.nothing()
        refuses = self.refuses(node)
        near, other = self._near(node, levels), self._of_another_type(node, levels)
        if other.is_empty:
            return near.filter(refuses)
        if near.is_empty:
            return other
        return _one_of_both(near, other, refuses)

    def refuses(self, node: Node) -> Callable[[object], bool]:
        """Return a function that tests whether a node refuses a JSON value."""
        takes = self._valid.takes(node)
        return lambda value: not takes(value)

    def _of_another_type(self, node: Node, levels: int) -> SearchStrategy[Any]:
        types = json_types_of(node, self._graph.definitions)
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
                inner = self._graph.definitions[node.target]
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
    """Return the JSON types of which a node takes every value.

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
