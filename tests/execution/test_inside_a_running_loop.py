"""Calls from the thread of an event loop that runs, as in Jupyter."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import traceback
from functools import partial
from pathlib import Path
from textwrap import dedent

import pytest
from executor_samples import SOON, add, ping
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall, tool
from operator_schema.execution import Load, current_backend
from operator_schema.execution.sync import _Beside

pytestmark = pytest.mark.needs_threads

USER = contextvars.ContextVar("USER", default="nobody")


@tool
async def who() -> str:
    await asyncio.sleep(0)
    return USER.get()


@tool
def who_sync() -> str:
    return USER.get()


def in_a_loop(function):
    """Call a plain function in the thread of an event loop."""

    async def run():
        return function()

    return asyncio.run(run())


def in_time(function):
    """Call a function in another thread, so that a deadlock fails the test instead of hanging it."""
    outcomes = []

    def work():
        try:
            outcomes.append(function())
        except BaseException as error:  # noqa: BLE001  # the test raises it
            outcomes.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONGEST_WAIT)
    assert outcomes, "it hangs"
    if isinstance(outcomes[0], BaseException):
        raise outcomes[0]
    return outcomes[0]


def no_threads_left():
    return wait_until(lambda: not [t for t in threading.enumerate() if t.name in {"run_sync", "work", "nap"}])


def test_calls_run_in_another_thread():
    executor = Executor([add, who, who_sync])
    homes = []

    @executor.registry.register
    @tool
    async def where() -> str:
        homes.append((threading.get_ident(), asyncio.get_running_loop()))
        return "here"

    def work():
        homes.append((threading.get_ident(), asyncio.get_running_loop()))
        one = executor.run_sync(RawCall("1", "where"))
        many = executor.run_sync([RawCall(str(n), "add", {"x": n}) for n in range(5)])
        return one.content, [result.content for result in many]

    assert in_a_loop(work) == ("here", ["1", "2", "3", "4", "5"])
    (thread, loop), (other_thread, other_loop) = homes
    assert thread != other_thread
    assert loop is not other_loop
    assert other_loop.is_closed()
    assert no_threads_left()


def test_the_context_variables_of_the_caller_are_seen_and_not_changed():
    @tool
    async def become(name: str) -> str:
        before = USER.get()
        USER.set(name)
        return before

    executor = Executor([who, who_sync, become])

    def work():
        USER.set("ada")
        seen = [executor.run_sync(RawCall("1", name)).content for name in ("who", "who_sync")]
        seen.append(executor.run_sync(RawCall("1", "become", {"name": "eve"})).content)
        return [*seen, USER.get()]

    assert in_a_loop(work) == ["ada"] * 4


def test_time_limits_hold():
    @tool
    async def nap() -> None:
        await asyncio.sleep(60)

    executor = Executor([nap], timeout=SOON)
    assert in_a_loop(lambda: executor.run_sync(RawCall("1", "nap"))).code == "timeout"
    assert executor.abandoned == 0


def test_exceptions_keep_their_traceback():
    class StopError(Exception):
        pass

    @tool
    async def work() -> None:
        raise StopError("now")

    executor = Executor([work], pass_through=(StopError,))
    with pytest.raises(StopError, match="now") as caught:
        in_a_loop(lambda: executor.run_sync(RawCall("1", "work")))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "work"
    assert "run_sync" in names
    with pytest.raises(TypeError, match="expected a RawCall, a list of them, or a round"):
        in_a_loop(lambda: executor.run_sync("work"))


def test_it_works_in_a_callback_where_there_is_no_task():
    executor = Executor([ping])

    async def run():
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        loop.call_soon(lambda: done.set_result(executor.run_sync(RawCall("1", "ping")).content))
        return await done

    assert asyncio.run(run()) == "pong"


def test_nested_calls_get_threads_of_their_own():
    executor = Executor([ping])

    @executor.registry.register
    @tool
    async def down(levels: int) -> str:
        name, arguments = ("down", {"levels": levels - 1}) if levels else ("ping", {})
        return executor.run_sync(RawCall("1", name, arguments)).content

    result = in_time(lambda: executor.run_sync(RawCall("1", "down", {"levels": 5})))
    assert result.content == "pong"
    assert no_threads_left()


def test_the_system_may_have_no_more_threads(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    def work():
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", start)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                executor.run_sync(RawCall("1", "ping"))
        return executor.run_sync(RawCall("2", "ping")).content

    executor = Executor([ping])
    assert in_a_loop(work) == "pong"


# --- deadlocks --------------------------------------------------------------------------------------


def nesting(limit):
    """An executor with a tool that calls another one of it, and blocks its event loop meanwhile."""
    executor = Executor([ping], max_concurrency=limit, timeout=None)

    @executor.registry.register
    @tool
    async def outer() -> str:
        return executor.run_sync(RawCall("inner", "ping")).content

    return executor


@pytest.mark.parametrize("limit", [1, 3])
def test_it_is_refused_where_all_places_are_held_by_calls_of_the_loop_that_stands_still(limit):
    executor = nesting(limit)
    gate = asyncio.Event()

    @executor.registry.register
    @tool
    async def hold() -> str:
        await gate.wait()
        return "held"

    async def run():
        holding = [asyncio.create_task(executor.run(RawCall("h", "hold"))) for _ in range(limit - 1)]
        await asyncio.sleep(SOON)
        result = await executor.run(RawCall("1", "outer"))
        gate.set()
        return result, [(await task).content for task in holding]

    result, held = in_time(lambda: asyncio.run(run()))
    assert held == ["held"] * (limit - 1)
    assert result.code == "execution_failed"
    error = result.details["exception"]
    assert type(error) is RuntimeError
    assert str(error) == (
        "run_sync would wait forever: the calls that wait for it hold all places under max_concurrency "
        f"({limit}). Raise max_concurrency, or use await run"
    )
    # Nothing is left of it: all places are free.
    calls = [RawCall("2", "ping")] * limit
    assert {r.content for r in in_time(lambda: executor.run_sync(calls))} == {"pong"}


def test_it_is_refused_where_a_chain_of_loops_that_stand_still_holds_all_places():
    executor = nesting(2)

    @executor.registry.register
    @tool
    async def outermost() -> str:
        return executor.run_sync(RawCall("middle", "outer")).content

    result = in_time(lambda: executor.run_sync(RawCall("1", "outermost")))
    assert result.content == "outer failed: RuntimeError"


def test_it_is_refused_where_the_loop_that_holds_all_places_waits_for_this_thread():
    executor = Executor([ping], max_concurrency=1, timeout=None)

    @executor.registry.register
    @tool(threads=False)
    def inline() -> str:
        return executor.run_sync(RawCall("inner", "ping")).content

    work = partial(executor.run_sync, RawCall("1", "inline"))
    assert in_time(lambda: in_a_loop(work)).content == "inline failed: RuntimeError"
    assert in_time(lambda: executor.run_sync(RawCall("2", "ping"))).content == "pong"


def test_it_is_refused_where_a_chain_of_loops_that_wait_for_this_thread_holds_all_places():
    executor = Executor([ping], max_concurrency=2, timeout=None)

    @executor.registry.register
    @tool(threads=False)
    def inline(depth: int) -> str:
        call = RawCall("inner", "inline", {"depth": depth - 1}) if depth else RawCall("inner", "ping")
        return executor.run_sync(call).content

    work = partial(executor.run_sync, RawCall("1", "inline", {"depth": 1}))
    assert in_time(lambda: in_a_loop(work)).content == "inline failed: RuntimeError"
    work = partial(executor.run_sync, RawCall("1", "inline", {"depth": 0}))
    assert in_time(lambda: in_a_loop(work)).content == "pong"


@pytest.mark.parametrize("where", ["no loop", "a loop"])
@pytest.mark.parametrize("is_alone", [True, False])
def test_it_is_refused_in_a_thread_for_which_the_call_that_holds_the_only_place_waits(is_alone, where):
    executor = Executor([ping], max_concurrency=1, timeout=None)

    @executor.registry.register
    @tool
    def plain() -> str:
        call = RawCall("inner", "ping")
        if is_alone:
            return executor.run_sync(call).content
        return executor.run_sync([call])[0].content

    def work():
        return executor.run_sync(RawCall("1", "plain"))

    result = in_time(work if where == "no loop" else lambda: in_a_loop(work))
    assert result.content == "plain failed: RuntimeError"
    assert in_time(lambda: executor.run_sync(RawCall("2", "ping"))).content == "pong"
    assert not executor._slots._stuck


@pytest.mark.parametrize("limit", [2, 3])
def test_of_calls_in_threads_that_hold_all_places_and_need_one_more_a_single_one_is_refused(limit):
    """The place that it gives back is enough for the others, one after the other."""
    executor = Executor([ping], max_concurrency=limit, timeout=None)
    together = threading.Barrier(limit)

    @executor.registry.register
    @tool
    def plain() -> str:
        together.wait(LONGEST_WAIT)
        return executor.run_sync(RawCall("inner", "ping")).content

    calls = [RawCall("1", "plain")] * limit
    results = in_time(lambda: executor.run_sync(calls))
    assert sorted(result.content for result in results) == ["plain failed: RuntimeError"] + ["pong"] * (
        limit - 1
    )


def test_a_chain_of_threads_is_refused_where_it_needs_more_places_than_there_are():
    executor = Executor([ping], max_concurrency=2, timeout=None)

    @executor.registry.register
    @tool
    def plain(depth: int) -> str:
        call = RawCall("inner", "plain", {"depth": depth - 1}) if depth else RawCall("inner", "ping")
        return executor.run_sync(call).content

    def content(depth):
        return in_time(lambda: executor.run_sync(RawCall("1", "plain", {"depth": depth}))).content

    assert (content(0), content(1)) == ("pong", "plain failed: RuntimeError")


def test_a_thread_may_use_another_executor_and_one_that_is_not_waited_for_may_wait():
    other = Executor([ping], max_concurrency=1, timeout=None)
    executor = Executor([], max_concurrency=1, timeout=None)
    found = []

    def later():
        found.append(executor.run_sync(RawCall("later", "plain", {"begins": False})).content)

    @executor.registry.register
    @tool
    def plain(begins: bool) -> str:
        if begins:
            context = contextvars.copy_context()
            thread = threading.Thread(target=context.run, args=[later])
            thread.start()
            found.append(thread)
        return other.run_sync(RawCall("inner", "ping")).content

    result = in_time(lambda: executor.run_sync(RawCall("1", "plain", {"begins": True})))
    found[0].join(LONGEST_WAIT)
    assert (result.content, found[1:]) == ("pong", ["pong"])


def test_a_thread_whose_call_is_over_holds_no_place():
    executor = Executor([ping], max_concurrency=1, timeout=0.1)
    gate, found = threading.Event(), []

    @executor.registry.register
    @tool
    def slow() -> str:
        gate.wait(LONGEST_WAIT)
        found.append(executor.run_sync(RawCall("inner", "ping")).content)
        gate.clear()
        return ""

    assert in_time(lambda: executor.run_sync(RawCall("1", "slow"))).code == "timeout"
    gate.set()
    assert wait_until(lambda: not gate.is_set())
    assert found == ["pong"]


def test_a_free_place_is_enough():
    executor = nesting(2)
    assert in_time(lambda: executor.run_sync(RawCall("1", "outer"))).content == "pong"
    assert in_time(lambda: in_a_loop(lambda: executor.run_sync(RawCall("1", "outer")))).content == "pong"


def test_places_that_calls_of_another_loop_hold_become_free():
    executor = Executor([ping], max_concurrency=1, timeout=None)
    holds, gate = threading.Event(), threading.Event()

    @executor.registry.register
    @tool
    def hold() -> str:
        holds.set()
        gate.wait(LONGEST_WAIT)
        return "held"

    other = threading.Thread(target=executor.run_sync, args=[RawCall("1", "hold")])
    other.start()
    assert holds.wait(LONGEST_WAIT)
    threading.Timer(0.1, gate.set).start()
    assert in_time(lambda: in_a_loop(lambda: executor.run_sync(RawCall("2", "ping")))).content == "pong"
    other.join(LONGEST_WAIT)


def test_a_place_is_not_given_to_a_loop_that_stands_still():
    """Its own calls wait for places as well, and came first; but they can't run before it goes on."""
    executor = Executor([ping], max_concurrency=1, timeout=None)
    holds, gate = threading.Event(), threading.Event()

    @executor.registry.register
    @tool
    def hold() -> str:
        holds.set()
        gate.wait(LONGEST_WAIT)
        return "held"

    other = threading.Thread(target=executor.run_sync, args=[RawCall("1", "hold")])
    other.start()
    assert holds.wait(LONGEST_WAIT)

    async def run():
        first = asyncio.create_task(executor.run(RawCall("first", "ping")))
        await asyncio.sleep(SOON)
        threading.Timer(0.1, gate.set).start()
        second = executor.run_sync(RawCall("second", "ping"))
        return second.content, (await first).content

    assert in_time(lambda: asyncio.run(run())) == ("pong", "pong")
    other.join(LONGEST_WAIT)
    assert executor.load == Load(running=0, waiting=0, threads=0)


def test_a_thread_is_not_given_to_a_loop_that_stands_still():
    executor = Executor([ping], max_threads=1, timeout=None)
    holds, gate = threading.Event(), threading.Event()

    @executor.registry.register
    @tool
    def hold() -> str:
        holds.set()
        gate.wait(LONGEST_WAIT)
        return "held"

    async def run():
        held = asyncio.create_task(executor.run(RawCall("1", "hold")))
        await asyncio.to_thread(holds.wait, 10)
        first = asyncio.create_task(executor.run(RawCall("first", "ping")))
        await asyncio.sleep(SOON)
        threading.Timer(0.1, gate.set).start()
        second = executor.run_sync(RawCall("second", "ping"))
        return second.content, (await first).content, (await held).content

    assert in_time(lambda: asyncio.run(run())) == ("pong", "pong", "held")


# --- interrupts -------------------------------------------------------------------------------------


def interrupted(source):
    """Run a program that shows the pid when it is ready, interrupt it, and return what it prints."""
    start = "import asyncio, signal, sys, threading, time\nfrom operator_schema import *\n"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-c", start + dedent(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST_WAIT)
    return out, err


NAP = """
@tool
async def nap() -> None:
    print("ready", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.01)
        print("tidied up", flush=True)

executor = Executor([nap])
call = RawCall("1", "nap")
"""

HOST = """
def work():
    try:
        executor.run_sync(call)
    except BaseException as error:
        print(type(error).__name__, executor.abandoned, threading.active_count(), flush=True)
        raise
"""


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_an_interrupt_cancels_the_calls_in_a_loop_without_a_handler():
    out, err = interrupted(
        NAP + HOST + "loop = asyncio.new_event_loop()\n" + "loop.call_soon(work)\nloop.run_forever()\n"
    )
    assert out == "tidied up\nKeyboardInterrupt 0 1\n"
    assert err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_an_interrupt_under_asyncio_run_cancels_the_task_that_waits():
    """`asyncio.run` cancels its task at the first SIGINT, which doesn't end the wait by itself."""
    out, err = interrupted(NAP + HOST + "async def main():\n    work()\nasyncio.run(main())\n")
    assert out == "tidied up\nCancelledError 0 1\n"
    assert err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_an_interrupt_reaches_a_function_that_runs_in_the_thread_that_waits():
    out, err = interrupted(
        """
        @tool(threads=False)
        def busy() -> None:
            print("ready", flush=True)
            time.sleep(60)

        @tool
        async def nap() -> None:
            await asyncio.sleep(60)

        executor = Executor([busy, nap])

        def work():
            executor.run_sync([RawCall("1", "nap"), RawCall("2", "busy")])

        loop = asyncio.new_event_loop()
        loop.call_soon(work)
        loop.run_forever()
        """
    )
    assert out == ""
    assert "KeyboardInterrupt" in err


def test_what_a_signal_handler_raises_cancels_the_calls():
    class AlarmError(Exception):
        pass

    def ring(*_):
        raise AlarmError

    ended = []

    @tool
    async def nap() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    executor = Executor([nap])
    before = signal.signal(signal.SIGALRM, ring)
    try:

        async def run():
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            executor.run_sync(RawCall("1", "nap"))

        with pytest.raises(AlarmError):
            asyncio.run(run())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended == [True]
    assert no_threads_left()


def test_a_signal_handler_that_cancels_the_task_cancels_the_calls():
    """`asyncio.run` has such a handler for SIGINT."""
    ended = []

    @tool
    async def nap() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    executor = Executor([nap])
    before = signal.getsignal(signal.SIGALRM)
    try:

        async def run():
            task = asyncio.current_task()
            signal.signal(signal.SIGALRM, lambda *_: task.cancel())
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            executor.run_sync(RawCall("1", "nap"))

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended == [True]
    assert no_threads_left()


def test_an_interrupt_before_the_calls_began():
    async def run():
        await asyncio.sleep(60)

    beside = _Beside(run, current_backend())
    beside.cancel()
    beside.work()
    assert type(beside.error) is asyncio.CancelledError


def after_the_start_of_a_thread(monkeypatch, function):
    """Call a function in the thread that starts another one, as a signal handler may at this very time."""
    start = threading.Thread.start

    def start_and_call(thread):
        start(thread)
        function()

    monkeypatch.setattr(threading.Thread, "start", start_and_call)


@tool
async def doze() -> None:
    await asyncio.sleep(60)


def test_the_task_may_be_cancelled_while_the_other_thread_starts(monkeypatch):
    async def run():
        after_the_start_of_a_thread(monkeypatch, asyncio.current_task().cancel)
        Executor([doze]).run_sync(RawCall("1", "doze"))

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert no_threads_left()


def test_an_interrupt_may_come_while_the_other_thread_starts(monkeypatch):
    executor = Executor([doze])

    async def run():
        after_the_start_of_a_thread(monkeypatch, partial(signal.raise_signal, signal.SIGINT))
        executor.run_sync(RawCall("1", "doze"))

    loop = asyncio.new_event_loop()
    task = loop.create_task(run())
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(task)
    finally:
        loop.close()
    assert type(task.exception()) is KeyboardInterrupt
    assert no_threads_left()
    assert executor.abandoned == 0


def test_a_second_interrupt_does_not_wait():
    class AlarmError(Exception):
        pass

    def ring(*_):
        rung.append(1)
        raise AlarmError

    rung, stop = [], threading.Event()

    @tool
    async def stubborn() -> None:
        while not stop.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    executor = Executor([stubborn], grace=60)
    before = signal.signal(signal.SIGALRM, ring)
    try:

        async def run():
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
            try:
                executor.run_sync(RawCall("1", "stubborn"))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

        with pytest.raises(AlarmError):
            asyncio.run(run())
    finally:
        signal.signal(signal.SIGALRM, before)
        stop.set()
    assert len(rung) < 100  # it doesn't wait for the 60 s
    assert no_threads_left()
