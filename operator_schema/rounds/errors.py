"""What can go wrong with a toolset, a round, its hooks and its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..immutable import Value
from ..tools.calls import class_name_of
from ..wording import clip, escape, quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .plan import ToolRoundPlan

__all__ = [
    "CommitError",
    "CommitFault",
    "FaultCode",
    "HookError",
    "InterruptedRoundError",
    "OfferError",
    "RestoreError",
    "RestoreProblem",
    "RestoreProblemCode",
    "RoundError",
    "shown_call",
]

_NAME_LENGTH = 100
_MESSAGE_LENGTH = 500
_SHOWN = 10


class OfferError(ValueError):
    """No request can be made like this: what is required isn't available.

    Attributes:
        tool: name of the required tool, or None where any tool would do.
        message: what is wrong and what to do about it.
    """

    def __init__(self, tool: str | None, message: str) -> None:
        super().__init__(tool, message)
        self.tool = tool
        self.message = message

    def __str__(self) -> str:
        """Write the message."""
        return self.message


class RoundError(RuntimeError):
    """A round or a plan can't do what was asked; it stays as it was.

    Attributes:
        message: what is wrong and what to do about it.
        count: number of calls that the message is about, or None.
    """

    def __init__(self, message: str, count: int | None = None) -> None:
        super().__init__(message, count)
        self.message = message
        self.count = count

    def __str__(self) -> str:
        """Write the message."""
        return self.message


FaultCode = Literal[
    "missing", "duplicate", "unknown_call", "already_decided", "wrong_name", "changed_arguments", "deferred"
]
"""What is wrong with the results of a commit: a pending call has none · a call has two · no call has this
id · the plan has a result of its own · the result names another tool · it belongs to a call with other
arguments · the call still waits for a decision."""


class CommitFault(Value):
    """One thing that is wrong with the results that were to be committed.

    Attributes:
        code: what kind of fault it is.
        call_id: of the call, or of the result that fits no call.
        name: of its tool.
        message: one line that says what to do about it.
    """

    code: FaultCode
    call_id: str
    name: str
    message: str

    def __str__(self) -> str:
        """Write the call and the message on one line."""
        return f"{shown_call(self.name, self.call_id)}: {clip(escape(self.message), _MESSAGE_LENGTH)}"


class CommitError(RoundError):
    """The results don't fit the calls; nothing was committed.

    Attributes:
        faults: everything that is wrong, in the order of the calls.
    """

    def __init__(self, faults: Sequence[CommitFault]) -> None:
        super().__init__(_report("the results don't fit the calls of this turn", faults), len(faults))
        self.faults: tuple[CommitFault, ...] = tuple(faults)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.faults,)


class HookError(RoundError):
    """A hook failed. Nothing is lost: the call is still pending, and `plan` has what was decided before.

    Attributes:
        hook: name of the function.
        call_id: of the call that it was asked about.
        tool: that the call names.
        plan: the plan so far. This call, and those after it, are pending as they were.
    """

    def __init__(self, hook: str, call_id: str, tool: str, plan: ToolRoundPlan[Any], why: str) -> None:
        hook_name = clip(escape(hook), _NAME_LENGTH)
        super().__init__(f"the hook {hook_name} failed for {shown_call(tool, call_id)}: {why}")
        self.hook = hook
        self.call_id = call_id
        self.tool = tool
        self.plan = plan
        self._why = why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.hook, self.call_id, self.tool, self.plan, self._why)


class InterruptedRoundError(RoundError):
    """Functions raised exceptions that the executor passes through. The other results are in `plan`.

    Attributes:
        plan: the plan with the results of the other calls. The calls that raised are pending.
        exceptions: what was raised, by the position of the call in the turn. The first one is also the
            `__cause__`.
    """

    def __init__(self, plan: ToolRoundPlan[Any], exceptions: Mapping[int, BaseException]) -> None:
        number = len(exceptions)
        calls = "1 call" if number == 1 else f"{number} calls"
        kinds = ", ".join(dict.fromkeys([class_name_of(error) for error in exceptions.values()]))
        super().__init__(f"{calls} raised {clip(escape(kinds), _MESSAGE_LENGTH)}", number)
        self.plan = plan
        self.exceptions: Mapping[int, BaseException] = dict(exceptions)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.plan, self.exceptions)


RestoreProblemCode = Literal[
    "not_a_plan", "newer_format", "older_format", "data_changed", "tool_gone", "input_does_not_fit"
]
"""Why saved data can't be restored: they have another form · a newer or an older version of this package
wrote them · they were changed · the toolset has no such tool any more · the tool doesn't take the input any
more, or makes something else of it."""


class RestoreProblem(Value):
    """One thing that no longer fits.

    Attributes:
        code: what kind of problem it is.
        call_id: of the call, or None where it is about the data as a whole.
        name: of its tool, or None.
        message: one line that says what is wrong.
    """

    code: RestoreProblemCode
    call_id: str | None
    name: str | None
    message: str

    def __str__(self) -> str:
        """Write the call and the message on one line."""
        message = clip(escape(self.message), _MESSAGE_LENGTH)
        return message if self.name is None else f"{shown_call(self.name, self.call_id or '')}: {message}"


class RestoreError(ValueError):
    """Saved data don't give back the plan that was saved.

    Attributes:
        problems: everything that no longer fits.
        plan: the plan in which each call that no longer fits is an issue, and all others are as they
            were; None where the data as a whole can't be used.
    """

    def __init__(self, problems: Sequence[RestoreProblem], plan: ToolRoundPlan[Any] | None = None) -> None:
        super().__init__(tuple(problems), plan)
        self.problems: tuple[RestoreProblem, ...] = tuple(problems)
        self.plan = plan

    def __str__(self) -> str:
        """Write the problems, one a line."""
        return _report("the saved plan doesn't fit any more", self.problems)


def shown_call(name: str, call_id: str) -> str:
    """Show a call by the name of its tool and its id, bounded and escaped."""
    return f"{clip(escape(name), _NAME_LENGTH)} (call {quote(call_id, _NAME_LENGTH)})"


def _report(head: str, lines: Sequence[object]) -> str:
    shown = [f"- {line}" for line in lines[:_SHOWN]]
    more = len(lines) - _SHOWN
    return "\n".join([head, *shown, *([f"- … and {more} more"] if more > 0 else [])])
