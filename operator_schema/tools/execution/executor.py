"""The executor: a result for every call, whatever happens."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ...errors import ToolError
from ..calls import RawCall, ToolResult
from ..registry.registry import Registry
from ..tool_lists import check_one_list
from .checks import (
    check_confirm,
    check_names,
    check_on_progress,
    check_options,
    checked_call,
    checked_calls,
    exception_classes,
    result_classes,
)
from .concurrency import Slots
from .failures import Failures, ShowErrors, result_of, results_of
from .run import Outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from typing import Never, Self

    from ...errors import DecodeError
    from ..tool import Tool
    from .backends import Start
    from .confirmation import Confirm
    from .reports import OnProgress
    from .rounds import DecodedCall, Executable, Keep
    from .stream import ResultStream

    Context = Mapping[Any, Any]

__all__ = ["Executor"]

T = TypeVar("T")
H = TypeVar("H")
P = TypeVar("P")


class Executor:
    """Run the calls that a model sends, and give a result for each.

    A call that fails gives a result that says why: to the model in `content`, to your program in `code`
    and `details`; failures are logged by `logging.getLogger("operator_schema")`. Only
    `KeyboardInterrupt`, `SystemExit` and the like, and the cancellation of the caller, are raised.

    An async function runs in a task of its own. When its time is over it is cancelled, and gets
    `grace` seconds to clean up. Any other function runs in a thread of its own, which can't be
    stopped: when its time is over, the call has its result and the thread runs on until the function
    returns or the interpreter exits.

    An executor may be used from any number of event loops (of `asyncio` and of trio) and threads at
    once. A tool that itself waits for a call of the same executor needs a second place under
    `max_concurrency`.

    A copy has the same options, and limits of its own: it does not count the calls of the first one. A
    deep copy has a copy of the registry too. An executor can be pickled if its registry can, and what the
    options name.

    Args:
        registry: the tools, or any iterable of them. It may change later.
        timeout: seconds that a call may take, unless its tool has a timeout; None (for a tool:
            `math.inf`) for no limit. Waiting for a place under `max_concurrency` does not count.
        max_concurrency: limit on the calls that run at once; None for no limit.
        threads: whether functions that aren't async run in threads. If not, they run in the thread of the
            event loop, which stands still meanwhile, and no time limit interrupts them. A tool's own
            `threads` wins.
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
        confirm: who is asked before a tool with `confirm=True` runs. None: nobody, so the call isn't run, and
            its result has the code `needs_approval`. A function, plain or async: it gets a `ToolCall` and
            returns True to run it, False or the text of a refusal, or a decision such as
            `RunNormally(input=…)`; None says that nobody decided. Its time doesn't count for `timeout`.
            `"run"`: such tools run without asking.
        max_content: characters that the text of a result may have, unless its tool has a limit of its own;
            None for no limit. What is longer is cut, with a sentence that says so, and has no `json`;
            `value` stays whole.

    Raises:
        DuplicateToolError: two tools have the same name.
        ValueError: an option has the wrong type, or is out of range.
    """

    __slots__ = (
        *("_options", "_outcomes", "_registry", "_slots", "_wording"),
        "__weakref__",
    )

    def __init__(
        self,
        registry: Registry | Iterable[Tool[..., Any]],
        *others: Never,
        timeout: float | None = 30.0,
        max_concurrency: int | None = None,
        threads: bool = True,
        max_threads: int = 64,
        grace: float = 5.0,
        show_errors: ShowErrors = "type",
        report: Callable[[DecodeError], str] = str,
        strict_results: bool = False,
        native_results: Iterable[type] = (),
        pass_through: Iterable[type[BaseException]] = (),
        confirm: Confirm | None = None,
        max_content: float | None = 200_000,
        **unknown: Never,
    ) -> None:
        check_one_list("Executor", registry, others)
        check_names(unknown, Executor.__init__.__kwdefaults__ or {})
        check_options(timeout, max_concurrency, threads, max_threads, grace, show_errors, report, max_content)
        check_confirm(confirm)
        self._registry = registry if isinstance(registry, Registry) else Registry(registry)
        self._slots = Slots(max_concurrency)
        passed, native = exception_classes(pass_through), result_classes(native_results)
        failures = Failures(show_errors, report, passed)
        self._wording = failures.wording()
        self._options: Mapping[str, Any] = {
            "timeout": timeout,
            "max_concurrency": max_concurrency,
            "threads": threads,
            "max_threads": max_threads,
            "grace": grace,
            "show_errors": show_errors,
            "report": report,
            "strict_results": strict_results,
            "native_results": native.classes,
            "pass_through": passed.classes,
            "confirm": confirm,
            "max_content": max_content,
        }
        self._outcomes = Outcomes(self._registry, self._slots, failures, native, self._options)

    def __getstate__(self) -> tuple[Any, ...]:
        """Return what copies and pickles consist of."""
        return self._registry, self._options, dict(getattr(self, "__dict__", {}))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill a copy."""
        registry, options, attributes = state
        Executor.__init__(self, registry, **options)
        if attributes:  # of a subclass
            self.__dict__.update(attributes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        registry, options, attributes = self.__getstate__()
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        # What the options name is shared: classes, and a function of your program.
        copied.__setstate__((deepcopy(registry, memo), options, deepcopy(attributes, memo)))
        return copied

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._registry

    @property
    def max_content(self) -> float | None:
        """Characters that the text of a result may have, unless its tool has a limit of its own."""
        most: float | None = self._options["max_content"]
        return most

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._outcomes.abandoned

    def missing_context(self, context: Context | None = None) -> dict[str, ToolError]:
        """Return which tools can't run with a context: name to what a call would raise.

        Ask this when your program starts, instead of with the first call of each tool.

        Args:
            context: type, or name of a parameter, to value, as for `execute`.
        """
        found: dict[str, ToolError] = {}
        for tool in self._registry:
            try:
                tool.check_context(context)
            except ToolError as error:
                found[tool.name] = error
        return found

    async def execute(
        self,
        call: RawCall,
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
    ) -> ToolResult:
        """Run one call.

        Args:
            call: as the model sent it.
            context: type, or name of a parameter, to value, for the injected parameters.
            on_progress: a plain function that gets the call and a `ProgressUpdate` each time that the
                function reports its progress, in the thread of the event loop, before the result.
            confirm: as for the executor; None for what the executor has. Give `"run"` if a person has
                agreed to this very call.

        Returns:
            The result, or why there is none.

        Raises:
            TypeError: it isn't a `RawCall`, or `on_progress` isn't a plain function.
            ValueError: `confirm` is something else.
            BaseException: of `pass_through`.
        """
        if on_progress is not None:
            check_on_progress(on_progress)
        check_confirm(confirm)
        outcome = await self._outcomes.of(checked_call(call), context, on_progress, None, confirm)
        if type(outcome) is ToolResult:
            return outcome
        return result_of(outcome)

    @overload
    async def execute_all(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    async def execute_all(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: bool,
    ) -> list[ToolResult | BaseException]: ...
    async def execute_all(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: bool = False,
    ) -> list[Any]:
        """Run calls side by side.

        Args:
            calls: as the model sent them; several may share an id.
            context: as for `execute`; for all of them.
            on_progress: as for `execute`; for all of them.
            confirm: as for `execute`; for all of them.
            return_exceptions: whether exceptions of `pass_through` are items of the list, each in the
                place of its call. Otherwise the first one is raised, and the results are lost.

        Returns:
            A result for each, in the order of the calls.

        Raises:
            TypeError: one isn't a `RawCall`; then none is run. Or `on_progress` isn't a plain function.
            BaseException: of `pass_through`, that of the first call, when all calls have ended.
        """
        from .stream import JobGroup

        outcomes = await JobGroup(self._starts(calls, context, on_progress, confirm)).all()
        return results_of(outcomes, return_exceptions=return_exceptions)

    def stream(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
    ) -> ResultStream:
        """Run calls side by side, and give the results as they come.

        The calls begin when the first result is asked for. If you leave the loop early, those that still
        run are cancelled: at once with `async with executor.stream(calls) as results:`, soon without it.

        Args:
            calls: as the model sent them; several may share an id.
            context: as for `execute`; for all of them.
            on_progress: as for `execute`; for all of them.
            confirm: as for `execute`; for all of them.

        Returns:
            An async iterator of the results, also an async context manager, with `aclose`. Exceptions of
            `pass_through` are raised by it, and cancel the calls that still run.

        Raises:
            TypeError: one isn't a `RawCall`; then none is run. Or `on_progress` isn't a plain function.
        """
        from .stream import ResultStream

        return ResultStream(self._starts(calls, context, on_progress, confirm))

    def execute_sync(
        self,
        call: RawCall,
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
    ) -> ToolResult:
        """Do what `execute` does, and wait for it, without an event loop or in the thread of one.

        If an event loop runs in this thread, it stands still meanwhile, and the call runs in another
        thread, in an event loop of its own. `KeyboardInterrupt` cancels the call. `on_progress` is
        called in that other thread.

        Raises:
            RuntimeError: it would wait for ever, because calls that wait for it, or for the event loop of
                this thread, hold all places under `max_concurrency`.
        """
        return self._wait_for(
            lambda: self.execute(call, context=context, on_progress=on_progress, confirm=confirm),
            "execute",
            # Your functions are awaited in tasks alone, but for these two.
            needs_loop=on_progress is not None or self._outcomes.asks(confirm),
        )

    @overload
    def execute_all_sync(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    def execute_all_sync(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: bool,
    ) -> list[ToolResult | BaseException]: ...
    def execute_all_sync(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        return_exceptions: bool = False,
    ) -> list[Any]:
        """Do what `execute_all` does, and wait for it, as `execute_sync` does.

        Raises:
            RuntimeError: as for `execute_sync`.
        """
        return self._wait_for(
            lambda: self.execute_all(
                calls,
                context=context,
                on_progress=on_progress,
                confirm=confirm,
                return_exceptions=return_exceptions,
            ),
            "execute_all",
        )

    async def execute_round(
        self,
        plan: Executable[H, P],
        /,
        *,
        hooks: H | None = None,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
    ) -> P:
        """Let hooks decide about the calls of a round, and run side by side what they don't stop.

        The calls are run as by `execute_all`, with the inputs that the round has for them. Tools are
        found by name in the registry of this executor. Calls of tools with `confirm=True` are deferred, or
        asked about one after the other if the executor has `confirm`.

        Args:
            plan: a `ToolRound`, or the `ToolRoundPlan` of one.
            hooks: as for `ToolRound.apply`.
            context: as for `execute`; for all of them.
            on_progress: as for `execute`; for all of them.

        Returns:
            The plan, with a result for each call that was run.

        Raises:
            TypeError: it is something else, or `on_progress` isn't a plain function.
            Exception: what `ToolRoundPlan.execute_with` raises.
        """
        from .rounds import check_executable

        check_executable(plan)
        if on_progress is not None:
            check_on_progress(on_progress)
        run_all = partial(self._run_decoded, context, on_progress)
        outcomes = self._outcomes
        asking = outcomes.confirmation.asking()
        return await plan.execute_with(run_all, hooks, asking, self._wording, outcomes.limited)

    def execute_round_sync(
        self,
        plan: Executable[H, P],
        /,
        *,
        hooks: H | None = None,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
    ) -> P:
        """Do what `execute_round` does, and wait for it, as `execute_sync` does.

        Raises:
            RuntimeError: as for `execute_sync`.
        """
        return self._wait_for(
            lambda: self.execute_round(plan, hooks=hooks, context=context, on_progress=on_progress),
            "execute_round",
        )

    async def _run_decoded(
        self,
        context: Context | None,
        on_progress: OnProgress | None,
        calls: Sequence[DecodedCall],
        keep: Keep,
    ) -> list[ToolResult | BaseException]:
        """Run calls with their inputs side by side; what is passed through stands in the list."""
        from .stream import JobGroup

        async def of(position: int, one: DecodedCall) -> Any:
            outcome = await self._outcomes.of(one.call, context, on_progress, one)
            if type(outcome) is ToolResult:
                keep(position, outcome)
            return outcome

        starts = [(partial(of, position, one), one.call.name) for position, one in enumerate(calls)]
        return results_of(await JobGroup(starts).all(), return_exceptions=True)

    def _starts(
        self,
        calls: Iterable[RawCall],
        context: Context | None,
        on_progress: OnProgress | None,
        confirm: Confirm | None,
    ) -> list[tuple[Start, str]]:
        if on_progress is not None:
            check_on_progress(on_progress)
        check_confirm(confirm)
        of = self._outcomes.of
        return [
            (partial(of, call, context, on_progress, None, confirm), call.name)
            for call in checked_calls(calls)
        ]

    def _wait_for(
        self, start: Callable[[], Coroutine[Any, Any, T]], name: str, *, needs_loop: bool = True
    ) -> T:
        from .sync import wait_for

        return wait_for(start, self._slots, name, needs_loop=needs_loop)
