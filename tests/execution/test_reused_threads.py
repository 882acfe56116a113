"""Threads that run one function after the other."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from executor_samples import ping
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall, tool
from operator_schema.execution import threads
from operator_schema.execution.threads import end_idle_workers

pytestmark = pytest.mark.needs_threads

ROOT = Path(__file__).resolve().parents[2]
IDLE = "operator_schema idle"


@tool
def who() -> list[str]:
    thread = threading.current_thread()
    return [thread.name, str(thread.ident)]


def value(executor, name="who"):
    return executor.run_sync(RawCall("1", name)).value


def idle():
    return [thread for thread in threading.enumerate() if thread.name == IDLE]


def test_calls_one_after_the_other_share_a_thread_of_all_executors():
    end_idle_workers()
    first, second = value(Executor([who])), value(Executor([who.with_(name="other")]), "other")
    assert first[0] == "who"
    assert second[0] == "other"  # logs name the tool
    assert first[1] == second[1]
    assert [str(thread.ident) for thread in idle()] == [first[1]]


def test_async_callers_find_the_thread_that_has_just_answered():
    async def run():
        executor = Executor([who])
        return {(await executor.run(RawCall("1", "who"))).value[1] for _ in range(50)}

    end_idle_workers()
    assert len(asyncio.run(run())) == 1


def test_a_thread_that_hangs_is_given_nothing_else():
    stop, hung = threading.Event(), []

    @tool(timeout=0.05)
    def hang() -> None:
        hung.append(str(threading.get_ident()))
        stop.wait(LONGEST_WAIT)

    end_idle_workers()
    executor = Executor([hang, who], timeout=None)
    try:
        assert executor.run_sync(RawCall("1", "hang")).code == "timeout"
        assert {value(executor)[1] for _ in range(20)}.isdisjoint(hung)
        assert executor.abandoned == 1
    finally:
        stop.set()
    assert wait_until(lambda: executor.abandoned == 0)
    assert wait_until(lambda: len(idle()) == 2)  # now it may have the next one


def test_context_variables_of_a_call_are_gone_with_it():
    from contextvars import ContextVar

    seen: ContextVar[int] = ContextVar("seen", default=0)

    @tool
    def count() -> int:
        seen.set(seen.get() + 1)
        return seen.get()

    executor = Executor([count])
    assert [value(executor, "count") for _ in range(3)] == [1, 1, 1]


def test_objects_of_a_call_are_not_kept():
    import weakref

    class Thing:
        pass

    things = []

    @tool
    def make() -> str:
        thing = Thing()
        things.append(weakref.ref(thing))
        return "made"

    assert value(Executor([make]), "make") == "made"
    assert wait_until(lambda: things[0]() is None)


def test_threads_without_work_end(monkeypatch):
    end_idle_workers()
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.01)
    assert value(Executor([ping]), "ping") == "pong"
    assert wait_until(lambda: not idle())
    assert not threads._idle
    assert value(Executor([ping]), "ping") == "pong"


def test_a_thread_that_gets_work_when_its_time_is_over_does_it(monkeypatch):
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.0)
    worker = threads._Worker([])  # not among the idle ones: somebody has just taken it
    worker.thread.start()
    done = threading.Event()

    class Work:
        name = "late"
        work = staticmethod(lambda: None)
        deliver = staticmethod(done.set)

    worker.give(Work)
    assert done.wait(LONGEST_WAIT)
    worker.thread.join(LONGEST_WAIT)
    assert not worker.thread.is_alive()


def test_what_nobody_waits_for_any_more_is_closed_elsewhere():
    """The loop is closed, and closing what came of it may take for ever."""
    go, closed, stop = threading.Event(), threading.Event(), threading.Event()

    class Slow:
        def __await__(self):
            yield

        def close(self):
            closed.set()
            stop.wait(LONGEST_WAIT)

    @tool
    def late() -> Any:
        go.wait(LONGEST_WAIT)
        return Slow()

    end_idle_workers()
    loop = asyncio.new_event_loop()
    task = loop.create_task(Executor([late, ping]).run(RawCall("1", "late")))
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()
    task._log_destroy_pending = False  # nobody ends it
    go.set()
    try:
        assert closed.wait(LONGEST_WAIT)
        assert value(Executor([ping]), "ping") == "pong"
    finally:
        stop.set()


def test_a_coroutine_that_comes_as_its_call_is_cancelled_is_closed():
    made, go = asyncio.sleep(0), threading.Event()

    async def cancel() -> None:
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        @tool
        def start() -> Any:
            loop.call_soon_threadsafe(begun.set)
            go.wait(LONGEST_WAIT)
            return made

        task = asyncio.create_task(Executor([start]).run(RawCall("1", "start")))
        await begun.wait()
        go.set()
        assert wait_until(
            lambda: threads._idle
        )  # it has ended; the loop, which this holds up, doesn't know yet
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    end_idle_workers()
    asyncio.run(cancel())
    assert inspect.getcoroutinestate(made) == inspect.CORO_CLOSED


@pytest.mark.needs_process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_nothing_but_the_program_itself_runs_when_it_forks():
    """Python 3.12 warns of a fork beside other threads; here that is an error."""
    program = """
import os, threading
from operator_schema import Executor, RawCall, tool

@tool
def ping() -> str:
    "Answer."
    return "pong"

executor = Executor([ping])
call = RawCall("1", "ping")
before = executor.run_sync(call).content
child = os.fork()
if not child:
    os._exit(0 if threading.active_count() == 1 and executor.run_sync(call).content == "pong" else 3)
print(before, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), executor.run_sync(call).content)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("pong 0 pong\n", "")


@pytest.mark.needs_process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_tool_may_fork():
    """In the child, its thread is the only one, and it ends with the function: it waits for no other one."""
    program = """
import os, sys
from operator_schema import Executor, RawCall, tool
from operator_schema.execution import threads

threads._IDLE_SECONDS = 600

@tool
def split() -> int:
    return os.fork()

child = Executor([split]).run_sync(RawCall("1", "split")).value
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "0", done.stderr
