"""agno: our tools as its functions, run by its own function calls."""

from __future__ import annotations

import asyncio
import copy
from typing import Annotated

import pytest
from agno.exceptions import StopAgentRun
from agno.run import RunContext
from agno.tools import Function
from agno.tools.function import FunctionCall
from pydantic import PydanticUserError

from operator_schema import Executor, RawCall, Registry, skip, tool


class FailedError(Exception):
    pass


def theirs(made, executor):
    """Return one of our tools as one of theirs."""

    def call_of(arguments):
        # The framework doesn't say which call this is.
        return RawCall(name=made.name, arguments=arguments)

    def outcome(result):
        if result.is_error:
            raise FailedError(result.content)
        return result.content

    def run(_agno_run_context=None, **arguments):
        return outcome(executor.execute_sync(call_of(arguments), context={RunContext: _agno_run_context}))

    async def arun(_agno_run_context=None, **arguments):
        return outcome(await executor.execute(call_of(arguments), context={RunContext: _agno_run_context}))

    said = made.annotations
    hints = {
        "readOnlyHint": said.read_only,
        "destructiveHint": said.destructive,
        "idempotentHint": said.idempotent,
        "openWorldHint": said.open_world,
    }
    return Function(
        name=made.name,
        title=said.title,
        description=made.definition()["description"],
        parameters=made.input_schema(),
        annotations={name: hint for name, hint in hints.items() if hint is not None} or None,
        entrypoint=arun if made.is_async else run,
        skip_entrypoint_processing=True,
        requires_confirmation=said.confirm,
    )


def execute(made, arguments):
    """Return what its own function call makes of one of ours."""
    executor = Executor(Registry([made]), pass_through=(StopAgentRun,))
    function = theirs(made, executor)
    function._run_context = RunContext(run_id="r1", session_id="s1")
    call = FunctionCall(function=function, arguments=arguments, call_id="c1")
    return asyncio.run(call.aexecute()) if made.is_async else call.execute()


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_gives_its_text_and_has_the_context_of_the_run(is_async):
    def plain(a: int, ctx: Annotated[RunContext, skip], b: int = 0) -> list[object]:
        """Add.

        Args:
            a: One.
            b: Another.
        """
        return [a + b, ctx.run_id]

    async def in_loop(a: int, ctx: Annotated[RunContext, skip], b: int = 0) -> list[object]:
        """Add.

        Args:
            a: One.
            b: Another.
        """
        return plain(a, ctx, b)

    got = execute(tool(in_loop if is_async else plain), {"a": 2})
    assert (got.status, got.result) == ("success", '[2,"r1"]')


def test_errors_are_told_in_our_words():
    @tool
    def add(a: int) -> int:
        """Add.

        Args:
            a: One.
        """
        return a

    got = execute(add, {"a": "x"})
    assert got.status == "failure"
    assert got.error.startswith("add: 1 problem with the arguments")


def test_what_ends_the_run_passes_through():
    @tool
    def stop() -> int:
        """Stop."""
        raise StopAgentRun("enough")

    with pytest.raises(StopAgentRun, match="enough"):
        execute(stop, {})


def test_what_a_tool_says_about_itself_arrives():
    @tool(title="Delete a row", destructive=True, confirm=True)
    def delete() -> int:
        """Delete."""
        return 1

    function = theirs(delete, Executor([delete]))
    assert function.title == "Delete a row"
    assert function.annotations == {"destructiveHint": True}
    assert function.requires_confirmation is True


def test_a_function_that_holds_an_executor_is_copied_for_each_run():
    @tool
    def find() -> int:
        """Find."""
        return 1

    executor = Executor([find])
    function = copy.deepcopy(theirs(find, executor))
    assert FunctionCall(function=function, arguments={}).execute().result == "1"
    assert copy.deepcopy(executor).execute_sync(RawCall(name="find")).content == "1"


def test_a_tool_where_a_function_is_expected_is_refused_by_name():
    @tool
    def find() -> int:
        """Find."""
        return 1

    with pytest.raises(PydanticUserError, match=r"FindTool 'find'.*should be applied to functions"):
        Function.from_callable(find)
