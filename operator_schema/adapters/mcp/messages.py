"""Messages to the client before a call has its result: progress and log records."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import anyio
import mcp_types as types

from ...execution import current_backend
from ...json_values import without_surrogates
from ...message_text import received
from .generations import PerClient, connected_client, sends_log_level

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...execution import OnProgress
    from ...tools import ProgressUpdate, RawCall

    Send = Callable[[], Awaitable[None]]
    Report = Callable[[float, float | None, str | None], Awaitable[None]]
    from mcp.server.context import ServerRequestContext


T = TypeVar("T")

MOST_WAITING = 1000
"""The most messages of one call that wait for a slow client; the newest ones are kept."""


class Messages:
    """The messages of one call to the client before its result, in order."""

    __slots__ = ("_backend", "_home", "_is_over", "_waiting", "_woken")

    def __init__(self) -> None:
        self._backend = current_backend()
        self._home = self._backend.home()
        self._waiting: deque[Send] = deque(maxlen=MOST_WAITING)
        self._woken = anyio.Event()
        self._is_over = False

    def add(self, send: Send) -> None:
        """Queue a message, from any thread; after the end, do nothing."""
        if self._is_over:
            return
        self._waiting.append(send)
        with suppress(RuntimeError):  # the event loop is closed
            self._backend.call_soon(self._home, self._wake)

    def end(self) -> None:
        """Make `send_all` return once all messages are sent, from the thread of the event loop."""
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
    """Run a call, and meanwhile send its progress and log records.

    Args:
        run: a function that starts the call; it takes the `on_progress` of an executor.
        report: a function that sends an update of the progress; None for no updates.
        listen: a function that gets the messages before the call starts, to add others; None if there are no
            others.

    Raises:
        Exception: the call raised it; it isn't in a group.
    """
    messages = Messages()
    on_progress = None if report is None else _progress_sender(messages, report)
    if listen is not None:
        listen(messages)
    failure: Exception | None = None
    results: list[T] = []
    async with anyio.create_task_group() as group:
        group.start_soon(messages.send_all)
        try:
            results.append(await run(on_progress))
        except Exception as error:  # noqa: BLE001  # the group would wrap what is raised in it
            failure = error
        messages.end()
    if failure is not None:
        raise failure
    return results[0]


def _progress_sender(messages: Messages, report: Report) -> Callable[[RawCall, ProgressUpdate], None]:
    """Return a function for `on_progress` of an executor.

    The protocol requires each value to be higher than the one before; other values are left out.

    Args:
        messages: the messages of the call.
        report: a function that sends an update.
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
    except OverflowError:  # an integer larger than all floats
        return False


LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
"""From `debug` to `emergency`, the most severe last."""

_OF_PYTHON: tuple[tuple[int, types.LoggingLevel], ...] = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (logging.INFO, "info"),
)


class LogLevels:
    """The lowest level of log records that each client wants."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set: PerClient[list[types.LoggingLevel]] = PerClient(lambda _: [])

    def set(self, ctx: ServerRequestContext[Any, Any], level: types.LoggingLevel) -> None:
        """Remember the level of a client before 2026-07-28 while it is connected."""
        if connected_client(ctx) is not None:
            self._set.of(ctx)[:] = [level]

    def of(
        self, ctx: ServerRequestContext[Any, Any], *, unless_set: types.LoggingLevel | None = None
    ) -> types.LoggingLevel | None:
        """Return the level that a client has requested; None if it has requested none.

        Args:
            ctx: the context of a request.
            unless_set: the level for a client that sets its level once, and has set none so far.
        """
        if sends_log_level(ctx):
            asked: Any = (ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
            return asked if asked in LEVELS else None
        known = self._set.of(ctx)
        return known[0] if known else unless_set

    def set_by_all(self) -> list[types.LoggingLevel]:
        """Return the levels that the connected clients have set."""
        return [level for known in self._set.values() for level in known]


class _Listening:
    """A call whose client wants its log records.

    Attributes:
        logger: the name of the logger whose records, and those of loggers below it, are sent.
        least: the lowest level that the client wants, as a position in `LEVELS`.
        send: a function that takes level, name of the logger and text.
    """

    __slots__ = ("least", "logger", "send")

    def __init__(self, logger: str, least: int, send: Callable[[types.LoggingLevel, str, str], None]) -> None:
        self.logger = logger
        self.least = least
        self.send = send


_calling: ContextVar[_Listening | None] = ContextVar("operator_schema_mcp_log", default=None)
"""The call in whose task or threads a record is logged."""


class _ToClient(logging.Handler):
    """A handler that passes records to the call in which they are logged, if its client wants them.

    Args:
        logger: the name of the logger that it is attached to.
    """

    def __init__(self, logger: str) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on only the message of a record, since a traceback may show what the client must not see."""
        listening = _calling.get()
        # Another server may want the same record, for a logger above or below.
        if listening is None or listening.logger != self._logger:
            return
        level = _level_of(record.levelno)
        if LEVELS.index(level) < listening.least:
            return
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001  # what is logged may be anything
            self.handleError(record)
            return
        listening.send(level, without_surrogates(record.name), without_surrogates(text))


_attached: dict[str, _ToClient] = {}
"""The handlers for all servers, one for each logger, by its name."""


class ClientLog:
    """Send the records of one logger, and of those below it, to the client whose call logs them.

    Args:
        logger: the name, such as `acme.tools`; not empty, since nobody checks the records of the root logger.

    Raises:
        TypeError: the name isn't a string.
        ValueError: the name is empty.
    """

    __slots__ = ("_levels", "_logger")

    def __init__(self, logger: str) -> None:
        if not isinstance(logger, str):  # some callers ignore the annotations
            message = f"logger must be the name of a logger, such as 'acme.tools', not {received(logger)}"
            raise TypeError(message)
        if not logger:
            message = (
                "give the name of a logger: the root logger would also send records of other libraries to "
                "clients"
            )
            raise ValueError(message)
        self._logger = logger
        self._levels = LogLevels()
        if logger not in _attached:
            handler = _attached.setdefault(logger, _ToClient(logger))
            logging.getLogger(logger).addHandler(handler)

    async def set_level(
        self, ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Remember the level of one client, as the handler of `logging/setLevel`."""
        self._levels.set(ctx, params.level)
        return types.EmptyResult()

    def listen(self, ctx: ServerRequestContext[Any, Any], messages: Messages) -> None:
        """Forward log records of this task and its children, if the client wants them."""
        wanted = self._levels.of(ctx, unless_set="info")
        if wanted is None:
            return

        def send(level: types.LoggingLevel, logger: str, text: str) -> None:
            params = types.LoggingMessageNotificationParams(level=level, logger=logger, data=text)
            notification = types.LoggingMessageNotification(params=params)
            messages.add(lambda: ctx.session.send_notification(notification, ctx.request_id))

        _calling.set(_Listening(self._logger, LEVELS.index(wanted), send))


def _level_of(number: int) -> types.LoggingLevel:
    for least, level in _OF_PYTHON:
        if number >= least:
            return level
    return "debug"
