"""Files that other versions of the package made, or other programs: nothing in them is changed."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from itertools import combinations

import pytest
from round_samples import pay, raw, search

from operator_schema import Executor, Toolset
from operator_schema.rounds import SqliteStore, StoreError, stored_records
from operator_schema.rounds.stores import _TABLES

pytestmark = pytest.mark.needs_threads

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


def test_the_file_of_a_newer_version_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "desk.db"
    filled(path)
    before = list(stored_records(path))
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE rounds ADD COLUMN shape TEXT NOT NULL DEFAULT ''")
    said = (
        f"another program, or another version of operator_schema, made the store {path}: its table rounds "
        "also has shape; use that version, or give another database"
    )
    with pytest.raises(StoreError, match=re.escape(said)) as raised:
        SqliteStore(path)
    assert raised.value.code == "unavailable"
    assert list(stored_records(path)) == before


COLUMNS = [column.split()[0] for column in _TABLES["rounds"].split(", ")]
ALL = [*COLUMNS, "name"]
FEW = [chosen for number in (1, 2) for chosen in combinations(ALL, number)]
FOREIGN = [list(columns) for each in FEW for columns in (each, [name for name in ALL if name not in each])]


@pytest.mark.parametrize("columns", [columns for columns in FOREIGN if columns != COLUMNS])
def test_the_table_of_another_program_stays_as_it_is(tmp_path, columns):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE rounds ({', '.join(columns)})")
        before = db.execute("SELECT sql FROM sqlite_master").fetchall()
        with pytest.raises(StoreError, match=r"its table rounds (also has|lacks) "):
            SqliteStore(path)
        assert db.execute("SELECT sql FROM sqlite_master").fetchall() == before
