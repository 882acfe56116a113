"""Which call is meant, which calls have run already, and which result belongs to which call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..findings import Finding, shown_call
from ..message_text import checked_text, listed, quote, received
from ..tools.calls import ToolResult, new_id
from .errors import CommitError, RoundError
from .input_copies import is_edited
from .tool_call import ToolCall
from .transcript import saving

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .errors import FaultCode

    Given: TypeAlias = "ToolResult | ToolCall[Any]"

__all__ = ["CallRun", "Settlement", "WhichCall", "find_call", "revised", "settled", "with_results"]


_SHOWN_NAMES = 3


def settled(calls: Sequence[ToolCall[Any]], results: Iterable[Given]) -> tuple[ToolResult, ...]:
    """Return a result for each call of a turn, in order.

    Args:
        calls: all calls of the turn.
        results: results of the pending calls; one for an issue replaces that of the issue.

    Raises:
        CommitError: with everything that doesn't fit.
        TypeError: something isn't a result.
    """
    given, faults = _matched(calls, results)
    found: list[ToolResult] = []
    for call in calls:
        own = given.get(call.index, call)
        result = own.result if isinstance(own, ToolCall) else call.with_result(own).result
        if result is not None:
            found.append(result)
        elif call.state == "pending":
            faults.append(_fault("missing", call, "it has no result: run it, or reject it"))
        else:
            remedy = "answer it" if call.question else _DECIDE
            faults.append(_fault("deferred", call, f"it still waits for a decision: {remedy}"))
    _refuse(calls, faults)
    return tuple(found)


_DECIDE = "approve or reject it, or give the executor a function that asks (confirm=…)"


def with_results(calls: Sequence[ToolCall[Any]], results: Iterable[Given]) -> list[ToolCall[Any]]:
    """Return the calls of a turn, with the results that some now have.

    Args:
        calls: all calls of the turn.
        results: results of some pending calls, or for issues.

    Raises:
        CommitError: with everything that doesn't fit.
        EncodeError: a result can't be saved.
        TypeError: something isn't a result.
    """
    given, faults = _matched(calls, results)
    _refuse(calls, faults)
    after = list(calls)
    for index, result in given.items():
        after[index] = result if isinstance(result, ToolCall) else calls[index].with_result(result)
        own: Any = after[index].result
        saving().save_result(own)
    return after


def revised(call: ToolCall[Any], result: object) -> ToolCall[Any]:
    """Return a handled call with another result.

    Raises:
        EncodeError: the result can't be saved.
        TypeError: it isn't a result.
        ValueError: it is the result of another call.
    """
    if not isinstance(result, ToolResult):
        message = f"revise takes a ToolResult, such as call.complete(…), not {received(result)}"
        raise TypeError(message)
    if (result.call_id, result.name) != (call.id, call.name):
        message = f"this is the result of {shown_call(result.name, result.call_id)}"
        raise ValueError(message)
    saving().save_result(result)
    return call.replace(_result=result, by="host")


def _refuse(calls: Sequence[ToolCall[Any]], faults: Sequence[Finding]) -> None:
    """Raise all faults, in the order of the calls, if there are any.

    Raises:
        CommitError: there are faults.
    """
    if faults:
        order = {call.id: call.index for call in reversed(calls)}
        raise CommitError(sorted(faults, key=lambda fault: order.get(fault.call_id or "", len(calls))))


def _matched(
    calls: Sequence[ToolCall[Any]], results: Iterable[Given]
) -> tuple[dict[int, Given], list[Finding]]:
    """Find the call that each result belongs to.

    Calls may share an id. A result that a call has made belongs to that call; others belong to the calls of
    the same name, in their order.

    Args:
        calls: all calls of the turn.
        results: in any order.

    Returns:
        Position of a call to its result, and what doesn't fit, in the order of the results.

    Raises:
        TypeError: something isn't a result.
    """
    given = _checked(results)
    named = _by_id_and_name(calls)
    found: dict[int, Given] = {}
    faults: dict[int, Finding] = {}
    # Results that know their own call come first: others with the same id could take their place.
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


def _checked(results: Any) -> list[Any]:
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
    """Return the position of the call that a result knows; None if it has only an id."""
    return result._index if isinstance(result, ToolResult) else result.index  # noqa: SLF001  # made in this room


def _id_of(result: Given) -> str:
    return result.call_id if isinstance(result, ToolResult) else result.id


def _place_of(
    result: Given,
    calls: Sequence[ToolCall[Any]],
    named: Mapping[str, Mapping[str, _SameName]],
    found: Mapping[int, Given],
) -> int | Finding:
    """Return the position of the call of a result, or what is wrong with it."""
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
        return _decided(result, is_deferred=same_name.is_deferred)
    if own is None or (not isinstance(result, ToolResult) and own.raw != result.raw):
        return _fault("changed_arguments", result, "the call of this turn has other arguments")
    if own.state not in {"pending", "issue"}:
        return _decided(result, is_deferred=own.state == "deferred")
    if own.index in found:
        return _fault("duplicate", result, "there are more results than calls with this id")
    return own.index


def _decided(result: Given, *, is_deferred: bool) -> Finding:
    """Return what is wrong with a result for a call that takes none."""
    if is_deferred:
        return _fault("deferred", result, "it waits for a decision: leave this one out")
    return _fault("already_decided", result, "the round has its result already: leave this one out")


def _fault(code: FaultCode, about: Given, message: str) -> Finding:
    call_id = about.call_id if isinstance(about, ToolResult) else about.id
    return Finding((), code, message, tool=about.name, call_id=call_id)


WhichCall: TypeAlias = "str | int | ToolCall[Any]"
"""How a call is chosen: by its id, by its position in the turn, or by the call itself."""

_SHOWN = 5
_REASON_LENGTH = 100


def find_call(calls: tuple[ToolCall[Any], ...], call: WhichCall, kind: str) -> ToolCall[Any]:
    """Return the one call of a turn that is meant.

    Args:
        calls: all calls of the turn.
        call: its id, its position, or the call itself.
        kind: `deferred`, `deferred or pending`, or `handled`.

    Raises:
        RoundError: there is none, or there are several.
        TypeError: it is something else.
    """
    wanted = set(kind.split(" or "))
    named = _named(calls, call)
    found = [one for one in named if one.state in wanted]
    if len(found) == 1:
        _check_same(found[0], call)
        return found[0]
    if len(found) > 1:
        places = listed([str(one.index) for one in found])
        message = (
            f"{len(found)} calls with {_shown(call)} are {kind}: give the position in the turn ({places})"
        )
        raise RoundError(message, len(found))
    decided = listed([f"{shown_call(one.name, one.id)} {_what_was_decided(one)}" for one in named], _SHOWN)
    others = [shown_call(one.name, one.id) for one in calls if one.state in wanted]
    some, none = _WHO_WAIT[kind]
    waiting = f"{some}: {listed(others, _SHOWN)}" if others else none
    message = f"{decided or f'no call of this turn has {_shown(call)}'}; {waiting}"
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


def _named(calls: tuple[ToolCall[Any], ...], call: Any) -> list[ToolCall[Any]]:
    if isinstance(call, str):
        return [one for one in calls if one.id == call]
    if isinstance(call, int) and not isinstance(call, bool):
        return list(calls[call : call + 1]) if call >= 0 else []
    if not isinstance(call, ToolCall):
        message = f"choose a call by its id, its position or the call itself, not by {received(call)}"
        raise TypeError(message)
    return [one for one in calls[call.index : call.index + 1] if one.raw == call.raw]


def _check_same(found: ToolCall[Any], call: Any) -> None:
    """Check that a call chosen by itself still waits for the same thing: it may come from an older state.

    Raises:
        RoundError: it asks something else, or has another input.
    """
    if found is call or not isinstance(call, ToolCall) or not found.state == call.state == "deferred":
        return
    seen: Any = call  # pyright: ignore[reportUnknownVariableType]  # of whatever input
    if _asked(found) != _asked(seen) or is_edited(found.tool, found.input, seen.input):
        message = (
            f"the call with {_shown(call)} waits for something else by now: look at round.deferred again"
        )
        raise RoundError(message, 0)


def _asked(call: ToolCall[Any]) -> tuple[str, str] | None:
    question = call.question
    return None if question is None else (question.text, question.parameter)


def _shown(call: Any) -> str:
    if isinstance(call, str):
        return f"the id {quote(call)}"
    return f"the position {call if isinstance(call, int) else call.index}"


class CallRun:
    """One run of a call.

    Attributes:
        has_result: whether it ended with a result.
        is_going_on: whether it may still get one; otherwise nobody knows whether it did its work.
    """

    __slots__ = ("has_result", "is_going_on")

    def __init__(self) -> None:
        self.is_going_on = True
        self.has_result = False


Runs: TypeAlias = dict[tuple[int, int], CallRun]
"""The runs of a round, by the position of the call and the number of its earlier runs."""


class _Rounds:
    """The runs of the latest rounds that can be restored in this process.

    Two generations, so that nothing is searched and no lock is needed, which a fork could leave closed.
    """

    __slots__ = ("_new", "_old")

    KEPT = 10_000
    """Rounds in a generation, with less than 1 kB each."""

    def __init__(self) -> None:
        self._new: dict[str, Runs] = {}
        self._old: dict[str, Runs] = {}

    def of(self, round_id: str, runs: Runs) -> Runs:
        """Return the known runs of a round, or the given ones if it is unknown."""
        new = self._new
        found = new.setdefault(round_id, self._old.get(round_id, runs))  # one step, for all threads
        if len(new) > self.KEPT:
            self._old, self._new = new, {}
        return found


_rounds = _Rounds()


class Settlement:
    """The id of a round, what ran, and how it ended, shared by all its states; the first to settle it wins.

    Args:
        round_id: id of a restored round; None for a new one, which gets its id when somebody asks for it.
    """

    __slots__ = ("_ending", "_id", "_runs", "_states")

    def __init__(self, round_id: str | None = None) -> None:
        self._id: dict[None, str] = {} if round_id is None else {None: round_id}
        self._ending: dict[None, _Ending] = {}
        self._runs: Runs = {} if round_id is None else _rounds.of(round_id, {})
        self._states: dict[tuple[int, int], ToolCall[Any]] = {}  # as it began, then with its result

    @property
    def round_id(self) -> str:
        """The id of the round, made at random."""
        found = self._id.get(None)
        if found is not None:
            return found
        made = new_id("round")
        first = self._id.setdefault(None, made)  # one step, for all threads
        _rounds.of(first, self._runs)  # whoever knows the id may restore the round
        return first

    # --- runs ------------------------------------------------------------------------------------

    def check_not_run(self, call: ToolCall[Any]) -> None:
        """Check that a call hasn't been run.

        Raises:
            RoundError: it has, from this state of the round or another one.
        """
        run = self._runs.get(call.run)
        if run is not None:
            raise _ran(call, run)

    def begin(self, calls: Sequence[ToolCall[Any]], begun: list[CallRun]) -> None:
        """Note that calls run now: all of them, or none.

        Args:
            calls: the calls.
            begun: gets the run of each call before anybody can see it; the caller ends them in any case.

        Raises:
            RoundError: one has been run.
        """
        for position, call in enumerate(calls):
            run = CallRun()
            begun.append(run)
            first = self._runs.setdefault(call.run, run)  # one step, for all threads
            if first is not run:
                for earlier in calls[:position]:
                    self.forget(earlier)
                raise _ran(call, first)
            self._states[call.run] = call

    def keep(self, call: ToolCall[Any], after: ToolCall[Any]) -> None:
        """Keep the state of a call after it ran."""
        self._states[call.run] = after
        self._runs[call.run].has_result = True

    def forget(self, call: ToolCall[Any]) -> None:
        """Let a call run again after it raised what the executor passes through."""
        del self._runs[call.run]

    def state_after(self, call: ToolCall[Any]) -> ToolCall[Any] | None:
        """Return a call after it ran; None if it hasn't, or if that isn't known here."""
        run = self._runs.get(call.run)
        if run is None:
            return None
        after = self._states.get(call.run)
        if run.has_result:
            # The answer to its question may have been given, and the call run again.
            return (self.state_after(after) or after) if after and after.state == "deferred" else after
        return None if run.is_going_on else (after or call).interrupted()  # as hooks and people left it

    # --- the end ---------------------------------------------------------------------------------

    @property
    def how(self) -> str | None:
        """How the round ended; None as long as it is open."""
        found = self._ending.get(None)
        return None if found is None else found.how

    def settle(self, how: str) -> None:
        """End the round.

        Raises:
            RoundError: it has ended.
        """
        own = _Ending(how)
        # In one step, so that each of several threads sees whether it was the first.
        first = self._ending.setdefault(None, own)
        if first is not own:
            message = f"this round was {first.how} already"
            raise RoundError(message)

    def reopen(self) -> None:
        """Open the round again, after a commit that failed."""
        self._ending.clear()


def _ran(call: ToolCall[Any], run: CallRun) -> RoundError:
    how = "was run" if run.has_result else "is running" if run.is_going_on else "was begun and interrupted"
    message = (
        f"{shown_call(call.name, call.id)} {how} already, from this state of the round or another one: "
        "go on with the round that the executor returned, or with round.current()"
    )
    return RoundError(message, 1)


class _Ending:
    """How a round ended; each end is an object of its own."""

    __slots__ = ("how",)

    def __init__(self, how: str) -> None:
        self.how = how
