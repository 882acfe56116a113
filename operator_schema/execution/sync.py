"""How does code that isn't async wait for calls, with an event loop in its thread or without one?"""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` itself is not needed
from contextlib import suppress
from contextvars import copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from .async_libraries import asyncio_backend, running_backends, waiting_backends
from .concurrency import blocked
from .threads import LENT, LentThread, loops_waiting_here, new_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextvars import Context
    from queue import SimpleQueue

    from .async_libraries import Backend, Ready, Start
    from .concurrency import Slots

T = TypeVar("T")

# Those of `signal` take fifteen times as long, and type checkers don't know this module.
_signal: Any = __import__("_signal")

_PAUSE = 0.1
"""Seconds between two checks whether a wait has been interrupted, if nothing else ends it."""


def wait_for(start: Callable[[], Coroutine[Any, Any, T]], slots: Slots, *, needs_loop: bool) -> T:
    """Run a coroutine of an executor, and wait for it.

    Args:
        start: makes the coroutine.
        slots: the slots of the executor.
        needs_loop: whether the coroutine itself may await something that needs an event loop. If not, only
            the tasks that it starts get one.

    Returns:
        The result of the coroutine.

    Raises:
        RuntimeError: the call would wait forever.
    """
    backends, waiting = running_backends(), waiting_backends()
    slot = slots.slot_of_thread()
    if not backends and not waiting and slot is None:
        return _run_here(start, waiting, needs_loop=needs_loop)
    # A loop that waits for a function here may still run other calls; it simply counts as blocked.
    homes = [*[backend.home() for backend in (*backends, *waiting)], *loops_waiting_here()]
    with blocked.blocking(homes), slots.needed_by(slot) as places:
        if places:
            message = (
                "run_sync would wait forever: the calls that wait for it hold all places under "
                f"max_concurrency ({places}). Raise max_concurrency, or use await run"
            )
            raise RuntimeError(message)
        if backends:
            return _run_beside(start, backends[0])
        return _run_here(start, waiting, needs_loop=needs_loop)


def _run_here(start: Callable[[], Coroutine[Any, Any, T]], waiting: list[Any], *, needs_loop: bool) -> T:
    if needs_loop:
        result: T = asyncio_backend().run(start, lambda _: None, None)
    else:
        result = _WaitingThread(waiting).finish(start)
    return result


# --- without an event loop -----------------------------------------------------------------------


class _Interrupts:
    """Raises `KeyboardInterrupt`, but only when that does no harm.

    Between two lines of this package that belong together, an interrupt would leave a slot taken for ever.
    `asyncio.run` has such a handler too.

    Args:
        before: the handler that raises it by default.

    Attributes:
        is_waiting: whether it may be raised at once. Otherwise the next `check` raises it, or another
            interrupt before that.
    """

    __slots__ = ("_before", "_is_due", "_is_held", "is_waiting")

    def __init__(self, before: Any = _signal.default_int_handler) -> None:
        self._before = before
        self._is_due = self._is_held = False
        self.is_waiting = False

    def hold(self) -> None:
        """Handle interrupts, unless your program has its own handler."""
        self._is_held = _swap_handler(self._before, self.handle)

    def let_go(self) -> None:
        """Stop handling interrupts."""
        if self._is_held:
            _swap_handler(self.handle, self._before)

    def handle(self, *_: object) -> None:
        """Handle SIGINT."""
        if self._is_due or self.is_waiting:
            self._is_due = False
            raise KeyboardInterrupt
        self._is_due = True

    def check(self) -> None:
        """Raise an interrupt that arrived earlier."""
        if self._is_due:
            self._is_due = False
            raise KeyboardInterrupt


def _after_fork() -> None:
    """Restore the handlers of interrupts in a forked child; the calls continue only in the parent."""
    while isinstance(held := getattr(_signal.getsignal(_signal.SIGINT), "__self__", None), _Interrupts):
        held.let_go()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


def _swap_handler(before: Any, after: Any) -> bool:
    """Replace the handler of interrupts, if it is the expected one."""
    try:
        if _signal.getsignal(_signal.SIGINT) != before:
            return False
        _signal.signal(_signal.SIGINT, after)
    except ValueError:  # not in the main thread, or not in the main interpreter
        return False
    return True


class _WaitingThread:
    """A replacement for an event loop, for the executor, in a thread that waits for one call.

    It starts no tasks: an async function gets an event loop of its own in the thread.

    Args:
        waiting: the objects of this class for the thread's unfinished calls; the call of the last one runs
            the function that makes this call.

    Attributes:
        interrupts: handles the interrupts of the thread.
    """

    __slots__ = ("_waiting", "interrupts")

    has_tasks = False

    def __init__(self, waiting: list[Any]) -> None:
        self._waiting = waiting
        self.interrupts = _Interrupts(waiting[-1].interrupts.handle) if waiting else _Interrupts()

    def finish(self, start: Start) -> Any:
        """Run a coroutine that waits only for signals."""
        waiting, interrupts = self._waiting, self.interrupts
        interrupts.hold()
        try:
            waiting.append(self)
            return copy_context().run(_result_of, start())
        finally:
            waiting.pop()
            interrupts.let_go()
            interrupts.check()

    def home(self) -> _WaitingThread:
        """Return this backend: each call has its own."""
        return self

    def signal(self) -> _ThreadSignal:
        """Make a signal for the call."""
        return _ThreadSignal(self)

    def run(self, start: Start, ready: Ready, context: Context | None) -> Any:
        """Run a coroutine in an event loop of its own, which handles interrupts itself."""
        self.interrupts.let_go()
        try:
            return asyncio_backend().run(start, ready, context)
        finally:
            self.interrupts.hold()


class _ThreadSignal:
    """A lock that any thread may release, once.

    Attributes:
        home: the thread that waits for it.
    """

    __slots__ = ("_lock", "home")

    def __init__(self, home: _WaitingThread) -> None:
        self.home = home
        self._lock = allocate_lock()
        self._lock.acquire()

    def send(self) -> None:
        """End the wait, from any thread."""
        self._lock.release()

    def send_here(self) -> None:
        """End the wait."""
        self._lock.release()

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is sent or the time is over."""
        end = None if seconds is None else monotonic() + seconds
        interrupts = self.home.interrupts
        interrupts.is_waiting = True
        try:
            interrupts.check()
            left = _PAUSE
            while left > 0 and not self._lock.acquire(timeout=left):  # on Windows nothing interrupts it
                left = _PAUSE if end is None else min(_PAUSE, end - monotonic())
        finally:
            interrupts.is_waiting = False


def _result_of(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that needs no event loop to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    message = "something in it waits for an event loop, and none runs"
    raise RuntimeError(message)


# --- from the thread of an event loop ------------------------------------------------------------


def _run_beside(start: Callable[[], Coroutine[Any, Any, T]], backend: Backend) -> T:
    """Run a coroutine in an event loop of its own, in another thread, and wait for it.

    The coroutine sees the context variables of the caller. An exception that interrupts the wait, such as
    `KeyboardInterrupt`, cancels the coroutine, and is raised when that has ended; a second interrupt doesn't
    wait for it.

    Args:
        start: makes the coroutine.
        backend: the backend of the event loop.

    Returns:
        The result of the coroutine.

    Raises:
        RuntimeError: the system gives no more threads.
    """
    beside = _Beside(start, backend)
    thread = new_thread(beside.work, "run_sync")
    interrupts, cancellation = _Interrupts(), backend.cancellation()
    interrupts.hold()
    try:
        thread.start()
    finally:
        interrupts.let_go()
    interrupt = beside.serve(interrupts.check, cancellation)
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
        result: its result.
        error: its exception, or None.
    """

    def __init__(self, start: Callable[[], Coroutine[Any, Any, Any]], backend: Backend) -> None:
        self._start = start
        self._backend = backend
        self._context = copy_context()
        from queue import Empty, SimpleQueue  # only a thread with an event loop needs them

        self._empty = Empty
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

    def serve(
        self, check: Callable[[], None], cancellation: Callable[[], BaseException | None] | None
    ) -> BaseException | None:
        """Call the functions that the coroutine gives to the waiting thread until it has ended.

        Args:
            check: raises an interrupt that arrived during the start.
            cancellation: returns an exception if the wait should be interrupted, else None; called
                repeatedly.

        Returns:
            The exception that interrupted the wait, or None.
        """
        interrupt: BaseException | None = None
        while True:
            try:
                check()
                if not self._serve_one(cancellation if interrupt is None else None):
                    return interrupt
            except BaseException as error:  # an interrupt of this thread, or what a check raises
                if interrupt is not None:
                    raise
                interrupt = error
                self.cancel()

    def _serve_one(self, cancellation: Callable[[], BaseException | None] | None) -> bool:
        """Call the next function; return False if there will be none."""
        try:
            function = self._functions.get(timeout=None if cancellation is None else _PAUSE)
        except self._empty:
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
