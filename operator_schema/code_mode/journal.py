"""How are programs and their calls kept in a database, so that each call runs once?"""

from __future__ import annotations

import json
from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..message_text import one_line, received, writable_text
from ..rounds import Claims, Database, SqliteDatabase, StoreError, Tables

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from os import PathLike

    from ..rounds import Statements, StoreErrorCode

_TABLES = {
    "programs": (
        "position COUNTER, id KEY NOT NULL UNIQUE, code TEXT NOT NULL, made REAL NOT NULL, "
        "state TEXT NOT NULL, since REAL, revision INTEGER NOT NULL, approved INTEGER NOT NULL, ended TEXT"
    ),
    "program_calls": (
        "position COUNTER, program KEY NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, "
        "arguments TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT, foreseen INTEGER NOT NULL"
    ),
}
_INDEXES = {"calls_of_programs": "program_calls (program, number)"}
_PROGRAMS = Claims("programs", "a program")


class SavedProgram(Value):
    """A program of the journal.

    Attributes:
        id: a random id.
        code: the program.
        made: the time when it began, in seconds since 1970.
        state: `running`, `waiting`, `done` or `failed`.
        revision: number of changes of its state.
        approved: whether a person approved all of its calls.
        ended: its outcome, as JSON values; None until it ends.
    """

    id: str
    code: str
    made: float
    state: str
    revision: int
    approved: bool
    ended: dict[str, Any] | None


class JournalEntry(Value):
    """A call of a program.

    Attributes:
        name: name of the tool.
        arguments: the arguments as the program gave them, as JSON text.
        state: `begun`; `waiting` for a person; `approved` or `answered` by one; allowed to run `again` after
            it was interrupted; or `done`.
        outcome: its outcome, or a person's answer; while it waits, the `reason`; after it began, whether
            somebody had `approved` it.
        is_foreseen: whether it was only found by looking ahead; the program hasn't reached it yet.
    """

    name: str
    arguments: str
    state: str
    outcome: dict[str, Any] | None
    is_foreseen: bool = False

    def is_call(self, name: str, arguments: str) -> bool:
        """Return whether it is the same call; the order of its arguments doesn't matter."""
        if self.name != name:
            return False
        return self.arguments == arguments or _sorted(self.arguments) == _sorted(arguments)


def _sorted(text: str) -> str:
    """Return a JSON text with sorted keys, to compare as text; as values, 1, 1.0 and true would be equal."""
    return json.dumps(json.loads(text), sort_keys=True)


class Journal:
    """Programs and their calls, in a database: a file of SQLite, or one in memory.

    Each call is written before it runs and when it has ended, and a program runs in one process at a time.
    The database may be that of a store. It isn't signed: anybody who can write to it can approve a call.

    Args:
        database: the path of a file, which is made if necessary; a `Database`; None for memory.
        most: how many programs are kept; None for all. If it is given, the calls of a program are deleted
            when it ends. If a new program is one too many, the oldest programs are deleted: first those that
            have ended, then those that wait, but never one that runs.

    Raises:
        StoreError: the database can't be used; every method may raise this.
        TypeError: `database` is neither a path nor a `Database`.
        ValueError: `most` isn't a positive integer, or the path names a database in memory.
    """

    def __init__(
        self, database: str | PathLike[str] | Database | None = None, /, *, most: int | None = None
    ) -> None:
        _check_most(most)
        self._most = most
        if isinstance(database, str) and database in {"", ":memory:"}:
            message = "a journal in memory has no path: write Journal()"
            raise ValueError(message)
        if not isinstance(database, Database):
            database = SqliteDatabase(database, "a journal")
        self._transaction = Tables(database, "the journal", _TABLES, _INDEXES).transaction

    def waiting(self) -> list[str]:
        """List the ids of the programs that wait for a person, the oldest first."""
        with self._transaction(writes=False) as db:
            rows = _PROGRAMS.waiting(db, "id, state")
        return [found for found, state in rows if state == "waiting"]

    def stuck(self, seconds: float = 0.0) -> list[str]:
        """List the ids of the programs that began at least `seconds` ago and haven't ended.

        Their process died, or still runs them. A program that began as long in the future is included too,
        because the clock was set back.
        """
        with self._transaction(writes=False) as db:
            return [found for (found,) in _PROGRAMS.stuck(db, time(), seconds, "id")]

    def take_back(self, program_id: str) -> None:
        """Put a program whose process died back to waiting. First make sure that no process runs it any more.

        Raises:
            StoreError: the program doesn't run.
        """
        self._change(program_id, None, taken=True, state="waiting", since=None)

    # --- for sessions: a program that was taken back meanwhile isn't theirs any more ---------------

    def add(self, program_id: str, code: str) -> SavedProgram:
        """Add a new program, which this process runs."""
        with self._transaction() as db:
            now = time()
            new = {"since": now, "code": code, "made": now, "state": "running", "approved": 0, "ended": None}
            if not _PROGRAMS.add(db, program_id, **new):
                raise _refused(program_id, "is in the journal already", "changed")
            if self._most is not None:
                self._forget_oldest(db, self._most)
        return self.load(program_id)

    def load(self, program_id: str) -> SavedProgram:
        """Return a program.

        Raises:
            StoreError: the program doesn't exist.
        """
        program_id = writable_text("the id of a program", program_id)
        with self._transaction(writes=False) as db:
            row = _PROGRAMS.read(db, program_id, "id, code, made, state, revision, approved, ended")
        if row is None:
            raise _refused(program_id, "isn't in the journal", "done")
        found, code, made, state, revision, approved, ended = row
        outcome = None if ended is None else json.loads(ended)
        return SavedProgram(found, code, made, state, revision, bool(approved), outcome)

    def claim(self, program_id: str, revision: int | None, *, approved: bool) -> SavedProgram:
        """Claim a program, so that only this process runs it.

        Raises:
            StoreError: the program runs, has ended, or was changed since that revision.
        """
        more = {"approved": 1} if approved else {}
        self._change(program_id, revision, taken=False, state="running", since=time(), **more)
        return self.load(program_id)

    def end(self, program: SavedProgram, state: str, ended: dict[str, Any] | None) -> SavedProgram:
        """Save that a program waits or has ended.

        Raises:
            StoreError: the program was taken back meanwhile.
        """
        text = None if ended is None else json.dumps(ended)
        with self._running(program, 1, state=state, since=None, ended=text) as db:
            if self._most is not None and state in {"done", "failed"}:
                db.execute("DELETE FROM program_calls WHERE program = ?", (program.id,))
        return self.load(program.id)

    def put_back(self, program: SavedProgram, entries: Mapping[int, JournalEntry]) -> None:
        """Put a running program back to waiting, if nothing has run since it was taken.

        Args:
            program: its state before the claim.
            entries: its calls before the claim.
        """
        ended = None if program.ended is None else json.dumps(program.ended)
        old = {"state": "waiting", "since": None, "approved": int(program.approved), "ended": ended}
        with self._transaction() as db:
            if _PROGRAMS.change(db, program.id, program.revision + 1, taken=True, step=-1, **old):
                db.execute("DELETE FROM program_calls WHERE program = ?", (program.id,))
                _write(db, program.id, entries)

    def entries(self, program_id: str) -> dict[int, JournalEntry]:
        """Return the calls of a program by their numbers, in order, including foreseen ones."""
        query = (
            "SELECT number, name, arguments, state, outcome, foreseen FROM program_calls "
            "WHERE program = ? ORDER BY number"
        )
        with self._transaction(writes=False) as db:
            rows = db.execute(query, (program_id,)).fetchall()
        return {
            number: JournalEntry(
                name, arguments, state, None if outcome is None else json.loads(outcome), bool(foreseen)
            )
            for number, name, arguments, state, outcome, foreseen in rows
        }

    def write(self, program: SavedProgram, entries: Mapping[int, JournalEntry]) -> None:
        """Write entries of calls, by their numbers, in one transaction.

        Raises:
            StoreError: the program was taken back meanwhile.
        """
        with self._running(program) as db:
            _forget(db, program.id, entries)
            _write(db, program.id, entries)

    def forget(self, program: SavedProgram, numbers: Iterable[int]) -> None:
        """Forget calls that haven't run at all.

        Raises:
            StoreError: the program was taken back meanwhile.
        """
        with self._running(program) as db:
            _forget(db, program.id, numbers)

    # --- inside ----------------------------------------------------------------------------------

    @contextmanager
    def _running(self, program: SavedProgram, step: int = 0, **changes: Any) -> Generator[Statements]:
        """Open a transaction that changes a program that this process runs.

        Raises:
            StoreError: the program was taken back meanwhile, so that another process may run it.
        """
        with self._transaction() as db:
            if not _PROGRAMS.change(db, program.id, program.revision, taken=True, step=step, **changes):
                why = "was taken back in the meantime: this process runs it no longer"
                raise _refused(program.id, why, "taken_back")
            yield db

    def _forget_oldest(self, db: Statements, most: int) -> None:
        (count,) = db.execute("SELECT count(*) FROM programs").fetchone()
        oldest = (
            "SELECT id FROM programs WHERE since IS NULL "
            "ORDER BY CASE state WHEN 'waiting' THEN 1 ELSE 0 END, position LIMIT ?"
        )
        for (found,) in db.execute(oldest, (max(0, count - most),)).fetchall():
            db.execute("DELETE FROM program_calls WHERE program = ?", (found,))
            db.execute("DELETE FROM programs WHERE id = ?", (found,))

    def _change(self, program_id: str, revision: int | None, *, taken: bool, **changes: Any) -> None:
        program_id = writable_text("the id of a program", program_id)
        with self._transaction() as db:
            row = _PROGRAMS.read(db, program_id, "state")
            has_ended = row is not None and row[0] in {"done", "failed"}
            if not has_ended and _PROGRAMS.change(db, program_id, revision, taken=taken, **changes):
                return
        found = self.load(program_id)
        if found.state == "running":
            raise _refused(program_id, "runs now, or its process died: see journal.stuck()", "running")
        if found.state == "waiting":
            raise _refused(program_id, "was changed in the meantime: load it again", "changed")
        raise _refused(program_id, f"has ended: it is {found.state}", "done")


def _write(db: Statements, program_id: str, entries: Mapping[int, JournalEntry]) -> None:
    query = (
        "INSERT INTO program_calls (program, number, name, arguments, state, outcome, foreseen) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    for number, entry in entries.items():
        outcome = None if entry.outcome is None else json.dumps(entry.outcome)
        call = (entry.name, entry.arguments, entry.state, outcome, int(entry.is_foreseen))
        db.execute(query, (program_id, number, *call))


def _forget(db: Statements, program_id: str, numbers: Iterable[int]) -> None:
    for number in numbers:
        db.execute("DELETE FROM program_calls WHERE program = ? AND number = ?", (program_id, number))


def _check_most(most: Any) -> None:
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        message = f"most must be an integer above 0, not {received(most)}"
        raise ValueError(message)


def _refused(program_id: str, why: str, code: StoreErrorCode) -> StoreError:
    name = one_line(program_id, 100) or '""'
    return StoreError(f"the program {name} {why}", program_id, code=code)
