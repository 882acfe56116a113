"""Ollama's own chat endpoint: its wire form, which resembles Chat Completions, and its streams.

Source: https://docs.ollama.com/api/chat
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_array, to_json_text
from ..schema.dialect import Dialect
from .answer import Answer
from .chat import LENGTH, ChatLikeWire, calls_of, reasoning_of, text_of, tools_alone
from .partial_response import GrowingList, GrowingObject, MessageMerger
from .provider import Provider
from .rules import UNNAMED, IdRule, NameRule, Rules
from .wire_format import arguments_object, described_schema, object_of, usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools import RawCall, ToolDefinition, ToolResult
    from .answer import StopReason
    from .streamed_calls import StreamedCalls
    from .wire_format import Wanted


class OllamaWire(ChatLikeWire):
    """Ollama's chat: arguments are objects, and calls have ids since version 0.12.10.

    It has no `tool_choice`: a required tool is the only one offered, and if none may be called, none is
    offered.
    """

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools`."""
        return {} if wanted.mode == "none" else {"tools": tools_alone(tools, wanted)}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:  # noqa: ARG002  # Ollama holds its models to each schema
        """Set `format`."""
        body["format"] = described_schema(definition)

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        if "finish_reason" in response:
            response["done"]  # Cohere's answers have the other key, and look similar
        message = object_of(response["message"])
        calls = calls_of(message)
        text = text_of(message.get("content"))
        raw = response.get("done_reason")
        stop: StopReason = "calls" if calls else "end" if raw == "stop" else "other"
        if raw in LENGTH:
            stop = "length"
        return [
            Answer(
                *(calls, text, None, stop, raw, (message,) if calls or text else ()),
                reasoning=reasoning_of(message),
                usage=usage_of(
                    {key: value for key, value in response.items() if key.endswith(("_count", "_duration"))},
                    ["prompt_eval_count"],
                    ["eval_count"],
                ),
            )
        ]

    def merger(self, calls: StreamedCalls) -> OllamaMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return OllamaMerger(calls)

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return a call in the form of a message."""
        return {**_id_entry(call.id), "function": {"name": call.name, "arguments": arguments_object(call)}}

    def calls_message(self, calls: Sequence[RawCall], text: str = "") -> list[dict[str, Any]]:
        """Return the assistant's message with a text and calls."""
        return [{"role": "assistant", "content": text, "tool_calls": [self.call(call) for call in calls]}]

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the message of a result, with the name of its tool, and the id of its call if it has one."""
        named = {"role": "tool", "tool_name": result.name, **_id_entry(result.call_id, "tool_call_id")}
        return {**named, "content": result.content}


def _id_entry(call_id: str, key: str = "id") -> dict[str, str]:
    """Return the id of a call in the form of a request; empty if the provider didn't give the id."""
    return {} if call_id.startswith(UNNAMED) else {key: call_id}


class OllamaMerger(MessageMerger):
    """A merger of messages that continue each other, an object per line; each call is sent whole."""

    takes_responses = True

    def take(self, event: Mapping[str, Any]) -> None:
        """Merge the object of a line into the message."""
        for key, value in object_of(event["message"]).items():
            if key == "tool_calls":
                for call in value or ():
                    self._take_call(object_of(call))
            else:
                self._message.take({key: value})
                if key == "content" and value is not None:
                    self._known.said.add(value)
                elif key == "thinking" and value is not None:
                    self._known.think(value)
        for key, value in event.items():
            if is_array(value):
                self._response.take({key: value})
            elif key != "message":
                self._response.put({key: value})
        self._has_ended = self._has_ended or bool(event.get("done"))

    def _take_call(self, call: Mapping[str, Any]) -> None:
        function = object_of(call["function"])
        arguments = to_json_text(function.get("arguments") or {})
        self._known.begin(call.get("id") or None, function["name"], arguments)
        self._message.held("tool_calls", GrowingList).add(GrowingObject(call))


OLLAMA_KEPT = Dialect(
    keywords=frozenset(),
    formats=frozenset(),
    lenient=True,
    closed="as_is",
    takes_references=False,
    takes_recursion=False,
    takes_anything=True,
)
"""Source: `ToolFunction` in https://github.com/ollama/ollama/blob/main/api/types.go"""


ollama = Provider(
    "Ollama",
    OllamaWire(),
    NameRule(),
    takes_unions=False,
    always=OLLAMA_KEPT,
    rules=Rules(ids=IdRule(needed=False)),
    calls_in_text=True,
)
