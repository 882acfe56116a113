"""How does a program watch calls and rounds: by hooks around them, and by being told which calls wait?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ..message_text import one_line, received
from ..tools.calls import Passed
from ..tools.logs import ERROR, write_log
from ..tools.signature import outcome_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ..rounds.hooks import ForTools, Hook
    from ..rounds.round import Round
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import DecodedCall
    from ..tools.changes import ChangedArguments
    from ..tools.decision_records import DecisionRecord
    from ..tools.tool import Tool

    OnWaiting: TypeAlias = Callable[[ToolCall[Any], Round[Any]], object]

_NAME_LENGTH = 100


class CallFacts(Protocol):
    """The facts about one run of a call, which is a `Run`; `tool` is missing until it is found."""

    tool: Tool[..., Any]
    details: Mapping[str, Any]
    deferred_at: float | None
    decoded: DecodedCall | None


class Execution:
    """A call, or a round, that an executor runs; for `hook.around`.

    Attributes:
        work: the `RawCall` as the model sent it, or the `Round` before it runs.
        outcome: the `ToolResult`, the finished `Round`, or the raised exception; None as long as the work
            runs.
    """

    __slots__ = ("_runs", "outcome", "work")

    def __init__(self, work: Any) -> None:
        self.work = work
        self.outcome: Any = None
        self._runs: list[CallFacts] = []

    def follow(self, run: CallFacts) -> None:
        """Add a run of the call, to read further facts from it; for executors."""
        self._runs.append(run)

    @property
    def tool(self) -> Tool[..., Any] | None:
        """The tool of a call; None before it is found, if there is none, and for a round."""
        return getattr(self._runs[-1], "tool", None) if self._runs else None

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """The tools of a call so far: several if the tool was replaced while somebody decided on the call."""
        found = [getattr(run, "tool", None) for run in self._runs]
        return tuple([tool for tool in found if tool is not None])

    @property
    def details(self) -> Mapping[str, Any]:
        """The notes from decoding the arguments of a call: `repairs`, and `ignored` keys."""
        return self._runs[-1].details if self._runs else {}

    @property
    def deferred_at(self) -> float | None:
        """The time when a call began to wait for somebody, in seconds since 1970; None if it didn't."""
        return self._runs[-1].deferred_at if self._runs else None

    @property
    def changed(self) -> ChangedArguments | None:
        """The arguments with which a call runs, if hooks or people changed them; None otherwise."""
        return None if self._decoded is None else self._decoded.changed

    @property
    def decisions(self) -> tuple[DecisionRecord, ...]:
        """What hooks and people decided about a call before it ran."""
        return () if self._decoded is None else self._decoded.decisions

    @property
    def _decoded(self) -> DecodedCall | None:
        return self._runs[-1].decoded if self._runs else None


async def notify_waiting(on_waiting: OnWaiting, before: Round[Any], after: Round[Any]) -> None:
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


async def run_inside_hooks(
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
