"""Find the call of a turn that the caller means, and check that it can still be decided."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..findings import shown_call
from ..message_text import listed, quote, received
from .errors import RoundError
from .input_copies import is_edited
from .tool_call import ToolCall

WhichCall: TypeAlias = "str | int | ToolCall[Any]"
"""How to choose a call: by its id, by its position in the turn, or by the call itself."""

_SHOWN = 5
_REASON_LENGTH = 100


def find_call(calls: tuple[ToolCall[Any], ...], call: WhichCall, kind: str) -> ToolCall[Any]:
    """Return the one call of a turn that the caller means.

    Args:
        calls: all calls of the turn.
        call: its id, its position, or the call itself.
        kind: the state that the call must have: `deferred`, `deferred or pending`, or `handled`.
    """
    wanted = set(kind.split(" or "))
    named = _calls_named(calls, call)
    found = [one for one in named if one.state in wanted]
    if len(found) == 1:
        _check_waits_for_same(found[0], call)
        return found[0]
    if len(found) > 1:
        places = listed([str(one.index) for one in found])
        which = f"{len(found)} calls with {_choice_text(call)} are {kind}"
        message = f"{which}: give the position in the turn ({places})"
        raise RoundError(message, len(found))
    decided = listed([f"{shown_call(one.name, one.id)} {_what_was_decided(one)}" for one in named], _SHOWN)
    others = [shown_call(one.name, one.id) for one in calls if one.state in wanted]
    some, none = _WHO_WAIT[kind]
    waiting = f"{some}: {listed(others, _SHOWN)}" if others else none
    message = f"{decided or f'no call of this turn has {_choice_text(call)}'}; {waiting}"
    raise RoundError(message, 0)


_WHO_WAIT = {
    "deferred": ("these wait", "no call waits"),
    "deferred or pending": ("these wait or are pending", "no call waits or is pending"),
    "handled": ("these have their result", "no call has its result"),
}


def _what_was_decided(call: ToolCall[Any]) -> str:
    match call.state:
        case "handled" if call.by == "executor":
            return "was run already"
        case "handled" if call.code == "expired":
            return "has expired: nobody approved it in time"
        case "handled":
            return f"has its result already, from {'a hook' if call.by == 'hook' else 'your program'}"
        case "rejected":
            by = ", by a hook" if call.by == "hook" else ""
            reason = f": {quote(call.reason, _REASON_LENGTH)}" if call.reason else ""
            return f"was rejected already{by}{reason}"
        case "issue":
            return f"can't be run ({call.code})"
        case _ if call.approved or call.run[1]:  # or it may run once more
            return "was answered already" if call.answers else "was approved already"
        case _:
            return "is pending: nobody has been asked about it"


def _calls_named(calls: tuple[ToolCall[Any], ...], call: Any) -> list[ToolCall[Any]]:
    if isinstance(call, str):
        return [one for one in calls if one.id == call]
    if isinstance(call, int) and not isinstance(call, bool):
        _check_no_id(calls, call)
        return list(calls[call : call + 1]) if call >= 0 else []
    if not isinstance(call, ToolCall):
        message = f"choose a call by its id, its position or the call itself, not by {received(call)}"
        raise TypeError(message)
    return [one for one in calls[call.index : call.index + 1] if one.raw == call.raw]


def _check_no_id(calls: tuple[ToolCall[Any], ...], position: int) -> None:
    """Check that a position isn't the id of another call, which the caller may mean."""
    others = [one.id for one in calls if one.index != position and _is_written_number(one.id, position)]
    if others:
        written = quote(others[0])
        message = (
            f"{position} is a position, and another call of this turn has the id {written}: give {written}"
        )
        if 0 <= position < len(calls):
            message += f", or round.calls[{position}] if you mean the position"
        raise RoundError(message)


def _is_written_number(text: str, number: int) -> bool:
    """Return whether a text is a number, however it is written."""
    try:
        return int(text) == number
    except ValueError:
        return False


def _check_waits_for_same(found: ToolCall[Any], call: Any) -> None:
    """Check that a call given as a value still waits for the same thing: it may come from an older state."""
    if found is call or not isinstance(call, ToolCall) or not found.state == call.state == "deferred":
        return
    seen: Any = call  # pyright: ignore[reportUnknownVariableType]  # of whatever input
    if _question_of(found) != _question_of(seen) or is_edited(found.tool, found.input, seen.input):
        which = f"the call with {_choice_text(call)}"
        message = f"{which} waits for something else by now: look at round.deferred again"
        raise RoundError(message, 0)


def _question_of(call: ToolCall[Any]) -> tuple[str, str] | None:
    question = call.question
    return None if question is None else (question.text, question.parameter)


def _choice_text(call: Any) -> str:
    if isinstance(call, str):
        return f"the id {quote(call)}"
    return f"the position {call if isinstance(call, int) else call.index}"
