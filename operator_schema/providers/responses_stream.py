"""Streams of OpenAI's Responses.

Source: https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array
from .merger import GrowingObject
from .streamed_call import StreamedInput
from .wire import CUSTOM, object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall, StreamedCalls

__all__ = ["ResponsesMerger"]

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_TEXTS = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
}
"""Events with a piece of text: the list in the item to whose part it belongs, the type of the part, and the
key of the text."""

_THOUGHTS = frozenset({"reasoning_text", "summary_text"})
_INPUTS = frozenset({"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"})


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
        elif kind in _INPUTS:
            self._items[event["output_index"]].grow(event["delta"])
        elif kind in _TEXTS:
            place, part, key = _TEXTS[kind]
            self._items[event["output_index"]].add(place, event[f"{place}_index"], part, key, event["delta"])
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
        self._known = known
        self._parts: dict[tuple[str, int], GrowingObject] = {}
        self._call: StreamedCall | None = None
        self._input: StreamedInput | None = None
        self._has_ended = False
        if item.get("type") == "function_call":
            self._call = known.begin(item["call_id"], item["name"], item.get("arguments") or "")
        elif item.get("type") == "custom_tool_call":
            self._input = StreamedInput(known, f"{CUSTOM}{item['call_id']}", item["name"])
            self._input.grow(item.get("input") or "")

    def grow(self, text: Any) -> None:
        """Take more of a call: of its arguments, or of the text that a custom tool takes."""
        taken = self._input or self._call
        if taken is not None:
            taken.grow(text)

    def add(self, place: str, index: int, kind: str, key: str, text: Any) -> None:
        """Take more of a part of the item's content, or of the summary of what the model thinks."""
        self._parts.setdefault((place, index), GrowingObject({"type": kind})).append(key, text)
        self._tell(place, index, kind, text)

    def _tell(self, place: str, index: int, kind: str, text: Any) -> None:
        if kind == "output_text":
            self._known.said.add(text)
        elif kind in _THOUGHTS:
            self._known.think(text, (self, place, index))

    def end(self, item: Mapping[str, Any]) -> None:
        """Take the item as a whole; some servers send no part of it before."""
        self._item = copy_json(dict(item))
        self._has_ended = True
        if self._input is not None:
            if not self._input.text:
                self._input.grow(item.get("input") or "")
            self._input.end()
        elif self._call is not None and not self._call.arguments:
            self._call.grow(item.get("arguments") or "")
        if not self._parts and item.get("type") in {"message", "reasoning"}:
            self._tell_all(item)

    def _tell_all(self, item: Mapping[str, Any]) -> None:
        for place in ("summary", "content"):
            found = item.get(place)
            for index, part in enumerate(found if is_array(found) else ()):
                self._tell(place, index, part["type"], part.get("text") or "")

    def whole(self) -> dict[str, Any]:
        """Return the item as it is so far."""
        if self._has_ended:
            return self._item
        found = dict(self._item)
        if self._input is not None:
            found["input"] = self._input.text
        elif self._call is not None:
            found["arguments"] = self._call.arguments
        for place in {place for place, _ in self._parts}:
            found[place] = [part.whole() for (its, _), part in sorted(self._parts.items()) if its == place]
        return found
