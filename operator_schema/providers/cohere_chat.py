"""Cohere's Chat v2: its wire form, which resembles Chat Completions, and its streams.

Source: https://docs.cohere.com/v2/reference/chat and https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.dialect import Dialect
from .answer import Answer
from .chat import ChatLikeWire, calls_of, reasoning_of, text_of, tools_alone
from .partial_response import GrowingBlock, GrowingInput, GrowingList, GrowingObject, MessageMerger
from .provider import Provider
from .rules import DATES, NameRule
from .wire_format import described_schema, object_of, text_or_none, usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools import RawCall, ToolDefinition
    from .answer import StopReason
    from .streamed_calls import StreamedCalls
    from .wire_format import Wanted

_STOPS: dict[str, StopReason] = {
    "TOOL_CALL": "calls",
    "COMPLETE": "end",
    "STOP_SEQUENCE": "end",
    "MAX_TOKENS": "length",
    "ERROR": "other",
    "TIMEOUT": "other",
}


class CohereWire(ChatLikeWire):
    """Chat v2; a required tool is the only one offered."""

    STOPS = _STOPS
    STRICT_OUTPUTS = True

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools`, `strict_tools` and `tool_choice`."""
        body: dict[str, Any] = {"tools": tools_alone(tools, wanted)}
        if wanted.strict:
            body["strict_tools"] = True
        if wanted.mode != "auto":
            body["tool_choice"] = "NONE" if wanted.mode == "none" else "REQUIRED"
        return body

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:  # noqa: ARG002  # there is no other mode
        """Set `response_format`."""
        body["response_format"] = {"type": "json_object", "json_schema": described_schema(definition)}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        if "done" in response:
            response["finish_reason"]  # Ollama's answers have the other key, and look similar
        message = object_of(response["message"])
        raw = response.get("finish_reason")
        said = [text_of(message.get("tool_plan")), text_of(message.get("content"))]
        text = "\n".join([part for part in said if part])
        calls = calls_of(message)
        sent: tuple[Any, ...] = (message,) if calls or message.get("content") else ()
        if text and not sent:  # the API refuses a plan without its calls
            sent = (self.text_message("assistant", text),)
        used: Any = response.get("usage") or {}
        return [
            Answer(
                *(calls, text, None, _STOPS.get(raw or "", "other"), raw, sent),
                reasoning=reasoning_of(message),
                id=text_or_none(response.get("id")),
                usage=usage_of(used.get("tokens"), ["input_tokens"], ["output_tokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> CohereMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return CohereMerger(calls)

    def calls_message(self, calls: Sequence[RawCall], text: str = "") -> list[dict[str, Any]]:
        """Return the assistant's message with a text, which becomes its plan, and calls."""
        plan = {"tool_plan": text} if text else {}
        return [{"role": "assistant", **plan, "tool_calls": [self.call(call) for call in calls]}]


_OF_AN_EVENT = frozenset({"type", "index", "delta"})
_OF_A_MESSAGE = frozenset({"role", "content", "tool_plan", "tool_calls", "citations"})
"""The kinds of events whose content is known; anything else is stored by its form."""


class CohereMerger(MessageMerger):
    """A merger of events that begin and continue the parts of one message."""

    first_event = "message-start"

    def __init__(self, calls: StreamedCalls) -> None:
        super().__init__(calls)
        self._calls: dict[int, GrowingBlock] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; unknown kinds are ignored."""
        delta = object_of(event.get("delta") or {})
        self._response.take(event, _OF_AN_EVENT)
        message, index = object_of(delta.get("message") or {}), event.get("index") or 0
        if event["type"] != "message-start":
            self._message.take(message, _OF_A_MESSAGE)
        match event["type"]:
            case "message-start":
                self._message.content.update(GrowingObject(message).content)
            case "content-start":
                self._message.numbered("content")[index] = GrowingObject(object_of(message["content"]))
                self._show(object_of(message["content"]))
            case "content-delta":
                self._message.numbered("content")[index].take(object_of(message["content"]))
                self._show(object_of(message["content"]))
            case "tool-plan-delta":
                self._message.append("tool_plan", message["tool_plan"])
                self._known.said.add(message["tool_plan"], "plan")
            case "tool-call-start":
                self._begin_call(index, object_of(message["tool_calls"]))
            case "tool-call-delta":
                self._grow_call(index, object_of(message["tool_calls"]))
            case "citation-start":
                self._message.held("citations", GrowingList).add(GrowingObject(message["citations"]))
            case "message-end":
                self._response.take(delta)
                self._has_ended = True
            case str():
                pass
            case _:
                raise TypeError

    def _show(self, part: Mapping[str, Any]) -> None:
        self._known.said.add(part.get("text") or "", "content")
        self._known.think(part.get("thinking") or "")

    def _begin_call(self, index: int, call: Mapping[str, Any]) -> None:
        function = object_of(call["function"])
        begun = self._message.held("tool_calls", GrowingList).add(GrowingBlock(call))
        taken = GrowingInput(self._known.begin(call.get("id"), function["name"]))
        begun.hold_input(taken, "function", "arguments").grow(function.get("arguments") or "")
        self._calls[index] = begun

    def _grow_call(self, index: int, delta: Mapping[str, Any]) -> None:
        call, function = self._calls[index], object_of(delta["function"])
        if call.input is not None:
            call.input.grow(function.get("arguments") or "")
        rest = {key: value for key, value in function.items() if key != "arguments"}
        call.take({**delta, "function": rest})


COHERE_STRICT = Dialect(
    keywords=frozenset(),
    formats=DATES | {"uuid"},
    required="one",
    closed="as_is",
    takes_type_lists=False,
    takes_recursion=False,
    whole_request=True,
    most_properties=200,
)
"""Source: https://docs.cohere.com/docs/structured-outputs, under `strict_tools`"""


cohere = Provider("Cohere", CohereWire(), NameRule(), takes_unions=False, dialect=COHERE_STRICT)
