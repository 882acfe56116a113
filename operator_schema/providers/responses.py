"""The wire form of OpenAI's Responses, which xAI takes too.

Source: https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..tools.calls import RawCall
from .answer import Answer, marked_if_cut
from .wire import (
    CUSTOM,
    IMAGES,
    PDF,
    arguments_text,
    custom_call,
    custom_input,
    data_url,
    file_name,
    is_custom,
    object_of,
    parts_of,
    text_or_none,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.content import File, Image
    from ..tools.tool import ToolDefinition
    from .answer import StopReason
    from .responses_stream import ResponsesMerger
    from .streamed_call import StreamedCalls
    from .wire import Wanted

__all__ = ["ResponsesWire"]


class ResponsesWire(Value):
    """Responses: items instead of messages."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool as it is in the list of tools."""
        return {
            "type": "function",
            "name": definition["name"],
            "description": definition["description"],
            "parameters": definition["input_schema"],
            "strict": strict,  # the API makes schemas strict where this is left out
        }

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `tool_choice`; nothing at all without tools."""
        if not tools:
            return {}
        if wanted.name is not None:
            return {"tools": tools, "tool_choice": {"type": "function", "name": wanted.name}}
        return {"tools": tools, "tool_choice": wanted.mode}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer.

        Raises:
            ValueError: the response failed.
        """
        if response.get("status") == "failed":
            message = "the response failed"
            raise ValueError(message)
        items = [object_of(item) for item in response["output"]]
        found = tuple([_call(item) for item in items if item.get("type") in _CALLS])
        parts = [
            object_of(part)
            for item in items
            if item.get("type") == "message" and not isinstance(item.get("content"), str)
            for part in item.get("content") or ()
        ]
        text = "".join([part["text"] for part in parts if part.get("type") == "output_text"])
        refusal = "".join([part["refusal"] for part in parts if part.get("type") == "refusal"]) or None
        stop, raw = _stop(response, bool(found), refusal)
        waiting = next((item["type"] for item in items if _waits(item)), None)
        if stop == "end" and waiting is not None:
            stop, raw = "other", waiting
        return [
            Answer(
                *(found, text, refusal, stop, raw, tuple(items)),
                reasoning="\n\n".join([thought for item in items for thought in _thoughts(item)]),
                id=text_or_none(response.get("id")),
                usage=usage_of(response.get("usage"), ["input_tokens"], ["output_tokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> ResponsesMerger:
        """Return what merges the events of a stream."""
        from .responses_stream import ResponsesMerger

        return ResponsesMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return an item for each call."""
        return [_sent(call) for call in calls]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls that an item is: one or none."""
        return int(message.get("type") in _CALLS)

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return an item for each result; images and PDFs go along."""
        return [
            {
                "type": "custom_tool_call_output" if is_custom(result) else "function_call_output",
                "call_id": result.call_id.removeprefix(CUSTOM),
                "output": _output(result),
            }
            for result in results
        ]


_CALLS = frozenset({"function_call", "custom_tool_call"})
_WAITING = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)
"""Types of items that your program has to answer, and that aren't calls of tools."""


def _call(item: Mapping[str, Any]) -> RawCall:
    if item["type"] == "custom_tool_call":
        call = custom_call(item["call_id"], item["name"], item.get("input"))
    else:
        call = RawCall(item["call_id"], item["name"], item.get("arguments"))
    return call if item.get("status") in {"completed", None} else marked_if_cut(call)


def _thoughts(item: Mapping[str, Any]) -> list[str]:
    """List the parts of what the model thought: their summaries, and where they are shown, themselves."""
    if item.get("type") != "reasoning":
        return []
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    return [part["text"] for part in parts if part.get("text")]


def _waits(item: Mapping[str, Any]) -> bool:
    kind = item.get("type")
    return kind in _WAITING or (kind == "tool_search_call" and item.get("execution") == "client")


def _stop(response: Mapping[str, Any], has_calls: bool, refusal: str | None) -> tuple[StopReason, str | None]:  # noqa: FBT001  # one of three facts
    status = response.get("status")
    details: Any = response.get("incomplete_details") or {}
    reason: str | None = details.get("reason")
    if status == "incomplete":
        stops: dict[str, StopReason] = {"max_output_tokens": "length", "content_filter": "filtered"}
        return stops.get(reason or "", "other"), reason
    if status not in {"completed", None}:
        return "other", status
    if has_calls:
        return "calls", status
    return ("refused" if refusal else "end"), status


def _sent(call: RawCall) -> dict[str, Any]:
    if is_custom(call):
        call_id = call.id.removeprefix(CUSTOM)
        return {
            "type": "custom_tool_call",
            "call_id": call_id,
            "name": call.name,
            "input": custom_input(call),
        }
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments_text(call),
    }


def _output(result: ToolResult) -> Any:
    parts = parts_of(result, {*IMAGES, PDF})
    if all(isinstance(part, str) for part in parts):
        return result.content
    return [_content(part) for part in parts]


def _content(part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.media_type in IMAGES:
        return {"type": "input_image", "image_url": data_url(part)}
    return {"type": "input_file", "filename": file_name(part), "file_data": data_url(part)}
