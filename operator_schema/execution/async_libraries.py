"""Which event loop runs here, asyncio's or trio's, and what does the executor need of it?"""

from __future__ import annotations

from _thread import _local  # `threading` itself is not needed
from sys import modules
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from contextvars import Context

    Start = Callable[[], Coroutine[Any, Any, Any]]
    Ready = Callable[[Callable[[], object]], object]


class Signal(Protocol):
    """A signal that one task waits for, and that any thread may send.

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
        """The value that it returned, or the exception that it raised; a cancellation if it was cancelled."""
        ...

    def cancel(self) -> None:
        """Cancel it, from the thread of its event loop."""

    def when_done(self, function: Callable[[Any], object]) -> None:
        """Call a function with the job once it has ended."""

    def wait(self, seconds: float | None) -> Awaitable[None]:
        """Wait until a running job has ended or the time is over; only one task at a time may wait."""
        ...

    async def wait_shielded(self, seconds: float | None) -> None:
        """Wait as `wait` does, even if the waiting task has been cancelled."""


class Backend(Protocol):
    """The operations of an event loop that the executor needs.

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
        """Return a function that tells whether a signal handler cancels the current task.

        It returns the exception that the task should raise then, else None. There is no such function if the
        handler itself raises the exception.
        """
        ...

    def signal(self) -> Signal:
        """Make a signal for the current task."""
        ...

    def start(self, start: Start, name: str) -> Job:
        """Run a coroutine in a task of its own; the task never raises an exception."""
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
            The result of the coroutine.
        """


_loaded: dict[str, Backend] = {}

_here = _local()
"""The attribute `backends` has, for each thread, the calls that it waits for without an event loop."""


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
    """List the waits for calls in this thread, which replace an event loop, the innermost last."""
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
    ask = getattr(modules.get("asyncio"), "_get_running_loop", None)
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
