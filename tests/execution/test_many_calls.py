"""Many calls at once."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from executor_samples import add, both, raising
from patience import LONGEST_WAIT

from operator_schema import (
    Executor,
    RawCall,
    tool,
)

pytestmark = pytest.mark.needs_threads


def test_results_are_in_the_order_of_the_calls_and_ids_may_repeat():
    @tool
    async def wait(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    calls = [RawCall("same", "wait", {"seconds": s}) for s in (0.05, 0.0, 0.03, 0.01)]
    results = asyncio.run(Executor([wait]).run(iter(calls)))
    assert [result.content for result in results] == ["0.05", "0.0", "0.03", "0.01"]
    assert {result.call_id for result in results} == {"same"}
    assert asyncio.run(Executor([wait]).run([])) == []


def test_one_failing_call_takes_no_other_down():
    calls = [
        RawCall("1", "work", {}),
        RawCall("2", "add", {"x": 1}),
        RawCall("3", "no", {}),
        RawCall("4", "add"),
    ]
    results = asyncio.run(Executor([raising(ValueError("no")), add]).run(calls))
    assert [result.code for result in results] == [
        "execution_failed",
        None,
        "tool_not_found",
        "invalid_params",
    ]


@both
def test_the_limit_holds(is_async):
    running, most = set(), []
    lock = threading.Lock()

    def enter(number):
        with lock:
            running.add(number)
            most.append(len(running))

    def leave(number):
        with lock:
            running.discard(number)

    @tool(name="work")
    async def awork(number: int) -> None:
        enter(number)
        await asyncio.sleep(0.005)
        leave(number)

    @tool(name="work")
    def work(number: int) -> None:
        enter(number)
        time.sleep(0.005)
        leave(number)

    executor = Executor([awork if is_async else work], max_concurrency=3)
    calls = [RawCall(str(number), "work", {"number": number}) for number in range(20)]
    results = asyncio.run(executor.run(calls))
    assert {result.content for result in results} == {"null"}
    assert max(most) == 3


def test_one_executor_in_many_threads_keeps_its_limit():
    running, most, lock = [0], [], threading.Lock()

    @tool
    async def work() -> None:
        with lock:
            running[0] += 1
            most.append(running[0])
        await asyncio.sleep(0.002)
        with lock:
            running[0] -= 1

    executor = Executor([work], max_concurrency=2)
    results = []

    def host():
        results.extend(executor.run_sync([RawCall("1", "work", {})] * 10))

    threads = [threading.Thread(target=host) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_WAIT)
    assert len(results) == 50
    assert all(result.content == "null" for result in results)
    assert max(most) == 2
