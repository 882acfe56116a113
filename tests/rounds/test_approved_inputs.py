"""What a person has approved or answered is what runs."""

from typing import Annotated

import pytest
from round_samples import done

from operator_schema import (
    Complete,
    DecodeError,
    Defer,
    NeedsInput,
    RawCall,
    Reject,
    RoundError,
    RunNormally,
    Toolset,
    hook,
    skip,
    tool,
)
from operator_schema.rounds import Hooks


@tool(confirm=True)
def pay(amount: int, to: str = "Ada") -> str:
    """Pay somebody."""
    return f"{amount} to {to}"


@tool
def move(to: str, answer: Annotated[bool | None, skip] = None) -> str:
    """Move somewhere."""
    if answer is None:
        raise NeedsInput("Really?")
    return f"{to} {answer}"


TOOLS = Toolset(pay, move)


def double(call):
    return RunNormally(type(call.input)(call.input.amount * 2, call.input.to))


def approved(**given):
    plan = TOOLS.offer().round([RawCall("1", "pay", {"amount": 5})]).confirmed()
    return plan.approve("1", **given)


def test_a_hook_changes_an_input_before_it_is_approved_and_not_after():
    sent = TOOLS.offer().round([RawCall("1", "pay", {"amount": 5})])
    plan = done(sent.apply(double))
    assert plan.deferred[0].input.amount == 10
    plan = done(plan.approve("1").apply(double))
    assert plan.pending[0].input.amount == 10


def test_what_a_person_has_changed_stays():
    plan = done(approved(input=pay.input_type(3, "Bob")).apply(double))
    assert plan.pending[0].input == pay.input_type(3, "Bob")


def test_a_change_may_come_as_json_from_a_form():
    plan = approved(arguments={"amount": 3})
    assert plan.pending[0].input == pay.input_type(3, "Ada")
    plan = approved(arguments='{"amount": 4, "to": "Bob"}')
    assert plan.pending[0].input == pay.input_type(4, "Bob")
    with pytest.raises(DecodeError, match="amount"):
        approved(arguments={"amount": "many"})


def test_all_that_is_open_can_be_rejected_at_once():
    calls = [RawCall("1", "pay", {"amount": 5}), RawCall("2", "move", {"to": "Rome"}), RawCall("3", "x", {})]
    plan = TOOLS.offer().round(calls).confirmed().reject_open("the user changed their mind")
    assert [(call.id, call.reason) for call in plan.rejected] == [
        ("1", "the user changed their mind"),
        ("2", "the user changed their mind"),
    ]
    turn = plan.commit([])
    assert [result.code for result in turn.results] == ["rejected", "rejected", "tool_not_found"]
    with pytest.raises(RoundError, match="committed already"):
        plan.reject_open()


def test_a_hook_may_still_refuse_or_complete_what_was_approved():
    plan = done(approved().apply(lambda call: Reject("closed") if call.input.amount > 3 else None))
    assert plan.rejected[0].reason == "closed"
    plan = done(approved().apply(lambda _: Complete("paid already")))
    assert plan.handled[0].result.content == "paid already"
    plan = done(approved().apply(lambda _: Defer("wait")))
    assert plan.pending[0].approved


def test_a_hook_that_approves_leaves_later_hooks_their_changes():
    @hook(pay)
    def small(call):
        return RunNormally(approved=call.input.amount < 10)

    plan = done(TOOLS.offer().round([RawCall("1", "pay", {"amount": 5})]).apply(Hooks(small, double)))
    assert (plan.pending[0].input.amount, plan.pending[0].approved) == (10, True)


@pytest.mark.needs_threads
def test_an_answered_call_runs_with_its_input():
    from operator_schema import Executor

    executor = Executor(TOOLS)
    plan = executor.run_sync(TOOLS.offer().round([RawCall("1", "move", {"to": "Rome"})])).answer("1", True)
    plan = executor.run_sync(plan, hooks=lambda call: RunNormally(type(call.input)("Oslo")))
    assert plan.handled[0].result.content == "Rome True"
