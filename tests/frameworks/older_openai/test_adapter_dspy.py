"""dspy: our tools in ReAct, with a model that says what the test wants."""

from __future__ import annotations

import asyncio

import dspy
import pytest
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from dspy.utils import BaseCallback, DummyLM
from dspy.utils.exceptions import AdapterParseError
from patience import cancelled_once
from turn_table import run_section
from turns import CALLS, CONTEXT, OURS, TOOLS, Answer, Call, add, book, check_schemas, count

from operator_schema import Executor, tool
from operator_schema.adapters import dspy as adapter
from operator_schema.adapters.dspy import to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: its adapters read the JSON, and complete what ends early, so that such a call"
    " may run; what they can't read ends the run",
    "unknown": "ends the run: a name that isn't in its list is an answer that it can't read",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text, unless the tool returns a dspy.Image",
    "approval": OURS,
}
SCHEMA = "native calls get ours; ReAct writes only the properties into its prompt"
END = {"reasoning": "as I saw", "answer": "done"}


def step(call):
    return {"next_thought": "on", "next_tool_name": call.name, "next_tool_args": call.arguments}


def talk(tools, calls, *, is_async=False):
    """Return what the model reads of its calls."""
    model = DummyLM([*map(step, calls), step(Call("finish", {})), END])
    agent = dspy.ReAct("question -> answer", tools=tools)
    with dspy.context(lm=model):
        found = asyncio.run(agent.acall(question="go")) if is_async else agent(question="go")
    assert found.answer == "done"
    return [Answer(str(found.trajectory[f"observation_{number}"])) for number in range(len(calls))]


def turn_of(tools, calls, is_async, **options):
    return talk(to_tools(tools, **options), calls, is_async=is_async)


DRIVER = Driver(adapter, TURNS, turn_of, (False, True))


def test_an_unknown_tool_ends_the_run():
    model = DummyLM([step(CALLS["unknown"][0])] * 4 + [END])
    with dspy.context(lm=model), pytest.raises(AdapterParseError):
        dspy.ReAct("question -> answer", tools=to_tools(TOOLS))(question="go")


def test_arguments_that_end_early_are_completed_by_its_adapters_and_the_call_runs():
    ran = []

    @tool
    def fetch(url: str = "") -> str:
        """Fetch a page."""
        ran.append(url)
        return url

    assert talk(to_tools([fetch]), [Call("fetch", '{"url": "http')])[0].text == "http"
    assert ran == ["http"]


def test_images_are_text_unless_they_are_its_own():
    assert talk(to_tools(TOOLS), CALLS["rich"])[0].text.startswith("Here:")
    picture = dspy.Image("data:image/png;base64,AAAA")

    @tool
    def show() -> dspy.Image:
        """Show."""
        return picture

    assert to_tool(show)() is picture


def test_cancelling_the_agent_cancels_the_tool():
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
        agent = dspy.ReAct("question -> answer", tools=[to_tool(hang)])
        with dspy.context(lm=DummyLM([step(Call("hang", {})), END])):
            await cancelled_once(begun, agent.acall(question="go"))

    asyncio.run(main())
    assert ended == [True]


def test_native_calls_get_our_schemas():
    for made, theirs in zip(TOOLS, to_tools(TOOLS), strict=True):
        function = theirs.format_as_litellm_function_call()["function"]
        assert function["parameters"] == made.input_schema()
        assert function["description"] == made.definition()["description"]
        assert theirs.args == made.input_schema(inline=True)["properties"]
    check_schemas(SCHEMA, {one.name: {"properties": one.args} for one in to_tools(TOOLS)})


def test_the_prompt_of_react_has_every_description():
    agent = dspy.ReAct("question -> answer", tools=to_tools([book]))
    shown = agent.react.signature.instructions
    for text in ("Book a meeting.", "Where; None for any room.", "'enum': ['low', 'high']"):
        assert text in shown


def test_calls_without_an_agent():
    assert to_tool(add)(a=2, b=3) == "5"
    assert "add: 1 problem with the arguments" in asyncio.run(to_tool(add).acall(a="x"))
    assert to_tool(count, context=CONTEXT)() == "[7]"
    assert dspy.ToolCalls.ToolCall(name="add", args={"a": 2}).execute(to_tools([add])) == "2"


def test_a_parameter_of_any_name_arrives():
    @tool
    def odd(self: int, instance: int, fn: str, kwargs: list[int], func: int) -> list[object]:
        """Take odd names."""
        return [self, instance, fn, kwargs, func]

    given = {"self": 1, "instance": 2, "fn": "x", "kwargs": [3], "func": 4}
    assert to_tool(odd)(**given) == '[1,2,"x",[3],4]'
    assert asyncio.run(to_tool(odd).acall(**given)) == '[1,2,"x",[3],4]'


def test_callbacks_hear_of_calls():
    heard = []

    class Listener(BaseCallback):
        def on_tool_start(self, call_id, instance, inputs):
            heard.append((instance.name, inputs))

        def on_tool_end(self, call_id, outputs, exception=None):
            heard.append(outputs)

    with dspy.context(callbacks=[Listener()]):
        to_tool(add)(a=2)
        asyncio.run(to_tool(add).acall(a=3))
    assert heard == [("add", {"kwargs": {"a": 2}}), "2", ("add", {"kwargs": {"a": 3}}), "3"]


def test_wrong_use_is_told():
    with pytest.raises(TypeError, match="takes a tool made by @tool"):
        to_tool(len)
    with pytest.raises(TypeError, match=r'unknown option "description"'):
        to_tool(add, description="x")
    with pytest.raises(ValueError, match="the executor has no such tool"):
        to_tool(add, executor=Executor([book]))
    assert to_tool(add, desc="Sum up.").desc == "Sum up."


def test_the_examples_of_the_page_run():
    assert [one.name for one in run_section("dspy")["tools"]] == ["search"]
