"""llama-index-core: our tools with a FunctionAgent, whose model is a server that says what the test wants."""

from __future__ import annotations

import asyncio

import pytest
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
from llama_index.llms.openai import OpenAI
from local_server import serving
from patience import cancelled_once, until
from turn_table import run_section
from turns import CALLS, CONTEXT, OURS, TOOLS, Call, add, book, check_schemas, count, look, wipe

from operator_schema import Executor, Registry, tool
from operator_schema.adapters import llama_index_core as adapter
from operator_schema.adapters.llama_index_core import RegistryRetriever, to_tool, to_tools
from operator_schema.schema.framework_changes import schema_changes

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "its model class completes the JSON, and the completed call is checked, or runs",
    "unknown": "its own text: Tool ad not found",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text over chat completions, whose results take no images; its blocks elsewhere",
    "approval": "asks, by a HumanResponseEvent; as ours outside of an agent",
}
SCHEMA = "its class for OpenAI adds additionalProperties: false to the root"


def agent_of(address, **options):
    model = OpenAI(model="gpt-4o", api_key="x", api_base=address, max_retries=0)
    return FunctionAgent(llm=model, streaming=False, **options)


def talk(calls, **options):
    """Return what the model reads of its calls, the results in the agent's events, and the first request."""

    async def main(address):
        run = agent_of(address, **options).run("go")
        told = [event.tool_output async for event in run.stream_events() if isinstance(event, ToolCallResult)]
        assert str(await run) == "done"
        return told

    with serving(asked(calls), DONE) as (address, requests):
        told = asyncio.run(main(address))
    return answers(requests[1]), told, requests[0]


def turn_of(tools, calls, _is_async, **options):
    found, told, _ = talk(calls, tools=to_tools(tools, **options))
    by_text = {output.content.replace("\n", ""): output.is_error for output in told}  # of several blocks
    return [answer._replace(is_error=by_text[answer.text.replace("\n", "")]) for answer in found]


def ask(tools, agrees, meanwhile=nothing):
    async def main(address):
        run = agent_of(address, tools=to_tools(tools)).run("go")
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                meanwhile()
                run.ctx.send_event(HumanResponseEvent(response="yes" if agrees else "no"))
        assert str(await run) == "done"

    with serving(asked(CALLS["approval"]), DONE) as (address, requests):
        asyncio.run(main(address))
    return answers(requests[1])


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    host=Context,
    names=lambda made: [one.metadata.name for one in made],
    live=RegistryRetriever,
    live_names=lambda retriever: [one.metadata.name for one in retriever.retrieve("")],
    native=lambda: TextBlock(text="all"),
    ask=ask,
)


def test_malformed_json_is_completed_by_its_model():
    (found,), _, _ = talk([Call("add", '{"a": 2, "b": ')], tools=to_tools(TOOLS))
    assert "b: expected integer, got null" in found.text
    (found,), _, _ = talk([Call("add", '{"a": 2')], tools=to_tools(TOOLS))
    assert found.text == "2"


def test_an_unknown_tool_is_told_in_its_words():
    (found,), _, _ = talk(CALLS["unknown"], tools=to_tools(TOOLS))
    assert "Tool ad not found" in found.text


def test_the_model_reads_our_schemas():
    _, _, request = talk(CALLS["good"], tools=to_tools(TOOLS))
    for made, sent in zip(TOOLS, request["tools"], strict=True):
        assert sent["function"]["description"] == made.definition()["description"]
        # Its class for OpenAI closes the root of every schema.
        changes = schema_changes(made, sent["function"]["parameters"])
        assert [str(one) for one in changes] == ["added additionalProperties false"]
        assert to_tool(made).metadata.get_parameters_dict() == made.input_schema()
    sent = [one["function"] for one in request["tools"]]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in sent})


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
        run = agent_of(address, tools=[to_tool(hang)]).run("go")
        await cancelled_once(begun, run)
        await run.cancel_run()
        await until(lambda: ended)

    with serving(asked([Call("hang", {})]), DONE) as (address, _):
        asyncio.run(main(address))
    assert ended == [True]


def test_the_context_of_an_agent_is_there_by_its_type():
    @tool
    async def remember(text: str, ctx: Context) -> str:
        """Remember."""
        await ctx.store.set("text", text)
        return "kept"

    seen = []

    def own(ctx):
        seen.append(ctx)
        return {}

    (found,), _, _ = talk([Call("remember", {"text": "x"})], tools=[to_tool(remember, context=own)])
    assert found.text == "kept"
    assert isinstance(seen[0], Context)


def test_a_person_may_be_asked_in_between():
    @tool
    async def drop(ctx: Context) -> str:
        """Drop it all."""
        answer = await ctx.wait_for_event(
            HumanResponseEvent, waiter_id="sure", waiter_event=InputRequiredEvent(prefix="Sure?")
        )
        return f"they said {answer.response}"

    async def main(address):
        run = agent_of(address, tools=[to_tool(drop)]).run("go")
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                run.ctx.send_event(HumanResponseEvent(response="yes"))
        assert str(await run) == "done"

    with serving(asked([Call("drop", {})]), DONE) as (address, requests):
        asyncio.run(main(address))
    assert answers(requests[1])[0].text == "they said yes"


@pytest.mark.parametrize("others", [["wipe"], ["add"]], ids=["another", "of no person"])
def test_an_answer_of_a_person_is_about_one_call(others):
    """A `HumanResponseEvent` says nothing of a call, and the workflow gives it to all that wait."""
    ran, asked_about, arguments = [], [], {"wipe": {"path": "b"}, "add": {"a": 1}}

    @tool(confirm=True)
    def wipe(path: str) -> str:
        """Delete a folder."""
        ran.append(path)
        return f"wiped {path}"

    async def main(address):
        run = agent_of(address, tools=to_tools([wipe, add])).run("go")
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked_about.append(event.get("arguments"))
                run.ctx.send_event(HumanResponseEvent(response="yes"))
        assert str(await run) == "done"

    calls = [Call("wipe", {"path": "a"}), *[Call(name, arguments[name]) for name in others]]
    with serving(asked(calls), asked([Call("wipe", {"path": "c"})]), DONE) as (address, requests):
        asyncio.run(main(address))
    alone = "a person can be asked about it only if it is the only call: make it again, alone"
    assert answers(requests[1])[0].text == f"This call was rejected: {alone}"
    assert (asked_about, ran) == ([{"path": "c"}], ["c"])


@pytest.mark.parametrize("said", [["no", "yes"], ["yes", "yes"]])
def test_a_second_answer_runs_nothing(said, wiped):
    """The workflow starts the call once more for each answer that comes while it runs."""
    asked_about = []

    async def main(address):
        run = agent_of(address, tools=to_tools([wipe])).run("go")
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked_about.append(event.get("arguments"))
                for answer in said if len(asked_about) == 1 else ["no"]:
                    run.ctx.send_event(HumanResponseEvent(response=answer))
        assert str(await run) == "done"

    again = asked(CALLS["approval"])
    with serving(again, again, DONE) as (address, _):
        asyncio.run(main(address))
    assert asked_about == [{"path": "a"}, {"path": "a"}]  # the same call again is another question
    assert wiped == (["a"] if said[0] == "yes" else [])


def test_a_registry_is_followed_at_every_step():
    registry = Registry([add, book])
    retriever = RegistryRetriever(registry)
    _, _, request = talk(CALLS["good"], tool_retriever=retriever)
    assert [one["function"]["name"] for one in request["tools"]] == ["add", "book"]
    registry.switch("book", enabled=False)
    _, _, request = talk(CALLS["good"], tool_retriever=retriever)
    assert [one["function"]["name"] for one in request["tools"]] == ["add"]


@pytest.mark.parametrize("arguments", [{"a": 2, "b": 3}, {"a": 2}, {}, {"a": "x"}])
def test_calls_without_an_agent(arguments):
    made = to_tool(add)
    expected = add.run(arguments) if arguments.get("a") == 2 else "add: 1 problem with the arguments"
    for output in (call_tool(made, arguments), asyncio.run(acall_tool(made, arguments)), made(**arguments)):
        assert expected in output.content
        assert output.is_error == ("problem" in expected)
        assert output.tool_name == "add"


def test_a_single_parameter_comes_by_its_name():
    @tool
    def greet(name: str) -> str:
        """Greet."""
        return f"hello {name}"

    assert call_tool(to_tool(greet), {"name": "Ada"}).content == "hello Ada"
    assert asyncio.run(acall_tool(to_tool(greet), {"nme": "Ada"})).is_error


def test_a_parameter_of_any_name_arrives():
    @tool
    def odd(self: int, positional: int, arguments: str, input: list[int]) -> list[object]:  # noqa: A002  # what is tested
        """Take odd names."""
        return [self, positional, arguments, input]

    given = {"self": 1, "positional": 2, "arguments": "x", "input": [3]}
    assert to_tool(odd)(**given).content == '[1,2,"x",[3]]'
    (found,), _, _ = talk([Call("odd", given)], tools=[to_tool(odd)])
    assert found.text == '[1,2,"x",[3]]'


def test_results_keep_their_value_and_blocks():
    output = to_tool(count, context=CONTEXT).call()
    assert (output.raw_output, output.content) == ([7], "[7]")
    assert [block.block_type for block in to_tool(look).call().blocks] == ["text", "image"]

    @tool
    def block() -> TextBlock:
        """Give a block of its own."""
        return TextBlock(text="own")

    assert to_tool(block).call().blocks == [TextBlock(text="own")]


def test_images_are_blocks_and_text_over_chat_completions():
    (found,), (output,), _ = talk(CALLS["rich"], tools=to_tools(TOOLS))
    assert (found.text, found.has_image) == ("Here:", False)
    assert [block.block_type for block in output.blocks] == ["text", "image"]


def test_return_direct_ends_the_run():
    async def main(address):
        return str(await agent_of(address, tools=[to_tool(add, return_direct=True)]).run("go"))

    with serving(asked(CALLS["good"])) as (address, _):
        assert asyncio.run(main(address)) == "5"


def test_wrong_use_is_told():
    with pytest.raises(TypeError, match="takes a tool made by @tool"):
        to_tool(len)
    with pytest.raises(TypeError, match="return_directly"):
        to_tool(add, return_directly=True)
    with pytest.raises(ValueError, match="the executor has no such tool"):
        to_tool(add, executor=Executor([book]))


def test_a_tool_itself_is_a_plain_function_to_it():
    theirs = FunctionTool.from_defaults(add)
    assert theirs.metadata.name == "add"
    assert theirs(a=2, b=3).content == "5"


def test_the_examples_of_the_page_run():
    assert [one.metadata.name for one in run_section("llama-index-core")["tools"]] == ["search"]


@pytest.mark.parametrize(("answer", "said"), [("yes", "a is gone"), ("no", "This call was rejected")])
def test_a_workflow_asks_a_person_before_a_tool_that_needs_one(answer, said):
    ran = []

    @tool(confirm=True)
    def delete(path: str) -> str:
        """Delete.

        Args:
            path: Which file.
        """
        ran.append(path)
        return f"{path} is gone"

    questions = []

    async def main(address):
        run = agent_of(address, tools=to_tools([delete])).run("go")
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                questions.append((event.prefix, event.tool, event.arguments, list(ran)))
                run.ctx.send_event(HumanResponseEvent(response=answer))
        assert str(await run) == "done"

    with serving(asked([Call("delete", {"path": "a"})]), DONE) as (address, requests):
        asyncio.run(main(address))
    assert questions == [("Run delete?", "delete", {"path": "a"}, [])]
    assert said in answers(requests[1])[0].text
    assert ran == (["a"] if answer == "yes" else [])


class Wanted(Event):
    path: str


class Said(Event):
    text: str


class Both(Workflow):
    """Two calls at once, without an agent."""

    @step
    async def begin(self, ctx: Context, _: StartEvent) -> Wanted | None:
        for path in "ab":
            ctx.send_event(Wanted(path=path))

    @step
    async def call(self, ctx: Context, event: Wanted) -> Said:
        (made,) = to_tools([wipe])
        return Said(text=(await made.acall(path=event.path, **{made.ctx_param_name: ctx})).content)

    @step
    async def end(self, ctx: Context, event: Said) -> StopEvent | None:
        found = ctx.collect_events(event, [Said, Said])
        return found and StopEvent(result=[one.text for one in found])


def test_an_answer_that_another_call_of_a_workflow_had_lets_no_call_wait_forever(wiped):
    async def main():
        run = Both(timeout=60).run()
        asked_about = []
        async for event in run.stream_events():
            if isinstance(event, InputRequiredEvent):
                asked_about.append(event.arguments["path"])
                if len(asked_about) == 2:
                    run.ctx.send_event(HumanResponseEvent(response="yes"))
        return await run

    said = asyncio.run(main())
    assert len(wiped) == 1
    assert any(text == f"wiped {wiped[0]}" for text in said)
    assert any("make it again, alone" in text for text in said)
