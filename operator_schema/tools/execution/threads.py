"""Functions that run in threads, which nobody can end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .concurrency import Slots

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable

__all__ = ["Threads"]


class Threads:
    """Run each function in a thread of its own, and stop waiting for it when its time is over.

    A pool of `concurrent.futures` would not do: the interpreter waits at its exit for what still runs
    in one, and what never ends takes a place in it for ever without being counted.

    Args:
        limit: on the threads that run at once, those for which nobody waits any more included.
    """

    __slots__ = ("_left", "_slots")

    def __init__(self, limit: int) -> None:
        self._slots = Slots(limit)
        self._left: set[_Run] = set()

    @property
    def abandoned(self) -> int:
        """Number of those for which nobody waits any more, and which still run."""
        return len(self._left)

    async def run(self, function: Callable[[], Any], name: str, seconds: float | None) -> Any:
        """Run a function, with the context variables of who calls.

        Args:
            function: to run.
            name: of the thread.
            seconds: to wait for a free thread, and then for the function; None for no limit.

        Returns:
            What it returns, or the exception that it raises.

        Raises:
            TimeoutError: it took longer; its text says so if no thread was free.
            RuntimeError: the system gives no more threads.
        """
        from asyncio import get_running_loop, wait  # noqa: PLC0415  # whoever runs this has it already
        from contextvars import copy_context  # noqa: PLC0415  # likewise
        from threading import Thread  # noqa: PLC0415  # likewise

        if not await self._slots.acquire(seconds):
            message = f"no thread was free; {self.abandoned} run on from calls that took too long"
            raise TimeoutError(message)
        run = _Run(get_running_loop())
        target, arguments = copy_context().run, (self._work, function, run)
        thread = Thread(target=target, args=arguments, name=name, daemon=True)
        try:
            thread.start()
        except Exception:  # it is raised again; the place is free whatever it is
            self._slots.release()
            raise
        try:
            await wait([run.outcome], timeout=seconds)
        except BaseException:
            self._leave(run, name)
            raise
        if not run.outcome.done():
            self._leave(run, name)
            raise TimeoutError
        return run.outcome.result()

    def _work(self, function: Callable[[], Any], run: _Run) -> None:
        try:
            outcome = function()
        except BaseException as error:  # noqa: BLE001  # whoever waits for it raises it
            outcome = error
        run.has_ended = True
        self._left.discard(run)
        self._slots.release()
        run.deliver(outcome)

    def _leave(self, run: _Run, name: str) -> None:
        if run.outcome.done():
            _drop(run.outcome.result())
            return
        run.outcome.cancel()
        self._left.add(run)
        if run.has_ended:  # between the two lines before
            self._left.discard(run)
            return
        from logging import getLogger  # noqa: PLC0415  # only what goes wrong pays for it

        getLogger(__name__).warning("%s: still runs, but nobody waits for it", name)


class _Run:
    """One function in its thread.

    Attributes:
        outcome: what it returns or raises; cancelled when nobody waits for it any more.
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
        except RuntimeError:  # the loop is closed: nobody waits
            _drop(outcome)

    def _take(self, outcome: Any) -> None:
        if self.outcome.done():
            _drop(outcome)
        else:
            self.outcome.set_result(outcome)


def _drop(outcome: Any) -> None:
    """Close a coroutine that nobody will await."""
    if hasattr(outcome, "close"):
        outcome.close()
