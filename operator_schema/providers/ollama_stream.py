"""Streams of Ollama's own chat endpoint: an object a line.

Source: https://docs.ollama.com/api/chat
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, to_json_text
from .merger import GrowingObject
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCalls

__all__ = ["OllamaMerger"]

_GROWING = frozenset({"content", "thinking"})


class OllamaMerger:
    """Messages that continue each other; each call comes as a whole."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message = GrowingObject({})
        self._calls: list[Any] = []
        self._done_reason: Any = None
        self.is_complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a line."""
        for key, value in object_of(event["message"]).items():
            if key == "tool_calls":
                for call in value or ():
                    function = object_of(object_of(call)["function"])
                    self._known.begin(None, function["name"], to_json_text(function.get("arguments") or {}))
                    self._calls.append(copy_json(call))
            elif key in _GROWING and value is not None:
                self._message.append(key, value)
            else:
                self._message.content[key] = copy_json(value)
        if event.get("done"):
            self.is_complete = True
            self._done_reason = event.get("done_reason")

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        message = self._message.whole()
        if self._calls:
            message["tool_calls"] = self._calls
        if not message and not self.is_complete:
            return None
        return {"message": message, "done_reason": self._done_reason}
