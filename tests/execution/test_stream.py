"""Results as they come."""

from __future__ import annotations

import asyncio
import gc
import threading
from contextlib import suppress

import pytest
from executor_samples import add, ping
from garbage import pass_over_what_is_there
from patience import wait_until

from operator_schema import Executor, RawCall, tool

trio = pytest.importorskip("trio", reason="WebAssembly has no event loop for trio")

pytestmark = pytest.mark.needs_threads


class Hosts:
    """What a test needs of an event loop, to run under both."""

    def __init__(self, run, sleep, cancelled, left):
        self.run = run
        self.sleep = sleep
        self.cancelled = cancelled
        self.left = left


def run_trio(function):
    return trio.run(function)


def other_tasks():
    return asyncio.all_tasks() - {asyncio.current_task()}


def run_asyncio(function):
    async def main():
        result = await function()
        assert not other_tasks()
        return result

    return asyncio.run(main())


HOSTS = {
    "asyncio": Hosts(run_asyncio, asyncio.sleep, asyncio.CancelledError, other_tasks),
    "trio": Hosts(run_trio, trio.sleep, trio.Cancelled, set),
}


@pytest.fixture(params=HOSTS)
def host(request):
    return HOSTS[request.param]


def napping(host, ended):
    @tool
    async def nap(seconds: float) -> float:
        try:
            await host.sleep(seconds)
        except host.cancelled:
            ended.append(seconds)
            raise
        return seconds

    return nap


def naps(*seconds):
    return [RawCall(str(number), "nap", {"seconds": value}) for number, value in enumerate(seconds)]


def test_results_come_in_the_order_in_which_calls_end(host):
    executor = Executor([napping(host, []), ping])

    async def run():
        calls = [*naps(0.3, 0.15, 0.0), RawCall("x", "no such tool")]
        return [(result.call_id, result.code) async for result in executor.stream(calls)]

    got = host.run(run)
    assert sorted(got[:2]) == [("2", None), ("x", "tool_not_found")]
    assert got[2:] == [("1", None), ("0", None)]


def test_all_calls_run_side_by_side_under_the_limit(host):
    running, most = [], []

    @tool
    async def work() -> None:
        running.append(1)
        most.append(len(running))
        await host.sleep(0.005)
        running.pop()

    executor = Executor([work], max_concurrency=3)

    async def run():
        return [result.content async for result in executor.stream([RawCall("1", "work")] * 12)]

    assert host.run(run) == ["null"] * 12
    assert max(most) == 3


def test_no_calls_give_no_results(host):
    async def run():
        return [result async for result in Executor([ping]).stream([])]

    assert host.run(run) == []


def test_nothing_runs_before_a_result_is_asked_for(host):
    ran = []

    @tool
    def work() -> None:
        ran.append(True)

    async def run():
        stream = Executor([work]).stream([RawCall("1", "work")])
        await host.sleep(0.02)
        await stream.aclose()
        return [result async for result in stream]

    assert host.run(run) == []
    assert ran == []


def test_leaving_the_block_cancels_the_rest(host):
    ended = []
    executor = Executor([napping(host, ended)])

    async def run():
        async with executor.stream(naps(0, 60, 61)) as results:
            async for result in results:
                return result.content
            raise AssertionError

    assert host.run(run) == "0.0"
    assert sorted(ended) == [60, 61]
    assert executor.abandoned == 0


@pytest.mark.parametrize("how", ["break", "raise"])
def test_leaving_the_loop_without_a_block_cancels_the_rest_a_moment_later(host, how):
    pass_over_what_is_there()
    ended = []
    executor = Executor([napping(host, ended)])

    async def run():
        with suppress(ZeroDivisionError):
            async for _ in executor.stream(naps(0, 60, 61)):
                if how == "break":
                    break
                1 / 0  # noqa: B018  # it raises an exception
        gc.collect()  # PyPy, and the traceback
        for _ in range(3000):  # on a busy machine it comes late
            if len(ended) == 2 and not host.left():
                break
            await host.sleep(0.01)
        return sorted(ended)

    assert host.run(run) == [60, 61]
    assert executor.abandoned == 0


def test_aclose_ends_it_and_can_be_repeated(host):
    ended = []
    executor = Executor([napping(host, ended)])

    async def run():
        stream = executor.stream(naps(0, 60))
        first = await anext(stream)
        await stream.aclose()
        await stream.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        return first.content

    assert host.run(run) == "0.0"
    assert ended == [60]


def test_closing_it_ends_another_tasks_wait():
    ended = []
    executor = Executor([napping(HOSTS["asyncio"], ended)])

    async def run():
        stream = executor.stream(naps(60))
        waiting = asyncio.create_task(anext(stream, "over"))
        await asyncio.sleep(0.02)
        await stream.aclose()
        return await waiting

    assert run_asyncio(run) == "over"
    assert ended == [60]


def test_cancelling_who_waits_cancels_the_calls_asyncio():
    ended = []
    executor = Executor([napping(HOSTS["asyncio"], ended)])

    async def collect(stream):
        return [result async for result in stream]

    async def run():
        stream = executor.stream(naps(60, 61))
        task = asyncio.create_task(collect(stream))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(ended) == [60, 61]
        return await collect(stream)

    assert run_asyncio(run) == []
    assert executor.abandoned == 0


def test_cancelling_who_waits_cancels_the_calls_trio():
    ended = []
    executor = Executor([napping(HOSTS["trio"], ended)])

    async def run():
        with trio.move_on_after(0.05) as scope:
            async for _ in executor.stream(naps(60, 61)):
                raise AssertionError
        return scope.cancelled_caught, sorted(ended)

    assert trio.run(run) == (True, [60, 61])
    assert executor.abandoned == 0


def test_what_a_tool_raises_for_the_program_ends_the_stream(host):
    ended = []

    class AskError(Exception):
        pass

    @tool
    async def ask() -> None:
        raise AskError

    executor = Executor([napping(host, ended), ask], pass_through=(AskError,))

    async def run():
        stream = executor.stream([*naps(60), RawCall("1", "ask")])
        with pytest.raises(AskError):
            await anext(stream)
        return [result async for result in stream]

    assert host.run(run) == []
    assert ended == [60]


def test_only_one_waits_for_the_next_result(host):
    executor = Executor([napping(host, [])])

    async def run():
        stream = executor.stream(naps(0.2, 0.2))
        outcomes = []

        async def take():
            try:
                outcomes.append((await anext(stream)).content)
            except RuntimeError as error:
                outcomes.append(str(error))

        if host is HOSTS["trio"]:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(take)
                nursery.start_soon(take)
        else:
            await asyncio.gather(take(), take())
        await stream.aclose()
        return sorted(outcomes)

    assert host.run(run) == [
        "0.2",
        "something else waits for these results, or they belong to another event loop",
    ]


def test_calls_are_checked_before_any_runs():
    with pytest.raises(TypeError, match="a call must be a RawCall"):
        Executor([add]).stream([RawCall("1", "add"), "add"])
    with pytest.raises(TypeError, match="one RawCall alone"):
        Executor([add]).stream(RawCall("1", "add"))


def test_a_stream_that_is_dropped_when_its_loop_is_closed_says_nothing(recwarn):
    pass_over_what_is_there()
    executor = Executor([napping(HOSTS["asyncio"], []), ping])

    async def run():
        stream = executor.stream([*naps(60), RawCall("1", "ping")])
        await anext(stream)
        return stream

    stream = asyncio.run(run())
    del stream
    gc.collect()
    assert not recwarn.list
    assert wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "ping"])


def test_a_coroutine_that_is_closed_cancels_the_calls():
    """A program that drops a coroutine in the middle (`close`) can't await anything any more."""
    ended = []
    executor = Executor([napping(HOSTS["asyncio"], ended)])

    async def run():
        for start in (
            lambda: anext(executor.stream(naps(60))),
            lambda: executor.run(naps(61)),
            lambda: executor.run(naps(62)[0]),
        ):
            waiting = start()
            waiting = waiting if asyncio.iscoroutine(waiting) else waiting.__await__()
            waiting.send(None)
            await asyncio.sleep(0.01)
            waiting.close()
            await asyncio.sleep(0.01)
        return ended

    assert asyncio.run(run()) == [60, 61, 62]
