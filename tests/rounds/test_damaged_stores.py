"""A store into which something else wrote: each method says so, and none fails in another way."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import pytest
from round_samples import pay, raw, search
from shares import share

from operator_schema import Executor, Toolset
from operator_schema.rounds import RestoreError, SqliteStore, StoreError, stored_records

pytestmark = pytest.mark.needs_threads

COLUMNS = {
    "rounds": [
        *("id", "revision", "since", "round", "before", "begun", "lease", "owner", "state", "waits"),
        *("conversation", "tools", "shown"),
    ],
    "ended_calls": ["round", "revision", "saved"],
    "items": ["position", "transcript", "turn", "item"],
}
VALUES = [
    *(
        None,
        0,
        -1,
        1.5,
        2**63 - 1,
        "x",
        "",
        "1",
        b"",
        b"\xff",
        b"[]",
        float("inf"),
        "é\0",
        "[]",
        "{}",
        "null",
        "NaN",
    ),
    *('{"calls": 5}', '{"calls": [{"state": "pending"}]}', "[" * 2_000, '{"turn": {"calls": [{"id": 1}]}}'),
    '{"calls": [{"state": "pending", "id": "1", "name": "pay", "arguments": NaN}]}',
    '{"calls": [{"state": "pending", "id": [], "name": {}, "arguments": {"a": "\\ud800"}}]}',
]
TOOLS = Toolset(search, pay)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the bytes of a store with a round that waits and a transcript, and the id of the round."""
    path = tmp_path_factory.mktemp("store") / "desk.db"
    store = SqliteStore(path)
    done = Executor(TOOLS, store=store).run_sync(TOOLS.offer().round([raw("search", "1", query="a")]))
    transcript = store.transcript("ann")
    transcript.append({"role": "user", "content": "hello"})
    done.commit(transcript)
    waiting = TOOLS.offer().round([raw("search", "1", query="a"), raw("pay", "2", amount=5)])
    Executor(TOOLS, store=store).run_sync(waiting)
    store.close()
    with closing(sqlite3.connect(path)) as db:  # without the GIL, a thread that waits keeps its statements
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.read_bytes(), waiting.id


def uses_of(store, path, round_id):
    yield store.stuck
    yield lambda: store.stuck(5)
    yield store.waiting
    yield store.transcripts
    yield lambda: list(store.transcript("ann"))
    yield lambda: len(store.transcript("ann"))
    yield lambda: store.load(round_id, TOOLS)
    yield lambda: list(stored_records(path))
    yield lambda: store.waiting(conversation="ann", tool="pay", older_than=1, state="deferred", limit=5)
    yield store.counts
    yield lambda: store.take_back(round_id, TOOLS)
    yield lambda: store.take_back(round_id, TOOLS, force=True)


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in COLUMNS.items() for column in columns]
)
@pytest.mark.parametrize("runs", [False, True])
def test_whatever_is_in_a_column(saved, tmp_path, table, column, runs):
    """Each value is tried in a round that runs, or in one that waits; `make laws` tries it in both."""
    data, round_id = saved
    for number, value in share(enumerate(VALUES), 2, runs):
        path = tmp_path / f"{number}.db"
        path.write_bytes(data)
        try:
            with closing(sqlite3.connect(path)) as db, db:
                db.execute("UPDATE rounds SET since = ?", (5.0 if runs else None,))
                db.execute(f"UPDATE {table} SET {column} = ?", (value,))  # noqa: S608  # names of this test
        except sqlite3.Error:
            continue  # SQLite refuses it itself
        store = SqliteStore(path)
        for use in uses_of(store, path, round_id):
            with suppress(StoreError, RestoreError):
                use()


@pytest.mark.parametrize("since", ["x", b"\x00", ""])
def test_a_round_that_began_at_no_time_is_named(saved, tmp_path, since):
    data, round_id = saved
    path = tmp_path / "desk.db"
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rounds SET since = ?", (since,))
    store = SqliteStore(path)
    said = f"the row of {round_id} in the store contains something other than a round"
    for use in (store.stuck, lambda: store.load(round_id, TOOLS), lambda: store.take_back(round_id, TOOLS)):
        with pytest.raises(StoreError) as caught:
            use()
        assert str(caught.value) == said
        assert caught.value.round_id == round_id
