"""Match the results of a commit with the calls of a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import Finding, shown_call
from ..message_text import checked_text, listed, quote, received
from ..tools.calls import ToolResult
from .errors import CommitError
from .tool_call import ToolCall
from .transcript import saving

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from .errors import FaultCode

    Given: TypeAlias = "ToolResult | ToolCall[Any]"


_SHOWN_NAMES = 3


def settled(calls: Sequence[ToolCall[Any]], results: Iterable[Given]) -> tuple[ToolResult, ...]:
    """Return a result for each call of a turn, in order."""
    given, faults = _match_results(calls, results)
    found: list[ToolResult] = []
    for call in calls:
        own = given.get(call.index, call)
        result = own.result if isinstance(own, ToolCall) else call.with_result(own).result
        if result is not None:
            found.append(result)
        elif call.state == "pending":
            faults.append(_fault("missing", call, "it has no result: run it, or reject it"))
        else:
            remedy = _EXPIRED if call.has_expired else "answer it" if call.question else _DECIDE
            faults.append(_fault("deferred", call, f"it still waits for a decision: {remedy}"))
    _raise_faults(calls, faults)
    return tuple(found)


_EXPIRED = "it has expired, so commit round.with_expired()"
_DECIDE = "approve or reject it, or give the executor a function that asks (confirm=…)"


def with_results(calls: Sequence[ToolCall[Any]], results: Iterable[Given]) -> list[ToolCall[Any]]:
    """Return the calls of a turn, with the new results of some of them."""
    given, faults = _match_results(calls, results)
    _raise_faults(calls, faults)
    after = list(calls)
    for index, result in given.items():
        after[index] = result if isinstance(result, ToolCall) else calls[index].with_result(result)
        own: Any = after[index].result
        saving().save_result(own)
    return after


def revised(call: ToolCall[Any], result: object) -> ToolCall[Any]:
    """Return a handled call with another result."""
    if not isinstance(result, ToolResult):
        message = f"revise takes a ToolResult, such as call.complete(…), not {received(result)}"
        raise TypeError(message)
    if (result.call_id, result.name) != (call.id, call.name):
        message = f"this is the result of {shown_call(result.name, result.call_id)}"
        raise ValueError(message)
    saving().save_result(result)
    return call.replace(_result=result, by="host")


def _raise_faults(calls: Sequence[ToolCall[Any]], faults: Sequence[Finding]) -> None:
    """Raise all faults, in the order of the calls, if there are any."""
    if faults:
        order = {call.id: call.index for call in reversed(calls)}
        raise CommitError(sorted(faults, key=lambda fault: order.get(fault.call_id or "", len(calls))))


def _match_results(
    calls: Sequence[ToolCall[Any]], results: Iterable[Given]
) -> tuple[dict[int, Given], list[Finding]]:
    """Find the call that each result belongs to.

    Several calls may share an id. A result that a call has made belongs to that call; the other results
    belong to the calls of the same name, in their order.

    Returns:
        The results by the positions of their calls, and the faults, in the order of the results.
    """
    given = _check_results(results)
    named = _by_id_and_name(calls)
    found: dict[int, Given] = {}
    faults: dict[int, Finding] = {}
    # Results that know their own call come first: other results with the same id could take their place.
    for number in sorted(range(len(given)), key=lambda number: _own_index(given[number]) is None):
        place = _place_of(given[number], calls, named, found)
        if isinstance(place, Finding):
            faults[number] = place
        else:
            found[place] = given[number]
    return found, [faults[number] for number in sorted(faults)]


class _SameName:
    """The calls with the same id and name.

    Attributes:
        free: positions of the pending calls and the issues; the last one gets the next result.
        takes_any: whether any of them took a result at first.
        is_deferred: whether one of them waits for a decision.
    """

    __slots__ = ("free", "is_deferred", "takes_any")

    def __init__(self, calls: Sequence[ToolCall[Any]]) -> None:
        pending = [call.index for call in calls if call.state == "pending"]
        issues = [call.index for call in calls if call.state == "issue"]
        self.free = [*reversed(issues), *reversed(pending)]
        self.takes_any = bool(self.free)
        self.is_deferred = any(call.state == "deferred" for call in calls)


def _by_id_and_name(calls: Sequence[ToolCall[Any]]) -> dict[str, dict[str, _SameName]]:
    grouped: dict[str, dict[str, list[ToolCall[Any]]]] = {}
    for call in calls:
        grouped.setdefault(call.id, {}).setdefault(call.name, []).append(call)
    return {
        call_id: {name: _SameName(same) for name, same in names.items()} for call_id, names in grouped.items()
    }


def _check_results(results: Any) -> list[Any]:
    if isinstance(results, (ToolResult, ToolCall)):
        message = "expected a list of results, not one alone: write [result]"
        raise TypeError(message)
    if results is None:
        message = "expected a list of results, not null: leave it out where there are none"
        raise TypeError(message)
    checked = list(results)
    for result in checked:
        if not (isinstance(result, ToolResult) or _is_decided(result)):
            wanted = "a ToolResult, as call.handled and call.reject return"
            message = f"a result must be {wanted}, not {received(result)}"
            raise TypeError(message)
        if isinstance(result, ToolResult):
            checked_text("the call_id of a result", result.call_id)
            checked_text("the name of a result", result.name)
    return checked


def _is_decided(given: Any) -> bool:
    return isinstance(given, ToolCall) and given.state in {"handled", "rejected"}


def _own_index(result: Given) -> int | None:
    """Return the position of the call that a result was made by; None if the result has only an id."""
    return result._index if isinstance(result, ToolResult) else result.index  # noqa: SLF001  # made in this room


def _id_of(result: Given) -> str:
    return result.call_id if isinstance(result, ToolResult) else result.id


def _place_of(
    result: Given,
    calls: Sequence[ToolCall[Any]],
    named: Mapping[str, Mapping[str, _SameName]],
    found: Mapping[int, Given],
) -> int | Finding:
    """Return the position of the call that a result belongs to, or the fault if there is none."""
    same_id = named.get(_id_of(result))
    if same_id is None:
        message = f"no call of this turn has the id {quote(_id_of(result))}"
        return Finding((), "unknown_call", message, tool=result.name, call_id=_id_of(result))
    same_name = same_id.get(result.name)
    if same_name is None:
        names = listed([quote(name) for name in same_id], _SHOWN_NAMES)
        return _fault("wrong_name", result, f"the call with this id is one of {names}")
    index = _own_index(result)
    own = calls[index] if index is not None and 0 <= index < len(calls) else None
    if isinstance(result, ToolResult) and (
        own is None or (own.id, own.name) != (result.call_id, result.name)
    ):
        while same_name.free and same_name.free[-1] in found:
            same_name.free.pop()
        if same_name.free:
            return same_name.free[-1]
        if same_name.takes_any:
            return _fault("duplicate", result, "there are more results than calls with this id")
        return _fault_of_ended(result, is_deferred=same_name.is_deferred)
    if own is None or (not isinstance(result, ToolResult) and own.raw != result.raw):
        return _fault("changed_arguments", result, "the call of this turn has other arguments")
    if own.state not in {"pending", "issue"}:
        return _fault_of_ended(result, is_deferred=own.state == "deferred")
    if own.index in found:
        return _fault("duplicate", result, "there are more results than calls with this id")
    return own.index


def _fault_of_ended(result: Given, *, is_deferred: bool) -> Finding:
    """Return the fault of a result for a call that takes no result."""
    if is_deferred:
        return _fault("deferred", result, "it waits for a decision: leave this one out")
    return _fault("already_decided", result, "the round has its result already: leave this one out")


def _fault(code: FaultCode, about: Given, message: str) -> Finding:
    call_id = about.call_id if isinstance(about, ToolResult) else about.id
    return Finding((), code, message, tool=about.name, call_id=call_id)
