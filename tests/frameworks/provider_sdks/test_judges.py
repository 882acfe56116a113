"""Requests, results and whole turns of each provider, checked by the types of the providers' SDKs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from anthropic import Anthropic
from google import genai
from google.genai import types as google
from judge_cases import FOLDERS, answers, moves, recorded, requests, results, streams, tools, turns
from local_server import serving
from openai import OpenAI
from pydantic import ValidationError
from sdk_judges import JUDGES

from operator_schema import ToolResult, providers

TABLE = Path(__file__).parents[3] / "docs" / "provider-judges.md"
NAMES = sorted(JUDGES)
LENIENT = {"cohere", "groq", "mistral", "ollama"}
STRICT = [name for name in NAMES if getattr(providers, name).dialect is not None]


def said(name, judge, what, cases, passed):
    """Return a row of the table in the docs."""
    return f"| `{name}` | {judge} | {what} | {cases} | {passed} |"


def check_row(row, *, write):
    """Check that the docs have a row of these cases, or write it there."""
    if write:
        write.append(row)
        return
    start = "|".join(row.split("|")[:4])
    found = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith(start)]
    assert found, f"write the table again: {row}"


def judged(check, cases):
    """Return how many cases there are, and what a judge says of those that it refuses."""
    refused, count = [], 0
    for case in cases:
        count += 1
        try:
            check(case)
        except (AssertionError, ValidationError, KeyError, TypeError) as error:
            refused.append(f"{case}: {error}")
    return count, refused


CASES = {
    # Ollama sends no tools where none may be called: it has no choice.
    "requests": lambda judge, provider: judged(judge.request, filter(None, requests(provider, strict=False))),
    "strict requests": lambda judge, provider: judged(judge.request, requests(provider, strict=True)),
    "results": lambda judge, provider: judged(
        judge.messages, [provider.results([found]) for found in results()]
    ),
    "turns": lambda judge, provider: judged(judge.messages, turns(provider)),
    "moves": lambda judge, provider: judged(judge.messages, moves(provider)),
}


def is_there(name, what):
    """Return whether a provider has a strict mode, or recorded answers of its own."""
    if what == "strict requests":
        return name in STRICT
    return what != "turns" or name != "gemini_parameters"  # the answers are those of `gemini`


@pytest.mark.parametrize(
    ("name", "what"),
    [(name, what) for name in NAMES for what in CASES if is_there(name, what)],
)
def test_the_types_of_the_sdk_take_it(name, what, table):
    judge = JUDGES[name]
    count, refused = CASES[what](judge, getattr(providers, name))
    assert refused == []
    assert count
    check_row(said(name, judge.name, what, count, count - len(refused)), write=table)


@pytest.mark.parametrize("name", NAMES)
def test_the_judge_refuses_what_is_wrong(name):
    judge, provider = JUDGES[name], getattr(providers, name)
    body = provider.request(tools()[:1])
    judge.request(body)
    found = list(wrongs(body))
    count, refused = judged(judge.request, found)
    # The models of some SDKs take keys that they don't know, and tools without a name.
    assert len(refused) == count or (name in LENIENT and refused)
    message = provider.results([ToolResult("call_1", "use_0", "found")])
    with pytest.raises((AssertionError, ValidationError)):
        judge.messages([{**message[0], "role": 5, "type": 5}])


def wrongs(body):
    """Yield a request with one thing wrong."""
    yield {**body, **dict.fromkeys(body, 5)}
    yield {**body, "tool_options": 1}
    text = json.dumps(body)
    for key in ("name", "parameters", "input_schema", "toolSpec", "function"):
        if f'"{key}"' in text:
            yield json.loads(text.replace(f'"{key}"', '"other_key"', 1))


# --- sent by the SDKs themselves -------------------------------------------------------------------


def by_chat(address, body, messages, **options):
    client = OpenAI(api_key="none", base_url=address)
    return client.chat.completions.create(model="m", messages=messages, **body, **options)


def by_responses(address, body, messages, **options):
    client = OpenAI(api_key="none", base_url=address)
    return client.responses.create(model="m", input=messages, **body, **options)


def by_messages(address, body, messages, **options):
    return Anthropic(api_key="none", base_url=address).messages.create(
        model="m", max_tokens=9, messages=messages, **body, **options
    )


@cache
def google_client(address):
    """Return a client, which takes half a second to make."""
    return genai.Client(api_key="none", http_options={"base_url": address})


def by_generate_content(address, body, messages, *, stream=False):
    config = google.GenerateContentConfig(
        tools=[google.Tool.model_validate(found) for found in body["tools"]],
        tool_config=google.ToolConfig.model_validate(body["toolConfig"]),
    )
    client = google_client(address)
    contents = [google.Content.model_validate(message) for message in messages]
    if stream:
        return client.models.generate_content_stream(model="m", contents=contents, config=config)
    return client.models.generate_content(model="m", contents=contents, config=config)


SENT = [
    ("anthropic", "anthropic", by_messages, "messages", [{"role": "user", "content": "Go on."}]),
    (
        "gemini",
        "google-genai",
        by_generate_content,
        "contents",
        [{"role": "user", "parts": [{"text": "Go on."}]}],
    ),
    ("openai_chat", "openai", by_chat, "messages", [{"role": "user", "content": "Go on."}]),
    ("openai_responses", "openai", by_responses, "input", [{"role": "user", "content": "Go on."}]),
]


@pytest.mark.parametrize(("name", "package", "ask", "key", "asked"), SENT, ids=[row[0] for row in SENT])
def test_a_recorded_turn_is_sent_by_the_sdk(name, package, ask, key, asked, table):
    provider = getattr(providers, name)
    body = provider.request(tools()[:2])
    found = answers(provider)
    with serving(*[answer for text, _ in found for answer in (json.loads(text), json.loads(text))]) as (
        address,
        sent,
    ):
        for text, answer in found:
            given = [ToolResult(call.id, call.name, "found") for call in answer.calls]
            read = provider.answer(ask(address, body, asked), tools()[:2])
            assert [(call.name, call.arguments) for call in read.calls] == [
                (call.name, call.arguments) for call in answer.calls
            ], text
            ask(address, body, [*asked, *answer.message, *provider.results(given)])
            assert sent[-1][key] == [*asked, *answer.message, *provider.results(given)]
            assert same_tools(sent[-1], body)
    check_row(said(name, f"{JUDGES[name].name}, HTTP", "turns", len(found), len(found)), write=table)


@pytest.mark.parametrize(("name", "package", "ask", "key", "asked"), SENT, ids=[row[0] for row in SENT])
def test_a_recorded_stream_is_read_from_the_sdk(name, package, ask, key, asked, table):
    provider = getattr(providers, name)
    body = provider.request(tools()[:2])
    found = streams(provider)
    with serving(*found) as (address, sent):
        for text in found:
            stream, whole = provider.stream(tools()[:2]), provider.stream([])
            for event in ask(address, body, asked, stream=True):
                stream.feed(event)
            whole.feed(text)
            read, wanted = stream.close(), whole.close()
            assert [(call.name, call.arguments) for call in read.calls] == [
                (call.name, call.arguments) for call in wanted.calls
            ]
            assert (read.text, read.stop) == (wanted.text, wanted.stop)
            assert sent[-1][key] == asked
            assert same_tools(sent[-1], body)
    check_row(said(name, f"{JUDGES[name].name}, HTTP", "streams", len(found), len(found)), write=table)


def same_tools(sent, body):
    # google-genai writes some names in its own spelling, which the API takes too.
    text = json.dumps({key: sent[key] for key in body}, sort_keys=True)
    return json.loads(text.replace("parameters_json_schema", "parametersJsonSchema")) == body


# --- recordings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_recordings_are_read(folder, table):
    for what, count, refused in recorded(folder):
        assert refused == []
        if count:
            check_row(said(folder, "recordings", what, count, count), write=table)
