"""Calls whose input is known already, as a round gives them to the executor."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from executor_samples import SOON, Db, add, greet, ping, raising, say

from operator_schema import (
    Executor,
    NeedsInput,
    RawCall,
    Registry,
    Reject,
    ToolError,
    ToolResult,
    Toolset,
    skip,
    tool,
)
from operator_schema.errors import ToolNotFoundError
from operator_schema.tools import WholeContext
from operator_schema.tools.calls import DecodedCall
from operator_schema.types import Progress, RawArguments

pytestmark = pytest.mark.needs_threads


class Plan:
    """What the executor takes for a plan."""

    def __init__(self, *calls):
        self.calls = calls
        self.hooks = ()

    async def execute_with(self, run_all, hooks, asking, wording, limited):
        self.hooks = (hooks,)

        async def settle(_, result):
            return result

        return await run_all(self.calls, settle)


def decoded(entry, arguments=None, call_id="c1", answers=None):
    raw = RawCall(call_id, entry.name, arguments)
    return DecodedCall(raw, entry.decode(arguments or {}), answers or {})


def run(executor, *calls, **options):
    return asyncio.run(executor.run(Plan(*calls), **options))


@tool
def cancel(booking: str, answer: Annotated[bool | None, skip] = None) -> str:
    if answer is None:
        message = "Refund 300 USD?"
        raise NeedsInput(message)
    return "refunded" if answer else "kept"


class Stop(Exception):  # noqa: N818  # what hosts call theirs
    pass


def test_calls_run_with_their_input_in_place_of_their_arguments():
    edited = DecodedCall(RawCall("c1", "add", {"x": 1}), add.decode({"x": 20, "y": 5}), {})
    unreadable = DecodedCall(RawCall("c2", "greet", "not JSON"), greet.decode({"name": "Ann"}), {})
    db = Db()
    results = run(Executor([add, greet]), edited, unreadable, context={Db: db})
    assert [(result.call_id, result.content) for result in results] == [
        ("c1", "25"),
        ("c2", '{"hello":"Ann"}'),
    ]
    assert db.rows == ["Ann"]


def test_the_plan_gets_the_hooks_and_its_answer_is_returned():
    class Echo:
        async def execute_with(self, run_all, hooks, asking, wording, limited):
            return [hooks, await run_all([], lambda *_: None)]

    def decide(call): ...

    hooks, results = asyncio.run(Executor([]).run(Echo(), hooks=decide))
    assert [(hook.function, names) for hook, names in hooks.before] == [(decide, None)]
    assert results == []
    assert Executor([]).run_sync(Echo()) == [None, []]


def test_results_are_in_the_order_of_the_calls_which_run_side_by_side():
    all_have_begun = asyncio.Barrier(7)

    @tool
    async def wait(seconds: float) -> float:
        await all_have_begun.wait()
        await asyncio.sleep(seconds)
        return seconds

    results = run(Executor([wait]), *[decoded(wait, {"seconds": n * SOON}) for n in (3, 1, 2, 3, 3, 3, 3)])
    assert [result.value for result in results] == [n * SOON for n in (3, 1, 2, 3, 3, 3, 3)]


def test_failures_are_results_and_what_is_passed_through_stands_in_the_list():
    stop = Stop("now")
    stopping = raising(stop).with_(name="stopping")
    executor = Executor([cancel, stopping, raising(ValueError("x"))], pass_through=(Stop,))
    calls = [decoded(entry) for entry in (stopping, executor.registry["work"])]
    asked, passed, failed = run(executor, decoded(cancel, {"booking": "a"}), *calls)
    assert (asked.code, asked.details["exception"].question) == ("needs_input", "Refund 300 USD?")
    assert passed is stop
    assert (failed.code, failed.content) == ("execution_failed", "work failed: ValueError")


def test_unknown_tools_and_those_that_are_off_have_their_results():
    registry = Registry([add, say])
    registry.switch("say", enabled=False)
    gone = decoded(ping)
    off, unknown = run(Executor(registry), decoded(say, {"text": "a"}), gone)
    assert off.code == "disabled"
    assert (unknown.code, type(unknown.details["exception"])) == ("tool_not_found", ToolNotFoundError)


@dataclass
class Text:
    text: str


@pytest.mark.parametrize("given", [Text("a"), None, ToolResult("c1", "add", "2"), add.decode({"x": 1})])
@pytest.mark.parametrize("entry", [say, greet], ids=["sync", "async"])
def test_an_input_of_another_class_is_refused(entry, given, caplog):
    result, other = run(
        Executor([entry, ping]),
        DecodedCall(RawCall("c1", entry.name), given, {}),
        decoded(ping),
        context={Db: Db()},
    )
    assert (result.code, type(result.details["exception"])) == ("execution_failed", ToolError)
    assert result.content == f"{entry.name} can't be run here; calling it again will not help"
    assert other.content == "pong"
    assert "the tool can't be run" in caplog.text


def test_answers_win_over_the_context_of_their_call_alone():
    calls = [decoded(cancel, {"booking": "a"}, answers={"answer": True}), decoded(cancel, {"booking": "b"})]
    first, second = run(Executor([cancel]), *calls, context={"answer": False})
    assert (first.content, second.content) == ("refunded", "kept")
    first, second = run(Executor([cancel]), *calls)
    assert (first.content, second.code) == ("refunded", "needs_input")


def test_beside_answers_the_context_is_asked_as_ever():
    class Lazy(dict):
        def __missing__(self, key):
            raise KeyError(key)

    @tool
    def ask(
        db: Annotated[Db, skip],
        everything: Annotated[WholeContext, skip],
        progress: Annotated[Progress, skip],
        context: Annotated[int, skip],
    ) -> list[Any]:
        progress(1)
        return [type(db).__name__, everything["context"], context]

    told = []
    call = decoded(ask, answers={"context": 5})
    (result,) = run(
        Executor([ask]),
        call,
        context=Lazy({Db: Db(), "context": 4}),
        on_progress=lambda *one: told.append(one),
    )
    assert result.value == ["Db", 5, 5]
    assert [(raw, update.done) for raw, update in told] == [(call.call, 1)]


def test_switches_do_not_see_the_answers():
    seen = []

    def may(context):
        seen.append(dict(context))
        return True

    calls = [decoded(cancel, {"booking": "a"}, answers={"answer": True})]
    run(Executor(Toolset(cancel).switch(cancel, enabled=may)), *calls, context={"user": 1})
    assert seen == [{"user": 1}]


def test_a_context_of_another_kind_is_refused_before_anything_runs():
    one = decoded(cancel, {"booking": "a"}, answers={"answer": True})
    with pytest.raises(TypeError, match="the context of a call must be a mapping"):
        run(Executor([cancel]), one, context=5)


def test_limits_hold():
    running, most = 0, 0

    @tool
    async def work() -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(SOON / 10)
        running -= 1
        return most

    @tool(timeout=SOON)
    async def hang() -> None:
        await asyncio.sleep(60)

    executor = Executor([work, hang], max_concurrency=2)
    *results, late = run(executor, *[decoded(work)] * 6, decoded(hang))
    assert [result.code for result in results] == [None] * 6
    assert late.code == "timeout"
    assert most == 2


@pytest.mark.usefixtures("no_more_threads")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_long_arguments_need_no_thread_where_they_are_decoded_already(is_async):
    @tool
    async def count(text: str) -> int:
        return len(text)

    @tool(name="count", threads=False)
    def count_here(text: str) -> int:
        return len(text)

    entry = count if is_async else count_here
    call = decoded(entry, {"text": "x" * 10**6})
    assert [result.value for result in run(Executor([entry]), call)] == [10**6]


def test_raw_arguments_report_their_own_problems():
    @tool
    def read(arguments: RawArguments) -> int:
        return arguments.require("x", int)

    call = DecodedCall(RawCall("c1", "read", {"x": "a"}), read.decode({"x": "a"}), {})
    (result,) = run(Executor([read]), call)
    assert result.code == "invalid_params"


def test_the_wait_works_inside_a_running_loop_too():
    async def outer():
        return Executor([add]).run_sync(Plan(decoded(add, {"x": 1})))

    (result,) = asyncio.run(outer())
    assert result.content == "2"


def test_cancelling_it_cancels_the_calls():
    ended = []

    @tool
    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def outer():
        task = asyncio.ensure_future(Executor([hang]).run(Plan(decoded(hang))))
        await asyncio.sleep(SOON)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(outer())
    assert ended == [True]


def test_every_call_is_logged_as_ever(caplog):
    caplog.set_level(logging.INFO)
    run(Executor([cancel]), decoded(cancel, {"booking": "a"}))
    assert caplog.messages == ["cancel (call c1): the function needs an answer first"]


def test_on_progress_is_checked_before_anything_runs():
    plan = Plan()
    with pytest.raises(TypeError, match="on_progress must be a plain function"):
        asyncio.run(Executor([]).run(plan, on_progress=5))
    assert plan.hooks == ()


@pytest.mark.needs_threads
def test_hooks_of_another_toolset_hold_beside_those_of_the_executor():
    ran = []

    @tool
    def pay_once(amount: int) -> str:
        """Pay an amount."""
        ran.append(amount)
        return "paid"

    refusing = Toolset(pay_once, hooks=lambda call: Reject("never"))
    executor = Executor(Toolset(pay_once), hooks=lambda call: None)
    work = refusing.offer().round([RawCall("1", "pay_once", {"amount": 1})])
    assert [call.result.code for call in executor.run_sync(work).calls] == ["rejected"]
    assert ran == []
