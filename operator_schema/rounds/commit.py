"""Which result goes to which call, and what is wrong if they don't fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.calls import ToolResult
from ..wording import quote, received
from .errors import CommitError, CommitFault
from .tool_call import CallIssue, DeferredCall, HandledCall, RejectedCall, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from .errors import FaultCode
    from .tool_call import State

    Given: TypeAlias = "ToolResult | HandledCall | RejectedCall"

__all__ = ["matched", "settled"]


def settled(states: Sequence[State], results: Iterable[Given]) -> tuple[ToolResult, ...]:
    """Return a result for each call of a turn, in order.

    Args:
        states: what each call is at.
        results: for the calls that are pending; for an issue too, which then counts.

    Raises:
        CommitError: with everything that doesn't fit.
        TypeError: something isn't a result.
    """
    given, faults = matched(states, results)
    found: list[ToolResult] = []
    for state in states:
        result = given.get(state.index)
        if result is not None:
            found.append(result if isinstance(result, ToolResult) else result.result)
        elif isinstance(state, ToolCall):
            faults.append(_fault("missing", state, "it has no result: run it, or reject it"))
        elif isinstance(state, DeferredCall):
            remedy = "answer it" if state.question else "approve or reject it"
            faults.append(_fault("deferred", state, f"it still waits for a decision: {remedy}"))
        else:
            found.append(state.result)
    if faults:
        order = {state.id: state.index for state in reversed(states)}
        raise CommitError(sorted(faults, key=lambda fault: order.get(fault.call_id, len(states))))
    return tuple(found)


def matched(states: Sequence[State], results: Iterable[Given]) -> tuple[dict[int, Given], list[CommitFault]]:
    """Find the call of each result.

    Calls may share an id. Their results then belong to those of the same name, in the order of the calls.

    Args:
        states: what each call is at.
        results: in any order.

    Returns:
        Position of a call to its result, and what doesn't fit.

    Raises:
        TypeError: something isn't a result.
    """
    by_id: dict[str, list[State]] = {}
    for state in states:
        by_id.setdefault(state.id, []).append(state)
    found: dict[int, Given] = {}
    faults: list[CommitFault] = []
    for result in _checked(results):
        same_id = by_id.get(_id_of(result), [])
        place = _place_of(result, same_id, found)
        if isinstance(place, CommitFault):
            faults.append(place)
        else:
            found[place] = result
    return found, faults


def _checked(results: Any) -> list[Any]:
    if isinstance(results, (ToolResult, HandledCall, RejectedCall)):
        message = "expected a list of results, not one alone: write [result]"
        raise TypeError(message)
    checked = list(results)
    for result in checked:
        if not isinstance(result, (ToolResult, HandledCall, RejectedCall)):
            message = (
                f"a result is a ToolResult, what call.handled or call.reject returns, not {received(result)}"
            )
            raise TypeError(message)
    return checked


def _id_of(result: Given) -> str:
    return result.call_id if isinstance(result, ToolResult) else result.id


def _place_of(result: Given, same_id: Sequence[State], found: dict[int, Given]) -> int | CommitFault:
    """Return the position of the call of a result, or what is wrong with it."""
    name = result.name
    if not same_id:
        message = f"no call of this turn has the id {quote(_id_of(result))}"
        return CommitFault("unknown_call", _id_of(result), name, message)
    same_name = [state for state in same_id if state.name == name]
    if not same_name:
        names = " and ".join(dict.fromkeys([quote(state.name) for state in same_id]))
        return _fault("wrong_name", result, f"the call with this id is one of {names}")
    if not isinstance(result, ToolResult):
        same_name = [state for state in same_name if state.index == result.index]
        if not same_name or not _is_same_call(result, same_name[0]):
            return _fault("changed_arguments", result, "the call of this turn has other arguments")
    open_calls = [state for state in same_name if isinstance(state, (ToolCall, CallIssue))]
    if not open_calls:
        is_deferred = any(isinstance(state, DeferredCall) for state in same_name)
        message = "it waits for a decision" if is_deferred else "the plan has its result already"
        return _fault(
            "deferred" if is_deferred else "already_decided", result, f"{message}: leave this one out"
        )
    free = [state for state in open_calls if state.index not in found]
    if not free:
        return _fault("duplicate", result, "there are more results than calls with this id")
    pending = [state for state in free if isinstance(state, ToolCall)]
    return (pending or free)[0].index


def _is_same_call(result: HandledCall | RejectedCall, state: State) -> bool:
    return result.metadata == state.metadata


def _fault(code: FaultCode, about: State | Given, message: str) -> CommitFault:
    call_id = about.call_id if isinstance(about, ToolResult) else about.id
    return CommitFault(code, call_id, about.name, message)
