"""Rounds that wait in a store: a person decides, and what is approved runs once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal

import help_desk
import pytest

from operator_schema import Executor, RawCall, Toolset
from operator_schema.rounds import SqliteStore
from operator_schema.workbench.inspector import subject_of
from operator_schema.workbench.inspector.run_call import (
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


def test_very_many_rounds_are_counted(subject, store, monkeypatch):
    from operator_schema.workbench.inspector import run_call

    monkeypatch.setattr(run_call, "_MOST_ROUNDS", 1)
    first = wait(store, REFUND)
    wait(store, REFUND)
    found = waiting_rounds(subject, store)
    assert ([work["id"] for work in found["rounds"]], found["more"]) == ([first], 1)


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
