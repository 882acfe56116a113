"""What the tests of the executor share."""

from __future__ import annotations

import signal
import threading

import pytest

from operator_schema.execution.threads import end_idle_workers


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


@pytest.fixture
def no_more_threads(monkeypatch):
    """Let the system give no more threads: those that are idle end, and no other one starts."""

    def start(_):
        raise RuntimeError("can't start new thread")

    end_idle_workers()
    monkeypatch.setattr(threading.Thread, "start", start)
    return monkeypatch
