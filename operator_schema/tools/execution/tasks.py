"""Coroutines that are cancelled when their time is over."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..log import WARNING, write_log
from .backends import current_backend

if TYPE_CHECKING:
    from collections.abc import Generator

    from .backends import Job, Start

__all__ = ["Tasks", "person_answers"]

_LEAST_WAIT = 0.1
"""Seconds between two looks at a call whose time is over but for a person who answers."""


class _Clock:
    """How long a call has waited for people, whose time doesn't count for it.

    Args:
        outer: of the call whose function makes this one.
    """

    # On the class, since every call makes a clock and hardly any asks a person.
    _earlier = 0.0
    _questions = 0
    _since = 0.0

    def __init__(self, outer: _Clock | None) -> None:
        self._outer = outer

    @property
    def is_stopped(self) -> bool:
        """Whether a person is asked now."""
        return self._questions > 0

    def waited(self) -> float:
        """Return the seconds until now in which a person was asked."""
        return self._earlier + (monotonic() - self._since if self._questions else 0.0)

    def stop(self) -> None:
        """Stop it, once more if it is stopped already: several tasks of a call may ask."""
        if not self._questions:
            self._since = monotonic()
        self._questions += 1
        if self._outer is not None:
            self._outer.stop()

    def go_on(self) -> None:
        """Let it go on, once all questions are answered."""
        if self._questions == 1:
            self._earlier = self.waited()
        self._questions -= 1
        if self._outer is not None:
            self._outer.go_on()


_clock: ContextVar[_Clock | None] = ContextVar("operator_schema_clock", default=None)
"""Of the call in whose coroutine, or in one of whose tasks, something runs."""


@contextmanager
def person_answers() -> Generator[None]:
    """Let no time pass for the call that runs here, while a person is asked inside of this."""
    clock = _clock.get()
    if clock is None:
        yield
        return
    clock.stop()
    try:
        yield
    finally:
        clock.go_on()


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
            seconds: that it may take, beside those in which `person_answers`; None for no limit.

        Returns:
            What it returns, or the exception that it raises; a cancellation if it cancelled itself.

        Raises:
            TimeoutError: it took longer, and was cancelled.
        """
        backend = current_backend()
        if not backend.has_tasks:
            return backend.run(partial(self.run, start, name, seconds), _ignore, None)
        clock = _Clock(_clock.get())
        token = _clock.set(clock)
        try:
            job = backend.start(start, name)
        finally:
            _clock.reset(token)
        began = monotonic()
        try:
            await job.wait(seconds)
            if not job.is_done and seconds is not None:
                await _wait_longer(job, clock, began + seconds)
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


async def _wait_longer(job: Job, clock: _Clock, end: float) -> None:
    """Wait as long as people have answered meanwhile, or until a job has ended."""
    while not job.is_done:
        left = end + clock.waited() - monotonic()
        if clock.is_stopped:
            left = max(left, _LEAST_WAIT)
        elif left <= 0:
            return
        await job.wait(left)


def _ignore(_: object) -> None:
    """Take the function that cancels, where nobody else could call it."""
