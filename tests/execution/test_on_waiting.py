"""Whoever decides is told once of each call that begins to wait, after the round is saved."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Annotated

import pytest

from operator_schema import Defer, Executor, NeedsInput, RawCall, Toolset, skip, tool
from operator_schema.rounds import HookError, InterruptedRoundError, SqliteStore, StoreError

pytestmark = pytest.mark.needs_threads


@tool
def look(place: str) -> str:
    """Look at a place."""
    return place


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def ask(topic: str, answer: Annotated[bool | None, skip] = None) -> str:
    """Ask twice: first about the topic."""
    if answer is None:
        raise NeedsInput(f"May I tell about {topic}?")
    if answer is False:
        raise NeedsInput("Really not?")
    return topic


@tool
def shout() -> str:
    """Raise what the executor passes through."""
    raise LookupError


TOOLS = Toolset(look, pay, ask, shout)
KINDS = {"look": {"place": "x"}, "pay": {"amount": 1}, "ask": {"topic": "rain"}, "nothing": {}}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("names", list(itertools.product(KINDS, repeat=2)), ids="-".join)
def test_each_call_that_waits_is_told_once_when_the_store_has_it(names, is_async, tmp_path):
    store, told = SqliteStore(tmp_path / "desk.db"), []

    def tell(call, work):
        assert store.load(work.id, TOOLS) == work
        assert work.calls[call.index] == call
        told.append(call.id)

    async def tell_later(call, work):
        await asyncio.sleep(0)
        tell(call, work)

    executor = Executor(TOOLS, store=store, on_waiting=tell_later if is_async else tell)
    calls = [RawCall(f"c{index}", name, KINDS[name]) for index, name in enumerate(names)]
    work = executor.run_sync(TOOLS.offer().round(calls))
    expected = [f"c{index}" for index, name in enumerate(names) if name in {"pay", "ask"}]
    assert told == expected == [call.id for call in work.deferred]
    work = executor.run_sync(store.load(work.id, TOOLS))  # they still wait
    assert told == expected
    for call in work.deferred:  # a new question is told anew
        work = work.answer(call.index, False) if call.question else work.approve(call.index)
    work = executor.run_sync(work)
    assert told == [*expected, *[call.id for call in work.deferred]]
    assert [call.name for call in work.deferred] == [name for name in names if name == "ask"]


def test_one_of_two_approvals_is_not_told_again():
    told = []
    executor = Executor(
        TOOLS, hooks=lambda _: Defer(approvals=2), on_waiting=lambda call, _: told.append(call.id)
    )
    work = executor.run_sync(TOOLS.offer().round([RawCall("1", "look", {"place": "x"})]))
    executor.run_sync(work.approve("1", by="anna"))
    assert told == ["1"]


def test_calls_that_wait_beside_one_that_raises_are_told(tmp_path):
    told = []
    executor = Executor(
        TOOLS,
        store=SqliteStore(tmp_path / "desk.db"),
        pass_through=[LookupError],
        on_waiting=lambda call, _: told.append(call.id),
    )
    calls = [RawCall("1", "shout", {}), RawCall("2", "pay", {"amount": 1})]
    with pytest.raises(InterruptedRoundError):
        executor.run_sync(TOOLS.offer().round(calls))
    assert told == ["2"]


def test_nobody_is_told_of_a_round_that_is_not_saved(tmp_path):
    told = []

    class Full(SqliteStore):
        def keep(self, claimed, after):
            raise StoreError("no room")

    def fail(call):
        raise OSError

    calls = [RawCall("1", "pay", {"amount": 1})]
    for store, hooks, error in (
        (Full(tmp_path / "full.db"), None, StoreError),
        (SqliteStore(tmp_path / "desk.db"), fail, HookError),
    ):
        executor = Executor(TOOLS, store=store, hooks=hooks, on_waiting=lambda call, _: told.append(call.id))
        with pytest.raises(error):
            executor.run_sync(TOOLS.offer().round(calls))
    assert told == []


def test_what_cannot_tell_is_logged_and_the_next_call_is_told(caplog):
    told = []

    def tell(call, _):
        told.append(call.id)
        raise OSError("no network")

    calls = [RawCall(f"c{index}", "pay", {"amount": 1}) for index in range(2)]
    with caplog.at_level(logging.ERROR):
        work = Executor(TOOLS, on_waiting=tell).run_sync(TOOLS.offer().round(calls))
    assert (len(work.deferred), told) == (2, ["c0", "c1"])
    assert caplog.messages == [f"on_waiting failed for pay (call c{index})" for index in range(2)]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (5, "not integer 5"),
        (lambda call: None, "a function of a call and its round, not one that takes other arguments"),
        (Executor, "not the class"),
    ],
)
def test_what_takes_something_else_is_refused(given, complaint):
    with pytest.raises(TypeError, match=complaint):
        Executor(TOOLS, on_waiting=given)
