"""litellm: it takes and gives the dicts of OpenAI, whoever is behind it; a provider of ours reads them."""

from __future__ import annotations

import json

import litellm
import pytest
from chat_turns import DONE, asked
from local_server import serving
from provider_loop import HANG, check_cancellation, check_chat_images, check_chat_turn, talk
from turn_table import run_section
from turns import OURS, TOOLS, Call, add, book, check_schemas, turns

from operator_schema.providers import openai_chat

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": OURS,
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


def sending(address, model="openai/gpt-4o", **options):
    def send(messages, request):
        return litellm.completion(model, messages, api_base=address, api_key="x", **request, **options)

    return send


@pytest.mark.parametrize("turn", turns(TURNS))
def test_a_turn_goes_as_everywhere(turn):
    check_chat_turn(turn, sending)


def test_cancelling_the_calls_cancels_the_tool():
    with serving(asked(HANG)) as (address, _):
        check_cancellation(openai_chat, sending(address))


def test_images_follow_the_results():
    check_chat_images(sending)


def test_schemas_arrive_as_they_are():
    with serving(DONE) as (address, requests):
        talk(openai_chat, sending(address), TOOLS)
    assert requests[0]["tools"] == openai_chat.request(TOOLS)["tools"]
    sent = [one["function"] for one in requests[0]["tools"]]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in sent})


MESSAGE = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
USAGE = {"input_tokens": 1, "output_tokens": 1}


def claude(content, reason):
    return {**MESSAGE, "content": content, "stop_reason": reason, "usage": USAGE}


def test_another_provider_behind_it_gets_and_gives_the_same():
    calls = [
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 2, "b": 3}},
        {"type": "tool_use", "id": "t2", "name": "book", "input": {"title": 5}},
    ]
    done = claude([{"type": "text", "text": "done"}], "end_turn")
    with serving(claude(calls, "tool_use"), done) as (address, requests):
        send = sending(address, "anthropic/claude-sonnet-4-6", max_tokens=100)
        assert talk(openai_chat, send, [add, book]).text == "done"
    for made, sent in zip([add, book], requests[0]["tools"], strict=True):
        assert (sent["name"], sent["description"]) == (made.name, made.definition()["description"])
        assert sent["input_schema"] == made.input_schema()
    first, second = requests[1]["messages"][-1]["content"]
    assert "5" in json.dumps(first["content"])
    assert "book: 4 problems with the arguments" in json.dumps(second["content"])


def test_a_stream_of_it_is_read():
    def event(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt"}
        return {**head, "choices": [choice]}

    def part(text, **more):
        return {"tool_calls": [{"index": 0, "function": {"arguments": text}, **more}]}

    begun = {"index": 0, "id": "t1", "type": "function", "function": {"name": "add", "arguments": ""}}
    events = [
        event({"role": "assistant", "content": None, "tool_calls": [begun]}),
        event(part('{"a": 1')),
        event(part(', "b": 2}')),
        event({}, "tool_calls"),
    ]
    chunks = [litellm.types.utils.ModelResponseStream(**each) for each in events]
    stream = openai_chat.stream([add])
    for chunk in chunks:
        stream.feed(chunk)
    (call,) = stream.close().calls
    assert (call.id, call.name, call.arguments) == ("t1", "add", '{"a": 1, "b": 2}')


def test_malformed_arguments_come_as_they_were_written():
    with serving(asked([Call("add", '{"a": 2, "b": ')]), DONE) as (address, _):
        response = sending(address)([{"role": "user", "content": "go"}], openai_chat.request([add]))
    assert openai_chat.calls(response, [add])[0].arguments == '{"a": 2, "b": '


def test_the_examples_of_the_page_run():
    assert [one.name for one in run_section("litellm")["registry"]] == ["convert"]
