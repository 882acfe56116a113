"""The executor: calls in, results out, whatever happens."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args

from ...errors import ToolNotFoundError
from ...wording import received
from ..calls import RawCall, ToolResult
from ..metadata import is_duration
from ..registry import Registry
from . import failures
from .concurrency import Slots
from .failures import ShowErrors
from .run_call import Pending, Work
from .tasks import Tasks
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from ..tool import Tool

    Context = Mapping[Any, Any]

__all__ = ["Executor"]

T = TypeVar("T")


class Executor:
    """Run the calls that a model sends, and give a result for each.

    A call that fails gives a result that says why: to the model in `content`, to the host in `code`
    and `details`. Only `KeyboardInterrupt`, `SystemExit` and their like, and the cancellation of the
    caller, are raised.

    An async function runs in a task of its own; when its time is over it is cancelled and, for
    `grace` seconds, awaited. Any other function runs in a thread of its own, which nobody can end: when
    its time is over, the result says so and the thread is left to itself; at the exit of the
    interpreter it is dropped.

    An executor may be used from any number of event loops and threads at once. A tool that itself
    waits for a call of the same executor needs a second place under `max_concurrency`.

    Args:
        registry: the tools, or any iterable of them. It may change meanwhile.
        timeout: seconds that a call may take, where its tool does not say so itself; None, as
            `math.inf` for a tool, for no limit. Waiting for a place does not count.
        max_concurrency: on the calls that run at once; None for no limit.
        max_threads: on the threads that run at once, those included that are left to themselves.
        grace: seconds that an async function gets for tidying up after its cancellation.
        show_errors: what the model sees of an exception that was not meant for it, as `CallError` is:
            its type; type and message; or the whole traceback.

    Raises:
        DuplicateToolError: two tools have one name.
        ValueError: an option is not of its kind, or out of range.
    """

    __slots__ = ("_registry", "_show", "_slots", "_tasks", "_threads", "_timeout", "__weakref__")

    def __init__(
        self,
        registry: Registry | Iterable[Tool[..., Any]],
        *,
        timeout: float | None = 30.0,
        max_concurrency: int | None = None,
        max_threads: int = 64,
        grace: float = 5.0,
        show_errors: ShowErrors = "message",
    ) -> None:
        _check_options(timeout, max_concurrency, max_threads, grace, show_errors)
        self._registry = registry if isinstance(registry, Registry) else Registry(registry)
        self._timeout = timeout
        self._slots = Slots(max_concurrency)
        self._threads = Threads(max_threads)
        self._tasks = Tasks(grace)
        self._show: ShowErrors = show_errors

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._registry

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._threads.abandoned + self._tasks.abandoned

    async def execute(self, call: RawCall, /, *, context: Context | None = None) -> ToolResult:
        """Run one call.

        Args:
            call: as the model sent it.
            context: type, or name of a parameter, to value, for the parameters that the host gives.

        Returns:
            The result, or why there is none.

        Raises:
            TypeError: it is no `RawCall`.
        """
        _check_calls([call])
        outcome = await self._outcome(call, context)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def execute_all(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None
    ) -> list[ToolResult]:
        """Run calls side by side.

        Args:
            calls: as the model sent them; several may share an id.
            context: as for `execute`; for all of them.

        Returns:
            A result for each, in the order of the calls.

        Raises:
            TypeError: one is no `RawCall`; then none is run.
        """
        from asyncio import gather  # noqa: PLC0415  # whoever runs this has it already

        calls = list(calls)
        _check_calls(calls)
        running = [self._outcome(call, context) for call in calls]
        # Who cancels this must find all of them ended: gather waits for each only like this.
        outcomes = await gather(*running, return_exceptions=True)
        results: list[ToolResult] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            results.append(outcome)
        return results

    def execute_sync(self, call: RawCall, /, *, context: Context | None = None) -> ToolResult:
        """Do what `execute` does, where there is no event loop.

        Raises:
            RuntimeError: an event loop runs in this thread, which this would block.
        """
        return _run(lambda: self.execute(call, context=context), "execute")

    def execute_all_sync(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None
    ) -> list[ToolResult]:
        """Do what `execute_all` does, where there is no event loop.

        Raises:
            RuntimeError: an event loop runs in this thread, which this would block.
        """
        return _run(lambda: self.execute_all(calls, context=context), "execute_all")

    async def _outcome(self, call: RawCall, context: Context | None) -> ToolResult | BaseException:
        # What ends a program is returned: raised in a task, it would take the event loop down.
        await self._slots.acquire()
        try:
            return await self._execute(call, context)
        finally:
            self._slots.release()

    async def _execute(self, call: RawCall, context: Context | None) -> ToolResult | BaseException:
        try:
            found = _find(self._registry, call)
        except Exception as error:  # noqa: BLE001  # a switch is the host's own code
            return failures.failed(call, error, "type")
        if isinstance(found, ToolResult):
            return found
        tool, seconds = found, self._seconds(found)
        try:
            outcome = await self._work(Work(call, tool, context, self._show), tool, seconds)
        except TimeoutError as late:
            return failures.timed_out(call, seconds or 0, late)
        except RuntimeError as error:  # the system gives no more threads
            return failures.failed(call, error, "type")
        return failures.cancelled(call, outcome) if _is_cancellation(outcome) else outcome

    async def _work(self, work: Work, tool: Tool[..., Any], seconds: float | None) -> Any:
        if tool.is_async:
            return await self._tasks.run(work.arun, tool.name, seconds)
        from time import monotonic  # noqa: PLC0415  # built in

        end = None if seconds is None else monotonic() + seconds
        outcome = await self._threads.run(work.run, tool.name, seconds)
        if isinstance(outcome, Pending):
            left = None if end is None else max(0.0, end - monotonic())
            try:
                return await self._tasks.run(lambda: work.finish(outcome), tool.name, left)
            finally:
                outcome.close()
        return outcome

    def _seconds(self, tool: Tool[..., Any]) -> float | None:
        seconds = self._timeout if tool.timeout is None else tool.timeout
        return None if seconds == inf else seconds


def _check_calls(calls: Iterable[object]) -> None:
    for call in calls:
        if not isinstance(call, RawCall):
            message = f"a call is a RawCall(id, name, arguments), not {received(call)}"
            raise TypeError(message)


def _find(registry: Registry, call: RawCall) -> Tool[..., Any] | ToolResult:
    try:
        tool = registry.told(call.name)
        return tool if registry.is_enabled(call.name) else failures.disabled(call)
    except ToolNotFoundError as error:
        return failures.not_found(call, error, [tool.name for tool in registry.offered()])


def _is_cancellation(outcome: object) -> bool:
    from asyncio import CancelledError  # noqa: PLC0415

    return isinstance(outcome, CancelledError)


def _run(start: Callable[[], Coroutine[Any, Any, T]], name: str) -> T:
    import asyncio  # noqa: PLC0415  # only who has no loop of its own pays for it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        message = f"an event loop runs in this thread, and {name}_sync would block it: use await {name}"
        raise RuntimeError(message)
    # With a factory, the runner leaves alone what the host has set as its event loop.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(start())


def _check_options(
    timeout: object, max_concurrency: object, max_threads: object, grace: object, show_errors: object
) -> None:
    if timeout is not None and not (is_duration(timeout) and timeout > 0):
        _refuse("timeout", "a positive number of seconds, or None", timeout)
    if not is_duration(grace):
        _refuse("grace", "a number of seconds", grace)
    if max_concurrency is not None and not _is_count(max_concurrency):
        _refuse("max_concurrency", "an integer of at least 1, or None", max_concurrency)
    if not _is_count(max_threads):
        _refuse("max_threads", "an integer of at least 1", max_threads)
    choices = get_args(ShowErrors)
    if show_errors not in choices:
        _refuse("show_errors", f"one of {', '.join([repr(choice) for choice in choices])}", show_errors)


def _refuse(option: str, kind: str, value: object) -> NoReturn:
    message = f"{option} is {kind}, not {received(value)}"
    raise ValueError(message)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
