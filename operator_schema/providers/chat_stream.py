"""Streams of OpenAI's Chat Completions, and of what comes close to it.

Source: https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array, is_object, to_json_text
from .merger import GrowingObject
from .streamed_call import StreamedCalls
from .wire import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall

__all__ = ["ChatMerger"]

_GROWING = frozenset({"content", "refusal", "reasoning", "reasoning_content"})
_TOLD_AGAIN = frozenset(
    {
        *("content.delta", "content.done", "refusal.delta", "refusal.done"),
        *("tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"),
        *("logprobs.content.delta", "logprobs.content.done"),
        *("logprobs.refusal.delta", "logprobs.refusal.done"),
    }
)
"""Events of `client.chat.completions.stream` that say what its chunks say.

Source: https://github.com/openai/openai-python/blob/main/helpers.md
"""

_GROWING_DETAILS = frozenset({"text", "summary", "data"})


class ChatMerger:
    """Chunks, each with what is new in one of the choices."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._calls = calls
        self._choices: dict[int, _Choice] = {}

    @property
    def is_complete(self) -> bool:
        """Whether each choice has ended."""
        return bool(self._choices) and all(choice.has_ended for choice in self._choices.values())

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a chunk; Mistral's SDK has it in `data`, and the helper of OpenAI's SDK in `chunk`."""
        if "choices" in event:
            chunk = event
        elif "data" in event:
            chunk = object_of(event["data"])
        elif event.get("type") in _TOLD_AGAIN:
            return
        else:
            chunk = object_of(event["chunk"])
        for found in chunk["choices"]:
            choice = object_of(found)
            index = choice.get("index") or 0
            if index not in self._choices:
                # The calls that are told while they grow are those of the first answer.
                self._choices[index] = _Choice(self._calls if index == 0 else StreamedCalls({}, {}, {}))
            self._choices[index].take(choice)

    def response(self) -> dict[str, Any] | None:
        """Return all choices."""
        if not self._choices:
            return None
        return {"choices": [choice.whole() for _, choice in sorted(self._choices.items())]}


class _Choice:
    """One choice, which grows."""

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message = GrowingObject({"role": "assistant", "content": None})
        self._parts: list[Any] = []
        self._details: list[GrowingObject] = []
        self._calls: list[_Call] = []
        self._by_index: dict[Any, _Call] = {}
        self._legacy: _Call | None = None
        self._ends: dict[str, Any] = {}

    @property
    def has_ended(self) -> bool:
        return self._ends.get("finish_reason") is not None

    def take(self, choice: Mapping[str, Any]) -> None:
        for key in ("finish_reason", "native_finish_reason"):
            if choice.get(key) is not None:
                self._ends[key] = choice[key]
        delta = choice.get("delta")
        if delta is None and "message" in choice:  # a server that doesn't stream after all
            delta = {**choice["message"]}
            calls = delta.get("tool_calls") or ()
            delta["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
        for key, value in object_of(delta or {}).items():
            if value is not None:
                self._take_part(key, value)

    def _take_part(self, key: str, value: Any) -> None:
        if key == "tool_calls":
            for call in value:
                self._take_call(object_of(call))
        elif key == "function_call":
            if self._legacy is None:
                self._legacy = _Call(self._known.begin(None, ""))
            self._legacy.take({}, object_of(value))
        elif key == "content" and is_array(value):  # Mistral's reasoning models
            self._parts += copy_json(value)
        elif key == "content" and self._parts:
            self._parts += [{"type": "text", "text": value}] if value else []
        elif key == "reasoning_details":
            for detail in value:
                self._take_detail(object_of(detail))
        elif key in _GROWING:
            self._message.append(key, value)
        else:
            self._message.content[key] = copy_json(value)

    def _take_detail(self, detail: Mapping[str, Any]) -> None:
        """Take a part of OpenRouter's `reasoning_details`; parts of one detail follow each other."""
        last = self._details[-1] if self._details else None
        keys = ("type", "index")
        if last is None or any(last.content.get(key) != detail.get(key) for key in keys):
            last = GrowingObject({})
            self._details.append(last)
        for key, value in detail.items():
            if key in _GROWING_DETAILS and value is not None:
                last.append(key, value)
            elif value is not None or key not in last.content:
                last.content[key] = copy_json(value)

    def _take_call(self, delta: Mapping[str, Any]) -> None:
        index, call_id = delta.get("index"), delta.get("id")
        function = object_of(delta.get("function") or {})
        last = self._calls[-1] if self._calls else None
        call = last if index is None else self._by_index.get(index)
        # Some servers give no index, or each call the index 0.
        is_other = index is None or bool(call_id and call and call.id and call.id != call_id)
        if call is None or (is_other and function.get("name")):
            call = _Call(self._known.begin(call_id, ""))
            self._calls.append(call)
            self._by_index[index] = call
        call.take(delta, function)

    def whole(self) -> dict[str, Any]:
        message = self._message.whole()
        if self._parts:
            said = message["content"]
            message["content"] = [*([{"type": "text", "text": said}] if said else []), *self._parts]
        if self._details:
            message["reasoning_details"] = [detail.whole() for detail in self._details]
        if self._calls:
            message["tool_calls"] = [call.whole() for call in self._calls]
        if self._legacy is not None:
            message["function_call"] = self._legacy.whole()["function"]
        return {"message": message, **self._ends}


class _Call:
    """One call of a choice, which grows."""

    def __init__(self, streamed: StreamedCall) -> None:
        self._streamed = streamed
        self._content: dict[str, Any] = {}
        self._function: dict[str, Any] = {}

    @property
    def id(self) -> str | None:
        return self._streamed.id

    def take(self, delta: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        others = {key: value for key, value in delta.items() if key not in {"index", "function"}}
        self._content.update({key: copy_json(value) for key, value in others.items() if value is not None})
        self._streamed.id = self._streamed.id or delta.get("id") or None
        known, name, arguments = (
            self._streamed.wire_name,
            function.get("name") or "",
            function.get("arguments"),
        )
        if is_object(arguments):
            self._function["arguments"] = copy_json(arguments)
            arguments = to_json_text(arguments)
        # A name comes as a whole, is repeated, or comes in parts.
        self._streamed.grow(arguments or "", name if name == known else known + name)

    def whole(self) -> dict[str, Any]:
        said = {"name": self._streamed.wire_name, "arguments": self._streamed.arguments}
        return {**self._content, "function": {**said, **self._function}}
