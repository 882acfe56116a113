"""The executor under trio, and in hosts of anyio."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
import threading
import time
from typing import Annotated

import pytest
from executor_samples import SOON
from patience import LONGEST_WAIT, wait_until

from operator_schema import CallError, Executor, RawCall, skip, tool
from operator_schema.execution.async_libraries import current_backend, is_cancellation
from operator_schema.types import Progress

trio = pytest.importorskip("trio", reason="WebAssembly has no event loop for trio")
anyio = pytest.importorskip("anyio", reason="WebAssembly has no event loop for trio")

pytestmark = pytest.mark.needs_threads

USER = contextvars.ContextVar("USER", default="nobody")


def run_by_anyio(function):
    return anyio.run(function, backend="trio")


by = pytest.mark.parametrize("run", [trio.run, run_by_anyio], ids=["trio", "anyio"])
"""How a host runs trio."""

hosts = pytest.mark.parametrize("backend", ["trio", "asyncio"])
"""What anyio runs on."""


@tool
async def nap(seconds: float) -> str:
    await trio.sleep(seconds)
    return USER.get()


@tool
def snooze(seconds: float) -> str:
    time.sleep(seconds)
    return USER.get()


def system_tasks():
    """Return the system tasks of this run besides those of trio itself."""
    root = trio.lowlevel.current_root_task()
    tasks = [task for nursery in root.child_nurseries for task in nursery.child_tasks]
    return [task.name for task in tasks if task.name in {"nap", "snooze", "stubborn", "work"}]


@by
def test_async_and_sync_tools_run_with_the_context_variables_of_the_caller(run):
    executor = Executor([nap, snooze])

    async def main():
        USER.set("ada")
        calls = [RawCall("1", name, {"seconds": 0.01}) for name in ("nap", "snooze")]
        single = [(await executor.run(call)).content for call in calls]
        return single + [result.content for result in await executor.run(calls)]

    assert run(main) == ["ada"] * 4


@by
def test_failures_are_results(run, caplog):
    @tool
    async def work(how: str) -> None:
        await trio.sleep(0)
        if how == "refuse":
            raise CallError("not today")
        if how == "group":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep, 60)
                raise CallError("from a nursery")
        raise ValueError(how)

    executor = Executor([work])

    async def main():
        calls = [RawCall("1", "work", {"how": how}) for how in ("refuse", "group", "x")]
        calls += [RawCall("2", "work", {"how": 1}), RawCall("3", "wrok"), RawCall("4", "work")]
        return await executor.run(calls)

    results = run(main)
    assert [result.content for result in results[:3]] == [
        "not today",
        "from a nursery",
        "work failed: ValueError",
    ]
    assert [result.code for result in results[3:]] == ["invalid_params", "tool_not_found", "invalid_params"]


@by
def test_time_limits(run):
    ended = []

    @tool
    async def work() -> None:
        try:
            await trio.sleep(60)
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.02)
            ended.append("tidied up")

    go_on = threading.Event()

    @tool
    def held() -> None:
        go_on.wait()

    executor = Executor([work, held], timeout=SOON)

    async def main():
        results = await executor.run([RawCall("1", "work"), RawCall("2", "held")])
        return [result.code for result in results], list(ended), executor.abandoned, system_tasks()

    try:
        assert run(main) == (["timeout", "timeout"], ["tidied up"], 1, [])
    finally:
        go_on.set()
    assert wait_until(lambda: executor.abandoned == 0)


@by
def test_what_ignores_its_cancellation_is_left_to_itself(run, caplog):
    async def main():
        stop = trio.Event()

        @tool
        async def stubborn() -> str:
            with trio.CancelScope(shield=True):
                await stop.wait()
            return "late"

        executor = Executor([stubborn], timeout=SOON, grace=SOON)
        result = await executor.run(RawCall("1", "stubborn"))
        before = executor.abandoned
        stop.set()
        await trio.sleep(SOON)
        return result.code, before, executor.abandoned, system_tasks()

    assert run(main) == ("timeout", 1, 0, [])
    assert [record.getMessage() for record in caplog.records] == [
        "stubborn: was cancelled, and still runs",
        "stubborn (call 1): no result within 0.05 s",
    ]


@by
def test_cancel_scopes_reach_the_tools(run):
    begun, ended, scopes = [], [], []

    @tool
    async def work(last: int) -> None:
        begun.append(last)
        if len(begun) == last:
            scopes[-1].cancel()
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.02)
            ended.append(True)
            raise

    executor = Executor([work], max_concurrency=3)

    async def main():
        caught = []
        for calls, last in ((1, 1), (5, 4)):
            with trio.CancelScope() as scope:
                scopes.append(scope)
                await executor.run([RawCall(str(number), "work", {"last": last}) for number in range(calls)])
            caught.append((scope.cancelled_caught, len(ended)))
        return caught, executor.abandoned, system_tasks()

    assert run(main) == ([(True, 1), (True, 4)], 0, [])
    assert executor.load.running == 0


def test_what_is_cancelled_before_it_began_does_not_begin():
    ran = []

    async def work():
        ran.append(True)

    async def main():
        job = current_backend().start(work, "work")
        job.cancel()
        await job.wait(None)
        return job.is_done, is_cancellation(job.outcome)

    assert trio.run(main) == (True, True)
    assert ran == []


@by
def test_a_cancelled_call_leaves_its_thread_to_itself(run):
    stop = threading.Event()

    @tool
    def work() -> None:
        stop.wait(LONGEST_WAIT)

    executor = Executor([work])

    async def main():
        with trio.move_on_after(SOON):
            await executor.run(RawCall("1", "work"))

    run(main)
    assert executor.abandoned == 1
    stop.set()
    assert wait_until(lambda: executor.abandoned == 0)


def test_a_thread_may_end_after_its_run():
    """The event loop is gone when the function ends; what it returned to be awaited is closed."""
    begun, stop = threading.Event(), threading.Event()
    made = []

    async def inner():
        await trio.sleep(0)

    @tool
    def late() -> object:
        begun.set()
        stop.wait(LONGEST_WAIT)
        made.append(inner())
        return made[0]

    executor = Executor([late], timeout=SOON)
    while not begun.is_set():  # on a busy machine its time may be up before it begins
        assert trio.run(executor.run, RawCall("1", "late")).code == "timeout"
    stop.set()
    assert wait_until(lambda: made and made[0].cr_frame is None)


def test_calls_that_still_run_when_the_run_ends_end_with_it():
    ended = []

    @tool
    async def work() -> None:
        try:
            await trio.sleep(60)
        finally:
            ended.append(True)

    executor = Executor([work])

    async def main():
        trio.lowlevel.spawn_system_task(executor.run, RawCall("1", "work"))
        trio.lowlevel.spawn_system_task(executor.run, [RawCall("1", "work")] * 2)
        await trio.sleep(SOON)

    trio.run(main)
    assert ended == [True] * 3
    assert executor.abandoned == 0


@by
def test_the_limit_holds_and_waiting_does_not_count(run):
    running, most = [], []

    @tool(timeout=1.0)
    async def work() -> None:
        running.append(1)
        most.append(len(running))
        await trio.sleep(0.02)
        running.pop()

    executor = Executor([work], max_concurrency=2)

    async def main():
        return await executor.run([RawCall("1", "work")] * 120)  # 1.2 s in all

    assert {result.content for result in run(main)} == {"null"}
    assert max(most) == 2


def test_limits_are_shared_by_asyncio_and_trio():
    running, most, lock = [0], [], threading.Lock()

    def enter(change):
        with lock:
            running[0] += change
            most.append(running[0])

    @tool
    async def anap() -> None:
        enter(1)
        await asyncio.sleep(0.002)
        enter(-1)

    @tool
    async def tnap() -> None:
        enter(1)
        await trio.sleep(0.002)
        enter(-1)

    @tool
    def snap() -> None:
        enter(1)
        time.sleep(0.002)
        enter(-1)

    executor = Executor([anap, tnap, snap], max_concurrency=2)
    results = []

    def host(run, name):
        async def main():
            calls = [RawCall("1", kind) for kind in (name, "snap")] * 20
            results.extend(await executor.run(calls))

        run(main)

    threads = [
        threading.Thread(target=host, args=args)
        for args in [(trio.run, "tnap"), (lambda main: asyncio.run(main()), "anap")] * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_WAIT)
    assert [result.content for result in results] == ["null"] * 160
    assert max(most) == 2


@by
def test_what_a_function_returns_to_be_awaited(run):
    @tool
    def work(seconds: float) -> object:
        async def later():
            await trio.sleep(seconds)
            return seconds

        return later()

    executor = Executor([work], timeout=0.5)

    async def main():
        calls = [RawCall("1", "work", {"seconds": seconds}) for seconds in (0.0, 60.0)]
        return [result.code or result.content for result in await executor.run(calls)]

    assert run(main) == ["0.0", "timeout"]


@by
def test_long_arguments(run):
    @tool
    async def length(text: str) -> int:
        await trio.sleep(0)
        return len(text)

    async def main():
        return (await Executor([length]).run(RawCall("1", "length", {"text": "x" * 10_000}))).content

    assert run(main) == "10000"


@by
def test_inline_functions(run):
    @tool(threads=False)
    def where() -> int:
        return threading.get_ident()

    executor = Executor([where])

    async def main():
        beside = executor.run_sync(RawCall("1", "where")).content
        return (await executor.run(RawCall("1", "where"))).content, beside

    assert run(main) == (str(threading.get_ident()),) * 2


@by
def test_progress_comes_in_order_before_the_result(run):
    @tool
    async def work(progress: Annotated[Progress, skip]) -> None:
        for number in range(3):
            progress(number)
            await trio.sleep(0)

    @tool
    def tell(progress: Annotated[Progress, skip]) -> None:
        for number in range(3):
            progress(number)

    executor = Executor([work, tell])
    got = []

    async def main():
        def on_progress(call, update):
            got.append((call.name, update.done, threading.get_ident()))

        for name in ("work", "tell"):
            result = await executor.run(RawCall("1", name), on_progress=on_progress)
            got.append(result.content)

    run(main)
    here = threading.get_ident()
    assert got == [
        *[("work", n, here) for n in range(3)],
        "null",
        *[("tell", n, here) for n in range(3)],
        "null",
    ]


@by
def test_execute_sync_runs_trio_in_another_thread(run):
    executor = Executor([nap, snooze], timeout=1.0)

    async def main():
        USER.set("ada")
        calls = [RawCall("1", name, {"seconds": 0.0}) for name in ("nap", "snooze")]
        results = executor.run_sync(calls)
        return [result.content for result in results], executor.run_sync(
            RawCall("2", "nap", {"seconds": 60})
        ).code

    assert run(main) == (["ada", "ada"], "timeout")
    assert wait_until(lambda: not [t for t in threading.enumerate() if t.name == "run_sync"])


def test_what_a_signal_handler_raises_ends_a_blocked_run():
    class RingError(Exception):
        pass

    def ring(*_):
        raise RingError

    ended = []

    @tool
    async def work() -> None:
        try:
            await trio.sleep(60)
        finally:
            ended.append(True)

    executor = Executor([work])

    async def main():
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        executor.run_sync(RawCall("1", "work"))

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(RingError):
            trio.run(main)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended == [True]


def test_an_interrupt_reaches_a_tool_that_never_comes_back():
    @tool
    async def busy() -> None:
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        while True:
            pass

    async def main():
        await Executor([busy]).run(RawCall("1", "busy"))

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)


def test_an_interrupt_while_a_tool_waits_cancels_it():
    ended = []

    @tool
    async def work() -> None:
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        try:
            await trio.sleep(60)
        finally:
            ended.append(True)

    async def main():
        await Executor([work]).run([RawCall("1", "work")])

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert ended == [True]


def test_the_cancellation_of_another_scope_is_a_result():
    """A `Cancelled` that is kept and raised again belongs to no scope of the call."""
    kept = []

    @tool
    async def work() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.sleep(0)
            except trio.Cancelled as error:
                kept.append(error)
        raise kept[0]

    async def main():
        return (await Executor([work]).run(RawCall("1", "work"))).content

    assert trio.run(main) == "work was cancelled"


def test_the_guest_mode_on_asyncio():
    """Both event loops run in one thread; each call runs under the one that it was awaited in."""

    @tool
    async def anap() -> str:
        await asyncio.sleep(0)
        return "asyncio"

    @tool
    async def tnap() -> str:
        await trio.sleep(0)
        return "trio"

    executor = Executor([anap, tnap])

    async def guest():
        beside = executor.run_sync(RawCall("1", "tnap")).content
        return (await executor.run(RawCall("1", "tnap"))).content, beside

    async def main():
        done = asyncio.get_running_loop().create_future()
        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=asyncio.get_running_loop().call_soon_threadsafe,
            done_callback=done.set_result,
        )
        own = (await executor.run(RawCall("1", "anap"))).content
        return own, (await done).unwrap()

    assert asyncio.run(main()) == ("asyncio", ("trio", "trio"))


@hosts
def test_tools_of_anyio_work_under_both_and_get_their_grace(backend, caplog):
    """A scope of anyio on asyncio cancels a task again and again, also while it waits for the tool."""
    started, ended, scopes = [], [], {}

    @tool
    async def work() -> None:
        started.append(True)
        if scope := scopes.get(len(started)):  # no earlier: a call that hasn't begun has nothing to end
            scope.cancel()
        try:
            await anyio.sleep(60)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.05)
            ended.append(True)

    executor = Executor([work])

    async def main():
        with anyio.CancelScope() as scopes[1]:
            await executor.run(RawCall("1", "work"))
        single = scopes[1].cancelled_caught, len(ended)
        with anyio.CancelScope() as scopes[4]:
            await executor.run([RawCall("1", "work")] * 3)
        return single, scopes[4].cancelled_caught, len(ended), executor.abandoned

    assert anyio.run(main, backend=backend) == ((True, 1), True, 4, 0)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@hosts
def test_a_function_in_a_thread_may_run_anyio_itself(backend):
    @tool
    def nested(backend: str) -> str:
        async def work():
            await anyio.sleep(0)
            return backend

        return anyio.run(work, backend=backend)

    executor = Executor([nested])

    async def main():
        calls = [RawCall("1", "nested", {"backend": name}) for name in ("asyncio", "trio")]
        return [result.content for result in await executor.run(calls)]

    assert anyio.run(main, backend=backend) == ["asyncio", "trio"]
