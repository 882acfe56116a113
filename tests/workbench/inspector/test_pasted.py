"""Answers of providers that somebody pastes are taken apart."""

from __future__ import annotations

import json

import provider_traffic
import pytest
from provider_traffic import provider_of

from operator_schema import RawCall, providers
from operator_schema.providers import openai_chat, provider_names
from operator_schema.testing import ScriptedModel
from operator_schema.workbench.inspector.pasted_answers import (
    UnknownProviderError,
    UnreadableAnswerError,
    take_apart,
)

EXCHANGES = [*provider_traffic.unstreamed(), *provider_traffic.streamed()]


def plain(found):
    return [(call["tool"], _value(call["arguments"])) for call in found["calls"]]


@pytest.mark.parametrize("family", sorted({provider_of(exchange).name for exchange in EXCHANGES}))
def test_recorded_answers_are_read_without_saying_whose_they_are(subject, family):
    own = [one for one in EXCHANGES if provider_of(one).name == family and one["response_encoding"] == "text"]
    assert own
    for exchange in own[:20]:
        text = exchange["response"]
        expected = take_apart(subject, text, _key_of(provider_of(exchange)))
        if expected["calls"]:
            assert plain(take_apart(subject, text)) == plain(expected)


def _key_of(provider):
    return next(name for name in provider_names() if getattr(providers, name) is provider)


def _value(arguments):
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def test_a_call_that_is_wrong_says_why_and_who_else_reads_it(subject):
    model = ScriptedModel(
        openai_chat,
        [[RawCall("1", "refund", {"order_id": 7, "amount": "ten"}), RawCall("2", "export", {"rows": 1})]],
    )
    found = take_apart(subject, json.dumps(model(messages=[])))
    assert (found["provider"], found["stop"]) == ("openai_chat", "calls")
    assert "groq" in found["others"]
    assert "anthropic" not in found["others"]
    assert "amount: " in found["calls"][0]["text"]
    assert found["calls"][1]["reading"]["fits"]


def test_whose_answer_it_is_can_be_said(subject):
    text = json.dumps(ScriptedModel(openai_chat, ["Hello."])(messages=[]))
    assert take_apart(subject, text, "groq")["provider"] == "groq"


CALL = {
    "index": 0,
    "id": "c",
    "type": "function",
    "function": {"name": "refund", "arguments": '{"order_id": 1'},
}
STREAM = """data: {"id": "1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me"}}]}

data: %s

data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}

data: [DONE]
""" % json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]})


def test_a_stream_whose_last_call_was_cut_off(subject):
    found = take_apart(subject, STREAM)
    assert (found["provider"], found["text"], found["stop"], found["is_cut_off"]) == (
        "openai_chat",
        "Let me",
        "length",
        True,
    )
    (call,) = found["calls"]
    assert call["is_cut_off"]
    assert "never run" in call["text"]


def test_a_list_of_events_is_a_stream(subject):
    events = [
        json.loads(line.removeprefix("data: ")) for line in STREAM.splitlines() if line.startswith("data: {")
    ]
    assert take_apart(subject, json.dumps(events))["text"] == "Let me"


def test_calls_alone_are_read_too(subject):
    found = take_apart(subject, '[{"name": "refund", "arguments": {}}, {"name": "refnd", "arguments": "{}"}]')
    assert found["provider"] is None
    assert [call["tool"] for call in found["calls"]] == ["refund", "refnd"]
    assert "did you mean refund" in found["calls"][1]["text"]
    assert found["calls"][1]["reading"] is None


def test_an_answer_without_calls(subject):
    found = take_apart(
        subject,
        '{"choices": [{"message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}]}',
    )
    assert (found["text"], found["calls"], found["stop"]) == ("No.", [], "end")


ERROR = '{"error": {"message": "no money"}}'
NO_ANSWERS = ["", "hello", "3", "{}", "[" * 100_000, ERROR]


@pytest.mark.parametrize("text", NO_ANSWERS, ids=lambda text: text[:10])
def test_what_is_no_answer_says_what_was_tried(subject, text):
    with pytest.raises(UnreadableAnswerError, match="no provider reads this; as openai_chat"):
        take_apart(subject, text)


def test_a_named_provider_says_what_is_wrong_in_its_words(subject):
    with pytest.raises(UnreadableAnswerError, match="no money"):
        take_apart(subject, ERROR, "anthropic")
    with pytest.raises(UnknownProviderError):
        take_apart(subject, "{}", "nobody")


def test_very_many_calls_are_counted(subject):
    calls = [{"name": "refund", "arguments": {}}] * 130
    found = take_apart(subject, json.dumps(calls))
    assert (len(found["calls"]), found["more_calls"]) == (100, 30)
