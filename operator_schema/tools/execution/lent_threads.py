"""Threads that wait for an event loop, and run functions for it meanwhile."""

from __future__ import annotations

from _thread import get_ident
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .backends import current_backend

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LENT", "LentThread", "lent_thread", "loops_waiting_here"]


class LentThread:
    """The thread that makes this, which waits for an event loop and runs functions for it meanwhile.

    Args:
        put: lets the thread call a function, from any thread.

    Attributes:
        home: the event loop; None before it runs.
    """

    __slots__ = ("_ident", "_outer", "home", "put")

    def __init__(self, put: Callable[[Callable[[], object]], object]) -> None:
        self.home: Any = None
        self.put = put
        self._ident = get_ident()
        self._outer = LENT.get()

    def homes(self) -> list[Any]:
        """List the event loop, and those for which the thread was running a function before it waited.

        There are none in any other thread.
        """
        if self._ident != get_ident():
            return []
        return [self.home, *(self._outer.homes() if self._outer is not None else ())]


LENT: ContextVar[LentThread | None] = ContextVar("LENT", default=None)


def lent_thread() -> LentThread | None:
    """Return the thread that waits for the event loop that runs here, or None."""
    lent = LENT.get()
    return lent if lent is not None and lent.home is current_backend().home() else None


def loops_waiting_here() -> list[Any]:
    """List the event loops that wait for functions which they run in this thread."""
    lent = LENT.get()
    return [] if lent is None else lent.homes()
