"""How does a round use its store without making the event loop wait?"""

from __future__ import annotations

import atexit
import os
from _thread import allocate_lock  # `threading` itself is not needed
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..message_text import exception_text
from ..tools.failures import WARNING, write_log
from .async_libraries import current_backend
from .threads import context_for_thread, start_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from .async_libraries import Signal

T = TypeVar("T")


async def in_thread(
    function: Callable[[], T],
    undo: Callable[[T], object] | None = None,
    *,
    is_last: bool = False,
    grace: float = 0.0,
) -> T:
    """Run a function in a thread, to its end: a caller that is cancelled stops waiting, and nothing else.

    The interpreter doesn't end before the function does. Where no thread can start, it runs here.

    Args:
        function: to run.
        undo: gets what the function returned if nobody waits for it any more, in the thread.
        is_last: whether the caller was cancelled before, and has only this left to do. Then it waits for the
            function, however often it is cancelled.
        grace: for how many seconds such a caller waits.

    Raises:
        TimeoutError: the function takes longer than `grace`, and goes on alone.
        BaseException: whatever the function raises.
    """
    backend = current_backend()
    use = _Use(function, undo, backend.signal())
    try:
        start_in_thread(use)
    except RuntimeError:  # the system gives no more threads, or the interpreter allows none
        _USES.discard(use)  # else the interpreter would wait for it at its end
        return function()
    wait = partial(use.signal.wait, None)
    try:
        if is_last:
            await backend.start(wait, use.name).wait_shielded(grace)
        else:
            await wait()
    except BaseException:
        if not use.goes_on_alone():  # it ended just before: what it did must be undone all the same
            _start_alone(_Use(use.end_alone, None, backend.signal()))
        raise
    if use.goes_on_alone():
        message = f"it takes longer than {grace:g} seconds, and goes on in a thread"
        raise TimeoutError(message)
    return cast("T", use.result())


def _start_alone(use: _Use) -> None:
    """Run a function whose caller has stopped waiting."""
    try:
        start_in_thread(use)
    except RuntimeError:  # as above
        use.work()


class _Use:
    """One use of a store in its thread.

    Args:
        function: as for `in_thread`.
        undo: as for `in_thread`.
        signal: tells the caller that the function has ended.

    Attributes:
        name: of the thread meanwhile.
        signal: as given.
        ends: a lock that nobody gets before the function has ended.
    """

    __slots__ = (
        "_context",
        "_function",
        "_has_ended",
        "_is_left",
        "_lock",
        "_outcome",
        "_undo",
        "ends",
        "signal",
    )

    name = "operator_schema store"

    def __init__(
        self, function: Callable[[], Any], undo: Callable[[Any], object] | None, signal: Signal
    ) -> None:
        self._context = context_for_thread()
        self._function = function
        self._undo = undo
        self.signal = signal
        self._lock, self.ends = allocate_lock(), allocate_lock()
        self._has_ended = self._is_left = False
        self._outcome: Any = None
        self.ends.acquire()
        _USES.add(self)

    def work(self) -> None:
        """Run the function, in the thread."""
        try:
            self._outcome = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001  # the caller raises it
            self._outcome = _Raised(error)
        with self._lock:
            self._has_ended = True
            is_left = self._is_left
        try:
            if is_left:
                self.end_alone()
        finally:
            _USES.discard(self)
            self.ends.release()

    def end_alone(self) -> None:
        """Undo the work of the function, because its caller is gone, and log a failure."""
        try:
            outcome = self.result()
            if self._undo is not None:
                self._context.run(self._undo, outcome)
        except Exception as error:  # noqa: BLE001  # nobody is left to raise it to
            write_log(WARNING, "a store failed after its caller was cancelled: %s", exception_text(error))

    def deliver(self) -> None:
        """Tell the caller that the function has ended, from the thread."""
        try:
            self.signal.send()
        except RuntimeError:  # the loop is closed, and its callers are gone
            return

    def goes_on_alone(self) -> bool:
        """Stop waiting for the function; return whether it still runs."""
        with self._lock:
            self._is_left = not self._has_ended
            return self._is_left

    def result(self) -> Any:
        """Return the result of the function, or raise its exception."""
        if isinstance(self._outcome, _Raised):
            raise self._outcome.error
        return self._outcome


class _Raised:
    """An exception that a function raised.

    Attributes:
        error: the exception.
    """

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


_USES: set[_Use] = set()
"""The uses of stores whose functions still run."""


def _finish() -> None:
    """Wait for the functions that still run, so that results are saved before the interpreter ends."""
    for use in list(_USES):
        use.ends.acquire()


atexit.register(_finish)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_USES.clear)
