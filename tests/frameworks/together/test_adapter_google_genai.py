"""google-genai: a program calls its SDK, and a provider of ours makes the requests and reads the answers."""

from __future__ import annotations

import json

import pytest
from google import genai
from google.genai import types
from local_server import serving
from provider_loop import HANG, check_cancellation, talk
from turns import CALLS, CONTEXT, OURS, TOOLS, Answer, check, check_schemas, turns

from operator_schema.providers import gemini

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: the API gives objects",
    "unknown": OURS,
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": OURS,
}
SCHEMA = OURS


def said(*parts):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}]}


def asked(calls):
    made = [{"functionCall": {"name": one.name, "args": one.arguments}} for one in calls]
    return said(*made)


DONE = said({"text": "done"})


def sending(address):
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=address))

    def send(messages, request):
        contents = [
            {"role": "user", "parts": [{"text": one["content"]}]} if "content" in one else one
            for one in messages
        ]
        config = types.GenerateContentConfig.model_validate(
            {
                **request,
                "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
            }
        )
        return client.models.generate_content(model="gemini-3-pro", contents=contents, config=config)

    return send


def answers(request):
    parts = [
        part for content in request["contents"] for part in content["parts"] if "functionResponse" in part
    ]
    found = [part["functionResponse"] for part in parts]
    images = "inlineData" in json.dumps(request["contents"])
    return [
        Answer(
            one["response"].get("output", one["response"].get("error")),
            "error" in one["response"],
            images,
        )
        for one in found
    ]


@pytest.mark.parametrize("turn", turns(TURNS))
def test_a_turn_goes_as_everywhere(turn):
    with serving(asked(CALLS[turn]), DONE) as (address, requests):
        assert talk(gemini, sending(address), TOOLS, CONTEXT).text == "done"
    check(turn, answers(requests[1]))


def test_cancelling_the_calls_cancels_the_tool():
    with serving(asked(HANG)) as (address, _):
        check_cancellation(gemini, sending(address))


def test_schemas_arrive_as_they_are():
    with serving(DONE) as (address, requests):
        talk(gemini, sending(address), TOOLS)
    sent = requests[0]["tools"][0]["functionDeclarations"]
    for made, one in zip(TOOLS, sent, strict=True):
        assert one["parameters_json_schema"] == made.input_schema()
    check_schemas(SCHEMA, {one["name"]: one["parameters_json_schema"] for one in sent})
