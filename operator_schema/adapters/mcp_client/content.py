"""Content of MCP as content parts of ours, and results as the text, the value and the parts of a result."""

from __future__ import annotations

from binascii import a2b_base64
from typing import TYPE_CHECKING, Any

from mcp import types

from ...json_values import copy_json, to_json_text, without_surrogates
from ...tools.content import Audio, Image, Resource, Text
from ...tools.output import WrittenOutput
from ...wording import clip, escape

if TYPE_CHECKING:
    from ...tools.content import Part

__all__ = ["answer_text", "part_of", "write_answer"]

_SHOWN = 200


def write_answer(answer: types.CallToolResult) -> WrittenOutput:
    """Write the result of a call.

    Returns:
        The text of its content; as JSON value its structured content, if it has any, else what its
        content is; and its parts, if they aren't one text.
    """
    parts = [part_of(block) for block in answer.content]
    structured = copy_json(answer.structured_content)
    text = "\n".join([part.as_text() for part in parts])
    if structured is not None:
        json = structured
    elif len(parts) == 1 and isinstance(parts[0], Text):
        json = text
    else:
        json = [part.text if isinstance(part, Text) else part.as_dict() for part in parts]
    if not parts and structured is not None:
        text = to_json_text(structured)
    is_text = len(parts) < 2 and all(isinstance(part, Text) for part in parts)  # noqa: PLR2004  # several
    return WrittenOutput(text, json, (), () if is_text else tuple(parts))


def answer_text(answer: types.CallToolResult) -> str:
    """Return the text of a result."""
    return write_answer(answer).text


def part_of(block: Any) -> Part:
    """Return a block of content as a part; what can't be one as a text that says so."""
    try:
        return _part(block)
    except (ValueError, TypeError) as error:
        kind = getattr(block, "type", type(block).__name__)
        return Text(f"[{kind} that can't be shown: {clip(escape(str(error)), _SHOWN)}]")


def _part(block: Any) -> Part:
    match block:
        case types.TextContent():
            return Text(without_surrogates(block.text))
        case types.ImageContent():
            return Image.from_bytes(_data(block.data), block.mime_type)
        case types.AudioContent():
            return Audio.from_bytes(_data(block.data), block.mime_type)
        case types.ResourceLink():
            return Resource(str(block.uri), media_type=block.mime_type)
        case types.EmbeddedResource(resource=types.TextResourceContents() as held):
            return Resource(str(held.uri), without_surrogates(held.text), media_type=held.mime_type)
        case types.EmbeddedResource(resource=types.BlobResourceContents() as held):
            return Resource(str(held.uri), data=_data(held.blob), media_type=held.mime_type)
        case _:
            message = "its type isn't known"
            raise TypeError(message)


def _data(text: str) -> bytes:
    return a2b_base64(text.encode("ascii"), strict_mode=True)
