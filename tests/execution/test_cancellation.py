"""Cancelled calls."""

from __future__ import annotations

import asyncio
import threading
from contextvars import copy_context

import pytest
from executor_samples import SOON, add, both, greet, one, ping, raising
from patience import LONGEST_WAIT, wait_until

from operator_schema import (
    Executor,
    RawCall,
    tool,
)
from operator_schema.execution.concurrency import CURRENT_SLOT, HeldSlot, Slots

pytestmark = pytest.mark.needs_threads


@both
def test_a_tool_that_cancels_itself_is_a_result(is_async):
    result = one(raising(asyncio.CancelledError(), is_async), {})
    assert (result.code, result.content) == ("execution_failed", "work was cancelled")


def test_cancellation_passes_through_to_the_tool():
    seen = []

    @tool
    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            seen.append("ended")

    async def run():
        executor = Executor([work])
        single = asyncio.create_task(executor.run(RawCall("1", "work", {})))
        many = asyncio.create_task(executor.run([RawCall("1", "work", {})] * 5))
        await asyncio.sleep(0.02)
        single.cancel()
        many.cancel()
        outcomes = await asyncio.gather(single, many, return_exceptions=True)
        return outcomes, list(seen), asyncio.all_tasks() - {asyncio.current_task()}, executor.abandoned

    outcomes, ended, left, abandoned = asyncio.run(run())
    assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2
    assert ended == ["ended"] * 6
    assert (left, abandoned) == (set(), 0)


def test_a_task_may_be_cancelled_before_its_first_step():
    """By others, who look through all tasks; its coroutine never runs then."""

    async def run():
        executor = Executor([greet], timeout=None)
        waiting = asyncio.create_task(executor.run(RawCall("1", "greet", {"name": "x"})))
        await asyncio.sleep(0)
        (unstarted,) = [task for task in asyncio.all_tasks() if task.get_name() == "greet"]
        unstarted.cancel()
        return await asyncio.wait_for(waiting, LONGEST_WAIT)

    result = asyncio.run(run())
    assert (result.code, result.content) == ("execution_failed", "greet was cancelled")


def test_cancellation_before_the_tool_began():
    async def run():
        task = asyncio.create_task(Executor([greet]).run(RawCall("1", "greet", {"name": "x"})))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_cancellation_leaves_a_thread_to_itself():
    stop = threading.Event()

    @tool
    def work() -> None:
        stop.wait(LONGEST_WAIT)

    async def run():
        executor = Executor([work])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(executor.run(RawCall("1", "work", {})), SOON)
        return executor

    executor = asyncio.run(run())
    assert executor.abandoned == 1
    stop.set()
    assert wait_until(lambda: executor.abandoned == 0)


def test_who_is_cancelled_while_waiting_gives_the_place_back():
    async def run():
        executor = Executor([greet, add], max_concurrency=1)
        gate = asyncio.Event()

        @executor.registry.register
        @tool
        async def hold() -> None:
            await gate.wait()

        holder = asyncio.create_task(executor.run(RawCall("1", "hold", {})))
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(executor.run(RawCall("2", "add", {"x": n}))) for n in range(4)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()
        gate.set()
        waiting[1].cancel()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert (await holder).content == "null"
        again = await executor.run(RawCall("3", "add", {"x": 1}))
        return [getattr(outcome, "content", type(outcome)) for outcome in outcomes], again.content

    assert asyncio.run(run()) == ([asyncio.CancelledError, asyncio.CancelledError, "3", "4"], "2")


def test_a_second_interrupt_while_a_call_ends_loses_no_place(monkeypatch):
    executor = Executor([ping], max_concurrency=1)
    give_back, interrupts = Slots.give_back, [KeyboardInterrupt]

    def interrupted(slots, place):
        if interrupts:
            raise interrupts.pop()
        give_back(slots, place)

    monkeypatch.setattr(Slots, "give_back", interrupted)
    call = RawCall("1", "ping", {})
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(call)
    assert not interrupts
    assert executor.load.running == 0
    assert not executor.run_sync(call).is_error


def test_a_call_that_is_cancelled_while_it_waits_gives_no_place_back():
    async def main():
        go = asyncio.Event()

        @tool
        async def hold() -> None:
            await go.wait()

        executor = Executor([hold], max_concurrency=1)
        calls = [asyncio.create_task(executor.run(RawCall(str(number), "hold", {}))) for number in range(2)]
        await asyncio.sleep(0)
        calls[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[1]
        held = executor.load.running
        go.set()
        await calls[0]
        return held, executor.load.running

    assert asyncio.run(main()) == (1, 0)


def test_a_waiting_call_that_is_closed_elsewhere_leaves_the_place_of_another_call():
    async def run():
        executor = Executor(add, max_concurrency=1)
        slots = executor._slots
        await slots.acquire()
        waits = executor.run(RawCall("1", "add", {"a": 1, "b": 2}))
        copy_context().run(waits.send, None)
        other = HeldSlot(slots, None)
        CURRENT_SLOT.set(other)
        waits.close()
        return CURRENT_SLOT.get() is other, executor.load.waiting

    assert asyncio.run(run()) == (True, 0)


def test_each_call_sees_its_own_place_and_its_caller_the_one_from_before():
    seen = []

    @tool
    async def inner() -> None:
        seen.append(CURRENT_SLOT.get())

    @tool
    async def outer() -> None:
        before = CURRENT_SLOT.get()
        for executor in (Executor(inner), Executor(inner, max_concurrency=1)):
            await executor.run(RawCall("2", "inner"))
            assert CURRENT_SLOT.get() is before
        seen.append(before)

    async def run():
        await Executor(outer, max_concurrency=1).run(RawCall("1", "outer"))
        return CURRENT_SLOT.get()

    assert asyncio.run(run()) is None
    unlimited, limited, before = seen
    assert unlimited is None
    assert limited.slots is not before.slots
