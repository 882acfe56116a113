"""llm: our tools in its chains, with a model of the test's own."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Annotated, Any

import llm
import pytest

from operator_schema import Executor, RawCall, Registry, skip, tool


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


class FailedError(Exception):
    pass


def theirs(made, executor):
    """Return one of our tools as one of theirs, for plain models and async ones."""

    def run(*, llm_tool_call, **_):
        call = RawCall(llm_tool_call.tool_call_id, made.name, llm_tool_call.arguments)
        result = executor.execute_sync(call, context={llm.ToolCall: llm_tool_call})
        if result.is_error:
            raise FailedError(result.content)
        return result.value if isinstance(result.value, llm.ToolOutput) else result.content

    parameters = [*made.signature.parameters.values()]
    its_own = inspect.Parameter("llm_tool_call", inspect.Parameter.KEYWORD_ONLY)
    run.__signature__ = made.signature.replace(parameters=[*parameters, its_own])
    return llm.Tool(
        name=made.name,
        description=made.definition()["description"],
        input_schema=made.input_schema(),
        implementation=run,
    )


def run(tools, *calls, is_async=False, **options):
    """Return the results that the model gets."""
    executor = Executor(Registry(tools), pass_through=(llm.PauseChain,), native_results=(llm.ToolOutput,))
    made = [theirs(one, executor) for one in tools]
    results = []

    if is_async:

        async def after(_tool, _call, result):
            results.append(result)

        async def main():
            return await AsyncScripted(*calls).chain("go", tools=made, after_call=after, **options).text()

        assert asyncio.run(main()) == "done"
    else:
        chain = Scripted(*calls).chain(
            "go", tools=made, after_call=lambda *a: results.append(a[2]), **options
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


@pytest.mark.parametrize("is_async", [False, True])
def test_plain_and_async_tools_run_in_plain_and_async_chains(is_async):
    added, waited = run([add, wait], ("add", {"a": 2}), ("wait", {"seconds": 0.01}), is_async=is_async)
    assert json.loads(added.output) == {"sum": 2, "call": "c0"}
    assert waited.output == "0.01"


def test_errors_are_told_in_our_words_and_logged_as_exceptions():
    (result,) = run([add], ("add", {"a": "x"}))
    assert result.output.startswith("Error: add: 1 problem with the arguments")
    assert type(result.exception) is FailedError


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
