"""What the executor needs of an event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextvars import Context

    Start = Callable[[], Coroutine[Any, Any, Any]]
    Ready = Callable[[Callable[[], object]], object]

__all__ = ["Backend", "Job", "Signal"]


class Signal(Protocol):
    """Something that one task waits for, and that any thread may send.

    Attributes:
        home: the event loop in which it is waited for.
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
        """Wait until it is sent, or until the time is over; None waits as long as it takes."""


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

    async def wait(self, seconds: float | None) -> None:
        """Wait until it has ended, or until the time is over."""

    async def wait_shielded(self, seconds: float | None) -> None:
        """Do so, even if the one that waits has been cancelled."""


class Backend(Protocol):
    """What the executor needs of an event loop."""

    def home(self) -> Any:
        """Return the event loop that runs here."""

    def call_soon(self, home: Any, function: Callable[[], object]) -> None:
        """Call a function in the thread of an event loop, from any thread.

        Raises:
            RuntimeError: the event loop is closed.
        """

    def cancellation(self) -> Callable[[], BaseException | None] | None:
        """Return a function that says whether a signal handler cancels the current task.

        It returns what the task is then to raise. There is no such function where a handler raises that
        itself.
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
            ready: is called in the event loop, with a function that cancels the coroutine from any thread.
            context: the context variables that it sees; None for those of the caller.

        Returns:
            What the coroutine returns.
        """
