"""How does the executor use the event loop of trio?"""

from __future__ import annotations

from contextvars import copy_context
from math import inf
from typing import TYPE_CHECKING, Any

import trio
from trio import lowlevel

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextvars import Context

    Start = Callable[[], Coroutine[Any, Any, Any]]
    Ready = Callable[[Callable[[], object]], object]


class TrioBackend:
    """The operations of an event loop that the executor needs, with trio."""

    __slots__ = ()

    has_tasks = True

    def home(self) -> lowlevel.TrioToken:
        """Return the current run of trio."""
        return lowlevel.current_trio_token()

    def call_soon(self, home: lowlevel.TrioToken, function: Callable[[], object]) -> None:
        """Call a function in the thread of a run, from any thread."""
        home.run_sync_soon(function)

    def cancellation(self) -> None:
        """Return None: the signal handler of trio raises `KeyboardInterrupt` in the task that runs."""

    def signal(self) -> TrioSignal:
        """Make a signal for the current task."""
        return TrioSignal()

    def start(self, start: Start, name: str) -> TrioJob:
        """Run a coroutine in a task of its own; the task never raises an exception."""
        return TrioJob(start, name)

    def run(self, start: Start, ready: Ready, context: Context | None) -> Any:
        """Run a coroutine in a new run of trio, in a thread without one."""

        async def main() -> Any:
            token = lowlevel.current_trio_token()
            with trio.CancelScope() as scope:
                ready(lambda: token.run_sync_soon(scope.cancel))
                return await start()

        return trio.run(main) if context is None else context.run(trio.run, main)


class TrioSignal:
    """An event that any thread may set.

    Attributes:
        home: the run of trio of the task that waits for it.
    """

    __slots__ = ("_event", "home")

    def __init__(self) -> None:
        self.home = lowlevel.current_trio_token()
        self._event = trio.Event()

    def send(self) -> None:
        """End the wait, from any thread."""
        self.home.run_sync_soon(self._event.set)

    def send_here(self) -> None:
        """End the wait, from the thread of its event loop."""
        self._event.set()

    async def wait(self, seconds: float | None) -> None:
        """Wait until it is sent or the time is over."""
        await _wait(self._event, seconds, shield=False)


class TrioJob:
    """A system task in a cancel scope of its own.

    A nursery would have to wait for a task that ignores its cancellation, and can't be left open in an
    async iterator. A system task belongs to the whole run, and must not raise anything.
    """

    __slots__ = ("_ended", "_functions", "_scope", "name", "outcome")

    def __init__(self, start: Start, name: str) -> None:
        self.name = name
        self.outcome: Any = GeneratorExit()  # unless the coroutine ends by itself
        self._ended = trio.Event()
        self._functions: list[Callable[[TrioJob], object]] = []
        self._scope = trio.CancelScope()
        lowlevel.spawn_system_task(self._work, start, name=name, context=copy_context())

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._ended.is_set()

    def cancel(self) -> None:
        """Cancel it, from the thread of its run."""
        self._scope.cancel()

    def when_done(self, function: Callable[[TrioJob], object]) -> None:
        """Call a function with the job once it has ended."""
        self._functions.append(function)

    async def wait(self, seconds: float | None) -> None:
        """Wait until it has ended or the time is over."""
        await _wait(self._ended, seconds, shield=False)

    async def wait_shielded(self, seconds: float | None) -> None:
        """Wait as `wait` does, even if the waiting task has been cancelled."""
        await _wait(self._ended, seconds, shield=True)

    # System tasks are protected from KeyboardInterrupt. Tools are not: one may never come back.
    @lowlevel.disable_ki_protection
    async def _work(self, start: Start) -> None:
        try:
            with self._scope:
                if not self._scope.cancel_called:
                    self.outcome = await start()
        except BaseException as error:  # noqa: BLE001  # the caller raises it; here it would end the run
            self.outcome = error
        finally:
            self._ended.set()
            for function in self._functions:
                function(self)


async def _wait(event: trio.Event, seconds: float | None, *, shield: bool) -> None:
    deadline = inf if seconds is None else trio.current_time() + seconds
    with trio.CancelScope(deadline=deadline, shield=shield):
        await event.wait()
