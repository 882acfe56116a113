"""Streams of Amazon Bedrock's Converse.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array
from .merger import GrowingObject, input_of
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall, StreamedCalls

__all__ = ["ConverseMerger"]


class ConverseMerger:
    """Events, each an object with its kind as the only key."""

    is_binary = True

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._role: Any = None
        self._blocks: dict[int, _Block] = {}
        self._stop_reason: str | None = None
        self._about: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether the reason is known why the model stopped; it comes after all blocks."""
        return self._stop_reason is not None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; kinds that aren't known are left out."""
        for kind, value in event.items():
            content = object_of(value)
            if kind == "messageStart":
                self._role = content["role"]
            elif kind == "messageStop":
                self._stop_reason = content["stopReason"]
                self._about.update(copy_json(content))
            elif kind == "metadata":
                self._about.update(copy_json(content))
            elif kind in {"contentBlockStart", "contentBlockDelta"}:
                index = content["contentBlockIndex"]
                if index not in self._blocks:
                    self._blocks[index] = _Block(self._known, index)
                block = self._blocks[index]
                if kind == "contentBlockStart":
                    block.begin(object_of(content["start"]))
                else:
                    block.take(object_of(content["delta"]))

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        if self._role is None:
            return None
        blocks = [block.whole() for _, block in sorted(self._blocks.items())]
        message = {"role": self._role, "content": blocks}
        return {**self._about, "output": {"message": message}, "stopReason": self._stop_reason}


class _Block:
    """One block of content, which grows."""

    def __init__(self, known: StreamedCalls, index: int) -> None:
        self._known = known
        self._index = index
        self._content = GrowingObject({})
        self._use: GrowingObject | None = None
        self._call: StreamedCall | None = None
        self._input: list[str] = []
        self._citations: list[Any] = []
        self._reasoning = GrowingObject({})
        self._redacted: list[Any] = []

    def begin(self, start: Mapping[str, Any]) -> None:
        if "toolUse" in start:
            self._use = GrowingObject(object_of(start["toolUse"]))
            if start["toolUse"].get("type") != "server_tool_use":  # Bedrock runs such a call itself
                self._call = self._known.begin(start["toolUse"]["toolUseId"], start["toolUse"]["name"])
        else:
            self._content.take(start)

    def take(self, delta: Mapping[str, Any]) -> None:
        for kind, value in delta.items():
            if kind == "text":
                self._content.append("text", value)
                self._known.said.add(value)
            elif kind == "toolUse":
                self._take_use(object_of(value))
            elif kind == "citation":
                self._citations.append(copy_json(value))
            elif kind == "reasoningContent":
                self._take_reasoning(object_of(value))
            elif kind == "toolResult" and is_array(value):  # of a tool that Bedrock runs
                self._content.take({"toolResult": {"content": value}})
            else:
                self._content.take({kind: value})

    def _take_use(self, delta: Mapping[str, Any]) -> None:
        text = delta.get("input", "")
        if self._use is None or not isinstance(text, str):
            raise TypeError
        self._use.take({key: value for key, value in delta.items() if key != "input"})
        self._input.append(text)
        if self._call is not None:
            self._call.grow(text)

    def _take_reasoning(self, delta: Mapping[str, Any]) -> None:
        for kind, value in delta.items():
            if kind == "redactedContent":
                self._redacted.append(value)
            else:
                self._reasoning.take({kind: value})
                if kind == "text":
                    self._known.think(value, self._index)

    def whole(self) -> dict[str, Any]:
        said = self._content.whole()
        if self._use is not None:
            return {"toolUse": {**self._use.whole(), "input": input_of("".join(self._input))}, **said}
        if self._citations:
            return {"citationsContent": {"content": [said], "citations": self._citations}}
        if self._redacted:
            # botocore gives bytes, JSON has base64.
            redacted = self._redacted[0][:0].join(self._redacted)
            return {"reasoningContent": {"redactedContent": redacted}, **said}
        reasoning = self._reasoning.whole()
        return {"reasoningContent": {"reasoningText": reasoning}, **said} if reasoning else said
