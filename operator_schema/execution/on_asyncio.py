"""How does the executor use the event loop of `asyncio`?"""

from __future__ import annotations

from asyncio import CancelledError, Runner, current_task, get_running_loop, new_event_loop
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from sys import modules
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, cast
from weakref import ReferenceType, WeakKeyDictionary, ref

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, Task
    from collections.abc import Callable, Coroutine
    from contextvars import Context

    Start = Callable[[], Coroutine[Any, Any, Any]]
    Ready = Callable[[Callable[[], object]], object]


class AsyncioBackend:
    """The operations of an event loop that the executor needs, with `asyncio`."""

    __slots__ = ()

    has_tasks = True

    def home(self) -> AbstractEventLoop:
        """Return the event loop that runs here."""
        return get_running_loop()

    def call_soon(self, home: AbstractEventLoop, function: Callable[[], object]) -> None:
        """Call a function in the thread of an event loop, from any thread."""
        home.call_soon_threadsafe(function)

    def cancellation(self) -> Callable[[], BaseException | None] | None:
        """Return a function that tells whether a signal handler cancels the current task.

        The handler of `asyncio.run` does so, instead of raising `KeyboardInterrupt`.
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
        """Run a coroutine in a task of its own; the task never raises an exception."""
        return AsyncioJob(start, name)

    def run(self, start: Start, ready: Ready, context: Context | None) -> Any:
        """Run a coroutine in an event loop of its own, in a thread in which none runs."""
        result: Any = None
        raised: BaseException | None = None

        # The task itself returns and raises nothing. In Python 3.11 the runner makes a text of the task, with
        # its result or exception: that takes long for a long result, and runs the `__repr__` of an exception.
        async def main() -> None:
            nonlocal result, raised
            loop, task = get_running_loop(), current_task()
            ready(lambda: loop.call_soon_threadsafe(cast("Task[Any]", task).cancel))
            try:
                result = await start()
            except CancelledError:  # the runner knows whether it was an interrupt
                raise
            except BaseException as error:  # noqa: BLE001  # raised below
                raised = error

        # With a factory, the runner does not replace the event loop that the program has set.
        with Runner(loop_factory=new_event_loop) as runner:
            runner.run(main(), context=context)
        if raised is not None:
            raise raised
        return result


class AsyncioSignal:
    """A future that any thread may set.

    Attributes:
        home: the event loop of the task that waits for it.
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
        """Wait until it is sent or the time is over."""
        await _wait(self.home, self._future, seconds)


class AsyncioJob:
    """A task that returns exceptions, because a task that raises `SystemExit` ends its event loop."""

    __slots__ = ("_call_off", "_ended", "_loop", "_task")

    def __init__(self, start: Start, name: str) -> None:
        self._loop = loop = get_running_loop()
        self._call_off: Callable[[], object] | None = None
        self._ended: Future[None] = loop.create_future()
        self._task: Task[Any] = loop.create_task(self._work(start), name=name)
        self._task.add_done_callback(self._wake)

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
        """The value that it returned, or the exception that it raised; a cancellation if it was cancelled."""
        return CancelledError() if self._task.cancelled() else self._task.result()

    def cancel(self) -> None:
        """Cancel it, from the thread of its event loop."""
        self._task.cancel()
        if self._call_off is not None:
            self._call_off()

    def when_done(self, function: Callable[[Any], object]) -> None:
        """Call a function with the job once it has ended."""
        self._task.add_done_callback(lambda _: function(self))

    async def _work(self, start: Start) -> Any:
        # From its first step on, the coroutine itself ends the wait: a callback of the task would take one
        # more round of the event loop. A task that is cancelled before that has only the callback.
        self._task.remove_done_callback(self._wake)
        try:
            return await start()
        except CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # the caller raises it
            return error
        finally:
            self._wake()

    def _wake(self, _: object = None) -> None:
        if self._call_off is not None:
            self._call_off()
        if not self._loop.is_closed():
            _wake(self._ended)

    def wait(self, seconds: float | None) -> Future[None]:
        """Wait until a running job has ended or the time is over; only one task at a time may wait."""
        if self._ended.done():  # the time of an earlier wait was over
            self._ended = self._loop.create_future()
        if seconds is not None:
            self._call_off = _end_in_time(self._loop, self._ended, seconds)
        return self._ended

    async def wait_shielded(self, seconds: float | None) -> None:
        """Wait as `wait` does, even if a cancel scope of anyio cancels the waiting task again and again."""
        if self._task.done():
            return
        future: Future[None] = self._loop.create_future()
        self._task.add_done_callback(partial(_wake, future))
        scope: Any = getattr(modules.get("anyio"), "CancelScope", None)
        shield: AbstractContextManager[Any] = nullcontext() if scope is None else scope(shield=True)
        with shield:
            await _wait(self._loop, future, seconds)


async def _wait(loop: AbstractEventLoop, future: Future[None], seconds: float | None) -> None:
    if seconds is None:
        await future
        return
    call_off = _end_in_time(loop, future, seconds)
    try:
        await future
    finally:
        call_off()


def _wake(future: Future[None], _: object = None) -> None:
    if not future.done():
        future.set_result(None)


# --- waits that end in time ----------------------------------------------------------------------

_MOST_LIMITS = 16
"""The most different lengths that share timers in one event loop; other waits have timers of their own."""


class _Limit:
    """A timer for all waits of one length in one event loop.

    Most calls end long before their time is over, and a timer that is made and cancelled takes as long as
    starting a task. Waits of the same length end in the order in which they begin, so one timer is enough.

    Args:
        loop: the event loop.
        seconds: how long each wait may take.

    Attributes:
        waiting: the futures with the times at which their waits end, in order.
    """

    __slots__ = ("__weakref__", "_loop", "_seconds", "waiting")

    def __init__(self, loop: AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self.waiting: dict[Future[None], float] = {}
        loop.call_later(seconds, self._end)

    def _end(self) -> None:
        """End the waits whose time is over, and set the timer for the next one, if there is any."""
        now = self._loop.time()
        while self.waiting:
            future, when = next(iter(self.waiting.items()))
            if when > now:
                self._loop.call_at(when, self._end)
                return
            del self.waiting[future]
            _wake(future)
        del _limits[self._loop][self._seconds]


_limits: WeakKeyDictionary[AbstractEventLoop, dict[float, ReferenceType[_Limit]]] = WeakKeyDictionary()
"""The timers of each event loop, by their seconds. The references are weak, so that nothing keeps the loop
alive."""


def _end_in_time(loop: AbstractEventLoop, future: Future[None], seconds: float) -> Callable[[], object]:
    """Wake a future when its time is over; return a function that cancels this."""
    limits = _limits.get(loop)
    if limits is None:
        limits = _limits[loop] = {}
    found = limits.get(seconds)
    limit = None if found is None else found()
    if limit is None:
        if len(limits) >= _MOST_LIMITS:
            return loop.call_later(seconds, _wake, future).cancel
        limit = _Limit(loop, seconds)
        limits[seconds] = ref(limit)
    limit.waiting[future] = loop.time() + seconds
    return partial(limit.waiting.pop, future, None)
