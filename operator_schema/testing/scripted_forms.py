"""Writes the answers of a script in the form of each family of providers, whole and as stream events."""

from __future__ import annotations

import re
from struct import pack
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from ..json_values import is_object, to_json_text
from ..providers.chat import ChatWire, openai_chat
from ..providers.cohere_chat import CohereWire, cohere
from ..providers.converse import ConverseWire, bedrock
from ..providers.generate_content import GenerateContentWire, gemini
from ..providers.messages import MessagesWire, anthropic
from ..providers.ollama_chat import OllamaWire, ollama
from ..providers.responses import ResponsesWire, openai_responses
from ..tools.calls import RawCall
from .response_form import (
    BROKEN,
    Json,
    ResponseForm,
    Said,
    arguments_in,
    as_text,
    as_value,
    caller_of,
    comes_in_parts,
    deltas_of,
    members,
    pieces_of,
    quoted_key,
    searched,
    text_of_call,
    tools_in,
    value_or_text,
    with_object,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..providers.provider import Provider

_TIME: Final = "1970-01-01T00:00:00Z"

# --- Chat Completions ----------------------------------------------------------------------------


class _Chat(ResponseForm):
    """The form of Chat Completions; see `providers/chat.py` for the sources of this and the following forms.

    Args:
        has_whole_calls: whether each event of a stream contains a whole call.
    """

    default = openai_chat
    paths = re.compile(r"/chat/completions$")
    key = "choices"

    def __init__(self, *, has_whole_calls: bool = False) -> None:
        self._has_whole_calls = has_whole_calls

    def response(self, said: Said) -> Json:
        message: Json = {"role": "assistant", "content": said.text or None}
        if said.refusal is not None:
            message["refusal"] = said.refusal
        if said.calls:
            custom = tools_in(said.request, "custom")
            message["tool_calls"] = [
                _custom_call(call) if call.name in custom else _function_call(call) for call in said.calls
            ]
        reasons = {"calls": "tool_calls", "length": "length"}
        choice = {"index": 0, "message": message, "finish_reason": reasons.get(said.stop, "stop")}
        return {
            "id": f"scripted-{said.number}",
            "object": "chat.completion",
            "created": 0,
            "model": said.model,
            "choices": [{**choice, "logprobs": None}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        }

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        about = {**without(response, "choices", "usage"), "object": "chat.completion.chunk"}

        def event(delta: Json, **more: Any) -> Json:
            return {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **more}]}

        for choice in response["choices"]:
            message = choice["message"]
            yield event({"role": "assistant", "content": ""})
            for delta in deltas_of(without(message, "role", "tool_calls")):
                yield event(delta)
            for index, call in enumerate(message.get("tool_calls") or ()):
                kind, key = ("custom", "input") if "custom" in call else ("function", "arguments")
                inner = call[kind]
                begun: Json = {**call, "index": index, kind: {**inner, key: ""}}
                if self._has_whole_calls:
                    yield event({"tool_calls": [{**begun, kind: inner}]})
                    continue
                yield event({"tool_calls": [begun]})
                for piece in pieces_of(inner[key]):
                    yield event({"tool_calls": [{"index": index, kind: {key: piece}}]})
            yield event({}, **without(choice, "index", "message"))
        yield {**about, "choices": [], "usage": response.get("usage")}

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}

    def end(self) -> bytes:
        return b"data: [DONE]\n\n"


def _function_call(call: RawCall) -> Json:
    function = {"name": call.name, "arguments": as_text(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _custom_call(call: RawCall) -> Json:
    return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": text_of_call(call)}}


# --- Messages ------------------------------------------------------------------------------------


class _Messages(ResponseForm):
    default = anthropic
    paths = re.compile(r"/messages$")
    key = "content"

    def response(self, said: Said) -> Json:
        content: list[Json] = []
        for part in said.parts:
            if isinstance(part, RawCall):
                named = {"type": "tool_use", "id": part.id, "name": part.name}
                content.append({**named, "input": value_or_text(part.arguments), **caller_of(part)})
            elif part:  # there are no empty blocks of text
                content.append({"type": "text", "text": part})
        stops = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refused": "refusal"}
        details = {"type": "refusal", "category": None, "explanation": said.refusal}
        return {
            "id": f"msg_scripted_{said.number}",
            "type": "message",
            "role": "assistant",
            "model": said.model,
            "content": content,
            "stop_reason": stops[said.stop],
            "stop_sequence": None,
            "stop_details": None if said.refusal is None else details,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def whole(self, response: Json) -> Json:
        blocks = [with_object(block) for block in response["content"]]
        return {**response, "content": blocks}

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        ends = {key: response.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
        usage: Json = response.get("usage") or {}
        begun: Json = {
            **response,
            "content": [],
            **dict.fromkeys(ends),
            "usage": {**usage, "output_tokens": 0},
        }
        yield {"type": "message_start", "message": begun}
        for index, block in enumerate(response["content"]):
            first, deltas = _block_events(block)
            yield {"type": "content_block_start", "index": index, "content_block": first}
            if index == 0:
                yield {"type": "ping"}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {
            "type": "message_delta",
            "delta": ends,
            "usage": {"output_tokens": usage.get("output_tokens", 0)},
        }
        yield {"type": "message_stop"}

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


_BLOCK_TEXTS: Final = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}


def _block_events(block: Json) -> tuple[Json, list[Json]]:
    """Return the beginning of a block, and its deltas."""
    if block["type"] == "tool_use":
        text = as_text(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces_of(text)]]
        return {**block, "input": {}}, deltas
    grown = {key: kind for key, kind in _BLOCK_TEXTS.items() if isinstance(block.get(key), str)}
    deltas = [{"type": kind, key: piece} for key, kind in grown.items() for piece in pieces_of(block[key])]
    return {**block, **dict.fromkeys(grown, "")}, deltas


# --- Responses -----------------------------------------------------------------------------------


class _Responses(ResponseForm):
    default = openai_responses
    paths = re.compile(r"/responses$")
    key = "output"

    def response(self, said: Said) -> Json:
        custom, searches = tools_in(said.request, "custom"), searched(said)
        forms: dict[int, Any] = {id(call): _custom_item for call in said.calls if call.name in custom}
        forms |= {id(call): _search_item for call in searches}
        items = [
            forms.get(id(part), _output_item)(part, f"{said.number}_{place}")
            for place, part in enumerate(said.parts)
            if part
        ]
        if said.refusal is not None:
            refusal = {"type": "refusal", "refusal": said.refusal}
            items.append(_message_item(refusal, f"{said.number}_refusal"))
        is_cut = said.stop == "length"
        if is_cut and items:
            items[-1]["status"] = "incomplete"
        return {
            "id": f"resp_scripted_{said.number}",
            "object": "response",
            "created_at": 0,
            "status": "incomplete" if is_cut else "completed",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "instructions": None,
            "metadata": {},
            "model": said.model,
            "output": items,
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": {
                "input_tokens": 0,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 0,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 0,
            },
        }

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        for number, event in enumerate(_response_events(response)):
            yield {**event, "sequence_number": number}

    def error(self, message: str) -> Json:
        return _Chat().error(message)


def _output_item(part: Any, number: str) -> Json:
    if isinstance(part, str):
        return _message_item({"type": "output_text", "text": part, "annotations": [], "logprobs": []}, number)
    named = {"type": "function_call", "id": f"fc_scripted_{number}", "call_id": part.id, "name": part.name}
    return {**named, "arguments": as_text(part.arguments), "status": "completed", **caller_of(part)}


def _custom_item(call: RawCall, number: str) -> Json:
    named = {"type": "custom_tool_call", "id": f"ctc_scripted_{number}", "call_id": call.id}
    return {**named, "name": call.name, "input": text_of_call(call), **caller_of(call)}


def _search_item(call: RawCall, number: str) -> Json:
    named = {"type": "tool_search_call", "id": f"tsc_scripted_{number}", "call_id": call.id}
    return {**named, "execution": "client", "arguments": as_value(call.arguments), "status": "completed"}


def _message_item(content: Json, number: str) -> Json:
    about = {"id": f"msg_scripted_{number}", "role": "assistant", "status": "completed"}
    return {"type": "message", **about, "content": [content]}


_INPUTS: Final = {
    "function_call": ("arguments", ("name", "arguments")),
    "custom_tool_call": ("input", ("input",)),
}
"""Type of a call to the key of its text, which is also part of its event names, and the key in its end."""


def _response_events(response: Mapping[str, Any]) -> Iterator[Json]:
    begun: Json = {**response, "status": "in_progress", "output": [], "usage": None}
    begun["incomplete_details"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(response["output"]):
        empty: Json = {**item, "status": "in_progress"}
        empty.update({key: type(item[key])() for key in ("arguments", "input", "content") if key in item})
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        place = {"item_id": item.get("id"), "output_index": index}
        if item["type"] in _INPUTS:
            key, keys_at_end = _INPUTS[item["type"]]
            kind = f"response.{item['type']}_{key}"
            for piece in pieces_of(item[key]):
                yield {"type": f"{kind}.delta", **place, "delta": piece}
            yield {"type": f"{kind}.done", **place, **{one: item[one] for one in keys_at_end}}
        elif item["type"] == "message":
            for number, part in enumerate(item["content"]):
                yield from _content_events({**place, "content_index": number}, part)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _content_events(place: Json, part: Json) -> Iterator[Json]:
    key = "refusal" if part["type"] == "refusal" else "text"
    kind = f"response.{part['type']}"
    more: Json = {"logprobs": []} if key == "text" else {}
    yield {"type": "response.content_part.added", **place, "part": {**part, key: ""}}
    for piece in pieces_of(part[key]):
        yield {"type": f"{kind}.delta", **place, "delta": piece, **more}
    yield {"type": f"{kind}.done", **place, key: part[key], **more}
    yield {"type": "response.content_part.done", **place, "part": part}


# --- generateContent -----------------------------------------------------------------------------


_STREAM_ARGUMENTS: Final = (
    ("toolConfig", "tool_config"),
    ("functionCallingConfig", "function_calling_config"),
    ("streamFunctionCallArguments", "stream_function_call_arguments"),
)
"""The place of this setting in a request, in both spellings of the API, because Google's SDK mixes them."""


class _GenerateContent(ResponseForm):
    """The form of `generateContent`.

    Args:
        has_partial_calls: whether the arguments of a call arrive in parts, as Vertex AI streams them.
    """

    default = gemini
    paths = re.compile(r":(generateContent|(?P<stream>streamGenerateContent))$")
    key = "candidates"

    def __init__(self, *, has_partial_calls: bool = False) -> None:
        self._has_partial_calls = has_partial_calls

    def for_request(self, request: Mapping[str, Any]) -> ResponseForm:
        """Return the form that a request wants for its answer.

        Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling
        """
        found: Any = request
        for keys in _STREAM_ARGUMENTS:
            found = next((found[key] for key in keys if key in found), None) if is_object(found) else None
        return _GenerateContent(has_partial_calls=True) if found is True else self

    def response(self, said: Said) -> Json:
        candidate: Json = {"index": 0}
        parts, reason, message = _gemini_parts(said)
        if parts:
            candidate["content"] = {"role": "model", "parts": parts}
        candidate["finishReason"] = reason
        if message is not None:
            candidate["finishMessage"] = message
        return {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
            "modelVersion": said.model,
            "responseId": f"scripted-{said.number}",
        }

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        about = without(response, "candidates")
        for candidate in response["candidates"]:
            content: Json = candidate.get("content") or {}
            parts: list[Json] = content.get("parts") or []
            if self._has_partial_calls:
                is_cut = candidate.get("finishReason") == "MAX_TOKENS"
                parts = [
                    piece
                    for place, part in enumerate(parts)
                    for piece in _call_pieces(part, is_cut=is_cut and place == len(parts) - 1)
                ]
            pieces = [piece for part in parts for piece in _part_pieces(part)]
            head = {"index": candidate.get("index", 0)}
            for piece in pieces[:-1]:
                yield {**about, "candidates": [{**head, "content": {**content, "parts": [piece]}}]}
            last: Json = {"content": {**content, "parts": pieces[-1:]}} if pieces else {}
            yield {**about, "candidates": [{**candidate, **last}]}

    def error(self, message: str) -> Json:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def _gemini_parts(said: Said) -> tuple[list[Json], str, str | None]:
    """Return the parts of a candidate, its finish reason, and Gemini's message about it.

    A call that can't be read ends the answer, and appears only in the message.
    """
    parts: list[Json] = []
    for part in said.parts:
        if isinstance(part, str):
            parts += [{"text": part}] if part else []
            continue
        args = as_value(part.arguments)
        if args is BROKEN and said.stop == "length":
            args = members(part.arguments)
        if args is BROKEN:
            return parts, "MALFORMED_FUNCTION_CALL", f"Malformed function call: {part.name}({part.arguments})"
        parts.append({"functionCall": {"id": part.id, "name": part.name, "args": args}})
    reasons = {"length": "MAX_TOKENS", "refused": "SAFETY"}
    return parts, reasons.get(said.stop, "STOP"), said.refusal


def _part_pieces(part: Json) -> list[Json]:
    is_text = "text" in part and part.keys() <= {"text", "thought"}
    return [{**part, "text": piece} for piece in pieces_of(part["text"])] if is_text else [part]


def _call_pieces(part: Json, *, is_cut: bool) -> list[Json]:
    """Return a part as Vertex AI streams it: the beginning of a call, its arguments, and its end.

    Args:
        part: a part of a candidate.
        is_cut: whether the answer ends before the call does.
    """
    call: Json = part.get("functionCall") or {}
    if not call:
        return [part]
    args: Json = call.get("args") or {}
    rest = without(call, "args")
    begun = {**part, "functionCall": {**rest, "willContinue": True}}
    known = {key: value for key, value in args.items() if comes_in_parts(value)}
    pieces = [piece for key, value in known.items() for piece in arguments_in(value, f"$[{quoted_key(key)}]")]
    grown = [{"functionCall": {"partialArgs": [piece], "willContinue": True}} for piece in pieces]
    end: Json = {"functionCall": {} if known == args else {"args": args}}
    return [begun, *grown] if is_cut else [begun, *grown, end]


# --- Converse ------------------------------------------------------------------------------------


class _Converse(ResponseForm):
    default = bedrock
    paths = re.compile(r"/model/.+/(converse|(?P<stream>converse-stream))$")
    content_type = "application/vnd.amazon.eventstream"
    key = "output"

    def response(self, said: Said) -> Json:
        content: list[Json] = []
        for part in said.parts if said.refusal is None else (said.refusal,):
            if isinstance(part, RawCall):
                named = {"toolUseId": part.id, "name": part.name}
                content.append({"toolUse": {**named, "input": value_or_text(part.arguments)}})
            elif part:
                content.append({"text": part})
        stops = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens"}
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": stops.get(said.stop, "content_filtered"),
            "usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
            "metrics": {"latencyMs": 0},
        }

    def whole(self, response: Json) -> Json:
        message = response["output"]["message"]
        blocks = [
            {**block, "toolUse": with_object(block["toolUse"])} if "toolUse" in block else block
            for block in message["content"]
        ]
        return {**response, "output": {"message": {**message, "content": blocks}}}

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        message = response["output"]["message"]
        yield {"messageStart": {"role": message["role"]}}
        for index, block in enumerate(message["content"]):
            at = {"contentBlockIndex": index}
            use = block.get("toolUse")
            deltas: list[Json]
            if use is None:
                deltas = [{"text": piece} for piece in pieces_of(block["text"])]
            else:
                yield {"contentBlockStart": {**at, "start": {"toolUse": without(use, "input")}}}
                deltas = [{"toolUse": {"input": piece}} for piece in pieces_of(as_text(use["input"]))]
            for delta in deltas:
                yield {"contentBlockDelta": {**at, "delta": delta}}
            yield {"contentBlockStop": at}
        yield {"messageStop": {"stopReason": response["stopReason"]}}
        yield {"metadata": without(response, "output", "stopReason")}

    def error(self, message: str) -> Json:
        return {"message": message}

    def written(self, event: Json) -> bytes:
        ((kind, content),) = event.items()
        return _event_message(kind, to_json_text(content).encode())


def _event_message(kind: str, payload: bytes) -> bytes:
    """Return one message of an event stream.

    Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html
    """
    about = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        [
            pack("!B", len(name)) + name.encode() + pack("!BH", 7, len(text)) + text.encode()
            for name, text in about.items()
        ]
    )
    prelude = pack("!II", len(headers) + len(payload) + 16, len(headers))
    message = prelude + pack("!I", crc32(prelude)) + headers + payload
    return message + pack("!I", crc32(message))


# --- Ollama --------------------------------------------------------------------------------------


class _Ollama(ResponseForm):
    default = ollama
    paths = re.compile(r"/api/chat$")
    content_type = "application/x-ndjson"
    key = "message"
    streams = True

    def response(self, said: Said) -> Json:
        text, calls = said.text, list[Json]()
        for call in said.calls:
            value = as_value(call.arguments)
            if value is BROKEN:  # the server gives what it can't read as text
                text += f'{{"name": "{call.name}", "arguments": {call.arguments}'
                continue
            function = {"index": len(calls), "name": call.name, "arguments": value}
            calls.append({"id": call.id, "function": function})
        message: Json = {"role": "assistant", "content": text if said.refusal is None else said.refusal}
        return {
            "model": said.model,
            "created_at": _TIME,
            "message": {**message, "tool_calls": calls} if calls else message,
            "done": True,
            "done_reason": "length" if said.stop == "length" else "stop",
            **dict.fromkeys(("total_duration", "load_duration", "prompt_eval_count"), 0),
            **dict.fromkeys(("prompt_eval_duration", "eval_count", "eval_duration"), 0),
        }

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        about = {"model": response.get("model"), "created_at": response.get("created_at", _TIME)}
        message = response["message"]
        parts = [*deltas_of(without(message, "role", "tool_calls"))]
        parts += [{"tool_calls": [call]} for call in message.get("tool_calls") or ()]
        for part in parts:
            yield {**about, "message": {"role": "assistant", "content": "", **part}, "done": False}
        yield {**response, "message": {"role": "assistant", "content": ""}}

    def error(self, message: str) -> Json:
        return {"error": message}

    def written(self, event: Json) -> bytes:
        return f"{to_json_text(event)}\n".encode()


# --- Cohere --------------------------------------------------------------------------------------


class _Cohere(ResponseForm):
    default = cohere
    paths = re.compile(r"/v2/chat$")
    key = "message"

    def response(self, said: Said) -> Json:
        message: Json = {"role": "assistant"}
        text = said.text if said.refusal is None else said.refusal
        if said.calls:
            message["tool_calls"] = [_function_call(call) for call in said.calls]
            message |= {"tool_plan": text} if text else {}
        elif text:
            message["content"] = [{"type": "text", "text": text}]
        tokens = {"input_tokens": 0, "output_tokens": 0}
        reasons = {"calls": "TOOL_CALL", "length": "MAX_TOKENS"}
        return {
            "id": f"scripted-{said.number}",
            "finish_reason": reasons.get(said.stop, "COMPLETE"),
            "message": message,
            "usage": {"billed_units": tokens, "tokens": tokens},
        }

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        def event(kind: str, index: int | None, **message: Any) -> Json:
            place = {} if index is None else {"index": index}
            return {"type": kind, **place, "delta": {"message": message}}

        message = response["message"]
        empty: Json = {"content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        yield {"id": response.get("id"), **event("message-start", None, role="assistant", **empty)}
        for piece in pieces_of(message.get("tool_plan") or ""):
            yield event("tool-plan-delta", None, tool_plan=piece)
        for index, part in enumerate(message.get("content") or ()):
            yield event("content-start", index, content={**part, "text": ""})
            for piece in pieces_of(part["text"]):
                yield event("content-delta", index, content={"text": piece})
            yield {"type": "content-end", "index": index}
        for index, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            yield event(
                "tool-call-start", index, tool_calls={**call, "function": {**function, "arguments": ""}}
            )
            for piece in pieces_of(function["arguments"]):
                yield event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
            yield {"type": "tool-call-end", "index": index}
        ends = {key: response.get(key) for key in ("finish_reason", "usage")}
        yield {"type": "message-end", "delta": ends}

    def error(self, message: str) -> Json:
        return {"message": message}

    def end(self) -> bytes:
        return b"data: [DONE]\n\n"


# --- which form ----------------------------------------------------------------------------------

FORMS: Final[Mapping[type, ResponseForm]] = {
    ChatWire: _Chat(),
    MessagesWire: _Messages(),
    ResponsesWire: _Responses(),
    GenerateContentWire: _GenerateContent(),
    ConverseWire: _Converse(),
    OllamaWire: _Ollama(),
    CohereWire: _Cohere(),
}
"""The form of each wire form of `providers/`."""

_WHOLE_CALLS: Final = _Chat(has_whole_calls=True)
_WITH_WHOLE_CALLS: Final = frozenset({"Groq", "Mistral"})
"""Providers of Chat Completions that send each call in one event, as recorded streams show."""


def form_of(provider: Provider) -> ResponseForm:
    """Return the form that a provider reads.

    Raises:
        TypeError: the provider has a form of its own.
    """
    for kind, form in FORMS.items():
        if isinstance(provider.wire, kind):
            return _WHOLE_CALLS if provider.name in _WITH_WHOLE_CALLS else form
    message = f"ScriptedModel doesn't know the wire form of {provider.name}: give whole responses as dicts"
    raise TypeError(message)
