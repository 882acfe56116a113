"""A limit on what runs at once, for the tasks of any number of event loops."""

from __future__ import annotations

from _thread import allocate_lock  # `threading` itself is not needed
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

__all__ = ["Slots"]


class _Turn(NamedTuple):
    """One that waits for a slot."""

    number: int
    loop: AbstractEventLoop
    given: Future[None]


class Slots:
    """Let a number run at once, and the others wait in the order in which they came.

    What holds a slot may outlive the event loop that it was taken in, as a thread does. The semaphore
    of `asyncio` belongs to one loop, so it can't be used.

    Args:
        limit: on those that hold a slot at the same time; None for no limit.
        is_shared: whether one owner gets at most three quarters of the slots that the other owners
            leave. Then no owner can take the last slot from the others.
    """

    __slots__ = ("_count", "_free", "_held", "_is_shared", "_lock", "_waiting")

    def __init__(self, limit: int | None, *, is_shared: bool = False) -> None:
        self._free = limit
        self._is_shared = is_shared
        self._held: dict[str, int] = {}
        self._waiting: dict[str, deque[_Turn]] = {}
        self._count = 0
        self._lock = allocate_lock()

    async def acquire(self, seconds: float | None = None, owner: str = "") -> bool:
        """Wait for a slot, and take it.

        Args:
            seconds: to wait at most; None waits as long as it takes.
            owner: who takes it.

        Returns:
            Whether a slot was taken, which is then to be given back with `release`.
        """
        if self._free is None:
            return True
        from asyncio import get_running_loop, wait

        with self._lock:
            if self._may_take(owner):
                self._take(owner)
                return True
            self._count += 1
            loop = get_running_loop()
            turn = _Turn(self._count, loop, loop.create_future())
            self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await wait([turn.given], timeout=seconds)
        except BaseException:
            self._leave(turn, owner)
            raise
        if not turn.given.done():
            self._leave(turn, owner)
            return False
        return True

    def _may_take(self, owner: str) -> bool:
        free = self._free or 0
        if not self._is_shared:
            return free > 0
        held = self._held.get(owner, 0)
        return free > 0 and held < max(1, (free + held) * 3 // 4)

    def _take(self, owner: str, number: int = 1) -> None:
        assert self._free is not None  # noqa: S101  # without a limit nothing is taken
        self._free -= number
        held = self._held.get(owner, 0) + number
        if held:
            self._held[owner] = held
        else:
            del self._held[owner]

    def _leave(self, turn: _Turn, owner: str) -> None:
        if turn.given.done():
            self.release(owner)  # the slot came at the moment of leaving
            return
        turn.given.cancel()
        with self._lock, suppress(KeyError, ValueError):
            self._waiting[owner].remove(turn)
            self._forget(owner)

    def _forget(self, owner: str) -> None:
        if not self._waiting[owner]:
            del self._waiting[owner]

    def release(self, owner: str = "") -> None:
        """Give a slot back, from any thread: to the one that has waited longest and may have it."""
        if self._free is None:
            return
        with self._lock:
            self._take(owner, -1)
            while (turn_of := self._next()) is not None:
                turn = self._waiting[turn_of].popleft()
                self._forget(turn_of)
                with suppress(RuntimeError):  # its event loop was closed while it waited
                    turn.loop.call_soon_threadsafe(self._hand_over, turn, turn_of)
                    self._take(turn_of)

    def _next(self) -> str | None:
        """Return the owner that has waited longest of those that may take a slot now."""
        able = [(turns[0].number, owner) for owner, turns in self._waiting.items() if self._may_take(owner)]
        return min(able)[1] if able else None

    def _hand_over(self, turn: _Turn, owner: str) -> None:
        if turn.given.done():  # it left before
            self.release(owner)
        else:
            turn.given.set_result(None)
