"""One executor, four event loops at once (one of trio), thousands of calls: nothing is lost or left."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter

import pytest
from patience import LONGEST_WAIT, cpu_seconds, slowness, wait_until

from operator_schema import CallError, Executor, RawCall, tool
from operator_schema.execution import Load

anyio = pytest.importorskip("anyio", reason="WebAssembly has no threads")
trio = pytest.importorskip("trio", reason="WebAssembly has no threads")

pytestmark = pytest.mark.needs_threads

CALLS = 2_000
LIMIT = 100
TURN = 100
MAX_SECONDS = 16

busy = Counter()
lock = threading.Lock()


def count(change):
    with lock:
        busy["now"] += change
        busy["most"] = max(busy["most"], busy["now"])


@tool(timeout=0.5)
async def swim(number: int, fate: str) -> str:
    count(1)
    try:
        await anyio.sleep(0.0005)
        if fate == "fail":
            raise ValueError(f"no water {number}")
        if fate == "sleep":
            await anyio.sleep(60)
        return f"swam {number}"
    finally:
        count(-1)


@tool(timeout=0.5)
def walk(number: int, fate: str) -> str:
    count(1)
    try:
        if fate == "fail":
            raise CallError(f"not today {number}")
        if fate == "sleep":
            time.sleep(0.7)
        return f"walked {number}"
    finally:
        count(-1)


CODES = {"well": None, "sleep": "timeout", "fail": "execution_failed"}


def turns(dice):
    """Yield the calls of each turn, with how they are made."""
    for first in range(0, CALLS, TURN):
        calls = []
        for number in range(first, first + TURN):
            fate = dice.choices(["well", "fail", "sleep"], [90, 8, 2])[0]
            name = dice.choice(["swim", "walk"])
            calls.append(RawCall(str(number), name, {"number": number, "fate": fate}))
        how = dice.choice(["all", "stream", "leave", "cancel", "each"])
        yield how, calls, dice.random() / 50


async def play(executor, how, calls, seconds, noted):
    """Make the calls of one turn, under any event loop."""
    if how == "each":

        async def one(call):
            with anyio.move_on_after(seconds * 10) as scope:
                noted(call.id, await executor.run(call))
            if scope.cancelled_caught:
                noted(call.id, "cancelled")

        async with anyio.create_task_group() as group:
            for call in calls:
                group.start_soon(one, call)
        return
    seen = set()
    with anyio.move_on_after(seconds if how == "cancel" else 60):
        if how in {"stream", "leave"}:
            async with executor.stream(calls) as results:
                async for result in results:
                    seen.add(result.call_id)
                    noted(result.call_id, result)
                    if how == "leave" and len(seen) == TURN // 2:
                        break
        else:
            for result in await executor.run(calls):
                seen.add(result.call_id)
                noted(result.call_id, result)
    for call in calls:
        if call.id not in seen:
            assert how in {"leave", "cancel"}
            noted(call.id, "cancelled")


def left_tasks(backend):
    if backend == "asyncio":
        return {task.get_name() for task in asyncio.all_tasks() - {asyncio.current_task()}}
    root = trio.lowlevel.current_root_task()
    names = {task.name for nursery in root.child_nurseries for task in nursery.child_tasks}
    return names & {"swim", "walk"}


def host(backend, executor, waiting, noted, left):
    async def main():
        while True:
            try:
                how, calls, seconds = waiting.pop()
            except IndexError:
                break
            await play(executor, how, calls, seconds, noted)
        left.append(left_tasks(backend))

    anyio.run(main, backend=backend)


def threads():
    return [thread for thread in threading.enumerate() if thread.name in {"swim", "walk"}]


@pytest.mark.slow("runs thousands of calls")
def test_thousands_of_calls_from_four_event_loops(record_property):
    busy.clear()
    dice = random.Random(8)  # noqa: S311  # the same calls every time
    planned = list(turns(dice))
    expected = {call.id: call for _, calls, _ in planned for call in calls}
    executor = Executor([swim, walk], max_concurrency=LIMIT, grace=5.0)
    waiting, outcomes, left = list(planned), [], []
    backends = ["asyncio", "trio", "asyncio", "asyncio"]
    hosts = [
        threading.Thread(
            target=host,
            args=(backend, executor, waiting, lambda *noted: outcomes.append(noted), left),
            name=f"host {number}",
        )
        for number, backend in enumerate(backends)
    ]

    def run():
        for thread in hosts:
            thread.start()
        for thread in hosts:
            thread.join(LONGEST_WAIT)

    seconds = cpu_seconds(run)
    record_property("seconds", round(seconds, 2))

    # One outcome for each call, and the right one.
    assert Counter(call_id for call_id, _ in outcomes) == dict.fromkeys(expected, 1)
    late = 0
    for call_id, result in outcomes:
        call = expected[call_id]
        fate = call.arguments["fate"]
        if result == "cancelled":
            continue
        assert (result.call_id, result.name) == (call.id, call.name)
        if result.code != CODES[fate] and "timeout" in {result.code, CODES[fate]}:
            late += 1  # a busy machine stood still
            continue
        assert result.code == CODES[fate]
        if result.code is None:
            assert result.content == f"{'swam' if call.name == 'swim' else 'walked'} {call_id}"
    assert late < CALLS / 100
    kinds = Counter("cancelled" if result == "cancelled" else result.code for _, result in outcomes)
    assert set(kinds) == {None, "cancelled", "timeout", "execution_failed"}
    assert min(kinds.values()) > CALLS / 200

    # Nothing is left, except the threads that `abandoned` counts, and these end.
    assert left == [set()] * 4
    assert wait_until(lambda: len(threads()) <= executor.abandoned)
    assert busy["most"] <= LIMIT + 64
    assert wait_until(lambda: not threads())
    assert executor.abandoned == 0
    assert busy["now"] == 0
    assert executor.load == Load(running=0, waiting=0, threads=0)
    assert seconds < MAX_SECONDS * slowness()
