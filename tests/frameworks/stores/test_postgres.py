"""A store in a real PostgreSQL: every promise, and every law of the store in SQLite."""

from __future__ import annotations

import inspect
import os
import pickle
import threading
from contextlib import contextmanager
from functools import partial
from itertools import count

import psycopg
import pytest
import test_stores as laws
from forks import fork, status_in_a_fork
from patience import LONGEST_WAIT, wait_until
from postgres_server import PostgresServer, is_installed
from test_databases_that_leave import STEPS, Leaves, ran_while_it_leaves

from operator_schema import Executor, Toolset
from operator_schema.adapters.postgres import PostgresDatabase, PostgresStore
from operator_schema.code_mode import CodeSession, Journal, ProcessSandbox
from operator_schema.rounds import Store, StoreError
from operator_schema.testing import check_store

pytestmark = pytest.mark.skipif(
    not is_installed(), reason="PostgreSQL isn't installed on this machine: apt-get install postgresql"
)
NUMBER = count()


@pytest.fixture(scope="module")
def server():
    with PostgresServer() as server:
        yield server


@pytest.fixture
def store(server):
    laws.RAN.clear()
    store = PostgresStore(server.conninfo, secret=laws.SECRET, schema=f"desk {next(NUMBER)}")
    yield store
    store.database.close()


@contextmanager
def stopped(server, monkeypatch):
    monkeypatch.setattr("operator_schema.adapters.postgres.PATIENCE", 1.0)
    server.kill()
    try:
        yield
    finally:
        server.start()


def test_it_keeps_every_promise(server):
    check_store(partial(PostgresStore, server.conninfo, schema="contract"))


def test_it_goes_on_after_the_server_was_killed(server, monkeypatch):
    make = partial(PostgresStore, server.conninfo, schema="away")
    monkeypatch.setattr("operator_schema.testing.store_checks.CHECKS", ())
    check_store(make, away=lambda: stopped(server, monkeypatch))


OF_SQLITE = {
    "test_names_and_ids_of_odd_characters": "it takes no character U+0000 in a name",
    "test_a_round_that_is_stuck_says_for_how_many_seconds": "the clock is the server's",
    "test_a_round_that_died_is_found_whatever_the_clock_says": "the clock is the server's",
    "test_an_error_of_sqlite_without_a_remedy_keeps_its_words": "the text is SQLite's",
}
"""Laws that speak of SQLite's own texts and files."""


def _asks_a_file(law):
    return any(word in inspect.getsource(law) for word in ("tmp_path", "sqlite3", "database.path"))


for name, law in vars(laws).items():
    is_law = name.startswith("test_") and "store" in inspect.signature(law).parameters
    if is_law and name not in OF_SQLITE and not _asks_a_file(law):
        globals()[f"{name}_in_postgres"] = law


def test_most_laws_are_tried():
    assert sum(name.endswith("_in_postgres") for name in globals()) >= 29


def test_a_journal_of_programs_can_be_in_it(server):
    journal = Journal(PostgresDatabase(server.conninfo, schema="programs"), most=2)
    for number in range(4):
        program = journal.add(f"program_{number}", "pay()")
        journal.end(program, "waiting", None)
    assert journal.waiting() == ["program_2", "program_3"]
    claimed = journal.claim("program_3", None, approved=True)
    assert (journal.stuck(), claimed.state, claimed.approved) == (["program_3"], "running", True)
    with pytest.raises(StoreError, match="runs now") as raised:
        journal.claim("program_3", None, approved=False)
    assert raised.value.code == "running"
    journal.take_back("program_3")
    with pytest.raises(StoreError, match="was taken back"):
        journal.end(claimed, "done", None)


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\0\ud800"])
def test_a_program_with_characters_that_no_database_holds_fails_in_it(server, odd):
    journal = Journal(PostgresDatabase(server.conninfo, schema=f"odd {next(NUMBER)}"))
    ran = CodeSession(Executor(Toolset()), sandbox=ProcessSandbox(), journal=journal).run_sync(
        f"print('a{odd}b')"
    )
    assert (ran.state, ran.output) == ("failed", "")
    assert "so it wasn't run" in ran.error


def test_what_a_store_can_not_reach_is_named_without_the_password(server, monkeypatch):
    monkeypatch.setattr("operator_schema.adapters.postgres.PATIENCE", 0.5)
    for conninfo in (
        f"{server.conninfo} password=secret123 connect_timeout=1 port=1",
        "host=/nowhere password=secret123",
    ):
        with pytest.raises(StoreError, match="check that the server runs") as raised:
            PostgresStore(conninfo)
        assert raised.value.code == "unavailable"
        assert "secret123" not in f"{raised.value} {raised.value.__cause__}"
    with pytest.raises(
        StoreError, match=r'database "nowhere" does not exist.*; check that the server runs, and'
    ):
        PostgresStore(f"{server.conninfo} dbname=nowhere")
    for wrong in ("host=", "nonsense", "postgresql://[", ""):
        try:
            PostgresDatabase(wrong)
        except ValueError as error:
            assert str(error).startswith("the conninfo of a database can't be read")
            assert str(error).endswith("; write postgresql://user@host/database")
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(ValueError, match="connections must be an integer above 0"):
            PostgresDatabase(server.conninfo, connections=wrong)


class CommitsLate(PostgresDatabase):
    """A database that commits what one thread writes only when it is let."""

    thread = None

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.has_written, self.may_commit = threading.Event(), threading.Event()

    @contextmanager
    def transaction(self, *, writes):
        with super().transaction(writes=writes) as db:
            yield db
            if threading.current_thread() is self.thread:
                self.has_written.set()
                assert self.may_commit.wait(LONGEST_WAIT)


def test_a_call_that_is_saved_after_its_run_has_no_part_in_the_next_one(server):
    """A cancelled run doesn't wait for the row of a call, and PostgreSQL commits the row later."""
    database = CommitsLate(server.conninfo, schema="late")
    store = Store(database)
    first = store.claim(laws.sent(laws.raw("fetch", "f", url="u")), begun=True)
    ended = first.with_results([first.calls[0].complete("first")]).calls[0]
    database.thread = threading.Thread(target=store.keep_call, args=(first, ended))
    database.thread.start()
    assert database.has_written.wait(LONGEST_WAIT)
    second = store.claim(store.keep(first, first.interrupted()).approve("f"), begun=True)
    database.may_commit.set()
    database.thread.join(LONGEST_WAIT)
    assert store.find(second.id).calls[0].content is None
    assert store.take_back(second.id, laws.toolset, force=True).calls[0].state == "deferred"
    store.close()


class PostgresThatLeaves(Leaves, PostgresDatabase):
    """A database whose server is killed, and started again while the store goes on."""

    server = None

    def leave(self):
        self.server.kill()
        starting = threading.Thread(target=self.server.start)
        starting.start()
        self.starting.append(starting)
        if self.has_committed:
            raise psycopg.OperationalError

    def __init__(self, server, **options):
        super().__init__(server.conninfo, **options)
        self.server, self.starting = server, []


@pytest.mark.parametrize("step", [*STEPS, len(STEPS)])  # one more: it asks the server for the time
def test_a_result_is_saved_though_the_server_is_killed(server, step):
    store = Store(PostgresThatLeaves(server, schema=f"leaves {step}"))
    try:
        ran_while_it_leaves(store, (step,))
    finally:
        for starting in store.database.starting:
            starting.join(LONGEST_WAIT)
    store.close()


def test_the_tables_of_another_program_stay_as_they_are(server):
    with psycopg.connect(server.conninfo, autocommit=True) as db:
        db.execute("CREATE SCHEMA other")
        db.execute("CREATE TABLE other.rounds (id TEXT)")
    with pytest.raises(StoreError, match=r"its table rounds lacks position, revision"):
        PostgresStore(server.conninfo, schema="other")
    with psycopg.connect(server.conninfo) as db:
        assert db.execute(
            "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'other'"
        ).fetchone() == (1,)


def test_many_processes_make_the_tables_at_once(server):
    def make():
        assert PostgresStore(server.conninfo, schema="at once").waiting() == []

    children = [fork(make) for _ in range(4)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def test_a_fork_has_connections_of_its_own(store):
    store.transcript("a").append("before")
    assert status_in_a_fork(lambda: store.transcript("a").append("in the child")) == 0
    assert list(store.transcript("a")) == ["before", "in the child"]


def test_a_copy_and_a_closed_store_connect_again(store):
    store.transcript("a").append("hi")
    store.database.close()
    store.database.close()
    assert list(pickle.loads(pickle.dumps(store)).transcript("a")) == ["hi"]
    assert list(store.transcript("a")) == ["hi"]


def test_a_row_that_somebody_locks_is_named(server, store, monkeypatch):
    monkeypatch.setattr("operator_schema.adapters.postgres.PATIENCE", 1.0)
    store.database.close()
    taken = store.claim(laws.sent())
    with psycopg.connect(server.conninfo) as db:
        db.execute(
            psycopg.sql.SQL("UPDATE {}.rounds SET begun = 0").format(
                psycopg.sql.Identifier(store.database._schema)
            )
        )
        assert store.waiting() == []  # who reads doesn't wait
        with pytest.raises(StoreError, match="another process locked the row for 1 seconds") as raised:
            store.keep(taken, taken)
        assert raised.value.code == "unavailable"
    store.keep(taken, taken)


def test_more_threads_than_connections_wait_for_each_other(server):
    store = PostgresStore(server.conninfo, schema="few", connections=2)
    threads = [
        threading.Thread(target=lambda number=number: store.transcript("all").append(f"{number}"))
        for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST_WAIT)
    assert sorted(store.transcript("all"), key=int) == [f"{number}" for number in range(20)]
    store.database.close()


def test_busy_connections_are_no_outage(server, monkeypatch):
    """Who finds all connections busy says so, and closes none of them."""
    store = PostgresStore(server.conninfo, schema="busy", connections=1)
    monkeypatch.setattr("operator_schema.adapters.postgres.PATIENCE", 0.2)
    with store.database.transaction(writes=True) as db:
        db.execute("INSERT INTO items (transcript, item) VALUES ('a', '\"kept\"')")
        pool = store.database._pool
        with pytest.raises(StoreError, match="give more of them"):
            store.waiting()
        assert store.database._pool is pool
    assert list(store.transcript("a")) == ["kept"]
    store.database.close()


def test_a_fork_does_not_wait_for_a_lock_of_another_thread(store):
    store.transcript("a").append("before")
    with store.database._lock:  # as another thread may hold it at that moment
        child = fork(lambda: store.transcript("a").append("in the child"))
    assert os.waitpid(child, 0)[1] == 0
    assert list(store.transcript("a")) == ["before", "in the child"]


def test_closing_a_store_stops_nobody_who_waits_for_a_connection(server):
    store = PostgresStore(server.conninfo, schema="closed meanwhile", connections=1)
    ended = []

    def append():
        store.transcript("a").append("in the thread")
        ended.append(True)

    with store.database.transaction(writes=False) as db:
        db.execute("SELECT 1")
        pool = store.database._pool
        thread = threading.Thread(target=append)
        thread.start()
        wait_until(lambda: pool.get_stats().get("requests_waiting"))
        store.close()
        thread.join(LONGEST_WAIT)
    assert ended
    assert list(store.transcript("a")) == ["in the thread"]
    store.close()
