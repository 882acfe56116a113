"""Rounds that wait in a store: a person decides, and what is approved runs once."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal

import help_desk
import pytest

from operator_schema import Executor, RawCall, Toolset
from operator_schema.rounds import SqliteDatabase, SqliteStore, Store
from operator_schema.workbench.inspector import subject_of
from operator_schema.workbench.inspector.waiting_calls import (
    Decision,
    DecisionError,
    decide,
    load_round,
    round_as_dict,
    run_round,
    waiting_rounds,
)

pytestmark = pytest.mark.needs_threads

SECRET = b"sixteen bytes or more"


@pytest.fixture
def store(tmp_path):
    return SqliteStore(tmp_path / "desk.db", secret=SECRET)


def wait(store, *calls):
    """Let calls wait, as a program does; return the id of their round."""
    raw = [RawCall(f"c{index}", name, arguments) for index, (name, arguments) in enumerate(calls)]
    executor = Executor(help_desk.toolset, store=store)
    return executor.run_sync(help_desk.toolset.offer().round(raw)).id


def seen_of(subject, store, round_id):
    """Return what stands for the first call of a round as a person sees it."""
    return round_as_dict(load_round(subject, store, round_id))["calls"][0]["seen"]


def decided(subject, store, round_id, action, value=None):
    """Decide about the first call of a round as it is now."""
    return decide(subject, store, Decision(round_id, 0, seen_of(subject, store, round_id), action, value))


REFUND = ("refund", {"order_id": 1, "amount": "1.50"})
SEAT = ("choose_seat", {"train": "IC 712"})
WRONG = ("refund", {})


def test_what_waits_is_shown(subject, store):
    round_id = wait(store, REFUND, SEAT, WRONG, ("find_articles", {"text": "a"}))
    found = waiting_rounds(subject, store)
    (work,) = found["rounds"]
    assert (work["id"], work["pending"], work["is_complete"]) == (round_id, 0, False)
    refund, seat, wrong, articles = work["calls"]
    assert (refund["state"], refund["question"]) == ("deferred", None)
    assert refund["text"].startswith("Run refund?\norder_id: 1")
    assert seat["question"]["text"] == "Window or aisle?"
    assert seat["question"]["form"]["root"]["kind"] == "choice"
    assert wrong["state"] == "issue"
    assert "order_id: missing" in wrong["text"]
    assert articles["result"]["json"] == ["How to a", "Opening hours"]
    assert found["stuck"] == []
    json.dumps(found)


def test_an_approval_is_saved_and_runs_nothing(subject, store):
    round_id = wait(store, REFUND)
    shown = decided(subject, store, round_id, "approve")
    assert shown["calls"][0]["state"] == "pending"
    assert help_desk.PAID == []
    assert store.load(round_id, help_desk.toolset).pending[0].approved  # another process sees it


def test_what_is_approved_runs_once_and_the_program_commits_it(subject, store):
    round_id = wait(store, REFUND)
    decided(subject, store, round_id, "approve")
    done = asyncio.run(run_round(subject, store, load_round(subject, store, round_id)))
    assert done["is_complete"]
    assert [(1, Decimal("1.50"))] == help_desk.PAID
    with pytest.raises(DecisionError, match="this round has no approved call to run"):
        asyncio.run(run_round(subject, store, load_round(subject, store, round_id)))
    turn = store.load(round_id, help_desk.toolset).commit(store.transcript("order 1"))
    assert turn.results[0].content == "paid 1.50 for order 1: goodwill"
    assert len(help_desk.PAID) == 1
    with pytest.raises(DecisionError, match="is done"):
        decided(subject, store, round_id, "reject")


def test_other_arguments_are_checked(subject, store):
    round_id = wait(store, REFUND)
    with pytest.raises(DecisionError, match="amount"):
        decided(subject, store, round_id, "approve", {"order_id": 1, "amount": "many"})
    decided(subject, store, round_id, "approve", {"order_id": 1, "amount": "0.50"})
    asyncio.run(run_round(subject, store, load_round(subject, store, round_id)))
    assert [(1, Decimal("0.50"))] == help_desk.PAID


def test_a_rejection_has_its_reason(subject, store):
    round_id = wait(store, REFUND)
    shown = decided(subject, store, round_id, "reject", "not today")
    assert shown["is_complete"]
    assert shown["calls"][0]["result"]["content"] == "This call was rejected: not today"
    assert decided(subject, store, wait(store, REFUND), "reject")["is_complete"]


def test_a_question_is_answered(subject, store):
    round_id = wait(store, SEAT)
    with pytest.raises(DecisionError, match="corridor"):
        decided(subject, store, round_id, "answer", "corridor")
    with pytest.raises(DecisionError, match=r"round\.answer"):
        decided(subject, store, round_id, "approve")
    decided(subject, store, round_id, "answer", "aisle")
    done = asyncio.run(run_round(subject, store, load_round(subject, store, round_id)))
    assert done["calls"][0]["result"]["content"] == "IC 712: a seat at the aisle"


def test_the_call_that_was_shown_is_decided_whatever_the_ids_are(subject, store):
    raw = [RawCall(call_id, *REFUND) for call_id in "10"]
    work = Executor(help_desk.toolset, store=store).run_sync(help_desk.toolset.offer().round(raw))
    shown = decided(subject, store, work.id, "reject", "no")
    assert [call["state"] for call in shown["calls"]] == ["rejected", "deferred"]


IMPOSSIBLE = [("nobody", 0, "approve"), ("own", 5, "approve")]


@pytest.mark.parametrize("decision", IMPOSSIBLE, ids=["no round", "no call"])
def test_what_can_not_be_decided(subject, store, decision):
    round_id = wait(store, REFUND)
    name, index, action = decision
    seen = seen_of(subject, store, round_id)
    with pytest.raises(DecisionError):
        decide(subject, store, Decision(round_id if name == "own" else name, index, seen, action))
    assert [one.id for one in store.waiting()] == [round_id]


def test_a_decision_of_somebody_else_comes_first(subject, store):
    round_id = wait(store, REFUND)
    work = store.load(round_id, help_desk.toolset)
    decided(subject, store, round_id, "reject", "no")
    with pytest.raises(Exception, match="in the meantime"):
        store.claim(work.approve(0))


def test_a_round_of_other_tools_or_with_another_secret_says_so(subject, store, tmp_path):
    wait(store, REFUND)
    others = subject_of("others", Toolset(help_desk.export))
    (work,) = waiting_rounds(others, store)["rounds"]
    assert "refund" in work["problem"]
    (work,) = waiting_rounds(subject, SqliteStore(tmp_path / "desk.db"))["rounds"]
    assert work["problem"].endswith(
        "signed: give the variable that holds the secret, with --secret-env NAME)"
    )
    assert work["calls"] == []
    with pytest.raises(DecisionError, match="with --secret-env NAME"):
        load_round(subject, SqliteStore(tmp_path / "desk.db"), work["id"])


def test_rounds_of_a_process_that_died_are_listed(subject, store):
    round_id = wait(store, REFUND)
    work = store.load(round_id, help_desk.toolset)
    store.claim(work.approve(0))
    found = waiting_rounds(subject, store)
    assert [one["id"] for one in found["stuck"]] == [round_id]
    assert found["stuck"][0]["calls"] == [f"refund (call {work.calls[0].id})"]
    assert found["rounds"] == []


class CountingDatabase(SqliteDatabase):
    """A database that counts the rows that are read from it."""

    read = 0

    @contextmanager
    def transaction(self, *, writes):
        with super().transaction(writes=writes) as db:
            yield CountingConnection(self, db)


class CountingConnection:
    def __init__(self, database, db):
        self.database, self.db = database, db

    def execute(self, *statement):
        return CountingCursor(self.database, self.db.execute(*statement))


class CountingCursor:
    def __init__(self, database, cursor):
        self.database, self.cursor = database, cursor

    def __getattr__(self, name):
        return getattr(self.cursor, name)

    def fetchone(self):
        self.database.read += 1
        return self.cursor.fetchone()

    def fetchall(self):
        rows = self.cursor.fetchall()
        self.database.read += len(rows)
        return rows


def test_a_page_of_very_many_rounds_reads_only_its_own(subject, store, tmp_path):
    round_id = wait(store, REFUND)
    with store.database.transaction(writes=True) as db:  # as many as a desk may have, each a copy
        row = db.execute("SELECT * FROM rounds").fetchone()
        names = [one[1] for one in db.execute("PRAGMA table_info(rounds)").fetchall()]
        values = dict(zip(names, row, strict=True))
        db.executemany(
            f"INSERT INTO rounds ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",  # noqa: S608  # its own columns
            [(*{**values, "position": None, "id": f"copy {n}"}.values(),) for n in range(2_000)],
        )
    counting = CountingDatabase(tmp_path / "desk.db")
    many = Store(counting, secret=SECRET)
    counting.read = 0
    found = waiting_rounds(subject, many)
    assert found["rounds"][0]["id"] == round_id
    assert found["counts"]["deferred"] == 2_001
    assert counting.read < 100
    last = waiting_rounds(subject, many, after=found["after"])
    assert last["rounds"][0]["id"] != round_id
    assert len(last["rounds"]) == len(found["rounds"]) == 20


def test_a_list_has_filters_and_says_of_whom_and_since_when(subject, store):
    executor, raw = Executor(help_desk.toolset, store=store), RawCall("c", *REFUND)
    for name in ("anna", "ben"):
        executor.run_sync(help_desk.toolset.offer().round([raw], conversation=name, about={"of": name}))
    (found,) = waiting_rounds(subject, store, conversation="ben")["rounds"]
    (listed,) = store.waiting(conversation="ben")
    assert (found["conversation"], found["about"], found["since"]) == ("ben", {"of": "ben"}, listed.since)
    assert len(waiting_rounds(subject, store, tool="refund")["rounds"]) == 2
    assert waiting_rounds(subject, store, tool="choose_seat")["rounds"] == []
    assert waiting_rounds(subject, store, older_than=86_400.0)["rounds"] == []


def test_the_person_and_the_words_are_in_the_record(subject, store):
    round_id = wait(store, REFUND)
    decision = Decision(round_id, 0, seen_of(subject, store, round_id), "approve", words="order checked")
    shown = decide(subject, store, decision, "anna")
    (record,) = store.load(round_id, help_desk.toolset).calls[0].decisions
    assert (record.by, record.words) == ("anna", "order checked")
    assert shown["calls"][0]["decisions"] == [record.as_dict()]
    assert store.stuck() == []  # nothing was claimed


def test_a_decision_is_about_what_the_person_saw(subject, store):
    round_id = wait(store, REFUND)
    seen = seen_of(subject, store, round_id)
    late = Decision(round_id, 0, seen, "approve")
    # It was approved, its process died while it ran, and it waits for a person again.
    running = store.claim(store.load(round_id, help_desk.toolset).approve(0), begun=True)
    store.take_back(running.id, help_desk.toolset)
    with pytest.raises(DecisionError, match="isn't as it was shown any more"):
        decide(subject, store, late)
    assert store.load(round_id, help_desk.toolset).deferred
    decide(subject, store, replace(late, seen=seen_of(subject, store, round_id)))
    assert store.load(round_id, help_desk.toolset).pending


def test_a_round_that_was_changed_after_a_person_saw_it_does_not_run(subject, store):
    round_id = wait(store, REFUND)
    decided(subject, store, round_id, "approve")
    shown = load_round(subject, store, round_id)
    other = store.load(round_id, help_desk.toolset).reject(0, "no")
    store.keep(store.claim(other), other)
    with pytest.raises(DecisionError, match="in the meantime"):
        asyncio.run(run_round(subject, store, shown))
    assert help_desk.PAID == []
