"""Rounds in the steps of an engine: whenever a step dies, its repetition runs nothing twice."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest
from forks import status_in_a_fork

from operator_schema import Executor, RawCall, Toolset, hook, tool
from operator_schema.adapters import durable
from operator_schema.errors import DecodeError
from operator_schema.rounds import Hooks, RestoreError, RoundError, RunNormally, SqliteStore, StoreError

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
    done = step(executor, waits, {"call": "2", "approve": False, "reason": "no"})
    turns = [asyncio.run(durable.commit_round(executor, done, history)) for _ in range(2)]
    assert turns[0] == turns[1]
    assert [turn.id for turn in history] == [turns[0].id]
    with pytest.raises(StoreError):
        step(executor, done, YES)


@pytest.mark.parametrize(
    "decision",
    [{}, {"call": 2, "approve": True}, {"call": "2"}, {**YES, "approved_by": "x"}, {**YES, "arguments": "{"}],
)
def test_a_wrong_decision_is_refused(tmp_path, decision):
    executor = executor_at(tmp_path, stored=False)
    with pytest.raises(DecodeError):
        step(executor, step(executor, begun(executor)), decision)


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
