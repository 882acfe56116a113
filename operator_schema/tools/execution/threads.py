"""Functions that run in threads, which can't be stopped from outside."""

from __future__ import annotations

from _thread import allocate_lock, get_ident  # `threading` itself is not needed
from contextvars import copy_context
from functools import partial
from sys import modules
from typing import TYPE_CHECKING, Any

from ..awaitables import close_awaitable
from ..log import WARNING, write_log
from .backends import current_backend
from .concurrency import PLACE, Slots

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context, ContextVar

    from .event_loop import Signal
    from .lent_threads import LentThread

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
            RuntimeError: the system gives no more threads, or the interpreter allows none.
        """
        from threading import Thread

        if not await self._slots.acquire(seconds, name):
            message = f"no thread was free for it; {self.abandoned} still run after their calls took too long"
            raise TimeoutError(message)
        run = _Run(function, _context_for_thread())
        try:
            Thread(target=self._work, args=(run, name), name=name, daemon=True).start()
        except Exception:
            self._slots.release(name)
            raise
        return await self._wait(run, name, seconds)

    async def run_in(self, thread: LentThread, function: Callable[[], Any], name: str) -> Any:
        """Run a function in a thread that does nothing else meanwhile, as soon as it is free.

        Args:
            thread: to run it in.
            function: to run; no time limit interrupts it.
            name: of the tool that it runs.

        Returns:
            What it returns, or the exception that it raises.
        """
        run = _Run(function, copy_context())
        thread.put(partial(self._work_in_lent, run))
        return await self._wait(run, name, None)

    def _work(self, run: _Run, name: str) -> None:
        run.work()
        self._left.discard(run)
        self._slots.release(name)
        run.deliver()

    def _work_in_lent(self, run: _Run) -> None:
        run.work()
        self._left.discard(run)
        run.deliver()
        if issubclass(type(run.outcome), KeyboardInterrupt):
            raise run.outcome  # it is meant for all that the thread waits for

    async def _wait(self, run: _Run, name: str, seconds: float | None) -> Any:
        try:
            await run.signal.wait(seconds)
        except BaseException:
            if self._leave(run):
                write_log(WARNING, "%s: still runs in a thread, but its call is over", name)
            raise
        if not run.has_ended:
            self._leave(run)
            raise TimeoutError  # the executor logs it
        return run.outcome

    def _leave(self, run: _Run) -> bool:
        """Stop waiting for a function; return whether it still runs."""
        if not run.leave():
            return False
        self._left.add(run)
        if run.has_ended:  # between the two lines before
            self._left.discard(run)
        return not run.has_ended


def _context_for_thread() -> Context:
    """Return a copy of the context variables, for a thread in which no event loop runs."""
    context = copy_context()
    # Hosts of anyio say in it which event loop runs; functions of anyio would believe that.
    library: ContextVar[str | None] | None
    library = getattr(modules.get("sniffio"), "current_async_library_cvar", None)
    if library is not None:
        context.run(library.set, None)
    return context


class _Run:
    """One function in its thread, with the context variables of its call.

    Attributes:
        signal: for its call, when it has ended.
        outcome: what it returns or raises.
        has_ended: whether it has.
    """

    __slots__ = ("_context", "_function", "_is_left", "_lock", "has_ended", "outcome", "signal")

    def __init__(self, function: Callable[[], Any], context: Context) -> None:
        self._context = context
        self._function = function
        self._is_left = False
        self._lock = allocate_lock()
        self.signal: Signal = current_backend().signal()
        self.outcome: Any = None
        self.has_ended = False

    def work(self) -> None:
        """Run the function, in the thread, unless its call is over."""
        outcome = None
        place = self._context.get(PLACE)
        if place is not None:
            place.thread = get_ident()
        if not self._is_left:
            try:
                outcome = self._context.run(self._function)
            except BaseException as error:  # noqa: BLE001  # the caller raises it
                outcome = error
        with self._lock:
            self.outcome = outcome
            self.has_ended = True
            is_left = self._is_left
        if is_left:
            close_awaitable(outcome)

    def deliver(self) -> None:
        """Tell the call that the function has ended, from the thread."""
        try:
            self.signal.send()
        except RuntimeError:  # the loop is closed, and its calls are over
            close_awaitable(self.outcome)

    def leave(self) -> bool:
        """Say that the call is over; return whether the function had not ended yet."""
        with self._lock:
            self._is_left = True
            has_ended = self.has_ended
        if has_ended:
            close_awaitable(self.outcome)
        return not has_ended
