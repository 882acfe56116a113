"""Streams of Anthropic's Messages.

Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_object
from .merger import GrowingObject, input_of
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCalls

__all__ = ["MessagesMerger"]


class MessagesMerger:
    """Events that begin and continue the blocks of one message."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the reason is known why the model stopped; it comes after all blocks."""
        return self._message.get("stop_reason") is not None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; kinds that aren't known are left out, as the API asks."""
        match event["type"]:
            case "message_start":
                self._message = copy_json(object_of(event["message"]))
            case "content_block_start":
                self._blocks[event["index"]] = _Block(
                    object_of(event["content_block"]), self._known, event["index"]
                )
            case "content_block_delta":
                self._blocks[event["index"]].take(object_of(event["delta"]))
            case "message_delta":
                self._end(event)
            case str():
                pass
            case _:
                raise TypeError

    def _end(self, event: Mapping[str, Any]) -> None:
        """Take what is known at the end: why the model stopped, and what the answer cost."""
        for key, value in {**event, **object_of(event["delta"])}.items():
            before = self._message.get(key)
            if is_object(value) and is_object(before):
                known = {inner: found for inner, found in value.items() if found is not None}
                self._message[key] = {**before, **copy_json(known)}
            elif key not in {"delta", "type"}:
                self._message[key] = copy_json(value)

    def response(self) -> dict[str, Any] | None:
        """Return the message so far."""
        if not self._message:
            return None
        blocks = [block.whole() for _, block in sorted(self._blocks.items())]
        return {**self._message, "content": blocks}


class _Block:
    """One block of content, which grows."""

    def __init__(self, block: Mapping[str, Any], known: StreamedCalls, index: int) -> None:
        self._known = known
        self._index = index
        self._content = GrowingObject(block)
        self._input: list[str] = []
        self._citations: list[Any] = []
        is_call = block.get("type") == "tool_use"
        self._call = known.begin(block["id"], block["name"]) if is_call else None
        self._tell(block)

    def take(self, delta: Mapping[str, Any]) -> None:
        """Take more of the block: kinds of deltas that aren't known by their form."""
        kind = delta["type"]
        if kind == "input_json_delta":
            self._input.append(delta["partial_json"])
            if self._call is not None:
                self._call.grow(delta["partial_json"])
        elif kind == "citations_delta":
            self._citations.append(copy_json(delta["citation"]))
        else:
            self._content.take({key: value for key, value in delta.items() if key != "type"})
            self._tell(delta)

    def _tell(self, more: Mapping[str, Any]) -> None:
        kind = self._content.content.get("type")
        if kind == "text" and "text" in more:
            self._known.said.add(more["text"])
        elif kind == "thinking" and "thinking" in more:
            self._known.think(more["thinking"], self._index)

    def whole(self) -> dict[str, Any]:
        block, text = self._content.whole(), "".join(self._input)
        if self._citations:
            block["citations"] = [*(block.get("citations") or ()), *self._citations]
        return {**block, "input": input_of(text)} if text else block
