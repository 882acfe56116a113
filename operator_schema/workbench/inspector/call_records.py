"""Which records does a call write to the log, while other calls run beside it?"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from ...message_text import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_MOST_RECORDS = 200
_LONGEST_LINE = 2_000

_Listener: TypeAlias = "tuple[list[dict[str, Any]], Callable[[dict[str, Any]], object]]"
_LISTENING: ContextVar[_Listener | None] = ContextVar("records of one call", default=None)


@contextmanager
def records_of_call(say: Callable[[dict[str, Any]], object]) -> Generator[list[dict[str, Any]]]:
    """Collect the log records of the code inside, also from the threads that it starts for tools.

    Args:
        say: a function that gets each record as `{"record": …}`.

    Yields:
        The records, in a list that grows.
    """
    kept: list[dict[str, Any]] = []
    before = _LISTENING.set((kept, say))
    _HANDLER.begin()
    try:
        yield kept
    finally:
        _HANDLER.end()
        _LISTENING.reset(before)


class _CallLogHandler(logging.Handler):
    """A handler that collects log records while calls run, each for the call that logs it.

    While a call runs, it is attached to the root logger, whose level is then at most INFO.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0
        self._level = logging.NOTSET

    def begin(self) -> None:
        """Listen for another call."""
        with _LOCK:
            self._calls += 1
            if self._calls == 1:
                root = logging.getLogger()
                self._level = root.level
                root.addHandler(self)
                root.setLevel(min(root.level, logging.INFO))

    def end(self) -> None:
        """Stop listening for a call; after the last one, restore the root logger."""
        with _LOCK:
            self._calls -= 1
            if not self._calls:
                root = logging.getLogger()
                root.removeHandler(self)
                root.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        """Store a record."""
        listener = _LISTENING.get()
        if listener is None or len(listener[0]) >= _MOST_RECORDS:
            return
        kept, say = listener
        try:
            text = clip(record.getMessage(), _LONGEST_LINE)
        except Exception as error:  # noqa: BLE001  # the program's own arguments of a record
            text = f"(a record that can't be written: {type(error).__name__})"
        about = {"level": record.levelname, "logger": record.name, "text": text}
        kept.append(about)
        say({"record": about})


_LOCK = Lock()
_HANDLER = _CallLogHandler()
