"""Rounds in the steps of an engine: whenever a step dies, its repetition runs nothing twice."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Annotated

import pytest
from forks import status_in_a_fork

from operator_schema import Defer, Executor, NeedsInput, RawCall, Toolset, hook, skip, tool
from operator_schema.adapters import durable
from operator_schema.errors import DecodeError
from operator_schema.rounds import (
    Hooks,
    RestoreError,
    RoundError,
    RunNormally,
    SqliteStore,
    StoreError,
    tool_call,
)

pytestmark = pytest.mark.needs_threads
YES = {"call": "2", "approve": True, "by": "anna", "words": "checked"}


def tools_at(path, dies=None):
    """Make tools that note in a file when they run; the process dies in the one that is named."""

    def note(name):
        with path.open("a") as file:
            file.write(f"{name}\n")
        if name == dies:
            os._exit(9)

    @tool
    def look(order: str) -> str:
        """Look."""
        note("look")
        return f"{order}: 6 USD"

    @tool(confirm=True)
    def pay(order: str) -> str:
        """Pay."""
        note("pay")
        return f"{order}: paid"

    return Toolset(look, pay)


def executor_at(folder, dies=None, *, stored=True):
    store = SqliteStore(folder / "rounds.db", lease=0.5) if stored else None
    return Executor(tools_at(folder / "ran", dies), store=store)


def begun(executor):
    calls = [RawCall("1", "look", {"order": "A7"}), RawCall("2", "pay", {"order": "A7"})]
    return durable.saved_round(executor.registry.toolset.offer().round(calls))


def step(executor, saved, *decisions):
    return asyncio.run(durable.run_round(executor, saved, decisions))


def in_a_child(work):
    assert status_in_a_fork(work) in {0, 9}


def ran(folder):
    return (folder / "ran").read_text().split()


@pytest.mark.parametrize("stored", [True, False])
def test_a_round_goes_through_two_steps_as_text(tmp_path, stored):
    executor = executor_at(tmp_path, stored=stored)
    waits = step(executor, begun(executor))
    (call,) = durable.waiting_calls(waits)
    assert (call["id"], call["name"], call["arguments"]) == ("2", "pay", {"order": "A7"})
    assert "confirm=True" in call["reason"]
    done = step(executor, waits, YES)
    assert durable.waiting_calls(done) == []
    assert ran(tmp_path) == ["look", "pay"]
    work = durable.restored_round(executor, done)
    assert [call.result.content for call in work.calls] == ["A7: 6 USD", "A7: paid"]
    assert [(each.by, each.words) for each in work.calls[1].decisions] == [("anna", "checked")]


@pytest.mark.needs_process
@pytest.mark.parametrize("dies", ["look", "pay", None])
@pytest.mark.parametrize("again", [1, 3])
def test_a_repeated_step_runs_nothing_twice(tmp_path, dies, again):
    """The process dies inside of a tool, or after the step, before the engine has noted what it returned."""
    executor = executor_at(tmp_path)
    saved = begun(executor)
    in_a_child(lambda: step(executor_at(tmp_path, dies), saved))
    for _ in range(again):
        waits = step(executor, saved)
    waiting = {call["id"]: call["reason"] for call in durable.waiting_calls(waits)}
    assert ran(tmp_path) == ["look"]
    assert ("interrupted" in waiting.get("1", "")) == (dies == "look")
    in_a_child(lambda: step(executor_at(tmp_path, dies), waits, YES))
    for _ in range(again):
        after = step(executor, waits, YES)
    assert ran(tmp_path) == ["look", "pay"]
    left = [call["id"] for call in durable.waiting_calls(after)]
    assert left == [*(["1"] if dies == "look" else []), *(["2"] if dies == "pay" else [])]


@pytest.mark.needs_process
@pytest.mark.parametrize("decisions", [(), (YES,)])
def test_a_step_that_dies_while_a_hook_decides_runs_when_it_is_repeated(tmp_path, decisions):
    path = tmp_path / "ran"

    def executor_with(decides):
        return Executor(tools_at(path), hooks=Hooks(decides), store=executor_at(tmp_path).store)

    executor = executor_with(lambda _: None)
    saved = begun(executor)
    if decisions:
        saved = step(executor, saved)
    in_a_child(lambda: step(executor_with(lambda _: os._exit(9)), saved, *decisions))
    after = step(executor, saved, *decisions)
    assert ran(tmp_path) == (["look", "pay"] if decisions else ["look"])
    assert not durable.restored_round(executor, after).pending
    assert step(executor, saved, *decisions) == after


def test_who_decides_sees_what_will_run():
    @tool(confirm=True)
    def send(text: str, copies: int = 1) -> str:
        """Send."""
        return text * copies

    @hook(send)
    def polite(call):
        return RunNormally(input=replace(call.input, text="please")) if call.input.text == "rude" else None

    executor = Executor([send], hooks=Hooks(polite))
    offer = executor.registry.toolset.offer()
    sent = [{"text": "rude"}, {"text": "a", "unknown": "\ud800"}]
    for arguments, shown in zip(sent, ["please", "a"], strict=True):
        waits = step(executor, durable.saved_round(offer.round([RawCall("1", "send", arguments)])))
        (call,) = durable.waiting_calls(waits)
        assert call["arguments"] == {"text": shown, "copies": 1}


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "[" * 100_000, '{"revision": 1, "round": 3}', '{"revision": "1", "round": {}}'],
)
def test_a_text_of_something_else_is_refused(text):
    executor = Executor([])
    for read in (durable.waiting_calls, lambda saved: durable.restored_round(executor, saved)):
        with pytest.raises(RestoreError):
            read(text)


@pytest.mark.needs_process
def test_without_a_store_a_repeated_step_runs_again(tmp_path):
    executor = executor_at(tmp_path, stored=False)
    saved = begun(executor)
    in_a_child(lambda: step(executor, saved))
    step(executor, saved)
    assert ran(tmp_path) == ["look", "look"]


def test_a_turn_is_committed_once(tmp_path):
    executor = executor_at(tmp_path)
    history = executor.store.transcript("customer 7")
    waits = step(executor, begun(executor))
    with pytest.raises(RoundError):
        asyncio.run(durable.commit_round(executor, waits, history))
    with pytest.raises(TypeError, match=r"the transcript of a store, not .*: write store.transcript\(name\)"):
        asyncio.run(durable.commit_round(executor, waits, []))
    done = step(executor, waits, {"call": "2", "approve": False, "reason": "no"})
    turns = [asyncio.run(durable.commit_round(executor, done, history)) for _ in range(2)]
    assert turns[0] == turns[1]
    assert [turn.id for turn in history] == [turns[0].id]
    with pytest.raises(StoreError):
        step(executor, done, YES)


@pytest.mark.parametrize(
    "decision",
    [
        {},
        {"call": 2, "approve": True},
        {"call": "2"},
        {**YES, "approved_by": "x"},
        {**YES, "arguments": "{"},
        {"call": "2", "approve": None},
        {**YES, "approve": False, "answer": 1},
        {**YES, "answer": 1, "arguments": {}},
    ],
)
def test_a_wrong_decision_is_refused(tmp_path, decision):
    executor = executor_at(tmp_path, stored=False)
    with pytest.raises(DecodeError):
        step(executor, step(executor, begun(executor)), decision)


def waits_an_hour(folder, *, stored):
    """Return an executor, and the text of its round in which a call can be approved for an hour."""
    store = SqliteStore(folder / "rounds.db") if stored else None
    waits = Defer("a lot", expires_in=3_600)
    executor = Executor(
        tools_at(folder / "ran"), store=store, hooks=lambda call: waits if call.name == "pay" else None
    )
    return executor, step(executor, begun(executor))


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(
    "late", [{"approve": True}, {"approve": True, "arguments": {"order": "B8"}}, {"approve": False}]
)
def test_the_model_reads_that_a_call_has_expired_when_a_decision_is_late(tmp_path, monkeypatch, stored, late):
    executor, saved = waits_an_hour(tmp_path, stored=stored)
    later = tool_call.time() + 7_200
    monkeypatch.setattr(tool_call, "time", lambda: later)
    for _ in range(3):
        after = step(executor, saved, {"call": "2", "by": "anna", **late})
        calls = durable.restored_round(executor, after).calls
        assert [call.code for call in calls] == [None, "expired"]
        assert calls[1].content == "Nobody approved this call in time, so it was not run."
        assert durable.waiting_calls(after) == []
    assert ran(tmp_path) == ["look"]


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("readings", range(1, 12))
def test_a_call_that_expires_while_a_step_runs_has_one_of_two_ends(tmp_path, monkeypatch, stored, readings):
    """Its time is over after so many looks at the clock, so that a step notices it at each place."""
    executor, saved = waits_an_hour(tmp_path, stored=stored)
    now = tool_call.time()
    clock = iter([now] * readings)
    monkeypatch.setattr(tool_call, "time", lambda: next(clock, now + 7_200))
    after = step(executor, saved, {"call": "2", "approve": True})
    code = durable.restored_round(executor, after).calls[1].code
    assert (code, ran(tmp_path)) in [("expired", ["look"]), (None, ["look", "pay"])]


@tool
def choose_seat(train: str, answer: Annotated[int | None, skip] = None) -> str:
    """Choose a seat."""
    if answer is None:
        raise NeedsInput("Which seat?")
    return f"{train}: {answer}"


@pytest.mark.parametrize("answer", [{"answer": 0}, {"answer": 0, "approve": True}])
def test_a_question_of_a_tool_is_shown_and_answered(tmp_path, answer):
    executor = Executor([choose_seat], store=SqliteStore(tmp_path / "rounds.db"))
    work = executor.registry.toolset.offer().round([RawCall("1", "choose_seat", {"train": "IC"})])
    asked = step(executor, durable.saved_round(work))
    (call,) = durable.waiting_calls(asked)
    assert call["question"] == {"text": "Which seat?", "answer_schema": {"type": "integer"}}
    with pytest.raises(DecodeError, match="expected integer"):
        step(executor, asked, {"call": "1", "answer": "window"})
    with pytest.raises(RoundError, match="asks"):
        step(executor, asked, {"call": "1", "approve": True})
    done = step(executor, asked, {"call": "1", "by": "anna", **answer})
    (call,) = durable.restored_round(executor, done).calls
    assert (call.content, call.decisions[-1].by) == ("IC: 0", "anna")


@pytest.mark.parametrize("decisions", [YES, "[]", None, 5, ["2"], [[YES]], [None]], ids=repr)
def test_decisions_that_are_no_list_of_objects_are_refused(tmp_path, decisions):
    executor = executor_at(tmp_path, stored=False)
    with pytest.raises(DecodeError, match=r"expected (array of )?object"):
        asyncio.run(durable.run_round(executor, step(executor, begun(executor)), decisions))


TEXTS = ["", "garbage", "5", "[]", "{}", '{"round": {}}', '{"revision": null, "round": 5}', "[" * 100_000]


@pytest.mark.parametrize("saved", TEXTS, ids=range(len(TEXTS)))
def test_a_text_of_no_round_is_refused(tmp_path, saved):
    executor = executor_at(tmp_path, stored=False)
    for use in (durable.waiting_calls, lambda text: step(executor, text)):
        with pytest.raises(ValueError, match="the text that saved_round or run_round returned, not string"):
            use(saved)


def test_arguments_in_another_order_are_refused(tmp_path):
    executor = executor_at(tmp_path, stored=False)
    toolset, saved = executor.registry.toolset, begun(executor)
    work = durable.restored_round(executor, saved)
    for use in (durable.waiting_calls, lambda given: step(executor, given)):
        for given, remedy in [
            (work, r"Round.*: write saved_round\(round\)"),
            (None, "null"),
            (executor, "Exec"),
        ]:
            with pytest.raises(
                TypeError, match=f"the text that saved_round or run_round returned, not {remedy}"
            ):
                use(given)
    for wrong in (toolset, saved, None):
        with pytest.raises(TypeError, match=r"expected an executor, not .*: write Executor\(toolset\)"):
            step(wrong, saved)
        with pytest.raises(TypeError, match="a round is saved, such as"):
            durable.saved_round(wrong)
