"""Threads that wait for an event loop, and run functions for it meanwhile."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .backends import current_backend

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LENT", "LentThread", "lent_thread"]


class LentThread:
    """A thread that waits for an event loop, and runs functions for it meanwhile.

    Args:
        put: lets the thread call a function, from any thread.

    Attributes:
        home: the event loop; None before it runs.
    """

    __slots__ = ("home", "put")

    def __init__(self, put: Callable[[Callable[[], object]], object]) -> None:
        self.home: Any = None
        self.put = put


LENT: ContextVar[LentThread | None] = ContextVar("LENT", default=None)


def lent_thread() -> LentThread | None:
    """Return the thread that waits for the event loop that runs here, or None."""
    lent = LENT.get()
    return lent if lent is not None and lent.home is current_backend().home() else None
