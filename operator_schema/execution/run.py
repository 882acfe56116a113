"""How does one call run, from the name of its tool to its result, whatever happens?"""

from __future__ import annotations

from _thread import allocate_lock
from contextvars import copy_context
from functools import cache, partial
from itertools import count
from math import inf
from time import monotonic
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from ..errors import DecodeError, ToolError
from ..json_values import is_array, is_object
from ..message_text import class_name_of, listed, received
from ..tools.binding import context_of
from ..tools.calls import DecodedCall, Passed, ToolResult, arguments_to_decode, is_of_class, own_parts
from ..tools.logs import DEBUG, WARNING
from ..tools.metadata import LEAST_CONTENT
from ..tools.output import items_of
from ..tools.raw_arguments import RawArguments
from ..tools.signature import close_awaitable, is_awaitable
from .async_libraries import current_backend, is_cancellation
from .concurrency import CURRENT_SLOT, HeldSlot, Load
from .threads import Threads, lent_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ..findings import Finding
    from ..rounds.hooks import CallHooks, ForTools
    from ..rounds.registry import Registry
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import Asking, Outcome, RawCall
    from ..tools.failures import Failures
    from ..tools.tool import Tool
    from .around import Execution
    from .async_libraries import Job, Start
    from .concurrency import Slots
    from .confirmation import Confirm, Confirmation
    from .stream import OnProgress

    Context = Mapping[Any, Any]

_UNDECIDED = object()
"""The outcome of a call that hooks or a person have to decide about first."""

_NO_THREAD = "no thread could be started for it; with threads=False it needs none"
_SHOWN_CLASSES = 5


class Outcomes:
    """Runs the calls of one executor, each from its name to its result.

    Args:
        registry: the tools.
        slots: the limit on calls at once.
        options: checked options of the executor.
    """

    __slots__ = (
        *("_confirm", "_confirmation", "_decoders", "_failing", "_failures", "_grace", "_is_limited"),
        *("_is_strict", "_left", "_lock", "_max_content", "_native", "_registry", "_slots", "_threads"),
        *("_timeout", "_uses_threads"),
    )

    def __init__(self, registry: Registry, slots: Slots, options: Mapping[str, Any]) -> None:
        self._registry = registry
        self._slots = slots
        self._is_limited = slots.is_limited
        self._failing = options["show_errors"], options["report"], options["pass_through"]
        self._failures: Failures | None = None
        self._native: Sequence[type] = options["native_results"]
        self._is_strict: bool = options["strict_results"]
        self._timeout: float | None = options["timeout"]
        self._max_content: float = inf if options["max_content"] is None else options["max_content"]
        self._confirm: Confirm | None = options["confirm"]
        self._confirmation: Confirmation | None = None
        self._lock = allocate_lock()
        self._uses_threads: bool = options["threads"]
        self._threads = Threads(options["max_threads"])
        self._decoders = Threads(options["max_threads"])  # separate: hanging tools must not stop decoding
        self._grace: float = options["grace"]
        self._left: set[Job] = set()

    def limited_with(self, other: Outcomes) -> Outcomes:
        """Return a copy with the limits, the threads and the confirmation of another object."""
        self._confirmation = other.confirmation  # a person is asked one question at a time
        self._slots, self._is_limited = other._slots, other._is_limited
        self._threads, self._decoders, self._left = other._threads, other._decoders, other._left
        return self

    @property
    def failures(self) -> Failures:
        """The maker of results for failed calls; a program without any doesn't load it."""
        if self._failures is None:
            from ..tools.failures import Failures

            self._failures = Failures(*self._failing)
        return self._failures

    @property
    def abandoned(self) -> int:
        """Number of calls that took too long or were cancelled, and still run."""
        return self._threads.abandoned + self._decoders.abandoned + len(self._left)

    def load(self) -> Load:
        """Count the calls and functions that run and wait now."""
        limited = self._slots, self._threads.slots, self._decoders.slots
        running, *threads = [slots.held for slots in limited]
        return Load(running, sum(slots.waiting for slots in limited), sum(map(int, filter(None, threads))))

    @property
    def confirmation(self) -> Confirmation:
        """The object that asks about calls before they run."""
        with self._lock:  # two of them could ask about two calls at the same time
            if self._confirmation is None:
                from .confirmation import Confirmation

                self._confirmation = Confirmation(self._confirm, uses_threads=self._uses_threads)
            return self._confirmation

    def asks(self, confirm: Confirm | None) -> bool:
        """Return whether a function is asked about calls that need it.

        Args:
            confirm: the option for one call; None for that of the executor.
        """
        return callable(self._confirm if confirm is None else confirm)

    async def run_call(
        self,
        call: RawCall,
        context: Context | None,
        on_progress: OnProgress | None,
        confirm: Confirm | None = None,
        hooks: CallHooks | None = None,
        execution: Execution | None = None,
        *,
        decoded: DecodedCall | None = None,
    ) -> Outcome:
        """Run a call, and return its result, or an exception that the caller has to raise, not the task.

        Args:
            call: the call as the model sent it.
            context: type, or name of a parameter, to value.
            on_progress: gets the progress of the function, or None.
            confirm: the option for this call; None for that of the executor.
            hooks: hooks that decide first, and look at the result; None for no hooks.
            execution: the object that hooks around the call see; None if they haven't been entered.
            decoded: the same call with its input, after all decisions; None to ask first.
        """
        if execution is None and hooks is not None and hooks.around:
            inside = partial(self.run_call, call, context, on_progress, confirm, hooks, decoded=decoded)
            return cast("Outcome", await watched(hooks.around, call.name, call, inside))
        if call.is_cut_off:
            return self.failures.cut_off(call)
        run = Run(self, call, context, decoded)
        if call.sent_name is not None and decoded is None:
            run.details = _with_name(call, _NOTHING)
        if execution is not None:
            execution.follow(run)
        outcome = await self._run_in_slot(run, on_progress, confirm, hooks)
        if type(outcome) is ToolResult:
            return outcome
        if outcome is _UNDECIDED:
            return await self._decide_and_run(run, on_progress, confirm, hooks, execution)
        return self._result_of_exception(call, outcome)

    async def _run_in_slot(
        self, run: Run, on_progress: OnProgress | None, confirm: Confirm | None, hooks: CallHooks | None
    ) -> Any:
        """Run a call when there is a slot for it, or return the reason why it isn't run."""
        slots, outer, slot = self._slots, CURRENT_SLOT.get(), None
        try:
            if self._is_limited:
                slot = HeldSlot(slots, current_backend().home())
                slot.is_held = await slots.acquire(None, slot.home)
            if slot is not outer:
                CURRENT_SLOT.set(slot)
            outcome = self._prepare(run, confirm, hooks)
            return await self._execute(run, on_progress) if outcome is None else outcome
        except Exception as error:  # noqa: BLE001  # one call must not take the others down
            return error
        finally:
            if slot is not None:
                try:
                    slots.give_back(slot)
                finally:  # a second Ctrl-C may have interrupted that; doing it twice has no effect
                    slots.give_back(slot)
            # Not `reset`: a coroutine may be ended in another context, where another call has its slot.
            if slot is not outer and CURRENT_SLOT.get() is slot:
                CURRENT_SLOT.set(outer)

    def _result_of_exception(self, call: RawCall, outcome: Any) -> Outcome:
        """Make the result of a call that ended without one."""
        if issubclass(type(outcome), Exception):
            return self.failures.failed_badly(call, outcome)
        if is_cancellation(outcome):
            return self.failures.cancelled(call, outcome)
        return cast("Outcome", outcome)

    async def run_until_settled(
        self,
        decoded: DecodedCall,
        context: Context | None,
        on_progress: OnProgress | None,
        settle: Callable[[ToolResult], Awaitable[ToolResult | None]],
        execution: Execution | None = None,
    ) -> Outcome:
        """Run a call with a known input, again if necessary, and return its final result.

        Args:
            decoded: the call.
            context: as for `run_call`.
            on_progress: as for `run_call`.
            settle: gets each result, and returns the final one, or None to run the call again.
            execution: as for `run_call`.
        """
        while True:
            outcome = await self.run_call(
                decoded.call, context, on_progress, execution=execution, decoded=decoded
            )
            if type(outcome) is not ToolResult:
                return outcome
            settled = await settle(outcome)
            if settled is not None:
                return settled

    async def _decide_and_run(
        self,
        run: Run,
        on_progress: OnProgress | None,
        confirm: Confirm | None,
        hooks: CallHooks | None,
        execution: Execution | None,
    ) -> Outcome:
        """Let hooks and a person decide about a call, run it if they agree, and let hooks look at the result.

        Their time doesn't count for the call, and they take no slot.
        """
        from ..rounds.deciding import looked_at  # a single call is decided on as in a round

        call = run.call
        try:
            decided = await self._decision(run, self.confirmation.asking(confirm), hooks)
        except TimeoutError as late:
            return self.failures.timed_out(call, self.seconds_of(run.tool) or 0, late)
        except RuntimeError as error:
            return self.failures.not_started(call, error, _NO_THREAD)
        if isinstance(decided, (*_ENDS, BaseException)):
            return decided
        run.deferred_at = decided.deferred_at
        if decided.state != "pending":
            return self._result_without_run(run, decided)
        looking, runs = () if hooks is None else hooks.after, count(1)

        async def settle(result: ToolResult) -> ToolResult | None:
            after = await looked_at(decided, result, looking, next(runs), self.limited)
            return None if after is None else after.result or result

        approved = _approved(run, decided)
        outcome = await self.run_until_settled(approved, run.context, on_progress, settle, execution)
        return _without_index(outcome) if type(outcome) is ToolResult else outcome

    async def _decision(
        self, run: Run, asking: Asking | None, hooks: CallHooks | None
    ) -> ToolCall[Any] | ToolResult | Passed | BaseException:
        """Return a call with all decisions about it, or the result of a call that can't run.

        Raises:
            TimeoutError: decoding its arguments took longer than the call may take.
            RuntimeError: the system gives no more threads.
        """
        from ..rounds.deciding import FailedHookError, decide
        from ..rounds.people import asked_about
        from ..rounds.tool_call import call_with_input

        call, failures = run.call, self.failures
        before = () if hooks is None else hooks.before
        given: Any = await self.decode(run)
        if isinstance(given, (*_ENDS, BaseException)):
            return given
        try:
            decided = await decide(call_with_input(0, call, run.tool, given, run.details), before)
            return await asked_about(decided, asking, before)
        except FailedHookError as failed:
            cause: Any = failed.__cause__
            return failures.passed(call, cause) or failures.not_decided(call, cause, failed.hook.name)
        except Exception as error:  # noqa: BLE001  # your program's own code: an answer that isn't one is no agreement
            return failures.passed(call, error) or failures.not_asked(call, error)

    def _result_without_run(self, run: Run, decided: ToolCall[Any]) -> ToolResult:
        """Return the result of a call that isn't run: it was rejected or completed, or nobody decided."""
        result = decided.result
        if result is None:
            from ..rounds.hook_decisions import CONFIRM

            reason = decided.reason or ""
            return self.failures.needs_approval(run.call, "" if reason == CONFIRM else reason)
        return self.limited(run.tool, run.call, _without_index(result))

    async def waiting(
        self, call: RawCall, context: Context | None, confirm: Confirm | None, hooks: CallHooks | None
    ) -> ToolCall[Any] | None:
        """Return a call that waits for a person because of hooks or its tool; None for any other one.

        Nothing is run.
        """
        run = Run(self, call, context, None)
        if self._prepare(run, confirm, hooks) is not _UNDECIDED:
            return None
        try:
            decided: Any = await self._decision(run, None, hooks)
        except (TimeoutError, RuntimeError):
            return None  # running the call reports the reason
        return decided if getattr(decided, "state", None) == "deferred" else None

    async def _execute(self, run: Run, on_progress: OnProgress | None) -> Any:
        """Run a call that is ready."""
        reports = None
        if run.tool.takes_progress:
            from .stream import with_progress

            run.context, reports = with_progress(run.call, run.context, on_progress)
        try:
            if run.tool.is_async and not self._is_long(run):
                return await self._run_in_task(run.arun, run.tool.name, self.seconds_of(run.tool))
            return await self._run_plain(run)
        except TimeoutError as late:
            return self.failures.timed_out(run.call, self.seconds_of(run.tool) or 0, late)
        except RuntimeError as error:
            return self.failures.not_started(run.call, error, _NO_THREAD)
        finally:
            if reports is not None:
                reports.end()

    def _prepare(self, run: Run, confirm: Confirm | None, hooks: CallHooks | None) -> Any:
        """Prepare a call and return None; or return a result, or `_UNDECIDED` if somebody decides first."""
        call, decoded = run.call, run.decoded
        found = self._find(call, run.context, was_offered=decoded is not None)
        if isinstance(found, _ENDS):
            return found
        tool = run.tool = found
        if (
            tool.annotations.confirm
            and (decoded is None or not decoded.approved)
            and (self._confirm if confirm is None else confirm) != "run"
        ):
            return _UNDECIDED
        if decoded is None:
            return None if hooks is None or not hooks.concern(call.name) else _UNDECIDED
        if decoded.tool is not None and decoded.tool != tool:
            return self.failures.tool_changed(call)
        run.context = context_of(decoded, run.context)
        return None

    def _find(
        self, call: RawCall, context: Context | None, *, was_offered: bool
    ) -> Tool[..., Any] | ToolResult | Passed:
        """Return the tool of a call, or a result with the reason why it can't be called."""
        registry, name = self._registry, call.name
        try:
            found = registry.switched_tools.called(name, context, asked_for=was_offered)
            if found is None:
                return self._unknown(call, context)
            tool, may_run = found
            return tool if may_run else self.failures.disabled(call)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            failed = "the switch of the tool failed"
            return self.failures.passed(call, error) or self.failures.not_started(call, error, failed)

    def _unknown(self, call: RawCall, context: Context | None) -> ToolResult:
        """Return the result for a call of an unknown tool."""
        from ..rounds.near_tools import unknown_tool  # most calls name a tool

        tools = self._offered(context)
        return self.failures.not_found(call, unknown_tool(call, tools, self._registry), [*tools])

    def named(self, call: RawCall, context: Context | None) -> RawCall:
        """Return a call with the name of its tool repaired; unchanged if it names a tool, or means none.

        A call with long arguments is never repaired, because they are decoded in a thread.

        Args:
            call: the call as the model sent it.
            context: the context, for switches that take one.
        """
        if call.name in self._registry._named or takes_long(call.arguments):  # noqa: SLF001  # for speed: every call asks it
            return call
        from ..rounds.near_tools import may_be_read, read_call  # most calls name a tool

        if not any(map(may_be_read, self._registry)):  # then no switch is asked twice
            return call
        return read_call(call, self._offered(context), self._registry) or call

    def _offered(self, context: Context | None) -> dict[str, Tool[..., Any]]:
        return {tool.name: tool for tool in self._registry.offered(context=context)}

    def limited(self, tool: Tool[..., Any], call: RawCall, result: ToolResult) -> ToolResult:
        """Return a result unchanged, or only its beginning if it is longer than this tool allows."""
        most = self._max_content if tool.max_content is None else tool.max_content
        if len(result.content) <= most and not own_parts(result):
            return result
        return self.failures.limited(call, result, most)

    def seconds_of(self, tool: Tool[..., Any]) -> float | None:
        """Return how many seconds a call of a tool may take; None for no limit."""
        seconds = self._timeout if tool.timeout is None else tool.timeout
        return None if seconds == inf else seconds

    # --- where it runs ---------------------------------------------------------------------------

    async def decode(self, run: Run) -> Any:
        """Decode the arguments of a call, without running its function.

        Returns:
            The input, a result with the reason why there is none, or an exception to raise.

        Raises:
            TimeoutError: decoding took longer than the call may take.
            RuntimeError: the system gives no more threads.
        """
        return await self._decode_in_thread(run.decode, run) if self._is_long(run) else run.decode()

    async def _run_plain(self, run: Run) -> Any:
        """Run a function that isn't async, or one whose arguments are long.

        Returns:
            Its outcome, or an exception to raise; a cancellation if it cancelled itself.

        Raises:
            TimeoutError: the function took longer, or did not run in time, which the text then says.
            RuntimeError: the system gives no more threads.
        """
        tool, seconds, began = run.tool, self.seconds_of(run.tool), monotonic()
        if tool.is_async:
            outcome = await self._decode_in_thread(run.prepare, run)
        elif self._uses_threads if tool.threads is None else tool.threads:
            outcome = await self._threads.run(run.run, tool.name, seconds)
        else:
            outcome = await self._run_inline(run, seconds)
        if type(outcome) is not _Pending:
            return outcome
        left = None if seconds is None else max(0.0, began + seconds - monotonic())
        try:
            return await self._run_in_task(lambda: run.finish(outcome), tool.name, left)
        finally:
            outcome.close()

    def _run_in_task(self, start: Start, name: str, seconds: float | None) -> Awaitable[Any]:
        return _in_task()(start, name, seconds, self._grace, self._left)

    async def _run_inline(self, run: Run, seconds: float | None) -> Any:
        """Run a plain function in the thread of the event loop, or in the thread that waits for it."""
        lent, function = lent_thread(), run.run
        if lent is None and self._is_long(run):
            given = await self._decode_in_thread(run.decode, run)
            if issubclass(type(given), BaseException):
                return given
            function = partial(run.run_decoded, given)
        began = monotonic()
        if lent is None:
            outcome = _call_here(function)
        else:
            outcome = await self._threads.run_in(lent, function, run.tool.name)
        took = monotonic() - began
        if seconds is not None and took > seconds and type(outcome) is ToolResult:
            return self.failures.late(run.call, outcome, took, seconds)
        return outcome

    def _is_long(self, run: Run) -> bool:
        return self._uses_threads and run.decoded is None and takes_long(run.call.arguments)

    async def _decode_in_thread(self, function: Callable[[], Any], run: Run) -> Any:
        """Decode long arguments in a thread, because they would block the event loop."""
        try:
            return await self._decoders.run(function, run.tool.name, self.seconds_of(run.tool))
        except TimeoutError as late:
            raise TimeoutError(str(late) or "decoding its arguments took too long") from None

    # --- what it returns -------------------------------------------------------------------------

    def result_of_value(self, run: Run, value: object) -> ToolResult:
        """Return the result for a value that a function returned."""
        call, details = run.call, run.details
        if self._native:
            text = _native_text(self._native, value)
            if text is not None:
                return ToolResult(call.id, call.name, text, details=details or None, value=value)
        try:
            written = run.tool.write_output(value, is_lenient=not self._is_strict)
        except Exception as error:  # noqa: BLE001  # the code of the value, or of a leaf, runs in it
            return self.failures.not_written(call, error)
        if written.notes:
            self._note_mismatches(run, written.notes)
            details = {**details, "mismatches": written.notes}
        text, parts, found = written.text, written.parts, details or None
        result = ToolResult(call.id, call.name, text, False, None, found, parts, written.json, value)  # noqa: FBT003  # by position, for speed
        # In the thread of the call, if it has one: cutting megabytes takes time.
        return self.limited(run.tool, call, result) if parts or len(text) > LEAST_CONTENT else result

    def _note_mismatches(self, run: Run, notes: Sequence[Finding]) -> None:
        from ..tools.failures import places_in

        is_declared = run.tool.output_schema() is not None
        what = "does not fit its declared type" if is_declared else "has no exact JSON form"
        self.failures.note(run.call, WARNING, f"the result {what}", {"mismatches": places_in(notes)})


async def watched(hooks: ForTools, name: str | None, work: Any, start: Callable[..., Awaitable[Any]]) -> Any:
    """Run a call or a round inside the context managers of hooks, if any hook has one."""
    if not hooks:
        return await start()
    from .around import run_inside_hooks

    return await run_inside_hooks(hooks, name, work, start)


@cache  # asking for the import each time takes longer than finding the tool of a call
def _in_task() -> Callable[..., Awaitable[Any]]:
    from .tasks import run_in_task  # programs without async functions don't need it

    return run_in_task


def _approved(run: Run, decided: ToolCall[Any]) -> DecodedCall:
    """Return the call that hooks and a person approved, with the input that they saw."""
    return DecodedCall(
        run.call,
        decided.input,
        _NOTHING if run.decoded is None else run.decoded.answers,
        approved=True,
        tool=run.tool,
        details=run.details,
        deferred_at=run.deferred_at,
        changed=decided.changed,
        decisions=decided.decisions,
    )


def _without_index(result: ToolResult) -> ToolResult:
    """Return a result without the position of its call, which is only used in this module."""
    return result if result._index is None else result.replace(_index=None)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # nobody else knows it


def _native_text(native: Sequence[type], value: object) -> str | None:
    """Return the model's text for a native result, or for a list with one; None for others."""
    if is_of_class(value, native):
        return f"[native result: {class_name_of(value)}]"
    first_of_class = {id(type(item)): item for item in items_of(value)}.values()
    if not any(is_of_class(item, native) for item in first_of_class):
        return None
    return f"[native result: {listed([class_name_of(item) for item in first_of_class], _SHOWN_CLASSES)}]"


def _call_here(function: Callable[[], Any]) -> Any:
    """Call a function in this thread; return an exception instead of raising it, as threads do."""
    try:
        return copy_context().run(function)
    except BaseException as error:  # noqa: BLE001  # the caller raises it
        return error


# --- the steps of a call -------------------------------------------------------------------------


class Run:
    """One call: decodes the arguments, runs the function and writes its result; a failure is a result too.

    Args:
        outcomes: the `Outcomes` of the executor.
        call: the call as the model sent it.
        context: type, or name of a parameter, to value.
        decoded: the same call with its input, if that is known already.

    Attributes:
        call: as given.
        context: as given; later with the values that the executor adds.
        decoded: as given.
        details: the notes from decoding the arguments: repairs and ignored keys.
        deferred_at: when it began to wait for somebody, in seconds since 1970; None if it didn't.
        tool: the tool as the model sees it, once it is found.
    """

    __slots__ = ("_outcomes", "call", "context", "decoded", "deferred_at", "details", "tool")

    tool: Tool[..., Any]

    def __init__(
        self, outcomes: Outcomes, call: RawCall, context: Context | None, decoded: DecodedCall | None
    ) -> None:
        self._outcomes = outcomes
        self.call = call
        self.context = context
        self.decoded = decoded
        self.details: Mapping[str, Any] = _NOTHING if decoded is None else decoded.details
        self.deferred_at: float | None = None if decoded is None else decoded.deferred_at

    def run(self) -> ToolResult | Passed | _Pending:
        """Run a function that isn't async."""
        return self.run_decoded(self.decode())

    def run_decoded(self, given: Any) -> ToolResult | Passed | _Pending:
        """Run a function that isn't async with the result of `decode`."""
        if isinstance(given, _ENDS):
            return given
        try:
            value = self.tool.call(given, context=self.context)
            is_pending = is_awaitable(value)
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, given)
        return _Pending(given, value) if is_pending else self._outcomes.result_of_value(self, value)

    def prepare(self) -> ToolResult | Passed | _Pending:
        """Decode the arguments of an async function, which `finish` then runs."""
        given = self.decode()
        if isinstance(given, _ENDS):
            return given
        return _Pending(given, self.tool.acall(given, context=self.context))

    async def arun(self) -> ToolResult | Passed:
        """Run an async function."""
        given = self.decode()
        if isinstance(given, _ENDS):
            return given
        return await self._awaited(self.tool.acall(given, context=self.context), given)

    async def finish(self, pending: _Pending) -> ToolResult | Passed:
        """Await the result of an async function."""
        pending.is_awaited = True
        return await self._awaited(pending.awaitable, pending.given)

    async def _awaited(self, awaitable: Awaitable[Any], given: Any) -> ToolResult | Passed:
        try:
            value = await awaitable
        except Exception as error:  # noqa: BLE001  # every failure is a result
            return self._failed(error, given)
        return self._outcomes.result_of_value(self, value)

    def decode(self) -> Any:
        """Return the input of the function, or a result with the reason why there is none."""
        if self.decoded is not None:
            return self._checked(self.decoded.given)
        try:
            arguments = arguments_to_decode(self.call)
            report = self.tool.decode_report(arguments)
            if report.findings:
                self.tool.check_to_run(report, arguments)
        except DecodeError as error:
            return self._limited(self._outcomes.failures.invalid(self.call, error))
        except Exception as error:  # noqa: BLE001  # a class's own code runs in it
            return self._limited(self._outcomes.failures.failed(self.call, error))
        if report.findings:
            found = report.as_details()
            self.details = found if self.call.sent_name is None else _with_name(self.call, found)
            self._outcomes.failures.note(self.call, DEBUG, "the arguments did not fit exactly", self.details)
        return report.instance

    def _checked(self, given: object) -> Any:
        """Return a given input; refuse a result in its place, which would count as the result of the call."""
        if not isinstance(given, _ENDS):
            return given
        error = ToolError(self.tool.name, f"its input can't be {received(given)}; decode makes one")
        return self._limited(self._outcomes.failures.failed(self.call, error))

    def _failed(self, error: Exception, given: Any) -> ToolResult | Passed:
        failures = self._outcomes.failures
        # Raw arguments are decoded by the function itself.
        if issubclass(type(error), DecodeError) and isinstance(given, RawArguments):
            own = cast("DecodeError", error)  # asked by its type: its `__class__` may be code that raises
            if own.name == given.tool:
                return self._limited(failures.invalid(self.call, own))
        return self._limited(failures.failed(self.call, error))

    def _limited(self, result: ToolResult | Passed) -> ToolResult | Passed:
        """Shorten a result to the allowed length; the text of an exception may be much longer."""
        if isinstance(result, Passed):
            return result
        return self._outcomes.limited(self.tool, self.call, result)


def _with_name(call: RawCall, details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the notes about the arguments of a call, after the note about its name."""
    from ..rounds.near_tools import with_name_note  # most calls name a tool

    return with_name_note(call, details)


_NOTHING: Mapping[str, Any] = {}

_ENDS = (ToolResult, Passed)
"""The types of outcomes of `decode` that end the call, because there is no input."""


class _Pending:
    """The awaitable that an async function returned.

    Attributes:
        given: the input of the function.
        awaitable: the returned awaitable.
        is_awaited: whether something has begun to await it.
    """

    __slots__ = ("awaitable", "given", "is_awaited")

    def __init__(self, given: Any, awaitable: Awaitable[Any]) -> None:
        self.given = given
        self.awaitable = awaitable
        self.is_awaited = False

    def close(self) -> None:
        """Close it, unless something awaits it."""
        if not self.is_awaited:
            close_awaitable(self.awaitable)


# --- arguments that take long to decode ----------------------------------------------------------

LONG = 4096
"""Characters of JSON above which the arguments of an async function are decoded in a thread.

Measured on CPython 3.11: a thread takes 0.1 ms. Decoding takes 0.02 ms (one string) to 0.35 ms (many
small values) at this length, up to 1.4 ms at 16,000 characters, 10 ms at 64,000 and 0.2 s at 1,000,000.
"""

_VALUE_LENGTH = 8
"""How many characters a value other than a string counts as."""

_SHORT = frozenset({int, float, bool, NoneType})
"""Classes of values that contain no others."""


def takes_long(arguments: object) -> bool:
    """Return whether decoding arguments would block an event loop for too long."""
    if isinstance(arguments, (str, bytes, bytearray)):
        return len(arguments) > LONG
    left = LONG
    waiting: list[Any] = [arguments]
    while waiting:
        value = waiting.pop()
        inside: Any = ()
        if value.__class__ is dict or is_object(value):
            inside = value.values()
        elif is_array(value):
            inside = value
        elif isinstance(value, str):
            left -= len(value)
        left -= _VALUE_LENGTH * len(inside)
        for item in inside if left > 0 else ():
            if type(item) is str:
                left -= len(item)
            elif type(item) not in _SHORT:
                waiting.append(item)
        if left < 0:
            return True
    return False
