"""Encode by walking graph and instance together: the inverse of decode.

One function a kind of node. Each returns a JSON value that shares nothing with the instance, or
notes every problem that it finds and returns `INVALID`.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..introspect.nodes import (
    ANY,
    NULL,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    UnionNode,
)
from ..json_values import copy_json, fits_types, is_array, is_object
from ..wording import excerpt
from .problems import INVALID, Problems
from .scalars import SCALARS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from ..introspect.nodes import Graph, Node
    from .problems import Path

    GraphOf = Callable[[type], Graph | None]

__all__ = ["encode_node"]

_KEY = ScalarNode("string")
_PLAIN = {
    str: ScalarNode("string"),
    bool: ScalarNode("boolean"),
    int: ScalarNode("integer"),
    float: ScalarNode("number"),
    type(None): NULL,
}
_ANY_MAP = MapNode(ANY)


def encode_node(
    node: Node,
    definitions: Mapping[Hashable, Node],
    value: object,
    max_depth: int,
    graph_of: GraphOf,
) -> tuple[Any, Problems]:
    """Encode a value as what a node says.

    Args:
        node: what the value is to be.
        definitions: of the graph that the node belongs to.
        value: an instance.
        max_depth: levels of arrays and objects that are followed.
        graph_of: gives the graph of a class found where the annotation is `Any`, or None.

    Returns:
        The JSON value and no problems, or `INVALID` and at least one.
    """
    problems = Problems()
    run = _Run(definitions, max_depth, graph_of, problems)
    try:
        return run.encode(node, value, None, 1), problems
    except RecursionError as error:
        if run.raised_by_user(error):
            raise
        return problems.too_deep(None, max_depth), problems


class _Run:
    """One encode: what every function needs besides node, value, path and depth."""

    __slots__ = ("_from_user", "definitions", "graph_of", "max_depth", "problems")

    def __init__(
        self,
        definitions: Mapping[Hashable, Node],
        max_depth: int,
        graph_of: GraphOf,
        problems: Problems,
    ) -> None:
        self.definitions = definitions
        self.max_depth = max_depth
        self.graph_of = graph_of
        self.problems = problems
        self._from_user: list[RecursionError] = []

    def raised_by_user(self, error: RecursionError) -> bool:
        return any(error is known for known in self._from_user)

    def encode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        match node:
            case ScalarNode():
                return SCALARS[node.type](self.problems, node, value, path)
            case ObjectNode():
                return self._object(node, value, path, depth)
            case ArrayNode():
                return self._array(node, value, path, depth)
            case LiteralNode():
                return self._literal(node, value, path)
            case EnumNode():
                return self._enum(node, value, path)
            case LeafNode():
                return self._leaf(node, value, path)
            case MapNode():
                return self._map(node, value, path, depth)
            case UnionNode():
                return self._union(node, value, path, depth)
            case RefNode():
                return self.encode(self.definitions[node.target], value, path, depth)
            case AnyNode():
                return self._any(value, path, depth)

    def _object(self, node: ObjectNode, value: Any, path: Path, depth: int) -> Any:
        if not isinstance(value, node.type):
            return self.problems.not_an(path, node.type, value)
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        valid = True
        encoded: dict[str, Any] = {}
        for field in node.fields:
            item = getattr(value, field.name, MISSING)
            if item is MISSING:
                valid = False
                self.problems.missing(path, field)
                continue
            if item is None and field.absent_is_none:
                continue
            result = self.encode(field.node, item, (path, field.key), depth + 1)
            if result is INVALID:
                valid = False
            else:
                encoded[field.key] = result
        return encoded if valid else INVALID

    def _array(self, node: ArrayNode, value: Any, path: Path, depth: int) -> Any:
        if not is_array(value):
            return self.problems.wrong_type(path, node, value)
        return self._items(node.items, value, path, depth)

    def _items(self, inner: Node, items: Iterable[Any], path: Path, depth: int) -> Any:
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        valid = True
        encoded: list[Any] = []
        for index, item in enumerate(items):
            result = self.encode(inner, item, (path, index), depth + 1)
            if result is INVALID:
                valid = False
            else:
                encoded.append(result)
        return encoded if valid else INVALID

    def _map(self, node: MapNode, value: Any, path: Path, depth: int) -> Any:
        if not is_object(value):
            return self.problems.wrong_type(path, node, value)
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        valid = True
        encoded: dict[str, Any] = {}
        for key, item in value.items():
            name = SCALARS["string"](self.problems, _KEY, key, (path, excerpt(key)))
            result = self.encode(node.values, item, (path, key), depth + 1)
            if name is INVALID or result is INVALID:
                valid = False
            else:
                encoded[name] = result
        return encoded if valid else INVALID

    def _literal(self, node: LiteralNode, value: Any, path: Path) -> Any:
        for member, encoded in zip(node.members, node.values, strict=True):
            if member is value or (type(member) is type(value) and member == value):
                return encoded
        return self.problems.not_one_of(path, node, value)

    def _enum(self, node: EnumNode, value: Any, path: Path) -> Any:
        for member, encoded in zip(node.table.values(), node.values, strict=True):
            if member is value:
                return encoded
        return self.problems.not_one_of(path, node, value)

    def _leaf(self, node: LeafNode, value: Any, path: Path) -> Any:
        leaf = node.leaf
        if not isinstance(value, leaf.type):
            return self.problems.not_an(path, leaf.type, value)
        try:
            encoded = leaf.encode(value)
        except (ValueError, TypeError) as error:
            return self.problems.bad_format(path, node, value, error)
        except RecursionError as error:
            self._from_user.append(error)
            raise
        if fits_types(encoded, leaf.json_types):
            return copy_json(encoded)
        return self.problems.wrong_type(path, node, encoded)

    def _union(self, node: UnionNode, value: Any, path: Path, depth: int) -> Any:
        for member in node.members:
            if (value is None) == (member == NULL):
                return self.encode(member, value, path, depth)
        raise AssertionError(node)  # the walk makes no other union

    def _any(self, value: Any, path: Path, depth: int) -> Any:
        scalar = _PLAIN.get(value.__class__)
        if scalar is not None:
            return SCALARS[scalar.type](self.problems, scalar, value, path)
        if isinstance(value, (list, tuple)):
            return self._items(ANY, cast("Iterable[Any]", value), path, depth)
        if is_object(value):
            return self._map(_ANY_MAP, value, path, depth)
        graph = self.graph_of(value.__class__)
        if graph is not None:
            return self._inside(graph).encode(graph.root, value, path, depth)
        for cls in (str, int, float):
            if isinstance(value, cls):
                return SCALARS[_PLAIN[cls].type](self.problems, _PLAIN[cls], value, path)
        return self.problems.no_json_form(path, value)

    def _inside(self, graph: Graph) -> _Run:
        inner = _Run(graph.definitions, self.max_depth, self.graph_of, self.problems)
        inner._from_user = self._from_user
        return inner
