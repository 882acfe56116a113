"""How do functions run in threads, which can't be stopped from outside?"""

from __future__ import annotations

import atexit
import os
from _thread import allocate_lock, get_ident  # `threading` itself is not needed
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from sys import modules
from typing import TYPE_CHECKING, Any

from ..message_text import one_line
from ..tools.calls import ToolResult
from ..tools.logs import WARNING, write_log
from ..tools.signature import close_awaitable
from .async_libraries import current_backend
from .concurrency import CURRENT_SLOT, Slots

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context
    from threading import Thread

    from .async_libraries import Signal

_IDLE_SECONDS = 10.0
"""Seconds for which a thread waits for another function before it ends."""

_IDLE_NAME = "operator_schema idle"


class Threads:
    """Runs each function in a thread, and stops waiting for it when its time is over.

    A thread whose function has returned runs the next one. A pool of `concurrent.futures` would not do: at
    exit the interpreter waits for everything that still runs in it, and a function that never returns would
    hold one of its workers for ever, uncounted.

    Args:
        limit: the most functions that run at once, including those whose calls are over. One name gets at
            most three quarters of the threads that the others leave free, so that a tool that hangs doesn't
            take the threads of all others.
    """

    __slots__ = ("_left", "_slots")

    def __init__(self, limit: int) -> None:
        self._slots = Slots(limit, is_shared=True)
        self._left: set[ThreadRun] = set()

    @property
    def abandoned(self) -> int:
        """Number of functions that still run although their calls are over."""
        return len(self._left)

    @property
    def slots(self) -> Slots:
        """The slots, one for each function that may run at once."""
        return self._slots

    async def run(self, function: Callable[[], Any], name: str, seconds: float | None) -> Any:
        """Run a function, with the context variables of the caller.

        Args:
            function: the function to run.
            name: name of the tool, which becomes the name of the thread.
            seconds: the longest wait for a free thread, and then for the function; None for no limit.

        Returns:
            The result of the function, or its exception.

        Raises:
            TimeoutError: the function took longer, or no thread was free, which the text then says.
            RuntimeError: the system gives no more threads, or the interpreter allows none.
        """
        slots = self._slots
        if not (slots.acquire_now(name) or await slots.acquire(seconds, name)):
            message = f"no thread was free for it; {self.abandoned} still run after their calls took too long"
            raise TimeoutError(message)
        run = ThreadRun(function, name, context_for_thread(), self._end)
        try:
            start_in_thread(run)
        except Exception:  # no thread started, so nothing else gives the slot back
            slots.release(name)
            raise
        return await self._wait(run, seconds)

    async def run_in(self, thread: LentThread, function: Callable[[], Any], name: str) -> Any:
        """Run a function in a lent thread, as soon as this thread is free.

        Args:
            thread: the lent thread.
            function: the function; no time limit interrupts it.
            name: name of the tool.

        Returns:
            The result of the function, or its exception.
        """
        run = ThreadRun(function, name, copy_context(), self._left.discard)
        thread.put(partial(_work_in_lent, run))
        return await self._wait(run, None)

    def _end(self, run: ThreadRun) -> None:
        self._left.discard(run)
        self._slots.release(run.name)

    async def _wait(self, run: ThreadRun, seconds: float | None) -> Any:
        try:
            await run.signal.wait(seconds)
        except BaseException:  # the call is cancelled
            if not self._leave(run):
                run.drop()
            elif not run.has_ended:
                write_log(WARNING, "%s: still runs in a thread, but its call is over", run.name)
            raise
        if not run.has_ended and self._leave(run):
            raise TimeoutError  # the executor logs it
        return run.outcome

    def _leave(self, run: ThreadRun) -> bool:
        """Stop waiting for a function; return False if it has already ended and its outcome is there."""
        if not run.leave():
            return False
        self._left.add(run)
        if run.has_ended:  # it has ended between the two lines before
            self._left.discard(run)
        return True


def context_for_thread() -> Context:
    """Return a copy of the context variables, for a thread in which no event loop runs."""
    context = copy_context()
    # A copy would still say that an event loop runs (sniffio), and anyio would believe it.
    library: ContextVar[str | None] | None
    library = getattr(modules.get("sniffio"), "current_async_library_cvar", None)
    if library is not None:
        context.run(library.set, None)
    return context


class ThreadRun:
    """One function in its thread, with the context variables of its call.

    Args:
        function: the function.
        name: name of the thread meanwhile, such as that of the tool.
        context: the context variables in which it runs.
        end: called with this run, in its thread, when the function has ended.

    Attributes:
        may_be_skipped: whether the function needn't begin once its call is over.
        name: as given.
        signal: tells its call that it has ended.
        outcome: its result or exception.
        has_ended: whether it has ended.
    """

    __slots__ = (
        "_context",
        "_end",
        "_function",
        "_is_left",
        "_lock",
        "has_ended",
        "name",
        "outcome",
        "signal",
    )

    may_be_skipped = True

    def __init__(
        self, function: Callable[[], Any], name: str, context: Context, end: Callable[[ThreadRun], None]
    ) -> None:
        self._context = context
        self._end = end
        self._function = function
        self._is_left = False
        self._lock = allocate_lock()
        self.name = name
        self.signal: Signal = current_backend().signal()
        self.outcome: Any = None
        self.has_ended = False

    def work(self) -> None:
        """Run the function, in the thread; raise nothing."""
        outcome = None
        slot = self._context.get(CURRENT_SLOT)
        if slot is not None:
            slot.thread = get_ident()
        if not (self._is_left and self.may_be_skipped):
            try:
                outcome = self._context.run(self._function)
            except BaseException as error:  # noqa: BLE001  # the caller raises it
                outcome = error
        with self._lock:
            self.outcome = outcome
            self.has_ended = True
            is_left = self._is_left
        try:
            if is_left:
                self.drop()
        finally:
            self._end(self)

    def drop(self) -> None:
        """Release the outcome, which nobody gets."""
        _log_late(self.outcome)
        close_awaitable(self.outcome)

    def deliver(self) -> None:
        """Tell the call that the function has ended, from the thread."""
        try:
            self.signal.send()
        except RuntimeError:  # the loop is closed, and its calls are over
            _close_elsewhere(self.outcome)

    def leave(self) -> bool:
        """Note that the call is over; return whether the function still runs."""
        with self._lock:
            self._is_left = not self.has_ended
            return self._is_left


def _log_late(outcome: object) -> None:
    """Log that a function succeeded after its call was over; failures are logged elsewhere."""
    if type(outcome) is ToolResult and not outcome.is_error:
        message = "%s (call %s): the function did its work, after its call was over; nobody gets its result"
        write_log(WARNING, message, one_line(outcome.name, 100), one_line(outcome.call_id, 100))


def _close_elsewhere(outcome: object) -> None:
    """Close a coroutine in a thread of its own: this one may already have the next function to run."""
    with suppress(RuntimeError):  # the system gives no more threads
        new_thread(partial(close_awaitable, outcome), _IDLE_NAME).start()


def new_thread(work: Callable[[], object], name: str) -> Thread:
    """Return a thread that ends with the program; import `threading` only for the first one."""
    from threading import Thread

    return Thread(target=work, name=name, daemon=True)


# --- threads that run one function after the other -----------------------------------------------


class _Worker:
    """A thread that runs functions one at a time, and waits for the next one in between.

    Args:
        idle: the list of waiting threads.
    """

    __slots__ = ("_given", "_idle", "_run", "thread")

    def __init__(self, idle: list[_Worker]) -> None:
        self._idle = idle
        self._run: ThreadRun | None = None
        self._given = allocate_lock()
        self._given.acquire()
        self.thread = new_thread(self._work, _IDLE_NAME)

    def give(self, run: ThreadRun | None) -> None:
        """Give the worker its next function, or None to end it, after taking it from the idle workers."""
        self._run = run
        self._given.release()

    def _work(self) -> None:
        while self._is_given() and (run := self._run) is not None:
            self._run = None
            self.thread.name = run.name
            run.work()
            self.thread.name = _IDLE_NAME
            if self._idle is not _idle:  # in the child of a fork, this is the only thread
                run.deliver()
                return
            # Before the call goes on, so that its next function finds this thread. A function that never
            # returns doesn't get here, so nothing waits for its thread.
            self._idle.append(self)
            run.deliver()
            del run  # the call's objects are not kept while this waits

    def _is_given(self) -> bool:
        """Wait for the next function; return False if none comes for some time."""
        if self._given.acquire(timeout=_IDLE_SECONDS):
            return True
        try:
            self._idle.remove(self)
        except ValueError:  # somebody has just taken this worker
            return self._given.acquire()
        return False


_idle: list[_Worker] = []
"""The idle workers of all executors; the last one was busy most recently."""


def start_in_thread(run: ThreadRun) -> None:
    """Run a function in an idle thread, or in a new one.

    Args:
        run: the function.

    Raises:
        RuntimeError: the system gives no more threads, or the interpreter allows none.
    """
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker(_idle)
        worker.give(run)
        worker.thread.start()
    else:
        worker.give(run)


def end_idle_workers() -> None:
    """End the idle threads, and wait until they have ended."""
    ended: list[_Worker] = []
    while _idle:
        with suppress(IndexError):  # another thread took the last one
            ended.append(_idle.pop())
    for worker in ended:
        worker.give(None)
    for worker in ended:
        worker.thread.join()


# No idle thread is left when an interpreter ends, which may happen inside a process.
atexit.register(end_idle_workers)


def _after_fork() -> None:
    """Forget the workers in a child process, where they don't run."""
    global _idle  # noqa: PLW0603  # those that run on in the parent know the list by itself
    _idle = []


if hasattr(os, "register_at_fork"):  # not on Windows
    # Python warns about a fork while other threads run, and these are idle.
    os.register_at_fork(before=end_idle_workers, after_in_child=_after_fork)


# --- threads that wait for an event loop, and run functions for it meanwhile ---------------------


class LentThread:
    """A thread that waits for an event loop, and meanwhile runs functions for it.

    Args:
        put: takes a function, in any thread, that the lent thread then calls.

    Attributes:
        home: the event loop; None before it runs.
    """

    __slots__ = ("_ident", "_outer", "home", "put")

    def __init__(self, put: Callable[[Callable[[], object]], object]) -> None:
        self.home: Any = None
        self.put = put
        self._ident = get_ident()
        self._outer = LENT.get()

    def homes(self) -> list[Any]:
        """List the event loop, and the loops for which the thread was running a function before it waited.

        The list is empty in any other thread.
        """
        if self._ident != get_ident():
            return []
        return [self.home, *(self._outer.homes() if self._outer is not None else ())]


LENT: ContextVar[LentThread | None] = ContextVar("LENT", default=None)


def lent_thread() -> LentThread | None:
    """Return the lent thread that waits for the current event loop, or None."""
    lent = LENT.get()
    return lent if lent is not None and lent.home is current_backend().home() else None


def loops_waiting_here() -> list[Any]:
    """List the event loops that wait for functions that run in this thread."""
    lent = LENT.get()
    return [] if lent is None else lent.homes()


def _work_in_lent(run: ThreadRun) -> None:
    run.work()
    run.deliver()
    if issubclass(type(run.outcome), KeyboardInterrupt):
        raise run.outcome  # an interrupt is meant for everything that the thread waits for
