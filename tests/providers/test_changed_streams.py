"""Recorded streams, changed as other servers send theirs, give the same answer."""

import json
from collections import Counter

import pytest
from provider_traffic import events_of, provider_of, streamed
from server_changes import CHANGES, in_text

from operator_schema.providers import (
    ResponseError,
    anthropic,
    bedrock,
    gemini,
    openai_chat,
    openai_compatible,
    openai_responses,
    xai,
)

AS_TEXT = 5
"""So many streams of each change are fed as text, too."""

FORMS = sorted({type(provider_of(exchange).wire).__name__ for exchange in streamed()})


def closed(provider, events):
    stream = provider.stream([])
    for event in events:
        stream.feed(event)
    return stream, stream.close()


def said_by(stream, answer):
    """Return all that a stream said; ids that were drawn are left out."""
    calls = [(call.name, call.arguments) for call in answer.calls]
    shown = [(call.name, call.arguments) for call in stream.calls]
    return (calls, shown, answer.text, stream.text, answer.reasoning, answer.stop, answer.refusal, answer.id)


class Recorded:
    """A recorded stream, and what it says.

    Raises:
        ResponseError: what was recorded is an error.
    """

    def __init__(self, exchange):
        self.provider = provider_of(exchange)
        self.events = events_of(exchange)
        self.stream, self.answer = closed(self.provider, self.events)
        self.said = said_by(self.stream, self.answer)
        self.text = in_text(self.events)

    def given_ids(self, calls):
        """Return the ids of calls, without those that the library drew, as the server gave none."""
        return [call.id if call.id and call.id in self.text else None for call in calls]

    def check(self, events, change, *, as_text):
        """Check that changed events say the same."""
        stream, answer = closed(self.provider, events)
        assert said_by(stream, answer) == self.said
        assert len({call.id for call in answer.calls}) == len(answer.calls)
        if "id" not in change.split():
            assert self.given_ids(answer.calls) == self.given_ids(self.answer.calls)
            assert self.given_ids(stream.calls) == self.given_ids(self.stream.calls)
        roles = [message.get("role") for message in self.answer.message]
        assert [message.get("role") for message in answer.message] == roles
        if as_text:
            text = self.provider.stream([])
            text.feed(in_text(events))
            assert said_by(text, text.close()) == self.said


def recorded(form):
    """Yield the recorded streams of a wire form."""
    for exchange in streamed():
        if type(provider_of(exchange).wire).__name__ == form:
            try:
                yield Recorded(exchange)
            except ResponseError:
                continue


@pytest.mark.slow("it changes each recorded stream in up to 18 ways")
@pytest.mark.parametrize("form", FORMS)
def test_a_server_that_empties_repeats_moves_or_leaves_out_what_it_says_gives_the_same_answer(form):
    counts, failed = Counter(), Counter()
    for known in recorded(form):
        for change, events in CHANGES[form](known.events, known.stream.response):
            if events:
                counts[change] += 1
                try:
                    known.check(events, change, as_text=counts[change] <= AS_TEXT)
                except AssertionError:
                    failed[change] += 1
    assert min(counts.values()) > 0
    assert failed == {}, counts


def chunk(index=0, reason=None, **delta):
    return {"choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def whole_call(name, arguments, **about):
    return {"index": 0, "type": "function", "function": {"name": name, "arguments": arguments}, **about}


def test_calls_that_come_as_wholes_at_one_index_without_ids_are_several():
    for names in (["get_weather", "get_time"], ["get_time", "get_time"]):
        pieces = [chunk(tool_calls=[whole_call(name, "{}")]) for name in names]
        stream, answer = closed(openai_chat, [*pieces, chunk(reason="tool_calls")])
        assert [call.name for call in answer.calls] == [call.name for call in stream.calls] == names


def test_a_call_whose_id_changes_keeps_the_first_one():
    first = whole_call("m", "", id="A")
    rest = {"index": 0, "id": "B", "function": {"arguments": "{}"}}
    stream, answer = closed(openai_chat, [chunk(tool_calls=[first]), chunk(tool_calls=[rest])])
    assert [call.id for call in stream.calls] == [call.id for call in answer.calls] == ["A"]
    assert answer.message[0]["tool_calls"][0]["id"] == "A"


def choice(reason, **message):
    return {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}


def test_one_answer_in_several_choices_is_one():
    calls = [whole_call("bash", "{}", id="c")]
    two = [choice("tool_calls", content="I look."), choice("tool_calls", content=None, tool_calls=calls)]
    (answer,) = openai_chat.answers({"choices": two}, [])
    assert (answer.text, [call.id for call in answer.calls]) == ("I look.", ["c"])
    assert answer.message[0]["tool_calls"] == calls
    events = [chunk(content="I look."), chunk(1, "tool_calls", tool_calls=calls), chunk(0, "tool_calls")]
    stream, streamed_answer = closed(openai_chat, events)
    assert said_by(stream, streamed_answer) == said_by(stream, answer)


def test_several_answers_stay_several():
    calls = [whole_call("bash", "{}", id="c")]
    two = [choice("stop", content="Done."), choice("tool_calls", content=None, tool_calls=calls)]
    assert [len(answer.calls) for answer in openai_chat.answers({"choices": two}, [])] == [0, 1]


def test_an_error_inside_a_choice_is_told():
    error = {"code": 502, "message": "Provider disconnected"}
    body = {"choices": [{**choice("error", content=""), "error": error}]}
    assert openai_chat.answer(body, []).stop_message == "Provider disconnected"
    event = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error", "error": error}]}
    assert closed(openai_chat, [event])[1].stop_message == "Provider disconnected"


@pytest.mark.parametrize("data", ["{}", "", "null", '{"type": "ping"}', "keep alive"])
@pytest.mark.parametrize("kind", ["ping", "keepalive"])
def test_a_sign_of_life_may_say_anything(kind, data):
    stream = anthropic.stream([])
    stream.feed(f"event: {kind}\ndata: {data}\n\n")
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    stream.feed(f"data: {json.dumps(start)}\n\n")
    assert stream.close().stop == "interrupted"


def test_two_encrypted_thoughts_at_one_index_are_two():
    details = [{"type": "reasoning.encrypted", "index": 0, "id": name, "data": name} for name in "ab"]
    stream, _ = closed(openai_chat, [chunk(reasoning_details=[detail]) for detail in details])
    message = stream.response["choices"][0]["message"]
    assert [detail["data"] for detail in message["reasoning_details"]] == ["a", "b"]


def test_an_answer_that_is_done_without_a_word_is_done():
    body = {"choices": [choice("", content="Done.")]}
    assert openai_compatible("Snowflake").answer(body, []).raise_for_stop().text == "Done."


ENDS = [
    (anthropic, {"content": [{"type": "compaction", "content": "s"}], "stop_reason": "compaction"}, "paused"),
    (
        anthropic,
        {"content": [{"type": "tool_use", "id": "a", "name": "m", "input": {}}], "stop_reason": "end_turn"},
        "calls",
    ),
    (
        bedrock,
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t", "name": "m", "input": {}}}],
                }
            },
            "stopReason": "end_turn",
        },
        "calls",
    ),
    *[
        (gemini, {"candidates": [{"content": {}, "finishReason": word}]}, stop)
        for word, stop in (
            ("CONTINUATION", "paused"),
            ("IMAGE_SAFETY", "filtered"),
            ("MODEL_ARMOR", "filtered"),
        )
    ],
]


@pytest.mark.parametrize(("provider", "body", "stop"), ENDS)
def test_why_it_stopped(provider, body, stop):
    assert provider.answer(body, []).stop == stop


def test_a_candidate_without_parts_leaves_nothing_to_send():
    body = {"candidates": [{"content": {}, "finishReason": "STOP"}]}
    assert gemini.answer(body, []).message == closed(gemini, [body])[1].message == []


@pytest.mark.parametrize("content", ["hi", [{"type": "text", "text": "hi"}]])
def test_a_message_of_responses_may_be_one_text(content):
    item = {"type": "message", "id": "m", "role": "assistant", "content": content}
    body = {"status": "completed", "output": [item]}
    assert openai_responses.answer(body, []).text == "hi"
    events = [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": body},
    ]
    stream, answer = closed(openai_responses, events)
    assert stream.text == answer.text == "hi"


def test_a_call_that_xai_runs_itself_is_no_call_of_yours():
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "x_keyword_search", "input": "{}"}
    body = {"status": "completed", "output": [{**item, "status": "completed"}]}
    assert (xai.answer(body, []).calls, xai.answer(body, []).stop) == ((), "end")
    events = [
        {"type": "response.created", "response": {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.completed", "response": body},
    ]
    assert closed(xai, events)[0].calls == []
    assert len(openai_responses.answer(body, []).calls) == 1


def test_a_message_that_begins_again_forgets_what_came_before():
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    call = {"type": "tool_use", "id": "a", "name": "m", "input": {}}
    text = {"type": "text", "text": "Hi"}
    stream, answer = closed(
        anthropic,
        [
            start,
            {"type": "content_block_start", "index": 0, "content_block": call},
            start,
            {"type": "content_block_start", "index": 0, "content_block": text},
        ],
    )
    assert (stream.calls, stream.text, answer.text, answer.calls) == ([], "Hi", "Hi", ())
