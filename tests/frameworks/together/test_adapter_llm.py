"""llm: our tools in its chains, with a model of the test's own."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

import llm
import pytest
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from patience import until
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, Answer, check_schemas

from operator_schema import Executor, Registry, skip, tool
from operator_schema.adapters import llm as adapter
from operator_schema.adapters.llm import Toolbox, ToolCallError, to_tools
from operator_schema.content import Image

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: its models give objects",
    "unknown": 'its own text: tool "ad" does not exist',
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": "a call runs in a thread, and goes on to its end or its time limit",
    "rich": OURS,
    "approval": OURS,
}
SCHEMA = OURS


class Scripted(llm.Model):
    """A model that makes calls in its first turn, and then says "done"."""

    model_id = "scripted"
    supports_tools = True

    def __init__(self, *calls):
        self.calls = list(calls)

    def execute(self, prompt, stream, response, conversation):
        if self.calls:
            for number, (name, arguments) in enumerate(self.calls):
                response.add_tool_call(
                    llm.ToolCall(name=name, arguments=arguments, tool_call_id=f"c{number}")
                )
            self.calls = []
            return
        yield "done"


class AsyncScripted(llm.AsyncModel):
    """The same for programs with an event loop."""

    model_id = "async-scripted"
    supports_tools = True
    __init__ = Scripted.__init__

    async def execute(self, prompt, stream, response, conversation):
        for said in Scripted.execute(self, prompt, stream, response, conversation):
            yield said


def run(tools, *calls, is_async=False, of_chain=None, **options):
    """Return the results that the model gets."""
    made = to_tools(tools, **options)
    of_chain = of_chain or {}
    results = []

    if is_async:

        async def after(_tool, _call, result):
            results.append(result)

        async def main():
            return await AsyncScripted(*calls).chain("go", tools=made, after_call=after, **of_chain).text()

        assert asyncio.run(main()) == "done"
    else:
        chain = Scripted(*calls).chain(
            "go", tools=made, after_call=lambda *a: results.append(a[2]), **of_chain
        )
        assert chain.text() == "done"
    return results


@tool
def add(a: int, b: int = 0, *, call: Annotated[llm.ToolCall, skip]) -> dict[str, Any]:
    """Add.

    Args:
        a: One.
        b: Another.
    """
    return {"sum": a + b, "call": call.tool_call_id}


@tool
async def wait(seconds: float) -> float:
    """Wait.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return seconds


def turn_of(tools, calls, is_async, **options):
    results = run(tools, *calls, is_async=is_async, **options)
    return [
        Answer(one.output, one.exception is not None, bool(getattr(one, "attachments", None)))
        for one in results
    ]


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    (False, True),
    host=llm.ToolCall,
    live=Toolbox,
    live_names=lambda box: [one.name for one in box.tools()],
    native=lambda: llm.ToolOutput(output="all"),
)


def test_an_unknown_tool_is_told_in_its_words():
    conversation = Scripted(*CALLS["unknown"]).conversation()
    assert conversation.chain("go", tools=to_tools(TOOLS)).text() == "done"
    (result,) = conversation.responses[-1].prompt.tool_results
    assert result.output == 'Error: tool "ad" does not exist'


def test_a_call_whose_chain_is_cancelled_ends_at_its_time_limit():
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
        made = to_tools([hang], executor=Executor([hang], timeout=1))
        chain = asyncio.ensure_future(AsyncScripted(("hang", {})).chain("go", tools=made).text())
        await until(lambda: begun)
        chain.cancel()
        with suppress(asyncio.CancelledError):  # the library may go on
            await chain

    asyncio.run(main())
    assert ended == [True]


@pytest.mark.parametrize("is_async", [False, True])
def test_plain_and_async_tools_run_in_plain_and_async_chains(is_async):
    added, waited = run([add, wait], ("add", {"a": 2}), ("wait", {"seconds": 0.01}), is_async=is_async)
    assert json.loads(added.output) == {"sum": 2, "call": "c0"}
    assert waited.output == "0.01"


def test_errors_are_told_in_our_words_and_logged_as_exceptions():
    (result,) = run([add], ("add", {"a": "x"}))
    assert result.output.startswith("Error: add: 1 problem with the arguments")
    assert type(result.exception) is ToolCallError


def test_a_parameter_of_any_name_arrives():
    @tool
    def odd(self: int, tool: str, kwargs: list[int]) -> list[Any]:
        """Take odd names.

        Args:
            self: One.
            tool: Two.
            kwargs: Three.
        """
        return [self, tool, kwargs]

    (result,) = run([odd], ("odd", {"self": 1, "tool": "x", "kwargs": [2]}))
    assert json.loads(result.output) == [1, "x", [2]]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_pause_passes_through(is_async):
    @tool
    def ask() -> str:
        """Ask."""
        raise llm.PauseChain

    with pytest.raises(llm.PauseChain) as caught:
        run([ask], ("ask", {}), is_async=is_async)
    assert caught.value.tool_call.tool_call_id == "c0"


def test_output_with_attachments_arrives_untouched():
    @tool
    def look() -> Any:
        """Look."""
        return llm.ToolOutput(
            output="a picture", attachments=[llm.Attachment(type="image/png", content=b"x")]
        )

    (result,) = run([look], ("look", {}))
    assert result.output == "a picture"
    assert [one.type for one in result.attachments] == ["image/png"]


def test_the_list_of_tools_shows_the_parameters_that_the_model_gives():
    # The command line prints the signature.
    assert str(add.signature) == "(a: int, b: int = 0) -> dict[str, typing.Any]"


def test_our_images_are_attachments():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))]

    (result,) = run([look], ("look", {}))
    assert "Here:" in result.output
    assert [one.type for one in result.attachments] == ["image/png"]


def test_its_tools_have_our_schemas():
    check_schemas(SCHEMA, {one.name: one.input_schema for one in to_tools(TOOLS)})


def test_a_toolbox_follows_the_switches():
    registry = Registry([add, wait])
    toolbox = Toolbox(registry)
    assert [one.name for one in toolbox.tools()] == ["add", "wait"]
    registry.switch("wait", enabled=False)
    assert [one.name for one in toolbox.tools()] == ["add"]
    results = []
    chain = Scripted(("add", {"a": 1})).chain(
        "go", tools=[toolbox], after_call=lambda *a: results.append(a[2])
    )
    assert chain.text() == "done"
    assert json.loads(results[0].output)["sum"] == 1


def test_the_examples_of_the_page_run():
    assert [one.name for one in run_section("llm")["toolbox"].tools()] == ["search"]


@pytest.mark.parametrize("name", ["llm_tool_call"])
def test_a_parameter_whose_name_it_needs_itself_is_refused(name):
    @dataclass
    class Wanted:
        text: str = field(metadata={"alias": name})

    @tool
    def find(wanted: Wanted) -> str:
        """Find."""
        return wanted.text

    with pytest.raises(ValueError, match=f"^llm can't call find: it needs the name {name} itself"):
        to_tools([find])
