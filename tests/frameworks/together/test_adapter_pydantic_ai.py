"""pydantic-ai: our toolset in its agent, with a model on this machine."""

from __future__ import annotations

import asyncio
import copy
import traceback

import pytest
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from local_server import serving
from openai import AsyncOpenAI
from patience import cancelled_once
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    RunUsage,
    ToolReturn,
    UnexpectedModelBehavior,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, check_schemas

from operator_schema import Executor, Registry, tool
from operator_schema.adapters import pydantic_ai as adapter
from operator_schema.adapters.pydantic_ai import Toolset, to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": OURS,
    "unknown": "its own text: Unknown tool name: 'ad'",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by a deferred tool request",
}
SCHEMA = OURS


def talk(toolset, *asks):
    """Return what the model reads of its calls, and its first request."""
    with serving(*[asked(calls) for calls in asks], DONE) as (address, requests):
        provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(OpenAIChatModel("gpt-4o", provider=provider), toolsets=[toolset])
        assert asyncio.run(agent.run("go")).output == "done"
    return answers(requests[-1]), requests[0]


def turn_of(tools, calls, _is_async, **options):
    return talk(Toolset(tools, **options), calls)[0]


def ask(tools, agrees, meanwhile=nothing):
    with serving(asked(CALLS["approval"]), DONE) as (address, requests):
        provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=address, api_key="x"))
        kinds = [str, DeferredToolRequests]
        agent = Agent(
            OpenAIChatModel("gpt-4o", provider=provider), toolsets=to_tools(tools), output_type=kinds
        )
        paused = asyncio.run(agent.run("go"))
        (call,) = paused.output.approvals
        meanwhile()
        results = DeferredToolResults(approvals={call.tool_call_id: agrees})
        end = agent.run(message_history=paused.all_messages(), deferred_tool_results=results)
        assert asyncio.run(end).output == "done"
    return answers(requests[-1])


async def offered(toolset):
    model, usage = TestModel(), RunUsage()
    return list(await toolset.get_tools(RunContext(deps=None, model=model, usage=usage)))


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    host=RunContext,
    names=lambda made: asyncio.run(offered(made[0])),
    live=Toolset,
    live_names=offered,
    native=lambda: ToolReturn("all"),
    ask=ask,
)


def test_an_unknown_tool_is_told_in_its_words():
    ((answer,), _) = talk(Toolset(TOOLS), CALLS["unknown"])
    assert "Unknown tool name: 'ad'" in answer.text


def test_the_schemas_on_the_wire_are_ours():
    _, request = talk(Toolset(TOOLS), CALLS["good"])
    offered = [one["function"] for one in request["tools"]]
    assert [(one["name"], one["description"], one["parameters"]) for one in offered] == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in offered})


def test_wrong_arguments_may_be_corrected_so_often():
    wrong = CALLS["problems"]
    got, _ = talk(Toolset(TOOLS), wrong, wrong, wrong)
    assert len(got) == 3
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries"):
        talk(Toolset(TOOLS, max_retries=1), wrong, wrong)


def test_errors_of_the_tool_never_end_the_run():
    got, _ = talk(Toolset(TOOLS, max_retries=1), *[CALLS["call_error"]] * 3)
    assert all("the room is taken" in answer.text for answer in got)


def test_cancelling_the_run_cancels_the_tool():
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

    async def main(address):
        provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(OpenAIChatModel("gpt-4o", provider=provider), toolsets=[to_tool(hang)])
        await cancelled_once(begun, agent.run("go"))

    from turns import Call

    with serving(asked([Call("hang", {})])) as (address, _):
        asyncio.run(main(address))
    assert ended == [True]


def test_a_switch_is_seen_at_once_and_an_executor_is_shared():
    registry = Registry(TOOLS[:2])
    toolset = Toolset(registry)
    with serving(DONE, DONE) as (address, requests):
        provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(OpenAIChatModel("gpt-4o", provider=provider), toolsets=[toolset])
        asyncio.run(agent.run("go"))
        registry.switch("book", enabled=False)
        asyncio.run(agent.run("go"))
    assert [[one["function"]["name"] for one in request["tools"]] for request in requests] == [
        ["add", "book"],
        ["add"],
    ]
    executor = Executor(registry)
    assert to_tools(registry, executor=executor)[0].registry is registry


def test_one_tool_of_an_executor_is_offered_alone():
    _, request = talk(to_tool(TOOLS[0], executor=Executor(TOOLS)), CALLS["good"])
    assert [one["function"]["name"] for one in request["tools"]] == ["add"]


def test_options_of_theirs_may_be_asked_for_each_tool():
    _, request = talk(Toolset(TOOLS[:1], description=lambda made: f"{made.name}!"), CALLS["good"])
    assert request["tools"][0]["function"]["description"] == "add!"


def test_the_examples_of_the_page_run():
    names = run_section("pydantic-ai")
    assert names["agent"].toolsets


@pytest.mark.parametrize(
    "make", [lambda: to_tools(TOOLS), lambda: [to_tool(TOOLS[0])], lambda: [Toolset(TOOLS)]]
)
def test_a_toolset_among_functions_is_told_where_it_belongs(make):
    given = make()
    with pytest.raises(
        AttributeError, match=r"not a function: write Agent\(toolsets=…\), not tools=…$"
    ) as caught:
        Agent("test", tools=given)
    assert "Did you mean" not in "".join(traceback.format_exception(caught.value))
    assert not hasattr(given[0], "__wrapped__")
    assert Agent("test", toolsets=copy.deepcopy(given)).toolsets


def test_an_unknown_option_is_refused():
    for take in (lambda: to_tool(TOOLS[0], metdata={}), lambda: to_tools(TOOLS, metdata={})):
        with pytest.raises(TypeError, match=r'unknown option "metdata": .*; did you mean metadata\?'):
            take()
