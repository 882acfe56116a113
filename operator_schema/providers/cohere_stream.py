"""Streams of Cohere's Chat v2.

Source: https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json
from .merger import GrowingObject
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall, StreamedCalls

__all__ = ["CohereMerger"]


_OF_AN_EVENT = frozenset({"type", "index", "delta"})
_OF_A_MESSAGE = frozenset({"role", "content", "tool_plan", "tool_calls", "citations"})
"""What the events of each kind say; anything else is kept by its form."""


class CohereMerger:
    """Events that begin and continue the parts of one message."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message = GrowingObject({})
        self._content: dict[int, GrowingObject] = {}
        self._calls: dict[int, tuple[GrowingObject, StreamedCall]] = {}
        self._citations: list[Any] = []
        self._about = GrowingObject({})
        self.is_complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; kinds that aren't known are left out."""
        delta = object_of(event.get("delta") or {})
        self._about.take({key: value for key, value in event.items() if key not in _OF_AN_EVENT})
        message, index = object_of(delta.get("message") or {}), event.get("index") or 0
        if event["type"] != "message-start":
            self._message.take({key: value for key, value in message.items() if key not in _OF_A_MESSAGE})
        match event["type"]:
            case "message-start":
                self._message.content.update(copy_json(message))
            case "content-start":
                self._content[index] = GrowingObject(object_of(message["content"]))
                self._tell(object_of(message["content"]))
            case "content-delta":
                self._content[index].take(object_of(message["content"]))
                self._tell(object_of(message["content"]))
            case "tool-plan-delta":
                self._message.append("tool_plan", message["tool_plan"])
                self._known.said.add(message["tool_plan"], "plan")
            case "tool-call-start":
                self._begin_call(index, object_of(message["tool_calls"]))
            case "tool-call-delta":
                self._grow_call(index, object_of(message["tool_calls"]))
            case "citation-start":
                self._citations.append(copy_json(message["citations"]))
            case "message-end":
                self._about.take(delta)
                self.is_complete = True
            case str():
                pass
            case _:
                raise TypeError

    def _tell(self, part: Mapping[str, Any]) -> None:
        self._known.said.add(part.get("text") or "", "content")
        self._known.think(part.get("thinking") or "")

    def _begin_call(self, index: int, call: Mapping[str, Any]) -> None:
        function = object_of(call["function"])
        streamed = self._known.begin(call.get("id"), function["name"], function.get("arguments") or "")
        self._calls[index] = GrowingObject(call), streamed

    def _grow_call(self, index: int, delta: Mapping[str, Any]) -> None:
        call, streamed = self._calls[index]
        function = object_of(delta["function"])
        streamed.grow(function.get("arguments") or "")
        rest = {key: value for key, value in function.items() if key != "arguments"}
        call.take({**delta, "function": rest})

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        message = self._message.whole()
        if self._content:
            message["content"] = [part.whole() for part in self._content.values()]
        if self._calls:
            message["tool_calls"] = [_whole(call, streamed) for call, streamed in self._calls.values()]
        if self._citations:
            message["citations"] = self._citations
        if not message and not self.is_complete:
            return None
        return {**self._about.whole(), "message": message}


def _whole(begun: GrowingObject, streamed: StreamedCall) -> dict[str, Any]:
    call = begun.whole()
    return {**call, "function": {**call["function"], "arguments": streamed.arguments}}
