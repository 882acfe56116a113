"""How does a round use its store without making the event loop wait?"""

from __future__ import annotations

import atexit
import os
from _thread import allocate_lock  # `threading` itself is not needed
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..message_text import exception_text
from ..tools.logs import WARNING, write_log
from .async_libraries import current_backend
from .threads import ThreadRun, context_for_thread, start_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def in_store_thread(
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
    use = _StoreUse(function, undo)
    try:
        start_in_thread(use)
    except RuntimeError:  # the system gives no more threads, or the interpreter allows none
        _USES.discard(use)  # else the interpreter would wait for it at its end
        return function()
    wait = partial(use.signal.wait, None)
    try:
        if is_last:
            await current_backend().start(wait, use.name).wait_shielded(grace)
        else:
            await wait()
    except BaseException:
        if not use.leave():  # it ended just before: what it did must be undone all the same
            _start_alone(_StoreUse(use.drop, None))
        raise
    if use.leave():
        message = f"it takes longer than {grace:g} seconds, and goes on in a thread"
        raise TimeoutError(message)
    return cast("T", use.result())


def _start_alone(use: _StoreUse) -> None:
    """Run a function whose caller has stopped waiting."""
    try:
        start_in_thread(use)
    except RuntimeError:  # as above
        use.work()


class _StoreUse(ThreadRun):
    """One use of a store in its thread; it runs even if its caller is gone.

    Args:
        function: as for `in_store_thread`.
        undo: as for `in_store_thread`.

    Attributes:
        ends: a lock that nobody gets before the function has ended.
    """

    __slots__ = ("_undo", "ends")

    may_be_skipped = False

    def __init__(self, function: Callable[[], Any], undo: Callable[[Any], object] | None) -> None:
        super().__init__(function, "operator_schema store", context_for_thread(), _end)
        self._undo = undo
        self.ends = allocate_lock()
        self.ends.acquire()
        _USES.add(self)

    def drop(self) -> None:
        """Undo the work of the function, because its caller is gone, and log a failure."""
        try:
            outcome = self.result()
            if self._undo is not None:
                self._context.run(self._undo, outcome)
        except Exception as error:  # noqa: BLE001  # nobody is left to raise it to
            write_log(WARNING, "a store failed after its caller was cancelled: %s", exception_text(error))

    def result(self) -> Any:
        """Return the result of the function, or raise its exception."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def _end(use: Any) -> None:
    _USES.discard(use)
    use.ends.release()


_USES: set[_StoreUse] = set()
"""The uses of stores whose functions still run."""


def _finish() -> None:
    """Wait for the functions that still run, so that results are saved before the interpreter ends."""
    for use in list(_USES):
        use.ends.acquire()


atexit.register(_finish)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_USES.clear)
