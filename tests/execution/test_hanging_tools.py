"""Tools that hang: a tool whose calls never end does not take the threads of the others."""

from __future__ import annotations

import asyncio
import threading

import pytest
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall, tool
from operator_schema.execution.concurrency import Slots

pytestmark = pytest.mark.needs_threads


def hanging(name, stop):
    @tool(name=name)
    def hang() -> None:
        stop.wait(LONGEST_WAIT)

    return hang


@tool
def ping() -> str:
    """Answer."""
    return "pong"


@tool
async def aping() -> str:
    """Answer."""
    return "pong"


@pytest.fixture
def stop():
    event = threading.Event()
    yield event
    event.set()


def test_five_hundred_calls_of_a_tool_that_hangs_leave_threads_for_others(stop):
    executor = Executor([hanging("hang", stop).with_(timeout=0.5), ping, aping], max_threads=16)
    calls = [RawCall(str(number), "hang", {}) for number in range(500)]
    others = [RawCall(f"p{number}", name, {}) for number in range(100) for name in ("ping", "aping")]
    results = executor.run_sync([*calls, *others])
    assert {result.code for result in results[:500]} == {"timeout"}
    assert {result.content for result in results[500:]} == {"pong"}
    assert executor.abandoned == 12
    # The threads still hang, and the others still answer.
    assert {result.content for result in executor.run_sync(others)} == {"pong"}
    reasons = [result.details.get("reason") for result in results[:500]]
    assert reasons.count(None) == 12
    assert (
        executor.run_sync(RawCall("1", "hang", {})).details["reason"].startswith("no thread was free for it")
    )
    stop.set()
    assert wait_until(lambda: executor.abandoned == 0)
    assert {result.content for result in executor.run_sync(calls[:4])} == {"null"}


def test_several_tools_that_hang_still_leave_threads_for_others(stop):
    names = ["hang1", "hang2", "hang3"]
    executor = Executor([*[hanging(name, stop).with_(timeout=0.5) for name in names], ping], max_threads=64)
    calls = [RawCall("1", name, {}) for name in names for _ in range(100)]
    executor.run_sync(calls)
    assert executor.abandoned == 48 + 12 + 3
    assert executor.run_sync(RawCall("2", "ping", {})).content == "pong"


@pytest.mark.parametrize(("limit", "most"), [(1, 1), (2, 1), (3, 2), (4, 3), (16, 12), (64, 48)])
def test_one_owner_gets_three_quarters_of_what_others_leave_and_at_least_one(limit, most):
    async def run():
        slots = Slots(limit, is_shared=True)
        taken = [await slots.acquire(0, "a") for _ in range(limit + 1)]
        for _ in range(sum(taken)):
            slots.release("a")
        return sum(taken), slots.held

    assert asyncio.run(run()) == (most, 0)


def test_a_slot_goes_to_the_one_that_has_waited_longest_and_may_have_it():
    async def run():
        slots, order = Slots(4, is_shared=True), []

        async def wait(owner):
            await slots.acquire(None, owner)
            order.append(owner)

        for _ in range(3):
            await slots.acquire(0, "a")
        waiting = [asyncio.create_task(wait("a")) for _ in range(2)]
        await asyncio.sleep(0)
        waiting += [asyncio.create_task(wait(owner)) for owner in ("b", "c")]
        await asyncio.sleep(0.01)
        assert order == ["b"]  # the last slot is not for "a"
        slots.release("b")
        await asyncio.sleep(0.01)
        assert order == ["b", "c"]
        slots.release("a")
        await asyncio.sleep(0.01)
        assert order == ["b", "c"]  # two of three: what "c" leaves is three
        slots.release("c")
        await asyncio.sleep(0.01)
        assert order == ["b", "c", "a"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return slots.waiting

    assert asyncio.run(run()) == 0
