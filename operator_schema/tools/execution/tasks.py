"""Coroutines that are cancelled when their time is over."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..log import WARNING, write_log
from .backends import current_backend

if TYPE_CHECKING:
    from .event_loop import Job, Start

__all__ = ["Tasks"]


class Tasks:
    """Run each coroutine in a task of its own, and cancel it when its time is over.

    Args:
        grace: seconds that a cancelled coroutine gets to clean up.
    """

    __slots__ = ("_grace", "_left")

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._left: set[Job] = set()

    @property
    def abandoned(self) -> int:
        """Number of coroutines that were cancelled and still run."""
        return len(self._left)

    async def run(self, start: Start, name: str, seconds: float | None) -> Any:
        """Run a coroutine to its end.

        Cancelling this also cancels the coroutine, and raises the cancellation once that has ended.

        Args:
            start: makes the coroutine.
            name: of the task.
            seconds: that it may take; None for no limit.

        Returns:
            What it returns, or the exception that it raises; a cancellation if it cancelled itself.

        Raises:
            TimeoutError: it took longer, and was cancelled.
        """
        job = current_backend().start(start, name)
        try:
            await job.wait(seconds)
        except GeneratorExit:  # nothing can be awaited any more
            with suppress(RuntimeError):  # the event loop is closed
                job.cancel()
            raise
        except BaseException:
            await self._end(job)
            raise
        if not job.is_done:
            await self._end(job)
            raise TimeoutError
        return job.outcome

    async def _end(self, job: Job) -> None:
        job.cancel()
        try:
            await job.wait_shielded(self._grace)
        finally:
            if not job.is_done:
                # Nothing else keeps a task alive.
                self._left.add(job)
                job.when_done(self._left.discard)
                write_log(WARNING, "%s: was cancelled, and still runs", job.name)
