"""Hooks around calls and rounds: what they see, and that they change nothing."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from time import time

import pytest
from round_samples import fetch, pay, raw, search

from operator_schema import (
    Complete,
    DecodeError,
    Executor,
    RawCall,
    Registry,
    Reject,
    Round,
    RunAgain,
    Toolset,
    hook,
    tool,
)
from operator_schema.rounds import Hooks, InterruptedRoundError

pytestmark = pytest.mark.needs_threads


@tool
def broken() -> str:
    """Break."""
    raise ZeroDivisionError


@tool(repair=True)
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


TOOLS = Toolset(search, fetch, pay, broken, double)
WHO = ContextVar("WHO", default="nobody")


class Watch:
    """A hook that keeps what it saw."""

    def __init__(self):
        self.seen = []

    @hook.around()
    @contextmanager
    def watch(self, execution):
        assert execution.outcome is None
        self.seen.append(execution)
        yield

    @property
    def calls(self):
        return [execution for execution in self.seen if not isinstance(execution.work, Round)]


def round_of(*calls):
    return TOOLS.offer().round(list(calls))


def test_a_call_is_seen_with_its_result_its_tool_and_what_was_repaired():
    watch = Watch()
    result = Executor(TOOLS, hooks=watch).run_sync(raw("double", number="2", colour="red"))
    (seen,) = watch.seen
    assert (seen.work.id, seen.outcome, seen.tool.name) == ("c1", result, "double")
    assert [finding.code for finding in seen.details["repairs"]] == ["scalar"]
    assert [finding.path for finding in seen.details["ignored"]] == [("colour",)]
    assert seen.deferred_at is None


def test_a_call_whose_arguments_do_not_fit_is_seen_too():
    watch = Watch()
    Executor(TOOLS, hooks=watch).run_sync(raw("double", number="many"))
    assert watch.seen[0].outcome.code == "invalid_params"
    assert isinstance(watch.seen[0].outcome.details["exception"], DecodeError)
    assert watch.seen[0].details == {}


def test_a_call_of_an_unknown_tool_has_none():
    watch = Watch()
    Executor(TOOLS, hooks=watch).run_sync(raw("nobody"))
    assert (watch.seen[0].tool, watch.seen[0].details, watch.seen[0].deferred_at) == (None, {}, None)


def test_a_round_is_seen_and_then_the_calls_that_run():
    watch = Watch()
    before = round_of(
        raw("double", "a", number="2"), raw("pay", "b", amount=1), raw("double", "c", number="x")
    )
    after = asyncio.run(Executor(TOOLS, hooks=watch).run(before))
    first, *calls = watch.seen
    assert (first.work, first.outcome) == (before, after)
    assert (first.tool, first.details, first.deferred_at) == (None, {}, None)
    assert [execution.work.id for execution in calls] == ["a"]
    assert [finding.code for finding in calls[0].details["repairs"]] == ["scalar"]
    assert [finding.code for finding in after.calls[0].result.details["repairs"]] == ["scalar"]


def test_what_is_raised_is_what_came_of_it():
    watch = Watch()
    executor = Executor(TOOLS, hooks=watch, pass_through=(ZeroDivisionError,))
    with pytest.raises(ZeroDivisionError):
        executor.run_sync(raw("broken"))
    assert isinstance(watch.seen[0].outcome, ZeroDivisionError)

    def fail(_):
        raise KeyError

    with pytest.raises(Exception, match="KeyError") as raised:
        asyncio.run(executor.run(round_of(raw("fetch", url="x")), hooks=fail))
    assert watch.seen[1].outcome is raised.value


def test_a_hook_goes_on_behind_its_yield_or_gets_what_is_raised(caplog):
    seen = []

    @hook.around()
    @contextmanager
    def watch(_):
        try:
            yield
        except Exception as error:
            seen.append(error)
            raise
        seen.append("left")

    def fail(_):
        raise KeyError

    executor = Executor(TOOLS, hooks=watch)
    executor.run_sync(raw("double", number=1))
    with (
        caplog.at_level(logging.ERROR, "operator_schema"),
        pytest.raises(Exception, match="KeyError") as raised,
    ):
        asyncio.run(executor.run(round_of(raw("fetch", url="x")), hooks=fail))
    assert seen == ["left", raised.value]
    assert not [record for record in caplog.records if "watch" in record.getMessage()]


@pytest.mark.parametrize("raised", [ZeroDivisionError, SystemExit])
def test_an_exception_of_a_tool_that_the_caller_gets_reaches_the_context_manager_too(raised, caplog):
    seen = []

    @tool
    def fails() -> str:
        """Fail."""
        raise raised

    @hook.around()
    @contextmanager
    def watch(execution):
        try:
            yield
        except BaseException as error:
            seen.append((type(execution.work).__name__, error))
            raise

    executor = Executor([fails], hooks=watch, pass_through=(ZeroDivisionError,))
    with pytest.raises(raised) as caught:
        executor.run_sync(raw("fails"))
    assert seen == [("RawCall", caught.value)]
    with pytest.raises((InterruptedRoundError, SystemExit)) as of_round:
        asyncio.run(executor.run(Toolset(fails).offer().round([raw("fails")])))
    assert seen[1][0] == "RawCall"
    assert isinstance(seen[1][1], raised)
    assert seen[2] == ("Round", of_round.value)
    assert not caplog.records


def test_a_call_that_a_hook_decides_or_that_runs_again_is_seen_once():
    watch = Watch()

    @hook(search)
    def decide(call):
        return Reject("no") if call.input.limit > 10 else Complete(["made up"])

    @hook.after(broken)
    def again(_):
        return RunAgain()

    executor = Executor(TOOLS, hooks=[watch, decide, again])
    executor.run_sync([raw("search", query="a"), raw("search", query="a", limit=11), raw("broken")])
    outcomes = [(execution.work.name, execution.outcome.code) for execution in watch.seen]
    assert sorted(outcomes, key=str) == [
        ("broken", "execution_failed"),
        ("search", "rejected"),
        ("search", None),
    ]


def test_a_hook_around_some_tools_sees_only_these_and_no_round():
    seen = []

    @hook.around(search, "fetch")
    def watch(execution):
        seen.append(execution.work.name)
        return nullcontext()

    before = round_of(raw("search", "a", query="x"), raw("fetch", "b", url="x"), raw("double", "c", number=1))
    asyncio.run(Executor(TOOLS, hooks=watch).run(before))
    assert sorted(seen) == ["fetch", "search"]


def test_a_toolset_brings_its_hooks_along_for_its_own_tools():
    watch = Watch()
    shop = Toolset(double, hooks=watch)
    executor = Executor(Toolset(shop.prefix("shop_"), search))
    executor.run_sync([raw("shop_double", number=1), raw("search", query="x")])
    assert [execution.work.name for execution in watch.seen] == ["shop_double"]


def test_the_same_hook_of_an_executor_and_a_toolset_sees_a_call_once():
    watch = Watch()
    executor = Executor(Toolset(double, hooks=watch), hooks=watch)
    executor.run_sync(raw("double", number=1))
    assert len(watch.seen) == 1


def test_context_variables_of_a_hook_hold_inside_the_function():
    @tool
    def who() -> str:
        """Say who asks."""
        return WHO.get()

    @hook.around()
    @contextmanager
    def name(_):
        token = WHO.set("somebody")
        yield
        WHO.reset(token)

    assert Executor([who], hooks=name).run_sync(raw("who")).content == "somebody"
    assert WHO.get() == "nobody"


@dataclass
class Failing:
    where: str

    @hook.around()
    def watch(self, _):
        if self.where == "function":
            raise ValueError
        return None if self.where == "nothing" else self

    def __enter__(self):
        if self.where == "enter":
            raise ValueError

    def __exit__(self, *_):
        if self.where == "exit":
            raise ValueError
        return True  # as if it wanted to swallow what was raised


@pytest.mark.parametrize("where", ["function", "enter", "exit", "nothing", "nowhere"])
def test_a_hook_around_a_call_changes_nothing_even_if_it_fails(where, caplog):
    executor = Executor(TOOLS, hooks=Failing(where), pass_through=(ZeroDivisionError,))
    with caplog.at_level(logging.ERROR, "operator_schema"):
        assert executor.run_sync(raw("double", number=1)).content == "2"
    assert len(caplog.records) == (where in {"function", "enter", "exit"})
    with pytest.raises(ZeroDivisionError):
        executor.run_sync(raw("broken"))


def test_hooks_around_calls_decide_nothing():
    watch = Watch()
    executor = Executor(TOOLS, hooks=watch)
    assert not executor.has_hooks
    assert not Hooks(watch).may_decide
    assert not asyncio.run(executor.needs_approval(raw("double", number=1)))
    assert Executor(TOOLS, hooks=[watch, lambda _: None]).has_hooks


def test_a_hook_around_calls_takes_one_argument_and_tools():
    with pytest.raises(TypeError, match="has to take one argument, an Execution"):
        Executor(TOOLS, hooks=hook.around()(lambda: None))
    with pytest.raises(TypeError, match=r"hook\.around takes names, tools or toolsets"):
        hook.around(3)


def test_a_hook_around_calls_that_gives_no_context_manager_is_named_in_the_log(caplog):
    async def waits(execution): ...

    with pytest.raises(
        TypeError, match="waits is async, and a hook around calls isn't: write def in place of"
    ):
        Executor(TOOLS, hooks=hook.around()(waits))
    executor = Executor(TOOLS, hooks=hook.around()(lambda execution: "a span"))
    with caplog.at_level(logging.ERROR, "operator_schema"):
        assert executor.run_sync(raw("double", number=1)).content == "2"
    assert (
        str(caplog.records[0].exc_info[1]) == 'it must return a context manager or None, not string "a span"'
    )


# --- since when a call waits ---------------------------------------------------------------------


def test_a_call_that_waits_knows_since_when_also_after_a_restart():
    executor = Executor(TOOLS)
    before = time()
    waiting = asyncio.run(executor.run(round_of(raw("pay", amount=1)))).deferred[0]
    assert before <= waiting.deferred_at <= time()
    round_ = TOOLS.restore_round(asyncio.run(executor.run(round_of(raw("pay", amount=1)))).as_dict())
    assert before - 0.001 <= round_.deferred[0].deferred_at <= time() + 0.001
    assert TOOLS.restore_round(round_.as_dict()).deferred[0].deferred_at == round_.deferred[0].deferred_at
    approved = TOOLS.restore_round(round_.approve("c1").as_dict())
    assert approved.pending[0].deferred_at == round_.deferred[0].deferred_at
    refused = TOOLS.restore_round(round_.reject("c1").as_dict())
    assert refused.rejected[0].deferred_at == round_.deferred[0].deferred_at


def test_since_when_a_call_waits_says_nothing_about_whether_rounds_are_equal():
    one = round_of(raw("pay", amount=1)).confirmed()
    (call,) = one.calls
    later = one.replace(calls=(call.replace(deferred_at=call.deferred_at + 60),))
    assert later == one
    assert later.calls == one.calls


def test_an_execution_says_since_when_a_call_waited():
    watch = Watch()
    before = time()
    Executor(TOOLS, hooks=watch, confirm=lambda _: True).run_sync(raw("pay", amount=1))
    assert before <= watch.seen[0].deferred_at <= time()
    waiting = round_of(raw("pay", amount=1)).confirmed()
    asyncio.run(Executor(TOOLS, hooks=watch).run(waiting.approve("c1")))
    assert watch.calls[-1].deferred_at == waiting.deferred[0].deferred_at


def test_a_time_that_no_clock_shows_is_damage():
    from operator_schema.rounds import RestoreError
    from operator_schema.rounds.signatures import digests_with, what_is_signed

    data = round_of(raw("pay", amount=1)).confirmed().as_dict()
    digest = digests_with(None)[0]
    (call,) = data["calls"]
    call["deferred_at"] = 10**400
    call["digest"] = digest({name: value for name, value in call.items() if name != "digest"})
    data["digest"] = digest(what_is_signed({name: value for name, value in data.items() if name != "digest"}))
    with pytest.raises(RestoreError):
        TOOLS.restore_round(data)


def test_a_hook_sees_each_tool_that_a_call_had():
    registry, watch = Registry(TOOLS), Watch()

    def replace(call):
        registry.unregister("double")
        registry.register(double.with_(description="Multiply by two."))

    executor = Executor(registry, hooks=[watch, replace])
    executor.run_sync(RawCall("1", "double", {"number": 2}))
    executor.run_sync(RawCall("2", "nobody"))
    first, second = watch.seen
    assert [tool.description for tool in first.tools] == ["Double a number.", "Multiply by two."]
    assert second.tools == ()
