"""Which rounds of a store wait, run or are stuck?"""

from __future__ import annotations

import json
from math import isnan
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

from ..immutable import Value
from ..message_text import listed, one_line, received
from ..tools.calls import RawCall
from .claims import as_key
from .leases import Owner, owner_of
from .serialization import without_texts
from .store_rows import LARGEST_INTEGER, ROUNDS, damaged, is_valid
from .stored_rounds import record_of
from .transcript import checked_conversation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .databases import Statements
    from .round import Round


class StuckRound(Value):
    """A round that a process took to run it, and that hasn't ended yet.

    Attributes:
        id: the id of the round.
        seconds: how long ago the run began; below 0 if the clock has been set back since.
        calls: the calls that were to run, as the model sent them.
        has_begun: whether they began to run: each may have done its work or not. False if hooks or people
            were still deciding, so that nothing has run.
        is_running: whether its process is alive: it renewed its lease a short time ago.
        owner: the process that took the round; None if it isn't known.
        conversation: the name of its conversation; None if there is none.
        about: the notes of the program about the round, as JSON values.
    """

    id: str
    seconds: float
    calls: tuple[RawCall, ...]
    has_begun: bool
    is_running: bool = False
    owner: Owner | None = None
    conversation: str | None = None
    about: Any = None


WaitingState: TypeAlias = Literal["deferred", "pending", "complete"]
"""What a round in a store waits for: decisions · a process that runs it · its commit."""


class WaitingRound(Value):
    """A waiting round in a list. Its data here aren't signed: `load` the round before you decide.

    Attributes:
        id: the id of the round.
        position: its position in the store; the position of the last round of a page is the `after` of the
            next page.
        since: when the round began to wait, in seconds since 1970.
        state: `deferred` if a call waits for a person; otherwise `pending` if calls are to be run; otherwise
            `complete`.
        conversation: the name of its conversation; None if there is none.
        tools: the names of the tools of the calls that wait for a person, in order.
        reason: the reason why the first of these calls waits.
        about: the notes of the program about the round, as JSON values.
    """

    id: str
    position: int
    since: float
    state: WaitingState
    conversation: str | None
    tools: tuple[str, ...]
    reason: str
    about: Any


class StoreCounts(Value):
    """The number of rounds in a store, by their states.

    Attributes:
        deferred: rounds in which a call waits for a person.
        pending: rounds that were decided, and whose calls are to be run.
        complete: rounds that only need their commit.
        running: rounds of processes that renew their leases.
        stuck: rounds of processes that seem to be dead.
        oldest: for how many seconds the oldest deferred round has waited; None if there is none.
    """

    deferred: int
    pending: int
    complete: int
    running: int
    stuck: int
    oldest: float | None


# --- the lists -----------------------------------------------------------------------------------


def waiting_rounds(
    db: Statements,
    *,
    conversation: str | None,
    tool: str | None,
    older_than: float | None,
    state: WaitingState | None,
    limit: int | None,
    after: int,
) -> list[WaitingRound]:
    """List the rounds that wait; see `Store.waiting`."""
    wanted: dict[str, Any] = {"position > ?": _whole_number("after", after)}
    if conversation is not None:
        wanted["conversation = ?"] = checked_conversation("the name of a transcript", conversation)
    if tool is not None:
        name = as_key("the name of a tool", tool).replace("|", " ")  # no tool has this character
        wanted["replace(tools, ?, '') <> tools"] = _joined_names([name])
    if state is not None:
        if state not in get_args(WaitingState):
            message = f"state must be one of {listed(get_args(WaitingState), 5)}, not {received(state)}"
            raise ValueError(message)
        wanted["state = ?"] = state
    most = None if limit is None else number_of_rows("limit", limit)
    if older_than is not None:
        wanted["waits <= ?"] = db.now() - seconds_of("older_than", older_than)
    columns = "id, position, waits, state, conversation, tools, shown"
    return [_waiting_round(row) for row in ROUNDS.waiting(db, columns, wanted, most)]


def counted_rounds(db: Statements) -> StoreCounts:
    """Count the rounds by their states."""
    query = (
        "SELECT state, since IS NULL, lease IS NOT NULL AND lease > ?, count(*), min(waits) FROM rounds "
        "GROUP BY 1, 2, 3"
    )
    found: dict[str, int] = {}
    oldest, now = None, db.now()
    for state, waits, lives, number, since in db.execute(query, (now,)).fetchall():
        kind = state if waits else "running" if lives else "stuck"
        found[kind] = found.get(kind, 0) + number
        if kind == "deferred" and isinstance(since, (int, float)):
            oldest = now - since
    kinds = ("deferred", "pending", "complete", "running", "stuck")
    return StoreCounts(**{kind: found.get(kind, 0) for kind in kinds}, oldest=oldest)


def stuck_rounds(db: Statements, seconds: float) -> list[StuckRound]:
    """List the rounds that a process took at least so many seconds ago, and that haven't ended."""
    least, now = seconds_of("seconds", seconds), db.now()
    columns = "id, since, round, begun, lease, owner, conversation, shown"
    return [_stuck_round(row, now) for row in ROUNDS.stuck(db, now, least, columns)]


def _stuck_round(row: Any, now: float) -> StuckRound:
    found, since, text, begun, lease, owner, conversation, shown = row
    is_named = isinstance(conversation, (str, NoneType))
    if (
        not isinstance(found, str)
        or not isinstance(since, (int, float))
        or begun not in {0, 1}
        or not is_named
    ):
        raise damaged(found)
    known = (is_valid(lease, now), owner_of(owner), conversation, _shown_data(found, shown)["about"])
    return StuckRound(found, now - since, _calls_to_run(text), bool(begun), *known)


def listed_columns(work: Round[Any], now: float) -> dict[str, Any]:
    """Return the columns for lists of waiting rounds."""
    deferred = work.deferred
    state = "deferred" if deferred else "pending" if work.pending else "complete"
    waits = min([now, *[call.deferred_at for call in deferred if call.deferred_at is not None]])
    reason = one_line(deferred[0].reason or "", 500) if deferred else ""
    return {
        "state": state,
        "waits": waits,
        "conversation": work.conversation,
        "tools": _joined_names([call.name for call in deferred]),
        "shown": json.dumps({"reason": reason, "about": work.about}),
    }


def _joined_names(names: Iterable[str]) -> str:
    """Return the names of tools as one text in which each name can be searched for."""
    return "|".join(["", *names, ""])


def _shown_data(round_id: object, text: object) -> dict[str, Any]:
    """Return what lists of rounds show about one round, read from its row."""
    try:
        found = json.loads(cast("str", text))
        return {"reason": str(found["reason"]), "about": found["about"]}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise damaged(round_id) from None


def _waiting_round(row: Any) -> WaitingRound:
    """Convert a row to a waiting round."""
    found, position, since, state, conversation, tools, shown = row
    is_named = isinstance(conversation, (str, NoneType)) and isinstance(tools, str) and isinstance(found, str)
    if not is_named or state not in get_args(WaitingState) or not isinstance(since, (int, float)):
        raise damaged(found)
    names = tuple([name for name in tools.split("|") if name])
    return WaitingRound(found, position, since, state, conversation, names, **_shown_data(found, shown))


def seconds_of(what: str, given: object) -> float:
    """Check and return a number of seconds."""
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        message = f"{what} must be a number, not {received(given)}"
        raise TypeError(message)
    number = float(min(max(given, -LARGEST_INTEGER), LARGEST_INTEGER))
    if isnan(number):  # databases compare it in different ways
        message = f"{what} must be a number of seconds, not {received(given)}"
        raise ValueError(message)
    return number


def _whole_number(what: str, given: object) -> int:
    """Return an integer that a database takes."""
    if isinstance(given, bool) or not isinstance(given, int):
        message = f"{what} must be an integer, not {received(given)}"
        raise TypeError(message)
    return max(-LARGEST_INTEGER, min(given, LARGEST_INTEGER))


def number_of_rows(what: str, given: object) -> int:
    """Return how many rows are read at most."""
    number = _whole_number(what, given)
    if number < 0:
        message = f"{what} must be 0 or more, not {received(given)}"
        raise ValueError(message)
    return number


def _calls_to_run(text: str) -> tuple[RawCall, ...]:
    """Return the calls of a saved round that were to run; none if the round can't be read."""
    try:
        calls = [call for call in json.loads(text)["calls"] if call["state"] == "pending"]
        whole = [without_texts(call, call.keys()) for call in calls]
        return tuple([RawCall(call["id"], call["name"], record_of(call)["arguments"]) for call in whole])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return ()
