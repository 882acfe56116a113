"""Functions that run in threads, which can't be stopped from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..awaitables import close_awaitable
from ..log import WARNING, write_log
from .concurrency import Slots

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable

__all__ = ["Threads"]


class Threads:
    """Run each function in a thread of its own, and stop waiting for it when its time is over.

    A pool of `concurrent.futures` would not do: at exit the interpreter waits for what still runs in
    it, and a function that never returns would hold one of its workers for ever, uncounted.

    Args:
        limit: on the threads that run at once, including those whose calls are over. One name gets at
            most three quarters of those that the others leave, so that a tool that hangs does not
            take the threads of all others.
    """

    __slots__ = ("_left", "_slots")

    def __init__(self, limit: int) -> None:
        self._slots = Slots(limit, is_shared=True)
        self._left: set[_Run] = set()

    @property
    def abandoned(self) -> int:
        """Number of functions that still run although their calls are over."""
        return len(self._left)

    async def run(self, function: Callable[[], Any], name: str, seconds: float | None) -> Any:
        """Run a function, with the context variables of the caller.

        Args:
            function: to run.
            name: of the thread, and of the tool that it runs.
            seconds: to wait for a free thread, and then for the function; None for no limit.

        Returns:
            What it returns, or the exception that it raises.

        Raises:
            TimeoutError: it took longer; its text says so if no thread was free.
            RuntimeError: the system gives no more threads.
        """
        from asyncio import get_running_loop, wait
        from contextvars import copy_context
        from threading import Thread

        if not await self._slots.acquire(seconds, name):
            message = f"no thread was free for it; {self.abandoned} still run after their calls took too long"
            raise TimeoutError(message)
        run = _Run(get_running_loop())
        target, arguments = copy_context().run, (self._work, function, run, name)
        thread = Thread(target=target, args=arguments, name=name, daemon=True)
        try:
            thread.start()
        except Exception:
            self._slots.release(name)
            raise
        try:
            await wait([run.outcome], timeout=seconds)
        except BaseException:
            if self._leave(run):
                write_log(WARNING, "%s: still runs in a thread, but its call is over", name)
            raise
        if not run.outcome.done():
            self._leave(run)
            raise TimeoutError  # the executor logs it
        return run.outcome.result()

    def _work(self, function: Callable[[], Any], run: _Run, name: str) -> None:
        try:
            outcome = function()
        except BaseException as error:  # noqa: BLE001  # the caller raises it
            outcome = error
        run.has_ended = True
        self._left.discard(run)
        self._slots.release(name)
        run.deliver(outcome)

    def _leave(self, run: _Run) -> bool:
        """Stop waiting for a function; return whether it still runs."""
        if run.outcome.done():
            close_awaitable(run.outcome.result())
            return False
        run.outcome.cancel()
        self._left.add(run)
        if run.has_ended:  # between the two lines before
            self._left.discard(run)
        return not run.has_ended


class _Run:
    """One function in its thread.

    Attributes:
        outcome: what it returns or raises; cancelled when its call is over.
        has_ended: whether the function has.
    """

    __slots__ = ("_loop", "has_ended", "outcome")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self.outcome: Future[Any] = loop.create_future()
        self.has_ended = False

    def deliver(self, outcome: Any) -> None:
        """Hand the outcome over, from the thread."""
        try:
            self._loop.call_soon_threadsafe(self._take, outcome)
        except RuntimeError:  # the loop is closed, and its calls are over
            close_awaitable(outcome)

    def _take(self, outcome: Any) -> None:
        if self.outcome.done():
            close_awaitable(outcome)
        else:
            self.outcome.set_result(outcome)
