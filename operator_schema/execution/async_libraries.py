"""Which event loop runs here, asyncio's or trio's, and what does the executor need from it?"""

from __future__ import annotations

from _thread import _local  # `threading` itself is not needed
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from sys import modules
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from ..tools.failures import WARNING, write_log

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from contextvars import Context

    Start = Callable[[], Coroutine[Any, Any, Any]]
    Ready = Callable[[Callable[[], object]], object]
    from collections.abc import Generator

__all__ = [
    "Backend",
    "Job",
    "Signal",
    "Tasks",
    "asyncio_backend",
    "current_backend",
    "is_cancellation",
    "person_answers",
    "running_backends",
    "waiting_backends",
]


class Signal(Protocol):
    """Something that one task waits for, and that any thread may send.

    Attributes:
        home: the event loop of the task that waits for it.
    """

    home: Any

    def send(self) -> None:
        """End the wait, from any thread.

        Raises:
            RuntimeError: the event loop is closed.
        """

    def send_here(self) -> None:
        """End the wait, from the thread of its event loop."""

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is sent or the time is over; None waits without limit."""


class Job(Protocol):
    """A coroutine that runs in a task of its own."""

    @property
    def name(self) -> str:
        """The name of the task."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        ...

    @property
    def outcome(self) -> Any:
        """What it returned, or the exception that it raised; a cancellation if it was cancelled."""
        ...

    def cancel(self) -> None:
        """Cancel it, from the thread of its event loop."""

    def when_done(self, function: Callable[[Any], object]) -> None:
        """Call a function with the job once it has ended."""

    def wait(self, seconds: float | None) -> Awaitable[None]:
        """Wait until a running job has ended or the time is over; only one task at a time may wait."""
        ...

    async def wait_shielded(self, seconds: float | None) -> None:
        """Do the same, even if the waiting task has been cancelled."""


class Backend(Protocol):
    """What the executor needs from an event loop.

    Attributes:
        has_tasks: whether `start` runs coroutines. If not, no event loop runs here, and `run` makes one.
    """

    has_tasks: bool

    def home(self) -> Any:
        """Return the event loop that runs here."""

    def call_soon(self, home: Any, function: Callable[[], object]) -> None:
        """Call a function in the thread of an event loop, from any thread.

        Raises:
            RuntimeError: the event loop is closed.
        """

    def cancellation(self) -> Callable[[], BaseException | None] | None:
        """Return a function that says whether a signal handler cancels the current task.

        It returns the exception that the task is then to raise. There is no such function if the handler
        itself raises it.
        """
        ...

    def signal(self) -> Signal:
        """Make a signal for the current task."""
        ...

    def start(self, start: Start, name: str) -> Job:
        """Run a coroutine in a task of its own, which raises nothing."""
        ...

    def run(
        self, start: Start, ready: Callable[[Callable[[], object]], object], context: Context | None
    ) -> Any:
        """Run a coroutine in an event loop of its own, in a thread in which none runs.

        Args:
            start: makes the coroutine.
            ready: called in the event loop, with a function that cancels the coroutine from any thread.
            context: its context variables; None for those of the caller.

        Returns:
            What the coroutine returns.
        """


_loaded: dict[str, Backend] = {}

_here = _local()
"""Each thread has `backends`: those of the calls that it waits for without an event loop."""


def current_backend() -> Backend:
    """Return the backend of the event loop that runs here."""
    if "trio" in modules and _runs_trio("in_trio_task"):
        return _trio()
    if (
        _runs_asyncio()
    ):  # asked first: in a thread without `backends`, a failing look-up takes longer than all the rest
        return _loaded.get("asyncio") or asyncio_backend()
    waiting: list[Backend] | None = getattr(_here, "backends", None)
    return waiting[-1] if waiting else asyncio_backend()


def running_backends() -> list[Backend]:
    """List the backends whose event loops run in this thread: none, one, or both in trio's guest mode."""
    found: list[Backend] = []
    if "trio" in modules and _runs_trio("in_trio_run"):
        found.append(_trio())
    if _runs_asyncio():
        found.append(asyncio_backend())
    return found


def waiting_backends() -> list[Any]:
    """List the backends that replace an event loop while this thread waits, the innermost last."""
    waiting: list[Any] = _here.__dict__.setdefault("backends", [])
    return waiting


def is_cancellation(outcome: object) -> bool:
    """Return whether an outcome means that a function was cancelled."""
    if issubclass(type(outcome), GeneratorExit):
        return True
    for module, name in (("asyncio", "CancelledError"), ("trio", "Cancelled")):
        kind = getattr(modules.get(module), name, None)
        if kind is not None and issubclass(type(outcome), kind):
            return True
    return False


def _runs_trio(question: str) -> bool:
    # Another thread may be importing it at this moment.
    ask = getattr(getattr(modules["trio"], "lowlevel", None), question, None)
    return ask is not None and ask()


def _runs_asyncio() -> bool:
    # A loop runs only where `asyncio` has been imported; another thread may be importing it.
    ask = getattr(modules.get("asyncio.events"), "_get_running_loop", None)
    return ask is not None and ask() is not None


def asyncio_backend() -> Backend:
    """Return the backend of `asyncio`, whether or not it runs here."""
    from . import on_asyncio

    return _loaded.setdefault("asyncio", on_asyncio.AsyncioBackend())


def _trio() -> Backend:
    if "trio" not in _loaded:
        from . import on_trio

        _loaded["trio"] = on_trio.TrioBackend()
    return _loaded["trio"]


_LEAST_WAIT = 0.1
"""Seconds between two looks at a call whose time is over except for a person's answer."""


class _Clock:
    """How long a call has waited for people; that time doesn't count.

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
            seconds: how long it may take, without the time in which `person_answers`; None for no limit.

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
            if job.is_done:
                return job.outcome
            if seconds is not None:
                await _wait_longer(job, clock, began + seconds)
        except GeneratorExit:  # nothing can be awaited any more
            with suppress(RuntimeError):  # the event loop is closed
                job.cancel()
            raise
        except BaseException:  # the call is cancelled
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
    """Wait for as long as people have taken to answer, or until a job has ended."""
    while not job.is_done:
        left = end + clock.waited() - monotonic()
        if clock.is_stopped:
            left = max(left, _LEAST_WAIT)
        elif left <= 0:
            return
        await job.wait(left)


def _ignore(_: object) -> None:
    """Take the cancelling function, in a case where nobody could call it."""
