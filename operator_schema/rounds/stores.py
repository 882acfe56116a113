"""Stores: how do rounds wait in a database, and run in one process at a time?"""

from __future__ import annotations

import json
from contextlib import contextmanager
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from ..findings import Finding
from ..message_text import checked_path, exception_text, one_line, received
from .claims import as_key
from .databases import Database, SqliteDatabase, Tables
from .errors import StoreError
from .leases import Leases, Owner, owner_of
from .listed_rounds import (
    counted_rounds,
    listed_columns,
    seconds_of,
    stuck_rounds,
    waiting_rounds,
)
from .restore import RestoreError, with_ended
from .round import HookError, Round
from .serialization import save_ended
from .signatures import check_secret
from .store_rows import (
    ROUNDS,
    ended_in,
    gone,
    has_turn,
    is_kept,
    is_valid,
    reading,
    row_of,
    running_elsewhere,
    shown_id,
)
from .stored_rounds import StoredRound, calls_of_turn, stored_round
from .stored_transcripts import StoredTranscript
from .transcript import Turn, checked_conversation, checked_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
    from os import PathLike

    from .databases import Statements
    from .listed_rounds import StoreCounts, StuckRound, WaitingRound, WaitingState
    from .signatures import Secret
    from .store_rows import RoundRow
    from .tool_call import ToolCall
    from .toolset import Toolset

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
_PAUSE = 0.1
"""How many seconds pass before the next try to save a round in a database that is away."""

_WAITS: Mapping[str, Any] = {"since": None, "before": None, "begun": 0, "lease": None, "owner": None}
"""The values of these columns in a row that waits."""


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
        self._lease = seconds_of("lease", lease)
        if not 0 < lease < inf:
            message = f"lease must be a number of seconds above 0, not {received(lease)}"
            raise ValueError(message)
        self.database = database
        self._connect()

    def _connect(self) -> None:
        self._leases = Leases(self._renew, self._lease)
        self._tables = Tables(self.database, "the store", _TABLES, _INDEXES)

    def transcript(self, name: str) -> StoredTranscript:
        """Return a conversation, which is empty at first.

        Args:
            name: the name of the conversation, such as the id of a customer.

        Raises:
            TypeError: the name isn't a string.
            ValueError: the name is empty, or has a lone surrogate, which no database can store.
        """
        return StoredTranscript(self._tables, checked_conversation("the name of a transcript", name))

    def transcripts(self) -> list[str]:
        """List the names of the conversations that aren't empty, the oldest first."""
        query = "SELECT transcript FROM items GROUP BY transcript ORDER BY min(position)"
        with self._tables.transaction(writes=False) as db:
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
        with self._tables.transaction(writes=False) as db:
            row = row_of(db, round_id)
        if row is None or row.since is not None:
            raise gone(round_id, row)
        return self._restored(round_id, row, toolset)

    def find(self, round_id: str) -> StoredRound:
        """Return the stored data of a round, even if it runs, is stuck or was committed.

        It needs neither the tools nor the secret, so nothing says whether somebody changed the data.

        Args:
            round_id: of the round.

        Raises:
            StoreError: there is no such round, or something else wrote into its row.
        """
        key = as_key("the id of a round", round_id)
        columns = "round, revision, since, begun, lease, owner, state, waits, conversation"
        with self._tables.transaction(writes=False) as db:
            row = ROUNDS.read(db, round_id, columns)
            now = db.now()
            if row is None:
                query = "SELECT transcript, item FROM items WHERE turn = ?"
                row = db.execute(query, (key,)).fetchone()
                return self._committed(round_id, row)
            ended = ended_in(db, key, row[1])
        return stored_round(round_id, row, ended, now)

    def _committed(self, round_id: str, row: Any) -> StoredRound:
        """Return a round that is in a transcript."""
        if row is None:
            message = f"there is no round {shown_id(round_id)}, and no turn of it in a transcript"
            raise StoreError(message, round_id, code="done")
        conversation, text = row
        with reading(self.database):
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
        with self._tables.transaction(writes=False) as db:
            return waiting_rounds(
                db,
                conversation=conversation,
                tool=tool,
                older_than=older_than,
                state=state,
                limit=limit,
                after=after,
            )

    def counts(self) -> StoreCounts:
        """Count the rounds, for a page or an alert."""
        with self._tables.transaction(writes=False) as db:
            return counted_rounds(db)

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
        saved = self._saved(decided)
        with self._tables.transaction() as db:
            listed = listed_columns(decided, db.now())
            return _put(db, decided, new={**_WAITS, **listed, **saved}, changed={**listed, **saved})

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
        with self._tables.transaction(writes=False) as db:
            return stuck_rounds(db, seconds)

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
        with self._tables.transaction() as db:
            row = row_of(db, round_id)
            if row is None:
                raise gone(round_id, row)
            if row.since is None:
                message = f"{one_line(round_id, 100)} waits, and no process runs it: load it"
                raise StoreError(message, round_id, code="changed")
            lease, owner = ROUNDS.read(db, round_id, "lease, owner")
            if not force and is_valid(lease, now := db.now()):
                raise running_elsewhere(round_id, owner_of(owner), lease - now)
            ended = ended_in(db, round_id, row.revision)
            after = self._restored(round_id, row, toolset, ended).replace(revision=row.revision + 1)
            self._let_wait(db, after, row.revision, self._saved(after))
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
            return await _StoredRun(self, claimed, in_thread, is_decided=is_decided).run(run)
        finally:
            self._leases.remove(claimed.id)

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
        taken = {**self._saved(work), "begun": int(begun), "owner": Owner.here(self._name).text()}
        with self._tables.transaction() as db:
            now = db.now()
            taken |= {"since": now, "lease": now + self._lease if is_renewed else None}
            row = None if work.revision is None else row_of(db, work.id)
            taken["before"] = row and row.round
            return _put(db, work, new={**listed_columns(work, now), **taken}, changed=taken)

    def begin(self, decided: Round[Any]) -> None:
        """Save the decisions about a claimed round, and that its calls run from now on; for executors.

        Raises:
            EncodeError: the round can't be written as JSON.
            StoreError: somebody took it back meanwhile.
        """
        revision: Any = decided.revision
        new = self._saved(decided)
        with self._tables.transaction() as db:
            new |= {"since": db.now(), "begun": 1}
            if not ROUNDS.change(db, decided.id, revision, taken=True, step=0, **new):
                raise gone(decided.id, row_of(db, decided.id), "taken_back")

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
        with self._tables.transaction() as db:
            db.execute(query, (text, claimed.id, claimed.revision))

    def keep(self, claimed: Round[Any], after: Round[Any]) -> Round[Any]:
        """Save a round after it ran, as waiting; for executors.

        If the database is away, it tries again as long as a lease lasts.

        Args:
            claimed: the return value of `claim`, or the round of a `RestoreError` of `take_back`.
            after: the round with the results of its calls.

        Raises:
            StoreError: somebody took it back meanwhile; the answer of the database got lost, and somebody has
                gone on with the round since (`changed`); or the database is away.
        """
        revision: Any = claimed.revision
        kept = after.replace(revision=revision + 1)
        saved = self._saved(kept)
        until, has_failed = monotonic() + self._lease, False
        while True:
            try:
                with self._tables.transaction() as db:
                    if not (has_failed and is_kept(db, kept, saved)):
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
        with self._tables.transaction() as db:
            row = row_of(db, claimed.id)
            if row is not None and row.before is None:
                is_done = ROUNDS.delete(db, claimed.id, revision, taken=True)
            else:
                old = {**_WAITS, "round": row and row.before}
                is_done = ROUNDS.change(db, claimed.id, revision, taken=True, step=-1, **old)
            if not is_done:
                raise gone(claimed.id, row, "taken_back")

    # --- inside ----------------------------------------------------------------------------------

    def _saved(self, work: Round[Any]) -> dict[str, Any]:
        """Return the columns that contain the whole round."""
        return {"round": json.dumps(work.as_dict(secret=self._secret))}

    def _renew(self, running: Mapping[str, int]) -> None:
        """Renew the leases of rounds that run here, unless somebody took them back."""
        query = "UPDATE rounds SET lease = ? WHERE id = ? AND revision = ? AND since IS NOT NULL"
        with self._tables.transaction() as db:
            until = db.now() + self._lease
            for round_id in sorted(running):  # in one order, so that processes never wait for each other
                db.execute(query, (until, round_id, running[round_id]))

    def _restored(
        self, round_id: str, row: RoundRow, toolset: Toolset[Any], ended: Sequence[str] = ()
    ) -> Round[Any]:
        """Return the round of a row in its revision; if its calls had begun, the unfinished ones wait."""
        problems: Sequence[Finding] = ()
        try:
            found: Any = toolset.restore_round(row.round, secret=self._secret)
        except RestoreError as error:
            problems, found = error.findings, error.round
        if found is not None and found.id != round_id:
            message = f"the data are those of another round, {one_line(found.id, 100)}"
            problems, found = [Finding((), "data_changed", message, tool="")], None
        if found is not None:
            found = found.replace(revision=row.revision).with_expired()
        if found is not None and row.begun:
            try:
                found = with_ended(found, ended, self._secret)
            except RestoreError as error:
                problems, found = [*problems, *error.findings], error.round
            found = found.interrupted()
        if problems:
            raise RestoreError(problems, found)
        return cast("Round[Any]", found)

    def _let_wait(self, db: Statements, work: Round[Any], revision: int, saved: Mapping[str, Any]) -> None:
        new = {**saved, **listed_columns(work, db.now()), **_WAITS}
        if not ROUNDS.change(db, work.id, revision, taken=True, **new):
            raise gone(work.id, row_of(db, work.id), "taken_back")
        db.execute("DELETE FROM ended_calls WHERE round = ?", (work.id,))

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_leases", "_tables"}
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


class _StoredRun:
    """A run of a round that this process has taken: it saves what happens.

    Args:
        store: the store of the round.
        claimed: the round, as the store claimed it.
        in_thread: a function that runs each use of the database.
        is_decided: whether the calls begin at once, because nobody decides about them any more.
    """

    def __init__(self, store: Store, claimed: Round[Any], in_thread: Any, *, is_decided: bool) -> None:
        self._store = store
        self._claimed = claimed
        self._in_thread = in_thread
        self._begun = claimed if is_decided else None
        self._left = 0  # how many calls haven't ended

    async def run(self, run: Callable[..., Awaitable[Round[Any]]]) -> Round[Any]:
        """Run the round with the given function, and save the outcome; see `Store.run`."""
        store, claimed = self._store, self._claimed
        try:
            after = await run(claimed, self._begin, self._end_call)
        except HookError as error:  # nothing has run, so the caller may run the round again
            with self._noting_failure(error):
                await self._in_thread(lambda: store.give_back(claimed), is_last=True)
            raise
        except BaseException as error:  # also if cancelled or interrupted: results of calls must be saved
            so_far: Any = getattr(error, "round", None) or (self._begun or claimed).current()
            with self._noting_failure(error):
                kept = await self._in_thread(lambda: store.keep(claimed, so_far), is_last=True)
                if hasattr(error, "round"):
                    cast("Any", error).round = kept
            raise
        try:
            return cast("Round[Any]", await self._in_thread(lambda: store.keep(claimed, after)))
        except Exception as error:
            raise self._unsaved(error, after) from error

    async def _begin(self, decided: Round[Any]) -> None:
        """Save that the calls of the round begin."""
        self._left = sum(call.tool.has_function for call in decided.pending)
        if self._begun is None:
            await self._in_thread(lambda: self._store.begin(decided))
            self._begun = decided

    async def _end_call(self, call: ToolCall[Any]) -> None:
        """Save a call that has ended; the last one is saved with the round."""
        self._left -= 1
        if self._left > 0:
            await self._in_thread(lambda: self._store.keep_call(self._claimed, call))

    @contextmanager
    def _noting_failure(self, error: BaseException) -> Generator[None]:
        """If the block can't save the round, add a note to the exception that was raised before."""
        try:
            yield
        except Exception as failure:  # noqa: BLE001  # whatever it is: the first exception is raised
            error.add_note(str(self._unsaved(failure)))

    def _unsaved(self, error: Exception, after: Round[Any] | None = None) -> StoreError:
        """Return the error that says that the round can't be saved, whether it ran, and where it is now."""
        round_id = self._claimed.id
        if isinstance(error, StoreError) and error.code == "changed":  # it may be saved: see `is_kept`
            return StoreError(error.message, round_id, after, code="changed")
        ran = "(nothing has run)" if self._begun is None else "after its run"
        is_taken = isinstance(error, StoreError) and error.round_id is not None  # so it isn't stuck
        where = "" if is_taken else ", so it is one of store.stuck()"
        message = f"{round_id} can't be saved {ran}{where}: {exception_text(error)}"
        return StoreError(message, round_id, after, code="unsaved")


async def _at_once(use: Callable[[], Any], *_: object, **__: object) -> Any:
    """Call a function that uses the store, in this thread."""
    return use()


def _put(
    db: Statements, work: Round[Any], *, new: Mapping[str, Any], changed: Mapping[str, Any]
) -> Round[Any]:
    """Add the row of a round, or change it while it waits, and return the round in its new revision."""
    if work.revision is None:
        is_put = not has_turn(db, work.id) and ROUNDS.add(db, work.id, **new)
    else:
        is_put = ROUNDS.change(db, work.id, work.revision, taken=False, **changed)
    if not is_put:
        raise gone(work.id, row_of(db, work.id))
    return work.replace(revision=(work.revision or 0) + 1)


def _check_toolset(given: object) -> None:
    """Check the toolset given for a round."""
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
