"""The wire form of Anthropic's Messages.

Source: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from ..tools.calls import RawCall
from .answer import Answer
from .wire import (
    IMAGES,
    PDF,
    arguments_object,
    file_name,
    object_of,
    parts_of,
    text_or_none,
    usage_of,
    with_input_object,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.content import File, Image
    from ..tools.tool import ToolDefinition
    from .answer import StopReason
    from .messages_stream import MessagesMerger
    from .streamed_call import StreamedCalls
    from .wire import Wanted

__all__ = ["MessagesWire"]

_STOPS: dict[str, StopReason] = {
    "tool_use": "calls",
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "paused",
}


class MessagesWire(Value):
    """Messages: calls and results are blocks of content."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool as it is in the list of tools."""
        return {**definition, "strict": True} if strict else {**definition}

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `tool_choice`; nothing at all without tools."""
        if not tools:
            return {}
        body: dict[str, Any] = {"tools": tools}
        if wanted.name is not None:
            body["tool_choice"] = {"type": "tool", "name": wanted.name}
        else:
            body["tool_choice"] = {"type": "any" if wanted.mode == "required" else wanted.mode}
        return body

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        blocks = [object_of(block) for block in response["content"]]
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = tuple([RawCall(block["id"], block["name"], block.get("input")) for block in uses])
        text = "".join([block["text"] for block in blocks if block.get("type") == "text"])
        raw = response.get("stop_reason")
        stop: StopReason = _STOPS.get(raw or "", "other")
        details: Any = response.get("stop_details") or {}
        refusal = (text or details.get("explanation") or None) if stop == "refused" else None
        sent = [with_input_object(block) for block in blocks]
        # The API refuses messages without content.
        message = ({"role": "assistant", "content": sent},) if sent else ()
        thoughts = [block["thinking"] for block in blocks if block.get("type") == "thinking"]
        return [
            Answer(
                *(calls, text, refusal, stop, raw, message),
                reasoning="\n\n".join([thought for thought in thoughts if thought]),
                id=text_or_none(response.get("id")),
                usage=usage_of(response.get("usage"), ["input_tokens"], ["output_tokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> MessagesMerger:
        """Return what merges the events of a stream."""
        from .messages_stream import MessagesMerger

        return MessagesMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the assistant's message with calls."""
        blocks = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call)}
            for call in calls
        ]
        return [{"role": "assistant", "content": blocks}]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the blocks of calls in a message."""
        blocks = message.get("content")
        return [block.get("type") for block in blocks if is_object(block)].count("tool_use") if blocks else 0

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return one message with all results, as the API asks; images and PDFs go along."""
        return [{"role": "user", "content": [_block(result) for result in results]}] if results else []


def _block(result: ToolResult) -> dict[str, Any]:
    # The API refuses empty text blocks.
    content = [_content(part) for part in parts_of(result, {*IMAGES, PDF}) if part]
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
    return {**block, "is_error": True} if result.is_error else block


def _content(part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
    if part.media_type in IMAGES:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": file_name(part)}
