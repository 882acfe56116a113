"""The wire form of OpenAI's Chat Completions, which many others take too.

Source: https://platform.openai.com/docs/api-reference/chat and the pages of each provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from ..tools.calls import RawCall
from .answer import Answer
from .message_text import reasoning_of, text_of
from .wire import (
    CUSTOM,
    IMAGES,
    LEGACY,
    PDF,
    UNNAMED,
    arguments_object,
    arguments_text,
    custom_call,
    custom_input,
    data_url,
    file_name,
    is_custom,
    object_of,
    parts_of,
    text_or_none,
    unnamed_call,
    usage_of,
)
from .written_calls import FAILED, failed_calls, failed_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.content import File, Image
    from ..tools.tool import ToolDefinition
    from .answer import StopReason
    from .merger import Merger
    from .streamed_call import StreamedCalls
    from .wire import Wanted

__all__ = ["ChatWire", "CohereWire", "OllamaWire"]

_STOPS: dict[str, StopReason] = {
    "tool_calls": "calls",
    "function_call": "calls",
    FAILED: "calls",
    "stop": "end",
    "content_filter": "filtered",
}
_LENGTH = frozenset({"length", "model_length", "max_output_tokens", "max_tokens", "MAX_TOKENS"})


class ChatWire(Value):
    """Chat Completions.

    Attributes:
        required: the word that says that some tool has to be called.
        sent_keys: what a message of the assistant may hold in a request; None for all that answers hold.
        takes_images: whether images and PDFs of results follow in a message of the user; if not, they are
            told in words.
    """

    required: str = "required"
    sent_keys: frozenset[str] | None = None
    takes_images: bool = False

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool as it is in the list of tools."""
        function: dict[str, Any] = {
            "name": definition["name"],
            "description": definition["description"],
            "parameters": definition["input_schema"],
        }
        if strict:
            function["strict"] = True
        return {"type": "function", "function": function}

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `tool_choice`; nothing at all without tools."""
        if not tools:
            return {}
        body: dict[str, Any] = {"tools": tools}
        if wanted.name is not None:
            body["tool_choice"] = {"type": "function", "function": {"name": wanted.name}}
        else:
            body["tool_choice"] = self.required if wanted.mode == "required" else wanted.mode
        return body

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answer of each choice."""
        about: dict[str, Any] = {
            "id": text_or_none(response.get("id")),
            "usage": usage_of(response.get("usage"), ["prompt_tokens"], ["completion_tokens"]),
        }
        if failed := failed_calls(response):
            response = {"choices": [failed_choice(failed)], **response}
        error: Any = response.get("error")
        if is_object(error):
            about["stop_message"] = text_or_none(error.get("message"))
        return [self._answer(object_of(choice)).replace(**about) for choice in response["choices"]]

    def _answer(self, choice: Mapping[str, Any]) -> Answer:
        message = object_of(choice["message"])
        calls = tuple([_call(object_of(call)) for call in message.get("tool_calls") or ()])
        function = object_of(message.get("function_call") or {})
        if function.get("name"):  # some servers send an empty one with every answer
            calls += (unnamed_call(function["name"], _arguments(function), LEGACY),)
        refusal = message.get("refusal")
        raw = choice.get("finish_reason")
        native = choice.get("native_finish_reason")
        if native in _LENGTH:  # OpenRouter says `tool_calls` for a call that was cut off
            raw = native
        stop: StopReason = "length" if raw in _LENGTH else _STOPS.get(raw or "", "other")
        if calls and stop == "end":  # some say `stop` although they wait for results
            stop = "calls"
        if refusal and not calls:
            stop = "refused"
        reasoning = reasoning_of(message)
        if self.sent_keys is not None:
            message = {key: value for key, value in message.items() if key in self.sent_keys}
        return Answer(
            calls, text_of(message.get("content")), refusal or None, stop, raw, (message,), reasoning
        )

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return what merges the events of a stream."""
        from .chat_stream import ChatMerger

        return ChatMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the assistant's message with calls."""
        if calls and calls[0].id.startswith(LEGACY):
            function = {"name": calls[0].name, "arguments": arguments_text(calls[0])}
            return [{"role": "assistant", "content": None, "function_call": function}]
        return [{"role": "assistant", "content": None, "tool_calls": [_sent(call) for call in calls]}]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls in a message."""
        return len(message.get("tool_calls") or ()) + bool(message.get("function_call"))

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return a message for each result; images and PDFs follow in one of the user, if they are taken.

        Source: https://platform.openai.com/docs/guides/images-vision
        """
        messages = _messages(results)
        shown = [part for result in results for part in _shown(result)] if self.takes_images else []
        return [*messages, {"role": "user", "content": shown}] if shown else messages


class CohereWire(ChatWire):
    """Cohere's Chat v2.

    Source: https://docs.cohere.com/v2/reference/chat
    """

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `tool_choice`: a single tool is required by offering that one alone."""
        if not tools:
            return {}
        body: dict[str, Any] = {"tools": _alone(tools, wanted.name)}
        if wanted.strict:
            body["strict_tools"] = True
        if wanted.mode != "auto":
            body["tool_choice"] = "NONE" if wanted.mode == "none" else "REQUIRED"
        return body

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        message = object_of(response["message"])
        calls = tuple([_call(object_of(call)) for call in message.get("tool_calls") or ()])
        raw = response.get("finish_reason")
        stops: dict[str, StopReason] = {
            "TOOL_CALL": "calls",
            "COMPLETE": "end",
            "STOP_SEQUENCE": "end",
            "MAX_TOKENS": "length",
        }
        said = [text_of(message.get("tool_plan")), text_of(message.get("content"))]
        text = "\n".join([part for part in said if part])
        used: Any = response.get("usage") or {}
        return [
            Answer(
                *(calls, text, None, stops.get(raw or "", "other"), raw, (message,)),
                reasoning=reasoning_of(message),
                id=text_or_none(response.get("id")),
                usage=usage_of(used.get("tokens"), ["input_tokens"], ["output_tokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return what merges the events of a stream."""
        from .cohere_stream import CohereMerger

        return CohereMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the assistant's message with calls."""
        return [{"role": "assistant", "tool_calls": [_sent(call) for call in calls]}]

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return a message for each result."""
        return _messages(results)


class OllamaWire(ChatWire):
    """Ollama's own chat endpoint: arguments that are objects, and ids since 0.12.10.

    Source: https://docs.ollama.com/api/chat
    """

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools`: Ollama has no `tool_choice`, so one tool is required by offering it alone."""
        return {"tools": _alone(tools, wanted.name)} if tools and wanted.mode != "none" else {}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        message = object_of(response["message"])
        calls = tuple([_object_call(object_of(call)) for call in message.get("tool_calls") or ()])
        raw = response.get("done_reason")
        stop: StopReason = "calls" if calls else _STOPS.get(raw or "", "other")
        if raw in _LENGTH:
            stop = "length"
        return [
            Answer(
                *(calls, text_of(message.get("content")), None, stop, raw, (message,)),
                reasoning=reasoning_of(message),
                usage=usage_of(
                    {key: value for key, value in response.items() if key.endswith(("_count", "_duration"))},
                    ["prompt_eval_count"],
                    ["eval_count"],
                ),
            )
        ]

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return what merges the events of a stream."""
        from .ollama_stream import OllamaMerger

        return OllamaMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the assistant's message with calls."""
        sent = [
            {**_named(call.id), "function": {"name": call.name, "arguments": arguments_object(call)}}
            for call in calls
        ]
        return [{"role": "assistant", "content": "", "tool_calls": sent}]

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return a message for each result: the name of its tool, and the id of its call if it has one."""
        return [
            {"role": "tool", "tool_name": result.name, **_named(result.call_id, "tool_call_id")}
            | {"content": result.content}
            for result in results
        ]


def _object_call(call: Mapping[str, Any]) -> RawCall:
    function = object_of(call["function"])
    call_id = call.get("id")
    if not call_id:
        return unnamed_call(function["name"], function.get("arguments"))
    return RawCall(call_id, function["name"], function.get("arguments"))


def _named(call_id: str, key: str = "id") -> dict[str, str]:
    """Return the id of a call as it is sent; nothing for one that the provider didn't give."""
    return {} if call_id.startswith(UNNAMED) else {key: call_id}


def _alone(tools: Sequence[dict[str, Any]], named: str | None) -> Sequence[dict[str, Any]]:
    """Return the tool of a name alone; all where there is no name."""
    return tools if named is None else [tool for tool in tools if tool["function"]["name"] == named]


def _answered(result: ToolResult) -> dict[str, Any]:
    """Return what says of which call a result is."""
    if result.call_id.startswith(LEGACY):
        return {"role": "function", "name": result.name}
    if result.call_id.startswith(UNNAMED) and not is_custom(result):
        return {"role": "tool", "name": result.name}
    return {"role": "tool", "tool_call_id": result.call_id.removeprefix(CUSTOM)}


def _messages(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """Return a message for each result."""
    return [{**_answered(result), "content": result.content} for result in results]


def _shown(result: ToolResult) -> list[dict[str, Any]]:
    """List what a user would send of a result that isn't text, after a line that says whose it is."""
    shown = [_content(part) for part in parts_of(result, {*IMAGES, PDF}) if not isinstance(part, str)]
    words = f"What the tool {result.name} returned (call {result.call_id.removeprefix(CUSTOM)}):"
    return [{"type": "text", "text": words}, *shown] if shown else []


def _content(part: Image | File) -> dict[str, Any]:
    if part.media_type in IMAGES:
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return {"type": "file", "file": {"filename": file_name(part), "file_data": data_url(part)}}


def _call(call: Mapping[str, Any]) -> RawCall:
    if call.get("type") == "custom":
        custom = object_of(call["custom"])
        return custom_call(call["id"], custom["name"], custom.get("input"))
    function = object_of(call["function"])
    call_id = call.get("id")
    if not call_id:
        return unnamed_call(function["name"], _arguments(function))
    return RawCall(call_id, function["name"], _arguments(function))


def _arguments(function: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; some models write null for a tool that takes none."""
    found = function.get("arguments")
    return None if found == "null" else found


def _sent(call: RawCall) -> dict[str, Any]:
    if is_custom(call):
        custom = {"name": call.name, "input": custom_input(call)}
        return {"id": call.id.removeprefix(CUSTOM), "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": arguments_text(call)}
    named = {} if call.id.startswith(UNNAMED) else {"id": call.id}
    return {**named, "type": "function", "function": function}
