"""Which call of a turn is meant, and can it be decided on?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..wording import listed, quote, received
from .errors import RoundError
from .tool_call import CallIssue, DeferredCall, HandledCall, RejectedCall, ToolCall

if TYPE_CHECKING:
    from .tool_call import State

__all__ = ["WhichCall", "find_call"]

WhichCall: TypeAlias = "str | int | ToolCall[Any] | DeferredCall[Any]"
"""By which a call is chosen: its id, its position in the turn, or the call itself."""


def find_call(states: tuple[State, ...], call: WhichCall, kind: str) -> Any:
    """Return the one call of a turn that is meant.

    Args:
        states: what each call is at.
        call: its id, its position, or the call itself.
        kind: `deferred`, or `deferred or pending`.

    Raises:
        RoundError: there is none, or there are several.
        TypeError: it is something else.
    """
    wanted = (DeferredCall,) if kind == "deferred" else (DeferredCall, ToolCall)
    named = _named(states, call)
    found = [state for state in named if isinstance(state, wanted)]
    if len(found) == 1:
        _check_question(found[0], call)
        return found[0]
    shown = _shown(call)
    if len(found) > 1:
        places = listed([str(state.index) for state in found])
        message = f"{len(found)} calls with {shown} are {kind}: give the position in the turn ({places})"
        raise RoundError(message, len(found))
    if not named:
        message = f"no call of this turn has {shown}"
    else:
        message = f"the call with {shown} isn't {kind}: it is {_WORDS[type(named[0])]}"
    raise RoundError(message, 0)


_WORDS: dict[type, str] = {
    ToolCall: "pending",
    HandledCall: "handled",
    RejectedCall: "rejected",
    DeferredCall: "deferred",
    CallIssue: "an issue",
}


def _named(states: tuple[State, ...], call: Any) -> list[State]:
    if isinstance(call, str):
        return [state for state in states if state.id == call]
    if isinstance(call, int) and not isinstance(call, bool):
        return list(states[call : call + 1]) if call >= 0 else []
    if not isinstance(call, (ToolCall, HandledCall, RejectedCall, DeferredCall, CallIssue)):
        message = f"a call is chosen by its id, its position or the call itself, not by {received(call)}"
        raise TypeError(message)
    return [state for state in states[call.index : call.index + 1] if state.metadata == call.metadata]


def _check_question(found: Any, call: Any) -> None:
    """Check that a call which was chosen by itself still asks the same: an old answer fits no new question.

    Raises:
        RoundError: it asks something else.
    """
    both_wait = isinstance(call, DeferredCall) and isinstance(found, DeferredCall)
    if both_wait and _asked(found) != _asked(call):
        message = f"the call with {_shown(call)} waits for something else by now: look at plan.deferred again"
        raise RoundError(message, 0)


def _asked(call: Any) -> tuple[str, str] | None:
    question = call.question
    return None if question is None else (question.text, question.parameter)


def _shown(call: Any) -> str:
    if isinstance(call, str):
        return f"the id {quote(call)}"
    return f"the position {call if isinstance(call, int) else call.index}"
