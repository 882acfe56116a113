"""How does a store read the row of a round, and what is wrong with it?"""

from __future__ import annotations

from contextlib import contextmanager
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DecodeError
from ..message_text import one_line
from .claims import Claims
from .errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from .databases import Statements
    from .errors import StoreErrorCode
    from .leases import Owner
    from .round import Round

ROUNDS = Claims("rounds", "a round")
"""In a taken row, `before` is the round as it waited before, `begun` says whether its calls may be running,
and its process is known to be alive until `lease`. The columns from `state` to `shown` are for lists of
waiting rounds."""

LARGEST_INTEGER = 2**63 - 1
"""The largest integer that a database can store."""


class RoundRow(NamedTuple):
    """The row of a round.

    Attributes:
        revision: how often it was saved.
        since: when a process took it; None if it waits.
        round: the saved round.
        before: the round as it waited before; None if it never did.
        begun: 1 if its calls may be running, otherwise 0.
    """

    revision: int
    since: float | None
    round: str
    before: str | None
    begun: int


def row_of(db: Statements, round_id: str) -> RoundRow | None:
    """Return the row of a round; None if there is none."""
    found = ROUNDS.read(db, round_id, ", ".join(RoundRow._fields))
    if found is None:
        return None
    revision, since, text, before, begun = found
    is_counted = isinstance(revision, int) and revision < LARGEST_INTEGER
    has_time = isinstance(since, (int, float, NoneType))
    has_texts = isinstance(text, str) and isinstance(before, (str, NoneType))
    if not (is_counted and has_time and has_texts and begun in {0, 1}):
        raise damaged(round_id)
    return RoundRow(*found)


def ended_in(db: Statements, round_id: str, revision: int) -> list[str]:
    """Return the saved calls that ended in one run of a round, in order.

    A database may commit such a row after the end of its run, so rows of an earlier run may be there too.
    """
    query = "SELECT saved FROM ended_calls WHERE round = ? AND revision = ? ORDER BY position"
    return [text for (text,) in db.execute(query, (round_id, revision)).fetchall()]


def is_kept(db: Statements, kept: Round[Any], saved: Mapping[str, Any]) -> bool:
    """Return whether a round is saved already: the database went away before it answered the commit.

    Raises:
        StoreError: somebody has changed the round since, so nobody can tell.
    """
    row = row_of(db, kept.id)
    if row is None or row.revision > (kept.revision or 0):
        message = (
            f"the database went away before it answered whether {shown_id(kept.id)} is saved, and somebody "
            "went on with it since: store.find(…) returns what is saved"
        )
        raise StoreError(message, kept.id, code="changed")
    return row[:3] == (kept.revision, None, saved["round"])


def has_turn(db: Statements, round_id: str) -> bool:
    """Return whether the turn of a round is in a transcript."""
    return db.execute("SELECT 1 FROM items WHERE turn = ?", (round_id,)).fetchone() is not None


def is_valid(lease: object, now: float) -> bool:
    """Return whether a lease ends later than now."""
    return isinstance(lease, (int, float)) and lease > now


# --- what is wrong ---------------------------------------------------------------------------------


def damaged(round_id: object) -> StoreError:
    """Return the error for a row that another program wrote: SQLite accepts any value in any column."""
    name = one_line(str(round_id), 100)
    return StoreError(
        f"the row of {name} in the store contains something other than a round", name, code="damaged"
    )


def running_elsewhere(round_id: str, owner: Owner | None, seconds: float) -> StoreError:
    """Return the error for a round that another process runs, according to its lease."""
    who = "another process" if owner is None else str(owner)
    message = (
        f"{one_line(round_id, 100)} runs now: {who} has it for another {seconds:.0f} seconds, unless it "
        "renews that; wait until then, or give force=True if you know that it died"
    )
    return StoreError(message, round_id, code="running")


def shown_id(round_id: str) -> str:
    """Return the id of a round for a message, which shows that an id is empty."""
    return one_line(round_id, 100) or '""'


def gone(round_id: str, row: RoundRow | None, code: StoreErrorCode = "changed") -> StoreError:
    """Return the error for a round that isn't available now; `code` is for a round that waits."""
    name = shown_id(round_id)
    if row is None:
        return StoreError(f"{name} is done, or was never stored", round_id, code="done")
    if row.since is not None:
        message = f"{name} runs now, or its process died: see store.stuck()"
        return StoreError(message, round_id, code="running")
    return StoreError(f"{name} was changed in the meantime: load it again", round_id, code=code)


@contextmanager
def reading(where: object) -> Generator[None]:
    """Convert errors of reading data to a `StoreError`: another program or version wrote them."""
    try:
        yield
    except (DecodeError, KeyError, RecursionError, TypeError, ValueError) as error:
        message = f"the store {one_line(str(where), 200)} contains something other than turns and rounds"
        raise StoreError(message, code="damaged") from error
