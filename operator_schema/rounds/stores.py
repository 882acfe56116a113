"""Stores: databases in which rounds wait and conversations are kept."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from math import inf, isnan
from pathlib import Path
from time import monotonic, sleep
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args, overload

from ..errors import DecodeError
from ..files import unusable_database
from ..findings import Finding
from ..immutable import Value
from ..message_text import checked_path, exception_text, listed, one_line, received
from ..tools.calls import RawCall
from .databases import Claims, Database, SqliteDatabase, Statements, Tables, as_key
from .errors import RoundError, StoreError
from .input_copies import own_json
from .leases import Leases, Owner, owner_of
from .restore import RestoreError, with_ended
from .round import HookError, Round
from .serialization import DEPTH, save_ended, without_texts
from .signatures import check_secret
from .stored_rounds import StoredRound, calls_of_row, calls_of_turn
from .transcript import Turn, check_item, checked_conversation, checked_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from .errors import StoreErrorCode
    from .signatures import Secret
    from .tool_call import ToolCall
    from .toolset import Toolset

__all__ = [
    "SqliteStore",
    "Store",
    "StoreCounts",
    "StoredTranscript",
    "StuckRound",
    "WaitingRound",
    "WaitingState",
    "stored_records",
]

_TABLES = {
    "rounds": (
        "position COUNTER, id KEY NOT NULL UNIQUE, revision INTEGER NOT NULL, since REAL, "
        "begun INTEGER NOT NULL, lease REAL, owner TEXT, state TEXT NOT NULL, waits REAL NOT NULL, "
        "conversation KEY, tools TEXT NOT NULL, shown TEXT NOT NULL, round TEXT NOT NULL, before TEXT"
    ),
    "ended_calls": "position COUNTER, round KEY NOT NULL, revision INTEGER NOT NULL, saved TEXT NOT NULL",
    "items": "position COUNTER, transcript KEY NOT NULL, turn KEY UNIQUE, item TEXT NOT NULL",
}
_INDEXES = {
    "items_of_transcripts": "items (transcript, position)",
    "rounds_of_conversations": "rounds (conversation)",
    "calls_of_rounds": "ended_calls (round)",
}
_ROUNDS = Claims("rounds", "a round")
"""In a taken row, `before` is the round as it waited before, `begun` says whether its calls may be running,
and its process is known to be alive until `lease`. The columns from `state` to `shown` are for lists of
waiting rounds."""

_PAUSE = 0.1
"""How many seconds pass before the next try to save a round in a database that is away."""

_WAITS: Mapping[str, Any] = {"since": None, "before": None, "begun": 0, "lease": None, "owner": None}
"""The values of these columns in a row that waits."""


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


class Store:
    """Rounds that wait, and transcripts, in a database.

    Give it to an executor (`Executor(tools, store=store)`): a round then runs in only one process, and is
    saved before and after the run. Any number of threads, processes and machines may use the same database at
    once.

    Args:
        database: the database with its tables, which are created if they don't exist. `SqliteStore` and
            `PostgresStore` provide it.
        secret: your own key, as for `round.as_dict`. Somebody who can write to the database, but doesn't know
            the secret, can't change decisions.
        name: the name of this process in `stuck()`, beside its machine and its process id, such as "desk 3".
        lease: for how many seconds a running round belongs to its process, which renews the lease after a
            third of this time. If the process dies, the round can be taken back after the lease.

    Attributes:
        database: the given database.

    Raises:
        StoreError: the database can't be used, or has tables of these names with other columns. Every method
            that uses the database raises it if that fails.
        TypeError: the database isn't a `Database`, or the secret isn't bytes.
        ValueError: the secret is shorter than 16 bytes, or `lease` isn't a number of seconds above 0.
    """

    def __init__(
        self, database: Database, *, secret: Secret = None, name: str = "", lease: float = 30.0
    ) -> None:
        check_secret(secret)
        self._secret = secret
        self._name = checked_name("the name of a store", name)
        self._lease = _seconds("lease", lease)
        if not 0 < lease < inf:
            message = f"lease must be a number of seconds above 0, not {received(lease)}"
            raise ValueError(message)
        self.database = database
        self._connect()

    def _connect(self) -> None:
        self._leases = Leases(self._renew, self._lease)
        self._transaction = Tables(self.database, "the store", _TABLES, _INDEXES).transaction

    def transcript(self, name: str) -> StoredTranscript:
        """Return a conversation, which is empty at first.

        Args:
            name: the name of the conversation, such as the id of a customer.

        Raises:
            TypeError: the name isn't a string.
            ValueError: the name is empty, or has a lone surrogate, which no database can store.
        """
        return StoredTranscript(self, checked_conversation("the name of a transcript", name))

    def transcripts(self) -> list[str]:
        """List the names of the conversations that aren't empty, the oldest first."""
        query = "SELECT transcript FROM items GROUP BY transcript ORDER BY min(position)"
        with self._transaction(writes=False) as db:
            return [name for (name,) in db.execute(query).fetchall()]

    def load(self, round_id: str, toolset: Toolset[Any]) -> Round[Any]:
        """Return a waiting round for decisions about its calls; nothing is run or locked.

        Args:
            round_id: the id of the round.
            toolset: a toolset with its tools.

        Raises:
            RestoreError: the round no longer fits the toolset, or somebody changed it. You may continue with
                `error.round`, in which the calls that fit are unchanged.
            StoreError: the round is done, or is running.
            TypeError: `toolset` isn't a toolset.
        """
        _check_toolset(toolset)
        with self._transaction(writes=False) as db:
            row = _row(db, round_id)
        if row is None or row[1] is not None:
            raise _gone(round_id, row)
        return self._restored(round_id, row, toolset)

    def find(self, round_id: str) -> StoredRound:
        """Return what the store holds of a round, also one that runs, is stuck or was committed.

        It needs neither the tools nor the secret, so nothing says whether somebody changed the data.

        Args:
            round_id: of the round.

        Raises:
            StoreError: there is no such round, or something else wrote into its row.
        """
        key = as_key("the id of a round", round_id)
        columns = "round, revision, since, begun, lease, owner, state, waits, conversation"
        with self._transaction(writes=False) as db:
            row = _ROUNDS.read(db, round_id, columns)
            now = db.now()
            if row is None:
                query = "SELECT transcript, item FROM items WHERE turn = ?"
                row = db.execute(query, (key,)).fetchone()
                return self._committed(round_id, row)
            ended = _ended(db, key, row[1])
        return _stored_round(round_id, row, ended, now)

    def _committed(self, round_id: str, row: Any) -> StoredRound:
        """Return a round that is in a transcript.

        Raises:
            StoreError: it isn't.
        """
        if row is None:
            message = f"there is no round {_shown_id(round_id)}, and no turn of it in a transcript"
            raise StoreError(message, round_id, code="done")
        conversation, text = row
        with _reading(self.database):
            turn = Turn.from_dict(json.loads(text)["turn"])
        return StoredRound(round_id, "committed", None, conversation, turn.about, calls_of_turn(turn))

    def waiting(
        self,
        *,
        conversation: str | None = None,
        tool: str | None = None,
        older_than: float | None = None,
        state: WaitingState | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> list[WaitingRound]:
        """List the rounds that wait, the oldest first, without loading them.

        Args:
            conversation: only rounds of this conversation.
            tool: only rounds in which a call of this tool waits for a person.
            older_than: only rounds that have waited for at least this many seconds.
            state: only rounds that wait for decisions, for a run, or for their commit.
            limit: the maximum number; None for all.
            after: only rounds after this position, for the next page.

        Raises:
            StoreError: another program wrote into the row of a round.
            TypeError: an argument has a wrong type.
            ValueError: there is no such state, `limit` is below 0, `older_than` is NaN, or `conversation` is
                empty.
        """
        wanted: dict[str, Any] = {"position > ?": _whole("after", after)}
        if conversation is not None:
            wanted["conversation = ?"] = checked_conversation("the name of a transcript", conversation)
        if tool is not None:
            name = as_key("the name of a tool", tool).replace("|", " ")  # no tool has this character
            wanted["replace(tools, ?, '') <> tools"] = _named_tools([name])
        if state is not None:
            if state not in get_args(WaitingState):
                message = f"state must be one of {listed(get_args(WaitingState), 5)}, not {received(state)}"
                raise ValueError(message)
            wanted["state = ?"] = state
        most = None if limit is None else _number_of_rows("limit", limit)
        with self._transaction(writes=False) as db:
            if older_than is not None:
                wanted["waits <= ?"] = db.now() - _seconds("older_than", older_than)
            columns = "id, position, waits, state, conversation, tools, shown"
            rows = _ROUNDS.waiting(db, columns, wanted, most)
        return [_waiting_round(row) for row in rows]

    def counts(self) -> StoreCounts:
        """Count the rounds, for a page or an alert."""
        query = (
            "SELECT state, since IS NULL, lease IS NOT NULL AND lease > ?, count(*), min(waits) FROM rounds "
            "GROUP BY 1, 2, 3"
        )
        found: dict[str, int] = {}
        oldest = None
        with self._transaction(writes=False) as db:
            now = db.now()
            for state, waits, lives, number, since in db.execute(query, (now,)).fetchall():
                kind = state if waits else "running" if lives else "stuck"
                found[kind] = found.get(kind, 0) + number
                if kind == "deferred" and isinstance(since, (int, float)):
                    oldest = now - since
        kinds = ("deferred", "pending", "complete", "running", "stuck")
        return StoreCounts(**{kind: found.get(kind, 0) for kind in kinds}, oldest=oldest)

    def save(self, decided: Round[Any]) -> Round[Any]:
        """Save decisions about a round without running it; another process runs it later.

        This is for a process that decides, but must not be able to run the tools: it needs no executor, and
        its toolset may have tools without functions. The process that runs rounds finds it by
        `store.waiting(state="pending")`.

        Args:
            decided: the round with the decisions, which is to wait.

        Returns:
            The round, for further decisions.

        Raises:
            EncodeError: the round can't be written as JSON.
            StoreError: the round is done, is running, or somebody decided something else meanwhile.
            TypeError: `decided` isn't a round.
        """
        if not isinstance(decided, Round):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may break the annotation
            message = f"a store saves a round, such as round.approve(id), not {received(decided)}"
            raise TypeError(message)
        revision, saved = decided.revision, self._saved(decided)
        with self._transaction() as db:
            columns = {**saved, **_listed(decided, db.now())}
            if revision is None:
                is_saved = not _has_turn(db, decided.id) and _ROUNDS.add(
                    db, decided.id, **{**_WAITS, **columns}
                )
            else:
                is_saved = _ROUNDS.change(db, decided.id, revision, taken=False, **columns)
            if not is_saved:
                raise _gone(decided.id, _row(db, decided.id))
        return decided.replace(revision=(revision or 0) + 1)

    def stuck(self, seconds: float = 0.0) -> list[StuckRound]:
        """List the rounds that a process took and that haven't ended: it died, or is still running them.

        No process runs them again, because once a round has begun, nobody knows which calls did their work:
        see `take_back`.

        Args:
            seconds: how long ago the run must have begun; choose more than your tools may take. A run that
                began as far in the future is included too: the clock was set back, so nobody knows when it
                began.

        Raises:
            StoreError: another program wrote into the row of a round.
            TypeError: `seconds` isn't a number.
            ValueError: it is NaN.
        """
        least = _seconds("seconds", seconds)
        with self._transaction(writes=False) as db:
            now = db.now()
            columns = "id, since, round, begun, lease, owner, conversation, shown"
            rows = _ROUNDS.stuck(db, now, least, columns)
        return [_stuck(row, now) for row in rows]

    def take_back(self, round_id: str, toolset: Toolset[Any], *, force: bool = False) -> Round[Any]:
        """Return a round whose process died, so that it waits again.

        If the process died while hooks or people were deciding, nothing has run: the round is as before, and
        running it asks them again. Otherwise the calls that had ended have their results, and the other calls
        wait for a person. Approving such a call runs it, maybe for a second time; rejecting it tells the
        model what you know.

        Args:
            round_id: the id of a round in `stuck()`.
            toolset: a toolset with its tools.
            force: whether to take the round back even if its process seems to be alive. Make sure that the
                process doesn't run the round any more.

        Raises:
            RestoreError: as for `load`. The round still counts as running; then call `store.keep(error.round,
                error.round)`, which saves `error.round` as waiting.
            StoreError: the round is done, or waits; or its process renewed its lease a short time ago
                (`running`).
            TypeError: `toolset` isn't a toolset.
        """
        _check_toolset(toolset)
        with self._transaction() as db:
            row = _row(db, round_id)
            if row is None:
                raise _gone(round_id, row)
            if row[1] is None:
                message = f"{one_line(round_id, 100)} waits, and no process runs it: load it"
                raise StoreError(message, round_id, code="changed")
            lease, owner = _ROUNDS.read(db, round_id, "lease, owner")
            if not force and _is_valid(lease, now := db.now()):
                raise _running(round_id, owner_of(owner), lease - now)
            ended = _ended(db, round_id, row[0])
            after = self._restored(round_id, row, toolset, ended).replace(revision=row[0] + 1)
            self._let_wait(db, after, row[0], self._saved(after))
        return after

    def close(self) -> None:
        """Close the unused connections of this process; the next use opens new ones."""
        self.database.close()

    # --- for executors ---------------------------------------------------------------------------

    async def run(self, work: Round[Any], run: Callable[..., Awaitable[Round[Any]]]) -> Round[Any]:
        """Run a round in only one process at a time; for executors.

        Args:
            work: the round.
            run: a function that gets the round; a function to await with the round after all decisions,
                before its first call runs; and one to await with each call that has ended. Its attribute
                `may_decide` is False if no hook and no person is asked. With its attribute `in_thread`,
                threads use the database, so that the event loop never waits.

        Raises:
            StoreError: another process has the round; or the round ran and can't be saved. Then it is in
                `stuck()`, and `error.round` has the results.
            BaseException: `run` raised it; the store then has the results so far. If they can't be saved, a
                note says so.
        """
        in_thread: Any = getattr(run, "in_thread", _at_once)
        is_decided = not getattr(run, "may_decide", True)
        given = work.confirmed() if is_decided else work
        claimed = await in_thread(
            lambda: self.claim(given, begun=is_decided, is_renewed=True), self.give_back
        )
        self._leases.add(claimed.id, cast("int", claimed.revision))
        try:
            return await self._run(claimed, run, in_thread, is_decided=is_decided)
        finally:
            self._leases.remove(claimed.id)

    async def _run(
        self,
        claimed: Round[Any],
        run: Callable[..., Awaitable[Round[Any]]],
        in_thread: Any,
        *,
        is_decided: bool,
    ) -> Round[Any]:
        """Run a round that this process has taken, and save the outcome; see `run`."""
        begun: list[Round[Any]] = [claimed] if is_decided else []
        left = 0

        async def begin(decided: Round[Any]) -> None:
            nonlocal left
            left = sum(call.tool.has_function for call in decided.pending)
            if not begun:
                await in_thread(lambda: self.begin(decided))
                begun.append(decided)

        async def ended(call: ToolCall[Any]) -> None:
            nonlocal left
            left -= 1
            if left > 0:  # the last one is saved with the round
                await in_thread(lambda: self.keep_call(claimed, call))

        try:
            after = await run(claimed, begin, ended)
        except HookError as error:  # nothing has run, so the caller may run the round again
            with _noting(error, claimed, begun):
                await in_thread(lambda: self.give_back(claimed), is_last=True)
            raise
        except BaseException as error:  # also if cancelled or interrupted: results of calls must be saved
            so_far: Any = getattr(error, "round", None) or (begun or [claimed])[0].current()
            with _noting(error, claimed, begun):
                kept = await in_thread(lambda: self.keep(claimed, so_far), is_last=True)
                if hasattr(error, "round"):
                    cast("Any", error).round = kept
            raise
        try:
            kept = await in_thread(lambda: self.keep(claimed, after))
        except Exception as error:
            raise StoreError(_unsaved(claimed, begun, error), claimed.id, after, code="unsaved") from error
        return cast("Round[Any]", kept)

    def claim(self, work: Round[Any], *, begun: bool = False, is_renewed: bool = False) -> Round[Any]:
        """Save a round as taken by this process alone; for executors.

        Args:
            work: the round.
            begun: whether its calls run from now on, because no decisions are needed any more.
            is_renewed: whether the round has a lease, which `run` renews.

        Raises:
            EncodeError: the round can't be written as JSON.
            StoreError: the round is done or was committed, is running, or somebody decided something else
                meanwhile.
        """
        revision, new = work.revision, self._saved(work)
        with self._transaction() as db:
            now = db.now()
            new |= {"since": now, "begun": int(begun), "owner": Owner.here(self._name).text()}
            new["lease"] = now + self._lease if is_renewed else None
            if revision is None:
                is_ours = not _has_turn(db, work.id) and _ROUNDS.add(
                    db, work.id, before=None, **{**_listed(work, now), **new}
                )
            else:
                row = _row(db, work.id)
                new["before"] = row and row[2]
                is_ours = _ROUNDS.change(db, work.id, revision, taken=False, **new)
            if not is_ours:
                raise _gone(work.id, _row(db, work.id))
        return work.replace(revision=(revision or 0) + 1)

    def begin(self, decided: Round[Any]) -> None:
        """Save the decisions about a claimed round, and that its calls run from now on; for executors.

        Raises:
            EncodeError: the round can't be written as JSON.
            StoreError: somebody took it back meanwhile.
        """
        revision: Any = decided.revision
        new = self._saved(decided)
        with self._transaction() as db:
            new |= {"since": db.now(), "begun": 1}
            if not _ROUNDS.change(db, decided.id, revision, taken=True, step=0, **new):
                raise _gone(decided.id, _row(db, decided.id), "taken_back")

    def keep_call(self, claimed: Round[Any], call: ToolCall[Any]) -> None:
        """Save a call that has ended while others of its round still run; for executors.

        Args:
            claimed: the return value of `claim`.
            call: the call, after it ran.

        Raises:
            EncodeError: the call can't be written as JSON.
        """
        text = json.dumps(save_ended(claimed.id, call, self._secret))
        query = (
            "INSERT INTO ended_calls (round, revision, saved) "
            "SELECT id, revision, ? FROM rounds WHERE id = ? AND revision = ? AND since IS NOT NULL"
        )
        with self._transaction() as db:
            db.execute(query, (text, claimed.id, claimed.revision))

    def keep(self, claimed: Round[Any], after: Round[Any]) -> Round[Any]:
        """Save a round after it ran, as waiting; for executors.

        If the database is away, it tries again as long as a lease lasts.

        Args:
            claimed: the return value of `claim`, or the round of a `RestoreError` of `take_back`.
            after: the round with the results of its calls.

        Raises:
            StoreError: somebody took it back meanwhile; or the database is away.
        """
        revision: Any = claimed.revision
        kept = after.replace(revision=revision + 1)
        saved = self._saved(kept)
        until, has_failed = monotonic() + self._lease, False
        while True:
            try:
                with self._transaction() as db:
                    if not (has_failed and _is_kept(db, kept, saved)):
                        self._let_wait(db, kept, revision, saved)
            except StoreError as error:
                cause = error.__cause__
                if cause is None or monotonic() >= until or not self.database.is_away(cause):
                    raise
            else:
                return kept
            has_failed = True
            sleep(_PAUSE)

    def give_back(self, claimed: Round[Any]) -> None:
        """Undo `claim` for a round of which no call has run; for executors.

        Raises:
            StoreError: somebody took it back meanwhile.
        """
        revision: Any = claimed.revision
        with self._transaction() as db:
            row = _row(db, claimed.id)
            if row is not None and row[3] is None:
                is_done = _ROUNDS.delete(db, claimed.id, revision, taken=True)
            else:
                old = {**_WAITS, "round": row and row[3]}
                is_done = _ROUNDS.change(db, claimed.id, revision, taken=True, step=-1, **old)
            if not is_done:
                raise _gone(claimed.id, row, "taken_back")

    # --- inside ----------------------------------------------------------------------------------

    def _saved(self, work: Round[Any]) -> dict[str, Any]:
        """Return the columns that contain the whole round."""
        return {"round": json.dumps(work.as_dict(secret=self._secret))}

    def _renew(self, running: Mapping[str, int]) -> None:
        """Renew the leases of rounds that run here, unless somebody took them back."""
        query = "UPDATE rounds SET lease = ? WHERE id = ? AND revision = ? AND since IS NOT NULL"
        with self._transaction() as db:
            until = db.now() + self._lease
            for round_id in sorted(running):  # in one order, so that processes never wait for each other
                db.execute(query, (until, round_id, running[round_id]))

    def _restored(
        self, round_id: str, row: Any, toolset: Toolset[Any], ended: Sequence[str] = ()
    ) -> Round[Any]:
        """Return the round of a row in its revision; if its calls had begun, the unfinished ones wait.

        Raises:
            RestoreError: the round no longer fits; or it is another round, whose own signature would be
                correct.
        """
        problems: Sequence[Finding] = ()
        try:
            found: Any = toolset.restore_round(row[2], secret=self._secret)
        except RestoreError as error:
            problems, found = error.findings, error.round
        if found is not None and found.id != round_id:
            message = f"the data are those of another round, {one_line(found.id, 100)}"
            problems, found = [Finding((), "data_changed", message, tool="")], None
        if found is not None:
            found = found.replace(revision=row[0]).with_expired()
        if found is not None and row[4]:
            try:
                found = with_ended(found, ended, self._secret)
            except RestoreError as error:
                problems, found = [*problems, *error.findings], error.round
            found = found.interrupted()
        if problems:
            raise RestoreError(problems, found)
        return cast("Round[Any]", found)

    def _let_wait(self, db: Statements, work: Round[Any], revision: int, saved: Mapping[str, Any]) -> None:
        new = {**saved, **_listed(work, db.now()), **_WAITS}
        if not _ROUNDS.change(db, work.id, revision, taken=True, **new):
            raise _gone(work.id, _row(db, work.id), "taken_back")
        db.execute("DELETE FROM ended_calls WHERE round = ?", (work.id,))

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_leases", "_transaction"}
        return {name: value for name, value in vars(self).items() if name not in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._connect()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.database)!r})"


class SqliteStore(Store):
    """Rounds that wait, and transcripts, in a file of SQLite.

    Reading never waits for writing, nor writing for reading (WAL mode), and connections stay open. So the
    newest rows may be in a file beside this one, named `…-wal`: `close` the store before you copy the file. A
    process that may only read the file can list and load its rounds.

    Args:
        path: path of the file, which is created if it doesn't exist.
        secret: the secret, as for `Store`.
        name: the name, as for `Store`.
        lease: the lease, as for `Store`.

    Raises:
        StoreError: the file can't be opened, isn't a database of SQLite, or another version of this package
            made it. Every method that uses the file raises it if SQLite fails.
        TypeError: the path isn't a path, or the secret isn't bytes.
        ValueError: the secret is shorter than 16 bytes, or the path names a database in memory.
    """

    def __init__(
        self, path: str | PathLike[str], *, secret: Secret = None, name: str = "", lease: float = 30.0
    ) -> None:
        database = SqliteDatabase(checked_path("the path of a store", path))
        super().__init__(database, secret=secret, name=name, lease=lease)


class StoredTranscript:
    """A conversation in a store; made by `store.transcript`.

    It contains, in order, messages of the user (a string is one), messages in the form of a provider, and
    turns.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    @property
    def name(self) -> str:
        """The name of the conversation."""
        return self._name

    def append(self, item: Any, /) -> None:
        """Add a turn or a message.

        Raises:
            RoundError: the turn was added before.
            StoreError: the turn belongs to a round that waits in the store: commit that round.
            TypeError: the item isn't JSON, or nests too deeply; or a transcript in memory refuses it, too.
        """
        if isinstance(item, Turn):
            self.commit_turn(item, None)
            return
        try:
            text = json.dumps(own_json(item, DEPTH))
        except ValueError as error:
            message = f"an item of a transcript is a turn or JSON: {error}"
            raise TypeError(message) from None
        check_item(item)
        with self._store._transaction() as db:  # noqa: SLF001  # one thought with it
            db.execute("INSERT INTO items (transcript, item) VALUES (?, ?)", (self._name, text))

    def commit_turn(self, turn: Turn, revision: int | None, /) -> None:
        """Add the turn of a round and delete the round, in one transaction; for `round.commit`.

        Raises:
            RoundError: the turn was added before.
            StoreError: the round is running, or somebody decided something else meanwhile.
        """
        text = json.dumps({"turn": turn.as_dict()})
        with self._store._transaction() as db:  # noqa: SLF001  # as above
            values = (self._name, turn.id, text)
            added = db.execute(
                "INSERT INTO items (transcript, turn, item) VALUES (?, ?, ?) ON CONFLICT (turn) DO NOTHING",
                values,
            )
            if added.rowcount != 1:
                message = "this turn is in a transcript already: it was committed before"
                raise RoundError(message)
            row = _row(db, turn.id)
            is_as_read = (
                (row is None) if revision is None else _ROUNDS.delete(db, turn.id, revision, taken=False)
            )
            if not is_as_read:
                raise _gone(turn.id, row)

    def _items(self, rest: str = "", *values: int) -> list[Any]:
        """Return items, the oldest first; `rest` is the rest of the query."""
        query = f"SELECT turn, item FROM items WHERE transcript = ? ORDER BY position {rest}"  # noqa: S608  # a text of this class
        with self._store._transaction(writes=False) as db:  # noqa: SLF001  # as above
            rows = db.execute(query, (self._name, *values)).fetchall()
        with _reading(self._store.database):
            items = [(turn, json.loads(text)) for turn, text in rows]
            return [item if turn is None else Turn.from_dict(item["turn"]) for turn, item in items]

    def last(self, count: int) -> list[Any]:
        """Return the newest items, the oldest of them first, without reading the others.

        Args:
            count: the maximum number of items.

        Raises:
            TypeError: `count` isn't an integer.
            ValueError: `count` is below 0.
        """
        return self._items("DESC LIMIT ?", _number_of_rows("count", count))[::-1]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __len__(self) -> int:
        query = "SELECT count(*) FROM items WHERE transcript = ?"
        with self._store._transaction(writes=False) as db:  # noqa: SLF001  # as above
            (count,) = db.execute(query, (self._name,)).fetchone()
        return int(count)

    def __bool__(self) -> bool:
        return bool(self.last(1))

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        """Return one item without reading the others; or the items of a slice."""
        if isinstance(index, slice):
            return self._items()[index]
        order, at = ("", index) if index >= 0 else ("DESC", -1 - index)
        found = self._items(f"{order} LIMIT 1 OFFSET ?", min(at, _LARGEST_INTEGER))
        if not found:
            message = f"the transcript has no item {index}"
            raise IndexError(message)
        return found[0]

    def __repr__(self) -> str:
        return f"<StoredTranscript {one_line(self._name, 100)!r} of {len(self)}>"


def stored_records(path: str | PathLike[str]) -> Iterator[Any]:
    """Yield the content of a store, in the order in which it was stored; the file is only read.

    The content is read in pages, with no lock while the caller uses an item, so writers never wait. A turn
    that is committed meanwhile is yielded as a turn or as its round.

    Args:
        path: the path of the file of a `SqliteStore`.

    Yields:
        A list of calls, each an object with `name` and `arguments`, for each turn of a transcript and then
        for each round that waits or runs; and each message of a transcript unchanged.

    Raises:
        StoreError: the file can't be read, or isn't a store.
        TypeError: the path isn't a path.
    """
    name = checked_path("the path of a store", path)
    if not Path(name).is_file():
        error = sqlite3.OperationalError("unable to open database file")
        raise StoreError(unusable_database("the store", name, error), code="unavailable") from error
    database = SqliteDatabase(name)
    try:
        with _reading(name), closing(database):
            newest = 0
            for position, turn, text in _pages(database, "turn, item", "items", 0):
                item, newest = json.loads(text), position
                yield item if turn is None else _calls_sent(item["turn"])
            seen: set[str] = set()
            for _, found, text in _pages(database, "id, round", "rounds", 0):
                seen.add(found)
                yield _calls_sent(json.loads(text))
            for _, turn, text in _pages(database, "turn, item", "items", newest):
                if turn is not None and turn not in seen:  # committed between the pages
                    yield _calls_sent(json.loads(text)["turn"])
    except sqlite3.Error as error:
        raise StoreError(unusable_database("the store", name, error), code="unavailable") from error


_PAGE = 100
"""The number of rows that are read at once."""


def _pages(database: Database, columns: str, table: str, after: int) -> Iterator[Any]:
    """Yield the rows of a table after a position, with their positions; each page has its own transaction."""
    query = f"SELECT position, {columns} FROM {table} WHERE position > ? ORDER BY position LIMIT {_PAGE}"  # noqa: S608  # names of this module
    rows: list[Any] = [None]
    while rows:
        with database.transaction(writes=False) as db:
            rows = db.execute(query, (after,)).fetchall()
        yield from rows
        after = rows[-1][0] if rows else after


@contextmanager
def _reading(where: object) -> Generator[None]:
    """Convert errors of reading to a `StoreError`: another program or version wrote the data."""
    try:
        yield
    except (DecodeError, KeyError, RecursionError, TypeError, ValueError) as error:
        message = f"the store {one_line(str(where), 200)} contains something other than turns and rounds"
        raise StoreError(message, code="damaged") from error


def _stuck(row: Any, now: float) -> StuckRound:
    found, since, text, begun, lease, owner, conversation, shown = row
    is_named = isinstance(conversation, (str, NoneType))
    if (
        not isinstance(found, str)
        or not isinstance(since, (int, float))
        or begun not in {0, 1}
        or not is_named
    ):
        raise _damaged(found)
    known = (_is_valid(lease, now), owner_of(owner), conversation, _shown(found, shown)["about"])
    return StuckRound(found, now - since, _calls_to_run(text), bool(begun), *known)


def _stored_round(round_id: str, row: Any, ended: Sequence[str], now: float) -> StoredRound:
    """Return the round of a row.

    Raises:
        StoreError: something else wrote it.
    """
    text, revision, since, begun, lease, owner, state, waits, conversation = row
    try:
        calls, about = calls_of_row(text, ended)
    except (DecodeError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise _damaged(round_id) from None
    if since is not None:
        state, waits = ("running" if _is_valid(lease, now) else "stuck"), since
    known = (conversation, about, calls, revision, bool(begun), owner_of(owner))
    return StoredRound(round_id, state, waits, *known)


def _is_valid(lease: object, now: float) -> bool:
    """Return whether a lease ends later than now."""
    return isinstance(lease, (int, float)) and lease > now


def _running(round_id: str, owner: Owner | None, seconds: float) -> StoreError:
    """Return the error for a round that another process runs, according to its lease."""
    who = "another process" if owner is None else str(owner)
    message = (
        f"{one_line(round_id, 100)} runs now: {who} has it for another {seconds:.0f} seconds, unless it "
        "renews that; wait until then, or give force=True if you know that it died"
    )
    return StoreError(message, round_id, code="running")


def _listed(work: Round[Any], now: float) -> dict[str, Any]:
    """Return the columns for lists of waiting rounds."""
    deferred = work.deferred
    state = "deferred" if deferred else "pending" if work.pending else "complete"
    waits = min([now, *[call.deferred_at for call in deferred if call.deferred_at is not None]])
    reason = one_line(deferred[0].reason or "", 500) if deferred else ""
    return {
        "state": state,
        "waits": waits,
        "conversation": work.conversation,
        "tools": _named_tools([call.name for call in deferred]),
        "shown": json.dumps({"reason": reason, "about": work.about}),
    }


def _named_tools(names: Iterable[str]) -> str:
    """Return the names of tools as one text in which each name can be searched for."""
    return "|".join(["", *names, ""])


def _shown(round_id: object, text: object) -> dict[str, Any]:
    """Return the data of a round for lists, from its row.

    Raises:
        StoreError: another program wrote the row.
    """
    try:
        found = json.loads(cast("str", text))
        return {"reason": str(found["reason"]), "about": found["about"]}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise _damaged(round_id) from None


def _waiting_round(row: Any) -> WaitingRound:
    """Convert a row to a waiting round.

    Raises:
        StoreError: another program wrote the row.
    """
    found, position, since, state, conversation, tools, shown = row
    is_named = isinstance(conversation, (str, NoneType)) and isinstance(tools, str) and isinstance(found, str)
    if not is_named or state not in get_args(WaitingState) or not isinstance(since, (int, float)):
        raise _damaged(found)
    names = tuple([name for name in tools.split("|") if name])
    return WaitingRound(found, position, since, state, conversation, names, **_shown(found, shown))


def _seconds(what: str, given: object) -> float:
    """Check and return a number of seconds.

    Raises:
        TypeError: the value isn't a number.
        ValueError: the value is NaN.
    """
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        message = f"{what} must be a number, not {received(given)}"
        raise TypeError(message)
    number = float(min(max(given, -_LARGEST_INTEGER), _LARGEST_INTEGER))
    if isnan(number):  # databases compare it in different ways
        message = f"{what} must be a number of seconds, not {received(given)}"
        raise ValueError(message)
    return number


def _whole(what: str, given: object) -> int:
    """Return an integer that a database takes.

    Raises:
        TypeError: it isn't an integer.
    """
    if isinstance(given, bool) or not isinstance(given, int):
        message = f"{what} must be an integer, not {received(given)}"
        raise TypeError(message)
    return max(-_LARGEST_INTEGER, min(given, _LARGEST_INTEGER))


def _number_of_rows(what: str, given: object) -> int:
    """Return how many rows are read at most.

    Raises:
        TypeError: it isn't an integer.
        ValueError: it is below 0.
    """
    number = _whole(what, given)
    if number < 0:
        message = f"{what} must be 0 or more, not {received(given)}"
        raise ValueError(message)
    return number


def _damaged(round_id: object) -> StoreError:
    """Return the error for a row that another program wrote: SQLite accepts any value in any column."""
    name = one_line(str(round_id), 100)
    return StoreError(
        f"the row of {name} in the store contains something other than a round", name, code="damaged"
    )


def _calls_to_run(text: str) -> tuple[RawCall, ...]:
    """Return the calls of a saved round that were to run; none if the round can't be read."""
    try:
        calls = [call for call in json.loads(text)["calls"] if call["state"] == "pending"]
        whole = [without_texts(call, call.keys()) for call in calls]
        return tuple([RawCall(call["id"], call["name"], _record_of(call)["arguments"]) for call in whole])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return ()


def _calls_sent(saved: Any) -> list[dict[str, Any]]:
    """Return the calls of a turn or a round as the model sent them; if others ran, these too."""
    calls = [without_texts(call, call.keys()) for call in saved["calls"]]
    results = saved.get("results", [call.get("result") or {} for call in calls])
    return [_record_of(call, result.get("changed")) for call, result in zip(calls, results, strict=True)]


def _record_of(call: dict[str, Any], changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the arguments that a saved call runs with; its result or the call itself has the changes."""
    sent, changed = call.get("arguments"), changed or call.get("changed")
    names: dict[str, Any] = {name: call[name] for name in ("name", "sent_name") if name in call}
    if changed is None:
        return {**names, "arguments": sent}
    return {**names, "arguments": changed["arguments"], "sent": sent}


def _check_toolset(given: object) -> None:
    """Check the toolset given for a round.

    Raises:
        TypeError: the object isn't a toolset.
    """
    if hasattr(given, "restore_round"):
        return
    ways = {
        "toolset": "give its toolset",
        "registry": "give its registry.toolset",
        "append": "write Toolset(…)",
    }
    found = [remedy for name, remedy in ways.items() if hasattr(given, name)]  # registry, executor, list
    what = f"a round is made with a toolset that has its tools, not with {received(given)}"
    raise TypeError(": ".join([what, *found[:1]]))


_LARGEST_INTEGER = 2**63 - 1
"""The largest integer that a database can store."""


def _row(db: Statements, round_id: str) -> Any:
    """Return a round's revision, run start, data, earlier data, and whether its calls began; or None.

    Raises:
        StoreError: another program wrote into its row.
    """
    row = _ROUNDS.read(db, round_id, "revision, since, round, before, begun")
    if row is None:
        return None
    revision, since, data, before, begun = row
    is_counted = isinstance(revision, int) and revision < _LARGEST_INTEGER
    has_times = isinstance(since, (int, float, NoneType))
    if (
        not is_counted
        or not has_times
        or not isinstance(data, str)
        or not isinstance(before, (str, NoneType))
        or begun not in {0, 1}
    ):
        raise _damaged(round_id)
    return row


def _ended(db: Statements, round_id: str, revision: int) -> list[str]:
    """Return the saved calls that ended in one run of a round, in order.

    A database may commit such a row after the end of its run, so rows of an earlier run may be there too.
    """
    query = "SELECT saved FROM ended_calls WHERE round = ? AND revision = ? ORDER BY position"
    return [text for (text,) in db.execute(query, (round_id, revision)).fetchall()]


def _is_kept(db: Statements, kept: Round[Any], saved: Mapping[str, Any]) -> bool:
    """Return whether a round is saved already: the database went away before it answered the commit."""
    row = _row(db, kept.id)
    return row is not None and tuple(row[:3]) == (kept.revision, None, saved["round"])


def _has_turn(db: Statements, round_id: str) -> bool:
    """Return whether the turn of a round is in a transcript."""
    return db.execute("SELECT 1 FROM items WHERE turn = ?", (round_id,)).fetchone() is not None


async def _at_once(use: Callable[[], Any], *_: object, **__: object) -> Any:
    """Use the store in this thread."""
    return use()


@contextmanager
def _noting(error: BaseException, claimed: Round[Any], begun: Sequence[object]) -> Generator[None]:
    """If the block can't save the round, add a note to the exception that was raised before."""
    try:
        yield
    except Exception as failure:  # noqa: BLE001  # whatever it is: the first exception is raised
        error.add_note(_unsaved(claimed, begun, failure))


def _unsaved(claimed: Round[Any], begun: Sequence[object], error: Exception) -> str:
    """Write that a round can't be saved, whether it ran, and where it is now."""
    ran = "after its run" if begun else "(nothing has run)"
    is_taken = isinstance(error, StoreError) and error.round_id is not None  # by a process, so it isn't stuck
    where = "" if is_taken else ", so it is one of store.stuck()"
    return f"{claimed.id} can't be saved {ran}{where}: {exception_text(error)}"


def _shown_id(round_id: str) -> str:
    return one_line(round_id, 100) or '""'


def _gone(round_id: str, row: Any, code: StoreErrorCode = "changed") -> StoreError:
    """Return the error for a round that isn't available now.

    Args:
        round_id: the id of the round.
        row: the present row of the round.
        code: the code of the error if the round waits.
    """
    name = _shown_id(round_id)
    if row is None:
        return StoreError(f"{name} is done, or was never stored", round_id, code="done")
    if row[1] is not None:
        message = f"{name} runs now, or its process died: see store.stuck()"
        return StoreError(message, round_id, code="running")
    return StoreError(f"{name} was changed in the meantime: load it again", round_id, code=code)
