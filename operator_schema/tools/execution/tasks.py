"""Coroutines that are ended when their time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable, Coroutine

__all__ = ["Tasks"]


class Tasks:
    """Run each coroutine in a task of its own, and end it when its time is over.

    Args:
        grace: seconds that a cancelled coroutine gets for tidying up.
    """

    __slots__ = ("_grace", "_left")

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._left: set[Task[Any]] = set()

    @property
    def abandoned(self) -> int:
        """Number of those that were cancelled and still run."""
        return len(self._left)

    async def run(
        self, start: Callable[[], Coroutine[Any, Any, Any]], name: str, seconds: float | None
    ) -> Any:
        """Run a coroutine to its end.

        Cancellation goes on to the coroutine, and is raised again once that has ended.

        Args:
            start: makes the coroutine.
            name: of the task.
            seconds: that it may take; None for no limit.

        Returns:
            What it returns, or the exception that it raises. That it was cancelled, but not from
            here, is a `CancelledError` that is returned.

        Raises:
            TimeoutError: it took longer, and was cancelled.
        """
        import asyncio  # noqa: PLC0415  # whoever runs this has it already

        task = asyncio.create_task(_held(start), name=name)
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
        from asyncio import wait  # noqa: PLC0415

        task.cancel()
        try:
            await wait([task], timeout=self._grace)
        finally:
            if not task.done():
                # Nothing else keeps a task alive.
                self._left.add(task)
                task.add_done_callback(self._left.discard)
                _warn(task.get_name())


async def _held(start: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Return what is raised: a task that raises `SystemExit` takes its event loop down."""
    from asyncio import CancelledError  # noqa: PLC0415

    try:
        return await start()
    except CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # whoever waits for it raises it
        return error


def _warn(name: str) -> None:
    from logging import getLogger  # noqa: PLC0415  # only what goes wrong pays for it

    getLogger(__name__).warning("%s: was cancelled and still runs", name)
