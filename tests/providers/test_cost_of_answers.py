"""A response is read once: no second walk asks how deep it nests, or whether JSON has its numbers."""

import json
import sys
from math import inf, nan
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_traffic import provider_of, unstreamed
from written_forms import FORMS

import operator_schema
from operator_schema import Toolset, tool
from operator_schema.providers import (
    ResponseError,
    anthropic,
    cohere,
    gemini,
    llama_cpp,
    ollama,
    openai_chat,
    openai_responses,
)
from tests.shares import seeds

PACKAGE = str(Path(operator_schema.__file__).parent)


@tool
def search(query: str) -> str:
    """Search."""
    return query


def calls_of(work):
    """Count the calls of the package's functions that something makes."""
    count = 0

    def note(frame, event, _argument):
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_a_small_answer_takes_few_steps():
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    offer = Toolset(search).offer()
    for given_response, offered in ((response, [search]), (json.dumps(response), offer), (response, offer)):
        openai_chat.answer(given_response, offered)  # modules are loaded
        assert calls_of(lambda: openai_chat.answer(given_response, offered)) <= 60  # noqa: B023  # called here


def response_in(exchange):
    found = exchange["response"]
    return json.loads(found) if isinstance(found, str) else found


class Walked(dict):
    """An object that counts how often all of its values are looked at."""

    def __init__(self, content):
        super().__init__(content)
        self.walks = 0

    def values(self):
        self.walks += 1
        return super().values()


def walked(value, found):
    """Return a JSON value made of objects that count, each of which is put into a list."""
    if isinstance(value, dict):
        found.append(Walked({key: walked(inner, found) for key, inner in value.items()}))
        return found[-1]
    return [walked(inner, found) for inner in value] if isinstance(value, list) else value


def test_a_response_is_walked_once():
    for exchange in unstreamed():
        objects = []
        provider_of(exchange).answers(walked(response_in(exchange), objects), [search])
        assert {one.walks for one in objects} == {1}, exchange["path"]


def holders_of(value):
    """List the objects and lists in a JSON value, each with its keys or places."""
    inside = value.values() if isinstance(value, dict) else value
    below = [one for inner in inside if isinstance(inner, (dict, list)) for one in holders_of(inner)]
    return [*([value] if value else []), *below]


def outcome(provider, response):
    try:
        answers = provider.answers(response, [search])
    except ResponseError:
        return "refused"
    # Each reading gives a call without an id another one.
    return [
        (one.text, one.stop, one.usage and repr(one.usage.raw), repr(one.message), len(one.calls))
        for one in answers
    ]


@pytest.mark.parametrize("seed", seeds(1))
def test_a_number_that_json_lacks_does_the_same_in_a_text_and_in_an_object(seed):
    draw = Random(f"number:{seed}")  # noqa: S311  # the same each time
    exchange = draw.choice(unstreamed())
    provider, text = provider_of(exchange), json.dumps(response_in(exchange))
    body = json.loads(text)
    holder = draw.choice(holders_of(body))
    key = draw.choice([*holder]) if isinstance(holder, dict) else draw.randrange(len(holder))
    holder[key] = draw.choice([nan, inf, -inf, 1.5])
    found = outcome(provider, body)
    assert found == outcome(provider, json.dumps(body)) == outcome(provider, json.dumps(body).encode())
    if found != "refused":
        for answer in provider.answers(body, [search]):
            json.dumps(answer.message, allow_nan=False)


TOO_LARGE = "1234567.5"
"""A number in whose place stands one that JSON lacks."""


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
@pytest.mark.parametrize("name", FORMS)
def test_a_number_that_json_lacks_in_a_call_that_is_a_text_never_reaches_a_request(name, number):
    written = FORMS[name]([("search", {"query": float(TOO_LARGE)})])
    assert TOO_LARGE in written
    text = written.replace(TOO_LARGE, number)
    chat = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    own = {"message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop"}
    malformed = {"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": text}
    given = ((llama_cpp, chat), (ollama, own), (gemini, {"candidates": [malformed]}))
    for provider, response in given:
        answer = provider.answer(response, [search])
        for taker in (provider, anthropic, openai_responses):
            json.dumps(taker.request([search], ["Hi.", answer]), allow_nan=False)


COUNTS = st.none() | st.booleans() | st.integers(0) | st.floats() | st.text(max_size=2)


@given(COUNTS, COUNTS)
def test_what_an_answer_cost_is_a_whole_number(read, written):
    usage = {"tokens": {"input_tokens": read, "output_tokens": written}}
    response = {"message": {"content": "a"}, "finish_reason": "COMPLETE", "usage": usage}
    found = cohere.answer(response, []).usage
    for count, known in ((read, found.input_tokens), (written, found.output_tokens)):
        is_whole = type(count) is int or (type(count) is float and count.is_integer())
        assert known == (count if is_whole else None)
        assert type(known) in {int, type(None)}
