"""Describes tools to people and models: parameters as a plain list without references, and documentation."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any

from ..codec.codec import Codec, codec_of
from ..codec.encode import encode_node
from ..errors import SchemaError
from ..findings import about_type
from ..introspect.docstrings import split_summary
from ..introspect.node_kinds import flat_members
from ..introspect.nodes import NULL, LeafNode, ObjectNode, RefNode, UnionNode
from ..introspect.shown_annotations import name_of
from ..json_values import MAX_DEPTH, copy_json, is_array, is_object, to_json_text
from ..message_text import listed, one_line
from ..schema.moved_definitions import with_references_resolved
from ..schema.references import rebuilt
from ..schema.render import Renderer
from ..similar_names import nearest
from .function import tool
from .injected_values import WholeContext  # noqa: TC001  # the tool evaluates its annotations
from .injection import RawArguments, skip
from .tool import Tool
from .tool_sources import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
    """Return the JSON Schema of an object whose parameters are in the form of `schema_response`.

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


_SHOWN_NAMES = 100
_NAME_LENGTH = 64
_TEXT = "Get the full documentation of tools: what they do, their parameters and examples."


class _NotEmpty:
    """A constraint, in the annotated-types vocabulary, that a list isn't empty."""

    min_length = 1


def describe_tools(
    tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]],
    /,
    *,
    name: str = "describe_tools",
) -> Tool[[list[str]], str]:
    """Make a tool that returns the long documentation of the named tools.

    Tell the other tools about it with `with_(described_by=…)`; a `Registry` does this itself. Their
    definitions then contain only summaries, and their errors say how to call this tool.

    Args:
        tools: tools, or name to tool. They are read again at every call, since a registry may change.
        name: the name that the model calls.

    Returns:
        A tool that takes the names of at least one tool and returns Markdown.

    Raises:
        SchemaError: the name is refused by providers.
        TypeError: something isn't a tool.
    """
    source: Any = tools if hasattr(tools, "__len__") or isinstance(tools, Tool) else list(tools)
    tools_of(source)  # raises now rather than at a call of the model

    def describe(
        tools: Annotated[list[str], _NotEmpty, "Names of the tools to describe."],
        _whole_context: Annotated[WholeContext | None, skip] = None,
    ) -> str:
        # A registry gives only the tools that the model may call.
        offered = source.offered(context=_whole_context) if hasattr(source, "offered") else source
        known = {entry.name: entry for entry in tools_of(offered)}
        return _answer(known, list(dict.fromkeys(tools)))

    made: Any = tool(_TEXT, name=name)(describe)
    return made.as_describer()  # type: ignore[no-any-return]  # callers don't see the context


def _answer(known: Mapping[str, Tool[..., Any]], names: list[str]) -> str:
    sections = [documentation_of(known[name]) for name in names if name in known and known[name].has_more]
    bare = [name for name in names if name in known and not known[name].has_more]
    unknown = [name for name in names if name not in known]
    if bare:
        sections.append(f"There is no more documentation of: {listed(bare, _SHOWN_NAMES)}")
    if unknown:
        sections.append(f"No such tool: {listed([_with_nearest(name, known) for name in unknown], 10)}")
    return "\n\n---\n\n".join(sections)


def _with_nearest(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    shown = one_line(name, _NAME_LENGTH)
    return f"{shown} (did you mean {near}?)" if near else shown


def documentation_of(tool: Tool[..., Any], *, with_summaries: bool = False) -> str:
    """Return the whole documentation of a tool as Markdown.

    Args:
        tool: any tool.
        with_summaries: whether to include parts that the definition has already: parameters with only a
            summary, and the fields inside parameters.
    """
    parts = [f"## {tool.name}", tool.summary, tool.details or ""]
    if tool.examples:
        parts.append("### Examples")
        parts += [_code(example) for example in tool.examples]
    known = parameters_of(tool) if has_parameters(tool) else []
    if with_summaries:
        nested = [each for name, parameter in known for each in _all_in(name, parameter)]
        # Members of a union often have a field of the same name and description.
        by_text = {(path, told.get("summary"), told.get("description")): told for path, told in nested}
        known = [(path, told) for (path, _, _), told in by_text.items()]
    shown = {"description", "examples", *(("summary",) if with_summaries else ())}
    described = [(name, parameter) for name, parameter in known if not shown.isdisjoint(parameter)]
    if described:
        parts.append("### Parameters")
    for name, parameter in described:
        parts += [f"#### `{name}`", parameter.get("summary", ""), parameter.get("description", "")]
        parts += [_code(example) for example in parameter.get("examples", ())]
    return "\n\n".join([part for part in parts if part])


def _all_in(path: str, parameter: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """List a parameter and all fields inside it, by paths such as `lines[].price`."""
    yield path, parameter
    yield from _inside(path, parameter)


def _inside(path: str, parameter: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for member in parameter.get("anyOf", ()):
        yield from _inside(path, member)
    for name, field in parameter.get("properties", {}).items():
        yield from _all_in(f"{path}.{name}", field)
    for index, item in enumerate(parameter.get("prefixItems", ())):
        yield from _all_in(f"{path}[{index}]", item)
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if is_object(parameter.get(keyword)):
            yield from _all_in(path + step, parameter[keyword])


def _code(value: Any) -> str:
    text = to_json_text(value)
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}json\n{text}\n{fence}"
