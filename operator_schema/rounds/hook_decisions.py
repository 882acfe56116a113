"""What may a hook decide about a call?"""

from __future__ import annotations

from math import inf
from time import time
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from ..immutable import Value
from ..message_text import received, writable_text
from ..tools.metadata import is_duration

if TYPE_CHECKING:
    from .tool_call import ToolCall

CONFIRM = "the tool needs a person's approval (confirm=True)"
"""The reason why a call waits if its tool says `confirm=True`."""


class RunNormally(Value):
    """Go on to the next hook; if no hook decides otherwise, the call is run.

    A hook that returns None means the same, with an unchanged input. The input of a call that a person
    has approved or answered doesn't change any more.

    Attributes:
        input: another input for the call; leave it out (`...`) to keep the present one.
        approved: whether the call no longer needs a person, although its tool says `confirm=True`.
    """

    input: Any = ...
    approved: bool = False

    ends = False
    recorded_as = None

    def applied(self, call: ToolCall[Any]) -> ToolCall[Any]:
        """Return the call that goes on; `deciding.py` has given it the input."""
        return call.replace(approved=True) if self.approved is True else call


class Complete(Value):
    """Stop here: the call gets this output, and its function doesn't run.

    Attributes:
        output: the value in place of the return value of the function.
    """

    output: Any

    ends = True
    recorded_as = "complete"

    def applied(self, call: ToolCall[Any]) -> ToolCall[Any]:
        """Return the call with its output.

        Raises:
            EncodeError: the output can't be written as JSON.
        """
        return call.handled(self.output, by="hook")


class Reject(Value):
    """Stop here: the call isn't run, and the model reads why.

    Attributes:
        reason: the reason for the model; it may be empty.
    """

    reason: str = ""

    ends = True
    recorded_as = "reject"

    def __init__(self, reason: str = "") -> None:
        super().__init__(writable_text("the reason of Reject", reason))

    def applied(self, call: ToolCall[Any]) -> ToolCall[Any]:
        """Return the call as rejected."""
        return call.reject(self.reason, by="hook")


class Defer(Value):
    """Go on to the next hook; if no hook completes or rejects the call, a person or another system decides.

    For a call that is already approved, this only goes on to the next hook. If several hooks defer a call,
    the reason of the first one counts, the earliest deadline, and the largest number of approvals.

    Args:
        reason: the reason for the person or system that decides; the model doesn't see it.
        expires_in: the number of seconds after which the call can't be approved any more; the model then
            reads that nobody agreed in time. None for no limit.
        approvals: how many different people have to agree (`round.approve(call, by=…)`); one refusal is
            enough. Your program checks who may agree.

    Raises:
        TypeError: the reason isn't a string.
        ValueError: `expires_in` isn't a positive number, or `approvals` isn't an integer of at least 1.
    """

    reason: str = ""
    expires_in: float | None = None
    approvals: int = 1

    ends = False
    recorded_as = None

    def __init__(self, reason: str = "", expires_in: float | None = None, approvals: int = 1) -> None:
        if expires_in is not None and not (is_duration(expires_in) and 0 < expires_in < inf):
            message = f"expires_in must be a positive number of seconds, or None, not {received(expires_in)}"
            raise ValueError(message)
        if type(approvals) is not int or approvals < 1:
            message = f"approvals, the number of people, must be at least 1, not {received(approvals)}"
            raise ValueError(message)
        super().__init__(writable_text("the reason of Defer", reason), expires_in, approvals)

    def applied(self, call: ToolCall[Any]) -> ToolCall[Any]:
        """Return the call as deferred, unless a person has approved it already."""
        if call.approved:
            return call
        from .tool_call import Wait  # a program makes hooks before it has a call

        until = None if self.expires_in is None else round(time() + self.expires_in, 3)
        return call.defer(self.reason, wait=Wait(self.approvals, until))


class RunAgain(Value):
    """Run the call once more; a hook after a call returns this.

    Attributes:
        most: how often the call may run in total; after that many runs, the last result is used.
    """

    most: int = 2

    def __init__(self, most: int = 2) -> None:
        if type(most) is not int or most < 1:
            message = f"most, the number of all runs, must be at least 1, not {received(most)}"
            raise ValueError(message)
        super().__init__(most)


Decision: TypeAlias = RunNormally | Complete | Reject | Defer | None
"""The decisions of a hook; None is `RunNormally()`. After one that `ends` the decision, no other hook is
asked."""

DECISIONS: tuple[type[Any], ...] = tuple([kind for kind in get_args(Decision) if kind is not NoneType])
"""The classes of decisions. Add a new one to `Decision`, and export it."""
