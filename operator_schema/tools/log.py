"""The log of tools that fail: one logger, `logging.getLogger("operator_schema")`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from .calls import exception_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from logging import Logger

__all__ = ["DEBUG", "ERROR", "INFO", "WARNING", "is_logged", "write_log"]

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
"""The levels of `logging`, which is loaded only when there is something to log."""

_MOST_EXCEPTIONS = 200
_DEEPEST_GROUP = 20


def write_log(level: int, message: str, *arguments: object, error: BaseException | None = None) -> None:
    """Log one message, with the traceback of an exception if there is one.

    What logging itself raises (a handler of your program, an exception that can't be printed) is dropped:
    a call must not lose its result by it.

    Args:
        level: as in `logging`.
        message: with a `%s` for each argument.
        arguments: what to put into it.
        error: the exception whose traceback is logged.
    """
    logger = _logger()
    if not logger.isEnabledFor(level):
        return
    if error is not None and not has_plain_traceback(error):
        message, arguments, error = f"{message}: %s", (*arguments, exception_text(error)), None
    with suppress(Exception):
        logger.log(level, message, *arguments, exc_info=error)


def is_logged(level: int) -> bool:
    """Return whether a message of this level goes anywhere, where it would be costly to write."""
    return _logger().isEnabledFor(level)


def _logger() -> Logger:
    from logging import getLogger

    return getLogger("operator_schema")


def has_plain_traceback(error: BaseException) -> bool:
    """Return whether `traceback` can write an exception with all that it was raised from.

    It can't where an attribute raises something, or where groups nest too deep; and hundreds of causes
    would take too long.
    """
    waiting: list[tuple[BaseException, int]] = [(error, 0)]
    seen: set[int] = set()
    try:
        while waiting:
            current, depth = waiting.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if len(seen) > _MOST_EXCEPTIONS or depth > _DEEPEST_GROUP:
                return False
            earlier = (current.__cause__, current.__context__)
            waiting += [(related, depth) for related in earlier if related is not None]
            getattr(current, "__notes__", None)
            inside: Sequence[BaseException] = getattr(current, "exceptions", ())
            if isinstance(current, BaseExceptionGroup):
                waiting += [(inner, depth + 1) for inner in inside]
    except Exception:  # noqa: BLE001  # the exception's own code
        return False
    return True
