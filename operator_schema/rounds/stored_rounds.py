"""What can be read of a stored round without its tools?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import DecodeError
from ..immutable import Value
from .leases import owner_of
from .serialization import CALLS, SavedCall, in_seconds, read_decisions, without_texts
from .store_rows import damaged, is_valid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import RawCall, ResultCode, ToolResult
    from ..tools.decision_records import DecisionRecord
    from .leases import Owner
    from .tool_call import CallState
    from .transcript import Turn

StoredState: TypeAlias = Literal["deferred", "pending", "complete", "running", "stuck", "committed"]
"""The round waits for decisions · for a process that runs it · for its commit · it runs · its process seems
to be dead · it is in a transcript."""


class StoredCall(Value):
    """One call of a round in a store.

    Attributes:
        id: of the call.
        name: of its tool.
        state: as for a call of a round.
        sent: the arguments as the model sent them.
        runs_with: the arguments that run or ran, with defaults; None if it isn't known that they differ from
            those that were sent.
        reason: why it waits, or why it was rejected; None otherwise.
        question: what its tool asks; None if it asks nothing.
        since: since when it waits, or when it began to wait, in seconds since 1970; None if it never did.
        expires_at: until when it can be approved, in seconds since 1970; None if it has no end.
        approvals: how many people have to agree.
        approved_by: who has agreed so far.
        decisions: what hooks and people decided about it.
        code: the code of its result; None if it succeeded or has no result.
        content: what the model reads as its result; None if it has no result.
        sent_name: the name that the model wrote, if it was repaired; None otherwise.
    """

    id: str
    name: str
    state: CallState
    sent: Any
    runs_with: Mapping[str, Any] | None = None
    reason: str | None = None
    question: str | None = None
    since: float | None = None
    expires_at: float | None = None
    approvals: int = 1
    approved_by: tuple[str, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    code: ResultCode | None = None
    content: str | None = None
    sent_name: str | None = None


class StoredRound(Value):
    """A round in a store, for whoever looks at it; made by `store.find`.

    No signature was checked: to decide, `load` the round.

    Attributes:
        id: of the round.
        state: `deferred`, `pending`, `complete`, `running`, `stuck` or `committed`.
        since: since when it waits or runs, in seconds since 1970; None if it is committed.
        conversation: the name of its conversation; None if it has none.
        about: what your program noted about it, as JSON values.
        calls: its calls, in order.
        revision: how often it was saved; None if it is committed.
        has_begun: whether its calls began to run; each that hasn't ended may have done its work or not.
        owner: the process that took it; None if none did.
    """

    id: str
    state: StoredState
    since: float | None
    conversation: str | None
    about: Any
    calls: tuple[StoredCall, ...]
    revision: int | None = None
    has_begun: bool = False
    owner: Owner | None = None


def _calls_of_row(text: str, ended: Sequence[str]) -> tuple[tuple[StoredCall, ...], Any]:
    """Return the calls of a saved round, and what its program noted about it."""
    head = without_texts(json.loads(text), ("assistant", "about"))
    calls = [*head["calls"]]
    for one in map(json.loads, ended):
        calls[one["index"]] = one["call"]
    return tuple([_saved_call(call) for call in calls]), head.get("about")


def _saved_call(saved: dict[str, Any]) -> StoredCall:
    call = CALLS.decode(without_texts(saved, saved.keys()))
    code, content = _code_and_content(call)
    wait = call.wait
    return StoredCall(
        call.id,
        call.name,
        call.state,
        call.arguments,
        _running_arguments(call),
        call.reason,
        None if call.question is None else call.question.text,
        in_seconds(call.deferred_at),
        None if wait is None else in_seconds(wait.expires_at),
        1 if wait is None else wait.approvals,
        () if wait is None else tuple(wait.approved_by),
        read_decisions(call.decisions),
        code,
        content,
        call.sent_name,
    )


def _code_and_content(call: SavedCall) -> tuple[ResultCode | None, str | None]:
    """Return the code and the text of the result of a saved call."""
    if call.state == "rejected":
        return "rejected", None
    if call.result is None:
        return call.code, call.content
    return call.result.code, call.result.content


def _running_arguments(call: SavedCall) -> Mapping[str, Any] | None:
    changed = call.changed or (None if call.result is None else call.result.changed)
    return call.input if changed is None else changed.arguments


def calls_of_turn(turn: Turn) -> tuple[StoredCall, ...]:
    """Return the calls of a turn, as those of a round that is committed."""
    decisions = turn.decisions or ((),) * len(turn.calls)
    return tuple([_ended_call(*one) for one in zip(turn.calls, turn.results, decisions, strict=True)])


def _ended_call(sent: RawCall, result: ToolResult, decisions: tuple[DecisionRecord, ...]) -> StoredCall:
    ran = None if result.changed is None else result.changed.arguments
    return StoredCall(
        sent.id,
        sent.name,
        "rejected" if result.code == "rejected" else "handled",
        sent.arguments,
        ran,
        decisions=decisions,
        code=result.code,
        content=result.content,
        sent_name=sent.sent_name,
    )


def stored_round(round_id: str, row: Any, ended: Sequence[str], now: float) -> StoredRound:
    """Return the round of a row."""
    text, revision, since, begun, lease, owner, state, waits, conversation = row
    try:
        calls, about = _calls_of_row(text, ended)
    except (DecodeError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise damaged(round_id) from None
    if since is not None:
        state, waits = ("running" if is_valid(lease, now) else "stuck"), since
    known = (conversation, about, calls, revision, bool(begun), owner_of(owner))
    return StoredRound(round_id, state, waits, *known)


def record_of(call: dict[str, Any], changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the arguments that a saved call runs with; its result or the call itself has the changes."""
    sent, changed = call.get("arguments"), changed or call.get("changed")
    names: dict[str, Any] = {name: call[name] for name in ("name", "sent_name") if name in call}
    if changed is None:
        return {**names, "arguments": sent}
    return {**names, "arguments": changed["arguments"], "sent": sent}
