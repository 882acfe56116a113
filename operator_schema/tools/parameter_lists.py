"""Which parameters does a tool have, as a plain list without references?"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..codec.codec import Codec, codec_of
from ..codec.encode import encode_node
from ..errors import SchemaError
from ..findings import about_type
from ..introspect.docstrings import split_summary
from ..introspect.node_kinds import flat_members
from ..introspect.nodes import NULL, LeafNode, ObjectNode, RefNode, UnionNode
from ..introspect.shown_annotations import name_of
from ..json_values import MAX_DEPTH, copy_json, is_array, is_object
from ..schema.moved_definitions import with_references_resolved
from ..schema.references import rebuilt
from ..schema.render import Renderer
from .raw_arguments import RawArguments
from .tool import Tool
from .tool_sources import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..introspect.nodes import Field, Graph, Node, Target


MAX_EXPANDED = 10_000
"""How many objects are written out with their properties; further ones have only a type."""


def parameters_of(annotation: Any, /) -> list[tuple[str, dict[str, Any]]]:
    """List the parameters of a type or tool.

    Args:
        annotation: a tool, a codec, a dataclass, or any other type with fields.

    Returns:
        Name and parameter, in the order of declaration. A parameter is a fresh dict: `type`, then `required`,
        which is always there, then those that apply of `summary`, `description`, `default`, `examples`,
        `enum`, `items`, `properties` and the rest of its JSON Schema. Every `$ref` is resolved; where a
        recursive type contains itself, its properties are left out. The parameters of raw arguments are those
        of your own schema; without one, there are none.

    Raises:
        SchemaError: with every complaint about the type; also if it has no list of parameters, such as a
            union.
    """
    name = annotation.name if isinstance(annotation, Tool) else None
    if isinstance(annotation, Tool):
        annotation = annotation.codec
    codec: Any = annotation if isinstance(annotation, Codec) else codec_of(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    graph = _described(codec.graph)
    root = _without_null(graph)
    if not isinstance(root, ObjectNode):
        shown = name_of(codec.type)
        message = f"{shown} has no list of parameters: it isn't a type with fields"
        remedy = "Give a dataclass; for any other type, use input_schema or json_schema"
        raise SchemaError(name or shown, [about_type((), "unsupported", name or shown, message, remedy)])
    return list(_Parameters(graph.definitions).properties(root).items())


def _described(graph: Graph) -> Graph:
    """Return the graph of the schema that describes raw arguments; any other graph unchanged."""
    root = graph.root
    if not isinstance(root, LeafNode) or root.leaf.type is not RawArguments:
        return graph
    from ..schema.document import DocumentCodec, SchemaDocument

    return DocumentCodec(SchemaDocument("arguments", root.leaf.json_schema)).graph


def _without_null(graph: Graph) -> Node:
    """Return the node at the root; for `X | None`, the node of X."""
    root = graph.resolve_root()
    members = [member for member in root.members if member is not NULL] if isinstance(root, UnionNode) else []
    return graph.resolve(members[0]) if len(members) == 1 else root


def has_parameters(tool: Tool[..., Any]) -> bool:
    """Return whether the input of a tool has a list of parameters; a union has none."""
    return isinstance(_without_null(_described(tool.codec.graph)), ObjectNode)


def schema_response(tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]], /) -> dict[str, Any]:
    """Describe several tools in one answer, for a program that looks them up by name.

    Args:
        tools: tools, or name to tool.

    Returns:
        `{"tools": [{"name", "summary", "description", "parameters": {name: parameter}}]}`, a fresh
        dict; a tool that has only a summary has no `description`. A parameter has the form of
        `parameters_of`. A tool without such a list, such as one for a union, has its `input_schema` instead.
    """
    return {"tools": [_tool_response(tool) for tool in tools_of(tools)]}


def _tool_response(tool: Tool[..., Any]) -> dict[str, Any]:
    description = {} if tool.details is None else {"description": tool.details}
    described = {"name": tool.name, "summary": tool.summary, **description}
    try:
        return {**described, "parameters": dict(parameters_of(tool))}
    except SchemaError:
        return {**described, "input_schema": tool.input_schema()}


def schema_of_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an object, from parameters as `schema_response` describes them.

    Args:
        parameters: name to parameter; its `required` is a boolean, and a description may be in two parts.
    """
    return _with_required_listed({"type": "object", "properties": dict(parameters)})


def _with_required_listed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with `required` in lists instead of in properties, at every depth."""
    copy = rebuilt(document, _with_required_listed)
    properties: Any = document.get("properties")
    if not is_object(properties):
        return copy
    required = [
        name for name, inner in properties.items() if is_object(inner) and inner.get("required") is True
    ]
    copy["properties"] = {
        name: _without_statements(inner) if is_object(inner) else inner
        for name, inner in copy["properties"].items()
    }
    return {**copy, "required": required} if required else copy


def _without_statements(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property without the keys that only parameters have."""
    kept = {key: value for key, value in parameter.items() if key not in {"summary", "description"}}
    if isinstance(kept.get("required"), bool):
        del kept["required"]
    texts = [parameter.get(key) for key in ("summary", "description")]
    text = "\n".join([said for said in texts if isinstance(said, str)])
    return {**kept, "description": text} if text else kept


class _Parameters(Renderer):
    """Renders parameters with every reference resolved and `required` added, up to `MAX_EXPANDED` objects.

    Attributes:
        above: the objects and references around the current node; recursion ends at them.
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
            parameter["examples"] = copy_json(list(field.examples))
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
    """Add `required` to each property of a leaf's schema, as every parameter has it."""
    listed = document.pop("required", ())
    required = {key for key in listed if isinstance(key, str)} if is_array(listed) else set[str]()
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
    """Split a description into summary and details; a missing part has no key."""
    if not text:
        return {}
    summary, rest = split_summary(text)
    return {"summary": summary} if rest is None else {"summary": summary, "description": rest}
