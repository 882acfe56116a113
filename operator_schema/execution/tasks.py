"""How does a coroutine run in a task of its own, and end in time, although people may take long to answer?"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..tools.logs import WARNING, write_log
from .async_libraries import current_backend

if TYPE_CHECKING:
    from collections.abc import Generator

    from .async_libraries import Job, Start


async def run_in_task(start: Start, name: str, seconds: float | None, grace: float, left: set[Job]) -> Any:
    """Run a coroutine in a task of its own, to its end, and cancel it when its time is over.

    Cancelling this also cancels the coroutine, and raises the cancellation when the coroutine has ended.

    Args:
        start: makes the coroutine.
        name: the name of the task.
        seconds: how long it may take, without the time in which `person_answers`; None for no limit.
        grace: seconds that a cancelled coroutine gets to clean up.
        left: gets the tasks that were cancelled and still run, as long as they do.

    Returns:
        The coroutine's result, or its exception; a cancellation if it cancelled itself.

    Raises:
        TimeoutError: the coroutine took longer, and was cancelled.
    """
    backend = current_backend()
    if not backend.has_tasks:
        return backend.run(partial(run_in_task, start, name, seconds, grace, left), _ignore, None)
    clock = _Clock(_clock.get())
    token = _clock.set(clock)
    try:
        job = backend.start(start, name)
    finally:
        _clock.reset(token)
    began = monotonic()
    try:
        await job.wait(seconds)
        if job.is_done:
            return job.outcome
        if seconds is not None:
            await _wait_longer(job, clock, began + seconds)
    except GeneratorExit:  # nothing can be awaited any more
        with suppress(RuntimeError):  # the event loop is closed
            job.cancel()
        raise
    except BaseException:  # the call is cancelled
        await _end(job, grace, left)
        raise
    if not job.is_done:
        await _end(job, grace, left)
        raise TimeoutError
    return job.outcome


async def _end(job: Job, grace: float, left: set[Job]) -> None:
    """Cancel a job, and wait until it has ended or its time to clean up is over."""
    job.cancel()
    try:
        await job.wait_shielded(grace)
    finally:
        if not job.is_done:
            left.add(job)  # nothing else keeps a task alive
            job.when_done(left.discard)
            write_log(WARNING, "%s: was cancelled, and still runs", job.name)


def _ignore(_: object) -> None:
    """Ignore the function that cancels the coroutine, because nobody could call it."""


_LEAST_WAIT = 0.1
"""Seconds between two looks at a call whose time is over except for a person's answer."""


async def _wait_longer(job: Job, clock: _Clock, end: float) -> None:
    """Wait as much longer as people have taken to answer, or until a job has ended."""
    while not job.is_done:
        left = end + clock.waited() - monotonic()
        if clock.is_stopped:
            left = max(left, _LEAST_WAIT)
        elif left <= 0:
            return
        await job.wait(left)


# --- the time in which people answer -------------------------------------------------------------


@contextmanager
def person_answers() -> Generator[None]:
    """Stop the clock of the call that runs here while a person is asked in this block."""
    clock = _clock.get()
    if clock is None:
        yield
        return
    clock.stop()
    try:
        yield
    finally:
        clock.go_on()


class _Clock:
    """Measures how long a call has waited for people, because that time doesn't count.

    Args:
        outer: the clock of the call whose function makes this call.
    """

    # On the class, since every call makes a clock, but hardly any asks a person.
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
        """Return for how many seconds people have been asked so far."""
        return self._earlier + (monotonic() - self._since if self._questions else 0.0)

    def stop(self) -> None:
        """Stop the clock, even if it is stopped already: several tasks of a call may ask."""
        if not self._questions:
            self._since = monotonic()
        self._questions += 1
        if self._outer is not None:
            self._outer.stop()

    def go_on(self) -> None:
        """Start the clock again once all questions are answered."""
        if self._questions == 1:
            self._earlier = self.waited()
        self._questions -= 1
        if self._outer is not None:
            self._outer.go_on()


_clock: ContextVar[_Clock | None] = ContextVar("operator_schema_clock", default=None)
"""The clock of the present call: in its coroutine, or in one of its tasks."""
