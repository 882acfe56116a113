"""How do progress and log records reach the client while a tool runs?"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

import anyio

from ...json_values import without_surrogates
from ...tools.execution.backends import current_backend

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...tools.calls import RawCall
    from ...tools.execution.reports import OnProgress
    from ...tools.progress import ProgressUpdate

    Send = Callable[[], Awaitable[None]]
    Report = Callable[[float, float | None, str | None], Awaitable[None]]

__all__ = ["Messages", "with_messages"]

T = TypeVar("T")

MOST_WAITING = 1000
"""Messages of one call that wait for a slow client at most; the newest are kept."""


class Messages:
    """What one call has to say to the client before its result, in order."""

    __slots__ = ("_backend", "_home", "_is_over", "_waiting", "_woken")

    def __init__(self) -> None:
        self._backend = current_backend()
        self._home = self._backend.home()
        self._waiting: deque[Send] = deque(maxlen=MOST_WAITING)
        self._woken = anyio.Event()
        self._is_over = False

    def add(self, send: Send) -> None:
        """Have a message sent, from any thread; nothing after the end."""
        if self._is_over:
            return
        self._waiting.append(send)
        with suppress(RuntimeError):  # the event loop is closed
            self._backend.call_soon(self._home, self._wake)

    def end(self) -> None:
        """Let `send_all` return when everything is sent, from the thread of the event loop."""
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        self._woken.set()

    async def send_all(self) -> None:
        """Send messages as they come, until the end."""
        while True:
            while self._waiting:
                await self._waiting.popleft()()
            if self._is_over:
                return
            await self._woken.wait()
            self._woken = anyio.Event()


async def with_messages(
    run: Callable[[OnProgress | None], Awaitable[T]],
    report: Report | None = None,
    listen: Callable[[Messages], None] | None = None,
) -> T:
    """Run a call, and send meanwhile what it reports and logs.

    Args:
        run: starts it; takes what an executor takes as `on_progress`.
        report: sends an update of its progress; None if it reports none.
        listen: gets the messages before the call starts, to add others; None if there are none.

    Raises:
        Exception: what it raises, not in a group.
    """
    if report is None and listen is None:
        return await run(None)
    messages = Messages()
    on_progress = None if report is None else _progress_sender(messages, report)
    if listen is not None:
        listen(messages)
    return await _sending(messages, lambda: run(on_progress))


async def _sending(messages: Messages, run: Callable[[], Awaitable[T]]) -> T:
    """Run a call, and send what it has to say meanwhile.

    Args:
        messages: of the call.
        run: starts it.

    Raises:
        Exception: what it raises, not in a group.
    """
    failure: Exception | None = None
    results: list[T] = []
    async with anyio.create_task_group() as group:
        group.start_soon(messages.send_all)
        try:
            results.append(await run())
        except Exception as error:  # noqa: BLE001  # the group would wrap what is raised in it
            failure = error
        messages.end()
    if failure is not None:
        raise failure
    return results[0]


def _progress_sender(messages: Messages, report: Report) -> Callable[[RawCall, ProgressUpdate], None]:
    """Return what an executor takes as `on_progress`.

    The protocol wants each value to be higher than the one before; what isn't is left out.

    Args:
        messages: of the call.
        report: sends an update.
    """
    last: float | None = None

    def on_progress(_: RawCall, update: ProgressUpdate) -> None:
        nonlocal last
        done, total = update.done, update.total
        if _is_finite(done) and (last is None or done > last):
            last = done
            known = total if _is_finite(total) else None
            text = None if update.message is None else without_surrogates(update.message)
            messages.add(lambda: report(done, known, text))

    return on_progress


def _is_finite(number: float | None) -> bool:
    try:
        return number is not None and isfinite(number)
    except OverflowError:  # an integer beyond all floats
        return False
