"""Tools and results in the form for a client of the protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import quote

import mcp_types as types

from ...introspect.node_kinds import json_types_of
from ...json_values import without_surrogates
from ...message_text import as_written, listed
from ...schema.current_draft import in_current_draft
from ...schema.dialect_writing import CannotSay
from ...schema.root_composition import uncomposed
from ...tools import ERROR, NO_OUTPUT, Audio, File, Image, Text, items_of, write_base64, write_log
from .generations import takes_any_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...tools import Part, Resource, StructuredOutput, Tool, ToolAnnotations


Structured = Literal["objects", "all", "none"]
"""The results that a client also gets as data: objects, all results that are more than text, or none."""


def checked_structured(value: Any) -> Structured:
    """Check and return the option `structured`.

    Raises:
        ValueError: the value isn't valid.
    """
    kinds = get_args(Structured)
    if value not in kinds:
        known = listed([as_written(kind) for kind in kinds])
        message = f"structured must be one of {known}, not {as_written(value)}"
        raise ValueError(message)
    found: Structured = value
    return found


def output_of(tool: Tool[..., Any], structured: Structured) -> StructuredOutput | None:
    """Return the declaration of a tool's structured results; None if a client gets only text."""
    if structured == "none":
        return None
    output = tool.structured_output()
    return None if output is None or (output.is_wrapped and structured == "objects") else output


def described(
    tool: Tool[..., Any], _: object, /, *, structured: Structured, protocol_version: str
) -> types.Tool:
    """Return the definition of a tool for a client.

    Args:
        tool: the tool as the model sees it.
        structured: which results are data.
        protocol_version: the version of the request. Before 2026-07-28, the schema of a result has `"type":
            "object"`.
    """
    definition, said = tool.definition(), tool.annotations
    output = output_of(tool, structured)
    return types.Tool(
        name=tool.name,
        title=said.title,
        description=without_surrogates(definition["description"]),
        input_schema=definition["input_schema"],
        output_schema=None if output is None else _output_schema(output, protocol_version),
        annotations=hints_of(said),
        _meta=said.meta or None,
    )


def is_of_anthropic(client: types.InitializeRequestParams | None) -> bool:
    """Return whether the name of a client says that it gives its tools to Anthropic's API."""
    name = "" if client is None else client.client_info.name.casefold()
    return "claude" in name or "anthropic" in name


def without_composition(tool: types.Tool) -> types.Tool:
    """Return a tool in the form that Anthropic's API takes, if possible: else Claude Code ignores it."""
    schema = in_current_draft(tool.input_schema)
    try:
        left = uncomposed(schema)
    except CannotSay:
        return tool
    if left is None:
        return tool.model_copy(update={"input_schema": schema})
    description = left.described(tool.description or "")
    return tool.model_copy(update={"input_schema": left.schema, "description": description})


def structured_content(output: StructuredOutput, json: Any, protocol_version: str) -> Any:
    """Return a result as data, None if it doesn't fit the declaration of the tool.

    Args:
        output: the return value of `output_of`.
        json: the value, as in `ToolResult.json`.
        protocol_version: the version of the request.
    """
    return json if _is_bare(output, protocol_version) else output.of(json)


def _output_schema(output: StructuredOutput, protocol_version: str) -> dict[str, Any]:
    return output.codec.json_schema() if _is_bare(output, protocol_version) else output.schema


def _is_bare(output: StructuredOutput, protocol_version: str) -> bool:
    """Return whether a result that isn't an object is sent without a wrapper.

    A result that may be null isn't: the SDK drops `"structuredContent": null`, and clients then miss it.
    """
    if not output.is_wrapped or not takes_any_data(protocol_version):
        return False
    graph = output.codec.graph
    return "null" not in json_types_of(graph.resolve_root(), graph.definitions)


def hints_of(said: ToolAnnotations) -> types.ToolAnnotations | None:
    """Return the properties that a tool states as hints of the protocol; None if it states none."""
    hints = types.ToolAnnotations(
        read_only_hint=said.read_only,
        destructive_hint=said.destructive,
        idempotent_hint=said.idempotent,
        open_world_hint=said.open_world,
    )
    return None if hints == _NO_HINTS else hints


_NO_HINTS = types.ToolAnnotations()


def content_of(part: Part) -> types.ContentBlock:
    """Return a part as content of the protocol.

    A file is a resource with its data. Its name serves as the address that the protocol requires.
    """
    match part:
        case Text():
            return types.TextContent(type="text", text=part.text)
        case Image():
            return types.ImageContent(type="image", data=part.base64, mime_type=part.media_type)
        case Audio():
            return types.AudioContent(type="audio", data=part.base64, mime_type=part.media_type)
        case File():
            uri = f"file:///{quote(part.name or 'file', safe='')}"
            return _embedded(types.BlobResourceContents(uri=uri, mime_type=part.media_type, blob=part.base64))
        case _:
            return _resource(part)


def _resource(part: Resource) -> types.ContentBlock:
    uri, kind = part.uri, part.media_type
    if part.text is not None:
        return _embedded(types.TextResourceContents(uri=uri, mime_type=kind, text=part.text))
    if part.base64 is not None:
        return _embedded(types.BlobResourceContents(uri=uri, mime_type=kind, blob=part.base64))
    return types.ResourceLink(type="resource_link", name=uri, uri=uri, mime_type=kind)


def _embedded(
    contents: types.TextResourceContents | types.BlobResourceContents,
) -> types.EmbeddedResource:
    return types.EmbeddedResource(type="resource", resource=contents)


_BLOCKS = (
    types.TextContent,
    types.ImageContent,
    types.AudioContent,
    types.ResourceLink,
    types.EmbeddedResource,
)
_OWN = (types.CallToolResult, types.InputRequiredResult, *_BLOCKS)
_OF_FRAMEWORKS: Mapping[str, Sequence[str]] = {
    "fastmcp.tools": ("ToolResult",),
    "fastmcp.utilities.types": ("Image", "Audio", "File"),
    "mcp.server.mcpserver.utilities.types": ("Image", "Audio"),
    "pydantic_ai.messages": ("ToolReturn", "BinaryContent"),
}
"""Modules and their classes. None of them is imported here: a tool that makes such an object has done so."""

_TO_BLOCK = ("to_image_content", "to_audio_content", "to_resource_content")


def native_classes() -> tuple[type, ...]:
    """Return the loaded classes of the protocol and of frameworks whose objects are sent as they are."""
    found = (
        getattr(sys.modules.get(module), name, None)
        for module, names in _OF_FRAMEWORKS.items()
        for name in names
    )
    return (*_OWN, *[cls for cls in found if isinstance(cls, type)])


def holds_native(value: object, classes: tuple[type, ...]) -> bool:
    """Return whether a result is an object of one of these classes, or a list or tuple that has one."""
    kinds = {type(item) for item in items_of(value)} or {type(value)}
    return any(issubclass(kind, classes) for kind in kinds)


def native_answer(
    name: str, value: object, output: StructuredOutput | None, structured: Structured, protocol_version: str
) -> types.CallToolResult | types.InputRequiredResult:
    """Return the reply for a result that is an object of the protocol or of a framework, or has one.

    The reply keeps the kind of the result, its data and its mark as an error.

    Args:
        name: the name of the tool.
        value: the return value of the function.
        output: how the results of the tool become data.
        structured: which results are data.
        protocol_version: the version of the request.
    """
    if isinstance(value, types.InputRequiredResult):
        return value
    if not isinstance(value, types.CallToolResult):
        try:
            value = _answer_of(value)
        except Exception as error:  # noqa: BLE001  # an object of a framework may read a file only now
            return _not_shown(name, error)
    data = value.structured_content
    if structured == "none":
        data = None
    elif output is not None and not value.is_error:
        data = structured_content(output, data, protocol_version)
        if data is None:  # a client would refuse the reply, and show nothing
            return value.model_copy(update={"structured_content": None, "is_error": True})
    elif not isinstance(data, dict) and not takes_any_data(protocol_version):
        data = None
    return value.model_copy(update={"structured_content": data})


def _answer_of(value: Any) -> types.CallToolResult:
    """Return an object of a framework as a result of the protocol."""
    if type(value).__name__ != "ToolResult" or not hasattr(value, "structured_content"):
        return types.CallToolResult(content=blocks_of(value))
    return types.CallToolResult(  # a result of fastmcp, which has the same fields
        content=value.content,
        structured_content=value.structured_content,
        is_error=bool(getattr(value, "is_error", False)),
        _meta=value.meta,
    )


def blocks_of(value: Any) -> list[types.ContentBlock]:
    """Return the content of a result, or of one of its items."""
    if isinstance(value, _BLOCKS):
        return [value]
    several = items_of(value)
    if several:
        return [block for item in several for block in blocks_of(item)]
    method = _method_of(value)
    if method is not None:
        return [getattr(value, method)()]
    match type(value).__module__, type(value).__name__:
        case "pydantic_ai.messages", "ToolReturn":
            said = value.content
            more: Iterable[Any] = [] if said is None else [said] if isinstance(said, str) else said
            return [block for item in (value.return_value, *more) for block in blocks_of(item)]
        case "pydantic_ai.messages", _ if isinstance(getattr(value, "data", None), bytes):
            return [_binary(value.data, value.media_type)]
        case _:
            written = NO_OUTPUT.write(value, "the result", is_lenient=True)
            return [content_of(part) for part in written.parts] or [_text(written.text)]


def _method_of(value: object) -> str | None:
    return next((name for name in _TO_BLOCK if hasattr(type(value), name)), None)


def _binary(data: bytes, media_type: str) -> types.ContentBlock:
    text = write_base64(data)
    if media_type.startswith("image/"):
        return types.ImageContent(type="image", data=text, mime_type=media_type)
    if media_type.startswith("audio/"):
        return types.AudioContent(type="audio", data=text, mime_type=media_type)
    held = types.BlobResourceContents(uri="file:///file", mime_type=media_type, blob=text)
    return types.EmbeddedResource(type="resource", resource=held)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def cut_answer(
    name: str, answer: types.CallToolResult, most: float, *, declares_data: bool
) -> types.CallToolResult:
    """Return an answer whose text is cut to the maximum length, and that can always be sent.

    Args:
        name: the name of the tool.
        answer: the answer of a tool, or of a server behind it.
        most: the maximum length of the text; if the text is longer, the model gets its beginning, without
            data.
        declares_data: whether a client expects data, and would refuse a result without data. Then a result
            that is cut becomes an error.
    """
    try:
        answer.model_dump_json()
    except Exception as error:  # noqa: BLE001  # a lone surrogate, or anything under `_meta`
        return _not_shown(name, error)
    length = sum(map(_length, answer.content))
    if length <= most:
        return answer
    has_data = declares_data or answer.structured_content is not None
    left_out = ", and its data is left out" if has_data else ""
    note = f"[cut: the whole result has {length:,} characters{left_out}; ask for less of it]"
    left = int(most) - len(note)
    content: list[types.ContentBlock] = []
    for block in answer.content:
        if isinstance(block, types.TextContent):
            content.append(block.model_copy(update={"text": block.text[: max(left, 0)]}))
        elif _length(block) <= max(left, 0):
            content.append(block)
        left -= _length(block)
    update: dict[str, Any] = {
        "content": [*content, _text(note)],
        "structured_content": None,
        "is_error": answer.is_error or declares_data,
    }
    return answer.model_copy(update=update)


def _not_shown(name: str, error: Exception) -> types.CallToolResult:
    write_log(ERROR, "%s: its result can't be sent", name, error=error)
    text = f"{name} did its work, but its result can't be shown; calling it again will not help"
    return types.CallToolResult(content=[_text(text)], is_error=True)


def _length(block: types.ContentBlock) -> int:
    """Return the number of characters of a block that a model reads as text."""
    if isinstance(block, types.TextContent):
        return len(block.text)
    held = block.resource if isinstance(block, types.EmbeddedResource) else None
    return len(held.text) if isinstance(held, types.TextResourceContents) else 0
