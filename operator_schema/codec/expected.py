"""The node graph told in a few words, for messages: what would have been right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from ..wording import clip, escape, excerpt, listed, show_path

if TYPE_CHECKING:
    from ..introspect.graph import Graph
    from ..introspect.nodes import Constraints, Field, Node

__all__ = ["expected", "expected_field", "expected_fields"]

_LISTED_CHOICES = 8
_LISTED_KEYS = 12
_FIELD_LENGTH = 200
_LINE_LENGTH = 560
_LEAF_LENGTH = 60
_NAME_LENGTH = 100


def expected(node: Node, levels: int = 1) -> str:
    """Say what a node takes, in a few words: `integer`, `"write" | "append"`, `array of string`.

    Args:
        node: of the value.
        levels: of objects whose keys are said: `object {latitude: number, altitude?: number}`, where
            a key with `?` need not be there.
    """
    match node:
        case ScalarNode():
            return f"{node.type}{_limits(node.constraints)}"
        case LeafNode():
            return _leaf(node)
        case LiteralNode() | EnumNode():
            return listed([excerpt(value) for value in node.values], _LISTED_CHOICES, " | ")
        case ArrayNode():
            return f"array{_items(node, levels)}{_limits(node.constraints)}"
        case TupleNode():
            return f"array [{', '.join([expected(item, levels) for item in node.items])}]"
        case ObjectNode():
            return f"object {_keys(node, levels - 1)}" if levels and node.fields else "object"
        case RefNode():
            return "object" if node.target.is_object else clip(escape(node.target.name), _LEAF_LENGTH)
        case MapNode():
            return f"object{_values(node, levels)}{_limits(node.constraints)}"
        case UnionNode():
            return " | ".join([expected(member, levels) for member in node.members])
        case AnyNode():  # pragma: no branch  # the type checker knows that it is the last
            return "any value"


def _items(node: ArrayNode, levels: int) -> str:
    if isinstance(node.items, AnyNode):
        return ""
    return f" of {'distinct ' if node.unique else ''}{_grouped(node.items, levels)}"


def _values(node: MapNode, levels: int) -> str:
    return "" if isinstance(node.values, AnyNode) else f" of {_grouped(node.values, levels)} values"


def _keys(node: ObjectNode, levels: int) -> str:
    shown = [
        f"{_show_key(field)}{'' if field.required else '?'}: {expected(field.node, levels)}"
        for field in node.fields[:_LISTED_KEYS]
    ]
    rest = len(node.fields) - len(shown)
    return f"{{{', '.join(shown)}{f', … ({rest} more)' if rest else ''}}}"


def _show_key(field: Field) -> str:
    return show_path((field.key,))


def _limits(constraints: Constraints | None) -> str:
    if constraints is None:
        return ""
    found = {slot: getattr(constraints, slot) for slot in _LIMITS}
    said = [f"{_LIMITS[slot]} {_show(value)}" for slot, value in found.items() if value is not None]
    return f" ({', '.join(said)})"


def _show(value: Any) -> str:
    text: str = getattr(value, "pattern", None) or str(value)
    return clip(escape(text), _LEAF_LENGTH)


_LIMITS = {
    "minimum": "≥",
    "exclusive_minimum": ">",
    "maximum": "≤",
    "exclusive_maximum": "<",
    "multiple_of": "multiple of",
    "min_length": "length ≥",
    "max_length": "length ≤",
    "pattern": "matching",
}


def _grouped(node: Node, levels: int) -> str:
    text = expected(node, levels)
    return f"({text})" if " | " in text else text


def _leaf(node: LeafNode) -> str:
    schema = node.leaf.json_schema
    types = " | ".join(node.leaf.json_types)
    hint = schema.get("description") or schema.get("format")
    if not isinstance(hint, str):
        return types
    return hint if types in hint else f"{types}: {clip(escape(hint), _LEAF_LENGTH)}"


def expected_field(field: Field) -> str:
    """Say what a field takes and whether it is required: `string, required`."""
    what = clip(expected(field.node), _FIELD_LENGTH)
    return f"{what}, required" if field.required else what


def expected_fields(name: str, graph: Graph) -> str:
    """Say on one line what a type takes; fields that have no room are counted.

    Args:
        name: of the type, or of the tool.
        graph: of the type.

    Returns:
        Such as `write_file expects: path (string, required), mode ("write" | "append")`.
    """
    root = graph.resolve_root()
    name = clip(escape(name), _NAME_LENGTH)
    if not isinstance(root, ObjectNode):
        return f"{name} expects: {clip(expected(root), _LINE_LENGTH)}"
    if not root.fields:
        return f"{name} expects: an object without keys"
    fields = [f"{_show_key(field)} ({expected_field(field)})" for field in root.fields]
    room, shown = _LINE_LENGTH - len(name), 0
    while shown < len(fields) and room >= len(fields[shown]):
        room -= len(fields[shown]) + 2
        shown += 1
    return f"{name} expects: {listed(fields, max(shown, 1))}"
