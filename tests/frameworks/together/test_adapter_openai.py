"""openai: a program calls its SDK, and a provider of ours makes the requests and reads the answers."""

from __future__ import annotations

import openai
import pytest
from chat_turns import DONE, asked
from local_server import serving
from provider_loop import HANG, check_cancellation, check_chat_images, check_chat_turn, talk
from turn_table import run_section
from turns import OURS, TOOLS, check_schemas, turns

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


def sending(address):
    client = openai.OpenAI(api_key="x", base_url=address, max_retries=0)

    def send(messages, request):
        return client.chat.completions.create(model="gpt-5.2", messages=messages, **request)

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
    for made, sent in zip(TOOLS, requests[0]["tools"], strict=True):
        assert sent["function"]["parameters"] == made.input_schema()
    sent = [one["function"] for one in requests[0]["tools"]]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in sent})


def test_the_examples_of_the_page_run():
    assert callable(run_section("openai, google-genai")["ask"])
