"""Parameters in a neutral form: an ordered list, nothing referred to, nothing left to be inferred."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, cast

from ..codec.codec import Codec, codec_of
from ..codec.encode import encode_node
from ..codec.limits import MAX_DEPTH
from ..errors import Complaint, SchemaError
from ..introspect.docstrings import split_summary
from ..introspect.names import name_of
from ..introspect.nodes import (
    NULL,
    LeafNode,
    ObjectNode,
    RefNode,
    UnionNode,
)
from ..introspect.schema_references import with_references_resolved
from ..introspect.traits import flat_members
from ..json_values import copy_json
from ..schema import Renderer
from ..wording import quote
from .tool import Tool, not_a_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..introspect.graph import Graph
    from ..introspect.nodes import Field, Node, Target

__all__ = ["MAX_EXPANDED", "has_parameters", "parameters_of", "schema_response", "tools_of"]

MAX_EXPANDED = 10_000
"""Objects that are written out; past them an object stands without its properties."""


def parameters_of(annotation: Any, /) -> list[tuple[str, dict[str, Any]]]:
    """List the parameters of a type or tool.

    Args:
        annotation: a tool, a codec, a dataclass, or any other type with fields.

    Returns:
        Name and parameter, in the order of declaration. A parameter is a fresh dict: `type`, then
        `required`, which is stated in every case, then what there is of `summary`, `description`,
        `default`, `examples`, `enum`, `items`, `properties` and the rest of its JSON Schema. Every
        `$ref` is resolved; where a recursive type comes round, its properties are left out. Raw
        arguments that nobody describes have no parameters.

    Raises:
        SchemaError: with every complaint about the type; also for one that has no list of
            parameters, such as a union.
    """
    name = annotation.name if isinstance(annotation, Tool) else None
    if isinstance(annotation, Tool):
        annotation = annotation.codec
    codec: Any = annotation if isinstance(annotation, Codec) else codec_of(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    root = _without_null(codec.graph)
    if isinstance(root, LeafNode) and root.leaf.json_schema == _OPEN:
        return []
    if not isinstance(root, ObjectNode):
        shown = name_of(codec.type)
        message = f"{shown} has no list of parameters: it is no type with fields"
        remedy = "Give a dataclass; input_schema and json_schema tell the schema of any other type"
        raise SchemaError(name or shown, [Complaint((), "unsupported", name or shown, message, remedy)])
    return list(_Parameters(codec.graph.definitions).properties(root).items())


_OPEN: dict[str, Any] = {"type": "object", "properties": {}}
"""What raw arguments are that nobody describes."""


def _without_null(graph: Graph) -> Node:
    """Return what stands at the root, for `X | None` that of X."""
    root = graph.resolve_root()
    members = [member for member in root.members if member is not NULL] if isinstance(root, UnionNode) else []
    return graph.resolve(members[0]) if len(members) == 1 else root


def has_parameters(tool: Tool[..., Any]) -> bool:
    """Say whether the input of a tool has a list of parameters, as that of a union has not."""
    return isinstance(_without_null(tool.codec.graph), ObjectNode)


def schema_response(tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]], /) -> dict[str, Any]:
    """Describe several tools in one answer, for a host that matches them by name.

    Args:
        tools: tools, or name to tool.

    Returns:
        `{"tools": [{"name", "summary", "description", "parameters": {name: parameter}}]}`, a fresh
        dict; a tool that has no more than its summary has no `description`. A parameter is as in
        `parameters_of`. A tool without such a list, as of a union, has its `input_schema` instead.
    """
    return {"tools": [_tool_response(tool) for tool in tools_of(tools)]}


def tools_of(tools: Any) -> list[Tool[..., Any]]:
    """List the tools of an iterable or mapping; a bound `classmethod` over a tool counts as one.

    Raises:
        TypeError: something else is among them, or a tool stands alone.
    """
    if isinstance(tools, Tool):
        message = f"a list of tools is wanted, not the tool {tools.name} alone: write [{tools.name}]"
        raise TypeError(message)
    found: list[Tool[..., Any]] = []
    is_mapping = hasattr(tools, "items")
    for key, item in tools.items() if is_mapping else enumerate(tools):
        tool: Any = item
        if isinstance(getattr(item, "__func__", None), Tool):
            tool = item.__func__.__get__(item.__self__, item.__self__)
        if not isinstance(tool, Tool):
            raise TypeError(not_a_tool(item))
        if is_mapping and key != tool.name:
            remedy = f"give a list, or rename the tool: {tool.name}.with_(name={quote(str(key))})"
            message = f"the key {quote(str(key))} isn't the name of its tool, {quote(tool.name)}: {remedy}"
            raise TypeError(message)
        found.append(cast("Tool[..., Any]", tool))
    return found


def _tool_response(tool: Tool[..., Any]) -> dict[str, Any]:
    description = {} if tool.details is None else {"description": tool.details}
    told = {"name": tool.name, "summary": tool.summary, **description}
    try:
        return {**told, "parameters": dict(parameters_of(tool))}
    except SchemaError:
        return {**told, "input_schema": tool.input_schema()}


class _Parameters(Renderer):
    """Renders parameters: every reference resolved, `required` stated, up to `MAX_EXPANDED` objects.

    Attributes:
        above: what is being written out around a node: its recursion ends there.
    """

    __slots__ = ("_definitions", "above")

    def __init__(self, definitions: Mapping[Target, Node]) -> None:
        super().__init__({}, {}, self._value, MAX_EXPANDED)
        self._definitions = definitions
        self.above: list[object] = []

    def properties(self, node: ObjectNode) -> dict[str, Any]:
        self.above.append(id(node.fields))
        properties = {field.key: self.field(field) for field in node.fields}
        self.above.pop()
        return properties

    def field(self, field: Field) -> dict[str, Any]:
        document = self.schema(field.node)
        inherited = document.pop("description", None)
        text = inherited if field.description is None else field.description
        parameter = {"type": document.pop("type", None), "required": field.required, **split_text(text)}
        if parameter["type"] is None:
            del parameter["type"]
        if field.default is not MISSING and field.default is not None:
            parameter["default"] = self._value(field.node, field.default)
        if field.examples:
            parameter["examples"] = [self._value(field.node, example) for example in field.examples]
        return {**parameter, **document}

    def schema(self, node: Node) -> dict[str, Any]:
        return self.inlined(node)

    def ref(self, node: RefNode) -> dict[str, Any]:
        if node.target in self.above:
            return {}
        self.above.append(node.target)
        document = self.schema(self._definitions[node.target])
        self.above.pop()
        return document

    def inner_object(self, node: ObjectNode) -> dict[str, Any]:
        self.left -= 1
        if id(node.fields) in self.above or self.left < 0:
            return {"type": "object"}
        return {"type": "object", "properties": self.properties(node)}

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        document: dict[str, Any] = copy_json(node.leaf.json_schema)
        return _with_required_stated(with_references_resolved(document, self.left))

    def union(self, node: UnionNode) -> dict[str, Any]:
        members = [self.schema(member) for member in flat_members(node, self._definitions)]
        types = [name for member in members for name in _types(member)]
        known = {"type": list(dict.fromkeys(types))} if all(_types(member) for member in members) else {}
        is_plain = known and all(member.keys() == {"type"} for member in members)
        return known if is_plain else {**known, "anyOf": members}

    def _value(self, node: Node, value: Any) -> Any:
        encoded, _ = encode_node(node, self._definitions, value, MAX_DEPTH, lambda _: None)
        return encoded


def _with_required_stated(document: dict[str, Any]) -> dict[str, Any]:
    """Let each property of a leaf's schema say whether it is required, as every parameter does."""
    required = document.pop("required", ())
    if "properties" in document:
        document["properties"] = {
            name: {**_with_required_stated(inner), "required": name in required}
            for name, inner in document["properties"].items()
        }
    return document


def _types(document: Mapping[str, Any]) -> list[str]:
    named: Any = document.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def split_text(text: str | None) -> dict[str, str]:
    """Split a description as that of a tool is split; what is not there has no key."""
    if not text:
        return {}
    summary, rest = split_summary(text)
    return {"summary": summary} if rest is None else {"summary": summary, "description": rest}
