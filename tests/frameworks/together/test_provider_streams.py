"""openai, anthropic and google-genai: the events of their streams give the same answers as recorded text."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from anthropic import Anthropic
from anthropic._models import construct_type as anthropic_object
from anthropic.types import RawMessageStreamEvent
from google import genai
from google.genai.types import GenerateContentResponse
from local_server import serving
from openai import OpenAI
from openai._models import construct_type as openai_object
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

from operator_schema.providers import anthropic, gemini, openai_chat, openai_responses, xai

sys.path.append(str(Path(__file__).parents[2]))
from provider_traffic import exchanges, provider_of

ASKED = [{"role": "user", "content": "go on"}]


def of_openai(kind):
    return lambda event: openai_object(type_=kind, value=event)


def of_google(event):
    # This version of the SDK doesn't know all that is told of the usage.
    return GenerateContentResponse.model_validate({**event, "usageMetadata": {}})


def streams_of(*providers):
    """List the recorded events of each stream of these providers."""
    return [
        [json.loads(line[5:]) for line in exchange["response"].splitlines() if line.startswith("data: {")]
        for exchange in exchanges()
        if exchange["status"] == 200
        and exchange["response"].lstrip().startswith(("data:", "event:", ":"))
        and provider_of(exchange) in providers
    ]


def content_of(answer):
    calls = [(call.name, call.arguments) for call in answer.calls]
    return calls, answer.text, answer.refusal, answer.stop, answer.raw_stop


def answer_to(provider, events):
    stream = provider.stream([])
    for event in events:
        stream.feed(event)
    return stream.close()


@pytest.mark.parametrize(
    ("providers", "to_object", "at_least"),
    [
        ((openai_chat,), of_openai(ChatCompletionChunk), 70),
        ((openai_responses, xai), of_openai(ResponseStreamEvent), 40),
        ((anthropic,), lambda event: anthropic_object(type_=RawMessageStreamEvent, value=event), 50),
        ((gemini,), of_google, 50),
    ],
    ids=["chat", "responses", "anthropic", "google"],
)
def test_the_objects_of_sdks_give_the_same_answer(providers, to_object, at_least):
    streams = streams_of(*providers)
    assert len(streams) >= at_least
    for events in streams:
        answer = answer_to(providers[0], [to_object(event) for event in events])
        same = answer_to(providers[0], events)
        assert content_of(answer) == content_of(same)
        assert answer.stop in {"calls", "end", "length"}
        assert len(answer.message) == len(same.message)


def recorded(provider):
    """Return the text of a stream with calls."""
    return next(
        exchange["response"]
        for exchange in exchanges()
        if exchange["response"].startswith(("data:", "event:"))
        and provider_of(exchange) is provider
        and answer_to(provider, [exchange["response"]]).stop == "calls"
    )


def by_chat(address):
    return OpenAI(base_url=address, api_key="x").chat.completions.create(
        model="m", messages=ASKED, stream=True
    )


def by_responses(address):
    return OpenAI(base_url=address, api_key="x").responses.create(model="m", input="go on", stream=True)


def by_messages(address):
    client = Anthropic(base_url=address, api_key="x")
    return client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=True)


def by_the_helper_of_messages(address):
    """Yield events with those that the SDK adds."""
    client = Anthropic(base_url=address, api_key="x")
    with client.messages.stream(model="m", max_tokens=9, messages=ASKED) as events:
        yield from events


def by_generate_content(address):
    client = genai.Client(api_key="x", http_options={"base_url": address})
    yield from client.models.generate_content_stream(model="m", contents="go on")


@pytest.mark.parametrize(
    ("provider", "ask"),
    [
        (openai_chat, by_chat),
        (openai_responses, by_responses),
        (anthropic, by_messages),
        (anthropic, by_the_helper_of_messages),
        (gemini, by_generate_content),
    ],
)
def test_the_streams_of_sdks_are_read(provider, ask):
    text = recorded(provider)
    if provider is gemini:
        text = text.replace('"serviceTier":"standard",', "")  # this version of the SDK refuses it
    with serving(text) as (address, requests):
        answer = answer_to(provider, ask(address))
    assert content_of(answer) == content_of(answer_to(provider, [text]))
    assert answer.calls
    assert len(requests) == 1
