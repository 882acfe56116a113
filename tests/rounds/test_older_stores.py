"""Files of stores that other versions of the package made: nothing in them is lost."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from itertools import product
from threading import Barrier, Thread

import pytest
from round_samples import pay, raw, search

from operator_schema import Executor, Toolset
from operator_schema.rounds.errors import StoreError
from operator_schema.rounds.stores import _COLUMNS, SqliteStore, stored_records

pytestmark = pytest.mark.needs_threads

ITEMS = "position INTEGER PRIMARY KEY, transcript TEXT NOT NULL, turn TEXT UNIQUE, item TEXT NOT NULL"
OLDER = {
    "before begun": "id TEXT PRIMARY KEY, revision INTEGER NOT NULL, since REAL, round TEXT NOT NULL, "
    "before TEXT"
}
"""The columns of rounds in each version that had others."""

TOOLS = Toolset(search, pay)


def filled(path):
    """Fill a store with a transcript, a round that waits, and one that a process took."""
    store = SqliteStore(path)
    first = Executor(TOOLS, store=store).run_sync(TOOLS.offer().round([raw("search", "1", query="a")]))
    first.commit(store.transcript("ann"))
    waiting = Executor(TOOLS, store=store).run_sync(TOOLS.offer().round([raw("pay", "2", amount=5)]))
    taken = TOOLS.offer().round([raw("pay", "3", amount=6)]).confirmed().approve("3")
    store.claim(taken, begun=True)
    return waiting.id, taken.id


def as_made_by(path, columns):
    """Give the table of rounds the columns of another version."""
    names = ", ".join([column.split()[0] for column in columns.split(", ")])
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE rounds RENAME TO now")
        db.execute(f"CREATE TABLE rounds ({columns})")
        db.execute(f"INSERT INTO rounds SELECT {names} FROM now")  # noqa: S608  # the names are ours
        db.execute("DROP TABLE now")
        db.commit()


@pytest.mark.parametrize("columns", OLDER.values(), ids=OLDER)
def test_the_file_of_an_older_version_is_used_with_all_that_it_holds(tmp_path, columns):
    path = tmp_path / "desk.db"
    waiting, taken = filled(path)
    before = list(stored_records(path))
    as_made_by(path, columns)
    opened = Barrier(4)

    def open_it():
        opened.wait()
        SqliteStore(path)

    threads = [Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    opened.wait()
    store = SqliteStore(path)
    for thread in threads:
        thread.join()
    assert list(stored_records(path)) == before
    assert store.waiting() == [waiting]
    assert [(one.id, one.has_begun) for one in store.stuck()] == [(taken, True)]
    assert [call.state for call in store.take_back(taken, TOOLS).calls] == ["deferred"]
    done = Executor(TOOLS, store=store).run_sync(store.load(waiting, TOOLS).approve("2"))
    assert done.commit(store.transcript("ann")).results[0].content == "paid 5"
    assert len(store.transcript("ann")) == 2


def test_the_file_of_a_newer_version_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "desk.db"
    filled(path)
    before = list(stored_records(path))
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE rounds ADD COLUMN shape TEXT NOT NULL DEFAULT ''")
    said = (
        f"a newer version of operator_schema made the store {path}, with columns that this one doesn't know "
    )
    with pytest.raises(StoreError, match=re.escape(f"{said}(shape)")):
        SqliteStore(path)
    assert list(stored_records(path)) == before


OURS = [[*_COLUMNS], *[[name.split()[0] for name in columns.split(", ")] for columns in OLDER.values()]]
FOREIGN = [
    [name for name, is_there in zip([*_COLUMNS, "name"], has, strict=True) if is_there]
    for has in product([False, True], repeat=len(_COLUMNS) + 1)
]


@pytest.mark.parametrize("columns", [columns for columns in FOREIGN if columns and columns not in OURS])
def test_the_table_of_another_program_stays_as_it_is(tmp_path, columns):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE rounds ({', '.join(columns)})")
        db.execute(f"CREATE TABLE items ({ITEMS})")
        before = db.execute("SELECT sql FROM sqlite_master").fetchall()
        with pytest.raises(StoreError):
            SqliteStore(path).claim(TOOLS.offer().round([raw("pay", "2", amount=5)]))
        assert db.execute("SELECT sql FROM sqlite_master").fetchall() == before
