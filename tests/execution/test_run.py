"""`executor.run`: a result of a call, a list of results of several, a round of a round."""

from __future__ import annotations

import asyncio
from typing import Annotated

import pytest

from operator_schema import Executor, RawCall, Reject, Round, ToolResult, Toolset, hook, skip, tool
from operator_schema.rounds import Hooks, InterruptedRoundError

pytestmark = pytest.mark.needs_threads


class Shop(str):
    __slots__ = ()


class Stop(Exception):  # noqa: N818  # what hosts call theirs
    pass


@tool
def greet(name: str, shop: Annotated[Shop | None, skip] = None) -> str:
    """Greet somebody."""
    if name == "stop":
        raise Stop
    return f"{shop or 'hello'} {name}"


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


TOOLS = Toolset(greet, pay)
ANN, BOB, PAY = (
    RawCall("1", "greet", {"name": "Ann"}),
    RawCall("2", "greet", {"name": "Bob"}),
    RawCall("3", "pay", {"amount": 5}),
)
STOP = RawCall("4", "greet", {"name": "stop"})


def of(executor, is_async):
    """Return a function that runs work in both ways."""
    if is_async:
        return lambda work, **options: asyncio.run(executor.run(work, **options))
    return executor.run_sync


@pytest.mark.parametrize("is_async", [False, True])
def test_it_keeps_the_kind(is_async):
    run = of(Executor(TOOLS), is_async)
    assert run(ANN).content == "hello Ann"
    assert type(run(ANN)) is ToolResult
    assert [result.content for result in run([ANN, BOB])] == ["hello Ann", "hello Bob"]
    assert [result.content for result in run(call for call in (BOB,))] == ["hello Bob"]
    assert run([]) == []
    done = run(TOOLS.offer().round([ANN, PAY]))
    assert type(done) is Round
    assert (done.handled[0].content, done.deferred[0].id) == ("hello Ann", "3")


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("work", "said"),
    [
        (5, "expected a RawCall, a list of them, or a round, not integer 5"),
        (None, "expected a RawCall, a list of them, or a round, not null"),
        ([5], "expected a RawCall|a call must be a RawCall|RawCall"),
        ({"format": 2, "calls": []}, r"toolset\.restore_round\(data\) makes a round"),
    ],
)
def test_other_work_is_refused(is_async, work, said):
    with pytest.raises(TypeError, match=said):
        of(Executor(TOOLS), is_async)(work)


async def asynchronous(_, __):
    pass


def test_options_of_a_call_hold_for_all_kinds():
    executor = Executor(TOOLS)
    assert executor.run_sync(PAY, confirm="run").content == "paid 5"
    assert executor.run_sync([PAY], confirm="run")[0].content == "paid 5"
    assert executor.run_sync(TOOLS.offer().round([PAY]), confirm="run").handled[0].content == "paid 5"
    with pytest.raises(ValueError, match="confirm must be"):
        executor.run_sync(TOOLS.offer().round([PAY]), confirm="yes")
    for option in ("on_progress", "on_result"):
        for work in (ANN, [ANN], TOOLS.offer().round([ANN])):
            for wrong, what in ((5, "integer 5"), (asynchronous, "an async one")):
                said = f"{option} must be a plain function of a call and .*, not {what}"
                with pytest.raises(TypeError, match=said):
                    executor.run_sync(work, **{option: wrong})


def test_results_are_given_as_they_come():
    seen = []
    executor = Executor(TOOLS)
    for work in (ANN, [ANN, BOB], TOOLS.offer().round([ANN, PAY])):
        executor.run_sync(work, on_result=lambda call, result: seen.append((call.id, result.content)))
    assert sorted(seen) == [("1", "hello Ann")] * 3 + [("2", "hello Bob")]


def test_hooks_after_a_call_come_before_its_result_is_given():
    seen = []
    after = hook.after(greet)(lambda call: call.complete("hidden"))
    Executor(TOOLS, hooks=after).run_sync(
        TOOLS.offer().round([ANN]), on_result=lambda call, result: seen.append(result.content)
    )
    assert seen == ["hidden"]


def test_a_broken_function_for_results_loses_none(caplog):
    async def later():
        raise AssertionError

    def broken(call, result):
        raise ValueError(call.id)

    for give in (broken, lambda call, result: later()):
        assert Executor(TOOLS).run_sync([ANN], on_result=give)[0].content == "hello Ann"
    assert "the function given as on_result failed" in caplog.text
    assert "on_result is a plain function, but returned something to await" in caplog.text


def test_exceptions_that_pass_through_give_nobody_a_result():
    seen = []
    executor = Executor(TOOLS, pass_through=[Stop])
    with pytest.raises(Stop):
        executor.run_sync([ANN, STOP])
    found = executor.run_sync(
        [ANN, STOP], return_exceptions=True, on_result=lambda call, _: seen.append(call.id)
    )
    assert (found[0].content, type(found[1]), seen) == ("hello Ann", Stop, ["1"])
    with pytest.raises(InterruptedRoundError) as caught:
        executor.run_sync(TOOLS.offer().round([ANN, STOP]))
    assert caught.value.round.handled[0].id == "1"


# --- what the executor has -----------------------------------------------------------------------


def no_bob(call):
    return Reject("not him") if call.name == "greet" and call.input.name == "Bob" else None


@pytest.mark.parametrize(
    "hooks", [no_bob, [no_bob], (no_bob,), Hooks(no_bob), [Hooks(no_bob), lambda _: None]]
)
def test_hooks_hold_in_every_round(hooks):
    executor = Executor(TOOLS, hooks=hooks)
    done = executor.run_sync(TOOLS.offer().round([ANN, BOB]))
    assert [call.state for call in done.calls] == ["handled", "rejected"]
    again = executor.run_sync(TOOLS.offer().round([ANN, BOB]), hooks=lambda _: Reject("nobody"))
    assert [call.reason for call in again.rejected] == ["nobody", "not him"]


def test_something_else_is_not_a_hook():
    with pytest.raises(TypeError, match="a hook must be a function"):
        Executor(TOOLS, hooks=5)


def test_the_context_is_the_one_of_calls_without_their_own():
    executor = Executor(TOOLS, context={Shop: Shop("moin")})
    assert executor.run_sync(ANN).content == "moin Ann"
    assert executor.run_sync([ANN])[0].content == "moin Ann"
    assert executor.run_sync(TOOLS.offer().round([ANN])).handled[0].content == "moin Ann"
    assert executor.run_sync(ANN, context={Shop: Shop("servus")}).content == "servus Ann"
    assert executor.run_sync(ANN, context={}).content == "hello Ann"


def test_the_context_of_the_executor_is_enough():
    @tool
    def sell(shop: Annotated[Shop, skip]) -> str:
        """Sell."""
        return shop

    assert list(Executor([sell]).missing_context()) == ["sell"]
    assert Executor([sell], context={Shop: Shop("a")}).missing_context() == {}


def test_copies_have_hooks_and_context_too():
    from copy import copy, deepcopy

    for made in (copy, deepcopy):
        executor = made(Executor(TOOLS, hooks=no_bob, context={Shop: Shop("moin")}))
        done = executor.run_sync(TOOLS.offer().round([ANN, BOB]))
        assert (done.handled[0].content, len(done.rejected)) == ("moin Ann", 1)
