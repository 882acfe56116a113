"""Which call of a turn is meant, and can it be decided on?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..wording import listed, quote, received
from .errors import RoundError, shown_call
from .inputs import is_edited
from .tool_call import CallIssue, DeferredCall, HandledCall, RejectedCall, ToolCall

if TYPE_CHECKING:
    from .tool_call import State

__all__ = ["WhichCall", "find_call"]

WhichCall: TypeAlias = "str | int | ToolCall[Any] | DeferredCall[Any]"
"""By which a call is chosen: its id, its position in the turn, or the call itself."""

_SHOWN = 5
_REASON_LENGTH = 100


def find_call(states: tuple[State, ...], call: WhichCall, kind: str) -> Any:
    """Return the one call of a turn that is meant.

    Args:
        states: of all calls of the turn.
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
        _check_same(found[0], call)
        return found[0]
    if len(found) > 1:
        places = listed([str(state.index) for state in found])
        message = (
            f"{len(found)} calls with {_shown(call)} are {kind}: give the position in the turn ({places})"
        )
        raise RoundError(message, len(found))
    decided = listed([f"{shown_call(state.name, state.id)} {_decided(state)}" for state in named], _SHOWN)
    others = [shown_call(state.name, state.id) for state in states if isinstance(state, wanted)]
    some, none = _WHO_WAIT[kind]
    waiting = f"{some}: {listed(others, _SHOWN)}" if others else none
    message = f"{decided or f'no call of this turn has {_shown(call)}'}; {waiting}"
    raise RoundError(message, 0)


_WHO_WAIT = {
    "deferred": ("these wait", "no call waits"),
    "deferred or pending": ("these wait or are pending", "no call waits or is pending"),
}


def _decided(state: State) -> str:
    """Say what was decided about a call already."""
    match state:
        case ToolCall(approved=True):
            return "was answered already" if state.answers else "was approved already"
        case HandledCall(by="executor"):
            return "was run already"
        case HandledCall():
            return f"has its result already, from {'a hook' if state.by == 'hook' else 'your program'}"
        case RejectedCall():
            by = ", by a hook" if state.by == "hook" else ""
            reason = f": {quote(state.reason, _REASON_LENGTH)}" if state.reason else ""
            return f"was rejected already{by}{reason}"
        case CallIssue():
            return f"can't be run ({state.code})"
        case _:
            return "is pending: nobody has to agree to it"


def _named(states: tuple[State, ...], call: Any) -> list[State]:
    if isinstance(call, str):
        return [state for state in states if state.id == call]
    if isinstance(call, int) and not isinstance(call, bool):
        return list(states[call : call + 1]) if call >= 0 else []
    if not isinstance(call, (ToolCall, HandledCall, RejectedCall, DeferredCall, CallIssue)):
        message = f"a call is chosen by its id, its position or the call itself, not by {received(call)}"
        raise TypeError(message)
    return [state for state in states[call.index : call.index + 1] if state.metadata == call.metadata]


def _check_same(found: Any, call: Any) -> None:
    """Check that a call which was chosen by itself still waits for the same: it may be from an older plan.

    Raises:
        RoundError: it asks something else, or has another input.
    """
    both_wait = type(found) is type(call) is DeferredCall
    if found is call or not both_wait:
        return
    if _asked(found) != _asked(call) or is_edited(found.tool, found.input, call.input):
        message = f"the call with {_shown(call)} waits for something else by now: look at plan.deferred again"
        raise RoundError(message, 0)


def _asked(call: Any) -> tuple[str, str] | None:
    question = call.question
    return None if question is None else (question.text, question.parameter)


def _shown(call: Any) -> str:
    if isinstance(call, str):
        return f"the id {quote(call)}"
    return f"the position {call if isinstance(call, int) else call.index}"
