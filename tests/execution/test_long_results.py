"""Results that are longer than a model should read."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from operator_schema import CallError, Complete, Executor, RawCall, Reject, SchemaError, Toolset, tool
from operator_schema.content import File, Image, Resource, Text

pytestmark = pytest.mark.needs_threads

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@tool
def say(times: int) -> str:
    """Say a lot."""
    return "x" * times


@tool
async def listing(times: int) -> list[int]:
    """List a lot."""
    return list(range(times))


@tool
def mixed(times: int) -> Any:
    """Show and say."""
    return [Text("a" * times), Image.from_bytes(PNG), Text("b" * times)]


@tool
def fail(times: int) -> str:
    """Fail in many words."""
    raise CallError("no" * times)


def run(tested, times, **options):
    return Executor([tested], **options).run_sync(RawCall("1", tested.name, {"times": times}))


@pytest.mark.parametrize("tested", [say, listing, mixed, fail], ids=lambda one: one.name)
def test_a_long_result_is_cut_with_a_sentence(tested, caplog):
    result = run(tested, 5000, max_content=1000)
    assert len(result.content) == 1000
    assert "[cut: the whole result has " in result.content[-80:]
    assert result.content.endswith(" characters; ask for less of it]")
    assert result.details["characters"] >= 5000
    assert result.json is None
    assert "the model reads only 1,000" in caplog.text
    assert result.is_error == (tested is fail)


def test_the_value_stays_whole_for_the_program():
    assert run(listing, 5000, max_content=1000).value == list(range(5000))


def test_a_result_of_just_the_limit_is_whole():
    for times, is_cut in [(999, False), (1000, False), (1001, True)]:
        result = run(say, times, max_content=1000)
        assert len(result.content) == min(times, 1000)
        assert ("[cut: " in result.content) == is_cut
        assert (result.json is None) == is_cut


def test_of_parts_texts_are_cut_and_images_stay():
    result = run(mixed, 900, max_content=1000)
    kinds = [type(part).__name__ for part in result.parts]
    assert kinds == ["Text", "Image", "Text", "Text"]
    assert sum(len(part.text) for part in result.parts if isinstance(part, Text)) <= 1000
    assert result.parts[-1].text.endswith("ask for less of it]")


def test_the_limit_of_a_tool_wins():
    assert len(run(say.with_(max_content=300), 5000, max_content=1000).content) == 300
    assert len(run(say.with_(max_content=math.inf), 5000, max_content=1000).content) == 5000
    assert len(run(tool(max_content=400)(say.__wrapped__), 5000).content) == 400


def test_without_a_word_the_limit_is_generous_and_none_means_no_limit():
    assert len(run(say, 200_000).content) == 200_000
    assert len(run(say, 200_001).content) == 200_000
    assert len(run(say, 1_300_000, max_content=None).content) == 1_300_000


def test_a_round_has_the_limit_too():
    sent = Toolset(say).offer().round([RawCall("1", "say", {"times": 5000})])
    plan = Executor([say], max_content=1000).run_sync(sent)
    assert len(plan.handled[0].result.content) == 1000


@pytest.mark.parametrize("limit", [0, 199, -1, "many", True, 1.5])
def test_the_option_of_a_tool_is_checked(limit):
    with pytest.raises(SchemaError, match=r"max_content is .*, not an integer of at least 200"):
        tool(max_content=limit)(say.__wrapped__)


# --- all that a model reads ----------------------------------------------------------------------


def read_of(result):
    """Return what a model may read of the parts of a result, in one text."""
    names = ("text", "name", "uri")
    return "".join([getattr(part, name, None) or "" for part in result.parts for name in names])


LONG = "x" * 50_000
PARTS = {
    "many texts": lambda: [Text("ab")] * 8000,
    "empty texts": lambda: [Text("")] * 8000,
    "a file with a long name": lambda: [File(b"abc", "text/plain", LONG), Text("end")],
    "a link with a long address": lambda: [
        Text("begin"),
        Resource(f"file:///{LONG}"),
        Image(PNG, "image/png"),
    ],
    "a resource with a long text": lambda: Resource("file:///a", text=LONG),
    "data with a long address": lambda: [Resource(f"file:///{LONG}", data=b"abc"), Text("end")],
    "many addresses": lambda: [Resource(f"file:///{number}") for number in range(2000)],
    "many names": lambda: [File(b"a", "text/plain", "name") for _ in range(2000)],
}


@pytest.mark.slow("makes results of megabytes")
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("most", [200, 1000])
def test_all_that_a_model_reads_of_parts_counts(name, most):
    @tool
    def show() -> Any:
        """Show it."""
        return PARTS[name]()

    result = Executor([show], max_content=most).run_sync(RawCall("1", "show", {}))
    assert len(result.content) <= most
    assert len(read_of(result)) <= most
    assert result.parts[-1].text.endswith("ask for less of it]")
    assert Text("") not in result.parts
    assert result.details["characters"] > most


def test_parts_that_are_short_stay_as_they_are():
    parts = (
        Text("a"),
        File(b"abc", "text/plain", "name"),
        Resource("file:///a", text="b"),
        Image(PNG, "image/png"),
    )

    @tool
    def show() -> Any:
        """Show it."""
        return list(parts)

    assert Executor([show], max_content=200).run_sync(RawCall("1", "show", {})).parts == parts


DECISIONS = {
    "Complete": lambda call: Complete(LONG),
    "Reject": lambda call: Reject(LONG),
    "a text": lambda call: LONG,
}


@tool(confirm=True)
def ask() -> str:
    """Ask first."""
    return ""


@pytest.mark.parametrize("decision", DECISIONS)
def test_what_a_person_answers_has_the_limit(decision):
    executor = Executor([ask], max_content=1000, confirm=DECISIONS[decision])
    call = RawCall("1", "ask", {})
    (state,) = executor.run_sync(Toolset(ask).offer().round([call])).calls
    for result in (executor.run_sync(call), state.result):
        assert len(result.content) == 1000
        assert result.content.endswith("ask for less of it]")


@pytest.mark.parametrize("decision", ["Complete", "Reject"])
def test_what_a_hook_answers_has_the_limit_and_that_of_the_tool(decision):
    sent = [RawCall("1", "say", {"times": 1}), RawCall("2", "ask", {})]
    toolset = Toolset(say.with_(max_content=300), ask)
    plan = Executor(toolset, max_content=1000).run_sync(
        toolset.offer().round(sent), hooks=DECISIONS[decision]
    )
    assert [len(state.result.content) for state in plan.calls] == [300, 1000]
    again = toolset.restore_round(plan.as_dict())
    assert again == plan


def test_what_was_decided_before_stays_as_it_is():
    toolset = Toolset(ask)
    plan = toolset.offer().round([RawCall("1", "ask", {})]).confirmed().reject("1", LONG)
    assert Executor(toolset, max_content=1000).run_sync(plan).calls[0].reason == LONG


def test_whoever_runs_a_plan_without_an_executor_may_leave_all_as_it_is():
    async def run_all(calls, keep):
        return []

    sent = Toolset(ask).offer().round([RawCall("1", "ask", {})])
    plan = asyncio.run(sent.execute_with(run_all, lambda call: Complete(LONG)))
    assert plan.handled[0].result.content == LONG
