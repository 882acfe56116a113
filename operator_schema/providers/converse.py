"""The wire form of Amazon Bedrock's Converse.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from ..tools.calls import RawCall
from .answer import Answer
from .wire import IMAGES, PDF, arguments_object, file_name, object_of, parts_of, usage_of, with_input_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.content import File, Image
    from ..tools.tool import ToolDefinition
    from .answer import StopReason
    from .converse_stream import ConverseMerger
    from .streamed_call import StreamedCalls
    from .wire import Wanted

__all__ = ["ConverseWire"]

_STOPS: dict[str, StopReason] = {
    "tool_use": "calls",
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_FORMATS = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    PDF: "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    f"{_OFFICE}.wordprocessingml.document": "docx",
}
"""Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html"""


class ConverseWire(Value):
    """Converse: calls and results are blocks of content."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool as it is in the list of tools."""
        marks = {"strict": True} if strict else {}
        return {
            "toolSpec": {
                "name": definition["name"],
                "description": definition["description"] or definition["name"],  # it may not be empty
                "inputSchema": {"json": definition["input_schema"]},
                **marks,
            }
        }

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `toolConfig`; nothing at all without tools.

        If none may be called, the tools are there without a choice: Converse has no word for it, and refuses
        a conversation that has calls or results in a request without tools.
        """
        if not tools:
            return {}
        if wanted.mode == "none":
            return {"toolConfig": {"tools": tools}}
        if wanted.name is not None:
            choice: dict[str, Any] = {"tool": {"name": wanted.name}}
        else:
            choice = {"any" if wanted.mode == "required" else "auto": {}}
        return {"toolConfig": {"tools": tools, "toolChoice": choice}}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        message = object_of(object_of(response["output"])["message"])
        blocks = [object_of(block) for block in message.get("content") or ()]
        uses = [object_of(block["toolUse"]) for block in blocks if is_call(block)]
        calls = tuple([RawCall(use["toolUseId"], use["name"], use.get("input")) for use in uses])
        text = "".join([part["text"] for block in blocks for part in _texts(block) if "text" in part])
        raw = response.get("stopReason")
        if any(isinstance(use.get("input"), str) for use in uses):
            sent = [
                {"toolUse": with_input_object(block["toolUse"])} if "toolUse" in block else block
                for block in blocks
            ]
            message = {**message, "content": sent}
        return [
            Answer(
                *(calls, text, None, _STOPS.get(raw or "", "other"), raw, (message,)),
                reasoning="\n\n".join([thought for block in blocks for thought in _thoughts(block)]),
                usage=usage_of(response.get("usage"), ["inputTokens"], ["outputTokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> ConverseMerger:
        """Return what merges the events of a stream."""
        from .converse_stream import ConverseMerger

        return ConverseMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the assistant's message with calls."""
        blocks = [
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_object(call)}}
            for call in calls
        ]
        return [{"role": "assistant", "content": blocks}]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the blocks of calls in a message."""
        return len(
            [block for block in message.get("content") or () if is_object(block) and "toolUse" in block]
        )

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return one message with all results; images and files of the formats that it takes go along."""
        return [{"role": "user", "content": [_block(result) for result in results]}] if results else []


def is_call(block: Mapping[str, Any]) -> bool:
    """Return whether a block is a call that your program runs; Bedrock runs some itself."""
    return "toolUse" in block and object_of(block["toolUse"]).get("type") != "server_tool_use"


def _texts(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List what may have text in a block: itself, or the parts of a text with citations."""
    cited = block.get("citationsContent")
    return [block] if cited is None else [object_of(part) for part in object_of(cited).get("content") or ()]


def _thoughts(block: Mapping[str, Any]) -> list[str]:
    """List what a block says of the model's thinking; some of it may be encrypted."""
    thought = object_of(object_of(block.get("reasoningContent") or {}).get("reasoningText") or {})
    return [thought["text"]] if thought.get("text") else []


def _block(result: ToolResult) -> dict[str, Any]:
    content = [_content(place, part) for place, part in enumerate(parts_of(result, _FORMATS))]
    status = "error" if result.is_error else "success"
    return {"toolResult": {"toolUseId": result.call_id, "content": content, "status": status}}


def _content(place: int, part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    source = {"format": _FORMATS[part.media_type], "source": {"bytes": part.data}}
    if part.media_type in IMAGES:
        return {"image": source}
    # Other letters, several spaces, and two files of one name are refused.
    stem = file_name(part).rpartition(".")[0] or "file"
    name = re.sub(r"[^A-Za-z0-9()\[\]-]+", " ", stem)[:150].strip() or "file"
    return {"document": {"name": f"{name} {place}", **source}}
