"""How are failures and decisions logged, each with the round that it belongs to?"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..message_text import exception_text

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from logging import Logger


DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
"""The levels of `logging`, which is imported only when there is something to log."""

_ROUND: ContextVar[Any] = ContextVar("round", default=None)
"""The round whose calls are decided on or run here."""


@contextmanager
def logged_with_round(work: Any) -> Generator[None]:
    """Give each log record of this block the id of a round and its conversation."""
    token = _ROUND.set(work)
    try:
        yield
    finally:
        _ROUND.reset(token)


def write_log(level: int, message: str, *arguments: object, error: BaseException | None = None) -> None:
    """Log one message, with the traceback of an exception if there is one.

    The record has the attributes `round_id` and `conversation`; both are None outside of a round.

    Exceptions of logging itself (from a handler of your program, or an exception that can't be printed) are
    dropped, so that no call loses its result.

    Args:
        level: as in `logging`.
        message: with a `%s` for each argument.
        arguments: the arguments for the message.
        error: the exception whose traceback is logged.
    """
    logger = _logger()
    if not logger.isEnabledFor(level):
        return
    if error is not None and not has_plain_traceback(error):
        message, arguments, error = f"{message}: %s", (*arguments, exception_text(error)), None
    work = _ROUND.get()
    # An executor may also run objects that aren't our rounds.
    extra = {"round_id": getattr(work, "id", None), "conversation": getattr(work, "conversation", None)}
    with suppress(Exception):  # handlers and filters are your program's own code
        logger.log(level, message, *arguments, exc_info=error, extra=extra)


def is_logged(level: int) -> bool:
    """Return whether messages of this level are logged; check this before you prepare a costly one."""
    return _logger().isEnabledFor(level)


def _logger() -> Logger:
    from logging import getLogger

    return getLogger("operator_schema")


_MOST_EXCEPTIONS = 200
_DEEPEST_GROUP = 20


def has_plain_traceback(error: BaseException) -> bool:
    """Return whether `traceback` can write an exception with all its causes.

    It can't if an attribute raises an error or groups nest too deeply, and hundreds of causes would take too
    long.
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
