"""How does a program get results and progress as they arrive?"""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Mapping
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, cast

from ..tools.calls import ToolResult, result_of
from ..tools.injection import Progress, ProgressUpdate, connect
from ..tools.logs import ERROR, write_log
from ..tools.signature import close_awaitable, is_awaitable
from .async_libraries import current_backend

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence
    from types import TracebackType
    from typing import Self

    from ..tools.calls import OnResult, RawCall
    from .async_libraries import Job, Signal, Start

    Context = Mapping[Any, Any]
    OnProgress = Callable[[RawCall, ProgressUpdate], object]


MOST_WAITING = 100
"""The most updates of one call that wait for the event loop; the newest are kept."""


class ProgressReports:
    """Takes the progress reports of one function call, and passes them to your program in order.

    Your program gets them in the thread of the event loop, with the context variables of the caller.

    Args:
        call: the call.
        on_progress: the function that gets the updates.

    Attributes:
        progress: the `Progress` for the function.
    """

    __slots__ = (
        *("_backend", "_call", "_context", "_home", "_is_due", "_is_over", "_on", "_waiting"),
        "progress",
    )

    def __init__(self, call: RawCall, on_progress: OnProgress) -> None:
        self._call = call
        self._on = on_progress
        self._backend = current_backend()
        self._home = self._backend.home()
        self._context = copy_context()
        self._waiting: deque[ProgressUpdate] = deque(maxlen=MOST_WAITING)
        self._is_due = False
        self._is_over = False
        self.progress = Progress()
        connect(self.progress, self.add)

    def add(self, update: ProgressUpdate) -> None:
        """Take an update, in any thread."""
        self._waiting.append(update)
        if not self._is_due:
            self._is_due = True
            with suppress(RuntimeError):  # the event loop is closed
                self._backend.call_soon(self._home, self._deliver)

    def _deliver(self) -> None:
        # Before the first update is taken: a later update makes it due again.
        self._is_due = False
        if not self._is_over:
            self._deliver_waiting()

    def _deliver_waiting(self) -> None:
        for _ in range(len(self._waiting)):  # a thread may add more without end
            try:
                self._context.run(self._give, self._waiting.popleft())
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # noqa: BLE001  # your program's own code
                write_log(ERROR, "%s: the function given as on_progress failed", self._call.name, error=error)

    def _give(self, update: ProgressUpdate) -> None:
        returned: Any = self._on(self._call, update)
        if is_awaitable(returned):
            close_awaitable(returned)
            message = "on_progress is a plain function, but it returned something to await"
            raise TypeError(message)

    def end(self) -> None:
        """Deliver pending progress, and accept no more after the call."""
        connect(self.progress, None)
        try:
            self._deliver_waiting()
        finally:
            self._is_over = True


def with_progress(
    call: RawCall, context: Context | None, on_progress: OnProgress | None
) -> tuple[Context | None, ProgressReports | None]:
    """Return the context with a `Progress` for a call, and the object that connects it with `on_progress`."""
    if context is not None and not isinstance(context, Mapping):  # the tool says so
        return context, None
    if context is None:
        context = {}
    reports = None if on_progress is None else ProgressReports(call, on_progress)
    if Progress in context:
        return context, reports
    progress = Progress() if reports is None else reports.progress
    # Not a copy: a mapping may make its values when it is asked for them.
    return ChainMap({Progress: progress}, cast("MutableMapping[Any, Any]", context)), reports


async def run_and_give(on_result: OnResult, call: RawCall, start: Start) -> Any:
    """Run a call, and pass its result to your program's function; log what that function raises.

    Args:
        on_result: your program's function.
        call: the call.
        start: runs it.
    """
    outcome = await start()
    if type(outcome) is not ToolResult:
        return outcome
    try:
        returned: Any = on_result(call, outcome)
    except Exception as error:  # noqa: BLE001  # your program's own code
        write_log(ERROR, "%s: the function given as on_result failed", call.name, error=error)
        return outcome
    if is_awaitable(returned):
        close_awaitable(returned)
        write_log(ERROR, "%s: on_result is a plain function, but returned something to await", call.name)
    return outcome


_leaving: set[Job] = set()
"""Jobs that nobody waits for any more; this set keeps their tasks alive."""


class JobGroup:
    """Coroutines that run side by side, each in a task of its own.

    Args:
        starts: functions that make the coroutines, each with a name.
    """

    __slots__ = (
        *("_backend", "_ended", "_home", "_is_dropped", "_jobs", "_running", "_signal"),
        "_waits_for_all",
    )

    def __init__(self, starts: Sequence[tuple[Start, str]]) -> None:
        self._backend = current_backend()
        self._home = self._backend.home()
        self._signal: Signal | None = None
        self._waits_for_all = self._is_dropped = False
        self._ended: deque[Job] = deque()
        self._jobs = [self._backend.start(start, name) for start, name in starts]
        self._running = set(self._jobs)
        for job in self._jobs:
            job.when_done(self._note)

    def _note(self, job: Job) -> None:
        self._running.discard(job)
        if not self._is_dropped:
            self._ended.append(job)
        if self._signal is not None and not (self._waits_for_all and self._running):
            self._signal.send_here()

    async def all(self) -> list[Any]:
        """Wait until all have ended, and return their outcomes in the order in which they began.

        Cancelling this also cancels the coroutines, and raises the cancellation when they have ended.
        """
        self._waits_for_all = True
        if self._running:
            await self._wait()
        return [job.outcome for job in self._jobs]

    async def next(self) -> Any:
        """Return the outcome of the next coroutine that ends; cancelling this cancels all, as in `all`.

        Raises:
            StopAsyncIteration: all outcomes have been returned.
        """
        while not self._ended:
            if self._is_dropped or not self._running:
                raise StopAsyncIteration
            await self._wait()
        return self._ended.popleft().outcome

    async def _wait(self) -> None:
        signal = self._backend.signal()
        if self._signal is not None or signal.home is not self._home:
            message = "something else waits for these results, or they belong to another event loop"
            raise RuntimeError(message)
        self._signal = signal
        try:
            await signal.wait(None)
        except GeneratorExit:  # nothing can be awaited any more
            self.drop()
            raise
        except BaseException:  # the caller is cancelled, and its calls with it
            await self.cancel()
            raise
        finally:
            self._signal = None

    async def cancel(self) -> None:
        """Cancel the coroutines that still run, and wait until they have ended."""
        running = list(self._running)
        self.drop()
        for job in running:
            await job.wait_shielded(None)

    def drop(self) -> None:
        """Cancel the coroutines that still run, in the thread of their event loop."""
        self._is_dropped = True
        self._ended.clear()
        for job in self._running:
            _leaving.add(job)
            job.when_done(_leaving.discard)
            with suppress(RuntimeError):  # the event loop is closed
                job.cancel()

    def drop_soon(self) -> None:
        """Cancel the coroutines that still run, from any thread."""
        if self._running:
            with suppress(RuntimeError):  # the event loop is closed
                self._backend.call_soon(self._home, self.drop)


class ResultStream:
    """The results of calls as they arrive: an async iterator that `async with` closes.

    The calls begin when the first result is asked for. Closing it cancels the calls that still run.

    Args:
        starts: makes the coroutine of each call, with the name of its tool.
    """

    __slots__ = ("_group", "_starts")

    def __init__(self, starts: Sequence[tuple[Start, str]]) -> None:
        self._starts: Sequence[tuple[Start, str]] | None = starts
        self._group: JobGroup | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ToolResult:
        if self._starts is not None:
            starts, self._starts = self._starts, None
            self._group = JobGroup(starts)
        if self._group is None:
            raise StopAsyncIteration
        outcome: Any = await self._group.next()
        if type(outcome) is not ToolResult:
            await self.aclose()
        return result_of(outcome)

    async def aclose(self) -> None:
        """Cancel the calls that still run, and wait until they have ended."""
        group, self._group, self._starts = self._group, None, None
        if group is not None:
            await group.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # An async generator would be closed by its event loop, later and with a warning under trio.
        if self._group is not None:
            self._group.drop_soon()
