"""A turn is the same for every provider, whichever gave the answer; what is no answer is told."""

import json

import pytest
from provider_traffic import provider_of, unstreamed
from test_provider_laws import response_of
from wire_rules import faults

from operator_schema import RawCall, Toolset, Transcript, tool
from operator_schema.providers import (
    ResponseError,
    anthropic,
    bedrock,
    cohere,
    gemini,
    groq,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)

PROVIDERS = [anthropic, bedrock, cohere, gemini, groq, mistral, ollama, openai_chat, openai_responses]


@tool
def find(query: str) -> str:
    """Find it."""
    return query


def answered_by(provider):
    """Return the answer of a provider that makes a call."""
    (message,) = provider.wire.calls_message([RawCall("call_1", "find", {"query": "x"})])
    return provider.answer(response_of(provider, message), [])


@pytest.mark.parametrize("odd", [[5], ["x"], [{"content": 5}], [{"content": [5], "parts": 7}], [None]])
@pytest.mark.parametrize("taker", PROVIDERS, ids=repr)
def test_a_message_of_a_form_that_nobody_knows_is_made_again(taker, odd):
    plan = Toolset(find).offer().round(answered_by(taker).calls, assistant=odd).confirmed()
    turn = plan.reject_open("no").commit(Transcript())
    body = taker.request([find], [turn])
    assert faults(taker, body) == []
    assert sum(taker.wire.calls_in(message) for message in body[taker.wire.HISTORY]) == 1


def test_an_answer_is_read_with_the_offer_of_its_request():
    (message,) = anthropic.wire.calls_message([RawCall("call_1", "find", {"query": "x"})])
    for read in (anthropic.answer, anthropic.answers, anthropic.calls):
        with pytest.raises(TypeError, match="'offer'"):
            read(response_of(anthropic, message))
    with pytest.raises(TypeError, match="'offer'"):
        anthropic.stream()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (anthropic.stream([]), "a stream has its own answers"),
        (iter([]), "give its events to feed"),
    ],
    ids=["stream", "iterator"],
)
def test_what_is_no_response_is_answered_with_what_was_meant(given, said):
    with pytest.raises(ResponseError, match=said):
        anthropic.answer(given, [])


def test_no_provider_reads_a_recorded_answer_of_another_form():
    forms = {type(provider.wire): provider for provider in PROVIDERS}
    for exchange in unstreamed():
        response = json.loads(exchange["response"])
        for provider in forms.values():
            if type(provider_of(exchange).wire) is not type(provider.wire):
                with pytest.raises(ResponseError):
                    provider.answer(response, [])


@pytest.mark.parametrize(
    ("reader", "response", "writer"),
    [
        (
            ollama,
            {"finish_reason": "COMPLETE", "message": {"content": [{"type": "text", "text": "a"}]}},
            cohere,
        ),
        (cohere, {"done": True, "done_reason": "stop", "message": {"content": "a"}}, ollama),
    ],
)
def test_the_answer_of_another_provider_is_told(reader, response, writer):
    for read in (lambda: reader.answer(response, []), lambda: reader.answer(json.dumps(response), [])):
        with pytest.raises(ResponseError, match=rf"looks like an answer of {writer.name}\)"):
            read()


def test_what_has_to_be_awaited_is_told():
    async def ask() -> None:
        """Ask."""

    waiting = ask()
    with pytest.raises(ResponseError, match="await it first"):
        anthropic.answer(waiting, [])
    waiting.close()
