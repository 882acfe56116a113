"""A whole turn by an executor: hooks, then what is pending, then a plan with the results."""

from __future__ import annotations

import asyncio
import pickle
import re
from dataclasses import dataclass
from typing import Annotated

import pytest
from round_samples import ask, fetch, ids, raw, search, toolset

from operator_schema import (
    CallError,
    Complete,
    DecodeError,
    Defer,
    Executor,
    RawCall,
    Registry,
    Reject,
    RoundError,
    RunNormally,
    ToolError,
    Toolset,
    Transcript,
    hook,
    skip,
    tool,
)
from operator_schema.rounds import HookError, Hooks, InterruptedRoundError

pytestmark = pytest.mark.needs_threads

SOON = 0.05


def run(tools, *calls, hooks=None, context=None, **options):
    """Execute a round of these calls, in a loop of its own."""
    executor = Executor(tools, **options)
    found = tools.offer().round(calls)
    return asyncio.run(executor.run(found, hooks=hooks, context=context))


class Stop(Exception):  # noqa: N818  # what hosts call theirs
    pass


# --- what comes back -----------------------------------------------------------------------------


def test_a_turn_in_one_call():
    found = toolset.offer().round(
        [
            raw("fetch", "a", url="u"),
            raw("x", "b"),
            raw("pay", "c", amount=1),
            raw("search", "d", query="q", limit=1),
        ]
    )
    plan = Executor(toolset).run_sync(found)
    assert (ids(plan.handled), ids(plan.issues), ids(plan.deferred)) == (["a", "d"], ["b"], ["c"])
    assert [handled.by for handled in plan.handled] == ["executor", "executor"]
    assert [handled.result.value for handled in plan.handled] == ["page u", ["q"]]
    assert plan.id == found.id
    after = Executor(toolset).run_sync(plan.approve("c"))
    turn = after.commit(Transcript())
    assert [result.call_id for result in turn.results] == ["a", "b", "c", "d"]
    assert turn.results[2].content == "paid 1"


def test_what_has_its_result_is_not_run_again():
    runs = []

    @tool
    def count() -> int:
        """Count."""
        runs.append(1)
        return len(runs)

    tools = Toolset(count)
    executor = Executor(tools)
    plan = executor.run_sync(tools.offer().round([raw("count")]))
    assert executor.run_sync(plan) == plan
    assert len(runs) == 1


def test_an_empty_round_is_complete():
    assert run(toolset).is_complete
    assert run(Toolset()).is_complete


def test_hooks_decide_before_anything_runs():
    ran = []

    @tool
    def work(item: str) -> str:
        """Work."""
        ran.append(item)
        return item

    @hook(work)
    def decide(call):
        match call.input.item:
            case "complete":
                return Complete("from the hook")
            case "reject":
                return Reject("no")
            case "defer":
                return Defer("wait")
            case "edit":
                return RunNormally(work.input_type(item="edited"))
        return None

    items = ["complete", "reject", "defer", "edit", "plain"]
    tools = Toolset(work)
    plan = run(tools, *[raw("work", item, item=item) for item in items], hooks=Hooks(decide))
    assert (ids(plan.handled), ids(plan.rejected), ids(plan.deferred)) == (
        ["complete", "edit", "plain"],
        ["reject"],
        ["defer"],
    )
    assert sorted(ran) == ["edited", "plain"]
    assert plan.handled[1].raw == raw("work", "edit", item="edit")


def test_a_hook_that_fails_runs_nothing():
    ran = []

    @tool
    def work() -> None:
        """Work."""
        ran.append(1)

    def fail(call):
        if call.id == "b":
            raise ZeroDivisionError

    with pytest.raises(HookError) as caught:
        run(Toolset(work), raw("work", "a"), raw("work", "b"), hooks=fail)
    assert ran == []
    assert ids(caught.value.round.pending) == ["a", "b"]


# --- failures and limits -------------------------------------------------------------------------


@tool
def fails(how: str) -> str:
    """Fail."""
    if how == "call":
        raise CallError("try something else")
    if how == "stop":
        raise Stop(how)
    if how == "exit":
        raise ToolError("fails", "it is broken")
    raise ValueError(how)


@tool
async def hangs() -> None:
    """Hang."""
    await asyncio.sleep(60)


def test_failures_are_results():
    tools = Toolset(fails, hangs.with_(timeout=SOON))
    plan = run(
        tools,
        raw("fails", "a", how="call"),
        raw("fails", "b", how="value"),
        raw("hangs", "c"),
        raw("fails", "d", how="exit"),
    )
    codes = ["execution_failed", "execution_failed", "timeout", "execution_failed"]
    assert [handled.result.code for handled in plan.handled] == codes
    assert plan.handled[0].result.content == "try something else"
    assert plan.commit([]).results == tuple([handled.result for handled in plan.handled])


def test_what_is_passed_through_keeps_the_other_results():
    tools = Toolset(fails, fetch)
    calls = [
        raw("fails", "a", how="stop"),
        raw("fetch", "b", url="u"),
        raw("fails", "c", how="stop"),
        raw("x", "d"),
    ]
    with pytest.raises(InterruptedRoundError, match="2 calls raised Stop") as caught:
        run(tools, *calls, pass_through=(Stop,))
    error = caught.value
    assert list(error.exceptions) == [0, 2]
    assert error.__cause__ is error.exceptions[0]
    assert isinstance(error.__cause__, Stop)
    assert (ids(error.round.pending), ids(error.round.handled)) == (["a", "c"], ["b"])
    again = pickle.loads(pickle.dumps(error))
    assert (again.round, str(again), list(again.exceptions)) == (error.round, str(error), [0, 2])
    turn = error.round.reject("a", "stopped").reject("c").commit([])
    assert len(turn.results) == 4
    with pytest.raises(InterruptedRoundError, match=r"^1 call raised Stop"):
        run(tools, calls[0], pass_through=(Stop,))


def test_an_exception_whose_class_has_no_name_is_passed_through_too():
    class Nameless(type):
        @property
        def __name__(cls):
            raise ZeroDivisionError

    class Odd(Stop, metaclass=Nameless):
        pass

    @tool
    def stops() -> None:
        """Stop."""
        raise Odd

    with pytest.raises(InterruptedRoundError, match="1 call raised Odd"):
        run(Toolset(stops), raw("stops"), pass_through=(Stop,), threads=False)


def test_a_tool_that_is_off_or_missing_in_the_executor_has_its_result():
    registry = Registry([fetch, search])
    registry.switch("fetch", enabled=False)
    tools = Toolset(fetch, ask)
    found = tools.offer().round([raw("fetch", "a", url="u"), raw("ask", "b", topic="t")])
    plan = Executor(registry).run_sync(found)
    assert [handled.result.code for handled in plan.handled] == ["disabled", "tool_not_found"]


def test_a_tool_of_the_same_name_that_takes_something_else_is_not_run():
    @tool(name="fetch")
    def other(url: str, more: int = 1) -> str:
        """Fetch something else."""
        raise AssertionError

    tools = Toolset(fetch)
    (handled,) = Executor([other]).run_sync(tools.offer().round([raw("fetch", url="u")])).handled
    assert handled.result.code == "execution_failed"
    assert "can't be run here" in handled.result.content


def test_the_context_reaches_the_functions_and_switches():
    @tool
    def who(user: Annotated[str, skip]) -> str:
        """Say who."""
        return user

    tools = Toolset(who.with_(enabled=lambda context: "user" in context))
    found = tools.offer(context={"user": "Ann"}).round([raw("who")])
    executor = Executor(tools)
    assert executor.run_sync(found, context={"user": "Ann"}).handled[0].result.content == "Ann"
    again = tools.offer(context={"user": "Ann"}).round([raw("who")])
    assert executor.run_sync(again).handled[0].result.code == "disabled"


# --- loops ---------------------------------------------------------------------------------------


def test_calls_run_side_by_side():
    all_have_begun = asyncio.Barrier(50)

    @tool
    async def wait() -> str:
        """Wait."""
        await all_have_begun.wait()
        return "done"

    plan = run(Toolset(wait), *[raw("wait", str(i)) for i in range(50)])
    assert [handled.result.content for handled in plan.handled] == ["done"] * 50


def test_it_runs_under_trio():
    trio = pytest.importorskip("trio", reason="WebAssembly has no event loop for trio")

    @tool
    async def nap() -> str:
        """Nap."""
        await trio.sleep(0)
        return "slept"

    async def hook_(call):
        await trio.sleep(0)

    async def main():
        tools = Toolset(nap, fetch)
        found = tools.offer().round([raw("nap", "a"), raw("fetch", "b", url="u")])
        return await Executor(tools).run(found, hooks=hook_)

    plan = trio.run(main)
    assert [handled.result.content for handled in plan.handled] == ["slept", "page u"]


def test_the_sync_form_works_inside_a_running_loop():
    async def main():
        return Executor(toolset).run_sync(toolset.offer().round([raw("fetch", url="u")]))

    assert asyncio.run(main()).handled[0].result.content == "page u"


def test_cancelling_it_leaves_the_round_open():
    ended = []

    @tool
    async def hang() -> None:
        """Hang."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    tools = Toolset(hang)
    found = tools.offer().round([raw("hang")])

    async def main():
        task = asyncio.ensure_future(Executor(tools).run(found))
        await asyncio.sleep(SOON)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(main())
    assert ended == [True]
    assert ids(found.confirmed().pending) == ["c1"]


def test_a_settled_round_is_not_run():
    found = toolset.offer().round([raw("fetch", url="u")])
    plan = found.confirmed()
    found.discard()
    for each in (found, plan):
        with pytest.raises(RoundError, match="discarded already"):
            Executor(toolset).run_sync(each)


# --- the options of the executor -----------------------------------------------------------------


@dataclass
class Odds:
    """Something whose own code fails for some arguments."""

    number: int

    def __post_init__(self):
        if self.number == 1:
            message = "one is odd"
            raise ValueError(message)
        if self.number == 3:
            message = "three is odd; send two"
            raise CallError(message)
        if self.number == 5:
            raise ToolError("halve", "it has no five")
        if self.number == 7:
            raise ExceptionGroup("odd", [ValueError("seven"), KeyError("no")])
        if self.number == 9:
            raise UnwritableError


class UnwritableError(Exception):
    def __str__(self):
        raise ZeroDivisionError


@tool
def halve(odds: Odds) -> float:
    """Halve a number."""
    if odds.number == 2:
        message = "two is too small"
        raise ValueError(message)
    return odds.number / 2


def shout(error):
    return f"WRONG: {len(error.findings)}"


def fail_to_report(error):
    raise LookupError


@pytest.mark.parametrize("show", ["type", "message", "traceback"])
@pytest.mark.parametrize("report", [str, shout, fail_to_report])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("halve", {"number": number}) for number in ("x", 1, 2, 3, 4, 5, 7, 9)]
    + [("halve", "{"), ("nothing", {}), ("halve", {})],
)
def test_a_model_reads_the_same_in_a_round_and_outside(show, report, name, arguments):
    tools = Toolset(halve)
    executor = Executor(tools, show_errors=show, report=report)
    call = RawCall("1", name, arguments)
    alone = executor.run_sync(call)
    plan = executor.run_sync(tools.offer().round([call]))
    (result,) = plan.commit([]).results
    first, second = (re.split(r"\n\n.*Traceback", each.content)[0] for each in (alone, result))
    assert (first, alone.code, alone.is_error) == (second, result.code, result.is_error)
    assert ("Traceback" in alone.content) == ("Traceback" in result.content)
    restored = tools.restore_round(plan.as_dict())
    assert executor.run_sync(restored).commit([]).results[0].content == result.content


def test_hooks_and_errors_of_hooks_have_the_texts_of_the_executor():
    tools = Toolset(halve, search)
    executor = Executor(tools, report=shout)
    found = tools.offer().round([raw("halve", "1"), raw("search", "2", query="q")])
    with pytest.raises(HookError) as caught:
        executor.run_sync(found, hooks=lambda call: 1 / 0)
    assert caught.value.round.issues[0].content == "WRONG: 1"
    assert found.issues[0].content != "WRONG: 1"
    assert isinstance(caught.value.round.issues[0].error, DecodeError)


@pytest.mark.parametrize("decide", [Complete("x" * 1000), Reject("x" * 1000)], ids=["complete", "reject"])
def test_what_a_hook_answers_is_as_long_as_a_result_may_be(decide):
    found = run(toolset, raw("fetch", url="u"), hooks=Hooks(lambda call: decide), max_content=200)
    [turn_result] = found.commit([]).results
    assert 0 < len(turn_result.content) <= 200
    # It was decided before this executor came, so it stays.
    before = toolset.offer().round([raw("fetch", url="u")]).reject("c1", "x" * 1000)
    [turn_result] = Executor(toolset, max_content=200).run_sync(before).commit([]).results
    assert turn_result.content.endswith("x" * 1000)
