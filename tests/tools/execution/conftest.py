"""What the tests of the executor share."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True)
def interrupts_arrive():
    """Let SIGINT arrive, here and in the processes that tests start: in the background it is ignored."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
