"""Hooks around a call or a round, and the facts that they see while an executor runs it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..message_text import one_line, received
from ..rounds.hook_decisions import CONFIRM
from ..tools.failures import ERROR, Passed, write_log
from ..tools.signature import is_awaitable, is_coroutine_function, outcome_of
from .concurrency import Slots
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ..rounds.hook_decisions import Decision
    from ..rounds.hooks import ForTools, Hook
    from ..rounds.round import Round
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import Asking
    from ..tools.changes import ChangedArguments
    from ..tools.decision_records import DecisionRecord
    from ..tools.tool import Tool

    Answer: TypeAlias = bool | str | Decision
    Confirm: TypeAlias = Literal["run"] | Callable[[ToolCall[Any]], Answer | Awaitable[Answer]]
    OnWaiting: TypeAlias = Callable[[ToolCall[Any], Round[Any]], object]

_NAME_LENGTH = 100


class Execution:
    """A call, or a round, that an executor runs; for `hook.around`.

    Attributes:
        work: the `RawCall` as the model sent it, or the `Round` before it runs.
        outcome: the `ToolResult`, the finished `Round`, or the raised exception; None as long as the work
            runs.
    """

    __slots__ = ("_run", "_runs", "outcome", "work")

    def __init__(self, work: Any) -> None:
        self.work = work
        self.outcome: Any = None
        self._run: Any = None
        self._runs: tuple[Any, ...] = ()

    def follow(self, run: Any) -> None:
        """Connect this object with the `Run` of the call, to read further facts from it; for executors."""
        self._run = run
        self._runs += (run,)

    @property
    def tool(self) -> Tool[..., Any] | None:
        """The tool of a call; None before it is found, if there is none, and for a round."""
        return getattr(self._run, "tool", None)

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """The tools of a call so far: several if the tool was replaced while somebody decided on the call."""
        found = [getattr(run, "tool", None) for run in self._runs]
        return tuple([tool for tool in found if tool is not None])

    @property
    def details(self) -> Mapping[str, Any]:
        """The notes from decoding the arguments of a call: `repairs`, and `ignored` keys."""
        found: Mapping[str, Any] = {} if self._run is None else self._run.details
        return found

    @property
    def deferred_at(self) -> float | None:
        """The time when a call began to wait for somebody, in seconds since 1970; None if it didn't."""
        found: float | None = None if self._run is None else self._run.deferred_at
        return found

    @property
    def changed(self) -> ChangedArguments | None:
        """The arguments with which a call runs, if hooks or people changed them; None otherwise."""
        decoded = None if self._run is None else self._run.decoded
        found: ChangedArguments | None = None if decoded is None else decoded.changed
        return found

    @property
    def decisions(self) -> tuple[DecisionRecord, ...]:
        """What hooks and people decided about a call before it ran."""
        decoded = None if self._run is None else self._run.decoded
        found: tuple[DecisionRecord, ...] = () if decoded is None else decoded.decisions
        return found


async def tell_waiting(on_waiting: OnWaiting, before: Round[Any], after: Round[Any]) -> None:
    """Tell a program which calls of a round have begun to wait while it ran.

    Args:
        on_waiting: gets each call and the round; what it raises is logged.
        before: the round before it ran.
        after: the round as it was saved.
    """
    for old, call in zip(before.calls, after.calls, strict=True):
        if call.state == "deferred" and old.state != "deferred":
            try:
                await outcome_of(on_waiting, call, after)
            except Exception as error:  # noqa: BLE001  # the program's own code; the results count
                name, call_id = one_line(call.name, _NAME_LENGTH), one_line(call.id, _NAME_LENGTH)
                write_log(ERROR, "on_waiting failed for %s (call %s)", name, call_id, error=error)


async def around(
    hooks: ForTools, name: str | None, work: Any, start: Callable[[Execution], Awaitable[Any]]
) -> Any:
    """Run a call or a round inside the context managers of hooks.

    Args:
        hooks: hooks, each with the names of its tools, or None for all.
        name: name of the called tool; None for a round, which only hooks for every call see.
        work: the call or the round.
        start: runs it.

    Returns:
        The result of `start`.

    Raises:
        BaseException: an exception of `start`, never one of a hook.
    """
    execution = Execution(work)
    entered: list[tuple[Hook, Any]] = []
    for hook, names in hooks:
        if names is None or (name is not None and name in names):
            manager = _entered(hook, execution)
            if manager is not None:
                entered.append((hook, manager))
    raised: BaseException | None = None
    try:
        outcome = await start(execution)
        execution.outcome = outcome.error if isinstance(outcome, Passed) else outcome
        if isinstance(execution.outcome, BaseException):  # whoever started the call raises it
            raised = execution.outcome
    except BaseException as error:  # hooks see a cancellation too
        execution.outcome = raised = error
        raise
    finally:
        for hook, manager in reversed(entered):
            _leave(hook, manager, raised)
    return outcome


def _entered(hook: Hook, execution: Execution) -> Any:
    """Enter the context manager of a hook and return it; return None if there is none, or it failed."""
    try:
        manager = hook.function(execution)
        if manager is not None:
            if not hasattr(manager, "__enter__"):
                message = f"it must return a context manager or None, not {received(manager)}"
                raise TypeError(message)  # noqa: TRY301  # the log tells it like what the hook itself raises
            manager.__enter__()
    except Exception as error:  # noqa: BLE001  # the program's own code must not take the call with it
        write_log(ERROR, "the hook %s failed before a call or a round", hook.name, error=error)
        return None
    return manager


def _leave(hook: Hook, manager: Any, raised: BaseException | None) -> None:
    """Leave a context manager; ignore its result and its exceptions."""
    try:
        manager.__exit__(type(raised) if raised else None, raised, raised.__traceback__ if raised else None)
    except Exception as error:  # noqa: BLE001  # as above
        if error is not raised:
            write_log(ERROR, "the hook %s failed after a call or a round", hook.name, error=error)


class Confirmation:
    """Asks about calls before they run.

    A plain function is asked about one call at a time, in a thread: a terminal can show only one question,
    and the event loop continues while it waits.

    Args:
        confirm: the option of the executor.
        uses_threads: whether a plain function is asked in a thread.
    """

    __slots__ = ("_confirm", "_slots", "_threads", "_uses_threads")

    def __init__(self, confirm: Confirm | None, *, uses_threads: bool) -> None:
        self._confirm = confirm
        self._uses_threads = uses_threads
        self._slots = Slots(1)
        self._threads = Threads(1)

    def asking(self, confirm: Confirm | None = None) -> Asking | None:
        """Return a function that asks about one call; None if nobody can be asked.

        Args:
            confirm: the option for one call; None for that of the executor.
        """
        chosen = self._confirm if confirm is None else confirm
        if chosen is None:
            return None
        return _agree if isinstance(chosen, str) else partial(self._ask, chosen)

    async def _ask(self, ask: Callable[[ToolCall[Any]], Any], call: ToolCall[Any]) -> Any:
        if is_coroutine_function(ask) or not self._uses_threads:
            answer = ask(call)
        else:
            await self._slots.acquire()
            try:
                answer = await self._threads.run(partial(ask, call), call.name, None)
            finally:
                self._slots.release()
            if issubclass(type(answer), BaseException):
                raise answer
        return await answer if is_awaitable(answer) else answer


async def _agree(call: ToolCall[Any]) -> bool | None:
    """Agree to a call of a tool with `confirm=True`, but not to one that a hook defers: `confirm="run"`."""
    return True if call.reason == CONFIRM else None
