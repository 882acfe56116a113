"""Coroutines that are cancelled when their time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..log import WARNING, write_log

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable, Coroutine

__all__ = ["Tasks"]


class Tasks:
    """Run each coroutine in a task of its own, and cancel it when its time is over.

    Args:
        grace: seconds that a cancelled coroutine gets to clean up.
    """

    __slots__ = ("_grace", "_left")

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._left: set[Task[Any]] = set()

    @property
    def abandoned(self) -> int:
        """Number of coroutines that were cancelled and still run."""
        return len(self._left)

    async def run(
        self, start: Callable[[], Coroutine[Any, Any, Any]], name: str, seconds: float | None
    ) -> Any:
        """Run a coroutine to its end.

        Cancelling this also cancels the coroutine, and raises `CancelledError` once that has ended.

        Args:
            start: makes the coroutine.
            name: of the task.
            seconds: that it may take; None for no limit.

        Returns:
            What it returns, or the exception that it raises; a `CancelledError` if it cancelled itself.

        Raises:
            TimeoutError: it took longer, and was cancelled.
        """
        import asyncio

        task = asyncio.create_task(_outcome_of(start), name=name)
        try:
            await asyncio.wait([task], timeout=seconds)
        except asyncio.CancelledError:
            await self._end(task)
            raise
        if not task.done():
            await self._end(task)
            raise TimeoutError
        return asyncio.CancelledError() if task.cancelled() else task.result()

    async def _end(self, task: Task[Any]) -> None:
        from asyncio import wait

        task.cancel()
        try:
            await wait([task], timeout=self._grace)
        finally:
            if not task.done():
                # Nothing else keeps a task alive.
                self._left.add(task)
                task.add_done_callback(self._left.discard)
                write_log(WARNING, "%s: was cancelled, and still runs", task.get_name())


async def _outcome_of(start: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Return what is raised: a task that raises `SystemExit` takes its event loop down."""
    from asyncio import CancelledError

    try:
        return await start()
    except CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # the caller raises it
        return error
