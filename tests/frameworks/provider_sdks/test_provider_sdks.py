"""The SDKs of model providers: they send what our providers make, and read what these read."""

from __future__ import annotations

import json

import boto3
import cohere
import ollama
import pytest
from anthropic import Anthropic
from anthropic.types import MessageParam, ToolChoiceParam, ToolParam
from google import genai
from google.genai import types
from local_server import serving
from mistralai.client import Mistral
from openai import OpenAI
from openai.types.chat import (
    ChatCompletionMessageParam,
    ChatCompletionToolChoiceOptionParam,
    ChatCompletionToolParam,
)
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

from operator_schema import Executor, Toolset, Transcript, tool
from operator_schema.providers import (
    anthropic,
    bedrock,
    deepseek,
    gemini,
    mistral,
    openai_chat,
    openai_compatible,
    openai_responses,
)
from operator_schema.providers import cohere as our_cohere
from operator_schema.providers import ollama as our_ollama


@tool
def search(query: str, limit: int = 5, sites: list[str] | None = None) -> list[str]:
    """Search the web.

    Args:
        query: What to look for.
    """
    return [f"{query} {limit} {sites}"]


@tool
def now() -> str:
    """Tell the time."""
    return "noon"


TOOLS = Toolset(search, now).hide(now)
ASKED = {"role": "user", "content": "What is new?"}
SENT = '{"query": "news", "limit": 2}'
CHAT_CALL = {"id": "call_0000a", "type": "function", "function": {"name": "search", "arguments": SENT}}
CHAT = {
    "id": "r1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            "finish_reason": "tool_calls",
            "logprobs": None,
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
RESPONSE = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [
        {
            "type": "function_call",
            "id": "f1",
            "call_id": "c1",
            "name": "search",
            "arguments": SENT,
            "status": "completed",
        }
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "text", "text": "I look it up."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "news", "limit": 2}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
CANDIDATES = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"id": "g1", "name": "search", "args": {"query": "news", "limit": 2}},
                        "thoughtSignature": "c2lnbmF0dXJl",
                    }
                ],
            },
            "finishReason": "STOP",
        }
    ]
}
CONVERSE = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "b1", "name": "search", "input": {"query": "news", "limit": 2}}}
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    "metrics": {"latencyMs": 1},
}
COHERE = {
    "id": "c1",
    "finish_reason": "TOOL_CALL",
    "message": {"role": "assistant", "tool_plan": "I look it up.", "tool_calls": [CHAT_CALL]},
}
OLLAMA = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00Z",
    "done": True,
    "done_reason": "stop",
    "message": {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "search", "arguments": {"query": "news", "limit": 2}}}],
    },
}


def checked(provider, response, offer):
    """Read the object of an SDK, run the call, and return the messages of the next request."""
    answer = provider.answer(response, offer)
    (call,) = answer.calls
    assert search.decode(call.arguments) == search.input_type("news", 2)
    assert answer.stop == "calls"
    done = Executor(TOOLS).run_sync(offer.round(answer))
    return provider.turn(done.commit(Transcript()), offer)


def fits(annotation, value):
    """Check a value against the types of an SDK, which are TypedDicts."""
    TypeAdapter(annotation).validate_python(value)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("provider", [openai_chat, deepseek])
def test_chat_completions(provider, strict):
    offer = TOOLS.offer(only=TOOLS, required="any", strict=strict)
    body = provider.request(offer)
    for entry in body["tools"]:
        fits(ChatCompletionToolParam, entry)
    fits(ChatCompletionToolChoiceOptionParam, body["tool_choice"])
    fits(
        ChatCompletionToolChoiceOptionParam,
        provider.request(TOOLS.offer(required=search))["tool_choice"],
    )
    with serving(CHAT, CHAT) as (address, requests):
        client = OpenAI(api_key="none", base_url=address)
        response = client.chat.completions.create(model="m", messages=[ASKED], **body)
        messages = checked(provider, response, offer)
        for message in messages:
            fits(ChatCompletionMessageParam, message)
        client.chat.completions.create(model="m", messages=[ASKED, *messages], **body)
    assert {key: requests[0][key] for key in body} == body
    assert requests[1]["messages"] == [ASKED, *messages]


@pytest.mark.parametrize("strict", [False, True])
def test_responses(strict):
    offer = TOOLS.offer(only=TOOLS, strict=strict)
    body = openai_responses.request(offer)
    for entry in body["tools"]:
        fits(FunctionToolParam, entry)
    with serving(RESPONSE, RESPONSE) as (address, requests):
        client = OpenAI(api_key="none", base_url=address)
        response = client.responses.create(model="m", input="What is new?", **body)
        items = checked(openai_responses, response, offer)
        for item in items:
            fits(ResponseInputItemParam, item)
        client.responses.create(model="m", input=items, **body)
    assert {key: requests[0][key] for key in body} == body
    assert requests[1]["input"] == items


@pytest.mark.parametrize("strict", [False, True])
def test_messages(strict):
    offer = TOOLS.offer(only=TOOLS, required=search, strict=strict)
    body = anthropic.request(offer)
    for entry in body["tools"]:
        fits(ToolParam, entry)
    fits(ToolChoiceParam, body["tool_choice"])
    with serving(MESSAGE, MESSAGE) as (address, requests):
        client = Anthropic(api_key="none", base_url=address)
        response = client.messages.create(model="m", max_tokens=9, messages=[ASKED], **body)
        messages = checked(anthropic, response, offer)
        for message in messages:
            fits(MessageParam, message)
        client.messages.create(model="m", max_tokens=9, messages=[ASKED, *messages], **body)
    assert {key: requests[0][key] for key in body} == body
    assert requests[1]["messages"] == [ASKED, *messages]


def test_generate_content():
    offer = TOOLS.offer(only=TOOLS, required=search)
    body = gemini.request(offer)
    config = types.GenerateContentConfig(
        tools=[types.Tool.model_validate(entry) for entry in body["tools"]],
        tool_config=types.ToolConfig.model_validate(body["toolConfig"]),
    )
    with serving(CANDIDATES, CANDIDATES) as (address, requests):
        client = genai.Client(api_key="none", http_options={"base_url": address})
        response = client.models.generate_content(model="m", contents="What is new?", config=config)
        contents = checked(gemini, response, offer)
        given = [types.Content.model_validate(content) for content in contents]
        client.models.generate_content(model="m", contents=given, config=config)
    # The SDK writes some names in its own spelling, which the API takes too.
    sent = json.loads(json.dumps(requests[0]).replace("parameters_json_schema", "parametersJsonSchema"))
    assert {key: sent[key] for key in body} == body
    assert requests[1]["contents"] == contents


def test_converse(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    offer = TOOLS.offer(only=TOOLS, required="any")
    body = bedrock.request(offer)
    with serving(CONVERSE, CONVERSE) as (address, requests):
        client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=address,
            aws_access_key_id="none",
            aws_secret_access_key="none",  # noqa: S106  # nobody checks it here
        )
        asked = {"role": "user", "content": [{"text": "What is new?"}]}
        # botocore checks every parameter against its model of the service.
        response = client.converse(modelId="m", messages=[asked], **body)
        messages = checked(bedrock, response, offer)
        client.converse(modelId="m", messages=[asked, *messages], **body)
    assert requests[0]["toolConfig"] == body["toolConfig"]
    assert requests[1]["messages"] == [asked, *messages]


def test_mistral():
    offer = TOOLS.offer(only=TOOLS, required="any")
    body = mistral.request(offer)
    with serving(CHAT, CHAT) as (address, requests):
        client = Mistral(api_key="none", server_url=address)
        response = client.chat.complete(model="m", messages=[ASKED], **body)
        messages = checked(mistral, response, offer)
        client.chat.complete(model="m", messages=[ASKED, *messages], **body)
    assert requests[0]["tool_choice"] == "any"
    assert [entry["function"]["parameters"] for entry in requests[0]["tools"]] == [
        entry["function"]["parameters"] for entry in body["tools"]
    ]
    assert requests[1]["messages"][-1]["content"] == messages[-1]["content"]


def test_cohere():
    offer = TOOLS.offer(only=TOOLS, required="any")
    body = our_cohere.request(offer)
    with serving(COHERE, COHERE) as (address, requests):
        client = cohere.ClientV2(api_key="none", base_url=address)
        response = client.chat(model="m", messages=[ASKED], **body)
        messages = checked(our_cohere, response, offer)
        client.chat(model="m", messages=[ASKED, *messages], **body)
    assert {key: requests[0][key] for key in body} == body
    assert requests[1]["messages"][-1]["tool_call_id"] == "call_0000a"


def test_ollama():
    offer = TOOLS.offer()
    body = our_ollama.request(offer)
    with serving(OLLAMA, OLLAMA) as (address, requests):
        client = ollama.Client(host=address)
        response = client.chat(model="m", messages=[ASKED], **body)
        messages = checked(our_ollama, response, offer)
        client.chat(model="m", messages=[ASKED, *messages], **body)
    sent = requests[0]["tools"][0]["function"]
    assert (sent["name"], sent["parameters"]["required"]) == ("search", ["query"])
    assert requests[1]["messages"][-1]["tool_name"] == "search"


WRITTEN = '```json\n{"name": "search", "arguments": {"query": "news", "limit": 2}}\n```'
"""What a server leaves in the text if it doesn't know how its model writes calls."""


def test_a_call_that_a_server_left_in_the_text_goes_back_as_a_call():
    offer, provider = TOOLS.offer(), openai_compatible("llama.cpp")
    body = provider.request(offer)
    said = {
        **CHAT["choices"][0],
        "message": {"role": "assistant", "content": WRITTEN},
        "finish_reason": "stop",
    }
    with serving({**CHAT, "choices": [said]}, CHAT) as (address, requests):
        client = OpenAI(api_key="none", base_url=address)
        response = client.chat.completions.create(model="m", messages=[ASKED], **body)
        messages = checked(provider, response, offer)
        for message in messages:
            fits(ChatCompletionMessageParam, message)
        client.chat.completions.create(model="m", messages=[ASKED, *messages], **body)
    _, call, result = requests[1]["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert WRITTEN not in str(requests[1])


def test_a_call_that_ollama_left_in_the_text_goes_back_as_a_call():
    offer = TOOLS.offer()
    body = our_ollama.request(offer)
    said = {**OLLAMA, "message": {"role": "assistant", "content": WRITTEN}}
    with serving(said, OLLAMA) as (address, requests):
        client = ollama.Client(host=address)
        response = client.chat(model="m", messages=[ASKED], **body)
        messages = checked(our_ollama, response, offer)
        client.chat(model="m", messages=[ASKED, *messages], **body)
    _, call, result = requests[1]["messages"]
    assert call["tool_calls"][0]["function"] == {"name": "search", "arguments": {"query": "news", "limit": 2}}
    assert (call.get("content") or "", result["tool_name"]) == ("", "search")
