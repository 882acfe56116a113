"""Streams of OpenAI's Responses.

Source: https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json
from .merger import GrowingObject
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall, StreamedCalls

__all__ = ["ResponsesMerger"]

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_TEXTS = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
}


class ResponsesMerger:
    """Events that begin, continue and end the items of one response."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._response: dict[str, Any] | None = None
        self._items: dict[int, _Item] = {}
        self.is_complete = False

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; kinds that aren't known are left out.

        Raises:
            ValueError: the response has failed.
        """
        kind = event["type"]
        if kind in {"response.created", "response.in_progress", *_LAST}:
            self._response = copy_json(object_of(event["response"]))
            self.is_complete = kind in _LAST
        elif kind == "response.output_item.added":
            self._items[event["output_index"]] = _Item(object_of(event["item"]), self._known)
        elif kind == "response.output_item.done":
            index, item = event["output_index"], object_of(event["item"])
            if index not in self._items:
                self._items[index] = _Item(item, self._known)
            self._items[index].end(item)
        elif kind == "response.function_call_arguments.delta":
            self._items[event["output_index"]].grow(event["delta"])
        elif kind in _TEXTS:
            self._items[event["output_index"]].add(event["content_index"], *_TEXTS[kind], event["delta"])
        elif not isinstance(kind, str):
            raise TypeError

    def response(self) -> dict[str, Any] | None:
        """Return the response so far; some servers leave the items out of the last event."""
        if self._response is None:
            return None
        items = [item.whole() for _, item in sorted(self._items.items())]
        return {**self._response, "output": self._response.get("output") or items}


class _Item:
    """One item, which grows."""

    def __init__(self, item: Mapping[str, Any], known: StreamedCalls) -> None:
        self._item: dict[str, Any] = copy_json(dict(item))
        self._parts: dict[int, GrowingObject] = {}
        self._call: StreamedCall | None = None
        self._has_ended = False
        if item.get("type") == "function_call":
            self._call = known.begin(item["call_id"], item["name"], item.get("arguments") or "")

    def grow(self, text: Any) -> None:
        if self._call is not None:
            self._call.grow(text)

    def add(self, index: int, kind: str, key: str, text: Any) -> None:
        self._parts.setdefault(index, GrowingObject({"type": kind})).append(key, text)

    def end(self, item: Mapping[str, Any]) -> None:
        self._item = copy_json(dict(item))
        self._has_ended = True
        if self._call is not None and not self._call.arguments:
            self._call.grow(item.get("arguments") or "")

    def whole(self) -> dict[str, Any]:
        if self._has_ended:
            return self._item
        found = dict(self._item)
        if self._call is not None:
            found["arguments"] = self._call.arguments
        if self._parts:
            found["content"] = [part.whole() for _, part in sorted(self._parts.items())]
        return found
