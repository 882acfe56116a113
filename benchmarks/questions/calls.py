"""What does it cost to run a call with an executor?"""

from __future__ import annotations

import asyncio
from time import process_time
from typing import TYPE_CHECKING, Any

from operator_schema import Executor, RawCall, tool

from ..contestants import OURS
from ..measure import Entry, Plan, check, race

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TITLE = "A call of a tool"
HOW = (
    "Two integers in, their sum out, with the time limit that an executor has unless told otherwise. The "
    "other rows run an empty function: what `asyncio` itself takes for a task in time (`wait_for` of one), "
    "for a thread, and for a loop. Processor time of all threads"
)
UNIT = "s"

CASES = ("async function", "plain function", "plain function, run_sync")
PEERS = ("asyncio.wait_for", "asyncio.to_thread", "asyncio.run")

SECONDS = 30.0
SUM = 3
WARM = 300
"""Calls before the measurement: what decodes their arguments is compiled by then."""


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure calls of async and of plain functions, awaited and not."""
    executor = Executor([awaited_sum, plain_sum], timeout=SECONDS)
    call, plain = (RawCall("1", name, {"a": 1, "b": 2}) for name in ("awaited_sum", "plain_sum"))
    for one in (call, plain):
        for _ in range(WARM):
            check(lambda one=one: executor.run_sync(one).value, lambda found: found == SUM)
    in_time = {
        OURS: _awaited(lambda: executor.run(call)),
        # Of a task, as an executor starts one: since Python 3.12, `wait_for` makes none for a coroutine.
        PEERS[0]: _awaited(lambda: asyncio.wait_for(asyncio.create_task(_nothing()), SECONDS)),
    }
    in_thread = {
        OURS: _awaited(lambda: executor.run(plain)),
        PEERS[1]: _awaited(lambda: asyncio.to_thread(int)),
    }
    waited_for = {OURS: _repeated(lambda: executor.run_sync(plain)), PEERS[2]: _repeated(_in_loop)}
    ways = zip(CASES, (in_time, in_thread, waited_for), strict=True)
    return {case: race(f"call of a tool: {case}", entrants, plan) for case, entrants in ways}


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


def _awaited(start: Callable[[], Awaitable[Any]]) -> Callable[[], float]:
    """Return what takes the time of one of many that are awaited one after the other."""

    async def repeat() -> float:
        await start()
        began = process_time()
        for _ in range(TURNS):
            await start()
        return (process_time() - began) / TURNS

    return lambda: asyncio.run(repeat())


def _repeated(run_one: Callable[[], Any]) -> Callable[[], float]:
    def repeat() -> float:
        began = process_time()
        for _ in range(TURNS):
            run_one()
        return (process_time() - began) / TURNS

    return repeat
