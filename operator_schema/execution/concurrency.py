"""How many calls run at once, in any number of event loops, and which one is next?"""

from __future__ import annotations

import os
from _thread import allocate_lock, get_ident  # `threading` itself is not needed
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..immutable import Value
from .async_libraries import current_backend

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Iterable

    from .async_libraries import Signal


_limited: WeakSet[Slots] = WeakSet()
"""All instances of `Slots` with a limit."""


class _Turn:
    """A task that waits for a slot.

    Attributes:
        number: its position in the order of arrival.
        signal: sent when it gets a slot.
        has_come: whether it has a slot.
    """

    __slots__ = ("has_come", "number", "signal")

    def __init__(self, number: int, signal: Signal) -> None:
        self.number = number
        self.signal = signal
        self.has_come = False


class HeldSlot:
    """The slot that one call holds.

    Args:
        slots: the slots that it belongs to.
        home: the event loop of the call.

    Attributes:
        slots: the slots that it belongs to.
        home: the event loop of the call.
        is_held: whether the call has the slot.
        thread: the thread in which its function runs while the call waits for it; None if it runs in none.
    """

    __slots__ = ("home", "is_held", "slots", "thread")

    def __init__(self, slots: Slots, home: Hashable) -> None:
        self.slots = slots
        self.home = home
        self.is_held = False
        self.thread: int | None = None


CURRENT_SLOT: ContextVar[HeldSlot | None] = ContextVar("operator_schema_slot", default=None)
"""The slot of the present call."""


class Load(Value):
    """How busy an executor is at this moment.

    Attributes:
        running: calls that hold one of the executor's places; None if their number isn't limited, since
            nobody counts them then.
        waiting: calls that wait for a place, and functions that wait for a thread.
        threads: functions that run in a thread, also those whose calls are over.
    """

    running: int | None
    waiting: int
    threads: int


class Slots:
    """A number of slots for calls; when all are taken, tasks wait for one in the order of arrival.

    A slot may outlive the event loop in which it was taken, because a thread can hold it. The semaphore of
    `asyncio` belongs to one loop, so it can't be used.

    Args:
        limit: the number of slots; None for no limit.
        is_shared: whether one owner gets at most three quarters of the slots that the other owners leave
            free, so that no owner can take the last slot from the others.
    """

    __slots__ = (
        *("__weakref__", "_count", "_free", "_held", "_is_shared", "_limit", "_lock"),
        *("_stuck", "_waiting"),
    )

    def __init__(self, limit: int | None, *, is_shared: bool = False) -> None:
        self._limit = limit
        self._is_shared = is_shared
        self.start_anew()
        if limit is not None:
            _limited.add(self)

    def start_anew(self) -> None:
        """Take all slots back, as in a forked process, where their holders don't run."""
        self._free = self._limit
        self._held: dict[Hashable, int] = {}
        self._stuck: set[HeldSlot] = set()
        self._waiting: dict[Hashable, deque[_Turn]] = {}
        self._count = 0
        self._lock = allocate_lock()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._free is not None

    @property
    def held(self) -> int | None:
        """Number of slots that are taken; None without a limit."""
        return None if self._limit is None or self._free is None else self._limit - self._free

    @property
    def waiting(self) -> int:
        """Number of owners' tasks that wait for a slot."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def acquire_now(self, owner: Hashable = "") -> bool:
        """Take a slot if one is free; return whether it was taken."""
        if self._free is None:
            return True
        with self._lock:
            is_free = self._may_take(owner)
            if is_free:
                self._take(owner)
            return is_free

    async def acquire(self, seconds: float | None = None, owner: Hashable = "") -> bool:
        """Wait for a slot, and take it.

        Args:
            seconds: the longest wait; None waits without limit.
            owner: who takes it.

        Returns:
            Whether a slot was taken; if so, give it back with `release`.
        """
        if self._free is None:
            return True
        with self._lock:
            if self._may_take(owner):
                self._take(owner)
                return True
            self._count += 1
            turn = _Turn(self._count, current_backend().signal())
            self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn.signal.wait(seconds)
        except BaseException:  # the call is cancelled
            if self._ends(turn, owner):
                self.release(owner)  # the slot arrived just now
            raise
        return self._ends(turn, owner)

    def _may_take(self, owner: Hashable) -> bool:
        free = self._free or 0
        if not self._is_shared:
            return free > 0
        held = self._held.get(owner, 0)
        return free > 0 and held < max(1, (free + held) * 3 // 4)

    def _take(self, owner: Hashable, number: int = 1) -> None:
        assert self._free is not None  # noqa: S101  # without a limit nothing is taken
        self._free -= number
        held = self._held.get(owner, 0) + number
        if held:
            self._held[owner] = held
        else:
            del self._held[owner]

    def _ends(self, turn: _Turn, owner: Hashable) -> bool:
        """Stop waiting; return whether the task got a slot."""
        with self._lock:
            if not turn.has_come:
                self._remove(turn, owner)
            return turn.has_come

    def _remove(self, turn: _Turn, owner: Hashable) -> None:
        with suppress(KeyError, ValueError):
            self._waiting[owner].remove(turn)
            if not self._waiting[owner]:
                del self._waiting[owner]

    def release(self, owner: Hashable = "") -> None:
        """Give a slot back, from any thread; the longest waiting task that may have it gets it."""
        if self._free is None:
            return
        with self._lock:
            self._release(owner)

    def _release(self, owner: Hashable) -> None:
        if owner in self._held:  # not in the child of a fork
            self._take(owner, -1)
            if self._waiting:
                self._hand_out()

    def hand_out(self) -> None:
        """Give free slots to the tasks that may take one now."""
        with self._lock:
            self._hand_out()

    def _hand_out(self) -> None:
        while (found := self._next()) is not None:
            owner, turn = found
            self._remove(turn, owner)
            with suppress(RuntimeError):  # its event loop was closed while it waited
                turn.signal.send()
                turn.has_come = True
                self._take(owner)

    def _next(self) -> tuple[Hashable, _Turn] | None:
        """Return the longest waiting task that may take a slot now."""
        first: tuple[Hashable, _Turn] | None = None
        for owner, turns in self._waiting.items():
            if not self._may_take(owner):
                continue
            turn = next((turn for turn in turns if not blocked.skips(turn.signal.home, self)), None)
            if turn is not None and (first is None or turn.number < first[1].number):
                first = owner, turn
        return first

    def give_back(self, slot: HeldSlot) -> None:
        """Give the slot of a call back, as `release` does; its function may still run in a thread.

        Nothing happens if the call doesn't have it.
        """
        if not slot.is_held:
            return
        slot.thread = None
        self._stuck.discard(slot)
        with self._lock:
            slot.is_held = False
            self._release(slot.home)

    def slot_of_thread(self) -> HeldSlot | None:
        """Return the slot of the call whose function runs in this thread, or None."""
        slot = CURRENT_SLOT.get()
        is_here = slot is not None and slot.slots is self and slot.thread == get_ident()
        return slot if is_here else None

    @contextmanager
    def needed_by(self, slot: HeldSlot | None) -> Generator[int]:
        """Inside a `with` block, mark the slot of a call that needs another slot to go on.

        Args:
            slot: its slot; None if no call waits for this thread.

        Yields:
            The number of slots if all of them are held by calls that can't go on, otherwise 0. Such a call
            needs another slot itself, or its event loop is blocked.
        """
        with self._lock:
            if slot is not None:
                self._stuck.add(slot)
            held = self._held_by_stuck_calls()
        try:
            yield held
        finally:
            if slot is not None:
                self._stuck.discard(slot)

    def _held_by_stuck_calls(self) -> int:
        if self._free != 0:
            return 0
        homes = [slot.home for slot in tuple(self._stuck)]
        if any(not blocked.has(home) and homes.count(home) < held for home, held in self._held.items()):
            return 0
        return sum(self._held.values())


class BlockedLoops:
    """The event loops that are blocked, because their threads wait for calls in another event loop.

    Nothing in such a loop can go on, so a slot given to it could not be used.
    """

    __slots__ = ("_lock", "_skipped")

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Forget all event loops, as in a forked process, where none of their threads runs."""
        self._skipped: dict[Any, set[Slots]] = {}
        self._lock = allocate_lock()

    def has(self, home: Any) -> bool:
        """Return whether an event loop is blocked."""
        return home in self._skipped

    def skips(self, home: Any, slots: Slots) -> bool:
        """Return whether to skip an event loop because it is blocked; it gets slots once it goes on."""
        if not self._skipped:
            return False
        with self._lock:
            if home not in self._skipped:
                return False
            self._skipped[home].add(slots)
            return True

    @contextmanager
    def blocking(self, homes: Iterable[Any]) -> Generator[None]:
        """Mark event loops as blocked inside a `with` block."""
        with self._lock:
            new = [home for home in homes if home not in self._skipped]
            self._skipped.update({home: set[Slots]() for home in new})
        try:
            yield
        finally:
            with self._lock:
                skipped = set[Slots]().union(*[self._skipped.pop(home, ()) for home in new])
            for slots in skipped:
                slots.hand_out()


blocked = BlockedLoops()


def _after_fork() -> None:
    """Give a child all slots: the threads and tasks that held or locked them exist only in the parent."""
    blocked.start_anew()
    for slots in list(_limited):
        slots.start_anew()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
