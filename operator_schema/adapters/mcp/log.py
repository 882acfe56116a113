"""How do the log records of a call reach the client that made it?"""

from __future__ import annotations

import logging
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, get_args

import mcp_types as types

from ...json_values import without_surrogates
from ...wording import received
from .described import is_modern

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from .messages import Messages

__all__ = ["ClientLog"]

_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
"""From `debug` to `emergency`, the most important last."""

_UNASKED: types.LoggingLevel = "info"
"""What a client of an earlier generation gets that doesn't say a level, as it needn't."""

_MODERN_LEVEL = types.LOG_LEVEL_META_KEY

_OF_PYTHON: tuple[tuple[int, types.LoggingLevel], ...] = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (logging.INFO, "info"),
)


class _Listening:
    """A call whose client wants its log records.

    Attributes:
        logger: name of the logger above all whose records are sent.
        least: the least important level that the client wants, as a position in `_LEVELS`.
        send: takes level, name of the logger and text.
    """

    __slots__ = ("least", "logger", "send")

    def __init__(self, logger: str, least: int, send: Callable[[types.LoggingLevel, str, str], None]) -> None:
        self.logger = logger
        self.least = least
        self.send = send


_calling: ContextVar[_Listening | None] = ContextVar("operator_schema_mcp_log", default=None)
"""The call in whose task, or in one of whose threads, a record is logged."""


class _ToClient(logging.Handler):
    """Hand records over to the call in which they are logged, if its client wants them.

    Args:
        logger: name of the logger that it is attached to.
    """

    def __init__(self, logger: str) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Hand one over: its message alone, as a traceback may show what the client must not see."""
        listening = _calling.get()
        # Of a logger above or below, another server may want the same record.
        if listening is None or listening.logger != self._logger:
            return
        level = _level_of(record.levelno)
        if _LEVELS.index(level) < listening.least:
            return
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001  # what is logged may be anything
            self.handleError(record)
            return
        listening.send(level, without_surrogates(record.name), without_surrogates(text))


_attached: dict[str, _ToClient] = {}
"""Name of a logger to the one handler that it has for all servers."""


class ClientLog:
    """Send the records of one logger, and of those below it, to the client whose call logs them.

    Args:
        logger: its name, such as `acme.tools`; never empty, as the root logger has what nobody checked.

    Raises:
        TypeError: it isn't a string.
        ValueError: it is empty.
    """

    __slots__ = ("_levels", "_logger")

    def __init__(self, logger: str) -> None:
        if not isinstance(logger, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
            message = f"logger is the name of a logger, such as 'acme.tools', not {received(logger)}"
            raise TypeError(message)
        if not logger:
            message = "logger is the name of a logger; the root logger also has what a client must not see"
            raise ValueError(message)
        self._logger = logger
        self._levels: dict[int, tuple[weakref.ref[Any], types.LoggingLevel]] = {}
        if logger not in _attached:
            handler = _attached.setdefault(logger, _ToClient(logger))
            logging.getLogger(logger).addHandler(handler)

    async def set_level(
        self, ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Remember what one client wants, as the handler of `logging/setLevel`."""
        client = ctx.session.client_params  # one object for each connection, as long as it lasts
        if client is not None:
            key = id(client)
            reference = weakref.ref(client, lambda _: self._levels.pop(key, None))
            self._levels[key] = reference, params.level
        return types.EmptyResult()

    def listen(self, ctx: ServerRequestContext[Any, Any], messages: Messages) -> None:
        """Send what is logged from here on in this task, and in what it starts, if the client wants it."""
        wanted = self._wanted(ctx)
        if wanted is None:
            return

        def send(level: types.LoggingLevel, logger: str, text: str) -> None:
            params = types.LoggingMessageNotificationParams(level=level, logger=logger, data=text)
            notification = types.LoggingMessageNotification(params=params)
            messages.add(lambda: ctx.session.send_notification(notification, ctx.request_id))

        _calling.set(_Listening(self._logger, _LEVELS.index(wanted), send))

    def _wanted(self, ctx: ServerRequestContext[Any, Any]) -> types.LoggingLevel | None:
        if is_modern(ctx.protocol_version):
            asked: Any = (ctx.meta or {}).get(_MODERN_LEVEL)
            return asked if asked in _LEVELS else None
        reference, level = self._levels.get(id(ctx.session.client_params), (None, _UNASKED))
        return level if reference is None or reference() is ctx.session.client_params else _UNASKED


def _level_of(number: int) -> types.LoggingLevel:
    for least, level in _OF_PYTHON:
        if number >= least:
            return level
    return "debug"
