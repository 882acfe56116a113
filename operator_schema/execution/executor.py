"""The executor: a result for every call, whatever happens."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from ..errors import ToolError
from ..tools.calls import RawCall, ToolResult, checked_calls
from ..tools.failures import Failures, ShowErrors, give_result, result_of, results_of
from ..tools.registry import Registry
from ..tools.tool_sources import check_one_list
from .checks import (
    check_confirm,
    check_names,
    check_on_progress,
    check_on_result,
    check_options,
    checked_work,
    exception_classes,
    result_classes,
)
from .concurrency import Slots
from .run import Outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from typing import Never, Self

    from ..errors import DecodeError
    from ..tools.calls import DecodedCall, Executable, OnResult, Settle
    from ..tools.tool import Tool
    from .backends import Start
    from .confirmation import Confirm
    from .stream import OnProgress, ResultStream

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
        pass_through: classes of exceptions that your program handles itself. `run` raises them, also
            from within an exception group, where others turn into a result.
        confirm: who is asked before a tool with `confirm=True` runs. None: nobody, so the call isn't run, and
            its result has the code `needs_approval`. A function, plain or async: it gets a `ToolCall` and
            returns True to run it, False or the text of a refusal, or a decision such as
            `RunNormally(input=…)`; None says that nobody decided. Its time doesn't count for `timeout`.
            `"run"`: such tools run without asking.
        max_content: characters that the text of a result may have, unless its tool has a limit of its own;
            None for no limit. What is longer is cut, with a sentence that says so, and has no `json`;
            `value` stays whole.
        hooks: `Hooks`, a function, or a list of these: they hold in all rounds that the executor runs, before
            those that are given with a round.
        context: type, or name of a parameter, to value, for the injected parameters of calls that are given
            none of their own.
        store: such as a `SqliteStore`: a round is saved before and after it runs, and runs in one process
            only.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: something isn't a hook.
        ValueError: an option has the wrong type, or is out of range.
    """

    __slots__ = (
        *("_context", "_hooks", "_options", "_outcomes", "_registry", "_slots", "_store", "_wording"),
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
        hooks: object = None,
        context: Context | None = None,
        store: object = None,
        **unknown: Never,
    ) -> None:
        check_one_list("Executor", registry, others)
        check_names(unknown, Executor.__init__.__kwdefaults__ or {})
        check_options(timeout, max_concurrency, threads, max_threads, grace, show_errors, report, max_content)
        check_confirm(confirm)
        self._registry = registry if isinstance(registry, Registry) else Registry(registry)
        self._hooks = _hooks_of(hooks)
        self._context = context
        self._store: Any = store
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
            "hooks": self._hooks,
            "context": context,
            "store": store,
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

    def with_(self, **options: Any) -> Self:
        """Return a copy with other options and limits of its own, such as one that asks nobody in a test.

        Args:
            options: those of the constructor.

        Raises:
            TypeError: there is no such option, or something isn't a hook.
            ValueError: an option has the wrong type, or is out of range.
        """
        registry, known, attributes = self.__getstate__()
        copied = object.__new__(type(self))
        copied.__setstate__((registry, {**known, **options}, attributes))
        return copied

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._registry

    @property
    def context(self) -> Context | None:
        """What is injected into calls that are given no context of their own."""
        return self._context

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
            context: type, or name of a parameter, to value, as for `run`; None for that of the executor.
        """
        context = self._context if context is None else context
        found: dict[str, ToolError] = {}
        for tool in self._registry:
            try:
                tool.check_context(context)
            except ToolError as error:
                found[tool.name] = error
        return found

    @overload
    async def run(
        self,
        work: RawCall,
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
    ) -> ToolResult: ...
    @overload
    async def run(
        self,
        work: Executable[H, P],
        /,
        *,
        context: Context | None = None,
        hooks: H | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
    ) -> P: ...
    @overload
    async def run(
        self,
        work: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    async def run(
        self,
        work: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: bool,
    ) -> list[ToolResult | BaseException]: ...
    async def run(
        self,
        work: Any,
        /,
        *,
        context: Context | None = None,
        hooks: Any = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: bool = False,
    ) -> Any:
        """Run one call, several, or a round, and return the same kind: a result, a list of results, a round.

        Several calls run side by side. In a round, hooks decide first: those of the executor. Calls of tools
        with `confirm=True` that nobody can be asked about wait there (`round.deferred`); a call without a
        round gives the result `needs_approval`. The tools of a round are found by name in the registry of
        the executor.

        Args:
            work: a call as the model sent it, a list of such calls, or a round (`offer.round(answer)`).
            context: type, or name of a parameter, to value, for the injected parameters; None for that of the
                executor.
            hooks: for a round: `Hooks`, or a function, that decide after those of the executor.
            confirm: as for the executor; None for what the executor has. Give `"run"` if a person has
                agreed to exactly these calls.
            on_progress: a plain function that gets the call and a `ProgressUpdate` each time that the
                function reports its progress, in the thread of the event loop, before the result.
            on_result: a plain function that gets the call and its result as soon as it is there, in that
                thread too.
            return_exceptions: for several calls: whether exceptions of `pass_through` are items of the list,
                each in the place of its call. Otherwise the first one is raised, and the results are lost.

        Raises:
            HookError: a hook, or `confirm` in a round, failed; nothing was run.
            InterruptedRoundError: functions of a round raised exceptions of `pass_through`.
            RoundError: the round was committed or discarded, or one of its calls was run before.
            StoreError: the store of the executor doesn't give the round to this process.
            TypeError: it is something else, or `on_progress` or `on_result` isn't a plain function; then
                nothing is run.
            ValueError: `confirm` is something else.
            BaseException: of `pass_through`, that of the first call, when all calls have ended.
        """
        if on_result is not None:
            check_on_result(on_result)
        if confirm is not None:
            check_confirm(confirm)
        kind: Any = cast("Any", type(work))
        if hooks is None and issubclass(kind, RawCall):
            return await self._run_call(work, context, confirm, on_progress, on_result)
        if hasattr(kind, "execute_with"):
            return await self._run_round(work, hooks, context, confirm, on_progress, on_result)
        if hooks is not None:
            message = "hooks decide about the calls of a round: executor.run(offer.round(answer), hooks=…)"
            raise TypeError(message)
        from .stream import JobGroup

        starts = self._starts(checked_work(work), context, on_progress, confirm, on_result)
        return results_of(await JobGroup(starts).all(), return_exceptions=return_exceptions)

    @overload
    def run_sync(
        self,
        work: RawCall,
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
    ) -> ToolResult: ...
    @overload
    def run_sync(
        self,
        work: Executable[H, P],
        /,
        *,
        context: Context | None = None,
        hooks: H | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
    ) -> P: ...
    @overload
    def run_sync(
        self,
        work: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[ToolResult]: ...
    @overload
    def run_sync(
        self,
        work: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: bool,
    ) -> list[ToolResult | BaseException]: ...
    def run_sync(
        self,
        work: Any,
        /,
        *,
        context: Context | None = None,
        hooks: Any = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: bool = False,
    ) -> Any:
        """Do what `run` does, and wait for it, without an event loop or in the thread of one.

        If an event loop runs in this thread, it stands still meanwhile, and the calls run in another
        thread, in an event loop of its own. `KeyboardInterrupt` cancels the calls. `on_progress` and
        `on_result` are called in that other thread.

        Raises:
            RuntimeError: it would wait for ever, because calls that wait for it, or for the event loop of
                this thread, hold all places under `max_concurrency`.
        """
        run: Any = self.run  # its overloads know the kind of work
        return self._wait_for(
            lambda: run(
                work,
                context=context,
                hooks=hooks,
                confirm=confirm,
                on_progress=on_progress,
                on_result=on_result,
                return_exceptions=return_exceptions,
            ),
            # Functions of your program are awaited in tasks of their own, but for these.
            needs_loop=not isinstance(work, RawCall)
            or on_progress is not None
            or self._outcomes.asks(confirm),
        )

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
            context: as for `run`; for all of them.
            on_progress: as for `run`; for all of them.
            confirm: as for `run`; for all of them.

        Returns:
            An async iterator of the results, also an async context manager, with `aclose`. Exceptions of
            `pass_through` are raised by it, and cancel the calls that still run.

        Raises:
            TypeError: one isn't a `RawCall`; then none is run. Or `on_progress` isn't a plain function.
        """
        from .stream import ResultStream

        return ResultStream(self._starts(calls, context, on_progress, confirm))

    async def _run_call(
        self,
        call: RawCall,
        context: Context | None,
        confirm: Confirm | None,
        on_progress: OnProgress | None,
        on_result: OnResult | None,
    ) -> ToolResult:
        """Run one call; see `run`."""
        if on_progress is not None:
            check_on_progress(on_progress)
        context = self._context if context is None else context
        outcome = await self._outcomes.of(call, context, on_progress, None, confirm)
        result = outcome if type(outcome) is ToolResult else result_of(outcome)
        if on_result is not None:
            give_result(on_result, call, result)
        return result

    async def _run_round(
        self,
        work: Any,
        hooks: Any,
        context: Context | None,
        confirm: Confirm | None,
        on_progress: OnProgress | None,
        on_result: OnResult | None,
    ) -> Any:
        """Run a round; see `run`."""
        if on_progress is not None:
            check_on_progress(on_progress)
        if self._hooks is not None:
            hooks = self._hooks if hooks is None else _hooks_of([self._hooks, hooks])
        context = self._context if context is None else context
        run_all = partial(self._run_decoded, context, on_progress, on_result)
        asking = self._outcomes.confirmation.asking(confirm)

        def run(one: Any) -> Any:
            return one.execute_with(run_all, hooks, asking, self._wording, self._outcomes.limited)

        return await (run(work) if self._store is None else self._store.run(work, run))

    async def _run_decoded(
        self,
        context: Context | None,
        on_progress: OnProgress | None,
        on_result: OnResult | None,
        calls: Sequence[DecodedCall],
        settle: Settle,
    ) -> list[ToolResult | BaseException]:
        """Run calls with their inputs side by side; exceptions that pass through are items of the list."""
        from .stream import JobGroup

        async def of(position: int, one: DecodedCall) -> Any:
            while True:
                outcome = await self._outcomes.of(one.call, context, on_progress, one)
                if type(outcome) is not ToolResult:
                    return outcome
                settled = await settle(position, outcome)
                if settled is not None:
                    give_result(on_result, one.call, settled)
                    return settled

        starts = [(partial(of, position, one), one.call.name) for position, one in enumerate(calls)]
        return results_of(await JobGroup(starts).all(), return_exceptions=True)

    def _starts(
        self,
        calls: Iterable[RawCall],
        context: Context | None,
        on_progress: OnProgress | None,
        confirm: Confirm | None,
        on_result: OnResult | None = None,
    ) -> list[tuple[Start, str]]:
        if on_progress is not None:
            check_on_progress(on_progress)
        check_confirm(confirm)
        context = self._context if context is None else context
        of: Any = self._outcomes.of if on_result is None else partial(self._given, on_result)
        return [
            (partial(of, call, context, on_progress, None, confirm), call.name)
            for call in checked_calls(calls)
        ]

    async def _given(self, on_result: OnResult, call: RawCall, *options: Any) -> Any:
        """Return the outcome of a call, and give its result to your program."""
        outcome = await self._outcomes.of(call, *options)
        if type(outcome) is ToolResult:
            give_result(on_result, call, outcome)
        return outcome

    def _wait_for(self, start: Callable[[], Coroutine[Any, Any, T]], *, needs_loop: bool) -> T:
        from .sync import wait_for

        return wait_for(start, self._slots, needs_loop=needs_loop)


def _hooks_of(hooks: Any) -> Any:
    """Return the option `hooks` of an executor as `Hooks`; None without any.

    Raises:
        TypeError: something isn't a hook.
    """
    if hooks is None:
        return None
    from ..rounds.hooks import Hooks  # rounds know what a hook is

    return Hooks(*hooks) if isinstance(hooks, (list, tuple)) else Hooks(hooks)
