"""Connections to a file stay open, and neither a fork nor another file at its path loses anything."""

from __future__ import annotations

import gc
import os
import pickle
import sqlite3
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from forks import fork, status_in_a_fork
from patience import LONGEST_WAIT

from operator_schema.rounds import (
    SqliteDatabase,
    SqliteStore,
    StoreError,
    kept_connections,
    leases,
    stored_records,
)

pytestmark = pytest.mark.needs_threads

FORKS = 4


def in_a_child(use):
    """Call a function in a fork, and wait for its end."""
    assert status_in_a_fork(use) == 0


def open_files(path):
    """Count how often this process has a file open."""
    files = [one.resolve() for one in Path("/proc/self/fd").iterdir()]
    return files.count(path.resolve())


def test_the_file_is_in_wal_mode_and_opened_once(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    for number in range(20):
        store.transcript("a").append(f"{number}")
    assert open_files(tmp_path / "desk.db") == 1
    with closing(sqlite3.connect(tmp_path / "desk.db")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.filterwarnings("error")
def test_connections_are_closed_with_the_store(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    store.transcript("a").append("hello")
    assert open_files(tmp_path / "desk.db") == 1
    store.close()
    assert open_files(tmp_path / "desk.db") == 0
    assert not Path(f"{tmp_path}/desk.db-wal").exists()  # all is in the one file
    assert list(store.transcript("a")) == ["hello"]
    del store
    gc.collect()
    assert open_files(tmp_path / "desk.db") == 0


def test_threads_that_come_and_go_leave_no_connections(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    for _ in range(3):
        threads = [threading.Thread(target=store.transcript("a").append, args=("hello",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONGEST_WAIT)
    assert len(store.transcript("a")) == 60
    # SQLite closes a file later if another connection has a lock: https://sqlite.org/src/doc/trunk/src/os_unix.c
    assert open_files(tmp_path / "desk.db") <= 20


@pytest.mark.needs_process
def test_what_a_child_writes_stays_though_its_parent_closes_the_file(tmp_path):
    """SQLite would take the child's locks for granted, because its parent had them: see howtocorrupt.html."""
    store = SqliteStore(tmp_path / "desk.db")
    store.transcript("a").append("parent")
    told, go_on = os.pipe(), os.pipe()

    def write():
        store.transcript("a").append("child")
        os.write(told[1], b"x")
        os.read(go_on[0], 1)
        store.transcript("a").append("child again")

    child = fork(write)
    os.read(told[0], 1)
    store.transcript("a").append("parent again")
    store.close()
    os.write(go_on[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    assert list(store.transcript("a")) == ["parent", "child", "parent again", "child again"]


@pytest.mark.needs_process
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_waits_for_the_transactions_of_other_threads(tmp_path):
    store, database = SqliteStore(tmp_path / "desk.db"), SqliteDatabase(None)
    ends = threading.Event()
    begun = threading.Barrier(3)

    def writes(transaction):
        while not ends.is_set():
            with transaction(writes=True):
                pass
            if not begun.broken and begun.n_waiting < 3 and not ready.is_set():
                begun.wait(LONGEST_WAIT)
                ready.set()

    ready = threading.Event()
    threads = [threading.Thread(target=writes, args=(one.transaction,)) for one in (store.database, database)]
    for thread in threads:
        thread.start()
    begun.wait(LONGEST_WAIT)
    try:
        for number in range(FORKS):

            def use(number=number):
                store.transcript("a").append(f"{number}")
                with database.transaction(writes=True) as db:
                    db.execute("CREATE TABLE a (b)")

            in_a_child(use)
    finally:
        ends.set()
        for thread in threads:
            thread.join(LONGEST_WAIT)
    assert list(store.transcript("a")) == [f"{number}" for number in range(FORKS)]


def test_another_file_at_the_path_is_noticed(tmp_path):
    path = tmp_path / "desk.db"
    store = SqliteStore(path)
    store.transcript("a").append("old")
    other = SqliteStore(tmp_path / "other.db")
    other.transcript("a").append("new")
    other.close()
    for old in tmp_path.glob("desk.db*"):
        old.unlink()
    with pytest.raises(StoreError, match="it was deleted"):
        store.transcript("a").append("lost")
    for old in tmp_path.glob("desk.db*"):
        old.unlink()
    (tmp_path / "other.db").replace(path)
    assert list(store.transcript("a")) == ["new"]


@pytest.mark.parametrize("reads", [stored_records, lambda path: iter(SqliteStore(path).transcript("a"))])
def test_an_open_reader_stops_no_writer(tmp_path, reads):
    path = tmp_path / "desk.db"
    store = SqliteStore(path)
    for number in range(250):
        store.transcript("a").append(f"{number}")
    reader = reads(path)
    first = [next(reader)]
    with closing(sqlite3.connect(path, timeout=0)) as db:
        # An open reader would make it busy, and the file beside this one grow for ever.
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert [*first, *reader] == [f"{number}" for number in range(250)]


def test_a_child_forgets_the_threads_of_its_parent(tmp_path):
    """What a fork calls in the child, called here: the transaction of another thread is nobody's there."""
    store = SqliteStore(tmp_path / "desk.db")
    transaction = store.database.transaction(writes=False)
    transaction.__enter__()
    monkeypatched = kept_connections.PATIENCE
    kept_connections.PATIENCE = 0.01
    try:
        kept_connections._before_fork()
        kept_connections._after_fork_in_child()
    finally:
        kept_connections.PATIENCE = monkeypatched
    store.transcript("a").append("1")
    assert list(store.transcript("a")) == ["1"]


def test_a_database_in_memory_outlives_close_and_is_not_copied():
    database = SqliteDatabase(None)
    with database.transaction(writes=True) as db:
        db.execute("CREATE TABLE a (b)")
    database.close()
    with database.transaction(writes=False) as db:
        assert db.execute("SELECT count(*) FROM a").fetchone() == (0,)
    with pytest.raises(TypeError, match="in memory can't be copied"):
        pickle.dumps(database)


@contextmanager
def without_rights():
    """Be a user who may write nothing: nothing is forbidden to root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such rights here")
def test_a_file_in_a_folder_that_cannot_be_written_is_read():
    with TemporaryDirectory(dir="/tmp") as name:  # every user gets there
        folder, path = Path(name), Path(name, "desk.db")
        store = SqliteStore(path)
        store.transcript("a").append("1")
        store.close()
        folder.chmod(0o555)
        try:
            with without_rights():
                there = SqliteStore(path)
                assert list(there.transcript("a")) == ["1"]
                assert list(stored_records(path)) == ["1"]
                with pytest.raises(StoreError):
                    there.transcript("a").append("2")
                there.close()
        finally:
            folder.chmod(0o755)


def test_what_interrupts_the_opening_of_a_file_closes_it(tmp_path, monkeypatch):
    path = tmp_path / "desk.db"
    SqliteStore(path).close()

    class Interrupted(sqlite3.Connection):
        def execute(self, *_):
            raise KeyboardInterrupt

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: connect(*given, **options, factory=Interrupted)
    )
    before = open_files(path)
    with pytest.raises(KeyboardInterrupt):
        SqliteStore(path)
    gc.collect()
    assert open_files(path) == before


def test_a_file_that_is_not_there_has_no_records(tmp_path):
    with pytest.raises(StoreError, match=r"nothing\.db") as raised:
        list(stored_records(tmp_path / "nothing.db"))
    assert raised.value.code == "unavailable"


class _Renews:
    def renew(self, running):
        raise AssertionError(running)


def test_a_process_that_can_start_no_thread_has_a_lease_that_ends(monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    renews = _Renews()
    found = leases.Leases(renews.renew, 30.0)
    monkeypatch.setattr(threading.Thread, "start", refused)
    found.add("round_1", 1)
    found.remove("round_1")


@pytest.mark.parametrize("is_held", [False, True], ids=["free", "held"])
def test_after_a_fork_a_process_renews_only_what_it_runs_itself(monkeypatch, is_held):
    """The thread of the parent is gone there, and what it held is held for good."""
    started = []
    renewed = []

    class Renews:
        def renew(self, running):
            renewed.append(running)
            for round_id in running:
                found.remove(round_id)

    renews = Renews()
    found = leases.Leases(renews.renew, 0.0)
    monkeypatch.setattr(threading.Thread, "start", lambda self: started.append(self))  # noqa: PLW0108  # bound
    found.add("round_1", 1)
    if is_held:
        found._lock.acquire()
    monkeypatch.setattr(os, "getpid", lambda: 0)
    found.remove("round_1")
    found.add("round_2", 2)
    found.add("round_3", 3)
    _, own = started
    own.run()
    assert renewed == [{"round_2": 2, "round_3": 3}]
