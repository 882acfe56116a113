"""openai-agents: our tools in its runner, with a model on this machine."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    ToolOutputText,
    UserError,
)
from agents.exceptions import ModelBehaviorError
from agents.tool_context import ToolContext
from agents.tracing import FunctionSpanData, TracingProcessor, set_trace_processors, set_tracing_disabled
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from local_server import serving
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_processes import environment
from mcp_types import ElicitResult
from openai import AsyncOpenAI
from turn_table import PAGE, run_section
from turns import CALLS, CONTEXT, OURS, TOOLS, Call, add, check, check_schemas, wipe

from operator_schema import Defer, Executor, Registry, RunNormally, hook, skip, tool
from operator_schema.adapters import openai_agents as adapter
from operator_schema.adapters.openai_agents import answer_of_unknown_tool, question_of, to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": OURS,
    "unknown": "ends the run, unless RunConfig says otherwise: then ours, see below",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text over chat completions, which take no images from tools; images over Responses",
    "approval": "asks, by needs_approval",
}
SCHEMA = OURS


def talk(calls, tools=TOOLS, options=None, **config):
    """Return what the model reads of its calls, and its first request."""
    with serving(asked(calls), DONE) as (address, requests):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(
            name="a",
            model=model,
            tools=to_tools(tools, **({"context": CONTEXT} if options is None else options)),
        )
        run_config = RunConfig(**{"tracing_disabled": True, **config})
        result = asyncio.run(Runner.run(agent, "go", run_config=run_config))
        assert result.final_output == "done"
    return answers(requests[1]), requests[0]


def ask(tools, agrees, meanwhile=nothing):
    async def main(address):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(name="a", model=model, tools=to_tools(tools))
        config = RunConfig(tracing_disabled=True)
        paused = await Runner.run(agent, "go", run_config=config)
        state = paused.to_state()
        (waiting,) = paused.interruptions
        meanwhile()
        state.approve(waiting) if agrees else state.reject(waiting)
        assert (await Runner.run(agent, state, run_config=config)).final_output == "done"

    with serving(asked(CALLS["approval"]), DONE) as (address, requests):
        asyncio.run(main(address))
    return answers(requests[1])


def agent_of(address, called):
    model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
    return Agent(name="a", model=model, tools=to_tools([called]))


def pause(called, call, folder):
    with serving(asked([call]), DONE) as (address, requests):
        paused = asyncio.run(Runner.run(agent_of(address, called), "go", run_config=SILENT))
    if not paused.interruptions:
        return "", answers(requests[1])[0].text
    (folder / "run").write_text(paused.to_state().to_string())
    (waiting,) = paused.interruptions
    return waiting.arguments + question_of(paused, waiting)["question"], ""


def resume(called, _call, folder):
    async def main(address):
        agent = agent_of(address, called)
        state = await RunState.from_string(agent, (folder / "run").read_text())
        (waiting,) = state.get_interruptions()
        assert question_of(state, waiting)["tool"] == "delete"
        state.approve(waiting)
        await Runner.run(agent, state, run_config=SILENT)

    with serving(DONE) as (address, requests):
        asyncio.run(main(address))
    return answers(requests[0])[0].text


SILENT = RunConfig(tracing_disabled=True)


def offered(made):
    ctx = RunContextWrapper(None)
    return [one.name for one in made if one.is_enabled(ctx, None)]


DRIVER = Driver(
    adapter,
    TURNS,
    lambda tools, calls, _is_async, **options: talk(calls, tools, options)[0],
    host=RunContextWrapper,
    names=offered,
    native=lambda: ToolOutputText(text="all"),
    ask=ask,
    pause=pause,
    resume=resume,
)


def test_an_unknown_tool_ends_the_run_or_is_answered_by_us():
    with pytest.raises(ModelBehaviorError):
        talk(CALLS["unknown"])
    formatter = answer_of_unknown_tool(TOOLS)
    got, _ = talk(
        CALLS["unknown"], tool_not_found_behavior="return_error_to_model", tool_error_formatter=formatter
    )
    check("unknown", got)


def test_an_image_is_told_in_text_over_chat_completions():
    ((answer,), _) = talk(CALLS["rich"])
    assert "Here:" in answer.text


def test_the_schemas_on_the_wire_are_ours():
    _, request = talk(CALLS["good"])
    offered = [one["function"] for one in request["tools"]]
    assert [(one["name"], one["description"], one["parameters"]) for one in offered] == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in offered})
    assert {one.get("strict") for one in offered} <= {False, None}


def test_a_strict_schema_of_theirs_is_refused():
    with pytest.raises(UserError, match="makes all parameters required without null"):
        to_tool(TOOLS[0], strict_json_schema=True)


def test_options_of_theirs_go_before_ours():
    @tool(confirm=True)
    def delete() -> int:
        """Delete."""
        return 1

    assert callable(to_tool(delete).needs_approval)
    assert to_tool(delete, confirm="run").needs_approval is False
    assert to_tool(delete, needs_approval=False).needs_approval is False


async def log(call):
    pass


def answered(executor, text, name="wipe", **options):
    """Return what the model reads of a call, or the interruptions."""

    async def main(address):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(name="a", model=model, tools=to_tools(executor, **options))
        return (await Runner.run(agent, "go", run_config=SILENT)).interruptions

    with serving(asked([Call(name, text)]), DONE) as (address, requests):
        waiting = asyncio.run(main(address))
    return waiting or answers(requests[1])[0].text


@pytest.mark.parametrize("text", ['{"path": ', "[]", '"a"', "nothing", '{"path": 5}', "{}"])
def test_a_hook_that_only_looks_on_has_nobody_asked_about_what_cant_be_read(text, wiped):
    plain = wipe.with_(confirm=False)
    told = answered([plain], text)
    assert "wipe" in told
    for hooks in ([log], [lambda call: None]):
        assert answered(Executor([plain], hooks=hooks), text) == told
    others = Executor([plain, add], hooks=hook(add)(lambda call: Defer()))
    assert answered(others, text) == told
    assert wiped == []


def test_a_hook_of_another_kind_lets_wrong_arguments_wait_for_nobody():
    executor = Executor([wipe], hooks=lambda call: Defer("it is a lot"))
    assert "path: " in answered(executor, '{"path": 5}')
    (waiting,) = answered(executor, '{"path": "a"}')
    assert waiting.name == "wipe"


def test_a_context_function_is_called_for_calls_and_for_switches_that_look():
    seen, switches = [], []

    @tool
    def who(name: Annotated[str, skip]) -> str:
        """Say who asks."""
        return name

    def context(host):
        seen.append(type(host))
        return {"name": host.tool_call_id}

    got, _ = talk([Call("who", {})], [who], {"context": context})
    assert got[0].text == "t0"
    assert seen == [ToolContext]
    for called in ([who.with_(confirm=True)], Executor([who], hooks=lambda call: RunNormally())):
        assert answered(called, "{}", name="who", context=context)
    assert seen == [ToolContext, ToolContext]  # nobody has agreed to the first of them

    def is_on(given):
        switches.append(given["name"])
        return True

    registry = Registry([who])
    registry.switch("who", enabled=is_on)
    options = {"context": lambda host: {"name": getattr(host, "tool_call_id", "listed")}}
    got, _ = talk([Call("who", {})], registry, options)
    assert (got[0].text, set(switches)) == ("t0", {"listed", "t0"})


def test_a_person_reads_why_a_call_waits():
    async def main(address):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        executor = Executor([wipe], hooks=lambda call: Defer("it is a lot"))
        agent = Agent(name="a", model=model, tools=to_tools(executor))
        paused = await Runner.run(agent, "go", run_config=SILENT)
        (waiting,) = paused.interruptions
        state = await RunState.from_string(agent, paused.to_state().to_string())
        questions = [question_of(paused, waiting), question_of(state, state.get_interruptions()[0])]
        waiting.raw_item.call_id = "another"
        assert question_of(paused, waiting) is None
        return questions

    with serving(asked(CALLS["approval"])) as (address, _):
        first, second = asyncio.run(main(address))
    assert first == second
    assert first["question"] == 'Run wipe?\n(it is a lot)\npath: "a"'
    assert (first["reason"], first["ignored"]) == ("it is a lot", [])


@pytest.mark.parametrize("changes", [False, True], ids=["the same", "another tool"])
def test_a_person_agrees_to_all_calls_of_a_tool_as_it_is(changes, wiped):
    @tool(name="wipe", confirm=True)
    def another(path: str, deep: bool = True) -> str:
        """Wipe more."""
        wiped.append(deep)
        return f"wiped {path}"

    async def main(address):
        agent = agent_of(address, wipe)
        paused = await Runner.run(agent, "go", run_config=SILENT)
        state = paused.to_state()
        state.approve(paused.interruptions[0], always_approve=True)
        state = (await Runner.run(agent, state, run_config=SILENT)).to_state()
        later = agent_of(address, another if changes else wipe)
        state = await RunState.from_string(later, state.to_string())
        return await Runner.run(later, "more", context=state._context)

    second = asked([Call("wipe", {"path": "b"})])
    second["choices"][0]["message"]["tool_calls"][0]["id"] = "t1"
    with serving(asked(CALLS["approval"]), DONE, second, DONE) as (address, requests):
        assert asyncio.run(main(address)).final_output == "done"
    told = answers(requests[-1])[-1].text
    assert wiped == (["a"] if changes else ["a", "b"])
    assert ("have changed since a person was asked" in told) == changes


@pytest.mark.parametrize("is_function", [False, True])
@pytest.mark.parametrize("asks", [False, True])
def test_an_option_of_theirs_says_whether_a_person_is_asked(is_function, asks, wiped):
    theirs = (lambda *_: asks) if is_function else asks

    async def main(address):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        agent = Agent(name="a", model=model, tools=to_tools([wipe], needs_approval=theirs))
        paused = await Runner.run(agent, "go", run_config=SILENT)
        state = paused.to_state()
        for waiting in paused.interruptions:
            state.approve(waiting)
        if paused.interruptions:
            await Runner.run(agent, state, run_config=SILENT)
        return bool(paused.interruptions)

    with serving(asked(CALLS["approval"]), DONE) as (address, _):
        assert asyncio.run(main(address)) == asks
    assert wiped == ["a"]


def test_the_examples_of_the_page_run():
    names = run_section("openai-agents")
    assert [one.name for one in names["agent"].tools] == ["search"]


@pytest.mark.parametrize("turn", ["good", "problems", "exception"])
def test_traces_show_which_calls_failed(turn):
    ended = []

    class Processor(TracingProcessor):
        def on_trace_start(self, trace): ...
        def on_trace_end(self, trace): ...
        def on_span_start(self, span): ...
        def shutdown(self): ...
        def force_flush(self): ...

        def on_span_end(self, span):
            if isinstance(span.span_data, FunctionSpanData):
                ended.append(span.error)

    set_trace_processors([Processor()])
    set_tracing_disabled(False)
    try:
        talk(CALLS[turn], tracing_disabled=False)
    finally:
        set_tracing_disabled(True)
        set_trace_processors([])
    codes = {"good": None, "problems": "invalid_params", "exception": "execution_failed"}
    ((error),) = ended
    assert (None if error is None else error["message"]) == codes[turn]


def test_one_executor_serves_the_runner_and_a_client_of_mcp(tmp_path):
    names = run_section("One executor everywhere")
    readme = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    lines = readme.partition("mcp.serve(executor)")[0].rpartition("```text\n")[2]
    assert lines in page  # the README shows what runs here

    async def main(address, amount):
        model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=address, api_key="x"))
        config, agent = RunConfig(tracing_disabled=True), names["agent"].clone(model=model)
        paused = await Runner.run(agent, "go", run_config=config)
        state = paused.to_state()
        for waiting in paused.interruptions:
            state.approve(waiting)
        if paused.interruptions:
            await Runner.run(agent, state, run_config=config)
        return len(paused.interruptions)

    said = []
    for amount in (6, 600):
        call = Call("refund", {"order_id": "A7", "amount": amount})
        with serving(asked([call]), DONE) as (address, requests):
            said.append((asyncio.run(main(address, amount)), answers(requests[1])[0].text))
    refused = "This call was rejected: Refunds of 100 USD or more need a ticket."
    paid = "front desk: 6.00 USD are on their way"
    assert said == [(1, paid), (0, refused)]  # nobody is asked about what a hook refuses

    block = page.partition("## One executor everywhere")[2].partition("```python\n")[2].partition("```")[0]
    (tmp_path / "desk.py").write_text(block, encoding="utf-8")
    program = StdioServerParameters(
        command=sys.executable, args=[str(tmp_path / "desk.py")], env=environment()
    )
    questions = []

    async def agree(_context, params):
        questions.append(params.message)
        return ElicitResult(action="accept", content={})

    async def over_mcp():
        async with Client(program, elicitation_callback=agree) as client:
            return [
                (await client.call_tool("refund", {"order_id": "A7", "amount": amount})).content[0].text
                for amount in (6, 600)
            ]

    assert asyncio.run(over_mcp()) == [paid, refused]
    assert len(questions) == 1
