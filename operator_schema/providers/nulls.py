"""Null in place of what was left out: what strict modes make of properties that aren't required."""

from __future__ import annotations

import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..codec.encode import encode_node
from ..codec.interpret import interpret
from ..codec.limits import MAX_DEPTH
from ..codec.problems import INVALID
from ..introspect.node_kinds import flat_members, json_types_of, parts_of, received_types
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import is_array, is_object, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Graph, Node, Target

__all__ = ["without_nulls"]


def without_nulls(graph: Graph, arguments: Any) -> Any:
    """Return arguments without the keys whose null means that they were left out.

    Args:
        graph: of the input.
        arguments: JSON values; they aren't changed.

    Returns:
        A copy as far as something is left out. Null stays where it is one of the values of a field.
    """
    return _Cleaner(graph).cleaned(graph.root, arguments, MAX_DEPTH)


class _Cleaner:
    """Leaves out nulls, node by node.

    Args:
        graph: of the input.
    """

    __slots__ = ("_definitions", "_done", "_graph")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._definitions: Mapping[Target, Node] = graph.definitions
        # The arguments and the graph live longer, so an identity stays that of one object. Unions inside of
        # each other would otherwise clean a value once for each way to it.
        self._done: dict[tuple[int, int, int], Any] = {}

    def cleaned(self, node: Node, value: Any, depth: int) -> Any:
        """Return a value of a node without what was left out."""
        if depth == 0 or not (is_object(value) or is_array(value)):
            return value  # decoding says that it nests too deep
        resolved = self._graph.resolve(node)
        key = id(resolved), id(value), depth
        if key not in self._done:
            self._done[key] = self._cleaned(resolved, value, depth)
        return self._done[key]

    def _cleaned(self, node: Node, value: Any, depth: int) -> Any:
        if isinstance(node, UnionNode):
            return self._union(node, value, depth)
        if isinstance(node, ObjectNode):
            return self._object(node, value, depth) if is_object(value) else value
        # Of any other kind what is inside is enough, which the traits know.
        inside = [inner for _, inner in parts_of(node)]
        if type_of(value) not in received_types(node):
            return value  # decoding says so
        if is_object(value) and inside:
            return {key: self.cleaned(inside[-1], each, depth - 1) for key, each in value.items()}
        if is_array(value) and len(inside) in {1, len(value)}:
            nodes = inside * len(value) if len(inside) == 1 else inside
            return [self.cleaned(one, each, depth - 1) for one, each in zip(nodes, value, strict=True)]
        return value

    def _object(self, node: ObjectNode, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        kept = dict(value)
        for field in node.fields:
            if field.key not in kept:
                continue
            given = kept[field.key]
            if given is not None:
                kept[field.key] = self.cleaned(field.node, given, depth - 1)
            elif not field.required and "null" not in json_types_of(field.node, self._definitions):
                del kept[field.key]
        return kept

    def _union(self, node: UnionNode, value: Any, depth: int) -> Any:
        """Return what the member that takes a value makes of it.

        Where none does, that is the member which the value is most like: what is wrong with it then is
        what the model wrote, and not the null that the strict mode asked for.
        """
        attempts: list[tuple[int, int, Any]] = []
        members = [
            (self._strange_keys(member, value), member) for member in flat_members(node, self._definitions)
        ]
        for strange, member in sorted(members, key=itemgetter(0)):
            found = self.cleaned(member, value, depth)
            instance, problems = interpret(self._graph.replace(root=member), found, depth)
            if instance is not INVALID:
                return self._distinct(node, member, found, instance, depth)
            attempts.append((strange, len(problems.found), found))
        return min(attempts, key=itemgetter(0, 1))[2]

    def _distinct(self, node: UnionNode, member: Node, found: Any, instance: object, depth: int) -> Any:
        """Return what the union reads as this member, too.

        Where only the keys that were left out distinguish it from another member, its defaults are
        written out.
        """
        whole = self._graph.replace(root=node)
        if type(interpret(whole, found, depth)[0]) is type(instance):
            return found
        written, _ = encode_node(member, self._definitions, instance, depth, _no_graph)
        return written if type(interpret(whole, written, depth)[0]) is type(instance) else found

    def _strange_keys(self, member: Node, value: Any) -> int:
        """Count the keys that only one of a member and a value has; a strict mode sends all keys of one."""
        found = self._graph.resolve(member)
        if isinstance(found, ObjectNode) and is_object(value):
            return len({field.key for field in found.fields} ^ value.keys())
        return sys.maxsize


def _no_graph(_class: type[object]) -> None:
    """Return the graph of a class in a value of any type, which no strict mode takes."""
