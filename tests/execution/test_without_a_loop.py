"""Calls from code that doesn't await, in a thread in which no event loop runs."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from executor_samples import add, ping
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall, Reject, ToolResult, Toolset, tool
from operator_schema.execution import sync
from operator_schema.execution.sync import _WaitingThread

pytestmark = pytest.mark.needs_threads

ROOT = Path(__file__).resolve().parents[2]
CALL = RawCall("1", "ping")


def interrupt():
    signal.raise_signal(signal.SIGINT)


def is_all_free(executor):
    """Whether no place is taken, interrupts are handled as before, and no thread is counted for long."""
    is_place_free = executor.load.running == 0
    is_handler_back = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    # An interrupt ends the call, and its function goes on to its end.
    return wait_until(lambda: has_no_thread(executor)) and is_place_free and is_handler_back


def has_no_thread(executor):
    return executor.load.threads == 0 and executor.abandoned == 0


@pytest.mark.needs_process
def test_a_plain_function_needs_no_event_loop():
    program = """
import sys
from operator_schema import Executor, RawCall, Reject, ToolResult, Toolset, tool

@tool
def ping() -> str:
    "Answer."
    return "pong"

for threads in (True, False):
    print(Executor([ping], threads=threads, max_concurrency=1).run_sync(RawCall("1", "ping")).content)
print("asyncio" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("pong\npong\nFalse\n", "")


def test_a_function_that_returns_a_coroutine_gets_a_loop():
    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x

    @tool
    def start(x: int) -> int:
        return later(x)

    entries = [start, start.with_(name="inline", threads=False)]
    for entry in entries:
        assert Executor([entry]).run_sync(RawCall("1", entry.name, {"x": 3})).value == 3


def test_tools_may_run_loops_and_calls_themselves():
    executor = Executor([add], max_concurrency=4)

    @executor.registry.register
    @tool(threads=False)
    def inline() -> str:
        async def run():
            return (await executor.run(RawCall("3", "add", {"x": 3}))).content

        plain = executor.run_sync(RawCall("2", "add", {"x": 2})).content
        return f"{plain} {asyncio.run(run())}"

    @executor.registry.register
    @tool
    async def outer() -> str:
        return executor.run_sync(RawCall("1", "add", {"x": 4})).content

    assert executor.run_sync(RawCall("0", "inline")).content == "3 4"
    assert executor.run_sync(RawCall("0", "outer")).content == "5"
    assert executor.load.running == 0


def test_what_a_call_sets_does_not_reach_the_caller():
    user = contextvars.ContextVar("user", default="nobody")

    @tool(threads=False)
    def login() -> str:
        user.set("ada")
        return user.get()

    assert Executor([login]).run_sync(RawCall("1", "login")).content == "ada"
    assert user.get() == "nobody"


def test_a_call_has_as_many_seconds_as_its_limit_says(monkeypatch):
    stop = threading.Event()

    @tool(timeout=5)
    def hang() -> None:
        stop.wait(LONGEST_WAIT)

    clock = iter([1000.0, 1004.0, 1006.0])
    monkeypatch.setattr(sync, "monotonic", clock.__next__)
    try:
        result = Executor([hang]).run_sync(RawCall("1", "hang"))
    finally:
        stop.set()
    assert result.content == "hang: no result within 5 s; whether it did its work is not known"
    assert not list(clock)  # it still waited after four seconds


def test_it_is_refused_where_the_caller_holds_the_only_place():
    executor = Executor([ping], max_concurrency=1)

    @executor.registry.register
    @tool(threads=False)
    def inline() -> str:
        return executor.run_sync(CALL).content

    result = executor.run_sync(RawCall("0", "inline"))
    assert "would wait forever" in str(result.details["exception"])
    assert executor.run_sync(CALL).content == "pong"


def test_what_waits_for_an_event_loop_is_refused():
    with pytest.raises(RuntimeError, match="none runs"):
        _WaitingThread([]).finish(functools.partial(asyncio.sleep, 0))


@pytest.mark.parametrize("of_tools", [True, False])
def test_hooks_may_await_something(of_tools):
    async def refuse(_):
        await asyncio.sleep(0)
        return Reject("not today")

    executor = Executor(Toolset(ping, hooks=refuse)) if of_tools else Executor([ping], hooks=refuse)
    assert executor.run_sync(CALL).content == "This call was rejected: not today"


@pytest.mark.parametrize("is_alone", [True, False])
def test_no_text_is_made_of_results(is_alone, monkeypatch):
    @tool
    async def ping() -> str:
        return "x" * 100_000

    shown = []
    monkeypatch.setattr(ToolResult, "__repr__", lambda result: shown.append(result) or "")
    results = Executor([ping]).run_sync(CALL if is_alone else [CALL])
    assert len((results if is_alone else results[0]).content) == 100_000
    assert shown == []


# --- interrupts --------------------------------------------------------------------------------------


def test_an_interrupt_between_two_lines_of_the_executor_comes_when_it_waits():
    ran = []

    def switch() -> bool:
        interrupt()
        return True

    @tool(enabled=switch)
    def work() -> None:
        ran.append(True)

    executor = Executor([work], max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(RawCall("1", "work"))
    assert is_all_free(executor)


def test_an_interrupt_before_they_are_handled_leaves_no_waiting_thread(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    executor = Executor([ping], max_concurrency=1)
    monkeypatch.setattr(sync, "_swap_handler", interrupted)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(CALL)
    assert sync.waiting_backends() == []
    assert is_all_free(executor)


def test_a_second_interrupt_comes_at_once():
    reached = []

    def switch() -> bool:
        interrupt()
        interrupt()
        reached.append(True)
        return True

    executor = Executor([ping.with_(enabled=switch)], max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(CALL)
    assert not reached
    assert is_all_free(executor)


def test_an_interrupt_while_nothing_waits_comes_at_the_end():
    ended = []

    @tool(threads=False)
    def inline() -> None:
        interrupt()
        ended.append(True)

    executor = Executor([inline], max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(RawCall("1", "inline"))
    assert ended == [True]
    assert is_all_free(executor)


def test_an_interrupt_in_a_call_of_a_call_ends_both():
    def switch() -> bool:
        interrupt()
        return True

    inner = Executor([ping.with_(enabled=switch)], max_concurrency=1)

    @tool(threads=False)
    def outer() -> str:
        return inner.run_sync(CALL).content

    executor = Executor([outer], max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(RawCall("1", "outer"))
    assert is_all_free(executor)
    assert is_all_free(inner)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_an_interrupt_ends_the_wait_in_a_call_of_calls_at_once(depth):
    stop, ended = threading.Event(), []

    @tool(name="work")
    def hang() -> None:
        interrupt()
        ended.append(stop.wait(LONGEST_WAIT))

    executors = [Executor([hang], max_concurrency=1, timeout=None)]
    for _ in range(depth):
        wait = functools.partial(executors[-1].run_sync, RawCall("1", "work"))
        executors.append(Executor([tool(wait, name="work", description="Wait.", threads=False)]))
    with pytest.raises(KeyboardInterrupt):
        executors[-1].run_sync(RawCall("1", "work"))
    assert ended == []
    stop.set()
    assert is_all_free(executors[0])


def test_an_interrupt_cancels_an_async_function():
    ended = []

    @tool
    async def nap() -> None:
        asyncio.get_running_loop().call_later(0.01, interrupt)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    executor = Executor([nap], max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        executor.run_sync(RawCall("1", "nap"))
    assert ended == [True]
    assert is_all_free(executor)


def test_a_handler_of_the_program_stays():
    rung = []

    @tool(threads=False)
    def inline() -> str:
        interrupt()
        return "ended"

    before = signal.signal(signal.SIGINT, lambda *_: rung.append(True))
    try:
        assert Executor([inline]).run_sync(RawCall("1", "inline")).content == "ended"
    finally:
        signal.signal(signal.SIGINT, before)
    assert rung == [True]
