"""What a store says of a round without its tools agrees with the round itself, in each of its states."""

from __future__ import annotations

import json
from itertools import product
from typing import Annotated

import pytest

from operator_schema import Executor, NeedsInput, RawCall, ToolResult, Toolset, skip, tool
from operator_schema.rounds import Defer, Hooks, SqliteStore, StoreError, hook

pytestmark = pytest.mark.needs_threads


@tool(confirm=True)
def refund(order: str, amount: int, why: str = "none") -> str:
    """Pay money back."""
    if amount > 100:
        message = "the bank declined"
        raise ValueError(message)
    return f"paid {amount}"


@tool
def choose_seat(train: str, answer: Annotated[str | None, skip] = None) -> str:
    """Choose a seat."""
    if answer is None:
        message = "Window or aisle?"
        raise NeedsInput(message)
    return f"{train}: {answer}"


@tool
def send(amount: int) -> str:
    """Send a voucher."""
    return f"sent {amount}"


@hook(send)
def two_people(_call):
    return Defer("two people", approvals=2, expires_in=1e9)


toolset = Toolset(refund, choose_seat, send)
SENT = [
    RawCall("1", "refund", {"order": "A\n7", "amount": 200}),
    RawCall("2", "refund", {"order": "A7", "amount": "six"}),
    RawCall("3", "choose_seat", {"train": "IC"}),
    RawCall("4", "send", {"amount": 5}),
    RawCall("5", "gone", "not JSON \ud800"),
]
DECISIONS = {
    "1": [
        None,
        lambda work: work.approve("1", by="anna", words="checked"),
        lambda work: work.approve("1", arguments={"order": "B", "amount": 9}, by="ben"),
        lambda work: work.reject("1", "not\nnow", by="anna"),
    ],
    "3": [None, lambda work: work.answer("3", "aisle", by="anna"), lambda work: work.reject("3")],
    "4": [None, lambda work: work.approve("4", by="anna")],
}
EACH = [*product(*DECISIONS.values())]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return SqliteStore(tmp_path_factory.mktemp("found") / "desk.db", secret=b"sixteen bytes or more")


def executor_of(store):
    return Executor(toolset, hooks=Hooks(two_people), store=store)


def seen(found):
    return [(call.id, call.state, call.decisions, call.approved_by, call.approvals) for call in found.calls]


def check_agrees(store, work, state):
    """Check that what is found of a round says the same as the round."""
    found = store.find(work.id)
    assert (found.id, found.state, found.revision) == (work.id, state, work.revision)
    assert (found.conversation, found.about) == (work.conversation, work.about)
    assert seen(found) == seen(work)
    for there, call in zip(found.calls, work.calls, strict=True):
        assert (there.name, there.reason or "") == (call.name, call.reason or "")
        assert there.question == (call.question and call.question.text)
        assert there.since == call.deferred_at or abs(there.since - call.deferred_at) <= 0.001
        assert there.code == (call.result.code if call.result else None)
        if call.state in {"handled", "issue"}:
            assert there.content == call.result.content
        if call.has_input:
            assert there.runs_with == call.arguments


@pytest.mark.parametrize("decided", EACH, ids=range(len(EACH)))
def test_what_is_found_of_a_round_is_what_the_round_says(store, decided):
    executor, history = executor_of(store), store.transcript(f"customer {EACH.index(decided)}\x1b[0m")
    work = executor.run_sync(toolset.offer().round(SENT, about={"user": "anna\ud800"}), history)
    check_agrees(store, store.load(work.id, toolset), "deferred")
    for decide in filter(None, decided):
        work = store.save(decide(store.load(work.id, toolset)))
    work = store.load(work.id, toolset)
    check_agrees(store, work, "deferred")  # two people never agreed
    claimed = store.claim(work, begun=True)
    assert (store.find(work.id).state, store.find(work.id).has_begun) == ("stuck", True)
    store.give_back(claimed)
    work = executor.run_sync(store.load(work.id, toolset)).reject_open("closed")
    work = store.save(work)
    check_agrees(store, store.load(work.id, toolset), "complete")
    before = store.find(work.id)
    work.commit(history)
    after = store.find(work.id)
    assert (after.state, after.conversation) == ("committed", history.name)
    assert [call.decisions for call in after.calls] == [call.decisions for call in before.calls]
    assert [call.code for call in after.calls] == [call.code for call in before.calls]


def test_calls_that_ended_before_their_process_died_are_found(store):
    calls = [RawCall(f"e{n}", "send", {"amount": n}) for n in (1, 2)]
    work = store.claim(toolset.offer().round(calls), begun=True)
    ended = work.calls[1].with_result(ToolResult("e2", "send", "sent 2"), "executor")
    store.keep_call(work, ended)
    assert [call.content for call in store.find(work.id).calls] == [None, "sent 2"]


@pytest.mark.parametrize("name", ["nobody", "", "\0", "\ud800", "a" * 10_000])
def test_a_round_that_was_never_there_says_so(store, name):
    with pytest.raises(StoreError, match="there is no round") as caught:
        store.find(name)
    assert caught.value.code == "done"
    assert len(str(caught.value)) < 300


OTHERS = [None, True, 5, "x", [], {}, [5], "[" * 50_000]
WHOLE = ["[]", "{}", "5", '{"calls": 5}', '{"calls": [], "texts": ["calls"]}', "[" * 100_000, "not JSON"]


def places_in(value, path=()):
    """Yield the path of each value inside of a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places_in(inner, (*path, key))


def with_other(text, path, other):
    data = json.loads(text)
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = other
    return json.dumps(data)


def test_whatever_stands_in_a_row_is_a_round_or_damaged(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    work = store.save(toolset.offer().round(SENT[:1]).confirmed().approve("1", by="anna"))
    with store.database.transaction(writes=False) as db:
        text = db.execute("SELECT round FROM rounds").fetchone()[0]
    damaged = 0
    changed = [with_other(text, *one) for one in product(places_in(json.loads(text)), OTHERS)]
    for written in [*WHOLE, *changed]:
        with store.database.transaction(writes=True) as db:
            db.execute("UPDATE rounds SET round = ?", (written,))
        try:
            store.find(work.id)
        except StoreError as error:
            assert error.code == "damaged"
            damaged += 1
    assert damaged > len(changed) / 3
