"""Which values does a type take, in a few words: `integer`, `"write" | "append"`, `array of string`?"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from ..introspect.node_kinds import received_types, shape_of, spread_members
from ..introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ..introspect.union_plans import tag_of
from ..json_values import JSON_TYPES
from ..message_text import clip, excerpt, one_line, quote
from ..schema.keywords import SIGNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..introspect.nodes import Field, Graph, Node, Target
    from ..schema.keywords import Constraints

    T = TypeVar("T")


EXPECTED_LENGTH = 160
"""The most characters of the expected value in a problem."""

_FIELD_LENGTH = 200
_LINE_LENGTH = 560
_LEAF_LENGTH = 60
_KEY_LENGTH = 100
_CHOICE_LENGTH = 100
_LEAST_ROOM = 8
_MORE_LENGTH = len("… (999999 more)")
_LISTED = 8
_LISTED_KEYS = 12
_DESCRIBED_OBJECTS = 4
_OWN_KEYS = 2


def expected(
    node: Node,
    levels: int = 1,
    room: int = EXPECTED_LENGTH,
    definitions: Mapping[Target, Node] | None = None,
) -> str:
    """Describe the values of a node in a few words: `integer`, `"write" | "append"`, `array of string`.

    Args:
        node: the node of the value.
        levels: how many levels of objects list their keys: `object {latitude: number, altitude?: number}`,
            where a key with `?` is optional.
        room: the most characters.
        definitions: the definitions of the graph; without them, recursive types are described by kind or
            name.
    """
    return _Describer(definitions or {}).describe(node, levels, room)


def fitted(
    parts: Sequence[T],
    describe: Callable[[T, int], str],
    room: int,
    separator: str = ", ",
    most: int = _LISTED,
) -> str:
    """Join the words for as many parts as fit into the room, and count the rest.

    Args:
        parts: any number of parts.
        describe: takes a part and the room for it, returns its words.
        room: the most characters; the first part may have more.
        separator: the text between two parts.
        most: the most parts, however much room there is.
    """
    shown: list[str] = []
    room -= _MORE_LENGTH if len(parts) > 1 else 0
    for part in parts[:most]:
        text = describe(part, room)
        if shown and (len(text) > room or text.endswith("…")):
            break
        shown.append(text)
        room -= len(text) + len(separator)
    rest = len(parts) - len(shown)
    return separator.join([*shown, f"… ({rest} more)"] if rest else shown)


def show_choice(value: object, _room: int = _CHOICE_LENGTH) -> str:
    """Show one of a fixed set of values as the model must write it, uncut if it isn't very long."""
    return excerpt(value, _CHOICE_LENGTH)


class _Describer:
    """Describes the nodes of one graph."""

    __slots__ = ("definitions",)

    def __init__(self, definitions: Mapping[Target, Node]) -> None:
        self.definitions = definitions

    def describe(self, node: Node, levels: int, room: int) -> str:
        return clip(self._describe(node, levels, room), room) if room >= _LEAST_ROOM else "…"

    def _describe(self, node: Node, levels: int, room: int) -> str:
        match node:
            case ScalarNode():
                return f"{node.type}{_describe_limits(node.constraints)}"
            case LeafNode() if node.leaf.json_schema.__class__ is not dict:
                from ..schema.document_reader import reading_of  # few leaves have a schema that is checked

                graph = reading_of(node.leaf).graph
                return _Describer(graph.definitions).describe(graph.root, levels, room)
            case LeafNode():
                return (
                    self._describe(shape, levels, room) if (shape := shape_of(node)) else _describe_leaf(node)
                )
            case LiteralNode() | EnumNode():
                return fitted(node.values, show_choice, room, " | ")
            case ArrayNode():
                return self._array(node, levels, room)
            case TupleNode():
                items = fitted(node.items, lambda item, left: self.describe(item, levels, left), room - 8)
                return f"array [{items}]"
            case ObjectNode():
                return f"object {self._keys(_tag_first(node), levels - 1, room - 7)}" if levels else "object"
            case RefNode():
                return self._reference(node, levels, room)
            case MapNode():
                return self._map(node, levels, room)
            case UnionNode():
                return self._union(node, levels, room)
            case _:
                types = received_types(node)
                return "any value" if len(types) == len(JSON_TYPES) else " | ".join(sorted(types))

    def _array(self, node: ArrayNode, levels: int, room: int) -> str:
        limits = _describe_limits(node.constraints)
        if isinstance(node.items, AnyNode):
            return f"array{limits}"
        opening = f"array of {'distinct ' if node.unique else ''}"
        return f"{opening}{self._grouped(node.items, levels, room - len(opening) - len(limits))}{limits}"

    def _map(self, node: MapNode, levels: int, room: int) -> str:
        limits = _describe_limits(node.constraints)
        keys = (
            "" if node.keys == ScalarNode("string") else f" keyed by {self._grouped(node.keys, 0, room // 3)}"
        )
        if isinstance(node.values, AnyNode):
            return f"object{keys}{limits}"
        left = room - len(f"object of  values{keys}{limits}")
        return f"object of {self._grouped(node.values, levels, left)} values{keys}{limits}"

    def _grouped(self, node: Node, levels: int, room: int) -> str:
        text = self.describe(node, levels, room - 2)
        return f"({text})" if " | " in text or text.startswith("object of ") else text

    def _keys(self, fields: Sequence[Field], levels: int, room: int, rest: str = "") -> str:
        def describe(field: Field, left: int) -> str:
            key = f"{_show_key(field)}{'' if field.required else '?'}: "
            return f"{key}{self.describe(field.node, levels, left - len(key))}"

        return f"{{{fitted(fields, describe, room - 2 - len(rest), most=_LISTED_KEYS)}{rest}}}"

    def _reference(self, node: RefNode, levels: int, room: int) -> str:
        meant = self.definitions.get(node.target) if levels else None
        if node.target.is_object:
            return "object" if meant is None else self._describe(meant, levels, room)
        name = one_line(node.target.name, _LEAF_LENGTH)
        if meant is None:
            return name
        return f"{name} = {self.describe(meant, levels - 1, room - len(name) - 3)}"

    # --- unions ----------------------------------------------------------------------------------

    def _union(self, node: UnionNode, levels: int, room: int) -> str:
        members = spread_members(node, self.definitions)
        shapes = [(member, shape_of(member)) for member in members]
        objects = [shape for _, shape in shapes if shape is not None]
        others = [member for member, shape in shapes if shape is None]
        if levels and len(objects) > _DESCRIBED_OBJECTS:
            scalars = fitted(
                others, lambda member, left: self.describe(member, levels, left), room // 2, " | "
            )
            left = room - len(scalars) - 3
            return " | ".join([*([scalars] if others else []), self._distinguished(objects, left)])
        share = room // len(objects) if levels and objects else room

        def describe(member: Node, left: int) -> str:
            return self.describe(member, levels, min(left, share) if isinstance(member, ObjectNode) else left)

        # Without keys all objects are one.
        return fitted([*others, *(objects if levels else objects[:1])], describe, room, " | ")

    def _distinguished(self, objects: list[ObjectNode], room: int) -> str:
        """Describe many objects by their distinguishing tags or keys."""
        tag = tag_of(objects)
        if tag is not None:
            key = _show_key(next(field for field in objects[0].fields if field.key == tag.key))
            return f"object {{{key}: {self.describe(tag.choices, 0, room - len(key) - 14)}, …}}"
        count = Counter([field.key for node in objects for field in node.fields])

        def describe(node: ObjectNode, left: int) -> str:
            own = [field for field in node.fields if field.required and count[field.key] < len(objects)]
            shown = own[:_OWN_KEYS]
            rest = ", …" if len(node.fields) > len(shown) else ""
            return f"object {self._keys(shown, 0, left - 7, rest)}"

        return fitted(objects, describe, room, " | ")


def _tag_first(node: ObjectNode) -> list[Field]:
    return sorted(node.fields, key=lambda field: not _is_tag(field.node))


def _is_tag(node: Node) -> bool:
    return isinstance(node, LiteralNode) and len(node.values) == 1


def _show_key(field: Field) -> str:
    key = field.key
    return key if key.isidentifier() and len(key) <= _KEY_LENGTH else quote(key, _KEY_LENGTH)


def _describe_limits(constraints: Constraints | None) -> str:
    if constraints is None:
        return ""
    found = {slot: getattr(constraints, slot) for slot in SIGNS}
    said = [f"{SIGNS[slot]} {_show_limit(value)}" for slot, value in found.items() if value is not None]
    return f" ({', '.join(said)})"


def _show_limit(value: Any) -> str:
    pattern = getattr(value, "pattern", None)
    return excerpt(value) if pattern is None else one_line(pattern, _LEAF_LENGTH)


def _describe_leaf(node: LeafNode) -> str:
    schema = node.leaf.json_schema
    types = " | ".join(node.leaf.json_types)
    hint = schema.get("description") or schema.get("format")
    if not isinstance(hint, str):
        return types
    return hint if types in hint else f"{types} <{one_line(hint, _LEAF_LENGTH)}>"


def expected_field(
    field: Field, definitions: Mapping[Target, Node] | None = None, room: int = EXPECTED_LENGTH
) -> str:
    """Describe the values of a field, and whether it is required: `string, required`."""
    required = ", required" if field.required else ""
    return expected(field.node, 1, room - len(required), definitions) + required


def expected_fields(name: str, graph: Graph) -> str:
    """Describe the fields or values of a type on one line.

    If there isn't room for all fields, required ones come first, the others only with their names, and the
    rest is counted.

    Returns:
        Such as `write_file expects: path (string, required), mode ("write" | "append")`.
    """
    root = graph.resolve_root()
    name = one_line(name, _KEY_LENGTH)
    room = _LINE_LENGTH - len(name)
    if not isinstance(root, ObjectNode):
        return f"{name} expects: {expected(root, 1, room, graph.definitions)}"
    if not root.fields:
        return f"{name} expects: an object without keys"
    return f"{name} expects: {_listed_fields(root.fields, graph, room)}"


def _listed_fields(fields: Sequence[Field], graph: Graph, room: int) -> str:
    def describe(field: Field) -> str:
        key = _show_key(field)
        return f"{key} ({expected_field(field, graph.definitions, min(room - len(key) - 3, _FIELD_LENGTH))})"

    texts = [describe(field) for field in fields[:_LINE_LENGTH]]
    if sum(map(len, texts)) + 2 * len(fields) <= room:
        return ", ".join(texts)
    first = [field for field in fields if field.required] or list(fields)
    others = [field for field in fields if not field.required and field not in first]
    described = [describe(field) for field in first[:_LINE_LENGTH]]
    ends = list(accumulate([len(text) + 2 for text in described]))
    shown = max(bisect_right(ends, room * 2 // 3), 1)
    line = ", ".join(described[:shown])
    also = "also required" if first[0].required else "also"
    for words, rest in ((also, first[shown:]), ("not required", others)):
        if rest:
            left = (room - len(line) - len(words) - 4) // (2 if rest is not others and others else 1)
            line += f"; {words}: {fitted(rest, _show_key_only, left, most=len(rest))}"
    return line


def _show_key_only(field: Field, _room: int) -> str:
    return _show_key(field)
