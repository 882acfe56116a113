"""Streamed answers: every recorded one in pieces of every kind, and what goes wrong."""

import base64
import json
import re
import sys
from collections import Counter
from itertools import islice, pairwise
from random import Random
from struct import pack
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offers import offer_of
from patience import assert_linear
from provider_traffic import events_of, provider_of, streamed

from operator_schema import RawCall, providers, tool
from operator_schema.providers import (
    Delta,
    ResponseError,
    anthropic,
    bedrock,
    cohere,
    gemini,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
    provider_names,
)
from operator_schema.testing import ScriptedModel

STREAMED = streamed()
OF_TEXT = [exchange for exchange in STREAMED if exchange["response_encoding"] == "text"]
OF_BEDROCK = [exchange for exchange in STREAMED if exchange["response_encoding"] == "base64"]
PROVIDERS = sorted({exchange["provider"] for exchange in OF_TEXT})
IN_EVERY_WAY = 1
"""So many streams of each provider, the shortest ones, are fed in every way."""

TURNS = 5
"""Each other stream is fed in two of ten ways."""

STRETCH, SHORT_STRETCH = 1000, 200
"""So many bytes or characters are fed one by one of a stream that comes in every way, and of each other."""


def parsed(arguments):
    """Return arguments as a JSON value; text that was cut off stays text, and nothing is an empty object."""
    try:
        return json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def whole_calls(event):
    """Find the calls that come as a whole: Responses, Gemini, Ollama."""
    if event.get("type") == "response.output_item.done" and event["item"]["type"] == "function_call":
        yield event["item"]["name"], event["item"]["arguments"]
    for candidate in event.get("candidates", []):
        for part in candidate.get("content", {}).get("parts", []):
            if "functionCall" in part:
                yield part["functionCall"]["name"], part["functionCall"].get("args", {})
    if "done" in event:
        for call in event["message"].get("tool_calls", []):
            yield call["function"]["name"], call["function"]["arguments"]


def parts_of_calls(event):
    """Find the parts of calls: index, name if it is there, text."""
    kind = event.get("type")
    if kind == "content_block_start" and event["content_block"]["type"] == "tool_use":
        yield event["index"], event["content_block"]["name"], ""
    if kind == "content_block_delta" and "partial_json" in event["delta"]:
        yield event["index"], None, event["delta"]["partial_json"]
    if kind in {"tool-call-start", "tool-call-delta"}:
        function = event["delta"]["message"]["tool_calls"]["function"]
        yield event["index"], function.get("name"), function["arguments"]
    if "contentBlockStart" in event:
        yield 0, event["contentBlockStart"]["start"]["toolUse"]["name"], ""
    if "contentBlockDelta" in event:
        yield 0, None, event["contentBlockDelta"]["delta"]["toolUse"]["input"]
    for choice in event.get("choices", []):
        for call in choice["delta"].get("tool_calls") or []:
            yield call["index"], call["function"].get("name"), call["function"].get("arguments") or ""


def calls_in(events):
    """Find the calls by what they look like, in any provider's events: (name, arguments)."""
    complete = [(name, parsed(arguments)) for event in events for name, arguments in whole_calls(event)]
    names, texts = {}, {}
    for index, name, text in [part for event in events for part in parts_of_calls(event)]:
        names.setdefault(index, name)
        texts[index] = texts.get(index, "") + text
    # What has no name is a call of a tool that the provider runs.
    return complete or [(names[index], parsed(texts[index])) for index in sorted(names) if names[index]]


def fed(exchange, pieces):
    """Return the stream of an exchange that took these pieces, and its answer."""
    stream = provider_of(exchange).stream([])
    for piece in pieces:
        stream.feed(piece)
    return stream, stream.close()


def content_of(answer):
    """Return an answer without the ids that are drawn at random."""
    calls = [(call.name, parsed(call.arguments)) for call in answer.calls]
    return calls, answer.text, answer.refusal, answer.stop, answer.raw_stop, answer.message


def cut(content, places):
    places = [0, *sorted(places), len(content)]
    return [content[start:end] for start, end in pairwise(places)]


def in_pieces(text, draw):
    """Yield the same stream in pieces of several characters, of every kind."""
    content = text.encode()
    yield [text]
    yield [content]
    yield [bytearray(content)]
    yield text.splitlines(keepends=True)
    yield cut(content, [draw.randrange(len(content)) for _ in range(50)])
    yield [b"\xef\xbb\xbf", content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")]


def with_other_ends(text):
    """Return the same stream in bytes and in characters, with line ends of every kind."""
    ended = text.replace("\r\n", "\n")
    return [text.encode(), text, "\ufeff" + ended.replace("\n", "\r"), ended.replace("\n", "\r\n")]


WIDE = {str: re.compile(r"[^\x00-\x7f]"), bytes: re.compile(rb"[^\x00-\x7f]")}


def one_by_one(content, length, draw):
    """Return a stream with each character of a stretch on its own: a long stream repeats itself.

    Characters of several bytes are in its middle, where the stream has any.
    """
    wide = [found.start() for found in WIDE[type(content)].finditer(content)]
    middle = draw.choice(wide) if wide else draw.randrange(len(content))
    start = max(0, middle - length // 2)
    end = min(start + length, len(content))
    return [content[:start], *[content[at : at + 1] for at in range(start, end)], content[end:]]


def in_every_way(text, length, draw):
    yield from in_pieces(text, draw)
    for content in with_other_ends(text):
        yield one_by_one(content, length, draw)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_calls_of_every_recorded_stream_are_read(name):
    stops = Counter()
    for exchange in OF_TEXT:
        if exchange["provider"] == name:
            events = events_of(exchange)
            stream, answer = fed(exchange, events)
            found = content_of(answer)
            assert found[0] == calls_in(events), exchange["cassette"]
            assert [(call.name, parsed(call.arguments)) for call in stream.calls] == found[0]
            assert [call.id for call in stream.calls if call.id] in (
                [],
                [call.id for call in answer.calls],
            )
            assert stream.is_complete
            stops[answer.stop] += 1
    assert set(stops) <= {"calls", "end", "length"}
    assert stops["calls"]


@pytest.mark.slow("draws many ways to cut a stream")
@pytest.mark.parametrize("name", PROVIDERS)
def test_the_pieces_make_no_difference(name):
    draw = Random(name)  # noqa: S311  # places to cut at
    found = [exchange for exchange in OF_TEXT if exchange["provider"] == name]
    found.sort(key=lambda exchange: len(exchange["response"]))
    for number, exchange in enumerate(found):
        whole = content_of(fed(exchange, events_of(exchange))[1])
        is_short = number < IN_EVERY_WAY
        ways = in_every_way(exchange["response"], STRETCH if is_short else SHORT_STRETCH, draw)
        if not is_short:  # they take turns
            ways = islice(ways, number % TURNS, None, TURNS)
        for pieces in ways:
            assert content_of(fed(exchange, pieces)[1]) == whole, exchange["cassette"]


EVENTS = """\ufeff
: a comment
data: {"choices": [{"index": 0,
data: "delta": {"content": "a\\"}{[é\\\\"}, "finish_reason": "stop"}]}

data: [DONE]

"""
LINES = """
 {"message": {"role": "assistant", "content": "a\\"}{[é"}, "done": false}
{"message": {"content": "\\\\"}, "done": true, "done_reason": "stop"}
"""


@pytest.mark.parametrize("encode", [str, str.encode])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize(
    ("provider", "text"),
    [
        (openai_chat, EVENTS),
        (ollama, LINES),
        (ollama, f" [{LINES.strip()}]".replace("}\n{", "},\n{")),
    ],
    ids=["events", "lines", "list"],
)
def test_what_is_hard_to_cut_comes_one_by_one(provider, text, end, encode):
    content, stream = encode(text.replace("\n", end)), provider.stream([])
    shown = [stream.feed(content[at : at + 1]).text for at in range(len(content))]
    answer = stream.close()
    assert "".join(shown) == answer.text == 'a"}{[é\\'
    assert (answer.stop, stream.is_complete) == ("end", True)


@settings(deadline=None)
@given(st.data())
def test_streams_may_be_cut_anywhere(data):
    exchange = data.draw(st.sampled_from(OF_TEXT))
    content = exchange["response"].encode()
    places = data.draw(st.lists(st.integers(0, len(content)), max_size=40))
    assert content_of(fed(exchange, cut(content, places))[1]) == content_of(fed(exchange, [content])[1])


@settings(deadline=None, max_examples=2 * settings().max_examples)
@given(st.data())
def test_a_stream_that_ends_early_says_so(data):
    exchange = data.draw(st.sampled_from(OF_TEXT))
    content = exchange["response"].encode()
    whole = content_of(fed(exchange, [content])[1])
    stream, answer = fed(exchange, [content[: data.draw(st.integers(0, len(content)))]])
    if stream.is_complete:
        assert content_of(answer) == whole
    else:
        assert (answer.stop, answer.is_cut_off) == ("interrupted", True)
        assert [call.name for call in answer.calls] == [name for name, _ in whole[0][: len(answer.calls)]]
        assert whole[1].startswith(answer.text)


@settings(deadline=None, max_examples=3 * settings().max_examples)
@given(st.data())
def test_a_damaged_stream_raises_only_our_own_error(data):
    exchange = data.draw(st.sampled_from(STREAMED))
    events = events_of(exchange)
    damaged = data.draw(st.sampled_from(events))
    for _ in range(data.draw(st.integers(0, 4))):
        inner = [value for value in values_of(damaged) if values_of(value)]
        damaged = data.draw(st.sampled_from(inner)) if inner else damaged
    place = data.draw(st.sampled_from(list(keys_of(damaged)))) if values_of(damaged) else None
    if place is not None:
        damaged[place] = data.draw(st.sampled_from([None, 1, "x", [], [1], {}, {"a": 1}, True, [[]], 1.5]))
    stream = provider_of(exchange).stream([])
    try:
        for event in events:
            stream.feed(event)
        stream.close()
    except ResponseError as error:
        with pytest.raises(ResponseError) as again:
            stream.close()
        assert str(again.value) == str(error)


def keys_of(value):
    return value if isinstance(value, dict) else range(len(value))


def values_of(value):
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


@settings(deadline=None)
@given(st.lists(st.one_of(st.binary(), st.text(), st.none(), st.dictionaries(st.text(), st.integers()))))
def test_anything_else_raises_only_our_own_error(pieces):
    for provider in (openai_chat, openai_responses, anthropic, gemini, cohere, ollama):
        stream = provider.stream([])
        try:
            for piece in pieces:
                stream.feed(piece)
            assert stream.close().stop == "interrupted"
        except ResponseError as error:
            assert error.provider == provider.name


def test_the_events_of_bedrock_are_read():
    for exchange in OF_BEDROCK:
        events = events_of(exchange)
        _, answer = fed(exchange, events)
        assert content_of(answer)[0] == calls_in(events) == [("ping", {})]
        assert (answer.stop, answer.raw_stop) == ("calls", "tool_use")


def test_the_bytes_of_bedrock_are_read():
    pytest.importorskip("botocore", reason="the parser of Bedrock's stream")
    for exchange in OF_BEDROCK:
        content = base64.b64decode(exchange["response"])
        whole = content_of(fed(exchange, events_of(exchange))[1])
        for size in (1, 7, 100, len(content)):
            pieces = [content[start : start + size] for start in range(0, len(content), size)]
            assert content_of(fed(exchange, pieces)[1]) == whole
        assert fed(exchange, [content[:-1]])[1].stop == "calls"
        assert fed(exchange, [content[:500]])[1].stop == "interrupted"


class Body:
    """The body of a response as botocore has it."""

    def __init__(self, content):
        self.content = content

    def stream(self):
        return iter([self.content])


def test_the_events_of_boto3_are_read():
    session = pytest.importorskip("botocore.session", reason="what boto3 is made of")
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    model = session.get_session().get_service_model("bedrock-runtime").operation_model("ConverseStream")
    for exchange in OF_BEDROCK:
        body = Body(base64.b64decode(exchange["response"]))
        events = EventStream(body, model.get_event_stream_output(), EventStreamJSONParser(), model.name)
        assert content_of(fed(exchange, events)[1]) == content_of(fed(exchange, events_of(exchange))[1])


def binary_message(headers, payload):
    """Write a message of Bedrock's stream."""
    told = b"".join(
        [
            bytes([len(name)]) + name.encode() + b"\x07" + pack(">H", len(value)) + value.encode()
            for name, value in headers
        ]
    )
    start = pack(">II", 16 + len(told) + len(payload), len(told))
    content = start + pack(">I", crc32(start)) + told + payload
    return content + pack(">I", crc32(content))


EXCEPTION = [(":message-type", "exception"), (":exception-type", "throttlingException")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary_message(EXCEPTION, b'{"message":"Slow"}'), "throttlingException: "),
        (binary_message([(":message-type", "error"), (":error-code", "Gone")], b""), "Gone: "),
        (binary_message([], b""), "exception: "),
        (binary_message([(":message-type", "event")], b"5"), "isn't in the expected form"),
        (binary_message([(":message-type", "event"), (":event-type", "x")], b"x"), "isn't valid JSON"),
        (binary_message(EXCEPTION, b"\xff"), "can't be read"),
        (b"data: {}", "a message of 1684108385 bytes: this isn't an event stream"),
        (b"\0\0\0\x05", "a message of 5 bytes"),
        (binary_message(EXCEPTION, b"")[:-1] + b"\0", "Checksum mismatch"),
    ],
)
def test_what_is_wrong_with_the_bytes_of_bedrock_is_told(content, message):
    pytest.importorskip("botocore", reason="the parser of Bedrock's stream")
    stream = bedrock.stream([])
    with pytest.raises(ResponseError, match="Bedrock Converse: ") as caught:
        stream.feed(content)
    assert message in str(caught.value)


def test_the_bytes_of_bedrock_need_botocore(monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore.eventstream", None)
    stream = bedrock.stream([])
    with pytest.raises(ImportError, match="need botocore"):
        stream.feed(b"")
    stream.feed(sse({"messageStart": {"role": "assistant"}}, {"messageStop": {"stopReason": "end_turn"}}))
    assert stream.close().stop == "end"


def test_cohere_may_send_more_than_is_known():
    stream = cohere.stream([])
    start = {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "thinking"}}}}
    more = {"message": {"content": {"thinking": "hm", "text": None, "type": "thinking"}}}
    stream.feed(sse(start, {"type": "content-delta", "index": 0, "delta": more}, {"type": "debug"}))
    assert stream.response["message"]["content"] == [{"type": "thinking", "thinking": "hm"}]


def sse(*events):
    """Write events as a stream of text."""
    return "".join([f"data: {json.dumps(event)}\n\n" for event in events])


def chunk(delta, index=0, **ends):
    return {"choices": [{"index": index, "delta": delta, **ends}]}


def called(delta_calls, provider=openai_chat):
    """Return the answer to deltas of calls."""
    stream = provider.stream([])
    for calls in delta_calls:
        stream.feed(chunk({"tool_calls": calls}))
    stream.feed(chunk({}, finish_reason="tool_calls"))
    return stream.close()


@tool
def write(path: str, lines: int = 5) -> str:
    """Write a file."""
    return f"{path}: {lines}"


def test_calls_show_what_is_known_of_their_arguments():
    stream = openai_chat.stream([write])
    assert stream.calls == []
    begun = {"index": 0, "id": "c1", "function": {"name": "write", "arguments": ""}}
    (call,) = stream.feed(chunk({"tool_calls": [begun]})).calls
    assert (call.id, call.name, call.arguments, call.partial.fields) == ("c1", "write", "", {})
    more = {"index": 0, "function": {"arguments": '{"path": "a'}}
    assert stream.feed(chunk({"tool_calls": [more]})) == Delta("", (call,))
    assert (call.arguments, call.partial.receiving) == ('{"path": "a', "path")
    assert call.partial is call.partial
    stream.feed(chunk({"tool_calls": [{"index": 0, "function": {"arguments": '.txt", "lines'}}]}))
    assert (dict(call.partial.fields), call.arguments) == ({"path": "a.txt"}, '{"path": "a.txt", "lines')
    assert repr(call) == "<StreamedCall 'write', 24 characters>"
    assert stream.feed(chunk({"content": "x"})) == Delta("x", ())
    assert not stream.is_complete
    assert openai_chat.stream([]).feed(chunk({"tool_calls": [begun]})).calls[0].partial is None


def test_a_tool_that_isnt_known_has_no_partial():
    stream = openai_chat.stream([write])
    begun = {"index": 0, "id": "c1", "function": {"name": "wri", "arguments": ""}}
    (call,) = stream.feed(chunk({"tool_calls": [begun]})).calls
    assert call.partial is None
    more = {"index": 0, "function": {"name": "te", "arguments": '{"path": "x"}'}}
    assert stream.feed(chunk({"tool_calls": [more]})).calls == (call,)
    assert dict(call.partial.fields) == {"path": "x"}


@tool(name="3d_render")
def render(path: str) -> str:
    """Render a file."""
    return path


def test_calls_have_the_tools_own_name():
    name = gemini.request([render])["tools"][0]["functionDeclarations"][0]["name"]
    part = {"functionCall": {"name": name, "args": {"path": "x"}}}
    stream = gemini.stream([render])
    stream.feed({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]})
    assert (stream.calls[0].name, dict(stream.calls[0].partial.fields)) == ("3d_render", {"path": "x"})
    answer = stream.close()
    assert (answer.calls[0].name, answer.stop) == ("3d_render", "calls")
    assert answer.message == [{"role": "model", "parts": [part]}]
    assert stream.close() is answer
    with pytest.raises(ResponseError, match="closed"):
        stream.feed("")


def test_null_of_a_strict_request_is_left_out():
    call = {"index": 0, "id": "c", "function": {"name": "write", "arguments": '{"path": "x", "lines": null}'}}
    stream = openai_chat.stream(offer_of([write], strict=True))
    stream.feed(chunk({"tool_calls": [call]}, finish_reason="tool_calls"))
    assert stream.close().calls[0].arguments == {"path": "x"}


def test_calls_may_have_no_index_or_all_the_same():
    one = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
    other = {"id": "b", "function": {"name": "g", "arguments": {"x": 1}}}
    for calls in ([[one], [other]], [[one, other]]):
        assert [call.id for call in called(calls).calls] == ["a", "b"]
        same = [[{**call, "index": 0} for call in group] for group in calls]
        answer = called(same)
        assert [(call.id, call.name, call.arguments) for call in answer.calls] == [
            ("a", "f", "{}"),
            ("b", "g", {"x": 1}),
        ]
    unnamed = [{"function": one["function"]}, {"function": one["function"]}]
    assert [call.name for call in called([unnamed]).calls] == ["f", "f"]
    more = {"function": {"arguments": "1"}}
    assert [call.arguments for call in called([[one], [more]]).calls] == ["{}1"]


def test_names_and_ids_may_be_repeated():
    part = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "1"}, "extra": {"signature": "s"}}
    answer = called([[{"index": 0, "function": {"name": "f"}}], [part], [part]])
    assert [(call.id, call.name, call.arguments) for call in answer.calls] == [("a", "f", "11")]
    assert answer.message[0]["tool_calls"][0]["extra"] == {"signature": "s"}


def test_several_choices_are_several_answers():
    stream = openai_chat.stream([])
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    stream.feed(chunk({"content": "one", "tool_calls": [call]}, 1, finish_reason="stop"))
    stream.feed(chunk({"content": "none"}, 0))
    assert (stream.is_complete, stream.calls) == (False, [])
    stream.feed(chunk({}, 0, finish_reason="stop"))
    assert [answer.text for answer in stream.answers()] == ["none", "one"]
    stream = gemini.stream([])
    for index in (1, 0):
        content = {"role": "model", "parts": [{"text": str(index)}]}
        stream.feed({"candidates": [{"content": content, "finishReason": "STOP", "index": index}]})
    assert [answer.text for answer in stream.answers()] == ["0", "1"]


WHOLE = [
    (
        openai_chat,
        {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]},
    ),
    (
        anthropic,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "hi"}],
            "stop_reason": "end_turn",
        },
    ),
    (
        openai_responses,
        {
            "object": "response",
            "status": "completed",
            "output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}],
        },
    ),
    (
        bedrock,
        {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": "end_turn"},
    ),
    (
        cohere,
        {
            "finish_reason": "COMPLETE",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
        },
    ),
    (
        gemini,
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]},
    ),
    (ollama, {"message": {"role": "assistant", "content": "hi"}, "done": True, "done_reason": "stop"}),
]
LIKE_AN_EVENT = (openai_chat, gemini, ollama)
"""Their events may have the form of a whole response."""


@pytest.mark.parametrize(("provider", "response"), WHOLE)
@pytest.mark.parametrize("pieces", [iter, dict.items], ids=["dict", "object"])
def test_who_goes_over_a_whole_answer_is_asked_for_the_stream(provider, response, pieces):
    stream = provider.stream([])

    def read():
        for piece in pieces(response):
            stream.feed(piece)
        stream.close()

    with pytest.raises(ResponseError, match=r"this is a whole answer, .*: did you send stream=True\?"):
        read()


@pytest.mark.parametrize(("provider", "response"), WHOLE)
def test_a_whole_answer_as_an_event_is_read_or_refused(provider, response):
    stream = provider.stream([])
    if provider in LIKE_AN_EVENT:
        stream.feed(response)
        assert stream.close() == provider.answer(response, [])
        return
    with pytest.raises(ResponseError, match=r"this is a whole answer, .*: did you send stream=True\?"):
        stream.feed(response)


def test_a_response_that_isnt_streamed_is_read_too():
    calls = [{"id": call_id, "function": {"name": "f", "arguments": "{}"}} for call_id in "ab"]
    message = {"role": "assistant", "content": "hi", "tool_calls": calls}
    response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    stream = openai_chat.stream([])
    stream.feed(json.dumps(response))
    assert stream.close() == openai_chat.answer(response, [])


def test_the_parts_of_reasoning_are_merged():
    stream = openai_chat.stream([])
    for text in ("a", "b"):
        detail = {"type": "reasoning.text", "index": 0, "text": text, "signature": None}
        stream.feed(chunk({"reasoning": text, "reasoning_details": [detail]}))
    signed = {"type": "reasoning.text", "index": 0, "signature": "s"}
    stream.feed(chunk({"reasoning_details": [signed, {"type": "other", "index": 1}]}, finish_reason="stop"))
    message = stream.response["choices"][0]["message"]
    assert message["reasoning"] == "ab"
    merged = {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}
    assert message["reasoning_details"] == [merged, {"type": "other", "index": 1}]


def test_content_may_be_a_list_of_parts():
    stream = mistral.stream([])
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    for content in ("a", [thinking], "", "b"):
        stream.feed({"data": chunk({"content": content})})
    stream.feed(chunk({}, finish_reason="stop"))
    answer = stream.close()
    assert answer.text == "ab"
    texts = [{"type": "text", "text": text} for text in "ab"]
    assert answer.message[0]["content"] == [texts[0], thinking, texts[1]]
    stream = mistral.stream([])
    stream.feed(chunk({"content": [thinking]}, finish_reason="stop"))
    assert stream.close().message[0]["content"] == [thinking]


def test_a_refusal_is_told():
    stream = openai_chat.stream([])
    for text in ("I ", "can't"):
        stream.feed(chunk({"refusal": text}))
    stream.feed(chunk({}, finish_reason="stop"))
    assert (stream.close().refusal, stream.close().stop) == ("I can't", "refused")


def test_a_character_may_have_its_surrogates_in_two_events():
    stream = openai_chat.stream([])
    stream.feed('data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n')
    stream.feed('data: {"choices":[{"delta":{"content":"\\ude00\\ud800"},"finish_reason":"stop"}]}\n\n')
    assert stream.close().text == "\U0001f600\ud800"


def test_server_sent_events_are_read_as_their_standard_says():
    text = (
        ": a comment\nid: 7\nretry: 5\nno field\nevent: x\n\n"
        'data: {"choices":\ndata:[{"delta":{"content":"hi"},\ndata: "finish_reason":"stop"}]}\n\n'
        "data\n\ndata: [DONE]"
    )
    stream = openai_chat.stream([])
    stream.feed(text)
    assert stream.close().text == "hi"


def test_the_last_line_may_lack_its_end():
    stream = ollama.stream([])
    stream.feed("")
    stream.feed('{"message":{"role":"assistant","content":"hi"},"done":false}\n')
    stream.feed('{"message":{"content":"!"},"done":true,"done_reason":"stop"}')
    assert stream.is_complete
    assert (stream.close().text, stream.close().stop) == ("hi!", "end")
    stream = openai_chat.stream([])
    stream.feed('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}')
    assert not stream.is_complete
    assert (stream.close().text, stream.close().stop) == ("hi", "end")


def test_cut_off_arguments_stay_text():
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "f"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"q'},
        },
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    ]
    stream = anthropic.stream([])
    stream.feed(sse(*events))
    answer = stream.close()
    assert (answer.stop, answer.calls[0].arguments) == ("length", '{"q')
    assert answer.message[0]["content"][0]["input"] == {"arguments": '{"q'}
    stream = bedrock.stream([])
    for event in (
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "so"}}},
        {
            "contentBlockStart": {
                "contentBlockIndex": 1,
                "start": {"toolUse": {"toolUseId": "t", "name": "f"}},
            }
        },
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"q'}}}},
        {"messageStop": {"stopReason": "max_tokens"}},
    ):
        stream.feed(event)
    answer = stream.close()
    assert (answer.stop, answer.calls[0].arguments, answer.text) == ("length", '{"q', "so")
    assert answer.message[0]["content"][1]["toolUse"]["input"] == {"arguments": '{"q'}


def test_what_anthropic_adds_to_blocks_is_kept():
    block = {"type": "text", "text": "", "citations": [{"cited": 1}]}
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "citations_delta", "citation": {"cited": 2}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "new_delta"}},
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "server_tool_use", "id": "s", "name": "n"},
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "a new kind"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    stream = anthropic.stream([])
    stream.feed(sse(*events))
    answer = stream.close()
    assert answer.calls == ()
    assert stream.response["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "", "citations": [{"cited": 1}, {"cited": 2}]},
        {"type": "server_tool_use", "id": "s", "name": "n", "input": {}},
    ]


def test_the_reasoning_of_bedrock_is_kept():
    def delta(index, content):
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": content}}

    stream = bedrock.stream([])
    for event in (
        {"messageStart": {"role": "assistant"}},
        delta(0, {"reasoningContent": {"text": "h"}}),
        delta(0, {"reasoningContent": {"text": "m", "signature": "s", "new": 1}}),
        delta(1, {"reasoningContent": {"redactedContent": b"ab"}}),
        delta(1, {"reasoningContent": {"redactedContent": b"c"}}),
        {"contentBlockStart": {"contentBlockIndex": 2, "start": {"image": {"format": "png"}}}},
        delta(2, {"video": {}}),
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {}},
    ):
        stream.feed(event)
    reasoning = {"reasoningText": {"text": "hm", "signature": "s", "new": 1}}
    assert stream.reasoning == "hm"
    assert stream.close().message[0]["content"] == [
        {"reasoningContent": reasoning},
        {"reasoningContent": {"redactedContent": b"abc"}},
        {"image": {"format": "png"}, "video": {}},
    ]


def test_a_response_without_its_last_event_has_what_came():
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}
    events = [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "message", "role": "assistant"},
        },
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "so"},
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 1, "delta": "no"},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "isn't a call"},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"q'},
    ]
    stream = openai_responses.stream([])
    stream.feed(sse(*events))
    answer = stream.close()
    assert (answer.text, answer.refusal, answer.stop) == ("so", "no", "interrupted")
    assert answer.calls[0].arguments == '{"q'


def test_an_item_may_come_only_when_it_has_ended():
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    stream = openai_responses.stream([])
    stream.feed({"type": "response.output_item.added", "output_index": 1, "item": {**call, "arguments": ""}})
    for index in (0, 1):
        stream.feed({"type": "response.output_item.done", "output_index": index, "item": call})
    assert [call.arguments for call in stream.calls] == ["{}", "{}"]
    stream.feed({"type": "response.completed", "response": {"status": "completed", "output": []}})
    assert [call.arguments for call in stream.close().calls] == ["{}", "{}"]


def test_a_blocked_prompt_is_told():
    stream = gemini.stream([])
    stream.feed(sse({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}))
    assert stream.is_complete
    assert (stream.close().stop, stream.close().raw_stop) == ("filtered", "SAFETY")


def test_texts_of_gemini_are_merged_beside_thoughts():
    stream = gemini.stream([])
    parts = [{"text": "h", "thought": True}, {"text": "m", "thought": True}, {"text": "a"}, {"text": "b"}]
    for part in [*parts, {"text": "c", "thoughtSignature": "s"}]:
        stream.feed({"candidates": [{"content": {"parts": [part]}}]})
    stream.feed({"candidates": [{"finishReason": "STOP"}]})
    answer = stream.close()
    assert answer.text == "abc"
    assert answer.message[0]["parts"] == [
        {"text": "hm", "thought": True},
        {"text": "ab"},
        {"text": "c", "thoughtSignature": "s"},
    ]


def test_an_empty_stream_was_interrupted():
    for provider in (openai_chat, openai_responses, anthropic, gemini, cohere, ollama, bedrock):
        answer = provider.stream([]).close()
        assert (answer.stop, answer.calls, answer.text, answer.message) == ("interrupted", (), "", [])


def test_a_complete_answer_may_be_empty():
    stream = ollama.stream([])
    stream.feed({"message": {}, "done": True, "done_reason": "stop"})
    assert (stream.close().stop, stream.close().text) == ("end", "")
    stream = cohere.stream([])
    stream.feed({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}})
    assert (stream.close().stop, stream.close().text) == ("end", "")


class SdkEvent:
    """What the events of SDKs have in common."""

    def __init__(self, event):
        self.event = event

    def model_dump(self, **options):
        assert options["by_alias"]
        return self.event


def test_events_may_be_objects_of_an_sdk():
    stream = openai_chat.stream([])
    stream.feed(SdkEvent(chunk({"content": "hi"}, finish_reason="stop")))
    assert stream.close().text == "hi"


class Hostile(dict):
    """A dict that can't be used."""

    def get(self, *_):
        raise RuntimeError

    __getitem__ = __contains__ = items = keys = get


class HostileObject:
    """An object that says nothing of itself."""

    @property
    def __class__(self):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


class HostileSdkEvent:
    """An event whose SDK fails."""

    def model_dump(self, **_):
        raise RuntimeError


def parts_of_call(*calls):
    """Return a response of Gemini with parts of calls."""
    return {"candidates": [{"content": {"parts": [{"functionCall": call} for call in calls]}}]}


DEEP = "[" * 100_000
INTERRUPTED_CALL = {"type": "response.failed", "response": {"error": {"code": "x", "message": "Failed"}}}


@pytest.mark.parametrize(
    ("provider", "piece", "message"),
    [
        (openai_chat, sse({"error": {"message": "Overloaded"}}), 'the response is an error: "Overloaded"'),
        (openai_chat, '{"error": "Invalid key"}\n', 'the response is an error: "Invalid key"'),
        (openai_chat, 'error: {"message": "x"}\n', "an event isn't in the expected form"),
        (openai_chat, "event: error\ndata: gone\n\n", 'the response is an error: "gone"'),
        (openai_chat, "<html>\n", 'an event isn\'t valid JSON: "<html>"'),
        (openai_chat, "data: {\n\n", 'an event isn\'t valid JSON: "{"'),
        (openai_chat, f"data: {DEEP}\n\n", "an event isn't valid JSON"),
        (openai_chat, "data: 5\n\n", "an event must be a JSON object, not integer 5"),
        (openai_chat, "data: null\n\n", "an event isn't valid JSON"),
        (openai_chat, b"data: \xff\n\n", "can't be read"),
        (openai_chat, {"usage": {}}, "an event isn't in the expected form"),
        (openai_chat, {"choices": [{"delta": {"content": 5}}]}, "an event isn't in the expected form"),
        (openai_chat, {"choices": [{"index": [1], "delta": {}}]}, "an event isn't in the expected form"),
        (
            openai_chat,
            chunk({"tool_calls": [{"id": 5, "function": {"name": "f"}}]}),
            "isn't in the expected form",
        ),
        (openai_chat, chunk({"tool_calls": [{"function": {"arguments": 5}}]}), "isn't in the expected form"),
        (openai_chat, None, "an event must be a JSON object, not null"),
        (openai_chat, [chunk({})], "an event must be a JSON object, not array"),
        (openai_chat, Hostile(), "an event isn't in the expected form"),
        (openai_chat, HostileSdkEvent(), "an event must be a JSON object, not"),
        (openai_responses, sse(INTERRUPTED_CALL), 'the response is an error: "Failed"'),
        (openai_responses, {"type": "error", "message": "x"}, 'the response is an error: "x"'),
        (openai_responses, {"type": 5}, "an event isn't in the expected form"),
        (anthropic, {"type": 5}, "an event isn't in the expected form"),
        (
            anthropic,
            {"type": "content_block_delta", "index": 5, "delta": {}},
            "an event isn't in the expected form",
        ),
        (cohere, {"type": 5}, "an event isn't in the expected form"),
        (cohere, {"type": "message-end", "delta": {"error": "gone"}}, 'the response is an error: "gone"'),
        (
            bedrock,
            {"throttlingException": {"message": "x"}},
            'the response is an error: "throttlingException: x"',
        ),
        (
            bedrock,
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": ""}}}},
            "an event isn't in the expected form",
        ),
        (gemini, {"modelVersion": "x"}, "an event isn't in the expected form"),
        (gemini, parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "x"}]}), "can't be read"),
        (gemini, parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$"}]}), "can't be read"),
        (gemini, parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$[0]"}]}), "can't be read"),
        (gemini, parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$.a" * 200}]}), "can't be read"),
        (
            gemini,
            parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$.a[9]"}]}),
            "don't fit together",
        ),
        (
            gemini,
            parts_of_call({"name": "f", "partialArgs": [{"jsonPath": 5}]}),
            "isn't in the expected form",
        ),
        (
            gemini,
            parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$.a", "stringValue": 5}]}),
            "isn't in the expected form",
        ),
        (
            gemini,
            parts_of_call({"name": "f", "partialArgs": [{"jsonPath": "$.a", "numberValue": True}]}),
            "isn't in the expected form",
        ),
        (gemini, parts_of_call({"partialArgs": [{"jsonPath": "$.a"}]}), "isn't in the expected form"),
        (ollama, '{"error": "no such model"}\n', 'the response is an error: "no such model"'),
    ],
)
def test_what_is_wrong_is_an_error_of_its_own(provider, piece, message):
    stream = provider.stream([])
    with pytest.raises(ResponseError, match=f"{provider.name}: ") as caught:
        stream.feed(piece)
    assert message in str(caught.value)
    for call in (lambda: stream.feed(""), stream.close):
        with pytest.raises(ResponseError) as again:
            call()
        assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("text", ["Bad gateway\n", "Bad gateway", "\n\nBad gateway: no upstream\nsorry\n\n"])
def test_text_without_any_event_is_an_error_at_the_end(text):
    stream = openai_chat.stream([])
    stream.feed(text)
    with pytest.raises(ResponseError, match='the stream contains no events; it has the line "Bad gateway'):
        stream.close()


@pytest.mark.parametrize("provider", [getattr(providers, name) for name in provider_names()])
def test_a_page_of_a_proxy_is_an_error_wherever_it_ends(provider):
    page = "<html><head><title>502: Bad gateway</title></head>\r\n<body>nginx</body></html>\r\n"
    for end in range(1, len(page) + 1):
        with pytest.raises(ResponseError, match=r"isn't valid JSON|contains no events"):
            read_all(provider, page[:end])


def read_all(provider, text):
    stream = provider.stream([])
    stream.feed(text)
    return stream.close()


def test_a_stream_of_comments_alone_was_interrupted():
    stream = openai_chat.stream([])
    stream.feed(": keep-alive\n\nid: 5\nretry: 10\n\n")
    assert stream.close().stop == "interrupted"


@pytest.mark.parametrize(
    "wrap", [lambda it: it, lambda it: {"choices": [it]}, lambda it: {"choices": {"a": it}}]
)
def test_an_object_that_says_nothing_of_itself_isnt_an_event(wrap):
    with pytest.raises(ResponseError, match="an event"):
        openai_chat.stream([]).feed(wrap(HostileObject()))


def test_an_error_may_be_all_that_came():
    stream = openai_chat.stream([])
    with pytest.raises(ResponseError, match="Invalid key"):
        stream.feed('{"error": {"message": "Invalid key"}}')
    for _ in range(2):
        with pytest.raises(ResponseError, match="Invalid key"):
            stream.close()


def test_indexes_of_two_types_dont_belong_together():
    stream = openai_chat.stream([])
    stream.feed(chunk({}, 0))
    stream.feed(chunk({}, "x"))
    with pytest.raises(ResponseError, match="the stream mixes events of different responses"):
        stream.close()


@pytest.mark.parametrize("piece", [f"data: {'x' * 65_536}\n", "x" * 65_536])
def test_an_event_has_a_limit(piece):
    stream = openai_chat.stream([])
    for _ in range(255):
        stream.feed(piece)
    with pytest.raises(ResponseError, match="an event is longer than 16777216 characters"):
        feed_all(stream, [piece, piece])


def feed_all(stream, pieces):
    for piece in pieces:
        stream.feed(piece)


@pytest.mark.slow("cuts streams at each place")
def test_wherever_a_stream_is_cut_no_call_that_lacks_its_end_can_run():
    chance, marked = Random(1), 0  # noqa: S311  # a sample that can be drawn again
    for exchange in OF_TEXT:
        provider, text = provider_of(exchange), exchange["response"]
        whole = provider.stream([])
        whole.feed(text)
        calls = whole.close().calls
        for place in [chance.randrange(len(text)) for _ in range(2)] if calls else []:
            stream = provider.stream([])
            stream.feed(text[:place])
            for call, full in zip(stream.close().calls, calls, strict=False):
                is_whole = call.name == full.name and parsed(call.arguments) == parsed(full.arguments)
                assert is_whole or call.is_cut_off, (exchange["cassette"], place)
                marked += call.is_cut_off
    assert marked > 100


def test_the_events_of_the_helper_of_the_openai_sdk_are_read():
    delta = {"role": "assistant", "content": "hi"}
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}
    stream = openai_chat.stream([])
    stream.feed({"type": "chunk", "chunk": chunk, "snapshot": {}})
    stream.feed({"type": "content.delta", "delta": "hi", "snapshot": "hi"})
    stream.feed({"type": "content.done", "content": "hi"})
    answer = stream.close()
    assert (answer.text, answer.stop) == ("hi", "end")
    with pytest.raises(ResponseError):
        openai_chat.stream([]).feed({"type": "something.new"})


def test_the_arguments_of_a_call_can_be_read_at_each_delta():
    def read(number):
        stream = openai_chat.stream([])
        first = {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}
        stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [first]}}]})
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}
        more = {"choices": [{"index": 0, "delta": delta}]}
        text = ""
        for _ in range(number):
            (call,) = stream.feed(more).calls
            text = call.arguments
        assert text == "x" * number

    assert_linear(read, 2_000)


# --- what comes in parts, and what comes again -----------------------------------------------------


def test_a_reason_that_is_empty_or_said_again_is_no_end_and_no_other_word():
    begun = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    stream = openai_chat.stream([])
    stream.feed({"choices": [{"index": 0, "finish_reason": "", "delta": {"tool_calls": [begun]}}]})
    assert not stream.is_complete
    answer = stream.close()
    assert (answer.stop, answer.calls[0].is_cut_off) == ("interrupted", True)

    stream, end = openai_chat.stream([]), {"finish_reason": "tool_calls", "native_finish_reason": "length"}
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [begun]}, **end}]})
    stream.feed({"choices": [{"index": 0, "delta": {"content": ""}, **end}], "usage": {"prompt_tokens": 1}})
    answer = stream.close()
    assert (answer.stop, answer.calls[0].is_cut_off) == ("length", True)


def gemini_part(part, **ends):
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, **ends}]}


def test_a_call_in_parts_keeps_its_signature_and_id_from_whichever_part_says_them():
    stream = gemini.stream([])
    stream.feed(gemini_part({"functionCall": {"name": "w", "willContinue": True}}))
    argument = {"partialArgs": [{"jsonPath": "$.p", "stringValue": "x"}], "willContinue": True}
    stream.feed(gemini_part({"functionCall": argument, "thoughtSignature": "SIG"}))
    stream.feed(gemini_part({"functionCall": {"id": "ID1"}}, finishReason="STOP"))
    assert stream.calls[0].id == "ID1"
    (part,) = stream.close().message[0]["parts"]
    expected = {"functionCall": {"name": "w", "id": "ID1", "args": {"p": "x"}}, "thoughtSignature": "SIG"}
    assert part == expected
    assert not stream.close().calls[0].is_cut_off


def test_a_call_in_parts_that_never_ends_is_cut_off_whatever_the_reason_says():
    stream = gemini.stream([])
    stream.feed(gemini_part({"functionCall": {"name": "w", "willContinue": True}}))
    stream.feed({"candidates": [{"finishReason": "STOP"}]})
    answer = stream.close()
    assert answer.calls[0].is_cut_off
    assert answer.message[0]["parts"] == [{"functionCall": {"name": "w", "args": {"arguments": ""}}}]


def converse_block(index, start, *deltas):
    yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
    yield from ({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}} for delta in deltas)


def test_converse_keeps_bytes_in_pieces_and_what_is_said_beside_a_call():
    stream = bedrock.stream([])
    stream.feed({"messageStart": {"role": "assistant"}})
    use = {"toolUse": {"toolUseId": "t", "name": "w"}}
    said = [{"toolUse": {"input": "{}", "sig": "A"}}, {"toolUse": {"sig": "B"}}, {"extra": "E"}]
    shown = [{"image": {"source": {"bytes": piece}}} for piece in (b"ab", b"cd")]
    for event in (
        *converse_block(0, {"image": {"format": "png"}}, *shown),
        *converse_block(1, use, *said),
        *converse_block(2, {}, {"reasoningContent": {"text": "x"}}, {"extra": "E"}),
        {"messageStop": {"stopReason": "tool_use"}},
    ):
        stream.feed(event)
    (message,) = stream.close().message
    assert message["content"] == [
        {"image": {"format": "png", "source": {"bytes": b"abcd"}}},
        {"toolUse": {"toolUseId": "t", "name": "w", "sig": "AB", "input": {}}, "extra": "E"},
        {"reasoningContent": {"reasoningText": {"text": "x"}}, "extra": "E"},
    ]


def test_cohere_keeps_what_nobody_knows_in_events_of_every_kind():
    stream = cohere.stream([])
    function = {"name": "w", "arguments": ""}
    for kind, message in (
        ("message-start", {"role": "assistant"}),
        ("tool-plan-delta", {"tool_plan": "p", "new": "a"}),
        ("tool-call-start", {"tool_calls": {"id": "c", "type": "function", "function": function}}),
        ("tool-call-delta", {"tool_calls": {"function": {"arguments": "{}", "sig": "a"}, "extra": "b"}}),
    ):
        stream.feed({"type": kind, "index": 0, "delta": {"message": message}})
    stream.feed({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}})
    (message,) = stream.close().message
    assert message["new"] == "a"
    call = {"id": "c", "type": "function", "extra": "b"}
    assert message["tool_calls"] == [{**call, "function": {"name": "w", "arguments": "{}", "sig": "a"}}]


def test_calls_of_ollama_have_their_ids_while_they_come():
    stream = ollama.stream([])
    call = {"id": "call_9", "function": {"name": "w", "arguments": {}}}
    stream.feed({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": True})
    assert stream.calls[0].id == stream.close().calls[0].id == "call_9"


def test_an_empty_function_call_is_no_call_in_a_stream():
    stream = openai_chat.stream([])
    empty = {"content": "Done.", "function_call": {"name": "", "arguments": ""}}
    assert stream.feed({"choices": [{"index": 0, "delta": empty, "finish_reason": "stop"}]}).calls == ()
    assert (stream.calls, stream.close().calls, stream.close().text) == ([], (), "Done.")


OWN_FORMS = [openai_chat, openai_responses, anthropic, gemini, bedrock, cohere, ollama]


@pytest.mark.parametrize("reader", OWN_FORMS, ids=repr)
@pytest.mark.parametrize("writer", OWN_FORMS, ids=repr)
@pytest.mark.parametrize("said", ["Hi", RawCall(name="f", arguments={"x": 1})], ids=["text", "call"])
def test_the_stream_of_another_provider_is_never_an_answer(writer, reader, said):
    """Unknown events are ignored, so a whole stream of them would look like one that was interrupted."""
    stream = reader.stream([])
    events = list(ScriptedModel(writer, [said])(stream=True))
    if writer is reader:
        for event in events:
            stream.feed(event)
        assert stream.close().stop in {"end", "calls"}
        return
    with pytest.raises(ResponseError, match=r"isn't in the expected form|a whole answer") as caught:
        stream.feed(events[0])
    if events[0].get("type"):
        assert f"(it looks like one of {writer.name})" in str(caught.value)


@pytest.mark.parametrize(
    "kind", ["response.steer.failed", "response.mcp_call.failed", "response.no_such.failed"]
)
def test_the_error_of_a_part_of_a_response_does_not_end_its_stream(kind):
    whole = {"id": "r", "status": "completed", "output": [{"type": "message", "content": "Hi."}]}
    stream = openai_responses.stream([])
    for event in (
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
        {"type": kind, "error": {"code": "response_not_found", "message": "no such response"}},
        {"type": "response.completed", "response": whole},
    ):
        stream.feed(event)
    assert stream.close() == openai_responses.answer(whole, [])


def test_the_error_of_a_response_ends_its_stream():
    with pytest.raises(ResponseError, match="no such response"):
        openai_responses.stream([]).feed({"type": "response.error", "error": {"message": "no such response"}})
