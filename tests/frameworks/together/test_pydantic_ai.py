"""pydantic-ai: a toolset of ours in its agent, with its own test double for the model."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any

import pytest
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
    ToolReturn,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

from operator_schema import skip, tool
from operator_schema.adapters.pydantic_ai import Toolset
from operator_schema.content import Image


@dataclass
class Db:
    rows: dict[str, int]


class OperatorToolset(Toolset):
    def __init__(self, *tools):
        super().__init__(tools, id="operator")


def test_a_toolset_has_the_name_that_it_is_given():
    assert OperatorToolset().id == "operator"
    assert Toolset([]).id is None


def model_that_calls(*calls, seen=None):
    """Return a model that makes one call after another, then says what it got last."""
    queue = list(calls)

    def respond(messages, info):
        if seen is not None:
            seen.append((messages, info))
        if queue:
            name, arguments = queue.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        return ModelResponse(parts=[TextPart("done")])

    return FunctionModel(respond)


def run(tools, *calls, deps=None, **options):
    """Run an agent whose model makes these calls."""
    agent = Agent(
        model_that_calls(*calls), toolsets=[OperatorToolset(*tools)], deps_type=type(deps), **options
    )
    return asyncio.run(agent.run("go", deps=deps))


def parts_of(result, kind):
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, kind)]


@pytest.mark.parametrize("value", [5, "5", [1, {"a": None}], None, True, {"b": [1.5]}])
def test_a_result_arrives_as_its_json_value(value):
    @tool
    def give() -> Any:
        """Give it."""
        return value

    result = run([give], ("give", {}))
    (returned,) = parts_of(result, ToolReturnPart)
    assert returned.content == value
    assert type(returned.content) is type(value)


def test_a_typed_result_is_encoded_by_its_type():
    @dataclass
    class Meeting:
        start: datetime
        attendees: set[str]

    @tool
    def meet() -> Meeting:
        """Meet."""
        return Meeting(datetime(2026, 1, 2, tzinfo=UTC), {"Ada"})

    (returned,) = parts_of(run([meet], ("meet", {})), ToolReturnPart)
    assert returned.content == {"start": "2026-01-02T00:00:00+00:00", "attendees": ["Ada"]}


def test_the_generic_run_context_is_found():
    @tool
    async def count(name: str, ctx: Annotated[RunContext[Db], skip]) -> int:
        """Count.

        Args:
            name: What to count.
        """
        return ctx.deps.rows[name]

    (returned,) = parts_of(run([count], ("count", {"name": "x"}), deps=Db({"x": 7})), ToolReturnPart)
    assert returned.content == 7


def test_an_optional_run_context_is_found_too():
    @tool
    async def count(ctx: Annotated[RunContext[Db] | None, skip] = None) -> bool:
        """Count."""
        return ctx is not None

    (returned,) = parts_of(run([count], ("count", {}), deps=Db({})), ToolReturnPart)
    assert returned.content is True


@pytest.mark.parametrize("is_async", [True, False])
def test_model_retry_passes_through_and_the_model_tries_again(is_async):
    tries = []

    def attempt(name: str) -> str:
        """Try.

        Args:
            name: What.
        """
        tries.append(name)
        if name == "bad":
            raise ModelRetry("not that one")
        return "good"

    async def attempt_async(name: str) -> str:
        """Try.

        Args:
            name: What.
        """
        return attempt(name)

    made = tool(attempt_async if is_async else attempt, name="attempt")
    result = run([made], ("attempt", {"name": "bad"}), ("attempt", {"name": "fine"}))
    retried, returned = parts_of(result, ToolReturnPart)
    assert (retried.content, retried.outcome) == ("not that one", "retried")
    assert returned.content == "good"
    assert tries == ["bad", "fine"]
    assert result.output == "done"


def test_bad_arguments_are_reported_by_us_and_tried_again():
    @tool
    def book(start: datetime, minutes: int = 30) -> str:
        """Book.

        Args:
            start: When.
            minutes: How long.
        """
        return f"{start:%H:%M} {minutes}"

    bad = {"start": "tomorrow", "minutes": "x"}
    result = run(
        [book], ("book", bad), ("book", '{"start": "2026'), ("book", {"start": "2026-01-02T09:00:00Z"})
    )
    first, second, returned = parts_of(result, ToolReturnPart)
    assert first.outcome == second.outcome == "retried"
    assert first.content.startswith("book: 2 problems with the arguments")
    assert "the text ends early" in second.content
    assert returned.content == "09:00 30"


@pytest.mark.parametrize("said", [{}, {"destructive": True}])
def test_a_wrapper_is_taken_off_unless_the_tool_is_destructive(said):
    done = []

    @tool(repair=True, **said)
    def clear(path: str) -> str:
        """Clear."""
        done.append(path)
        return "cleared"

    result = run([clear], ("clear", {"arguments": {"path": "a"}}), ("clear", {"path": "b"}))
    answers = [part.content for part in parts_of(result, ToolReturnPart)]
    if said:
        assert answers[0].endswith('send: {"path": "a"}')
    assert done == (["b"] if said else ["a", "b"])


def test_a_tool_that_asks_for_approval_is_run_once_it_is_given():
    done = []

    @tool
    def delete(name: str, ctx: Annotated[RunContext[Any], skip]) -> str:
        """Delete.

        Args:
            name: What to delete.
        """
        if not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"name": name})
        done.append(name)
        return "deleted"

    agent = Agent(
        model_that_calls(("delete", {"name": "x"})),
        toolsets=[OperatorToolset(delete)],
        output_type=[str, DeferredToolRequests],
    )
    asked = asyncio.run(agent.run("go"))
    assert isinstance(asked.output, DeferredToolRequests)
    (call,) = asked.output.approvals
    assert asked.output.metadata == {call.tool_call_id: {"name": "x"}}
    assert done == []
    answer = DeferredToolResults(approvals={call.tool_call_id: True})
    end = asyncio.run(agent.run(message_history=asked.all_messages(), deferred_tool_results=answer))
    assert done == ["x"]
    assert end.output == "done"


def test_an_image_of_the_framework_reaches_the_model_untouched():
    image = BinaryContent(b"\x89PNG", media_type="image/png")

    @tool
    def look() -> Any:
        """Look."""
        return ToolReturn(return_value="a picture", content=["Look at it:", image])

    result = run([look], ("look", {}))
    (returned,) = parts_of(result, ToolReturnPart)
    assert returned.content == "a picture"
    assert image in [
        item
        for part in parts_of(result, UserPromptPart)
        if isinstance(part.content, list)
        for item in part.content
    ]


def test_our_image_arrives_as_theirs():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(b"\x89PNG\r\n\x1a\n")]

    (returned,) = parts_of(run([look], ("look", {})), ToolReturnPart)
    assert returned.content == ["Here:", BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png")]


def test_a_connection_that_belongs_to_a_thread_is_used_in_it():
    @tool(threads=False)
    def count(db: Annotated[sqlite3.Connection, skip]) -> int:
        """Count."""
        return db.execute("select 40 + 2").fetchone()[0]

    with closing(sqlite3.connect(":memory:")) as db:
        (returned,) = parts_of(run([count], ("count", {}), deps=db), ToolReturnPart)
    assert returned.content == 42


def test_a_failure_is_a_failure_for_the_framework_and_text_for_the_model():
    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError("secret")

    (returned,) = parts_of(run([fail], ("fail", {})), ToolReturnPart)
    assert returned.content == "fail failed: ValueError"
    assert returned.outcome == "failed"


def test_the_model_sees_our_schema():
    seen = []

    @tool
    def search(query: str, limit: int | None = None, *, db: Annotated[Db, skip]) -> list[str]:
        """Search.

        Args:
            query: What.
            limit: How many.
        """
        return [query]

    asyncio.run(Agent(model_that_calls(seen=seen), toolsets=[OperatorToolset(search)]).run("go"))
    (definition,) = seen[0][1].function_tools
    assert definition.parameters_json_schema == search.input_schema()


def test_a_tool_marked_for_confirmation_is_held_back_by_the_framework():
    done = []

    @tool(confirm=True)
    def delete(name: str) -> str:
        """Delete.

        Args:
            name: What to delete.
        """
        done.append(name)
        return "deleted"

    agent = Agent(
        model_that_calls(("delete", {"name": "x"})),
        toolsets=[OperatorToolset(delete)],
        output_type=[str, DeferredToolRequests],
    )
    asked = asyncio.run(agent.run("go"))
    (call,) = asked.output.approvals
    assert call.args == {"name": "x"}
    assert done == []


def test_hooks_and_approvals_see_the_arguments_with_defaults_and_repairs():
    seen = []

    class Watching(OperatorToolset):
        async def call_tool(self, name, tool_args, ctx, tool):
            seen.append(tool_args)
            return await super().call_tool(name, tool_args, ctx, tool)

    @tool(repair=True)
    def book(day: date, minutes: int = 30, room: str | None = None) -> str:
        """Book.

        Args:
            day: When.
            minutes: How long.
            room: Where.
        """
        return f"{day} {minutes}"

    agent = Agent(
        model_that_calls(("book", '{"day": "2026-01-02", "minutes": "45",}')), toolsets=[Watching(book)]
    )
    result = asyncio.run(agent.run("go"))
    assert seen == [{"day": "2026-01-02", "minutes": 45}]
    assert parts_of(result, ToolReturnPart)[0].content == "2026-01-02 45"
