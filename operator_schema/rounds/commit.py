"""Which result goes to which call, and what is wrong if they don't fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.calls import ToolResult
from ..wording import checked_text, listed, quote, received
from .errors import CommitError, CommitFault
from .tool_call import CallIssue, DeferredCall, HandledCall, RejectedCall, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from .errors import FaultCode
    from .tool_call import State

    Given: TypeAlias = "ToolResult | HandledCall | RejectedCall"

__all__ = ["matched", "refuse", "settled"]

_SHOWN_NAMES = 3


def settled(states: Sequence[State], results: Iterable[Given]) -> tuple[ToolResult, ...]:
    """Return a result for each call of a turn, in order.

    Args:
        states: of all calls of the turn.
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
    refuse(states, faults)
    return tuple(found)


def refuse(states: Sequence[State], faults: Sequence[CommitFault]) -> None:
    """Raise what is wrong, in the order of the calls; nothing is wrong if there are no faults.

    Raises:
        CommitError: there are faults.
    """
    if faults:
        order = {state.id: state.index for state in reversed(states)}
        raise CommitError(sorted(faults, key=lambda fault: order.get(fault.call_id, len(states))))


def matched(states: Sequence[State], results: Iterable[Given]) -> tuple[dict[int, Given], list[CommitFault]]:
    """Find the call of each result.

    Calls may share an id. A result that a call has made belongs to that call; others belong to the calls of
    the same name, in their order.

    Args:
        states: of all calls of the turn.
        results: in any order.

    Returns:
        Position of a call to its result, and what doesn't fit, in the order of the results.

    Raises:
        TypeError: something isn't a result.
    """
    given = _checked(results)
    named = _by_id_and_name(states)
    found: dict[int, Given] = {}
    faults: dict[int, CommitFault] = {}
    # One that knows its own call comes first: another one with this id could take its place.
    for number in sorted(range(len(given)), key=lambda number: _own_index(given[number]) is None):
        place = _place_of(given[number], states, named, found)
        if isinstance(place, CommitFault):
            faults[number] = place
        else:
            found[place] = given[number]
    return found, [faults[number] for number in sorted(faults)]


class _SameName:
    """The calls of one id and name.

    Attributes:
        free: positions of the pending ones and of the issues, the one that gets the next result last.
        takes_any: whether there was one that takes a result.
        is_deferred: whether one waits for a decision.
    """

    __slots__ = ("free", "is_deferred", "takes_any")

    def __init__(self, states: Sequence[State]) -> None:
        pending = [state.index for state in states if isinstance(state, ToolCall)]
        issues = [state.index for state in states if isinstance(state, CallIssue)]
        self.free = [*reversed(issues), *reversed(pending)]
        self.takes_any = bool(self.free)
        self.is_deferred = any(isinstance(state, DeferredCall) for state in states)


def _by_id_and_name(states: Sequence[State]) -> dict[str, dict[str, _SameName]]:
    grouped: dict[str, dict[str, list[State]]] = {}
    for state in states:
        grouped.setdefault(state.id, {}).setdefault(state.name, []).append(state)
    return {
        call_id: {name: _SameName(calls) for name, calls in names.items()}
        for call_id, names in grouped.items()
    }


def _checked(results: Any) -> list[Any]:
    if isinstance(results, (ToolResult, HandledCall, RejectedCall)):
        message = "expected a list of results, not one alone: write [result]"
        raise TypeError(message)
    if results is None:
        message = "expected a list of results, not null: leave it out where there are none"
        raise TypeError(message)
    checked = list(results)
    for result in checked:
        if not isinstance(result, (ToolResult, HandledCall, RejectedCall)):
            message = (
                f"a result is a ToolResult, what call.handled or call.reject returns, not {received(result)}"
            )
            raise TypeError(message)
        if isinstance(result, ToolResult):
            checked_text("the call_id of a result", result.call_id)
            checked_text("the name of a result", result.name)
    return checked


def _own_index(result: Given) -> int | None:
    """Return the position of the call that a result knows; None if it has only an id."""
    return result._index if isinstance(result, ToolResult) else result.index  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # made in this room


def _id_of(result: Given) -> str:
    return result.call_id if isinstance(result, ToolResult) else result.id


def _place_of(
    result: Given,
    states: Sequence[State],
    named: Mapping[str, Mapping[str, _SameName]],
    found: Mapping[int, Given],
) -> int | CommitFault:
    """Return the position of the call of a result, or what is wrong with it."""
    same_id = named.get(_id_of(result))
    if same_id is None:
        message = f"no call of this turn has the id {quote(_id_of(result))}"
        return CommitFault("unknown_call", _id_of(result), result.name, message)
    same_name = same_id.get(result.name)
    if same_name is None:
        names = listed([quote(name) for name in same_id], _SHOWN_NAMES)
        return _fault("wrong_name", result, f"the call with this id is one of {names}")
    index = _own_index(result)
    own = states[index] if index is not None and 0 <= index < len(states) else None
    if isinstance(result, ToolResult) and (
        own is None or (own.id, own.name) != (result.call_id, result.name)
    ):
        while same_name.free and same_name.free[-1] in found:
            same_name.free.pop()
        if same_name.free:
            return same_name.free[-1]
        if same_name.takes_any:
            return _fault("duplicate", result, "there are more results than calls with this id")
        return _decided(result, is_deferred=same_name.is_deferred)
    if own is None or (not isinstance(result, ToolResult) and own.metadata != result.metadata):
        return _fault("changed_arguments", result, "the call of this turn has other arguments")
    if not isinstance(own, (ToolCall, CallIssue)):
        return _decided(result, is_deferred=isinstance(own, DeferredCall))
    if own.index in found:
        return _fault("duplicate", result, "there are more results than calls with this id")
    return own.index


def _decided(result: Given, *, is_deferred: bool) -> CommitFault:
    """Return what is wrong with a result of a call that takes none."""
    if is_deferred:
        return _fault("deferred", result, "it waits for a decision: leave this one out")
    return _fault("already_decided", result, "the plan has its result already: leave this one out")


def _fault(code: FaultCode, about: State | Given, message: str) -> CommitFault:
    call_id = about.call_id if isinstance(about, ToolResult) else about.id
    return CommitFault(code, call_id, about.name, message)
