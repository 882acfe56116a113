"""Rename properties for providers and back; remove nulls that stand for omitted values."""

from __future__ import annotations

import re
import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..codec.encode import encode_node
from ..codec.interpret import interpret
from ..codec.problems import INVALID
from ..introspect.node_kinds import flat_members, json_types_of, parts_of, received_types
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import MAX_DEPTH, is_array, is_object, to_json_text, type_of
from ..schema.references import rebuilt, unescaped, written_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..introspect.nodes import Graph, Node, Target


_LISTS = frozenset({"required", "propertyOrdering"})
_BY_NAME = frozenset({"properties", "dependentRequired", "dependentSchemas"})


def property_names(schema: Mapping[str, Any]) -> list[str]:
    """List the names of all properties in a schema, each once, in their order."""
    return list(dict.fromkeys(_names(schema)))


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    inside: list[Mapping[str, Any]] = []

    def note(inner: dict[str, Any]) -> dict[str, Any]:
        inside.append(inner)
        return inner

    rebuilt(schema, note)
    if is_object(schema.get("properties")):
        yield from schema["properties"]
    for inner in inside:
        yield from _names(inner)


def schema_with_keys(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of a schema with other names of properties, wherever the schema mentions them.

    Args:
        schema: a schema in any dialect.
        names: the new names of properties by their present names.
    """
    copy = rebuilt(schema, lambda inner: schema_with_keys(inner, names))
    for keyword, value in copy.items():
        if keyword in _LISTS and is_array(value):
            copy[keyword] = _replaced(value, names)
        elif keyword in _BY_NAME and is_object(value):
            copy[keyword] = {names.get(key, key): _replaced(inner, names) for key, inner in value.items()}
    reference = copy.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        copy["$ref"] = _pointer_with_keys(reference, names)
    about: Any = copy.get("discriminator")
    if is_object(about) and isinstance(about.get("propertyName"), str):
        copy["discriminator"] = {
            **about,
            "propertyName": names.get(about["propertyName"], about["propertyName"]),
        }
    return copy


def _replaced(found: Any, names: Mapping[str, str]) -> Any:
    if not is_array(found):
        return found
    return [names.get(name, name) if isinstance(name, str) else name for name in found]


def _pointer_with_keys(reference: str, names: Mapping[str, str]) -> str:
    """Return a JSON pointer in a fragment (RFC 6901, section 6) with the new names."""
    steps = reference.split("/")
    for place in range(1, len(steps) - 1):
        own = unescaped(unquote(steps[place + 1]))
        if steps[place] == "properties" and own in names:
            steps[place + 1] = written_step(names[own])
    return "/".join(steps)


def value_with_keys(value: Any, names: Mapping[str, str], levels: int = 1000) -> Any:
    """Return arguments with other names of keys, at every depth.

    Args:
        value: a JSON value; it isn't changed.
        names: the new names of keys. A key stays if its new name exists already.
        levels: how many levels of arrays and objects are searched.
    """
    if levels == 0:
        return value
    if is_array(value):
        return [value_with_keys(item, names, levels - 1) for item in value]
    if not is_object(value):
        return value
    return {
        names[key] if key in names and names[key] not in value else key: value_with_keys(
            inner, names, levels - 1
        )
        for key, inner in value.items()
    }


def text_with_keys(text: str, names: Mapping[str, str]) -> str:
    """Return JSON text, which may lack its end, with other names of keys.

    Args:
        text: the text of arguments.
        names: the new names of keys; a text in quotes before a colon is always a key.
    """
    if not names:
        return text
    keys = KeysInText(names)
    return keys.feed(text) + keys.held


class KeysInText:
    """JSON text that arrives in pieces, and whose keys get other names.

    Each piece is read once, and the result doesn't depend on where the text was cut.

    Args:
        names: the new names of keys. The keys need no escapes in JSON.
    """

    __slots__ = ("_in_value", "_names", "_starts", "held")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._starts = frozenset(name[:end] for name in names for end in range(len(name) + 1))
        self._in_value = False  # whether the text ends inside a string that isn't a key
        self.held = ""  # the text that might become one of the keys

    def feed(self, piece: str) -> str:
        """Return the text that can't change any more."""
        text, self.held = self.held + piece, ""
        made: list[str] = []
        at = 0
        while at < len(text):
            step = self._rest_of_value(text, at) if self._in_value else self._up_to_value(text, at)
            if step is None:
                self.held = text[at:]
                break
            at, certain = step
            made.append(certain)
        return "".join(made)

    def _rest_of_value(self, text: str, at: int) -> tuple[int, str] | None:
        """Return the end and the text of a string that began before; None if an escape isn't complete."""
        end = _past(_IN_STRING, text, at)
        if end < len(text) and text[end] == '"':
            self._in_value = False
            end += 1
        return None if end == at else (end, text[at:end])

    def _up_to_value(self, text: str, at: int) -> tuple[int, str] | None:
        """Return where the next string begins, or where this key ends; None if that is still open."""
        if text[at] != '"':
            end = _past(_NO_STRING, text, at)
            return end, text[at:end]
        if text[at + 1 :] in self._starts:
            return None
        for name, new in self._names.items():
            if text.startswith(f'{name}"', at + 1):
                return self._key(text, at, at + len(name) + 2, new)
        self._in_value = True
        return at + 1, '"'

    def _key(self, text: str, at: int, end: int, new: str) -> tuple[int, str] | None:
        colon = _past(_SPACE, text, end)
        if colon == len(text) and colon - end < _MOST_SPACE:
            return None
        return end, to_json_text(new) if text[colon : colon + 1] == ":" else text[at:end]


_MOST_SPACE = 100
"""The most characters between a key and its colon; if there are more, the text isn't a key."""

_SPACE = re.compile(rf"\s{{0,{_MOST_SPACE}}}")
_NO_STRING = re.compile(r'[^"]+')
_IN_STRING = re.compile(r'(?:[^"\\]+|\\.)*', re.DOTALL)


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of a pattern ends; `at` if nothing matches there."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def without_nulls(graph: Graph, arguments: Any) -> Any:
    """Return arguments without the keys whose null stands for an omitted value.

    Args:
        graph: the graph of the input.
        arguments: JSON values; they aren't changed.

    Returns:
        A copy of the parts in which keys are removed. Null stays if a field accepts it as a value.
    """
    return _Cleaner(graph).cleaned(graph.root, arguments, MAX_DEPTH)


class _Cleaner:
    """Removes nulls from a value, following the nodes of its type.

    Args:
        graph: the graph of the input.
    """

    __slots__ = ("_definitions", "_done", "_graph")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._definitions: Mapping[Target, Node] = graph.definitions
        # The arguments and the graph live longer, so an id identifies one object. Without this, nested unions
        # would clean a value once for each path to it.
        self._done: dict[tuple[int, int, int], Any] = {}

    def cleaned(self, node: Node, value: Any, depth: int) -> Any:
        """Return a value without the nulls that stand for omitted values."""
        if depth == 0 or not (is_object(value) or is_array(value)):
            return value  # decoding will report that the value nests too deeply
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
        # For all other kinds, the traits know the nodes inside, which is enough.
        inside = [inner for _, inner in parts_of(node)]
        if type_of(value) not in received_types(node):
            return value  # decoding will report the error
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
        """Return a value as cleaned by the member of the union that accepts it.

        If none accepts it, the value is cleaned by the most similar member: the remaining errors are then
        those of the model, and not the nulls that the strict mode required.
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
    """Return the graph of a class inside a value of any type, which no strict mode accepts."""
