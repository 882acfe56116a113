"""How long work may take, and how long a test waits for what others do.

A bound in seconds fails where the machine is slower, or has much else to do. So what takes processor time is
compared with other work that is timed beside it: with less of the same (`assert_linear`), or with a loop that
never changes (`assert_takes`). The quickest of a few tries counts. No other file of the tests reads a clock
for what it asserts: `test_clocks.py` checks that.
"""

from __future__ import annotations

import asyncio
import re
import signal
import time
from contextlib import contextmanager
from typing import NamedTuple

import pytest

LONGEST_WAIT = 120
"""Seconds after which what a test waits for is taken to hang: a slow and busy machine has time enough."""

TRIES = 5


def cpu_seconds(work, *args):
    """Call something; return the seconds of processor time that the process takes: work may have threads."""
    start = time.process_time()
    work(*args)
    return time.process_time() - start


class _Part(NamedTuple):
    name: str
    number: int


_PART = re.compile(r"[a-z]+ (\d+)")

_LAP_SECONDS = 0.009
"""What a lap takes on the machine for which seconds are given."""


def _named(number):
    return _Part(f"part {number % 500}", number)


def _lap():
    """Do work that never changes, of all kinds: calls, objects, texts, expressions, tables, sorting."""
    numbers = {}
    for number in range(10_000):
        part = _named(number)
        numbers.setdefault(_PART.fullmatch(part.name)[1], []).append(part.number)
    return sorted(numbers.items())


def slowness():
    """Return how many times as long as on the machine for which seconds are given Python takes here and now.

    It is 1 where Python is quicker.
    """
    return max(1.0, cpu_seconds(_lap) / _LAP_SECONDS)


def assert_takes(most, work, setup=None):
    """Fail if some work takes longer, each time that it is tried.

    Args:
        most: the seconds of processor time that it may take on a machine that does a lap in `_LAP_SECONDS`.
        work: what is timed, with what `setup` returns if there is one.
        setup: makes what the work uses up, or would know the next time.
    """
    found = []
    for _ in range(TRIES):
        took = cpu_seconds(work) if setup is None else cpu_seconds(work, setup())
        if took <= most:
            return
        # A lap says of a slow moment what it is only if it is in it, too.
        slower = slowness()
        if took <= most * slower:
            return
        found.append(f"{took:.3f} s where Python takes {slower:.1f} times as long")
    pytest.fail(f"it may take {most} s, and took {'; '.join(found)}")


def assert_linear(work, few, times=8, setup=None, slack=3, least=0.0):
    """Fail if so many times as much takes more time than grows with it, each time that it is tried.

    What grows with the square takes `times` as long for each part, and may take `slack` as long.

    Args:
        work: what is timed, with a number, or with what `setup` makes of it if there is one.
        few: the number, of parts or characters, that is compared with `times` of them.
        times: how many times as many there are.
        setup: makes what the work reads.
        slack: how many times as long each of many may take as each of a few.
        least: seconds in which many are quick enough, whatever a few take.
    """

    def took(number):
        return cpu_seconds(work, number if setup is None else setup(number))

    assert_ratio(slack * times, lambda: took(few * times), lambda: took(few), least)


def assert_ratio(most, long, short, least=0.0):
    """Fail if something takes too many times as long as something else, each time that both are measured.

    Args:
        most: how many times as long it may take.
        long: returns the seconds of processor time that it takes.
        short: returns those of the other.
        least: seconds in which it is quick enough, whatever the other takes.
    """
    found = []
    for _ in range(TRIES):
        after = long()
        if after <= least:
            return
        before = short()
        if after <= least + most * before:
            return
        found.append(f"{after:.4f} s after {before:.4f} s")
    pytest.fail(f"it may take {most} times as long, and took {'; '.join(found)}")


def wait_until(check, seconds=LONGEST_WAIT):
    """Wait until something holds that another thread or process brings about.

    Returns:
        What `check` returned in the end: something false if it didn't hold in so many seconds.
    """
    until = time.monotonic() + seconds
    while not (found := check()) and time.monotonic() < until:
        time.sleep(0.005)
    return found


async def until(check):
    """Wait in an event loop of asyncio until something holds, which another thread may bring about, too."""
    async with asyncio.timeout(LONGEST_WAIT):
        while not check():  # noqa: ASYNC110  # an event of asyncio belongs to one thread
            await asyncio.sleep(0.005)


async def cancelled_once(begun, work):
    """Start what can be awaited, cancel it as soon as something has begun in it, and wait for its end.

    Args:
        begun: is filled by what has begun.
        work: what is awaited; it has to end as one that is cancelled does.
    """
    task = asyncio.ensure_future(work)
    await until(lambda: begun or task.done())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@contextmanager
def at_least(seconds):
    """Fail if what is done meanwhile takes less: a slow machine only takes longer."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start >= seconds


@contextmanager
def at_most(seconds):
    """Let a test fail that takes longer, whatever it waits for: a read, a lock or an event loop.

    The failure is no `Exception`, so that what is tested doesn't take it for one of its own. Windows has no
    such signal: there it is up to whoever runs the tests.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_number, _frame):
        pytest.fail(f"it takes longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
