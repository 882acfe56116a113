"""What every store promises is checked, and a store that breaks a promise is found."""

from __future__ import annotations

import json
import sqlite3
from functools import partial

import pytest

from operator_schema.rounds import Database, SqliteStore, Store, StoredTranscript, StoreError
from operator_schema.testing import check_store, store_checks

pytestmark = pytest.mark.needs_threads


@pytest.mark.needs_process
@pytest.mark.slow("it starts eight processes")
def test_the_store_in_sqlite_keeps_every_promise(tmp_path):
    check_store(partial(SqliteStore, tmp_path / "desk.db"))


class TakesWhatRuns(SqliteStore):
    def claim(self, work, *, begun=False, is_renewed=False):
        text = json.dumps(work.as_dict())
        with self.database.transaction() as db:
            db.execute("DELETE FROM rounds WHERE id = ?", (work.id,))
            db.execute(
                "INSERT INTO rounds (id, revision, since, round, begun, state, waits, tools, shown) "
                "VALUES (?, 1, 1.0, ?, ?, 'pending', 1.0, '', '{}')",
                (work.id, text, begun),
            )
        return work.replace(revision=1)


class OverwritesDecisions(SqliteStore):
    def claim(self, work, *, begun=False, **options):
        with self.database.transaction(writes=False) as db:
            row = db.execute("SELECT revision FROM rounds WHERE id = ?", (work.id,)).fetchone()
        return super().claim(work.replace(revision=None if row is None else row[0]), begun=begun, **options)


class LoadsWhatRuns(SqliteStore):
    def load(self, round_id, toolset):
        try:
            return super().load(round_id, toolset)
        except StoreError as error:
            if error.code != "running":
                raise
            return self.take_back(round_id, toolset)


class GivesNothingBack(SqliteStore):
    def give_back(self, claimed):
        pass


class ForgetsResults(SqliteStore):
    def keep(self, claimed, after):
        return super().keep(claimed, claimed if after.deferred or after.pending else after)


class LetsTheSlowOneWrite(SqliteStore):
    def keep(self, claimed, after):
        with self.database.transaction() as db:
            (revision,) = db.execute("SELECT revision FROM rounds WHERE id = ?", (claimed.id,)).fetchone()
            db.execute("UPDATE rounds SET since = 1.0 WHERE id = ?", (claimed.id,))
        return super().keep(claimed.replace(revision=revision), after)


class TakesATurnTwice(SqliteStore):
    def transcript(self, name):
        class Twice(StoredTranscript):
            def commit_turn(self, turn, revision):
                self.append({"turn": turn.as_dict()})

        return Twice(self._tables, name)


class ListsTheNewestFirst(SqliteStore):
    def waiting(self, **options):
        return super().waiting(**options)[::-1]


class LosesSurrogates(SqliteStore):
    def transcript(self, name):
        class Loses(StoredTranscript):
            def append(self, item):
                super().append(item.replace("\ud800", "?") if isinstance(item, str) else item)

        return Loses(self._tables, name)


class HasNoCodes(SqliteStore):
    def load(self, round_id, toolset):
        try:
            return super().load(round_id, toolset)
        except StoreError as error:
            raise StoreError(error.message, error.round_id) from error


class SavesAroundTheRun(Store):
    """What a program writes that only saves a round before and after it runs."""

    def __init__(self, *_):
        self.rounds = {}

    async def run(self, work, run):
        self.rounds[work.id] = work
        self.rounds[work.id] = await run(work, lambda _: None)
        return self.rounds[work.id]

    def load(self, round_id, toolset):
        return self.rounds[round_id]


MADE = {}


def opened(broken, path):
    """Open a store; the same one each time, if it saves what it knows in itself."""
    made = broken(path)
    return MADE.setdefault(path, made) if broken is SavesAroundTheRun else made


BROKEN = [
    *(
        TakesWhatRuns,
        OverwritesDecisions,
        LoadsWhatRuns,
        GivesNothingBack,
        ForgetsResults,
        LetsTheSlowOneWrite,
    ),
    *(TakesATurnTwice, ListsTheNewestFirst, LosesSurrogates, HasNoCodes, SavesAroundTheRun),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_store_that_breaks_a_promise_is_found(tmp_path, monkeypatch, broken):
    here = [check for check in store_checks.CHECKS if check.__name__ not in {"_one_runs", "_killed"}]
    monkeypatch.setattr(store_checks, "_PATIENCE", 0.5)
    monkeypatch.setattr(store_checks, "CHECKS", here)  # those that start no process find all of these
    make = partial(opened, broken, tmp_path / "a.db")
    with pytest.raises(AssertionError, match=r"^the store breaks \d+ of \d+ promises:\n- .* But: "):
        check_store(make)


class Unfinished(Database):
    """A database whose author hasn't got far."""


@pytest.mark.parametrize("given", ["desk.db", None, sqlite3, Unfinished, SqliteStore])
def test_a_store_takes_nothing_but_a_database(given):
    with pytest.raises(TypeError, match=r"^the store needs a Database, such as SqliteDatabase\(path, "):
        Store(given)


def test_a_database_that_begins_no_transaction_says_what_it_needs():
    with pytest.raises(
        NotImplementedError, match=r"^Unfinished needs a method transaction\(self, \*, writes\)"
    ):
        Store(Unfinished())


def test_a_check_takes_a_function_that_other_processes_can_call(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    with pytest.raises(TypeError, match="so it takes a function that does, not"):
        check_store(store)
    for unreachable in (lambda: store, partial(lambda: store)):
        with pytest.raises(
            TypeError, match="other processes open the store, too: give a function of a module"
        ):
            check_store(unreachable)
