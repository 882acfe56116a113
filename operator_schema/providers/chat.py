"""OpenAI's Chat Completions, which many other providers use too: its wire form and its streams.

Source: https://platform.openai.com/docs/api-reference/chat,
https://platform.openai.com/docs/api-reference/chat-streaming and the pages of each provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..json_values import copy_json, is_array, is_object, to_json_text
from ..message_text import checked_text, result_line
from ..schema.dialect import Dialect
from ..tools import RawCall
from .answer import Answer
from .openai_shared import OPENAI_STRICT, custom_call, custom_input, data_url, is_custom
from .partial_response import (
    ChoicesMerger,
    CustomInput,
    GrowingBlock,
    GrowingInput,
    GrowingList,
    GrowingObject,
    Merger,
    says_nothing,
)
from .provider import Provider
from .response_json import is_whole
from .rules import (
    BOUNDS,
    COMMON_FORMATS,
    CUSTOM,
    DATES,
    ITEMS,
    LENGTHS,
    NUMBERS,
    UNNAMED,
    Features,
    IdRule,
    NameRule,
    Rules,
    given_id,
)
from .wire_format import (
    IMAGES,
    PDF,
    Wire,
    arguments_text,
    as_written,
    described,
    failed_calls,
    file_name,
    object_of,
    parts_of,
    text_or_none,
    unnamed_call,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools import File, Image, ToolDefinition, ToolResult
    from .answer import StopReason
    from .streamed_calls import StreamedCalls
    from .wire_format import Wanted

if not TYPE_CHECKING:  # type checkers take the providers below from here: `from .chat import *`
    __all__ = ["ChatLikeWire", "ChatWire", "LENGTH", "calls_of", "reasoning_of", "text_of", "tools_alone"]


_LEGACY = f"{UNNAMED}function_"
"""The beginning of the ids of calls in OpenAI's old `function_call`: their results have another role."""

_STAND_IN = "(another model made these calls)"

_FAILED = "tool_use_failed"
"""Groq's error code for a call that it couldn't read; the error contains the text of the model.

Source: https://console.groq.com/docs/tool-use
"""

_STOPS: dict[str, StopReason] = {
    "tool_calls": "calls",
    "function_call": "calls",
    _FAILED: "calls",
    "stop": "end",
    "content_filter": "filtered",
    "length": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "error": "other",
}
LENGTH = frozenset([word for word, stop in _STOPS.items() if stop == "length"])
"""Words for a model that reached the limit on tokens."""


class ChatLikeWire(Wire):
    """The shared parts of Chat Completions and similar wire forms."""

    OTHER_ROLES = True
    STOPS = _STOPS

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool in the form of the list of tools."""
        return {"type": "function", "function": described(definition, "parameters", strict=strict)}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:
        """Set `response_format`."""
        schema = {**described(definition, "schema", strict=False), "strict": strict}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return a call in the form of a message."""
        function, call_id = {"name": call.name, "arguments": arguments_text(call)}, given_id(call.id)
        named = {} if call_id.startswith(UNNAMED) else {"id": call_id}
        return {**named, "type": "function", "function": function}

    def with_whole_calls(self, messages: list[Any], calls: Sequence[RawCall]) -> list[Any]:
        """Return the message with calls whose arguments are always the text of a JSON object.

        The templates of vLLM and llama.cpp parse it, and refuse the whole request if they can't.
        """
        sent = [call for message in messages for call in message.get("tool_calls") or ()]
        for found, call in zip(sent, calls, strict=False):  # the old `function_call` isn't in the list
            if call.is_cut_off and "function" in found:
                found["function"]["arguments"] = arguments_text(call)
        return messages

    def with_calls(
        self, messages: Sequence[Any], text: str, calls: Sequence[RawCall]
    ) -> list[dict[str, Any]]:
        """Return the model's message with calls in place of its text; the rest of it is unchanged."""
        kept = {key: value for key, value in messages[0].items() if key != "content"}
        said = {"content": text} if text else {}
        return [{**kept, **self.calls_message(calls)[0], **said}]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls in a message."""
        return len(message.get("tool_calls") or ()) + bool(message.get("function_call"))

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the message of a result."""
        return {**_reply_keys(result), "content": result.content}


class ChatWire(ChatLikeWire):
    """Chat Completions.

    Attributes:
        required: the provider's word for a choice that requires some tool.
        sent_keys: the keys that a message of the assistant may have in a request; None for all keys of
            answers.
        takes_images: whether images and PDFs of results are sent, in a message of the user; if not, text
            describes them.
        needs_reasoning: whether a message with calls needs `reasoning_content`.
        chooses_by_name: whether a choice may name a tool; if not, a required tool is the only one offered.
    """

    required: str = "required"
    sent_keys: frozenset[str] | None = None
    takes_images: bool = False
    needs_reasoning: bool = False
    chooses_by_name: bool = True

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `tool_choice`."""
        if self.chooses_by_name or wanted.name is None:
            return super().request(tools, wanted)
        return {"tools": tools_alone(tools, wanted), "tool_choice": self.required}

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return a call in the form of a message."""
        if not is_custom(call):
            return super().call(call)
        custom = {"name": call.name, "input": custom_input(call)}
        return {"id": given_id(call.id), "type": "custom", "custom": custom}

    def choice(self, wanted: Wanted) -> Any:
        """Return the `tool_choice`."""
        if wanted.name is not None:
            return {"type": "function", "function": {"name": wanted.name}}
        return self.required if wanted.mode == "required" else wanted.mode

    def custom_tool(self, name: str, description: str, grammar: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a tool that takes text, in the form of the list of tools."""
        custom: dict[str, Any] = {"name": name, "description": description}
        if grammar is not None:
            custom["format"] = {"type": "grammar", "grammar": grammar}
        return {"type": "custom", "custom": custom}

    def custom_choice(self, name: str) -> Any:
        """Return the `tool_choice` for a tool that takes text."""
        return {"type": "custom", "custom": {"name": name}}

    def allowed_choice(self, mode: Literal["auto", "required"], names: Mapping[str, bool]) -> Any:
        """Return the `tool_choice` that allows some tools."""
        kinds = {name: "custom" if is_text else "function" for name, is_text in names.items()}
        tools = [{"type": kind, kind: {"name": name}} for name, kind in kinds.items()]
        return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answer of each choice."""
        about: dict[str, Any] = {
            "id": text_or_none(response.get("id")),
            "usage": usage_of(response.get("usage"), ["prompt_tokens"], ["completion_tokens"]),
        }
        if "error" in response:
            if failed := failed_calls(response):
                response = {"choices": [_failed_choice(failed)], **response}
            about["stop_message"] = _error_message(response)
        choices = _merged_choices([object_of(choice) for choice in response["choices"]])
        return [self._answer(choice, about) for choice in choices]

    def _answer(self, choice: Mapping[str, Any], about: Mapping[str, Any]) -> Answer:
        message = object_of(choice["message"])
        calls = calls_of(message)
        if legacy := message.get("function_call"):
            function = object_of(legacy)
            if function.get("name"):  # some servers send an empty one with every answer
                calls += (unnamed_call(function["name"], _arguments(function), _LEGACY),)
        refusal = message.get("refusal")
        raw = choice.get("finish_reason")
        native = choice.get("native_finish_reason")
        if native in LENGTH:  # OpenRouter says `tool_calls` for a call that was cut off
            raw = native
        stop: StopReason = _STOPS.get(raw or "", "other")
        if raw == "" and not calls:  # Snowflake says nothing where the model is done
            stop = "end"
        if refusal and not calls:
            stop = "refused"
        reasoning = reasoning_of(message)
        if self.sent_keys is not None:
            message = {key: value for key, value in message.items() if key in self.sent_keys}
        text = text_of(message.get("content"))
        # Several providers refuse a message without content.
        said = (message,) if calls or refusal or message.get("content") else ()
        if "error" in choice and not about.get("stop_message"):
            about = {**about, "stop_message": _error_message(choice)}
        return Answer(calls, text, refusal or None, stop, raw, said, reasoning, **about)

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return the object that rebuilds the response from the events of a stream."""
        return ChatMerger(calls, "choices", _Choice)

    def calls_message(self, calls: Sequence[RawCall], text: str = "") -> list[dict[str, Any]]:
        """Return the assistant's message with a text and calls."""
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls and calls[0].id.startswith(_LEGACY):
            function = {"name": calls[0].name, "arguments": arguments_text(calls[0])}
            return [{**message, "function_call": function}]
        return [{**message, "tool_calls": [self.call(call) for call in calls]}]

    def with_stand_ins(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return messages with a stand-in for the reasoning, if the provider requires one beside calls."""
        stand_in = {"reasoning_content": _STAND_IN} if self.needs_reasoning else {}
        return [{**message, **stand_in} for message in messages]

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return a message for each result; images and PDFs follow in a message of the user, if allowed.

        Source: https://platform.openai.com/docs/guides/images-vision
        """
        messages = super().results(results)
        shown = [part for result in results for part in _media_parts(result)] if self.takes_images else []
        return [*messages, {"role": "user", "content": shown}] if shown else messages


def _error_message(found: Mapping[str, Any]) -> str | None:
    """Return the message of the error in a response or, for OpenRouter, in a choice."""
    error: Any = found["error"]
    return text_or_none(error.get("message")) if is_object(error) else None


def _merged_choices(choices: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Merge choices that belong to one answer: Copilot puts the calls into a choice of their own."""
    if len(choices) < 2:  # noqa: PLR2004  # there are no others
        return choices
    first, *others = choices
    calls = [call for choice in others for call in object_of(choice["message"]).get("tool_calls") or ()]
    if not (calls and waits_in_vain(first)):
        return choices
    message = {**first["message"], "tool_calls": calls}
    return [{**first, "message": message}, *[choice for choice in others if not _has_calls(choice)]]


def waits_in_vain(choice: Mapping[str, Any]) -> bool:
    """Return whether a choice says that it waits for the results of calls, but has no calls."""
    return _STOPS.get(choice.get("finish_reason") or "") == "calls" and not _has_calls(choice)


def _has_calls(choice: Mapping[str, Any]) -> bool:
    message = object_of(choice["message"])
    return bool(message.get("tool_calls") or message.get("function_call"))


def tools_alone(tools: Sequence[dict[str, Any]], wanted: Wanted) -> Sequence[dict[str, Any]]:
    """Return only the required tool, for a provider that can't require one in another way."""
    if wanted.name is None:
        return tools
    return [tool for tool in tools if tool["function"]["name"] == wanted.name]


def calls_of(message: Mapping[str, Any]) -> tuple[RawCall, ...]:
    """Return the calls in a message of the assistant."""
    return tuple([_read_call(object_of(call)) for call in message.get("tool_calls") or ()])


def _reply_keys(result: ToolResult) -> dict[str, Any]:
    """Return the keys that refer a result to its call."""
    if result.call_id.startswith(_LEGACY):
        return {"role": "function", "name": result.name}
    call_id = given_id(result.call_id)
    if call_id.startswith(UNNAMED):
        return {"role": "tool", "name": result.name}
    return {"role": "tool", "tool_call_id": call_id}


def _media_parts(result: ToolResult) -> list[dict[str, Any]]:
    """List images and files of a result in the form of a user's message, after a line that names the call."""
    shown = [_media_part(part) for part in parts_of(result, {*IMAGES, PDF}) if not isinstance(part, str)]
    line = result_line(result.name, given_id(result.call_id))
    return [{"type": "text", "text": line}, *shown] if shown else []


def _media_part(part: Image | File) -> dict[str, Any]:
    if part.media_type in IMAGES:
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return {"type": "file", "file": {"filename": file_name(part), "file_data": data_url(part)}}


def _read_call(call: Mapping[str, Any]) -> RawCall:
    if call.get("type") == "custom":
        custom = object_of(call["custom"])
        return custom_call(call["id"], custom["name"], custom.get("input"))
    function = object_of(call["function"])
    call_id = _known_id(call)
    if call_id is None:
        return unnamed_call(function["name"], _arguments(function))
    return RawCall(call_id, function["name"], _arguments(function))


def _arguments(function: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; some models write null for a tool that takes none."""
    found = function.get("arguments")
    return None if found == "null" else found


def _failed_choice(calls: Sequence[RawCall]) -> dict[str, Any]:
    """Return the choice with the calls that the provider refused, as if it hadn't refused them."""
    sent = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": as_written(call)},
        }
        for call in calls
    ]
    message = {"role": "assistant", "content": None, "tool_calls": sent}
    return {"message": message, "finish_reason": _FAILED}


_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Keys for the thinking of a model in a message: of DeepSeek, of OpenRouter and Groq, and of Ollama."""


def text_of(content: Any) -> str:
    """Return the text of a message's content, which is text or a list of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join([_part_text(part) for part in content])


def _part_text(part: Any) -> str:
    """Return the text of a part of a message's content; empty for a part of another kind."""
    found = part.get("text")
    return found if isinstance(found, str) else ""


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return the reasoning of the model. Some servers repeat it under two keys; some send it in parts."""
    for key in _REASONING_KEYS:
        if isinstance(message.get(key), str) and message[key]:
            return str(message[key])
    content = message.get("content")
    return "".join([_thought_of(part) for part in content]) if content and is_array(content) else ""


def _thought_of(part: Any) -> str:
    """Return the model's thinking in a part of Mistral's or Cohere's content, which has parts or text.

    Source: https://docs.mistral.ai/capabilities/reasoning and https://docs.cohere.com/docs/reasoning
    """
    found = part.get("thinking") if is_object(part) else None
    return text_of(found) if isinstance(found, (str, list)) else ""


_REPEATING_EVENTS = frozenset(
    {
        *("content.delta", "content.done", "refusal.delta", "refusal.done"),
        *("tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"),
        *("logprobs.content.delta", "logprobs.content.done"),
        *("logprobs.refusal.delta", "logprobs.refusal.done"),
    }
)
"""Events of `client.chat.completions.stream` that repeat the content of its chunks.

Source: https://github.com/openai/openai-python/blob/main/helpers.md
"""

_NOTHING: Mapping[str, Any] = {}  # nobody changes it
_OF_A_CALL = frozenset({"index", "function"})
_OF_A_KNOWN_CALL = _OF_A_CALL | {"id"}
_OF_A_FUNCTION = frozenset({"name", "arguments"})
_OF_A_CHUNK = frozenset({"delta", "message"})
_GROWING_DETAILS = frozenset({"text", "summary", "data"})


def _lacks_choices(event: Mapping[str, Any]) -> bool:
    """Return whether an event is a chunk without choices, such as one with the usage."""
    kind = event.get("object")
    return kind == "chat.completion.chunk" or (not kind and bool(event.get("usage")) and "type" not in event)


class ChatMerger(ChoicesMerger):
    """A merger of chunks that each have new content for one choice."""

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a chunk; Mistral's SDK has it in `data`, and the helper of OpenAI's SDK in `chunk`."""
        if "error" in event and (failed := failed_calls(event)):
            chunk: Mapping[str, Any] = {**event, "choices": [_failed_choice(failed)]}
        elif "choices" in event:
            chunk = event
        elif "data" in event:
            chunk = object_of(event["data"])
        elif event.get("type") in _REPEATING_EVENTS:
            return
        elif _lacks_choices(event):
            chunk = {**event, "choices": ()}
        else:
            chunk = object_of(event["chunk"])
        self._take_about(chunk)
        for choice in chunk["choices"]:
            self._take_choice(object_of(choice))
        if len(self._choices) > 1:
            self._adopt_calls()

    def _adopt_calls(self) -> None:
        """Move all calls to the first choice, if the response is one answer in several choices."""
        first = self._choices.get(0)
        if isinstance(first, _Choice) and first.lacks_calls:
            for other in self._choices.values():
                if isinstance(other, _Choice) and other is not first:
                    self._known.adopt(other.known)

    def _take_about(self, chunk: Mapping[str, Any]) -> None:
        """Store the data of a chunk about the whole response; each chunk repeats most of them."""
        self._response.put(chunk, {"choices"})
        own = chunk.get("x_groq")  # Groq has the cost of a streamed answer here
        if is_object(own):
            self._response.put({"usage": own.get("usage")})
        if self._response.content.get("object") == "chat.completion.chunk":
            self._response.content["object"] = "chat.completion"


class _Choice:
    """One choice, which grows with each chunk."""

    def __init__(self, known: StreamedCalls) -> None:
        self.known = known
        self.tree = GrowingObject()
        self._message = self.tree.hold("message", GrowingObject({"role": "assistant", "content": None}))
        self._parts: GrowingList | None = None
        self._calls = _GrowingCalls(known, self._message)

    @property
    def has_ended(self) -> bool:
        # Some servers send an empty value with each chunk.
        return self.tree.content.get("finish_reason") not in {None, "", "null"}

    def take(self, choice: Mapping[str, Any]) -> None:
        self.tree.take(choice, _OF_A_CHUNK)
        delta = choice.get("delta")
        if delta is None and "message" in choice:
            delta = self._missing_parts(object_of(choice["message"]))
        for key, value in object_of(delta or {}).items():
            if value is not None:
                self._take_part(key, value)
        if self.has_ended:
            self._calls.end()

    @property
    def lacks_calls(self) -> bool:
        """Whether the choice waits for the results of calls that it doesn't have."""
        return self.has_ended and waits_in_vain({**self.tree.content, "message": self._message.whole()})

    def _missing_parts(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of a whole message that no chunk contained."""
        known = self._message.whole()
        delta = {key: value for key, value in message.items() if not known.get(key)}
        calls = delta.get("tool_calls") or ()
        delta["tool_calls"] = [{**call, "index": index} for index, call in enumerate(calls)]
        return delta

    def _take_part(self, key: str, value: Any) -> None:
        if key == "tool_calls":
            for call in value:
                self._calls.take(object_of(call))
        elif key == "function_call":
            self._calls.take_legacy(object_of(value))
        elif key == "content" and is_array(value):  # Mistral's reasoning models
            for part in value:
                self._take_content(object_of(part))
        elif key == "content" and self._parts is not None:
            self._take_content({"type": "text", "text": value})
        elif key == "reasoning_details":
            for detail in value:
                self._take_detail(object_of(detail))
        else:
            if key == "content":
                self.known.said.add(value)
            elif key in _REASONING_KEYS and isinstance(value, str):
                self.known.think(value, rank=_REASONING_KEYS.index(key))
            self._message.take({key: value})

    def _take_content(self, part: Mapping[str, Any]) -> None:
        """Add a part of the content; a part that only continues the last one is appended to it."""
        self.known.said.add(_part_text(part))
        self.known.think(_thought_of(part), rank=len(_REASONING_KEYS))
        if self._parts is None:
            said = self._message.whole()["content"]
            first = [{"type": "text", "text": said}] if said else []
            self._parts = self._message.hold("content", GrowingList(first))
        last = self._parts.last
        if isinstance(last, GrowingObject) and part.keys() == last.content.keys() == {"type", "text"}:
            last.append("text", part["text"])
        else:
            self._parts.add(GrowingObject(part))

    def _take_detail(self, detail: Mapping[str, Any]) -> None:
        """Add a part of OpenRouter's `reasoning_details`; parts of one detail follow each other."""
        details = self._message.held("reasoning_details", GrowingList)
        last = details.last
        if last is None or _begins_another_detail(detail, last.content):
            last = details.add(GrowingObject())
        for key, value in detail.items():
            if key in _GROWING_DETAILS and value is not None:
                last.append(key, value)
            elif key not in last.content or not says_nothing(key, value):
                last.content[key] = copy_json(value)


class _GrowingCalls:
    """The calls of one choice, which grow with each chunk.

    Args:
        known: the object that shows the calls.
        message: the message that gets them.
    """

    def __init__(self, known: StreamedCalls, message: GrowingObject) -> None:
        self._known = known
        self._message = message
        self._inputs: list[GrowingInput] = []
        self._by_index: dict[Any, GrowingBlock] = {}
        self._last: GrowingBlock | None = None
        self._legacy: GrowingBlock | None = None

    def take(self, delta: Mapping[str, Any]) -> None:
        """Add a piece of a call, which may begin a new one."""
        index, call_id = delta.get("index"), _known_id(delta)
        function, custom = object_of(delta.get("function") or _NOTHING), delta.get("custom") or _NOTHING
        call = self._last if index is None else self._by_index.get(index)
        has_name = bool(function.get("name") or custom.get("name"))
        if call is None or (has_name and (index is None or _begins_another_call(call, call_id, function))):
            call = self._begin_custom(delta, object_of(custom)) if custom else self._begin(call_id)
            self._message.held("tool_calls", GrowingList).add(call)
            self._last = self._by_index[index] = call
        if isinstance(call.input, CustomInput):
            call.take(delta, {"index", "custom"})
            call.held("custom", GrowingObject).take(custom, {"input"})
            call.input.grow(custom.get("input") or "")
        else:
            self._grow(call, delta, function)

    def take_legacy(self, function: Mapping[str, Any]) -> None:
        """Add a piece of OpenAI's old `function_call`."""
        if self._legacy is None:
            if not function.get("name"):  # some servers send an empty one with every answer
                return
            self._legacy = self._begin(None)
            self._message.hold("function_call", self._legacy.held("function", GrowingObject))
        self._grow(self._legacy, {}, function)

    def end(self) -> None:
        """End the inputs of all calls."""
        for taken in self._inputs:
            taken.end()

    def _begin(self, call_id: Any) -> GrowingBlock:
        call = GrowingBlock()
        self._inputs.append(
            call.hold_input(GrowingInput(self._known.begin(call_id, "")), "function", "arguments")
        )
        return call

    def _begin_custom(self, delta: Mapping[str, Any], custom: Mapping[str, Any]) -> GrowingBlock:
        call = GrowingBlock()
        taken = CustomInput(self._known, CUSTOM + delta["id"], custom["name"])
        self._inputs.append(call.hold_input(taken, "custom", "input"))
        return call

    def _grow(self, call: GrowingBlock, delta: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        """Add more data to a call of a function."""
        taken = call.input
        if taken is None or taken.call is None:
            raise TypeError
        streamed = taken.call
        # Some servers send the other data of a call, such as a signature, with each piece of its arguments.
        call.put(delta, _OF_A_CALL if _known_id(call.content) is None else _OF_A_KNOWN_CALL)
        inner = call.held("function", GrowingObject)
        inner.put(function, _OF_A_FUNCTION)
        streamed.id = streamed.id or _known_id(delta)
        name, arguments = function.get("name") or "", function.get("arguments")
        if name:  # the value is sent whole, repeated, or in parts
            streamed.grow("", name if name == streamed.wire_name else streamed.wire_name + name)
        inner.content["name"] = streamed.wire_name
        if is_object(arguments):
            taken.give(arguments)
            arguments = to_json_text(arguments)
        taken.grow(arguments or "")


def _known_id(call: Mapping[str, Any]) -> Any:
    """Return the id of a call, or None: some servers send an empty id in each piece but the first."""
    found = call.get("id")
    return None if says_nothing("id", found) else found


def _begins_another_call(call: GrowingBlock, call_id: Any, function: Mapping[str, Any]) -> bool:
    """Return whether a piece of a stream begins a new call, although its index belongs to another call.

    Some servers give each call the index 0. A new call then has another id; without ids, it has arguments
    although those of the call before are whole.
    """
    known = _known_id(call.content)
    if call_id is not None or known is not None:
        return call_id is not None and known not in {None, call_id}
    return bool(function.get("arguments")) and call.input is not None and is_whole(call.input.whole())


def _begins_another_detail(detail: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether a part of OpenRouter's `reasoning_details` starts a new detail."""
    ids = {found.get("id") for found in (detail, last)} - {None, ""}
    return len(ids) > 1 or any(last.get(key) != detail.get(key) for key in ("type", "index"))


def openai_compatible(
    name: str,
    *,
    names: NameRule = NameRule(),  # noqa: B008  # it is immutable
    required: str = "required",
    takes_unions: bool = False,
    dialect: Dialect | None = None,
    sent_keys: frozenset[str] | None = None,
    takes_images: bool = False,
    needs_reasoning: bool = False,
    rules: Rules = Rules(),  # noqa: B008  # as above
    features: Features = Features(),  # noqa: B008  # as above
    calls_in_text: bool = True,
) -> Provider:
    """Make a provider that takes OpenAI's Chat Completions, such as vLLM, llama.cpp or OpenRouter.

    Args:
        name: the name of the provider, for messages.
        names: the rule for the names of tools.
        required: the provider's word for a choice that requires some tool.
        takes_unions: whether the arguments of a tool may be a union. If not, the tool gets the properties of
            all its members, and its description has the rest.
        dialect: the part of JSON Schema that its strict mode takes; None without a strict mode.
        sent_keys: the keys that a message of the assistant may have in a request; None for all keys of
            answers.
        takes_images: whether images and PDFs in results are sent, in a message of the user after the results.
        needs_reasoning: whether a message of the assistant with calls needs `reasoning_content`, as thinking
            models of DeepSeek and Kimi do: turns of other providers get a stand-in.
        rules: the provider's rules in any mode.
        features: further features of its requests, such as `Features(parallel=True)`.
        calls_in_text: whether an answer without calls whose whole text is calls of offered tools makes these
            calls: a server that can't read its model's calls leaves them in the text.

    Raises:
        TypeError: the name isn't a string, or an option has a wrong type.
        ValueError: Chat Completions has no form for a feature, JSON Schema doesn't have a keyword of the
            dialect, or a value isn't one of the choices.
    """
    from .custom_provider_checks import check_custom_provider

    made = Provider(
        checked_text("the name of a provider", name),
        ChatWire(required, sent_keys, takes_images, needs_reasoning),
        names,
        takes_unions=takes_unions,
        dialect=dialect,
        rules=rules,
        features=features,
        calls_in_text=calls_in_text,
    )
    check_custom_provider(made)
    return made


DEEPSEEK_STRICT = Dialect(
    keywords=NUMBERS | {"pattern"},
    formats=COMMON_FORMATS,
    required="all",
    takes_type_lists=False,
    whole_request=True,
)
"""Source: https://api-docs.deepseek.com/guides/function_calling; only at its `/beta` address."""

LLAMA_CPP = Dialect(
    keywords=BOUNDS
    | ITEMS
    | LENGTHS
    | {"exclusiveMinimum", "exclusiveMaximum", "pattern", "default", "examples"},
    formats=DATES | {"uuid"},
    takes_type_lists=False,
    takes_maps=True,
    takes_tuples=True,
    takes_open_arrays=True,
    plain_patterns=True,
    plain_definitions=True,
    most=(
        *[(keyword, 10**15 - 1) for keyword in sorted(BOUNDS | {"exclusiveMinimum", "exclusiveMaximum"})],
        *[(keyword, 1000) for keyword in sorted(ITEMS | LENGTHS)],
    ),
)
"""What llama.cpp's grammars hold in each version from 2025 to October 2026, as LM Studio and others use it.

Source: https://github.com/ggml-org/llama.cpp/blob/master/common/json-schema-to-grammar.cpp and the requests
of `make grammars`
"""


openai_chat = Provider(
    "OpenAI Chat Completions",
    ChatWire(takes_images=True),
    NameRule(),
    takes_unions=False,
    dialect=OPENAI_STRICT,
    rules=Rules(longest_description=1024, most_tools=128),  # according to its errors; Responses takes more
    features=Features(allowed=True, parallel=True, custom=True, outputs_beside_tools=True),
)
mistral = Provider(
    "Mistral",
    ChatWire(required="any", sent_keys=frozenset({"role", "content", "tool_calls", "prefix"})),
    NameRule(),
    takes_unions=False,
    rules=Rules(ids=IdRule(9, 9, "")),
    features=Features(parallel=True, outputs_beside_tools=True),
)
llama_cpp = Provider(
    "llama.cpp",
    ChatWire(chooses_by_name=False),  # it treats a choice that isn't a text as "auto"
    NameRule(),
    takes_unions=False,
    dialect=LLAMA_CPP,
    always=LLAMA_CPP.replace(lenient=True),
    features=Features(parallel=True),
    calls_in_text=True,
)
deepseek = Provider(
    "DeepSeek",
    # Source: https://api-docs.deepseek.com/guides/thinking_mode, under "Tool Calls"
    ChatWire(needs_reasoning=True),
    NameRule(),
    takes_unions=False,
    dialect=DEEPSEEK_STRICT,
    # For outputs, it only has `json_object`, which takes no schema.
    features=Features(outputs=False, required_while_thinking=False),
)
# Groq refuses a message with any other property, such as the `reasoning` and `channel` of its own answers.
groq = Provider(
    "Groq",
    ChatWire(sent_keys=frozenset({"role", "content", "tool_calls", "function_call"})),
    NameRule(),
    takes_unions=False,
    features=Features(parallel=True),
)
