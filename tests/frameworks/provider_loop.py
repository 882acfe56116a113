"""The loop of a program that calls a model by an SDK: a provider of ours writes and reads."""

from __future__ import annotations

import asyncio

from chat_turns import DONE, answers, asked
from local_server import serving
from patience import cancelled_once
from turns import CALLS, CONTEXT, TOOLS, Call, check

from operator_schema import Executor, Registry, tool
from operator_schema.providers import openai_chat


def talk(provider, send, tools, context=None):
    """Ask until there are no calls, and return the last answer.

    Args:
        provider: of `operator_schema.providers`.
        send: takes the messages, and the part of the request's body that offers tools; returns the response.
        tools: a list of them.
        context: as an executor takes it.
    """
    registry = Registry(tools)
    executor = Executor(registry)
    messages = [{"role": "user", "content": "go"}]
    while True:
        answer = provider.answer(send(messages, provider.request(registry)), registry)
        messages += answer.message
        if not answer.calls:
            return answer
        results = executor.run_sync(answer.calls, context=context)
        messages += provider.results(results, registry)


def check_chat_turn(turn, sending):
    """Check a turn over chat completions.

    Args:
        turn: its name.
        sending: takes an address, and returns what sends there.
    """
    with serving(asked(CALLS[turn]), DONE) as (address, requests):
        assert talk(openai_chat, sending(address), TOOLS, CONTEXT).text == "done"
    check(turn, answers(requests[1]))


def check_chat_images(sending):
    """Check that an image goes in a message of the user over chat completions, which take none in results."""
    with serving(asked(CALLS["rich"]), DONE) as (address, requests):
        talk(openai_chat, sending(address), TOOLS)
    (found,) = answers(requests[1])
    assert found.text.startswith("Here:")
    assert found.has_image
    *_, result, user = requests[1]["messages"]
    assert (result["role"], user["role"]) == ("tool", "user")
    words, image = user["content"]
    assert (words["type"], image["type"]) == ("text", "image_url")


def check_cancellation(provider, send):
    """Check that who gives up waiting for the calls of an answer cancels them."""
    begun, ended = [], []

    @tool
    async def hang() -> int:
        """Hang."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        return 1

    async def main():
        request = provider.request([hang])
        calls = provider.calls(send([{"role": "user", "content": "go"}], request), [hang])
        assert [call.name for call in calls] == ["hang"]
        await cancelled_once(begun, Executor([hang]).run(calls))

    asyncio.run(main())
    assert ended == [True]


HANG = [Call("hang", {})]
