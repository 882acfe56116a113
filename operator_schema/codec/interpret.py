"""Decode by walking graph and value together: what defines the meaning, and makes the reports.

One function a kind of node. Each returns the decoded value, or notes every problem that it finds
and returns `INVALID`. The value that came in is never changed and, but for what is annotated
`Any`, no part of it is shared with the result.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..introspect.nodes import (
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
    choice_key,
)
from ..json_values import fits_types, is_array, is_object
from ..wording import excerpt
from .problems import INVALID, Problems
from .scalars import SCALARS

if TYPE_CHECKING:
    from ..introspect.nodes import Graph, Node
    from .problems import Path

__all__ = ["interpret"]


def interpret(graph: Graph, value: object, max_depth: int) -> tuple[Any, Problems]:
    """Decode a JSON value.

    Args:
        graph: of the type.
        value: made of dict, list, str, int, float, bool and None, or subclasses of them.
        max_depth: levels of arrays and objects that are followed.

    Returns:
        The instance and no problems, or `INVALID` and at least one.
    """
    run = _Run(graph, max_depth)
    try:
        decoded = run.decode(graph.root, value, None, 1)
    except RecursionError as error:
        if error is run.raised_by_user:
            raise
        return run.problems.too_deep(None, max_depth), run.problems
    return decoded, run.problems


class _Run:
    """One decode: what every function needs besides node, value, path and depth."""

    __slots__ = ("definitions", "max_depth", "problems", "raised_by_user")

    def __init__(self, graph: Graph, max_depth: int) -> None:
        self.definitions = graph.definitions
        self.max_depth = max_depth
        self.problems = Problems()
        self.raised_by_user: RecursionError | None = None

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        match node:
            case ScalarNode():
                return SCALARS[node.type](self.problems, node, value, path)
            case ObjectNode():
                return self._object(node, value, path, depth)
            case ArrayNode():
                return self._array(node, value, path, depth)
            case LiteralNode() | EnumNode():
                return self._choice(node, value, path)
            case LeafNode():
                return self._leaf(node, value, path)
            case MapNode():
                return self._map(node, value, path, depth)
            case UnionNode():
                return self._union(node, value, path, depth)
            case RefNode():
                return self.decode(self.definitions[node.target], value, path, depth)
            case AnyNode():
                return value

    def _object(self, node: ObjectNode, value: Any, path: Path, depth: int) -> Any:
        if not is_object(value):
            return self.problems.wrong_type(path, node, value)
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        known = 0
        valid = True
        arguments: dict[str, Any] = {}
        for field in node.fields:
            item = value.get(field.key, MISSING)
            if item is MISSING:
                if field.required:
                    valid = False
                    self.problems.missing(path, field)
                elif field.absent_is_none and field.default is MISSING:
                    arguments[field.name] = None
                continue
            known += 1
            if item is None and field.absent_is_none:
                arguments[field.name] = None
                continue
            decoded = self.decode(field.node, item, (path, field.key), depth + 1)
            if decoded is INVALID:
                valid = False
            else:
                arguments[field.name] = decoded
        if node.closed and known < len(value):
            valid = False
            self._note_unknown(node, value, path)
        return self._build(node, arguments, path) if valid else INVALID

    def _note_unknown(self, node: ObjectNode, value: dict[Any, Any], path: Path) -> None:
        keys = {field.key for field in node.fields}
        for key in value:
            if key not in keys:
                self.problems.unknown(path, key, node)

    def _build(self, node: ObjectNode, arguments: dict[str, Any], path: Path) -> Any:
        try:
            return node.type(**arguments)
        except (ValueError, TypeError) as error:
            return self.problems.rejected(path, node.type.__name__, error)
        except RecursionError as error:
            self.raised_by_user = error
            raise

    def _array(self, node: ArrayNode, value: Any, path: Path, depth: int) -> Any:
        if not is_array(value):
            return self.problems.wrong_type(path, node, value)
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        decode, inner = self.decode, node.items
        valid = True
        decoded: list[Any] = []
        for index, item in enumerate(value):
            result = decode(inner, item, (path, index), depth + 1)
            if result is INVALID:
                valid = False
            else:
                decoded.append(result)
        return decoded if valid else INVALID

    def _map(self, node: MapNode, value: Any, path: Path, depth: int) -> Any:
        if not is_object(value):
            return self.problems.wrong_type(path, node, value)
        if depth > self.max_depth:
            return self.problems.too_deep(path, self.max_depth)
        decode, inner = self.decode, node.values
        valid = True
        decoded: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                valid = False
                self.problems.wrong_type((path, excerpt(key)), _KEY, key)
                continue
            result = decode(inner, item, (path, key), depth + 1)
            if result is INVALID:
                valid = False
            else:
                decoded[key] = result
        return decoded if valid else INVALID

    def _choice(self, node: LiteralNode | EnumNode, value: Any, path: Path) -> Any:
        if value is None or isinstance(value, (str, int, float)):
            member = node.table.get(choice_key(value), INVALID)
            if member is not INVALID:
                return member
        return self.problems.not_one_of(path, node, value)

    def _leaf(self, node: LeafNode, value: Any, path: Path) -> Any:
        leaf = node.leaf
        if not fits_types(value, leaf.json_types):
            return self.problems.wrong_type(path, node, value)
        try:
            return leaf.decode(value)
        except (ValueError, TypeError) as error:
            return self.problems.bad_format(path, node, value, error)
        except RecursionError as error:
            self.raised_by_user = error
            raise

    def _union(self, node: UnionNode, value: Any, path: Path, depth: int) -> Any:
        for member in node.members:
            if (value is None) == (member == NULL):
                return self.decode(member, value, path, depth)
        raise AssertionError(node)  # the walk makes no other union


_KEY = ScalarNode("string")
