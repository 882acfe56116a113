"""Which loop or thread a function runs in."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import threading
import time
import weakref
from typing import Annotated, Any

import pytest
from executor_samples import SOON, Db, add, both, greet, one, ping
from garbage import pass_over_what_is_there
from patience import LONGEST_WAIT, wait_until

from operator_schema import (
    CallError,
    Executor,
    RawCall,
    SchemaLeaf,
    tool,
)

pytestmark = pytest.mark.needs_threads

USER = contextvars.ContextVar("USER", default="nobody")


@both
def test_context_variables_reach_the_tool(is_async):
    @tool(name="who")
    async def awho() -> str:
        return USER.get()

    @tool
    def who() -> str:
        return USER.get()

    USER.set("ada")
    try:
        assert one(awho if is_async else who, {}).content == "ada"
        assert Executor([awho if is_async else who]).run_sync(RawCall("1", "who")).content == "ada"
    finally:
        USER.set("nobody")


def test_a_sync_tool_does_not_block_the_loop():
    @tool
    def slow() -> str:
        time.sleep(0.2)
        return threading.current_thread().name

    async def run():
        ticks = 0
        task = asyncio.create_task(Executor([slow]).run(RawCall("1", "slow", {})))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, (await task).content

    ticks, name = asyncio.run(run())
    assert ticks > 5
    assert name == "slow"


def wrapped(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


def test_a_function_that_gives_something_to_await():
    @tool
    @wrapped
    async def work(seconds: float) -> float:
        await asyncio.sleep(seconds)
        if seconds == 0.25:
            raise CallError("no quarter")
        return seconds

    assert not work.is_async
    assert one(work, {"seconds": 0.0}).content == "0.0"
    assert one(work, {"seconds": 0.25}).content == "no quarter"
    assert one(work, {"seconds": 60}, timeout=SOON).code == "timeout"


@pytest.mark.filterwarnings("error")
def test_what_nobody_awaits_any_more_is_closed():
    held = threading.Event()
    closed = []

    async def inner():
        await asyncio.sleep(0)

    @tool
    def late() -> Any:
        held.wait(LONGEST_WAIT)
        coroutine = inner()
        closed.append(coroutine)
        return coroutine

    executor = Executor([late], timeout=SOON)

    async def run():
        result = await executor.run(RawCall("1", "late", {}))
        held.set()
        # The frame of what is closed is gone.
        while not closed or closed[0].cr_frame is not None:  # noqa: ASYNC110  # a thread brings it about
            await asyncio.sleep(0.005)
        return result.code

    assert asyncio.run(asyncio.wait_for(run(), LONGEST_WAIT)) == "timeout"
    held.clear()
    closed.clear()
    assert executor.run_sync(RawCall("2", "late", {})).code == "timeout"
    held.set()  # the event loop is closed by now
    assert wait_until(lambda: closed and closed[0].cr_frame is None)


def test_a_leaf_that_fails_when_it_is_written():
    def write(value: complex) -> str:
        return str(1 / (value - 2j) + value - 1 / (value - 2j))

    leaf = SchemaLeaf(complex, {"type": "string"}, complex, write, 1j)

    @tool
    def number(real: float) -> Annotated[complex, leaf]:
        return complex(real, 2)

    assert one(number, {"real": 1}).content == "(1+2j)"
    result = one(number, {"real": 0})
    assert result.code == "execution_failed"
    assert result.content.startswith("number ")


def test_the_system_may_have_no_more_threads(no_more_threads):
    executor = Executor([ping], max_threads=1)
    result = executor.run_sync(RawCall("1", "ping", {}))
    no_more_threads.undo()
    assert (result.code, result.content) == ("execution_failed", "ping failed: RuntimeError")
    assert executor.run_sync(RawCall("2", "ping", {})).content == "pong"  # the place is free again


def test_execute_sync_needs_no_loop():
    executor = Executor([greet, add])
    assert executor.run_sync(RawCall("1", "add", {"x": 1})).content == "2"
    assert (
        executor.run_sync(RawCall("1", "greet", {"name": "a"}), context={Db: Db()}).content == '{"hello":"a"}'
    )
    assert [r.content for r in executor.run_sync([RawCall("1", "add", {"x": 1})] * 3)] == ["2"] * 3

    async def run():
        return (await asyncio.to_thread(executor.run_sync, RawCall("1", "add", {"x": 1}))).content

    assert asyncio.run(run()) == "2"


def test_execute_sync_leaves_the_hosts_loop_alone():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        Executor([add]).run_sync(RawCall("1", "add", {"x": 1}))
        assert asyncio.get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@both
@pytest.mark.parametrize("ends", [True, False], ids=["ended", "pending"])
def test_event_loops_are_not_kept(is_async, ends):
    pass_over_what_is_there()
    stop = threading.Event()

    async def arun() -> None:
        await asyncio.sleep(0 if ends else 60)

    def run() -> None:
        stop.wait(0 if ends else 60)

    entry = tool(name="run")(arun if is_async else run)
    executor = Executor([entry], timeout=60)
    loop = asyncio.new_event_loop()
    task = loop.create_task(executor.run(RawCall("1", "run")))
    loop.run_until_complete(task if ends else asyncio.sleep(0.01))
    task._log_destroy_pending = False
    kept = weakref.ref(loop)
    loop.close()
    del loop, task
    stop.set()
    assert wait_until(lambda: gc.collect() < 0 or kept() is None)


def test_a_tool_may_call_others():
    executor = Executor([add])

    @executor.registry.register
    @tool
    async def twice(x: int) -> str:
        result = await executor.run(RawCall("inner", "add", {"x": x, "y": x}))
        return result.content

    assert executor.run_sync(RawCall("1", "twice", {"x": 4})).content == "8"
