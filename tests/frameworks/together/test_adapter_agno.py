"""agno: our tools in its agent, with a model on this machine."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Annotated

import pytest
from agno.agent import Agent
from agno.exceptions import StopAgentRun
from agno.models.openai import OpenAIChat
from agno.run import RunContext
from agno.run.agent import RunOutput
from agno.tools.function import Function, FunctionCall
from agno.tools.function import ToolResult as TheirResult
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from local_server import serving
from patience import cancelled_once
from pydantic import PydanticUserError
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, Call, Db, check_schemas

from operator_schema import Registry, skip, tool
from operator_schema.adapters import agno as adapter
from operator_schema.adapters.agno import Toolkit, to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "its own text: Error while decoding function arguments",
    "unknown": "its own text: The requested tool does not exist",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by requires_confirmation",
}
SCHEMA = OURS


def talk(tools, calls, *, is_async=True, **options):
    """Return what the model reads of its calls, and its first request."""
    with serving(asked(calls), DONE) as (address, requests):
        model = OpenAIChat(id="gpt-4o", api_key="x", base_url=address)
        agent = Agent(model=model, tools=tools, telemetry=False, **options)
        end = asyncio.run(agent.arun("go")) if is_async else agent.run("go")
        assert end.content == "done"
    return answers(requests[1]), requests[0]


def turn_of(tools, calls, is_async, **options):
    return talk([Toolkit(tools, **options)], calls, is_async=is_async)[0]


def ask(tools, agrees, meanwhile=nothing):
    with serving(asked(CALLS["approval"]), DONE) as (address, requests):
        model = OpenAIChat(id="gpt-4o", api_key="x", base_url=address)
        agent = Agent(model=model, tools=to_tools(tools), telemetry=False)
        paused = agent.run("go")
        (asked_for,) = paused.active_requirements
        assert paused.is_paused
        meanwhile()
        asked_for.confirm() if agrees else asked_for.reject()
        end = agent.continue_run(run_response=paused, requirements=paused.requirements)
        assert end.content == "done"
    return answers(requests[1])


def agent_of(address, called):
    model = OpenAIChat(id="gpt-4o", api_key="x", base_url=address)
    return Agent(model=model, tools=to_tools([called]), telemetry=False)


def pause(called, call, folder):
    with serving(asked([call]), DONE) as (address, _):
        paused = agent_of(address, called).run("go")
    (folder / "run").write_text(json.dumps(paused.to_dict(), default=str))
    (asked_for,) = paused.active_requirements
    return json.dumps(asked_for.tool_execution.tool_args), ""


def resume(called, _call, folder):
    paused = RunOutput.from_dict(json.loads((folder / "run").read_text()))
    (asked_for,) = paused.active_requirements
    asked_for.confirm()
    for one in paused.tools:  # what is read from a file isn't what the requirement has
        one.confirmed = True
    with serving(DONE) as (address, requests):
        agent_of(address, called).continue_run(run_response=paused, requirements=paused.requirements)
    return answers(requests[0])[0].text


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    (True, False),
    host=RunContext,
    live=Toolkit,
    live_names=lambda kit: list(kit.get_functions()),
    native=lambda: TheirResult(content="all"),
    ask=ask,
    pause=pause,
    resume=resume,
)


def test_what_is_no_call_is_told_in_its_words():
    ((malformed,), _), ((unknown,), _) = (
        talk([Toolkit(TOOLS)], CALLS["malformed"]),
        talk([Toolkit(TOOLS)], CALLS["unknown"]),
    )
    assert "json.loads()" in malformed.text
    assert "The requested tool does not exist" in unknown.text


def test_cancelling_the_run_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def wait() -> int:
        """Wait."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return 1

    async def main():
        call = FunctionCall(function=to_tool(wait), arguments={})
        await cancelled_once(begun, call.aexecute())

    asyncio.run(main())
    assert ended == [True]


def test_the_schemas_on_the_wire_are_ours():
    _, request = talk([Toolkit(TOOLS)], CALLS["good"])
    offered = [one["function"] for one in request["tools"]]
    ours = [(one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()]
    # agno sorts them.
    assert [(one["name"], one["description"], one["parameters"]) for one in offered] == sorted(ours)
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in offered})


def test_dependencies_and_the_context_of_the_run_are_injected():
    @tool
    def who(ctx: RunContext, agent: Agent, db: Annotated[Db, skip]) -> list[object]:
        """Say who asks."""
        return [ctx.run_id is not None, agent.name, db.rows]

    got, _ = talk([to_tool(who)], [Call("who", {})], dependencies={"db": Db()}, name="ada")
    assert got[0].text == '[true,"ada",7]'


def test_a_switch_is_seen_in_the_next_run():
    registry = Registry(TOOLS[:2])
    toolkit = Toolkit(registry)
    assert list(toolkit.get_functions()) == ["add", "book"]
    registry.switch("book", enabled=False)
    assert list(toolkit.get_functions()) == ["add"]
    assert [one.name for one in to_tools(registry)] == ["add"]


def test_what_ends_the_run_passes_through():
    @tool
    def stop() -> int:
        """Stop."""
        raise StopAgentRun("enough")

    with pytest.raises(StopAgentRun, match="enough"):
        FunctionCall(function=to_tool(stop), arguments={}).execute()


def test_their_result_arrives_untouched():
    @tool
    def give() -> TheirResult:
        """Give."""
        return TheirResult(content="all", metadata={"a": 1})

    done = FunctionCall(function=to_tool(give), arguments={}).execute()
    assert done.result.metadata == {"a": 1}


def test_a_call_without_a_result_is_marked():
    done = FunctionCall(function=to_tool(TOOLS[0]), arguments={"a": "x"}).execute()
    assert done.status == "failure"
    assert done.error.startswith("add: 1 problem with the arguments")


def test_what_a_tool_says_about_itself_arrives():
    @tool(title="Delete a row", destructive=True, confirm=True)
    def delete() -> int:
        """Delete."""
        return 1

    function = to_tool(delete)
    assert function.title == "Delete a row"
    assert function.annotations == {"destructiveHint": True}
    assert function.requires_confirmation is True
    assert to_tool(delete, requires_confirmation=False).requires_confirmation is False


def test_a_function_is_copied_for_each_run():
    assert FunctionCall(function=copy.deepcopy(to_tool(TOOLS[0])), arguments={"a": 1}).execute().result == "1"


def test_a_tool_where_a_function_is_expected_is_refused_by_name():
    with pytest.raises(PydanticUserError, match=r"AddTool 'add'.*should be applied to functions"):
        Function.from_callable(TOOLS[0])


def test_the_example_of_the_page_works():
    names = run_section("agno")
    got, _ = talk([names["toolkit"]], [Call("who", {"greeting": "Hello"})])
    assert got[0].text.startswith("Hello, run ")
