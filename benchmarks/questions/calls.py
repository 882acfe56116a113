"""What does it cost to run a call with an executor?"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from operator_schema import Executor, RawCall, tool

from ..contestants import OURS
from ..measure import Entry, Plan, check, race

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

TITLE = "A call of a tool"
HOW = (
    "Two integers in, as JSON text, their sum out, with the time limit that an executor has unless told "
    "otherwise. The other rows run an empty function: what `asyncio` itself takes for a task in time "
    "(`wait_for` of one), for a thread, and for a loop. Processor time of all threads, which run on one core "
    "if the system lets a program choose: waking a thread on another core takes several times as long, and "
    "otherwise chance decides which of the two is measured. The columns for two cores show how long it takes "
    "then"
)
UNIT = "s"

CASES = ("async function", "plain function", "plain function, run_sync")
ON_TWO_CORES = {case: f"{case}, two cores" for case in CASES[1:]}
PEERS = ("asyncio.wait_for", "asyncio.to_thread", "asyncio.run")

SECONDS = 30.0
SUM = 3
WARM = 300
"""Calls before the measurement: what decodes their arguments is compiled by then."""


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure calls of async and of plain functions, awaited and not."""
    executor = Executor([awaited_sum, plain_sum], timeout=SECONDS)
    call, plain = (RawCall("1", name, '{"a": 1, "b": 2}') for name in ("awaited_sum", "plain_sum"))
    for one in (call, plain):
        for _ in range(WARM):
            check(lambda one=one: executor.run_sync(one).value, lambda found: found == SUM)
    every = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    try:
        ways = _ways(executor, call, plain, partial(_place, every[:1], every[:1]))
        found = {case: race(f"call of a tool: {case}", entrants, plan) for case, entrants in ways.items()}
        if len(every) > 1 and not plan.quick:  # the bars are for one core
            ways = _ways(executor, call, plain, partial(_place, every[:1], every[1:2]))
            for case, name in ON_TWO_CORES.items():
                found[name] = race(f"call of a tool: {name}", ways[case], plan)
    finally:
        _place(every, every)
    return found


def _ways(
    executor: Executor, call: RawCall, plain: RawCall, place: Callable[[], None]
) -> dict[str, dict[str, Callable[[], float]]]:
    """Return what is measured, by case and contestant; `place` moves the threads to their cores."""
    in_time = {
        OURS: _awaited(lambda: executor.run(call), place),
        # Of a task, as an executor starts one: since Python 3.12, `wait_for` makes none for a coroutine.
        PEERS[0]: _awaited(lambda: asyncio.wait_for(asyncio.create_task(_nothing()), SECONDS), place),
    }
    in_thread = {
        OURS: _awaited(lambda: executor.run(plain), place),
        PEERS[1]: _awaited(lambda: asyncio.to_thread(int), place),
    }
    waited_for = {
        OURS: _repeated(lambda: executor.run_sync(plain), place),
        PEERS[1]: _awaited(lambda: asyncio.to_thread(int), place),
        PEERS[2]: _repeated(_in_loop, place),
    }
    return dict(zip(CASES, (in_time, in_thread, waited_for), strict=True))


def _place(here: Sequence[int], elsewhere: Sequence[int]) -> None:
    """Move this thread and all others to cores; nothing happens where there are none to choose."""
    current = threading.current_thread()
    for thread in threading.enumerate() if here else ():
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(thread.native_id or 0, here if thread is current else elsewhere)


@tool
async def awaited_sum(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def plain_sum(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def _nothing() -> None:
    pass


def _in_loop() -> None:
    asyncio.run(_nothing())


TURNS = 200


def _awaited(start: Callable[[], Awaitable[Any]], place: Callable[[], None]) -> Callable[[], float]:
    """Return what takes the time of one of many that are awaited one after the other."""

    async def repeat() -> float:
        await start()  # starts the threads that there are
        place()
        began = process_time()
        for _ in range(TURNS):
            await start()
        return (process_time() - began) / TURNS

    return lambda: asyncio.run(repeat())


def _repeated(run_one: Callable[[], Any], place: Callable[[], None]) -> Callable[[], float]:
    def repeat() -> float:
        run_one()
        place()
        began = process_time()
        for _ in range(TURNS):
            run_one()
        return (process_time() - began) / TURNS

    return repeat
