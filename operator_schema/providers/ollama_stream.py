"""Streams of Ollama's own chat endpoint: an object a line.

Source: https://docs.ollama.com/api/chat
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array, to_json_text
from .merger import GrowingObject
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCalls

__all__ = ["OllamaMerger"]


class OllamaMerger:
    """Messages that continue each other; each call comes as a whole."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message = GrowingObject({})
        self._calls: list[Any] = []
        self._about: dict[str, Any] = {}
        self._lists = GrowingObject({})
        self.is_complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a line."""
        for key, value in object_of(event["message"]).items():
            if key == "tool_calls":
                for call in value or ():
                    function = object_of(object_of(call)["function"])
                    arguments = to_json_text(function.get("arguments") or {})
                    self._known.begin(call.get("id") or None, function["name"], arguments)
                    self._calls.append(copy_json(call))
            else:
                self._message.take({key: value})
                if key == "content" and value is not None:
                    self._known.said.add(value)
                elif key == "thinking" and value is not None:
                    self._known.think(value)
        for key, value in event.items():
            if is_array(value):
                self._lists.take({key: value})
            elif key != "message":
                self._about[key] = copy_json(value)
        self.is_complete = self.is_complete or bool(event.get("done"))

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        message = self._message.whole()
        if self._calls:
            message["tool_calls"] = self._calls
        if not message and not self.is_complete:
            return None
        return {**self._about, **self._lists.whole(), "message": message}
