"""Long arguments of an async tool: the event loop goes on while they are decoded, and their time counts."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass

import pytest
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall, tool
from operator_schema.execution.run import LONG, takes_long

pytestmark = pytest.mark.needs_threads

threads: list[str] = []


@dataclass
class Slow:
    text: str

    def __post_init__(self):
        threads.append(threading.current_thread().name)
        time.sleep(0.3)


ran: list[int] = []


@tool
async def read(slow: Slow) -> int:
    ran.append(1)
    return len(slow.text)


SHORT, LENGTHY = "x" * 10, "x" * 5_000


async def ticks_while(executor, arguments):
    ticks = 0
    task = asyncio.create_task(executor.run(RawCall("1", "read", arguments)))
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    return ticks, await task


@pytest.mark.parametrize("arguments", [{"text": LENGTHY}, f'{{"text": "{LENGTHY}"}}'], ids=["dict", "text"])
def test_the_event_loop_goes_on(arguments):
    threads.clear()
    ticks, result = asyncio.run(ticks_while(Executor([read]), arguments))
    assert result.content == "5000"
    assert ticks > 5
    assert threads == ["read"]


def test_short_arguments_are_decoded_in_the_event_loop():
    threads.clear()
    _, result = asyncio.run(ticks_while(Executor([read]), {"text": SHORT}))
    assert result.content == "10"
    assert threads == [threading.main_thread().name]


def test_decoding_counts_against_the_time_of_a_call():
    ran.clear()
    executor = Executor([read], timeout=0.1)
    result = executor.run_sync(RawCall("1", "read", {"text": LENGTHY}))
    assert (result.code, result.content) == ("timeout", "read: no result within 0.1 s; it was not run")
    assert result.details["reason"] == "decoding its arguments took too long"
    assert wait_until(lambda: executor.abandoned == 0)
    assert ran == []


def test_what_is_wrong_with_long_arguments_is_reported():
    result = Executor([read]).run_sync(RawCall("1", "read", {"text": [LENGTHY]}))
    assert (result.code, result.details["findings"][0]["code"]) == ("invalid_params", "wrong_type")


def test_threads_that_decode_are_apart_from_those_of_hanging_tools():
    stop = threading.Event()

    @tool
    def hang() -> None:
        stop.wait(LONGEST_WAIT)

    executor = Executor([hang, read], timeout=1.0, max_threads=1)

    async def run():
        hanging = asyncio.create_task(executor.run(RawCall("1", "hang", {})))
        result = await executor.run(RawCall("2", "read", {"text": LENGTHY}))
        stop.set()
        return result, await hanging

    result, hung = asyncio.run(run())
    assert (result.content, hung.content) == ("5000", "null")


class Text(str):
    """A string of a class of its own, as parsers of other libraries make them."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("arguments", "is_long"),
    [
        ("x" * LONG, False),
        ("x" * (LONG + 1), True),
        (b"x" * (LONG + 1), True),
        (None, False),
        (5, False),
        ({}, False),
        ({"a": [1, 2, {"b": "c"}]}, False),
        ({"a": "x" * (LONG + 1)}, True),
        ({"a": {"b": ["x" * (LONG + 1)]}}, True),
        ([Text("x" * (LONG + 1))], True),
        ([Text("x")], False),
        ([0] * (LONG // 8 - 1), False),
        ([0] * (LONG // 8 + 1), True),
        ({str(number): None for number in range(LONG // 8 + 1)}, True),
        ([[[["x" * 100]] * 10]] * 5, True),
    ],
    ids=str,
)
def test_the_length_of_arguments(arguments, is_long):
    assert takes_long(arguments) is is_long


def test_asking_for_the_length_takes_bounded_time():
    cyclic: list[object] = []
    cyclic += [cyclic] * 3
    assert takes_long(cyclic)
    wide = [[0] * 500] * 10**6
    assert takes_long(wide)
