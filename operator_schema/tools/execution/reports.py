"""From a tool that reports its progress to your program."""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Mapping
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, cast

from ..awaitables import close_awaitable, is_awaitable
from ..log import ERROR, write_log
from ..progress import Progress, ProgressUpdate, connect
from .backends import current_backend

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from ..calls import RawCall

    Context = Mapping[Any, Any]
    OnProgress = Callable[[RawCall, ProgressUpdate], object]

__all__ = ["ProgressReports", "with_progress"]

MOST_WAITING = 100
"""Updates of one call that wait for the event loop at most; the newest are kept."""


class ProgressReports:
    """Take what the function of one call reports, and give it to your program in order.

    Your program gets it in the thread of the event loop, with the context variables of the caller.

    Args:
        call: whose function it is.
        on_progress: what gets the updates.

    Attributes:
        progress: for the function.
    """

    __slots__ = (
        *("_backend", "_call", "_context", "_home", "_is_due", "_is_over", "_on", "_waiting"),
        "progress",
    )

    def __init__(self, call: RawCall, on_progress: OnProgress) -> None:
        self._call = call
        self._on = on_progress
        self._backend = current_backend()
        self._home = self._backend.home()
        self._context = copy_context()
        self._waiting: deque[ProgressUpdate] = deque(maxlen=MOST_WAITING)
        self._is_due = False
        self._is_over = False
        self.progress = Progress()
        connect(self.progress, self._add)

    def _add(self, update: ProgressUpdate) -> None:
        """Take an update, in any thread."""
        self._waiting.append(update)
        if not self._is_due:
            self._is_due = True
            with suppress(RuntimeError):  # the event loop is closed
                self._backend.call_soon(self._home, self._deliver)

    def _deliver(self) -> None:
        # Before the first update is taken: what comes later makes it due again.
        self._is_due = False
        if not self._is_over:
            self._deliver_waiting()

    def _deliver_waiting(self) -> None:
        for _ in range(len(self._waiting)):  # a thread may add more for ever
            try:
                self._context.run(self._give, self._waiting.popleft())
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001  # your program's own code
                write_log(ERROR, "%s: the function given as on_progress failed", self._call.name, error=error)

    def _give(self, update: ProgressUpdate) -> None:
        returned: Any = self._on(self._call, update)
        if is_awaitable(returned):
            close_awaitable(returned)
            message = "on_progress is a plain function, but it returned something to await"
            raise TypeError(message)

    def end(self) -> None:
        """Deliver pending progress, and accept no more after the call."""
        connect(self.progress, None)
        try:
            self._deliver_waiting()
        finally:
            self._is_over = True


def with_progress(
    call: RawCall, context: Context | None, on_progress: OnProgress | None
) -> tuple[Context | None, ProgressReports | None]:
    """Return the context with a `Progress` for a call, and what connects that with `on_progress`."""
    if context is not None and not isinstance(context, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # the tool says so
        return context, None
    if context is None:
        context = {}
    reports = None if on_progress is None else ProgressReports(call, on_progress)
    if Progress in context:
        return context, reports
    progress = Progress() if reports is None else reports.progress
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({Progress: progress}, cast("MutableMapping[Any, Any]", context)), reports
