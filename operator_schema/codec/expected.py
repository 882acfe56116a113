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
_LEAF_LENGTH = 60
_NAME_LENGTH = 100


def expected(node: Node) -> str:
    """Say what a node takes, in a few words: `integer`, `"write" | "append"`, `array of string`."""
    match node:
        case ScalarNode():
            return f"{node.type}{_limits(node.constraints)}"
        case LeafNode():
            return _leaf(node)
        case LiteralNode() | EnumNode():
            return listed([excerpt(value) for value in node.values], _LISTED_CHOICES, " | ")
        case ArrayNode(items=AnyNode()):
            return "array"
        case ArrayNode():
            return f"array of {'distinct ' if node.unique else ''}{_grouped(node.items)}"
        case TupleNode():
            return f"array [{', '.join(map(expected, node.items))}]"
        case MapNode(values=AnyNode()) | ObjectNode():
            return "object"
        case RefNode():
            return "object" if node.target.is_object else clip(escape(node.target.name), _LEAF_LENGTH)
        case MapNode():
            return f"object of {_grouped(node.values)} values"
        case UnionNode():
            return " | ".join([expected(member) for member in node.members])
        case AnyNode():  # pragma: no branch  # the type checker knows that it is the last
            return "any value"


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


def _grouped(node: Node) -> str:
    text = expected(node)
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
    return f"{expected(field.node)}, required" if field.required else expected(field.node)


def expected_fields(name: str, graph: Graph) -> str:
    """Say on one line what a type takes.

    Args:
        name: of the type, or of the tool.
        graph: of the type.

    Returns:
        Such as `write_file expects: path (string, required), mode ("write" | "append")`.
    """
    root = graph.resolve_root()
    name = clip(escape(name), _NAME_LENGTH)
    if not isinstance(root, ObjectNode):
        return f"{name} expects: {expected(root)}"
    fields = [f"{show_path((field.key,))} ({expected_field(field)})" for field in root.fields]
    return f"{name} expects: {', '.join(fields) or 'an object without keys'}"
