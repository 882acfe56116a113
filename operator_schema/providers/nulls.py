"""Nulls of a strict mode that stand for omitted values, and arguments without them."""

from __future__ import annotations

import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..codec.encode import encode_node
from ..codec.interpret import interpret
from ..codec.problems import INVALID
from ..introspect.node_kinds import flat_members, json_types_of, parts_of, received_types
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import MAX_DEPTH, is_array, is_object, type_of
from .response_json import parsed_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Graph, Node, Target
    from ..tools import RawCall, Tool
    from .answer import Answer


def answer_without_nulls(answer: Answer, tools: Mapping[str, Tool[..., Any]]) -> Answer:
    """Return an answer without the nulls that strict modes send for omitted arguments."""
    return answer.replace(calls=tuple([_call_without_nulls(call, tools) for call in answer.calls]))


def _call_without_nulls(call: RawCall, tools: Mapping[str, Tool[..., Any]]) -> RawCall:
    arguments = parsed_arguments(call)
    if not is_object(arguments) or call.name not in tools:
        return call
    return call.replace(arguments=without_nulls(tools[call.name].codec.graph, arguments))


def without_nulls(graph: Graph, arguments: Any) -> Any:
    """Return arguments without the keys whose null stands for an omitted value.

    Args:
        graph: the graph of the input.
        arguments: JSON values; they aren't changed.

    Returns:
        A copy of the parts in which keys are removed. Null stays if a field accepts it as a value.
    """
    return _Cleaner(graph).clean(graph.root, arguments, MAX_DEPTH)


class _Cleaner:
    """Removes nulls from a value, following the nodes of its type."""

    __slots__ = ("_definitions", "_done", "_graph")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._definitions: Mapping[Target, Node] = graph.definitions
        # The arguments and the graph live longer, so an id identifies one object. Without this, nested unions
        # would clean a value once for each path to it.
        self._done: dict[tuple[int, int, int], Any] = {}

    def clean(self, node: Node, value: Any, depth: int) -> Any:
        """Return a value without the nulls that stand for omitted values."""
        if depth == 0 or not (is_object(value) or is_array(value)):
            return value  # decoding will report that the value nests too deeply
        resolved = self._graph.resolve(node)
        key = id(resolved), id(value), depth
        if key not in self._done:
            self._done[key] = self._clean_parts(resolved, value, depth)
        return self._done[key]

    def _clean_parts(self, node: Node, value: Any, depth: int) -> Any:
        if isinstance(node, UnionNode):
            return self._union(node, value, depth)
        if isinstance(node, ObjectNode):
            return self._object(node, value, depth) if is_object(value) else value
        # For all other kinds, the traits know the nodes inside, which is enough.
        inside = [inner for _, inner in parts_of(node)]
        if type_of(value) not in received_types(node):
            return value  # decoding will report the error
        if is_object(value) and inside:
            return {key: self.clean(inside[-1], each, depth - 1) for key, each in value.items()}
        if is_array(value) and len(inside) in {1, len(value)}:
            nodes = inside * len(value) if len(inside) == 1 else inside
            return [self.clean(one, each, depth - 1) for one, each in zip(nodes, value, strict=True)]
        return value

    def _object(self, node: ObjectNode, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        kept = dict(value)
        for field in node.fields:
            if field.key not in kept:
                continue
            given = kept[field.key]
            if given is not None:
                kept[field.key] = self.clean(field.node, given, depth - 1)
            elif not field.required and "null" not in json_types_of(field.node, self._definitions):
                del kept[field.key]
        return kept

    def _union(self, node: UnionNode, value: Any, depth: int) -> Any:
        """Return a value as cleaned by the member of the union that accepts it.

        If none accepts it, the value is cleaned by the most similar member: the remaining errors are then
        those of the model, and not the nulls that the strict mode required.
        """
        attempts: list[tuple[int, int, Any]] = []
        members = [
            (self._strange_keys(member, value), member) for member in flat_members(node, self._definitions)
        ]
        for strange, member in sorted(members, key=itemgetter(0)):
            found = self.clean(member, value, depth)
            instance, problems = interpret(self._graph.replace(root=member), found, depth)
            if instance is not INVALID:
                return self._distinct(node, member, found, instance, depth)
            attempts.append((strange, len(problems.found), found))
        return min(attempts, key=itemgetter(0, 1))[2]

    def _distinct(self, node: UnionNode, member: Node, found: Any, instance: object, depth: int) -> Any:
        """Return a value that the whole union reads as this member, too.

        If only omitted keys distinguish it from another member, the defaults of this member are written out.
        """
        whole = self._graph.replace(root=node)
        if type(interpret(whole, found, depth)[0]) is type(instance):
            return found
        written, _ = encode_node(member, self._definitions, instance, depth, _no_graph)
        return written if type(interpret(whole, written, depth)[0]) is type(instance) else found

    def _strange_keys(self, member: Node, value: Any) -> int:
        """Count the keys that only the member or the value has; a strict mode sends all keys of a member."""
        found = self._graph.resolve(member)
        if isinstance(found, ObjectNode) and is_object(value):
            return len({field.key for field in found.fields} ^ value.keys())
        return sys.maxsize


def _no_graph(_class: type[object]) -> None:
    """Return no graph for a class: only a value of any type would need one, which no strict mode accepts."""
