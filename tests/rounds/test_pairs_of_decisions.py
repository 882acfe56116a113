"""Two decisions about one call: the second one counts as it was said, or is refused and changes nothing."""

from __future__ import annotations

import json
from itertools import product
from typing import Annotated

import pytest
from round_samples import done, raw

from operator_schema import (
    Complete,
    Defer,
    Executor,
    NeedsInput,
    Reject,
    RoundError,
    RunNormally,
    Toolset,
    skip,
    tool,
)


@tool
def look(amount: int) -> str:
    """Look at it."""
    return f"looked at {amount}"


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def ask(amount: int, answer: Annotated[int | None, skip] = None) -> str:
    """Ask somebody."""
    if answer is None:
        raise NeedsInput(f"is {amount} right?")
    return f"{amount}, {answer}"


toolset = Toolset(look, pay, ask)
executor = Executor(toolset, threads=False)


# --- what may be said, each with a number: two of a kind differ in it ------------------------------


def call_of(plan):
    """Return the call, which a program may still hold whatever was decided about it."""
    state = plan.calls[0]
    return getattr(state, "call", state)


def by_hook(decide):
    return lambda plan, said: done(plan.apply(lambda call: decide(call, said)))


DECISIONS = {
    "approve": lambda plan, said: plan.approve("1"),
    "approve an input": lambda plan, said: plan.approve("1", input=call_of(plan).tool.input_type(said)),
    "approve arguments": lambda plan, said: plan.approve("1", arguments={"amount": said}),
    "answer": lambda plan, said: plan.answer("1", said),
    "reject": lambda plan, said: plan.reject("1", f"no {said}"),
    "reject what is open": lambda plan, said: plan.reject_open(f"no {said}"),
    "give a result": lambda plan, said: plan.with_results([call_of(plan).complete(f"done {said}")]),
    "give a handled call": lambda plan, said: plan.with_results([call_of(plan).handled(f"done {said}")]),
    "give a rejected call": lambda plan, said: plan.with_results([call_of(plan).reject(f"no {said}")]),
    "a hook completes": by_hook(lambda call, said: Complete(f"done {said}")),
    "a hook rejects": by_hook(lambda call, said: Reject(f"no {said}")),
    "a hook defers": by_hook(lambda call, said: Defer(f"wait {said}")),
    "a hook agrees": by_hook(lambda call, said: RunNormally(approved=True)),
    "a hook changes the input": by_hook(lambda call, said: RunNormally(call.tool.input_type(said))),
    "run": lambda plan, said: executor.run_sync(plan),
    "save and restore": lambda plan, said: toolset.restore_round(json.dumps(plan.as_dict())),
}
STARTS = {
    "pending": lambda: toolset.offer().round([raw("look", "1", amount=0)]).confirmed(),
    "asks for agreement": lambda: toolset.offer().round([raw("pay", "1", amount=0)]).confirmed(),
    "deferred by a hook": lambda: DECISIONS["a hook defers"](STARTS["pending"](), 0),
    "has a question": lambda: executor.run_sync(toolset.offer().round([raw("ask", "1", amount=0)])),
}


# --- what it means ---------------------------------------------------------------------------------


def facts(plan):
    """Return what is decided about the only call, and nothing else."""
    state = plan.calls[0]
    match state.state:
        case "pending":
            return "pending", state.input.amount, state.approved, state.answers
        case "deferred":
            return "deferred", state.input.amount, state.reason, state.question is not None
        case "handled":
            return "handled", state.result.content.rpartition(" before it ran.\n")[2]
        case "rejected":
            return "rejected", state.reason
    raise AssertionError(state)


def after_run(name, amount, answers):
    if name != "ask":
        return "handled", f"{'paid' if name == 'pay' else 'looked at'} {amount}"
    if not answers:
        return "deferred", amount, f"is {amount} right?", True
    return "handled", f"{amount}, {answers['answer']}"


def meant(decision, said, before, name):
    """Return what a decision makes of a call, by what its own documentation says."""
    is_pending, is_open = before[0] == "pending", before[0] in {"pending", "deferred"}
    amount = before[1]
    approved, answers = before[2:] if is_pending else (False, {})
    rejected, handled = ("rejected", f"no {said}"), ("handled", f"done {said}")
    deferred, edited = ("deferred", amount, f"wait {said}", False), ("pending", said, approved, answers)
    by_hooks = {
        "a hook completes": handled,
        "a hook rejects": rejected,
        "a hook defers": before if approved else deferred,
        "a hook agrees": ("pending", amount, True, answers),
        "a hook changes the input": before if approved else edited,
        "run": after_run(name, amount, answers),
    }
    return {
        "approve": ("pending", amount, True, answers),
        "approve an input": ("pending", said, True, answers),
        "approve arguments": ("pending", said, True, answers),
        "answer": ("pending", amount, True, {"answer": said}),
        "reject": rejected,
        "reject what is open": rejected if is_open else before,
        "give a result": handled,
        "give a handled call": handled,
        "give a rejected call": rejected,
        "save and restore": before,
        # Hooks and executors leave alone what is decided, or waits.
        **(by_hooks if is_pending else dict.fromkeys(by_hooks, before)),
    }[decision]


def attempt(plan, decision, said):
    """Return the next plan, or the error that refuses the decision."""
    try:
        return DECISIONS[decision](plan, said)
    except RoundError as error:
        return error


@pytest.mark.needs_threads
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("first", DECISIONS)
def test_a_second_decision_counts_or_is_refused(start, first):
    for second in DECISIONS:
        plan = STARTS[start]()
        name = call_of(plan).name
        for decision, said in ((first, 1), (second, 2)):
            before, saved = facts(plan), plan.as_dict()
            after = attempt(plan, decision, said)
            assert (facts(plan), plan.as_dict()) == (before, saved)
            if isinstance(after, RoundError):
                assert '"1"' in str(after)
                assert name in str(after)
                break
            assert facts(after) == meant(decision, said, before, name), (start, first, second)
            plan = after


BY_PEOPLE = ("approve", "approve an input", "approve arguments", "answer", "reject")
FIRST = {
    "approve": ("asks for agreement", "was approved already"),
    "approve an input": ("asks for agreement", "was approved already"),
    "approve arguments": ("asks for agreement", "was approved already"),
    "answer": ("has a question", "was answered already"),
    "reject": ("asks for agreement", 'was rejected already: "no 1"'),
    "give a result": ("pending", "has its result already, from your program"),
    "a hook completes": ("pending", "has its result already, from a hook"),
    "a hook rejects": ("pending", 'was rejected already, by a hook: "no 1"'),
    "run": ("pending", "was run already"),
}


@pytest.mark.needs_threads
@pytest.mark.parametrize(("first", "second"), list(product(FIRST, BY_PEOPLE)))
def test_a_second_decision_that_is_refused_says_what_was_decided(first, second):
    start, said = FIRST[first]
    plan = DECISIONS[first](STARTS[start](), 1)
    for known in (plan, toolset.restore_round(plan.as_dict())):
        after = attempt(known, second, 2)
        if second == "reject" and known.pending:
            # As long as nothing has run, a person may take the agreement back.
            assert facts(after) == ("rejected", "no 2")
        else:
            assert str(after).startswith(f'{call_of(plan).name} (call "1") {said}')


def test_a_rejection_without_a_reason_says_only_that():
    plan = STARTS["asks for agreement"]().reject("1")
    assert str(attempt(plan, "approve", 2)) == 'pay (call "1") was rejected already; no call waits'


# --- which calls wait ------------------------------------------------------------------------------


def test_the_message_names_the_calls_that_wait():
    plan = toolset.offer().round(
        [raw("pay", "a", amount=1), raw("look", "b", amount=1), raw("pay", "c", amount=1)]
    )
    plan = plan.confirmed()
    waiting = 'these wait: pay (call "a"), pay (call "c")'
    assert str(attempt_on(plan.approve, "x")) == f'no call of this turn has the id "x"; {waiting}'
    assert str(attempt_on(plan.approve, 7)) == f"no call of this turn has the position 7; {waiting}"
    pending = 'look (call "b") is pending: nobody has been asked about it'
    assert str(attempt_on(plan.approve, "b")) == f"{pending}; {waiting}"
    assert str(attempt_on(plan.answer, "b", 1)) == f"{pending}; {waiting}"
    either = 'these wait or are pending: pay (call "a"), look (call "b"), pay (call "c")'
    assert str(attempt_on(plan.reject, "x")) == f'no call of this turn has the id "x"; {either}'
    nothing = plan.reject_open()
    assert str(attempt_on(nothing.reject, "x")).endswith("; no call waits or is pending")


def test_the_message_is_short_however_many_calls_wait():
    calls = [raw("pay", "\x1b" * 5_000 + str(number), amount=1) for number in range(200)]
    message = str(attempt_on(toolset.offer().round(calls).confirmed().approve, "x" * 5_000))
    assert len(message) < 1_500
    assert message.isprintable()
    assert message.endswith("(195 more)")


def test_calls_that_share_an_id_are_all_described():
    plan = (
        toolset.offer()
        .round([raw("pay", "a", amount=1), raw("look", "a", amount=1), raw("gone", "a")])
        .confirmed()
    )
    plan = plan.reject(0)
    assert str(attempt_on(plan.approve, "a")) == (
        'pay (call "a") was rejected already, look (call "a") is pending: nobody has been asked about it, '
        'gone (call "a") can\'t be run (tool_not_found); no call waits'
    )


def attempt_on(decide, *given):
    with pytest.raises(RoundError) as caught:
        decide(*given)
    return caught.value


# --- two inputs at once ----------------------------------------------------------------------------


def test_an_approval_takes_an_input_or_arguments_and_not_both():
    plan = STARTS["asks for agreement"]()
    with pytest.raises(TypeError, match=r"approve takes input= or arguments=, not both"):
        plan.approve("1", input=pay.input_type(5), arguments={"amount": 6})
    assert facts(plan.approve("1", input=None, arguments={"amount": 6}))[1] == 6


# --- a call that was looked at in another plan -----------------------------------------------------


def test_what_is_approved_is_the_input_that_was_looked_at():
    """A deferred call that is given itself may come from another plan of the round, with another input."""
    found = toolset.offer().round([raw("look", "1", amount=0)])
    small, large = (
        done(found.apply(lambda call, amount=amount: RunNormally(call.tool.input_type(amount))))
        for amount in (1, 1000)
    )
    small, large = (DECISIONS["a hook defers"](plan, 0) for plan in (small, large))
    for decide in (large.approve, large.reject):
        message = str(attempt_on(decide, small.deferred[0]))
        assert "waits for something else by now: look at round.deferred again" in message
    assert facts(large.approve(large.deferred[0]))[1] == 1000
    restored = toolset.restore_round(large.as_dict())
    assert facts(restored.approve(large.deferred[0]))[1] == 1000
