"""Where the function of a call runs: in a task, in a thread, or in the thread of the event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..calls import ToolResult
from .run_call import Pending, takes_long
from .tasks import Tasks
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..calls import RawCall
    from ..tool import Tool
    from .failures import Failures
    from .run_call import RunCall

__all__ = ["Runner"]


class Runner:
    """Run the functions of calls, each where it belongs and within its time.

    Args:
        failures: makes the results of those that take too long where nothing can end them.
        max_threads: limit on the threads that run at once.
        grace: seconds that a cancelled coroutine gets to clean up.
        uses_threads: whether plain functions run in threads, unless their tool says otherwise.
    """

    __slots__ = ("_decoders", "_failures", "_tasks", "_threads", "_uses_threads")

    def __init__(self, failures: Failures, max_threads: int, grace: float, *, uses_threads: bool) -> None:
        self._failures = failures
        self._uses_threads = uses_threads
        self._threads = Threads(max_threads)
        self._decoders = Threads(max_threads)  # apart: tools that hang must not stop decoding
        self._tasks = Tasks(grace)

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._threads.abandoned + self._decoders.abandoned + self._tasks.abandoned

    @property
    def uses_threads(self) -> bool:
        """Whether plain functions run in threads, unless their tool says otherwise."""
        return self._uses_threads

    async def decode(self, run: RunCall, call: RawCall, tool: Tool[..., Any], seconds: float | None) -> Any:
        """Decode the arguments of a call, without running its function.

        Args:
            run: what is to be done.
            call: as the model sent it.
            tool: that it names.
            seconds: that it may take; None for no limit.

        Returns:
            The input, the result that says why there is none, or an exception that is to be raised.

        Raises:
            TimeoutError: it took longer.
            RuntimeError: the system gives no more threads.
        """
        if self._is_long(run, call):
            return await self._decode(run.decode, tool.name, seconds)
        return run.decode()

    async def run(self, run: RunCall, call: RawCall, tool: Tool[..., Any], seconds: float | None) -> Any:
        """Run the function of a call.

        Args:
            run: what is to be done.
            call: as the model sent it.
            tool: that it names.
            seconds: that it may take; None for no limit.

        Returns:
            What came of it, or an exception that is to be raised; a cancellation if it cancelled itself.

        Raises:
            TimeoutError: it took longer; its text says so if the function did not run.
            RuntimeError: the system gives no more threads.
        """
        if tool.is_async and not self._is_long(run, call):
            return await self._tasks.run(run.arun, tool.name, seconds)
        from time import monotonic

        end = None if seconds is None else monotonic() + seconds
        if tool.is_async:
            outcome = await self._decode(run.prepare, tool.name, seconds)
        elif self._runs_inline(tool):
            outcome = await self._run_inline(run, call, tool.name, seconds)
        else:
            outcome = await self._threads.run(run.run, tool.name, seconds)
        if type(outcome) is not Pending:
            return outcome
        left = None if end is None else max(0.0, end - monotonic())
        try:
            return await self._tasks.run(lambda: run.finish(outcome), tool.name, left)
        finally:
            outcome.close()

    def _is_long(self, run: RunCall, call: RawCall) -> bool:
        return self._uses_threads and run.decoded is None and takes_long(call.arguments)

    def _runs_inline(self, tool: Tool[..., Any]) -> bool:
        return not (self._uses_threads if tool.threads is None else tool.threads)

    async def _run_inline(self, run: RunCall, call: RawCall, name: str, seconds: float | None) -> Any:
        """Run a plain function in the thread of the event loop, or in the one that waits for that."""
        from time import monotonic

        from .lent_threads import lent_thread

        lent = lent_thread()
        function = run.run
        if lent is None and self._is_long(run, call):
            given = await self._decode(run.decode, name, seconds)
            if issubclass(type(given), BaseException):
                return given
            function = partial(run.run_decoded, given)
        start = monotonic()
        outcome = _here(function) if lent is None else await self._threads.run_in(lent, function, name)
        took = monotonic() - start
        if seconds is not None and took > seconds and type(outcome) is ToolResult:
            return self._failures.late(call, outcome, took, seconds)
        return outcome

    async def _decode(self, function: Callable[[], Any], name: str, seconds: float | None) -> Any:
        """Decode long arguments in a thread: they would block the event loop."""
        try:
            return await self._decoders.run(function, name, seconds)
        except TimeoutError as late:
            raise TimeoutError(str(late) or "decoding its arguments took too long") from None


def _here(function: Callable[[], Any]) -> Any:
    """Call a function in this thread; what it raises is its outcome, as in a thread of its own."""
    from contextvars import copy_context

    try:
        return copy_context().run(function)
    except BaseException as error:  # noqa: BLE001  # the caller raises it
        return error
