"""Time limits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading

import pytest
from executor_samples import SOON, ping
from patience import LONGEST_WAIT, at_least, wait_until

from operator_schema import (
    Executor,
    RawCall,
    tool,
)
from operator_schema.execution import person_answers, threads

pytestmark = pytest.mark.needs_threads

LIMIT = 0.2
"""Seconds of a call that asks a person."""


def test_an_async_tool_is_really_ended():
    ended = []

    @tool
    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            ended.append("tidied up")
            raise

    async def run():
        result = await Executor([work], timeout=SOON).run(RawCall("1", "work", {}))
        return result, list(ended), asyncio.all_tasks() - {asyncio.current_task()}

    result, ended_then, left = asyncio.run(run())
    assert result.code == "timeout"
    assert result.content == "work: no result within 0.05 s; whether it did its work is not known"
    assert result.details == {"seconds": SOON}
    assert ended_then == ["tidied up"]
    assert left == set()


def test_work_that_is_done_after_its_call_is_logged(caplog):
    stop = threading.Event()

    @tool
    def work(number: int) -> int:
        stop.wait(LONGEST_WAIT)
        return 1 // number

    executor = Executor([work], timeout=SOON)
    calls = [RawCall("done", "work", {"number": 1}), RawCall("failed", "work", {"number": 0})]
    assert [result.code for result in executor.run_sync(calls)] == ["timeout", "timeout"]
    stop.set()
    assert wait_until(lambda: len(caplog.messages) == 4)  # else the next test would hear of them
    assert sorted(caplog.messages[2:]) == [
        "work (call done): the function did its work, after its call was over; nobody gets its result",
        "work (call failed): the function failed",
    ]


def test_work_that_ends_just_as_its_time_is_over_has_its_result(monkeypatch, caplog):
    class EndsThen(threads.ThreadRun):
        """Ends between the end of the wait and the next look at it."""

        def leave(self):
            self.work()
            return super().leave()

    monkeypatch.setattr(threads, "ThreadRun", EndsThen)
    monkeypatch.setattr(threads, "start_in_thread", lambda run: None)
    used = threads.Threads(1)
    assert asyncio.run(used.run(lambda: 5, "work", 0.0)) == 5
    assert (used.abandoned, used.slots.held, caplog.messages) == (0, 0, [])


def test_work_that_ends_just_as_its_call_is_cancelled_is_logged(caplog):
    go, has_begun = threading.Event(), threading.Event()

    @tool
    def work() -> int:
        has_begun.set()
        go.wait(LONGEST_WAIT)
        return 1

    executor = Executor([work])

    async def main():
        running = asyncio.create_task(executor.run(RawCall("1", "work", {})))
        await asyncio.sleep(0)
        await asyncio.to_thread(has_begun.wait, 60)
        go.set()
        assert wait_until(lambda: executor.load.threads == 0)  # this loop doesn't know it yet
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    said = "work (call 1): the function did its work, after its call was over; nobody gets its result"
    assert caplog.messages == [said]
    assert executor.abandoned == 0


def test_a_sync_tool_is_reported_and_left_to_itself(caplog):
    stop = threading.Event()

    @tool
    def work() -> None:
        stop.wait(LONGEST_WAIT)

    executor = Executor([work], timeout=SOON)
    result = executor.run_sync(RawCall("1", "work", {}))
    assert result.code == "timeout"
    assert executor.abandoned == 1
    assert caplog.record_tuples == [
        ("operator_schema", logging.WARNING, "work (call 1): no result within 0.05 s"),
    ]
    stop.set()
    assert wait_until(lambda: executor.abandoned == 0)


def test_the_timeout_of_a_tool_wins():
    @tool(timeout=SOON)
    async def short() -> None:
        await asyncio.sleep(60)

    @tool(timeout=math.inf)
    async def endless() -> str:
        await asyncio.sleep(2 * SOON)
        return "done"

    calls = [RawCall("1", "short", {}), RawCall("2", "endless", {})]
    first, second = asyncio.run(Executor([short, endless], timeout=None).run(calls))
    assert (first.code, second.content) == ("timeout", "done")
    assert Executor([endless], timeout=SOON).run_sync(calls[1]).content == "done"


def test_thirty_seconds_unless_set():
    assert Executor([])._options["timeout"] == 30.0


def test_a_tool_that_swallows_its_cancellation_is_left_to_itself(caplog):
    async def run():
        stop = asyncio.Event()

        @tool
        async def stubborn() -> str:
            while not stop.is_set():
                try:
                    await stop.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        executor = Executor([stubborn], timeout=SOON, grace=SOON)
        result = await executor.run(RawCall("1", "stubborn", {}))
        before = executor.abandoned
        stop.set()
        await asyncio.sleep(SOON)
        return result.code, before, executor.abandoned

    assert asyncio.run(run()) == ("timeout", 1, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "stubborn: was cancelled, and still runs",
        "stubborn (call 1): no result within 0.05 s",
    ]


@tool
async def rest() -> None:
    await asyncio.sleep(60)


def test_calls_of_the_same_length_end_each_in_its_time():
    async def run():
        executor = Executor([rest, ping], timeout=0.2, threads=False)

        async def timed():
            with at_least(0.19):
                return (await executor.run(RawCall("1", "rest"))).code

        first = asyncio.create_task(timed())
        await asyncio.sleep(0.1)
        assert (await executor.run(RawCall("2", "ping"))).content == "pong"
        return await asyncio.gather(first, timed())

    assert asyncio.run(run()) == ["timeout", "timeout"]


def test_any_number_of_lengths_of_time():
    tools = [rest.with_(name=f"rest_{number}", timeout=0.01 + number / 10_000) for number in range(40)]

    async def run():
        executor = Executor(tools)
        return await executor.run([RawCall("1", entry.name) for entry in tools])

    assert {result.code for result in asyncio.run(run())} == {"timeout"}


def test_threads_are_counted_and_bounded():
    stop = threading.Event()

    @tool
    def hang() -> None:
        stop.wait(LONGEST_WAIT)

    @tool
    def stall() -> None:
        stop.wait(LONGEST_WAIT)

    pong = ping.with_(name="pong", timeout=60)
    executor = Executor([hang, stall, ping, pong], timeout=SOON, max_threads=2)
    calls = [RawCall("1", "hang", {}), RawCall("2", "stall", {})]
    assert [result.code for result in executor.run_sync(calls)] == ["timeout", "timeout"]
    assert executor.abandoned == 2
    late = executor.run_sync(RawCall("3", "ping", {}))
    assert late.code == "timeout"
    assert late.content == "ping: no result within 0.05 s; it was not run"
    reason = "no thread was free for it; 2 still run after their calls took too long"
    assert late.details["reason"] == reason
    stop.set()
    assert wait_until(lambda: executor.abandoned == 0)
    assert executor.run_sync(RawCall("4", "pong", {})).content == "pong"


def test_waiting_for_a_place_does_not_count():
    @tool(timeout=1.0)
    async def nap() -> str:
        await asyncio.sleep(0.02)
        return "rested"

    calls = [RawCall(str(number), "nap", {}) for number in range(80)]
    results = asyncio.run(Executor([nap], max_concurrency=1).run(calls))
    assert {result.content for result in results} == {"rested"}  # 1.6 s in all


async def answered_after(seconds):
    with person_answers():
        await asyncio.sleep(seconds)


async def twice_at_once():
    await asyncio.gather(answered_after(LIMIT), answered_after(2 * LIMIT))


async def one_after_the_other():
    await answered_after(LIMIT)
    await answered_after(LIMIT)


async def one_inside_the_other():
    with person_answers():
        await answered_after(LIMIT)
        await asyncio.sleep(LIMIT)


async def by_another_executor():
    @tool
    async def ask() -> str:
        await answered_after(2 * LIMIT)
        return "asked"

    result = await Executor([ask], timeout=LIMIT).run(RawCall("1", "ask", {}))
    assert result.content == "asked"


@pytest.mark.parametrize(
    "ask", [twice_at_once, one_after_the_other, one_inside_the_other, by_another_executor]
)
def test_the_time_in_which_a_person_answers_does_not_count(ask):
    @tool
    async def work(rest: float) -> str:
        await ask()
        await asyncio.sleep(rest)
        return "done"

    executor = Executor([work], timeout=LIMIT)
    assert executor.run_sync(RawCall("1", "work", {"rest": 0})).content == "done"
    with at_least(3 * LIMIT - 0.05):
        late = executor.run_sync(RawCall("1", "work", {"rest": 60}))
    assert (late.code, late.details["seconds"]) == ("timeout", LIMIT)


def test_time_before_a_question_counts():
    @tool
    async def work() -> None:
        await asyncio.sleep(LIMIT / 2)
        await answered_after(LIMIT)
        await asyncio.sleep(60)

    with at_least(2 * LIMIT - 0.05):
        assert Executor([work], timeout=LIMIT).run_sync(RawCall("1", "work", {})).code == "timeout"


def test_outside_of_a_call_there_is_no_time_to_stop():
    with person_answers():
        pass


def test_a_question_that_is_cancelled_lets_time_go_on():
    @tool
    async def work() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SOON):
                await answered_after(60)
        await asyncio.sleep(60)

    assert Executor([work], timeout=LIMIT).run_sync(RawCall("1", "work", {})).code == "timeout"
