"""A call of a round runs once in a process, whichever of its plans is executed."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import sys
import threading
from collections import Counter
from typing import Annotated, Any

import pytest
from garbage import pass_over_what_is_there
from hypothesis import given, settings
from hypothesis import strategies as st
from round_samples import done, fetch, raw

from operator_schema import (
    DecodeError,
    Executor,
    NeedsInput,
    RawCall,
    RoundError,
    Toolset,
    Transcript,
    skip,
    tool,
)
from operator_schema.rounds import InterruptedRoundError, RestoreError, settlement

pytestmark = pytest.mark.needs_threads

RAN: Counter[tuple[int, Any]] = Counter()
"""How often each call was run, with its answer."""


@tool
async def plain(tag: int) -> str:
    """Do it."""
    RAN[tag, None] += 1
    await asyncio.sleep(0)
    return f"did {tag}"


@tool(confirm=True)
def guarded(tag: int) -> str:
    """Do it after a person agreed."""
    RAN[tag, None] += 1
    return f"did {tag}"


@tool
def asking(tag: int, answer: Annotated[int | None, skip] = None) -> str:
    """Ask, then do it."""
    RAN[tag, answer is not None] += 1
    if answer is None:
        raise NeedsInput("How many?")
    return f"did {tag} {answer}"


TOOLS = Toolset(plain, guarded, asking)
EXECUTOR = Executor(TOOLS)


def a_round(*names: str) -> Any:
    RAN.clear()
    return TOOLS.offer().round([RawCall(f"c{tag}", name, {"tag": tag}) for tag, name in enumerate(names)])


def executed(plan: Any) -> Any:
    return EXECUTOR.run_sync(plan)


def copied(plan: Any) -> Any:
    return TOOLS.restore_round(json.loads(json.dumps(plan.as_dict())))


# --- the law -------------------------------------------------------------------------------------

STEPS = ["execute", "execute", "approve", "answer", "reject", "restore", "current", "pickle", "reject_open"]


def step(plan: Any, what: str, index: int) -> Any:
    match what:
        case "execute":
            return executed(plan)
        case "approve":
            return plan.approve(index)
        case "answer":
            return plan.answer(index, 3)
        case "reject":
            return plan.reject(index)
        case "reject_open":
            return plan.reject_open()
        case "restore":
            return copied(plan)
        case "pickle":
            return pickle.loads(pickle.dumps(plan))
        case _:
            return plan.current()


def test_a_call_that_another_plan_ran_can_not_be_committed_as_rejected():
    waiting = a_round("guarded").confirmed()
    rejected = waiting.reject("c0")
    executed(waiting.approve("c0"))
    with pytest.raises(RoundError, match="was run already"):
        rejected.commit([])


@settings(max_examples=3 * settings().max_examples, deadline=None)
@given(
    st.lists(st.sampled_from(["plain", "guarded", "asking"]), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(STEPS), st.integers(0, 2)), max_size=25),
)
def test_whatever_is_done_with_whichever_plan_no_call_runs_twice(names, steps):
    plans = [a_round(*names).confirmed()]
    for number, what, index in steps:
        plan = plans[number % len(plans)]
        before = Counter(RAN)
        try:
            made = step(plan, what, index)
        except RoundError:
            assert before == RAN
            continue
        plans.append(made)
        assert max(RAN.values(), default=0) <= 1
    for plan in plans:
        try:
            turn = plan.commit([])
        except RoundError:
            continue
        for tag, result in enumerate(turn.results):
            number = RAN[tag, True if names[tag] == "asking" else None]
            assert number == (0 if result.code == "rejected" else 1)


# --- in words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda plan: plan, copied, lambda plan: plan.replace(), pickle.loads])
def test_a_plan_that_was_executed_says_so(again):
    plan = a_round("guarded", "plain").confirmed().approve("c0")
    other = pickle.dumps(plan) if again is pickle.loads else plan
    after = executed(plan)
    assert len(after.handled) == 2
    with pytest.raises(RoundError) as caught:
        executed(again(other))
    assert str(caught.value) == (
        'guarded (call "c0") was run already, from this state of the round or another one: '
        "go on with the round that the executor returned, or with round.current()"
    )
    assert set(RAN.values()) == {1}
    assert after.commit(Transcript()).results[0].content == "did 0"


def test_a_round_that_was_executed_says_so_before_its_hooks_are_asked():
    found = a_round("plain")
    executed(found)
    with pytest.raises(RoundError, match="was run already"):
        EXECUTOR.run_sync(found, hooks=lambda call: pytest.fail("asked"))


def test_what_another_plan_ran_can_not_be_decided_on_any_more():
    waiting = a_round("guarded", "asking").confirmed()
    asked = executed(waiting)
    executed(asked.approve("c0").answer("c1", 3))
    for decide in (
        lambda: asked.approve("c0"),
        lambda: asked.reject("c0"),
        lambda: asked.answer("c1", 4),
        asked.reject_open,
        lambda: executed(asked.approve("c0")),
    ):
        with pytest.raises(RoundError, match="was run already"):
            decide()
    assert [call.result.content for call in asked.current().handled] == ["did 0", "did 1 3"]
    assert asked.current() == waiting.current()
    # A copy knows only that they ran.
    assert copied(asked).current() == asked


def test_calls_that_wait_beside_may_still_run():
    waiting = a_round("guarded", "guarded").confirmed()
    executed(waiting.approve("c0"))
    after = executed(waiting.approve("c1"))
    assert [call.id for call in after.handled] == ["c0", "c1"]
    assert set(RAN.values()) == {1}


def test_of_tasks_that_execute_one_plan_at_once_one_runs_it():
    plan = a_round("plain", "plain").confirmed()

    async def both() -> list[Any]:
        runs = [EXECUTOR.run(plan), EXECUTOR.run(copied(plan))]
        return await asyncio.gather(*runs, return_exceptions=True)

    first, second = asyncio.run(both())
    assert len(first.handled) == 2
    assert "is running already" in str(second)
    assert set(RAN.values()) == {1}


def test_of_many_threads_that_execute_one_plan_one_runs_it():
    for _ in range(20):
        plans = [a_round(*["guarded"] * 3).confirmed()]
        for index in range(3):
            plans.append(plans[-1].approve(index))
        plans += [copied(plans[-1]) for _ in range(4)]
        barrier, ended = threading.Barrier(8), []

        def execute(plan, barrier=barrier, ended=ended):
            barrier.wait()
            try:
                ended.append(executed(plan))
            except RoundError:
                ended.append(None)

        threads = [threading.Thread(target=execute, args=(plan,)) for plan in plans]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert max(RAN.values()) == 1
        assert len(RAN) == 3 or None in ended


def test_a_call_that_raised_what_is_passed_through_may_run_again():
    @tool
    def hand_over(tag: int) -> str:
        """Hand over."""
        RAN[tag, None] += 1
        if RAN[tag, None] == 1:
            raise LookupError(tag)
        return "done"

    RAN.clear()
    toolset = Toolset(hand_over, plain)
    executor = Executor(toolset, pass_through=[LookupError])
    sent = toolset.offer().round([RawCall("c0", "hand_over", {"tag": 0}), RawCall("c1", "plain", {"tag": 1})])
    with pytest.raises(InterruptedRoundError) as caught:
        executor.run_sync(sent)
    after = executor.run_sync(caught.value.round)
    assert [call.result.content for call in after.handled] == ["done", "did 1"]


def test_a_hook_that_fails_has_run_nothing():
    plan = a_round("plain").confirmed()

    def fail(call):
        raise OSError

    with pytest.raises(RuntimeError):
        EXECUTOR.run_sync(plan, hooks=fail)
    assert len(executed(plan).handled) == 1


def test_an_answer_that_no_longer_fits_has_run_nothing():
    plan = executed(a_round("asking", "plain")).answer("c0", 3)
    (call,) = plan.pending
    wrong = plan.replace(calls=(call.replace(_answers=(("answer", "x"),)), plan.calls[1]))
    with pytest.raises(DecodeError):
        executed(wrong)
    assert len(executed(plan).handled) == 2


# --- rounds that are interrupted -----------------------------------------------------------------


@tool
async def endless(tag: int) -> str:
    """Never end."""
    RAN[tag, None] += 1
    if not IS_OVER:
        await asyncio.Event().wait()
    return "ended"


IS_OVER: list[bool] = []
"""Whether calls of `endless` end."""


SLOW = Toolset(plain, endless, guarded)


def interrupted(*names: str) -> Any:
    """Return the plan of a round whose execution was cancelled when all its calls had begun."""
    RAN.clear()
    IS_OVER.clear()
    plan = (
        SLOW.offer()
        .round([RawCall(f"c{tag}", name, {"tag": tag}) for tag, name in enumerate(names)])
        .confirmed()
    )

    async def cancel() -> None:
        task = asyncio.create_task(Executor(SLOW).run(plan))
        begun = names.count("plain") + names.count("endless")
        while len(RAN) < begun or len(plan.current().handled) < names.count("plain"):  # noqa: ASYNC110  # a plan has no events
            await asyncio.sleep(0)
        assert len(plan.current().pending) == names.count("endless")  # they run
        with pytest.raises(RoundError, match="is running already"):
            plan.reject(names.index("endless"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    return plan


def test_a_cancelled_round_keeps_what_has_ended_and_asks_about_the_rest():
    plan = interrupted("plain", "endless", "guarded", "plain")
    with pytest.raises(RoundError, match="was run already"):
        executed(plan)
    now = plan.current()
    assert [call.result.content for call in now.handled] == ["did 0", "did 3"]
    assert [(call.id, call.reason) for call in now.deferred] == [
        ("c1", "it was begun and interrupted, so nobody knows whether it did its work"),
        ("c2", "the tool needs a person's approval (confirm=True)"),
    ]
    turn = now.reject("c1", "It is not known whether it ran.").reject("c2").commit([])
    assert [result.code for result in turn.results] == [None, "rejected", "rejected", None]


def test_a_call_that_was_interrupted_runs_again_only_if_somebody_says_so():
    plan = interrupted("endless")
    with pytest.raises(RoundError, match="was begun and interrupted already"):
        Executor(SLOW).run_sync(plan)
    now = SLOW.restore_round(json.dumps(plan.current().as_dict()))
    assert (now.pending, len(now.deferred)) == ((), 1)
    again = now.approve("c0")

    IS_OVER.append(True)
    executor = Executor(SLOW)
    assert executor.run_sync(again).handled[0].result.content == "ended"
    with pytest.raises(RoundError, match="was run already"):
        executor.run_sync(plan.current().approve("c0"))
    assert RAN == {(0, None): 2}


# --- memory --------------------------------------------------------------------------------------


def test_only_the_last_rounds_are_remembered(monkeypatch):
    rounds = settlement.RememberedRounds()
    monkeypatch.setattr(settlement, "remembered", rounds)
    monkeypatch.setattr(type(rounds), "KEPT", 10)
    first = a_round("plain").confirmed()
    saved = first.as_dict()
    executed(first)
    for _ in range(100):
        a_round("plain").confirmed().as_dict()
    assert len(rounds) <= 21
    with pytest.raises(RoundError):
        executed(first)  # who has a plan of the round itself remembers
    assert len(executed(TOOLS.restore_round(saved)).handled) == 1


def test_results_live_no_longer_than_their_plans():
    pass_over_what_is_there()
    plan = a_round("plain").confirmed()
    plan.as_dict()
    after = executed(plan)
    value = after.handled[0].result
    gc.collect()
    before = sys.getrefcount(value)
    del plan, after
    gc.collect()
    assert sys.getrefcount(value) < before
    assert [found for found in gc.get_referrers(value) if isinstance(found, (dict, tuple))] in (
        [],
        [globals()],
    )


def test_a_round_that_nobody_can_restore_is_not_remembered():
    number = len(settlement.remembered)
    executed(a_round("plain"))
    assert len(settlement.remembered) == number


def test_a_tool_that_is_gone_meanwhile_loses_nothing_that_ran():
    plan = a_round("guarded", "asking").confirmed()
    after = executed(executed(plan).approve("c0").answer("c1", 1))
    with pytest.raises(RestoreError):
        Toolset(plain).restore_round(plan.as_dict())
    assert [call.has_input for call in Toolset(plain).restore_round(after.as_dict()).handled] == [
        False,
        False,
    ]
    assert TOOLS.restore_round(Toolset(plain).restore_round(after.as_dict()).as_dict()) == after
    assert done(after.apply()) == after


def test_a_plan_of_which_one_call_is_run_meanwhile_runs_none():
    """Whoever comes second notices it at the last moment, and the other calls are free again."""
    RAN.clear()
    tools = Toolset(plain)
    executor = Executor(tools)
    found = tools.offer().round([RawCall("c0", "plain", {"tag": 0}), RawCall("c1", "plain", {"tag": 1})])
    second = found.confirmed().with_results([found.calls[0].complete("did 0")])

    async def run_the_other_plan(call):
        if call.id == "c0":
            await executor.run(second)

    with pytest.raises(RoundError, match=r'plain \(call "c1"\) was run already'):
        executor.run_sync(found, hooks=run_the_other_plan)
    assert RAN == {(1, None): 1}
    executor.run_sync(found.confirmed().current())
    assert RAN == {(0, None): 1, (1, None): 1}


def test_more_rounds_at_once_than_are_remembered_leave_no_more_behind(monkeypatch):
    rounds = settlement.RememberedRounds()
    monkeypatch.setattr(settlement, "remembered", rounds)
    for number in range(12):
        rounds.of(f"of another thread {number}", {})
    monkeypatch.setattr(type(rounds), "KEPT", 10)
    for _ in range(50):
        a_round("plain").as_dict()
    assert len(rounds) <= 24


@pytest.mark.parametrize("place", [1, 2])
def test_calls_that_were_interrupted_before_they_ran_do_not_count_as_running(monkeypatch, place):
    """The interrupt of a user may come between any two lines."""
    fresh = Toolset(fetch).offer().round([raw("fetch", "1", url="a"), raw("fetch", "2", url="b")])
    made = []

    class Interrupted(settlement.CallRun):
        def __init__(self):
            super().__init__()
            made.append(self)
            if len(made) > place:
                raise KeyboardInterrupt

    async def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(settlement, "CallRun", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(fresh.execute_with(interrupted))
    states = [call.state for call in fresh.current().calls]
    assert states == ["deferred"] * place + ["pending"] * (2 - place)
