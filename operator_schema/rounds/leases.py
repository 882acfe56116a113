"""Leases: the processes that run rounds, and the time until which each is known to be alive."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from threading import TIMEOUT_MAX, Event, Lock, Thread
from typing import TYPE_CHECKING
from weakref import WeakMethod

from ..immutable import Value
from ..message_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Owner(Value):
    """The process that took a round.

    Attributes:
        host: the name of its machine.
        pid: the id of the process there.
        name: the given name of its store; empty if there is none.
    """

    host: str
    pid: int
    name: str = ""

    def __str__(self) -> str:
        """Write the owner for a message."""
        named = f"{one_line(self.name, 100)}, " if self.name else ""
        return f"{named}process {self.pid} on {one_line(self.host, 100)}"

    @classmethod
    def here(cls, name: str) -> Owner:
        """Return this process."""
        return cls(platform.node(), os.getpid(), name)

    def text(self) -> str:
        """Return the owner as text for a column."""
        return json.dumps([self.host, self.pid, self.name])


def owner_of(text: object) -> Owner | None:
    """Return the owner that a column contains; None if there is none."""
    if not isinstance(text, str):
        return None
    try:
        host, pid, name = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    is_owner = isinstance(host, str) and isinstance(name, str) and isinstance(pid, int)
    return Owner(host, pid, name) if is_owner else None


class Leases:
    """The rounds that this process runs; a thread renews their leases as long as there are any.

    Args:
        renew: a function that gets the ids of rounds and their revisions, and extends their leases; held
            weakly.
        seconds: how long a lease lasts; it is renewed after a third of that.
    """

    def __init__(self, renew: Callable[[Mapping[str, int]], object], seconds: float) -> None:
        self._renew = WeakMethod(renew)
        self._seconds = seconds
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        self._running: dict[str, int] = {}
        self._thread: Thread | None = None

    def _own_lock(self) -> Lock:
        """Return the lock; after a fork a new one, as another thread may have held it."""
        if self._pid != os.getpid():  # this process doesn't run the rounds that its parent had before
            self._forget()
        return self._lock

    def add(self, round_id: str, revision: int) -> None:
        """Start to renew the lease of a round."""
        with self._own_lock():
            self._running[round_id] = revision
            if self._thread is None:
                thread = Thread(
                    target=self._work, name="operator_schema leases", daemon=True, args=(self._renew,)
                )
                with suppress(RuntimeError):  # no thread can start: the lease expires
                    thread.start()
                    self._thread = thread

    def remove(self, round_id: str) -> None:
        """Stop renewing the lease of a round."""
        with self._own_lock():
            self._running.pop(round_id, None)

    def _work(self, renewing: WeakMethod[Callable[[Mapping[str, int]], object]]) -> None:
        pause = Event()
        while True:
            pause.wait(min(self._seconds / 3, TIMEOUT_MAX))
            with self._lock:
                running = dict(self._running)
                renew = renewing()
                if not running or renew is None:
                    self._thread = None
                    return
            with suppress(Exception):  # whatever a database raises: the next attempt may be early enough
                renew(running)
            del renew
