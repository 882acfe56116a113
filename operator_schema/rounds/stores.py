"""Where rounds wait and conversations are kept: a file that several processes share."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from time import time
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from ..codec.codec import Codec
from ..errors import DecodeError
from ..files import PATIENCE, has_tables, transaction, unusable_database
from ..findings import Finding
from ..immutable import Value
from ..json_values import has_surrogate
from ..message_text import checked_path, checked_text, listed, one_line, quote, received, writable_text
from ..tools.calls import RawCall, ToolResult, exception_text
from .errors import RoundError, StoreError
from .input_copies import digest_with, own_json
from .restore import RestoreError
from .round import HookError
from .serialization import DEPTH, SavedResult, read_result, without_texts
from .transcript import Turn, check_item

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
    from os import PathLike

    from .round import Round
    from .toolset import Toolset

__all__ = ["SqliteStore", "StoredTranscript", "StuckRound", "stored_records"]

_TABLES = """
    CREATE TABLE IF NOT EXISTS rounds (
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, since REAL, round TEXT NOT NULL, before TEXT,
        begun INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE IF NOT EXISTS items (
        position INTEGER PRIMARY KEY, transcript TEXT NOT NULL, turn TEXT UNIQUE, item TEXT NOT NULL
    );
"""

_COLUMNS = ("id", "revision", "since", "round", "before", "begun")
"""Those of the table of rounds."""

_ADDED = {
    "begun": """
    ALTER TABLE rounds ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
    UPDATE rounds SET begun = 1 WHERE since IS NOT NULL;
"""
}
"""A column that files of older versions lack, to how it is added.

Of a round that a process had taken, nobody knows whether its calls had begun.
"""

_RESULTS: Codec[SavedResult] = Codec(SavedResult, max_depth=DEPTH)


class StuckRound(Value):
    """A round that a process took to run it, and that hasn't ended yet.

    Attributes:
        id: of the round.
        seconds: how long ago it began; below 0 if the clock has been set back since.
        calls: those that were to run, as the model sent them.
        has_begun: whether they began to run: each may have done its work or not. False if hooks or people
            were still deciding, so that nothing has run.
    """

    id: str
    seconds: float
    calls: tuple[RawCall, ...]
    has_begun: bool


class SqliteStore:
    """Rounds that wait, and transcripts, in a file of SQLite.

    Give it to an executor (`Executor(tools, store=store)`): a round then runs in only one process, and is
    saved before and after. Any number of threads and processes may use the same file at once. A process
    that may only read the file can list and load what is there. If you set the file to WAL mode, a process
    must be able to write to its folder, even to read.

    Args:
        path: path of the file, which is created if it doesn't exist.
        secret: a key of your own, as for `round.as_dict`. Somebody who can write to the file, but doesn't
            know the secret, can't change what was decided.

    A file that an older version of this package made gets the columns that it lacks, and keeps all that it
    holds.

    Raises:
        StoreError: the file can't be opened, isn't a database of SQLite, or a newer version of this package
            made it. Every method that uses the file raises it if SQLite fails.
        TypeError: the path isn't one, or the secret isn't bytes.
        ValueError: the secret is shorter than 16 bytes, or the path names a database in memory.
    """

    def __init__(self, path: str | PathLike[str], *, secret: bytes | None = None) -> None:
        self._path = checked_path("the path of a store", path)
        self._secret = secret
        digest_with(secret)  # checks it
        if self._path in {"", ":memory:"}:
            message = "a store is a file that several processes can open, not a database in memory"
            raise ValueError(message)
        with self._transaction(writes=False) as db:
            is_there = has_tables(db, "rounds", "items") and not _missing(db, self._path)
        if not is_there:
            with self._transaction() as db:  # it looks again: another process may do the same
                added = [_ADDED[name] for name in _missing(db, self._path)]
                for statement in ";".join([*added, _TABLES]).split(";"):
                    db.execute(statement)

    def transcript(self, name: str) -> StoredTranscript:
        """Return a conversation, which is empty at first.

        Args:
            name: of the conversation, such as the id of a customer.

        Raises:
            TypeError: it isn't a string.
            ValueError: it has a lone surrogate, which no database can hold.
        """
        checked = checked_text("the name of a transcript", name)
        if has_surrogate(checked):  # in its place, U+FFFD could make two names one
            message = f"the name of a transcript must be text that can be written, not {quote(checked)}"
            raise ValueError(message)
        return StoredTranscript(self, checked)

    def transcripts(self) -> list[str]:
        """List the names of the conversations that hold something, the oldest first."""
        query = "SELECT transcript FROM items GROUP BY transcript ORDER BY min(position)"
        with self._transaction(writes=False) as db:
            return [name for (name,) in db.execute(query)]

    def load(self, round_id: str, toolset: Toolset[Any]) -> Round[Any]:
        """Return a round that waits, to decide about its calls; nothing is run or locked.

        Args:
            round_id: of the round.
            toolset: a toolset with its tools.

        Raises:
            RestoreError: it doesn't fit the toolset any more, or somebody changed it. You may go on with
                `error.round`, in which the calls that fit are as they were.
            StoreError: it is done, or runs now.
            TypeError: `toolset` isn't a toolset.
        """
        _check_toolset(toolset)
        with self._transaction(writes=False) as db:
            row = _row(db, round_id)
        if row is None or row[1] is not None:
            raise _gone(round_id, row)
        return self._restored(round_id, row, toolset)

    def waiting(self) -> list[str]:
        """List the ids of the rounds that wait, the oldest first."""
        with self._transaction(writes=False) as db:
            rows = db.execute("SELECT id FROM rounds WHERE since IS NULL ORDER BY rowid").fetchall()
        return [found for (found,) in rows]

    def stuck(self, seconds: float = 0.0) -> list[StuckRound]:
        """List the rounds that a process took and that haven't ended: it died, or still runs them.

        Nothing runs them again, because nobody knows which calls did their work once a round has begun: see
        `take_back`.

        Args:
            seconds: how long ago they must have begun; give more than your tools may take. A round that
                began this long in the future is included too: the clock was set back, and nobody knows when
                it began.

        Raises:
            StoreError: something else wrote into the row of a round.
            TypeError: `seconds` isn't a number.
        """
        if isinstance(cast("Any", seconds), bool) or not isinstance(cast("Any", seconds), (int, float)):
            message = f"seconds must be a number, not {received(seconds)}"
            raise TypeError(message)
        now = time()
        with self._transaction(writes=False) as db:
            query = "SELECT id, since, round, begun FROM rounds WHERE abs(? - since) >= ? ORDER BY since"
            rows = db.execute(query, (now, float(seconds)))  # SQLite takes no integer beyond 64 bits
            return [_stuck(row, now) for row in rows]

    def take_back(self, round_id: str, toolset: Toolset[Any]) -> Round[Any]:
        """Return a round whose process died, which waits again.

        If the process died while hooks or people were deciding, nothing has run: the round is as it was, and
        running it asks them again. Otherwise the calls that began wait for a person: approving one lets it
        run, maybe for a second time; rejecting it tells the model what you know.

        Args:
            round_id: one of `stuck()`. Make sure that no process runs it any more.
            toolset: a toolset with its tools.

        Raises:
            RestoreError: as for `load`. The round still counts as running; then call
                `store.keep(error.round, error.round)`, which saves `error.round` as waiting.
            StoreError: it is done, or waits.
            TypeError: `toolset` isn't a toolset.
        """
        _check_toolset(toolset)
        with self._transaction() as db:
            row = _row(db, round_id)
            if row is None or row[1] is None:
                raise _gone(round_id, row)
            after = self._restored(round_id, row, toolset).replace(_revision=row[0] + 1)
            self._write(db, after, row[0])
        return after

    # --- for executors ---------------------------------------------------------------------------

    async def run(self, work: Round[Any], run: Callable[..., Awaitable[Round[Any]]]) -> Round[Any]:
        """Let one process at a time run a round; for executors.

        Args:
            work: the round.
            run: gets the round, and a function to call with the round after all decisions, before its first
                call runs. Its attribute `may_decide` is False if no hook and no person is asked.

        Raises:
            StoreError: another process has it; or it ran and can't be saved, so it is one of `stuck()`, and
                `error.round` has the results.
            BaseException: whatever `run` raises; the store then has the results so far. If they can't be
                saved, a note says so.
        """
        is_decided = not getattr(run, "may_decide", True)
        claimed = self.claim(work.confirmed() if is_decided else work, begun=is_decided)
        begun: list[Round[Any]] = [claimed] if is_decided else []

        def begin(decided: Round[Any]) -> None:
            if not begun:
                self.begin(decided)
                begun.append(decided)

        try:
            after = await run(claimed, begin)
        except HookError as error:  # nothing has run, so the caller may run the round again
            with _noting(error, claimed, begun):
                self.give_back(claimed)
            raise
        except BaseException as error:  # cancelled or interrupted too: what has run must be kept
            so_far: Any = getattr(error, "round", None) or (begun or [claimed])[0].current()
            with _noting(error, claimed, begun):
                kept = self.keep(claimed, so_far)
                if hasattr(error, "round"):
                    cast("Any", error).round = kept
            raise
        try:
            return self.keep(claimed, after)
        except Exception as error:
            raise StoreError(_unsaved(claimed, begun, error), work.id, after) from error

    def claim(self, work: Round[Any], *, begun: bool = False) -> Round[Any]:
        """Save a round as taken by this process alone; for executors.

        Args:
            work: the round.
            begun: whether its calls run from now on, because nobody is asked about them any more.

        Raises:
            EncodeError: it can't be written as JSON.
            StoreError: it is done or was committed, runs now, or somebody decided something else meanwhile.
        """
        revision = work._revision  # noqa: SLF001  # a value of this room
        text = json.dumps(work.as_dict(secret=self._secret))
        with self._transaction() as db:
            row = _row(db, work.id)
            if revision is None and row is None and not _has_turn(db, work.id):
                db.execute("INSERT INTO rounds VALUES (?, 1, ?, ?, NULL, ?)", (work.id, time(), text, begun))
                return work.replace(_revision=1)
            if row is None or row[1] is not None or row[0] != revision:
                raise _gone(work.id, row)
            values = (row[0] + 1, time(), text, row[2], begun, work.id)
            db.execute(
                "UPDATE rounds SET revision = ?, since = ?, round = ?, before = ?, begun = ? WHERE id = ?",
                values,
            )
        return work.replace(_revision=row[0] + 1)

    def begin(self, decided: Round[Any]) -> None:
        """Save the decisions about a claimed round, and that its calls run from now on; for executors.

        Raises:
            EncodeError: it can't be written as JSON.
            StoreError: somebody took it back meanwhile.
        """
        text = json.dumps(decided.as_dict(secret=self._secret))
        values = (time(), text, decided.id, decided._revision)  # noqa: SLF001  # as above
        with self._transaction() as db:
            done = db.execute(
                "UPDATE rounds SET since = ?, round = ?, begun = 1 WHERE id = ? AND revision = ?", values
            )
            if done.rowcount != 1:
                raise _gone(decided.id, _row(db, decided.id))

    def keep(self, claimed: Round[Any], after: Round[Any]) -> Round[Any]:
        """Save a round after it ran, as waiting; for executors.

        Args:
            claimed: what `claim` returned, or the round of a `RestoreError` of `take_back`.
            after: the round with the results of its calls.

        Raises:
            StoreError: somebody took it back meanwhile.
        """
        revision: Any = claimed._revision  # noqa: SLF001  # as above
        kept = after.replace(_revision=revision + 1)
        with self._transaction() as db:
            self._write(db, kept, revision)
        return kept

    def give_back(self, claimed: Round[Any]) -> None:
        """Undo `claim` for a round that hasn't run at all; for executors.

        Raises:
            StoreError: somebody took it back meanwhile.
        """
        revision: Any = claimed._revision  # noqa: SLF001  # as above
        with self._transaction() as db:
            row = _row(db, claimed.id)
            if row is None or row[0] != revision:
                raise _gone(claimed.id, row)
            if row[3] is None:
                db.execute("DELETE FROM rounds WHERE id = ?", (claimed.id,))
            else:
                values = (revision - 1, row[3], claimed.id)
                db.execute(
                    "UPDATE rounds SET revision = ?, since = NULL, round = ?, before = NULL, begun = 0 "
                    "WHERE id = ?",
                    values,
                )

    # --- inside ----------------------------------------------------------------------------------

    def _restored(self, round_id: str, row: Any, toolset: Toolset[Any]) -> Round[Any]:
        """Return the round of a row in its revision; if its calls began, they wait for a person.

        Raises:
            RestoreError: it doesn't fit any more, or is another round: its own signature would be right.
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
            found = found.replace(_revision=row[0])
            found = found.interrupted() if row[4] else found
        if problems:
            raise RestoreError(problems, found)
        return cast("Round[Any]", found)

    def _write(self, db: sqlite3.Connection, work: Round[Any], revision: int) -> None:
        text = json.dumps(work.as_dict(secret=self._secret))
        done = db.execute(
            "UPDATE rounds SET revision = ?, since = NULL, round = ?, before = NULL, begun = 0 "
            "WHERE id = ? AND revision = ?",
            (revision + 1, text, work.id, revision),
        )
        if done.rowcount != 1:
            raise _gone(work.id, _row(db, work.id))

    @contextmanager
    def _transaction(self, *, writes: bool = True) -> Generator[sqlite3.Connection]:
        """Open the file for one transaction: a connection belongs to one thread and one process."""
        try:
            opened = closing(sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None))
            with opened as db, transaction(db, writes=writes):
                yield db
        except sqlite3.Error as error:
            raise StoreError(unusable_database("the store", self._path, error)) from error

    def __repr__(self) -> str:
        return f"SqliteStore({one_line(self._path, 200)!r})"


class StoredTranscript:
    """A conversation in a store; made by `store.transcript`.

    It holds, in order, messages of the user (a string is one), messages in the form of a provider, and turns.
    """

    def __init__(self, store: SqliteStore, name: str) -> None:
        self._store = store
        self._name = name

    def append(self, item: Any, /) -> None:
        """Add a turn or a message.

        Raises:
            RoundError: the turn is there already.
            StoreError: the turn is one of a round that waits in the store: commit that.
            TypeError: it isn't JSON, or nests too deep; or a transcript in memory refuses it, too.
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
        """Add the turn of a round and forget the round, in one transaction; for `round.commit`.

        Raises:
            RoundError: the turn is there already.
            StoreError: the round runs now, or somebody decided something else meanwhile.
        """
        text = json.dumps({"turn": turn.as_dict()})
        with self._store._transaction() as db:  # noqa: SLF001  # as above
            if _has_turn(db, turn.id):
                message = "this turn is in a transcript already: it was committed before"
                raise RoundError(message)
            row = _row(db, turn.id)
            now = None if row is None else row[0]
            if now != revision or (row is not None and row[1] is not None):
                raise _gone(turn.id, row)
            values = (self._name, turn.id, text)
            db.execute("INSERT INTO items (transcript, turn, item) VALUES (?, ?, ?)", values)
            db.execute("DELETE FROM rounds WHERE id = ?", (turn.id,))

    def _items(self) -> list[Any]:
        with self._store._transaction(writes=False) as db:  # noqa: SLF001  # as above
            query = "SELECT turn, item FROM items WHERE transcript = ? ORDER BY position"
            rows = db.execute(query, (self._name,)).fetchall()
        with _reading(self._store._path):  # noqa: SLF001  # as above
            items = [(turn, json.loads(text)) for turn, text in rows]
            return [item if turn is None else _turn(item["turn"]) for turn, item in items]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    def __getitem__(self, index: int) -> Any:
        """Return one item."""
        return self._items()[index]

    def __repr__(self) -> str:
        return f"<StoredTranscript {one_line(self._name, 100)!r} of {len(self)}>"


def stored_records(path: str | PathLike[str]) -> Iterator[Any]:
    """Yield the content of a store, in the order in which it was stored; the file is only read.

    Args:
        path: of the file of a `SqliteStore`.

    Yields:
        A list of calls, each an object with `name` and `arguments`, for each turn of a transcript and then
        for each round that waits or runs; and each message of a transcript as it is.

    Raises:
        StoreError: the file can't be read, or isn't one of a store.
        TypeError: the path isn't one.
    """
    name = checked_path("the path of a store", path)
    uri = f"{Path(name).absolute().as_uri()}?mode=ro"
    try:
        with _reading(name), closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE)) as db:
            for turn, text in db.execute("SELECT turn, item FROM items ORDER BY position"):
                item = json.loads(text)
                yield item if turn is None else _calls_sent(item["turn"])
            for (text,) in db.execute("SELECT round FROM rounds ORDER BY rowid"):
                yield _calls_sent(json.loads(text))
    except sqlite3.Error as error:
        raise StoreError(unusable_database("the store", name, error)) from error


@contextmanager
def _reading(path: str) -> Generator[None]:
    """Raise a `StoreError` if what is read was written by something else, or by another version."""
    try:
        yield
    except (DecodeError, KeyError, RecursionError, TypeError, ValueError) as error:
        message = f"the store {one_line(path, 200)} contains something other than turns and rounds"
        raise StoreError(message) from error


def _stuck(row: Any, now: float) -> StuckRound:
    found, since, text, begun = row
    if not isinstance(found, str) or not isinstance(since, (int, float)) or begun not in {0, 1}:
        raise _damaged(found)
    return StuckRound(found, now - since, _calls_to_run(text), bool(begun))


def _damaged(round_id: object) -> StoreError:
    """Return that something else wrote into the row of a round: SQLite takes any value in any column."""
    name = one_line(str(round_id), 100)
    return StoreError(f"the row of {name} in the store contains something other than a round", name)


def _calls_to_run(text: str) -> tuple[RawCall, ...]:
    """Return the calls of a saved round as they were to run; none if it can't be read."""
    try:
        calls = [call for call in json.loads(text)["calls"] if call["state"] == "pending"]
        whole = [without_texts(call, call.keys()) for call in calls]
        return tuple([RawCall(call["id"], call["name"], _record_of(call)["arguments"]) for call in whole])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return ()


def _calls_sent(saved: Any) -> list[dict[str, Any]]:
    """Return the calls of a turn or a round as the model sent them; where others ran, these, too."""
    calls = [without_texts(call, call.keys()) for call in saved["calls"]]
    results = saved.get("results", [call.get("result") or {} for call in calls])
    return [_record_of(call, result.get("changed")) for call, result in zip(calls, results, strict=True)]


def _record_of(call: dict[str, Any], changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what runs, or ran, of a saved call; a change stands in its result, or still in the call."""
    sent, changed = call.get("arguments"), changed or call.get("changed")
    names: dict[str, Any] = {name: call[name] for name in ("name", "sent_name") if name in call}
    if changed is None:
        return {**names, "arguments": sent}
    return {**names, "arguments": changed["arguments"], "sent": sent}


def _check_toolset(given: object) -> None:
    """Check what is given as the toolset of a round.

    Raises:
        TypeError: it isn't one.
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


def _missing(db: sqlite3.Connection, path: str) -> list[str]:
    """Return the columns that the table of rounds lacks because an older version made it.

    Raises:
        StoreError: a newer version made it.
    """
    found = [name for _, name, *_ in db.execute("PRAGMA table_info(rounds)")]
    missing = [name for name in _COLUMNS if name not in found]
    unknown = [one_line(name, 100) for name in found if name not in _COLUMNS]
    if unknown and not missing:
        made = f"a newer version of operator_schema made the store {one_line(path, 200)}"
        message = (
            f"{made}, with columns that this one doesn't know ({listed(unknown, 5)}): update the package, or "
            "give the path of another file"
        )
        raise StoreError(message)
    return [] if unknown or not {*missing} <= _ADDED.keys() else missing  # else another program made it


_LARGEST_INTEGER = 2**63 - 1
"""The largest that SQLite can hold."""


def _row(db: sqlite3.Connection, round_id: str) -> Any:
    """Return a round's revision, run start, data, earlier data, and whether its calls began, or None.

    Raises:
        StoreError: something else wrote into its row.
    """
    query = "SELECT revision, since, round, before, begun FROM rounds WHERE id = ?"
    # An id may be what somebody wrote into an address: SQLite takes no lone surrogate.
    row = db.execute(query, (writable_text("the id of a round", round_id),)).fetchone()
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


def _has_turn(db: sqlite3.Connection, round_id: str) -> bool:
    """Return whether the turn of a round is in a transcript."""
    return db.execute("SELECT 1 FROM items WHERE turn = ?", (round_id,)).fetchone() is not None


@contextmanager
def _noting(error: BaseException, claimed: Round[Any], begun: Sequence[object]) -> Generator[None]:
    """Note at an exception that the round can't be saved: it counts more than why."""
    try:
        yield
    except Exception as failure:  # noqa: BLE001  # whatever it is: the first exception is raised
        error.add_note(_unsaved(claimed, begun, failure))


def _unsaved(claimed: Round[Any], begun: Sequence[object], error: Exception) -> str:
    """Return that a round can't be saved, whether it ran, and where it is now."""
    ran = "after its run" if begun else "(nothing has run)"
    is_taken = isinstance(error, StoreError) and error.round_id is not None  # by somebody, so it isn't stuck
    where = "" if is_taken else ", so it is one of store.stuck()"
    return f"{claimed.id} can't be saved {ran}{where}: {exception_text(error)}"


def _gone(round_id: str, row: Any) -> StoreError:
    """Return why a round isn't available now."""
    name = one_line(round_id, 100)
    if row is None:
        return StoreError(f"{name} is done, or was never stored", round_id)
    if row[1] is not None:
        return StoreError(f"{name} runs now, or its process died: see store.stuck()", round_id)
    return StoreError(f"{name} was changed in the meantime: load it again", round_id)


def _turn(data: Any) -> Turn:
    """Return a saved turn."""
    calls = [
        RawCall(
            *(call["id"], call["name"], call["arguments"], "is_cut_off" in call, call.get("caller")),
            *("is_from_text" in call, call.get("sent_name"), "is_malformed" in call),
        )
        for call in data["calls"]
    ]
    results = [_result(call, saved) for call, saved in zip(calls, data["results"], strict=True)]
    return Turn(data["id"], tuple(calls), tuple(results), data["assistant"], data.get("provider"))


def _result(call: RawCall, saved: dict[str, Any]) -> ToolResult:
    content = {name: value for name, value in saved.items() if name not in {"call_id", "name"}}
    return read_result(call, _RESULTS.decode(content))
