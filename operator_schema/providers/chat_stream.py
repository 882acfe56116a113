"""Streams of OpenAI's Chat Completions, and of what comes close to it.

Source: https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array, is_object, to_json_text
from .merger import GrowingObject
from .message_text import REASONING_KEYS, part_text, thought_of
from .streamed_call import StreamedCalls, StreamedInput
from .wire import CUSTOM, object_of
from .written_calls import failed_calls, failed_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .streamed_call import StreamedCall

__all__ = ["ChatMerger"]

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

_OF_A_CALL = frozenset({"index", "function"})
_OF_A_FUNCTION = frozenset({"name", "arguments"})
_OF_A_CHUNK = frozenset({"delta", "message"})
_GROWING_DETAILS = frozenset({"text", "summary", "data"})


class ChatMerger:
    """Chunks, each with what is new in one of the choices."""

    is_binary = False

    def __init__(self, calls: StreamedCalls) -> None:
        self._calls = calls
        self._choices: dict[int, _Choice] = {}
        self._ended = 0
        self._about: dict[str, Any] = {}

    @property
    def is_complete(self) -> bool:
        """Whether each choice has ended."""
        return bool(self._choices) and self._ended == len(self._choices)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a chunk; Mistral's SDK has it in `data`, and the helper of OpenAI's SDK in `chunk`."""
        if failed := failed_calls(event):
            chunk: Mapping[str, Any] = {**event, "choices": [failed_choice(failed)]}
        elif "choices" in event:
            chunk = event
        elif "data" in event:
            chunk = object_of(event["data"])
        elif event.get("type") in _TOLD_AGAIN:
            return
        else:
            chunk = object_of(event["chunk"])
        self._take_about(chunk)
        for found in chunk["choices"]:
            choice = object_of(found)
            index = choice.get("index") or 0
            if index not in self._choices:
                # The calls that are told while they grow are those of the first answer.
                self._choices[index] = _Choice(self._calls if index == 0 else StreamedCalls({}, {}, {}))
            had_ended = self._choices[index].has_ended
            self._choices[index].take(choice)
            self._ended += self._choices[index].has_ended - had_ended

    def _take_about(self, chunk: Mapping[str, Any]) -> None:
        """Keep what a chunk says of the whole response; each says most of it again."""
        for key, value in chunk.items():
            if key != "choices" and value is not None:
                self._about[key] = copy_json(value)
        own = chunk.get("x_groq")  # where Groq says what a streamed answer cost
        if is_object(own) and own.get("usage") is not None:
            self._about["usage"] = copy_json(own["usage"])

    def response(self) -> dict[str, Any] | None:
        """Return all choices."""
        if not self._choices:
            return None
        about = {**self._about}
        if about.get("object") == "chat.completion.chunk":
            about["object"] = "chat.completion"
        return {**about, "choices": [choice.whole() for _, choice in sorted(self._choices.items())]}


class _Choice:
    """One choice, which grows."""

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._message = GrowingObject({"role": "assistant", "content": None})
        self._parts: list[GrowingObject] = []
        self._details: list[GrowingObject] = []
        self._calls: list[_Call | _CustomCall] = []
        self._by_index: dict[Any, _Call | _CustomCall] = {}
        self._legacy: _Call | None = None
        self._about = GrowingObject({})

    @property
    def has_ended(self) -> bool:
        # Some servers say an empty one with each chunk.
        return self._about.content.get("finish_reason") not in {None, "", "null"}

    def take(self, choice: Mapping[str, Any]) -> None:
        self._about.take({key: value for key, value in choice.items() if key not in _OF_A_CHUNK})
        self._take_message(choice)
        if self.has_ended:
            for call in self._calls:
                call.end()

    def _take_message(self, choice: Mapping[str, Any]) -> None:
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
            self._take_legacy(object_of(value))
        elif key == "content" and is_array(value):  # Mistral's reasoning models
            for part in value:
                self._take_content(object_of(part))
        elif key == "content" and self._parts:
            self._take_content({"type": "text", "text": value})
        elif key == "reasoning_details":
            for detail in value:
                self._take_detail(object_of(detail))
        else:
            if key == "content":
                self._known.said.add(value)
            elif key in REASONING_KEYS and isinstance(value, str):
                self._known.think(value, rank=REASONING_KEYS.index(key))
            self._message.take({key: value})

    def _take_legacy(self, function: Mapping[str, Any]) -> None:
        if self._legacy is None:
            if not function.get("name"):  # some servers send an empty one with every answer
                return
            self._legacy = _Call(self._known.begin(None, ""))
        self._legacy.take({}, function)

    def _take_content(self, part: Mapping[str, Any]) -> None:
        """Take a part of the content; a part that says nothing but more of the last one continues this."""
        self._known.said.add(part_text(part))
        self._known.think(thought_of(part), rank=len(REASONING_KEYS))
        last = self._parts[-1] if self._parts else None
        if last is not None and part.keys() == last.content.keys() == {"type", "text"}:
            last.append("text", part["text"])
        else:
            self._parts.append(GrowingObject(part))

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
        custom = object_of(delta.get("custom") or {})
        if call is None or (is_other and (function.get("name") or custom.get("name"))):
            if custom:
                call = _CustomCall(
                    StreamedInput(self._known, f"{CUSTOM}{delta['id']}", custom["name"]), call_id
                )
            else:
                call = _Call(self._known.begin(call_id, ""))
            self._calls.append(call)
            self._by_index[index] = call
        call.take(delta, function)

    def whole(self) -> dict[str, Any]:
        message = self._message.whole()
        if self._parts:
            said = message["content"]
            message["content"] = [
                *([{"type": "text", "text": said}] if said else []),
                *[part.whole() for part in self._parts],
            ]
        if self._details:
            message["reasoning_details"] = [detail.whole() for detail in self._details]
        if self._calls:
            message["tool_calls"] = [call.whole() for call in self._calls]
        if self._legacy is not None:
            message["function_call"] = self._legacy.whole()["function"]
        return {"message": message, **self._about.whole()}


class _Call:
    """One call of a choice, which grows."""

    def __init__(self, streamed: StreamedCall) -> None:
        self._streamed = streamed
        self._content: dict[str, Any] = {}
        self._function: dict[str, Any] = {}
        self._given: Mapping[str, Any] | None = None

    @property
    def id(self) -> str | None:
        return self._streamed.id

    def take(self, delta: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        # Some servers say all the rest of a call, such as a signature, with each piece of its arguments.
        self._content.update(_rest(delta, _OF_A_CALL))
        self._function.update(_rest(function, _OF_A_FUNCTION))
        self._streamed.id = self._streamed.id or delta.get("id") or None
        known, name, arguments = (
            self._streamed.wire_name,
            function.get("name") or "",
            function.get("arguments"),
        )
        if is_object(arguments):
            self._given = copy_json(arguments)
            arguments = to_json_text(arguments)
        # A name comes as a whole, is repeated, or comes in parts.
        self._streamed.grow(arguments or "", name if name == known else known + name)

    def end(self) -> None:
        """Nothing is left to be done: the text of the arguments has its own end."""

    def whole(self) -> dict[str, Any]:
        arguments = self._streamed.arguments if self._given is None else self._given
        said = {"name": self._streamed.wire_name, "arguments": arguments}
        return {**self._content, "function": {**said, **self._function}}


def _rest(said: Mapping[str, Any], own: frozenset[str]) -> dict[str, Any]:
    return {key: copy_json(value) for key, value in said.items() if key not in own and value is not None}


class _CustomCall:
    """One call of a tool that takes text."""

    def __init__(self, streamed: StreamedInput, call_id: str | None) -> None:
        self._streamed = streamed
        self._content = GrowingObject({})
        self.id = call_id

    def take(self, delta: Mapping[str, Any], _: Mapping[str, Any]) -> None:
        self._content.take({key: value for key, value in delta.items() if key != "index"})
        self._streamed.grow(object_of(delta.get("custom") or {}).get("input") or "")

    def end(self) -> None:
        self._streamed.end()

    def whole(self) -> dict[str, Any]:
        return self._content.whole()
