"""A database that goes away for a moment while a round ends: the results are saved when it is back."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import contextmanager

import pytest
from round_samples import raw

from operator_schema import Executor, Toolset, tool
from operator_schema.rounds import SqliteDatabase, Store, StoreError, stores

pytestmark = pytest.mark.needs_threads


class Leaves:
    """A database that goes away at steps of its transactions.

    A step is the begin, a statement, the commit, or the answer to the commit, which gets lost.

    Attributes:
        plan: before which step it leaves next, and before which step of the transaction after that.
        has_committed: whether it has done all statements, and only the answer is missing.
    """

    plan: tuple[int, ...] = ()
    has_committed = False
    _seen = 0

    def leave(self):
        """Go away and come back, and raise what the driver raises for a broken connection."""
        raise NotImplementedError

    def step(self):
        if self.plan and self.seen == self.plan[0]:
            self.plan, self.seen = self.plan[1:], 0
            self.leave()
        elif self.plan:
            self.seen += 1

    @contextmanager
    def transaction(self, *, writes):
        self.seen, self.has_committed = 0, False
        self.step()
        with super().transaction(writes=writes) as db:
            yield Steps(db, self.step)
            self.step()
        self.has_committed = True
        self.step()


class Steps:
    def __init__(self, db, step):
        self.db, self.step = db, step

    def execute(self, *statement):
        self.step()
        return self.db.execute(*statement)


class SqliteThatLeaves(Leaves, SqliteDatabase):
    def leave(self):
        raise sqlite3.OperationalError

    def is_away(self, error):
        return isinstance(error, sqlite3.OperationalError)


def ran_while_it_leaves(store, plan):
    """Run a round whose only call makes the database leave when it has done its work."""
    ran = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        store.database.plan = plan
        return f"paid {amount}"

    tools = Toolset(pay)
    executor = Executor(tools, store=store, threads=False)
    done = executor.run_sync(tools.offer().round([raw("pay", "1", amount=5)]))
    assert (ran, len(store.database.plan) < len(plan)) == ([5], True)
    store.database.plan = ()
    assert (store.stuck(), store.load(done.id, tools)) == ([], done)
    turn = done.commit(store.transcript("customer 7"))
    assert [result.content for result in turn.results] == ["paid 5"]


STEPS = range(5)


@pytest.mark.parametrize("plan", [*itertools.product(STEPS), *itertools.product(STEPS, repeat=2)])
def test_a_result_is_saved_whenever_the_database_leaves(tmp_path, monkeypatch, plan):
    monkeypatch.setattr(stores, "_PAUSE", 0)
    ran_while_it_leaves(Store(SqliteThatLeaves(tmp_path / "desk.db")), plan)


def test_a_database_that_stays_away_longer_than_a_lease_leaves_a_round_that_is_stuck(tmp_path):
    store = Store(SqliteThatLeaves(tmp_path / "desk.db"), lease=0.001)
    with pytest.raises(StoreError, match="can't be saved after its run") as raised:
        ran_while_it_leaves(store, (0,) * 1_000)
    store.database.plan = ()
    assert (raised.value.code, len(store.stuck())) == ("unsaved", 1)
    assert raised.value.round.calls[0].content == "paid 5"


class SqliteThatFails(Leaves, SqliteDatabase):
    """A database that is there, and refuses something: trying again would not help."""

    def leave(self):
        raise sqlite3.OperationalError


def test_a_database_that_is_there_and_fails_is_not_tried_again(tmp_path):
    store = Store(SqliteThatFails(tmp_path / "desk.db"))
    with pytest.raises(StoreError, match="can't be saved after its run"):
        ran_while_it_leaves(store, (1, 1))
    assert store.database.plan == (1,)


def test_what_was_taken_back_meanwhile_is_not_saved(tmp_path):
    store = Store(SqliteThatLeaves(tmp_path / "desk.db"))
    tools = Toolset(tool(lambda: None, name="nothing", description="Do nothing."))
    claimed = store.claim(tools.offer().round([raw("nothing", "1")]), begun=True)
    store.take_back(claimed.id, tools, force=True)
    for plan in ((), (1,), (4,)):
        store.database.plan = plan
        with pytest.raises(StoreError) as raised:
            store.keep(claimed, claimed)
        assert raised.value.code == "taken_back"


class AnswersLate(SqliteThatLeaves):
    """A database whose answer to a commit gets lost, while another process goes on with the round."""

    def leave(self):
        if self.has_committed:
            self.meanwhile()
        super().leave()


def commit(store, waiting):
    waiting.reject_open().commit(store.transcript("customer 7"))


def decide(store, waiting):
    store.save(waiting.reject_open())


def take(store, waiting):
    store.claim(waiting, begun=True)


@pytest.mark.parametrize("go_on", [commit, decide, take])
def test_a_round_that_somebody_went_on_with_is_not_called_unsaved(tmp_path, monkeypatch, go_on):
    """If only the answer got lost, the results are saved, and the round has changed since."""
    monkeypatch.setattr(stores, "_PAUSE", 0)
    store, other = Store(AnswersLate(tmp_path / "desk.db")), Store(SqliteDatabase(tmp_path / "desk.db"))

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        store.database.plan = (4,)
        return f"paid {amount}"

    tools = Toolset(pay, tool(lambda: None, name="wipe", description="Wipe.", confirm=True))
    work = tools.offer().round([raw("pay", "1", amount=5), raw("wipe", "2")])
    store.database.meanwhile = lambda: go_on(other, other.load(work.id, tools))
    with pytest.raises(StoreError, match="went on with it") as raised:
        Executor(tools, store=store, threads=False).run_sync(work)
    assert (raised.value.code, raised.value.round_id) == ("changed", work.id)
    assert "can't be saved" not in str(raised.value)
    assert raised.value.round.calls[0].content == other.find(work.id).calls[0].content == "paid 5"
