"""The executor: a result for every call, whatever happens."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, get_args, overload

from ...errors import ToolNotFoundError
from ...wording import as_written, received
from ..calls import RawCall, ToolResult
from ..metadata import is_duration
from ..registry import Registry
from .concurrency import Slots
from .failures import Failures, ShowErrors
from .passing import Passed, exception_classes, result_classes, results_of
from .run_call import Pending, RunCall, takes_long
from .successes import Successes
from .tasks import Tasks
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from ...errors import DecodeError
    from ..tool import Tool

    Context = Mapping[Any, Any]

__all__ = ["Executor"]

T = TypeVar("T")


class Executor:
    """Run the calls that a model sends, and give a result for each.

    A call that fails gives a result that says why: to the model in `content`, to your program in `code`
    and `details`; failures are logged by `logging.getLogger("operator_schema")`. Only
    `KeyboardInterrupt`, `SystemExit` and the like, and the cancellation of the caller, are raised.

    An async function runs in a task of its own. When its time is over it is cancelled, and gets
    `grace` seconds to clean up. Any other function runs in a thread of its own, which can't be
    stopped: when its time is over, the call has its result and the thread runs on until the function
    returns or the interpreter exits.

    An executor may be used from any number of event loops and threads at once. A tool that itself
    waits for a call of the same executor needs a second place under `max_concurrency`.

    Args:
        registry: the tools, or any iterable of them. It may change later.
        timeout: seconds that a call may take, unless its tool has a timeout; None (for a tool:
            `math.inf`) for no limit. Waiting for a place under `max_concurrency` does not count.
        max_concurrency: limit on the calls that run at once; None for no limit.
        max_threads: limit on the threads that run at once, including those whose calls are over. One
            tool gets at most three quarters of those that other tools leave.
        grace: seconds that an async function gets to clean up after its cancellation.
        show_errors: what the model sees of an exception other than `CallError`: its type; type and
            message, which may hold what the model must not see; or the whole traceback.
        report: takes the `DecodeError` of arguments that do not fit, and returns the text that the
            model reads instead of `str(error)`.
        strict_results: whether a result that does not fit the declared type of its tool is a failure.
            Otherwise it is written as well as it can be, with a warning.
        native_results: classes of objects that are handed over in `ToolResult.value` as the function
            returned them, alone or in a list or tuple. The model reads only their class.
        pass_through: classes of exceptions that your program handles itself. `execute` raises them, also
            from within an exception group, where others turn into a result.

    Raises:
        DuplicateToolError: two tools have the same name.
        ValueError: an option has the wrong type, or is out of range.
    """

    __slots__ = (
        *("_decoders", "_failures", "_registry", "_slots", "_successes", "_tasks", "_threads", "_timeout"),
        "__weakref__",
    )

    def __init__(
        self,
        registry: Registry | Iterable[Tool[..., Any]],
        *,
        timeout: float | None = 30.0,
        max_concurrency: int | None = None,
        max_threads: int = 64,
        grace: float = 5.0,
        show_errors: ShowErrors = "type",
        report: Callable[[DecodeError], str] = str,
        strict_results: bool = False,
        native_results: Iterable[type] = (),
        pass_through: Iterable[type[BaseException]] = (),
    ) -> None:
        _check_options(timeout, max_concurrency, max_threads, grace, show_errors, report)
        self._registry = registry if isinstance(registry, Registry) else Registry(registry)
        self._timeout = timeout
        self._slots = Slots(max_concurrency)
        self._threads = Threads(max_threads)
        self._decoders = Threads(max_threads)  # apart: tools that hang must not stop decoding
        self._tasks = Tasks(grace)
        self._failures = Failures(show_errors, report, exception_classes(pass_through))
        self._successes = Successes(self._failures, result_classes(native_results), strict=strict_results)

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._registry

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._threads.abandoned + self._decoders.abandoned + self._tasks.abandoned

    async def execute(self, call: RawCall, /, *, context: Context | None = None) -> ToolResult:
        """Run one call.

        Args:
            call: as the model sent it.
            context: type, or name of a parameter, to value, for the injected parameters.

        Returns:
            The result, or why there is none.

        Raises:
            TypeError: it isn't a `RawCall`.
            BaseException: of `pass_through`.
        """
        _check_calls([call])
        outcome = await self._outcome(call, context)
        result: ToolResult = results_of([outcome], return_exceptions=False)[0]
        return result

    @overload
    async def execute_all(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    async def execute_all(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None, return_exceptions: bool
    ) -> list[ToolResult | BaseException]: ...
    async def execute_all(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None, return_exceptions: bool = False
    ) -> list[Any]:
        """Run calls side by side.

        Args:
            calls: as the model sent them; several may share an id.
            context: as for `execute`; for all of them.
            return_exceptions: whether the exceptions of `pass_through` stand in the list, each in the
                place of its call. Otherwise the first one is raised, and the results are lost.

        Returns:
            A result for each, in the order of the calls.

        Raises:
            TypeError: one isn't a `RawCall`; then none is run.
            BaseException: of `pass_through`, that of the first call, when all calls have ended.
        """
        from asyncio import gather

        calls = _listed_calls(calls)
        running = [self._outcome(call, context) for call in calls]
        # With `return_exceptions` a cancelled gather waits until each call has ended.
        return results_of(await gather(*running, return_exceptions=True), return_exceptions=return_exceptions)

    def execute_sync(self, call: RawCall, /, *, context: Context | None = None) -> ToolResult:
        """Do what `execute` does, without an event loop.

        Raises:
            RuntimeError: an event loop runs in this thread, which this would block.
        """
        return _run(lambda: self.execute(call, context=context), "execute")

    @overload
    def execute_all_sync(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    def execute_all_sync(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None, return_exceptions: bool
    ) -> list[ToolResult | BaseException]: ...
    def execute_all_sync(
        self, calls: Iterable[RawCall], /, *, context: Context | None = None, return_exceptions: bool = False
    ) -> list[Any]:
        """Do what `execute_all` does, without an event loop.

        Raises:
            RuntimeError: an event loop runs in this thread, which this would block.
        """
        start = lambda: self.execute_all(calls, context=context, return_exceptions=return_exceptions)  # noqa: E731
        return _run(start, "execute_all")

    async def _outcome(self, call: RawCall, context: Context | None) -> ToolResult | Passed | BaseException:
        """Return the result of a call, or an exception that is to be raised: a task must not raise it."""
        await self._slots.acquire()
        try:
            outcome = await self._execute(call, context)
        except Exception as error:  # noqa: BLE001  # one call must not take the others down
            outcome = error
        finally:
            self._slots.release()
        if type(outcome) is not ToolResult and issubclass(type(outcome), Exception):
            return self._failures.failed_badly(call, outcome)
        result: ToolResult | Passed | BaseException = outcome
        return result

    async def _execute(self, call: RawCall, context: Context | None) -> Any:
        try:
            found = self._find(call)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            failed = "the switch of the tool failed"
            return self._failures.passed(call, error) or self._failures.not_started(call, error, failed)
        if isinstance(found, ToolResult):
            return found
        seconds = self._seconds(found)
        try:
            run = RunCall(call, found, context, self._failures, self._successes)
            outcome = await self._run(run, call, found, seconds)
        except TimeoutError as late:
            return self._failures.timed_out(call, seconds or 0, late)
        except RuntimeError as error:
            return self._failures.not_started(call, error, "the system has no more threads")
        if type(outcome) is ToolResult or not _is_cancellation(outcome):
            return outcome
        return self._failures.cancelled(call, outcome)

    async def _run(self, run: RunCall, call: RawCall, tool: Tool[..., Any], seconds: float | None) -> Any:
        if tool.is_async and not takes_long(call.arguments):
            return await self._tasks.run(run.arun, tool.name, seconds)
        from time import monotonic

        end = None if seconds is None else monotonic() + seconds
        if tool.is_async:
            outcome = await self._decode(run, tool.name, seconds)
        else:
            outcome = await self._threads.run(run.run, tool.name, seconds)
        if type(outcome) is not Pending:
            return outcome
        left = None if end is None else max(0.0, end - monotonic())
        try:
            return await self._tasks.run(lambda: run.finish(outcome), tool.name, left)
        finally:
            outcome.close()

    async def _decode(self, run: RunCall, name: str, seconds: float | None) -> Any:
        """Decode long arguments in a thread: they would block the event loop."""
        try:
            return await self._decoders.run(run.prepare, name, seconds)
        except TimeoutError as late:
            raise TimeoutError(str(late) or "decoding its arguments took too long") from None

    def _find(self, call: RawCall) -> Tool[..., Any] | ToolResult:
        registry = self._registry
        try:
            tool = registry.shown(call.name)
            return tool if registry.is_enabled(call.name) else self._failures.disabled(call)
        except ToolNotFoundError as error:
            names = [] if error.suggestions else [tool.name for tool in registry.offered()]
            return self._failures.not_found(call, error, names)

    def _seconds(self, tool: Tool[..., Any]) -> float | None:
        seconds = self._timeout if tool.timeout is None else tool.timeout
        return None if seconds == inf else seconds


def _check_calls(calls: Iterable[object]) -> None:
    for call in calls:
        if not isinstance(call, RawCall):
            message = f"a call is a RawCall(id, name, arguments), not {received(call)}"
            raise TypeError(message)


def _listed_calls(calls: Any) -> list[RawCall]:
    if isinstance(calls, RawCall):
        message = "expected a list of calls, not one RawCall alone: write [call]"
        raise TypeError(message)
    found = list(calls)
    _check_calls(found)
    return found


def _is_cancellation(outcome: object) -> bool:
    from asyncio import CancelledError

    return issubclass(type(outcome), (CancelledError, GeneratorExit))


def _run(start: Callable[[], Coroutine[Any, Any, T]], name: str) -> T:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        message = f"an event loop runs in this thread, and {name}_sync would block it: use await {name}"
        raise RuntimeError(message)
    # With a factory, the runner does not replace the event loop that the program has set.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(start())


def _check_options(
    timeout: object,
    max_concurrency: object,
    max_threads: object,
    grace: object,
    show_errors: object,
    report: object,
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
    if not callable(report):
        _refuse("report", "a function from a DecodeError to a string", report)


def _refuse(option: str, kind: str, value: object) -> NoReturn:
    message = f"{option} is {kind}, not {as_written(value)}"
    raise ValueError(message)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
