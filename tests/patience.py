"""How long a test may take, and how much longer where Python is slow."""

import signal
import sys
import time
from contextlib import contextmanager

import pytest

# WebAssembly is slower, and knows only the time of the machine, not that of the process.
PATIENCE = 5 if sys.platform == "emscripten" else 1

cpu_time = getattr(time, "thread_time", time.perf_counter)
"""The time that this thread has taken, where Python knows it."""


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
