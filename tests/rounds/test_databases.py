"""How a store and a journal reach a database, which may be of any kind."""

from __future__ import annotations

import gc
import sqlite3
from contextlib import closing, contextmanager

import pytest

from operator_schema.rounds import Claims, Database, SqliteDatabase, StoreError, Tables

THINGS = {"things": "position COUNTER, id KEY NOT NULL UNIQUE, revision INTEGER NOT NULL, since REAL"}


def made(database, tables=THINGS):
    return Tables(database, "the store", tables, {})


def test_a_database_says_how_to_begin_a_transaction():
    with pytest.raises(NotImplementedError):
        Database().transaction(writes=True)
    assert Database().why_unusable("the store", ValueError("no room")) == "the store can't be used: no room"
    assert str(Database()) == "Database"
    needed = r"the store needs a Database, such as SqliteDatabase\(path, \"the store\"\), not string \"a.db\""
    with pytest.raises(TypeError, match=needed):
        made("a.db")


def test_a_database_in_memory_keeps_its_tables_as_long_as_somebody_has_it():
    tables = made(SqliteDatabase(None))
    with tables.transaction() as db:
        assert Claims("things", "a thing").add(db, "a", since=1.0)
    gc.collect()
    with tables.transaction(writes=False) as db:
        assert Claims("things", "a thing").stuck(db, 10.0, 5.0, "id") == [("a",)]
    assert str(tables.database) == "a database in memory"
    missing = pytest.raises(StoreError, match="the store can't be used: no such table: other")
    with missing as raised, tables.transaction() as db:
        db.execute("SELECT * FROM other")
    assert raised.value.code == "unavailable"


def test_a_row_is_changed_by_whoever_has_read_it_last():
    things = Claims("things", "a thing")
    with made(SqliteDatabase(None)).transaction() as db:
        assert things.add(db, "a", since=1.0)
        assert not things.add(db, "a", since=2.0)
        assert not things.change(db, "a", 1, taken=False, since=None)
        assert not things.change(db, "a", 2, taken=True, since=None)
        assert things.change(db, "a", None, taken=True, since=None)
        assert things.read(db, "a", "revision, since") == (2, None)
        assert things.waiting(db, "id") == [("a",)]
        assert not things.delete(db, "a", 1, taken=False)
        assert things.delete(db, "a", 2, taken=False)
        assert things.read(db, "a", "id") is None


@pytest.mark.filterwarnings("error")
def test_a_database_in_memory_ends_with_what_has_it():
    database = SqliteDatabase(None)
    holder = [database]
    holder.append(holder)  # the collector finalizes what is in a circle in any order
    with database.transaction(writes=True) as connection:
        connection.execute("CREATE TABLE a (b)")
    del database, holder
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


class OtherFirst(SqliteDatabase):
    """A database in which another process makes the tables at the same moment, and this one fails."""

    before_tables = ("CREATE TABLE marks (id TEXT)",)

    def __init__(self, path, *, makes):
        super().__init__(path)
        self.makes = makes

    @contextmanager
    def transaction(self, *, writes):
        if writes:
            if self.makes:
                with closing(sqlite3.connect(self.path)) as db, db:
                    db.execute("CREATE TABLE IF NOT EXISTS things (position, id, revision, since)")
            message = "somebody was first"
            raise sqlite3.OperationalError(message)
        with super().transaction(writes=writes) as db:
            yield db


def test_tables_that_another_process_made_at_the_same_time_are_taken(tmp_path):
    made(OtherFirst(tmp_path / "a.db", makes=True))
    with pytest.raises(StoreError, match="somebody was first"):
        made(OtherFirst(tmp_path / "b.db", makes=False))


class Prepared(SqliteDatabase):
    before_tables = ("CREATE TABLE IF NOT EXISTS marks (id TEXT)",)


def test_a_database_may_ask_for_statements_before_its_tables(tmp_path):
    with made(Prepared(tmp_path / "a.db")).transaction(writes=False) as db:
        assert db.execute("SELECT * FROM marks").fetchall() == []
