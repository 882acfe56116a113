"""How does a program run calls and rounds? The executor gives every call a result, whatever happens."""

from __future__ import annotations

from copy import deepcopy
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from ..errors import ToolError, ToolNotFoundError
from ..message_text import received
from ..rounds.registry import Registry
from ..tools.calls import RawCall, ToolResult, checked_calls, result_of, results_of
from ..tools.logs import logged_with_round
from ..tools.tool_sources import check_is_tool
from .concurrency import Load, Slots
from .options import (
    check_confirm,
    check_listener,
    checked_options,
    checked_work,
    context_of_calls,
)
from .run import Outcomes, watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from typing import Self, Unpack

    from ..errors import DecodeError
    from ..rounds.hooks import CallHooks, ForTools, Hooks
    from ..rounds.named_tools import Member
    from ..rounds.tool_call import ToolCall
    from ..rounds.transcript import History
    from ..tools.calls import DecodedCall, Executable, OnResult, Settle, ShowErrors
    from ..tools.tool import Tool
    from .around import OnWaiting
    from .async_libraries import Start
    from .confirmation import Confirm
    from .options import RunOptions
    from .stream import OnProgress, ResultStream

    Context = Mapping[Any, Any]
    MakeContext = Callable[[Any], Context]
    Count = Callable[[ToolResult], Awaitable[ToolResult | None]]

T = TypeVar("T")
P = TypeVar("P")


class Executor:
    """Runs the calls that a model sends, and returns a result for each.

    The result of a failed call explains the failure: to the model in `content`, to your program in `code` and
    `details`. Failures are logged by `logging.getLogger("operator_schema")`. Only `KeyboardInterrupt`,
    `SystemExit` and the like, and the cancellation of the caller, are raised.

    An async function runs in a task of its own. When its time is over it is cancelled, and gets
    `grace` seconds to clean up. Any other function runs in a thread of its own, which can't be
    stopped: when its time is over, the call has its result and the thread runs on until the function
    returns or the interpreter exits.

    An executor may be used from any number of event loops (of `asyncio` and of trio) and threads at
    once. A tool that itself waits for a call of the same executor needs a second place under
    `max_concurrency`.

    A copy has the same options and its own limits: it doesn't count the calls of the original. A deep copy
    has a copy of the registry too. An executor can be pickled if its registry and the values of its options
    can.

    Args:
        tools: a tool, a toolset, a registry, which may change later, or a list of these.
        timeout: seconds that a call may take, unless its tool has a timeout; None (for a tool:
            `math.inf`) for no limit. Waiting for a place under `max_concurrency` does not count.
        max_concurrency: the most calls that run at once; None for no limit.
        threads: whether functions that aren't async run in threads. If not, they run in the thread of the
            event loop, which is blocked meanwhile, and no time limit interrupts them. A tool's own `threads`
            wins.
        max_threads: the most threads that run at once, including those whose calls are over. One
            tool gets at most three quarters of those that other tools leave.
        grace: seconds that an async function gets to clean up after its cancellation.
        show_errors: how much the model sees of an exception other than `CallError`: its type; type and
            message, which may contain things that the model must not see; or the whole traceback.
        report: takes the `DecodeError` of arguments that do not fit, and returns the text that the
            model reads instead of `str(error)`.
        strict_results: whether a result that does not fit the declared type of its tool is a failure.
            Otherwise it is written as well as possible, with a warning.
        native_results: classes of objects that your program gets in `ToolResult.value` as the function
            returned them, alone or in a list or tuple. The model reads only their class.
        pass_through: classes of exceptions that your program handles itself. `run` raises them, even from
            inside an exception group; all others become results.
        confirm: who is asked before a tool with `confirm=True` runs. None asks nobody: the call isn't run,
            and its result has the code `needs_approval`. A function, plain or async: it gets a `ToolCall` and
            returns True to run it, False or the text of a refusal, or a decision such as
            `RunNormally(input=…)`; None means that nobody decided. Its time doesn't count for `timeout`.
            `"run"`: such tools run without asking.
        max_content: characters that the text of a result may have, unless its tool has a limit of its own;
            None for no limit. A longer result is cut, with a sentence that says so, and has no `json`;
            `value` stays whole.
        hooks: `Hooks`, a function, or a list of these, for every call that the executor runs. They decide
            before the hooks that are given to `run`.
        context: type, or name of a parameter, to value, for the injected parameters of calls without a
            context of their own; or a plain function that returns such a mapping, and takes the framework's
            own context of a call, or None without a framework.
        store: such as a `SqliteStore`. A round is saved before and after it runs, and runs in only one
            process.
        on_waiting: a function, plain or async, for notifications: it gets each call of a round that begins to
            wait for a person or another system, and the round, which the store has saved by then. If it
            fails, the log has an error and the round goes on.

    Raises:
        DuplicateToolError: two tools have the same name.
        ToolNotFoundError: a hook is for a tool that doesn't exist. With a registry, which may get the tool
            later, the first call raises this.
        TypeError: something isn't a hook, `context` or `store` has the wrong type, or a function doesn't take
            the arguments that it gets.
        ValueError: an option has the wrong type or range, or hooks are for a toolset that doesn't exist.
    """

    __slots__ = (
        *("_context", "_deciding", "_hooks", "_options", "_outcomes", "_registry", "_slots", "_store"),
        "__weakref__",
    )

    def __init__(
        self,
        tools: Member,
        *,
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
        context: Context | MakeContext | None = None,
        store: object = None,
        on_waiting: OnWaiting | None = None,
    ) -> None:
        options: dict[str, Any] = dict(locals())  # each option by its name
        del options["self"], options["tools"]
        self._options: Mapping[str, Any] = checked_options(options)
        self._hooks = None if hooks is None else _hooks_given(hooks)
        self._options = {**self._options, "hooks": self._hooks}
        self._registry = _registry_of(tools)
        self._context: Context | MakeContext | None = context
        self._store = store
        self._deciding: tuple[Any, CallHooks | None] = None, None
        self._slots = Slots(max_concurrency)
        self._outcomes = Outcomes(self._registry, self._slots, self._options)
        if hooks is not None and self._registry is not tools:
            self._call_hooks()  # a registry may get the tools of its hooks later

    def __getstate__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles."""
        return self._registry, self._options, dict(getattr(self, "__dict__", {}))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Set the state of a copy."""
        registry, options, attributes = state
        Executor.__init__(self, registry, **options)
        if attributes:  # of a subclass
            self.__dict__.update(attributes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        registry, options, attributes = self.__getstate__()
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        # The values of options are shared: classes, and functions of your program.
        copied.__setstate__((deepcopy(registry, memo), options, deepcopy(attributes, memo)))
        return copied

    def with_(self, **options: Any) -> Self:
        """Return a copy with other options and its own limits, such as one that asks nobody in a test.

        Args:
            options: options of the constructor.

        Raises:
            TypeError: there is no such option, or something isn't a hook.
            ValueError: an option has the wrong type, or is out of range.
        """
        return self._copied(self._registry, {**self._options, **options})

    def with_tools(self, tools: Member, /) -> Self:
        """Return a copy with other tools and its own limits, such as the same tools with `repair=True`.

        Args:
            tools: as for the constructor.

        Raises:
            DuplicateToolError: two tools have the same name.
        """
        # In a registry, since the hooks may be for tools that are left out.
        return self._copied(_registry_of(tools), self._options)

    def _copied(self, registry: Registry, options: Mapping[str, Any], *, shares_limits: bool = False) -> Self:
        """Return a copy, with the attributes of a subclass too, and with its own limits or shared ones."""
        _, _, attributes = self.__getstate__()
        made = object.__new__(type(self))
        made.__setstate__((registry, options, attributes))
        if shares_limits:
            made._slots = self._slots
            made._outcomes = made._outcomes.limited_with(self._outcomes)
        return made

    def for_host(
        self,
        *,
        native_results: Collection[type] = (),
        pass_through: Collection[type[BaseException]] = (),
    ) -> Self:
        """Return a copy for a framework, with further classes of results and exceptions.

        Limits and threads are shared: the calls of both count together.

        Args:
            native_results: classes of the framework, beside those of the executor.
            pass_through: classes of exceptions that the framework handles, beside those of the executor.

        Raises:
            ValueError: something isn't such a class.
        """
        if not native_results and not pass_through:
            return self
        more = {"native_results": native_results, "pass_through": pass_through}
        return self._sharing(self._registry, self._hooks, **more)

    def for_function(self, function: Tool[..., Any], /, *, native_results: Collection[type] = ()) -> Self:
        """Return a copy for a function that isn't one of its tools, such as a prompt of a server.

        Limits and threads are shared, as with `for_host`. Hooks for every call also apply to the function.
        Hooks for named tools or for a toolset, and those that the tools bring, don't.

        Args:
            function: the function as a tool; the copy can call only this one.
            native_results: further classes of results, as for `for_host`.

        Raises:
            TypeError: the function isn't a single tool.
            ValueError: something isn't such a class.
        """
        check_is_tool("for_function", function, for_several="with_tools")
        hooks = None if self._hooks is None else self._hooks.for_every_call()
        return self._sharing(Registry(function), hooks, native_results=native_results)

    def _sharing(self, registry: Registry, hooks: Hooks | None, **more: Collection[type[Any]]) -> Self:
        """Return a copy that shares the limits, with further classes for some options."""
        options = {**self._options, "hooks": hooks}
        for name, classes in more.items():
            options[name] = (*self._options[name], *classes)
        return self._copied(registry, options, shares_limits=True)

    @property
    def registry(self) -> Registry:
        """The registry of the tools."""
        return self._registry

    @property
    def context(self) -> Context | MakeContext | None:
        """The context of calls without their own, or the function that makes it."""
        return self._context

    def _context_of(self, given: Context | None) -> Context | None:
        """Return the context of calls: the given one, or the executor's own."""
        return None if given is None and self._context is None else context_of_calls(given, self._context)

    @property
    def store(self) -> Any:
        """The store of its rounds; None if it has none."""
        return self._store

    @property
    def has_hooks(self) -> bool:
        """Whether hooks of the executor or of its tools decide about calls or look at results."""
        own, of_tools = self._hooks, self._registry.toolset.hooks
        return (own is not None and own.may_decide) or (of_tools is not None and of_tools.may_decide)

    def may_defer(self, name: str, /) -> bool:
        """Return whether a hook may let a person decide about calls of a tool."""
        try:
            deciding = self._call_hooks()
        except ToolNotFoundError:  # a registry may get the tools of its hooks later
            return True
        return deciding is not None and deciding.may_defer(name)

    @property
    def max_content(self) -> float | None:
        """Characters that the text of a result may have, unless its tool has a limit of its own."""
        most: float | None = self._options["max_content"]
        return most

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._outcomes.abandoned

    @property
    def load(self) -> Load:
        """How busy the executor is now, for metrics and health checks."""
        return self._outcomes.load()

    def missing_context(self, context: Context | None = None) -> dict[str, ToolError]:
        """Return the tools that can't run with a context: name to the exception of a call.

        Check this when your program starts, instead of finding out with the first call of each tool.

        Args:
            context: type, or name of a parameter, to value, as for `run`; None for that of the executor.

        Raises:
            TypeError: the context isn't a mapping.
        """
        context = self._context_of(context)
        found: dict[str, ToolError] = {}
        for tool in self._registry:
            try:
                tool.check_context(context)
            except ToolError as error:
                found[tool.name] = error
        return found

    @overload
    async def run(self, work: RawCall, /, **options: Unpack[RunOptions]) -> ToolResult: ...
    @overload
    async def run(
        self, work: Executable[Any, P], history: History | None = None, /, **options: Unpack[RunOptions]
    ) -> P: ...
    @overload
    async def run(
        self,
        work: Iterable[RawCall],
        /,
        *,
        return_exceptions: Literal[False] = False,
        **options: Unpack[RunOptions],
    ) -> list[ToolResult]: ...
    @overload
    async def run(
        self, work: Iterable[RawCall], /, *, return_exceptions: bool, **options: Unpack[RunOptions]
    ) -> list[ToolResult | BaseException]: ...
    async def run(
        self,
        work: Any,
        history: Any = None,
        /,
        *,
        context: Context | None = None,
        hooks: Any = None,
        confirm: Confirm | None = None,
        on_progress: OnProgress | None = None,
        on_result: OnResult | None = None,
        return_exceptions: bool = False,
    ) -> Any:
        """Run one call, several calls, or a round, and return a result, a list of results, or the round.

        Several calls run at the same time. Hooks decide first. A call that a hook defers, or whose tool has
        `confirm=True`, waits in a round (`round.deferred`) if nobody can be asked; without a round its result
        is `needs_approval`. The tools of a round are found by name in the registry of the executor.

        Args:
            work: a call as the model sent it, a list of such calls, or a round (`offer.round(answer)`).
            history: of a round, the transcript that its turn goes to. If it is one of a store, the round is
                saved with its name (`round.conversation`), so that it is found again after a crash.
            context: type, or name of a parameter, to value, for the injected parameters; None for that of the
                executor.
            hooks: `Hooks`, or a function, that decide after those of the executor.
            confirm: as for the executor; None for the executor's own. Give `"run"` if a person has
                agreed to exactly these calls.
            on_progress: a plain function that gets the call and a `ProgressUpdate` each time that the
                function reports its progress, in the thread of the event loop, before the result.
            on_result: a plain function that gets the call and its result as soon as there is one, in the same
                thread.
            return_exceptions: for several calls: whether exceptions of `pass_through` are items of the list,
                each at the position of its call. Otherwise the first one is raised, and the results are lost.

        Raises:
            HookError: a hook, or `confirm`, failed in a round; nothing was run. Without a round, the result
                of the call says so.
            InterruptedRoundError: functions of a round raised exceptions of `pass_through`.
            RoundError: the round was committed or discarded, one of its calls was run before, or it belongs
                to another conversation.
            StoreError: the round can't be taken from the executor's store.
            TypeError: `work` has the wrong type, a history is given without a round, the context isn't a
                mapping, `on_progress` or `on_result` isn't a plain function, or a function doesn't take the
                arguments that it gets; then nothing is run.
            ValueError: `confirm` has the wrong type.
            BaseException: one of `pass_through`, from the first call that raised one, after all calls have
                ended.
        """
        is_round = hasattr(cast("Any", type(work)), "execute_with")
        if history is not None and not is_round:
            message = f"only a round has a history: run(round, history), not with {received(work)}"
            raise TypeError(message)
        if on_result is not None:
            check_listener("on_result", on_result)
        if confirm is not None:
            check_confirm(confirm)
        if on_progress is not None:
            check_listener("on_progress", on_progress)
        if issubclass(type(work), RawCall):
            deciding, context = self._call_hooks(hooks), self._context_of(context)
            outcome = await self._start_alone(on_result, work, context, on_progress, confirm, deciding)()
            return outcome if type(outcome) is ToolResult else result_of(outcome)
        if is_round:
            if history is not None:
                work = work.replace(conversation=_conversation_of(history, work))
            return await self._run_round(work, hooks, context, confirm, on_progress, on_result)
        deciding = self._call_hooks(hooks)
        starts = self._starts(checked_work(work), context, on_progress, confirm, deciding, on_result)
        return results_of(await _all_of(starts), return_exceptions=return_exceptions)

    def named(self, call: RawCall, /, *, context: Context | None = None) -> RawCall:
        """Return a call with its tool's name repaired, in the way in which `run` repairs it.

        The call is unchanged if its name is that of a tool, if it means none, if that tool doesn't repair, is
        destructive or has `confirm=True`, or if its arguments take long to decode. Otherwise its `sent_name`
        is the original name.

        Args:
            call: the call as the model sent it.
            context: as for `run`.

        Raises:
            TypeError: the context isn't a mapping.
        """
        return self._outcomes.named(call, self._context_of(context))

    async def needs_approval(self, call: RawCall, /, *, context: Context | None = None) -> bool:
        """Return whether a person has to agree before a call runs; the arguments are those of `waiting`."""
        return await self.waiting(call, context=context) is not None

    async def waiting(self, call: RawCall, /, *, context: Context | None = None) -> ToolCall[Any] | None:
        """Return a call about which a person has to be asked before it runs; ask hooks, but run nothing.

        This is for a framework that asks a person itself. Nobody needs to be asked about a call that a hook
        completes or rejects, or whose arguments don't fit. Hooks are asked again when the call runs.

        Args:
            call: the call as the model sent it.
            context: as for `run`.

        Returns:
            The call with the reason why it waits and the arguments as hooks left them, for `call_text`; None
            if nobody has to agree.

        Raises:
            TypeError: the context isn't a mapping.
        """
        return await self._outcomes.waiting(call, self._context_of(context), None, self._call_hooks())

    @overload
    def run_sync(self, work: RawCall, /, **options: Unpack[RunOptions]) -> ToolResult: ...
    @overload
    def run_sync(
        self, work: Executable[Any, P], history: History | None = None, /, **options: Unpack[RunOptions]
    ) -> P: ...
    @overload
    def run_sync(
        self,
        work: Iterable[RawCall],
        /,
        *,
        return_exceptions: Literal[False] = False,
        **options: Unpack[RunOptions],
    ) -> list[ToolResult]: ...
    @overload
    def run_sync(
        self, work: Iterable[RawCall], /, *, return_exceptions: bool, **options: Unpack[RunOptions]
    ) -> list[ToolResult | BaseException]: ...
    def run_sync(self, work: Any, history: Any = None, /, **options: Any) -> Any:
        """Run as `run` does and wait for the result, without an event loop or in the thread of one.

        If an event loop runs in this thread, it is blocked meanwhile, and the calls run in another thread
        with its own event loop. `KeyboardInterrupt` cancels the calls. `on_progress` and `on_result` are
        called in that other thread.

        Args:
            work: as for `run`.
            history: as for `run`.
            options: as for `run`.

        Raises:
            RuntimeError: the call would wait forever, because calls that wait for it, or for the event loop
                of this thread, hold all places under `max_concurrency`.
        """
        run: Any = self.run  # the overloads know the kind of work
        # These are the only functions of your program that aren't awaited in tasks of their own.
        needs_loop = (
            not isinstance(work, RawCall)
            or options.get("on_progress") is not None
            or self._outcomes.asks(options.get("confirm"))
            or self.has_hooks
            or options.get("hooks") is not None
        )
        return _waiting()(lambda: run(work, history, **options), self._slots, needs_loop=needs_loop)

    def stream(
        self,
        calls: Iterable[RawCall],
        /,
        *,
        context: Context | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        hooks: Any = None,
    ) -> ResultStream:
        """Run calls at the same time, and yield the results as they arrive.

        The calls begin when you ask for the first result. If you leave the loop early, the calls that still
        run are cancelled: at once with `async with executor.stream(calls) as results:`, soon without it.

        Args:
            calls: the calls as the model sent them; several may share an id.
            context: as for `run`, for all calls.
            on_progress: as for `run`, for all calls.
            confirm: as for `run`, for all calls.
            hooks: as for `run`, for all calls.

        Returns:
            An async iterator of the results that is also an async context manager, with `aclose`. It raises
            exceptions of `pass_through`, which cancel the calls that still run.

        Raises:
            TypeError: something isn't a `RawCall`, the context isn't a mapping, or `on_progress` isn't a
                plain function; then nothing is run.
            ValueError: `confirm` is something else.
        """
        from .stream import ResultStream

        check_confirm(confirm)
        if on_progress is not None:
            check_listener("on_progress", on_progress)
        deciding = self._call_hooks(hooks)
        return ResultStream(self._starts(calls, context, on_progress, confirm, deciding))

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
        deciding = self._call_hooks(hooks, getattr(work, "toolset", None))
        context = self._context_of(context)
        watching = () if deciding is None else deciding.around
        run_all = partial(self._run_calls_of_round, context, on_progress, on_result, watching)
        asking = self._outcomes.confirmation.asking(confirm)
        wording = self._outcomes.failures.wording()

        def run_with(one: Any, *begin: Any) -> Any:
            return one.execute_with(run_all, deciding, asking, wording, self._outcomes.limited, *begin)

        store: Any = self._store
        run: Any = run_with
        run.may_decide = asking is not None or (deciding is not None and bool(deciding.before))
        if store is None:
            start = partial(run, work)
        else:
            run.in_thread = partial(_in_store_thread(), grace=self._options["grace"])
            start = partial(store.run, work, run)

        async def started(_: object = None) -> Any:
            return await self._run_and_notify(work, start)

        with logged_with_round(work):
            return await watched(watching, None, work, started)

    async def _run_and_notify(self, work: Any, start: Callable[[], Awaitable[Any]]) -> Any:
        """Run a round, then tell which of its calls begin to wait."""
        on_waiting = self._options["on_waiting"]
        if on_waiting is None:
            return await start()
        from ..rounds.round import InterruptedRoundError
        from .around import notify_waiting

        try:
            after = await start()
        except InterruptedRoundError as error:  # other calls of the round may wait all the same
            await notify_waiting(on_waiting, work, error.round)
            raise
        await notify_waiting(on_waiting, work, after)
        return after

    async def _run_calls_of_round(
        self,
        context: Context | None,
        on_progress: OnProgress | None,
        on_result: OnResult | None,
        watching: ForTools,
        calls: Sequence[DecodedCall],
        settle: Settle,
    ) -> list[ToolResult | BaseException]:
        """Run the calls of a round side by side; exceptions that pass through are items of the list."""

        def start(position: int, one: DecodedCall) -> Start:
            count = partial(settle, position)
            run = partial(self._outcomes.run_until_settled, one, context, on_progress, count)
            inside = partial(watched, watching, one.call.name, one.call, run)
            begun = self._start_of(one.call, inside, count)
            return begun if on_result is None else _giving(on_result, one.call, begun)

        starts = [(start(position, one), one.call.name) for position, one in enumerate(calls)]
        return results_of(await _all_of(starts), return_exceptions=True)

    def _starts(
        self,
        calls: Iterable[RawCall],
        context: Context | None,
        on_progress: OnProgress | None,
        confirm: Confirm | None,
        hooks: CallHooks | None,
        on_result: OnResult | None = None,
    ) -> list[tuple[Start, str]]:
        context = self._context_of(context)
        options = (context, on_progress, confirm, hooks)
        return [(self._start_alone(on_result, call, *options), call.name) for call in checked_calls(calls)]

    def _start_alone(
        self, on_result: OnResult | None, call: RawCall, context: Context | None, *options: Any
    ) -> Start:
        """Return a function that runs a call outside of a round."""
        read = self._outcomes.named(call, context)
        run = partial(self._outcomes.run_call, read, context, *options)
        start = self._start_of(read, run, _unchanged)
        if on_result is not None:
            start = _giving(on_result, read, start)
        return start if read is call else partial(_under_name, start, call.name)

    def _start_of(self, call: RawCall, run: Start, count: Count) -> Start:  # noqa: ARG002  # for subclasses
        """Return a function that runs a call; every call goes through this method, alone or in a round.

        A subclass may override it to do more around the call, or to get its result from elsewhere. It gets
        the calls in order, before any of them runs, and may refuse one by raising an exception.

        Args:
            call: the call as the model sent it.
            run: runs it, and returns its result or an exception to raise.
            count: takes a result from elsewhere, and returns the final one; None if the hooks of a round want
                another one.
        """
        return run

    def _call_hooks(self, hooks: Any = None, toolset: Any = None) -> CallHooks | None:
        """Return the hooks for calls: those of the executor, of a run, and of the tools themselves.

        Args:
            hooks: the hooks given to a run, or None.
            toolset: the toolset of the called tools; None for the executor's own.

        Raises:
            ToolNotFoundError: a hook is for a tool that doesn't exist.
            TypeError: something isn't a hook.
            ValueError: hooks are for a toolset whose tools don't exist.
        """
        known = self._registry.toolset
        if hooks is not None or (toolset is not None and toolset is not known):
            return self._hooks_for(hooks, known, known if toolset is None else toolset)
        if self._deciding[0] is not known:  # the tools have changed
            self._deciding = known, self._hooks_for(None, known, known)
        return self._deciding[1]

    def _hooks_for(self, hooks: Any, known: Any, called: Any) -> CallHooks | None:
        """Return the hooks for calls of a toolset; None if there are none. See `_call_hooks`."""
        if hooks is None and self._hooks is None and known.hooks is None and called.hooks is None:
            return None
        given = _hooks_given([_hooks_given(one) for one in (self._hooks, hooks) if one])
        found: CallHooks = given.for_calls(called)
        for own in (known, called):
            if own.hooks is not None:
                found = found.joined(own.hooks.for_calls(own))
        return found


@cache  # asking for the import each time takes as long as finding the tool of a call
def _waiting() -> Callable[..., Any]:
    from .sync import wait_for  # programs with an event loop don't need it

    return wait_for


@cache
def _in_store_thread() -> Callable[..., Any]:
    from .storing import in_store_thread  # few programs have a store

    return in_store_thread


async def _unchanged(result: ToolResult) -> ToolResult:
    """Return the result itself: outside of a round, no hook can ask for another run."""
    return result


async def _under_name(start: Start, name: str) -> Any:
    """Run a call, and give its result the name that the model wrote."""
    outcome = await start()
    return outcome.replace(name=name) if type(outcome) is ToolResult else outcome


def _giving(on_result: OnResult, call: RawCall, start: Start) -> Start:
    """Return a function that runs a call, and passes its result to your program's function, too."""
    from .stream import run_and_give  # most programs wait for the results

    return partial(run_and_give, on_result, call, start)


async def _all_of(starts: Sequence[tuple[Start, str]]) -> list[Any]:
    """Run calls side by side, and return their outcomes in the order of the calls."""
    from .stream import JobGroup  # a program that runs one call at a time doesn't pay for it

    return await JobGroup(starts).all()


def _hooks_given(given: Any) -> Hooks:
    """Return the value of the argument `hooks` as `Hooks`.

    Raises:
        TypeError: something isn't a hook.
    """
    from ..rounds.hooks import hooks_for_calls  # few programs have any

    return hooks_for_calls(given)


def _conversation_of(history: History, work: Any) -> str | None:
    """Return the conversation of a round; see `conversation_of`."""
    from ..rounds.transcript import conversation_of  # few calls are those of a round

    return conversation_of(history, work.conversation)


def _registry_of(tools: Member) -> Registry:
    return tools if isinstance(tools, Registry) else Registry(tools)
