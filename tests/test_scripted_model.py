"""A model that follows a script: what it answers, whole and in events, and what it says of mistakes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.providers import NameRule, anthropic, groq, openai_chat, openai_compatible
from operator_schema.testing import ScriptedModel


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = Toolset(add, add.with_(name="add_again"))


def talk(model: Any, messages: list[dict[str, Any]], *, stream: bool = False) -> str:
    """Run the loop that a program has, to the first answer without calls."""
    executor = Executor(TOOLS)
    while True:
        body = {"model": "m", "messages": messages, **openai_chat.request(TOOLS)}
        if stream:
            growing = openai_chat.stream(TOOLS)
            for event in model(stream=True, **body):
                growing.feed(event)
            answer = growing.close()
        else:
            answer = openai_chat.answer(model(**body), TOOLS)
        if not answer.calls:
            return answer.text
        results = executor.run_sync(answer.calls)
        messages += [*answer.message, *openai_chat.results(results, TOOLS)]


@pytest.mark.needs_threads
@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_follows_its_script(stream):
    model = ScriptedModel(
        openai_chat,
        [
            ["I add them.", RawCall("c1", "add", {"a": 20, "b": "x"})],
            [RawCall("c2", "add", {"a": 20, "b": 22}), RawCall("c3", "add_again", '{"a": 1, "b": 2}')],
            "It is 42.",
        ],
    )
    assert talk(model, [{"role": "user", "content": "20 + 22?"}], stream=stream) == "It is 42."
    assert model.left == 0
    first, second, third = [request["messages"] for request in model.requests]
    assert len(first) == 1
    assert "\n- b: " in second[-1]["content"]
    assert [message["content"] for message in third[-2:]] == ["42", "3"]
    assert third[1]["content"] == "I add them."


def test_requests_are_kept_as_they_were():
    model = ScriptedModel(openai_chat, ["one", "two"])
    messages = [{"role": "user", "content": "a"}]
    model(messages=messages)
    messages.append({"role": "user", "content": "b"})
    model(messages=messages)
    assert [len(request["messages"]) for request in model.requests] == [1, 2]


def test_a_function_sees_the_request_and_an_exception_is_raised():
    model = ScriptedModel(
        openai_chat, [lambda body: body["messages"][-1]["content"], ConnectionError("gone")]
    )
    assert openai_chat.answer(model(messages=[{"role": "user", "content": "Say yes"}]), []).text == "Say yes"
    with pytest.raises(ConnectionError, match="gone"):
        model(messages=[])


def test_a_whole_response_goes_through():
    response = {"choices": [{"message": {"role": "assistant", "content": "cut"}, "finish_reason": "length"}]}
    model = ScriptedModel(openai_chat, [response])
    given = model()
    assert given == response
    assert given is not response
    assert openai_chat.answer(given, []).stop == "length"


def test_the_end_of_the_script_fails_the_test():
    model = ScriptedModel(groq, ["done"])
    model()
    with pytest.raises(AssertionError, match="the script has 1 answers, and this is request 2"):
        model()


@pytest.mark.parametrize("line", [3, [], [3], [None, "x"], lambda _: 3])
def test_other_lines_are_refused(line):
    with pytest.raises(TypeError, match="an answer of a script is a text"):
        ScriptedModel(openai_chat, [line])()


@pytest.mark.parametrize("script", ["hello", b"hello", {"choices": []}, RawCall("1", "add", {}), 5, None])
def test_one_answer_is_not_a_script(script):
    with pytest.raises(TypeError, match=r"^a script is a list of answers, not .*: write \[answer\]"):
        ScriptedModel(openai_chat, script)


@pytest.mark.parametrize("provider", ["openai", None, "openai_chat"])
def test_the_name_of_a_provider_is_not_a_provider(provider):
    with pytest.raises(
        TypeError, match=r"^ScriptedModel takes a provider, not .*: from operator_schema\.providers"
    ):
        ScriptedModel(provider, ["x"])


def test_other_providers_are_refused():
    with pytest.raises(TypeError, match="Anthropic doesn't read them"):
        ScriptedModel(anthropic, ["x"])


@pytest.mark.needs_threads
def test_an_async_program_gets_the_same():
    async def run() -> tuple[str, str]:
        model = ScriptedModel(openai_chat, ["plain", "streamed text"])
        plain = openai_chat.answer(await model.acall(), []).text
        growing = openai_chat.stream([])
        async for event in await model.acall(stream=True):
            growing.feed(event)
        return plain, growing.close().text

    assert asyncio.run(run()) == ("plain", "streamed text")


def test_names_are_the_providers_on_the_wire():
    provider = openai_compatible("short", names=NameRule(longest=12))
    long = add.with_(name="add_two_whole_numbers")
    model = ScriptedModel(provider, [RawCall("c1", long.name, {"a": 1, "b": 2})])
    (offered,) = provider.request([long])["tools"]
    response = model()
    (sent,) = response["choices"][0]["message"]["tool_calls"]
    assert sent["function"]["name"] == offered["function"]["name"] != long.name
    assert provider.answer(response, [long]).calls[0].name == long.name
