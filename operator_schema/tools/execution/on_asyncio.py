"""The event loop of `asyncio`, as the executor uses it."""

from __future__ import annotations

from asyncio import CancelledError, Runner, current_task, get_running_loop, new_event_loop
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from sys import modules
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, Task
    from collections.abc import Callable
    from contextvars import Context

    from .event_loop import Ready, Start

__all__ = ["AsyncioBackend"]


class AsyncioBackend:
    """What the executor needs of an event loop, by `asyncio`."""

    __slots__ = ()

    def home(self) -> AbstractEventLoop:
        """Return the event loop that runs here."""
        return get_running_loop()

    def call_soon(self, home: AbstractEventLoop, function: Callable[[], object]) -> None:
        """Call a function in the thread of an event loop, from any thread."""
        home.call_soon_threadsafe(function)

    def cancellation(self) -> Callable[[], BaseException | None] | None:
        """Return a function that says whether a signal handler cancels the current task.

        The one that `asyncio.run` sets does so, instead of raising `KeyboardInterrupt`.
        """
        task = current_task()
        if task is None or current_thread() is not main_thread():
            return None
        before = task.cancelling()
        return lambda: CancelledError() if task.cancelling() > before else None

    def signal(self) -> AsyncioSignal:
        """Make a signal for the current task."""
        return AsyncioSignal()

    def start(self, start: Start, name: str) -> AsyncioJob:
        """Run a coroutine in a task of its own, which raises nothing."""
        return AsyncioJob(start, name)

    def run(self, start: Start, ready: Ready, context: Context | None) -> Any:
        """Run a coroutine in an event loop of its own, in a thread in which none runs."""

        async def main() -> Any:
            loop, task = get_running_loop(), current_task()
            ready(lambda: loop.call_soon_threadsafe(cast("Task[Any]", task).cancel))
            return await start()

        # With a factory, the runner does not replace the event loop that the program has set.
        with Runner(loop_factory=new_event_loop) as runner:
            return runner.run(main(), context=context)


class AsyncioSignal:
    """A future that any thread may set.

    Attributes:
        home: the event loop in which it is waited for.
    """

    __slots__ = ("_future", "home")

    def __init__(self) -> None:
        self.home = get_running_loop()
        self._future: Future[None] = self.home.create_future()

    def send(self) -> None:
        """End the wait, from any thread."""
        self.home.call_soon_threadsafe(_wake, self._future)

    def send_here(self) -> None:
        """End the wait, from the thread of its event loop."""
        _wake(self._future)

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is sent, or until the time is over."""
        await _wait(self.home, self._future, seconds)


class AsyncioJob:
    """A task that returns what its coroutine raises: one that raises `SystemExit` ends its event loop."""

    __slots__ = ("_loop", "_task")

    def __init__(self, start: Start, name: str) -> None:
        self._loop = loop = get_running_loop()
        self._task: Task[Any] = loop.create_task(_outcome_of(start), name=name)

    @property
    def name(self) -> str:
        """The name of the task."""
        return self._task.get_name()

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._task.done()

    @property
    def outcome(self) -> Any:
        """What it returned, or the exception that it raised; a cancellation if it was cancelled."""
        return CancelledError() if self._task.cancelled() else self._task.result()

    def cancel(self) -> None:
        """Cancel it, from the thread of its event loop."""
        self._task.cancel()

    def when_done(self, function: Callable[[Any], object]) -> None:
        """Call a function with the job once it has ended."""
        self._task.add_done_callback(lambda _: function(self))

    async def wait(self, seconds: float | None) -> None:
        """Wait until it has ended, or until the time is over."""
        if not self._task.done():
            # `asyncio.wait` does this for any number of tasks, and takes three times as long.
            future: Future[None] = self._loop.create_future()
            self._task.add_done_callback(partial(_wake, future))
            await _wait(self._loop, future, seconds)

    async def wait_shielded(self, seconds: float | None) -> None:
        """Do so, even if a cancel scope of anyio cancels the one that waits again and again."""
        scope: Any = getattr(modules.get("anyio"), "CancelScope", None)
        shield: AbstractContextManager[Any] = nullcontext() if scope is None else scope(shield=True)
        with shield:
            await self.wait(seconds)


async def _wait(loop: AbstractEventLoop, future: Future[None], seconds: float | None) -> None:
    if seconds is None:
        await future
        return
    timer = loop.call_later(seconds, _wake, future)
    try:
        await future
    finally:
        timer.cancel()


def _wake(future: Future[None], _: object = None) -> None:
    if not future.done():
        future.set_result(None)


async def _outcome_of(start: Start) -> Any:
    try:
        return await start()
    except CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # the caller raises it
        return error
