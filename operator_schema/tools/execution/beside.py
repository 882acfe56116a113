"""Calls from the thread of an event loop that runs: they run in another thread, beside it."""

from __future__ import annotations

from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from .lent_threads import LENT, LentThread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from .event_loop import Backend

__all__ = ["run_beside"]

T = TypeVar("T")

_PAUSE = 0.1
"""Seconds between two questions whether the wait is cancelled."""


def run_beside(start: Callable[[], Coroutine[Any, Any, T]], backend: Backend) -> T:
    """Run a coroutine in an event loop of its own, in another thread, and wait for it.

    The coroutine sees the context variables of the caller. What interrupts the wait, such as
    `KeyboardInterrupt`, cancels the coroutine, and is raised when that has ended; a second interrupt
    does not wait for it.

    Args:
        start: makes the coroutine.
        backend: of the event loop.

    Returns:
        What it returns.

    Raises:
        RuntimeError: the system gives no more threads.
    """
    beside = _Beside(start, backend)
    thread = Thread(target=beside.work, name="execute_sync", daemon=True)
    thread.start()
    interrupt = beside.serve(backend.cancellation())
    thread.join()
    try:
        if interrupt is not None:
            raise interrupt
        if beside.error is not None:
            raise beside.error
        result: T = beside.result
        return result
    finally:
        interrupt = beside.error = None  # the traceback of an exception must not lead back to it


class _Beside:
    """A coroutine that runs in another thread, and the thread that waits for it.

    Attributes:
        result: what it returned.
        error: what it raised, or None.
    """

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Any]], backend: Backend) -> None:
        self._start = start
        self._backend = backend
        self._context = copy_context()
        self._functions: SimpleQueue[Callable[[], object] | None] = SimpleQueue()  # None ends it
        self._lent = LentThread(self._functions.put)
        self._context.run(LENT.set, self._lent)
        self._cancel: Callable[[], object] | None = None
        self._is_cancelled = False
        self.result: Any = None
        self.error: BaseException | None = None

    def work(self) -> None:
        """Run the coroutine, in the other thread."""
        try:
            self.result = self._backend.run(self._start, self._begin, self._context)
        except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
            self.error = error
        finally:
            self._functions.put(None)

    def _begin(self, cancel: Callable[[], object]) -> None:
        self._lent.home = self._backend.home()
        self._cancel = cancel
        if self._is_cancelled:
            cancel()

    def serve(self, cancellation: Callable[[], BaseException | None] | None) -> BaseException | None:
        """Call what the coroutine gives to the waiting thread until it has ended.

        Args:
            cancellation: returns what is to interrupt the wait, or None; is asked again and again.

        Returns:
            What interrupted the wait, or None.
        """
        interrupt: BaseException | None = None
        while True:
            try:
                if not self._serve_one(cancellation if interrupt is None else None):
                    return interrupt
            except BaseException as error:
                if interrupt is not None:
                    raise
                interrupt = error
                self.cancel()

    def _serve_one(self, cancellation: Callable[[], BaseException | None] | None) -> bool:
        """Call the next function; return False if there will be none."""
        try:
            function = self._functions.get(timeout=None if cancellation is None else _PAUSE)
        except Empty:
            error = None if cancellation is None else cancellation()
            if error is not None:
                raise error from None
            return True
        if function is not None:
            function()
        return function is not None

    def cancel(self) -> None:
        """Cancel the coroutine, from any thread."""
        self._is_cancelled = True
        if self._cancel is not None:
            with suppress(RuntimeError):  # its event loop is closed
                self._cancel()
