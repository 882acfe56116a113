"""A limit on what runs at once, for the tasks of any number of event loops."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` itself is not needed
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

__all__ = ["Slots"]


class Slots:
    """Let so many run at once, and the others wait in the order in which they came.

    What holds a slot may outlive the event loop that it was taken in, as a thread does: the semaphore
    of `asyncio`, which belongs to one loop, would not do.

    Args:
        limit: on those who have one at the same time; None for no limit.
    """

    __slots__ = ("_free", "_lock", "_waiting")

    def __init__(self, limit: int | None) -> None:
        self._free = limit
        self._lock = allocate_lock()
        self._waiting: deque[tuple[AbstractEventLoop, Future[None]]] = deque()

    async def acquire(self, seconds: float | None = None) -> bool:
        """Wait for a slot, and take it.

        Args:
            seconds: to wait at most; None waits as long as it takes.

        Returns:
            Whether a slot was taken, which is then to be given back with `release`.
        """
        if self._free is None:
            return True
        from asyncio import get_running_loop, wait  # noqa: PLC0415  # whoever runs this has it already

        loop = get_running_loop()
        turn: Future[None] = loop.create_future()
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.append((loop, turn))
        try:
            await wait([turn], timeout=seconds)
        except BaseException:
            self._leave(loop, turn)
            raise
        if not turn.done():
            self._leave(loop, turn)
            return False
        return True

    def _leave(self, loop: AbstractEventLoop, turn: Future[None]) -> None:
        if turn.done():
            self.release()  # it came at the same time as the wish to leave
            return
        turn.cancel()
        with self._lock, suppress(ValueError):
            self._waiting.remove((loop, turn))

    def release(self) -> None:
        """Give a slot back, from any thread: to who waits longest, if anybody does."""
        if self._free is None:
            return
        with self._lock:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                with suppress(RuntimeError):  # its loop was closed while it waited
                    loop.call_soon_threadsafe(self._hand_over, turn)
                    return
            self._free += 1

    def _hand_over(self, turn: Future[None]) -> None:
        if turn.done():  # who waited has left meanwhile
            self.release()
        else:
            turn.set_result(None)
