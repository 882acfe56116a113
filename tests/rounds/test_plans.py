"""Plans: what each call of a turn is at, and how people decide about it."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
from typing import Annotated

import pytest
from round_samples import Odd, done, fetch, ids, pay, raw, toolset

from operator_schema import (
    DecodeError,
    Defer,
    EncodeError,
    Executor,
    NeedsInput,
    Reject,
    RoundError,
    ToolError,
    Toolset,
    Transcript,
    skip,
    tool,
)
from operator_schema.rounds import CommitError, rejection_reason

pytestmark = pytest.mark.needs_threads


def waiting(*calls):
    """Return a plan in which every call waits."""
    found = toolset.offer().round(calls or [raw("pay", "a", amount=1), raw("search", "b", query="q")])
    return done(found.apply(lambda call: Defer("wait")))


def asking(*calls, tools=toolset):
    """Return a plan in which calls have been run that have a question."""
    return Executor(tools, threads=False).run_sync(
        tools.offer().round(calls or [raw("ask", "a", topic="cats")])
    )


def kinds(plan):
    return [call.state for call in plan.calls]


# --- reading -------------------------------------------------------------------------------------


def test_every_call_is_in_one_of_five_places():
    found = toolset.offer().round(
        [
            raw("pay", "a", amount=1),
            raw("fetch", "b", url="u"),
            raw("search", "c", query="q"),
            raw("x", "d"),
            raw("fetch", "e", url="v"),
        ]
    )
    plan = found.confirmed().reject("b").with_results([found.calls[2].complete([])])
    assert kinds(plan) == ["deferred", "rejected", "handled", "issue", "pending"]
    assert [state.index for state in plan.calls] == [0, 1, 2, 3, 4]
    assert [
        ids(getattr(plan, kind)) for kind in ("deferred", "rejected", "handled", "issues", "pending")
    ] == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
        ["e"],
    ]
    assert not plan.is_complete
    assert plan.continue_suggestion.startswith("1 call could not be used: x")
    assert repr(plan) == "<Round: 1 pending, 1 handled, 1 rejected, 1 deferred, 1 issue>"
    assert repr(toolset.offer().round([]).confirmed()) == "<Round: no calls>"
    assert (plan.id, plan.toolset, plan.offered) == (found.id, toolset, found.offered)


def test_a_plan_is_never_changed():
    plan = waiting()
    plan.approve("a")
    plan.reject("b")
    assert kinds(plan) == ["deferred", "deferred"]
    with pytest.raises(AttributeError):
        plan.offered = ()


def test_plans_are_equal_if_the_same_would_be_saved():
    found = toolset.offer().round([raw("pay", "a", amount=1)])
    plan = found.confirmed()
    same = plan
    assert plan == same
    assert plan == found.confirmed()
    assert hash(plan) == hash(plan.reject("a"))
    assert plan != plan.reject("a")
    assert plan != toolset.offer().round([raw("pay", "a", amount=1)]).confirmed()  # another turn
    assert plan != 5
    assert plan.reject("a") == plan.reject(0)


def test_a_copy_is_the_same_plan_and_a_pickle_a_restored_one():
    plan = waiting()
    assert copy.copy(plan) is plan
    assert copy.deepcopy(plan) is plan
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    transcript = Transcript()
    for each in (plan, again):
        decided = each.reject("a").reject("b")
        if each is plan:
            decided.commit(transcript)
        else:
            with pytest.raises(RoundError, match="in the transcript already"):
                decided.commit(transcript)


# --- approval ------------------------------------------------------------------------------------


def test_an_approved_call_is_pending():
    plan = waiting().approve("a")
    assert kinds(plan) == ["pending", "deferred"]
    (call,) = plan.pending
    assert (call.approved, call.input.amount) == (True, 1)
    assert kinds(plan.confirmed()) == ["pending", "deferred"]
    assert kinds(done(plan.apply())) == ["pending", "deferred"]


def test_an_approval_may_change_the_input():
    plan = waiting().approve("a", input=pay.input_type(amount=5))
    (call,) = plan.pending
    assert (call.input.amount, call.arguments) == (5, {"amount": 5})
    assert call.raw == raw("pay", "a", amount=1)


@pytest.mark.parametrize("given", [5, {"amount": 1}, fetch.decode({"url": "u"}), Odd(), False])
def test_an_input_of_another_tool_is_refused(given):
    plan = waiting()
    with pytest.raises(ToolError):
        plan.approve("a", input=given)
    with pytest.raises(EncodeError):
        plan.approve("a", input=pay.input_type(amount="much"))
    assert kinds(plan) == ["deferred", "deferred"]


def test_a_call_is_chosen_by_id_position_or_itself():
    plan = waiting()
    second = plan.deferred[1]
    for chosen in ("b", 1, second, second.defer()):
        assert kinds(plan.approve(chosen)) == ["deferred", "pending"]
        assert kinds(plan.reject(chosen)) == ["deferred", "rejected"]


def test_a_shared_id_needs_the_position():
    plan = waiting(raw("pay", "a", amount=1), raw("pay", "a", amount=1), raw("fetch", "a", url="u"))
    for decide in (plan.approve, plan.reject):
        with pytest.raises(
            RoundError, match=r'3 calls with the id "a" .* position in the turn \(0, 1, 2\)'
        ) as caught:
            decide("a")
        assert caught.value.count == 3
    assert kinds(plan.approve(1)) == ["deferred", "pending", "deferred"]
    assert kinds(plan.approve(plan.deferred[1])) == ["deferred", "pending", "deferred"]
    rest = plan.approve(0).approve(2)
    assert kinds(rest.approve("a")) == ["pending"] * 3  # the only one left
    assert kinds(rest.reject(1)) == ["pending", "rejected", "pending"]


@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (lambda plan: plan.approve("z"), 'no call of this turn has the id "z"'),
        (lambda plan: plan.approve(7), "no call of this turn has the position 7"),
        (lambda plan: plan.approve(-1), "no call of this turn has the position -1"),
        (lambda plan: plan.approve(-5), "no call of this turn has the position -5"),
        (lambda plan: plan.approve("p"), "is pending: nobody has been asked about it"),
        (lambda plan: plan.approve("h"), "has its result already, from your program"),
        (lambda plan: plan.approve("r"), "was rejected already"),
        (lambda plan: plan.approve("x"), r"can't be run \(tool_not_found\)"),
        (lambda plan: plan.reject("h"), "has its result already, from your program"),
        (lambda plan: plan.reject("r"), "was rejected already"),
        (lambda plan: plan.reject("x"), r"can't be run \(tool_not_found\)"),
        (lambda plan: plan.answer("p", 1), "is pending: nobody has been asked about it"),
        (lambda plan: plan.answer("d", 1), "has no question: use round.approve or round.reject"),
    ],
)
def test_what_can_not_be_decided_says_why(decide, said):
    found = toolset.offer().round(
        [
            raw("fetch", "p", url="u"),
            raw("fetch", "h", url="u"),
            raw("fetch", "r", url="u"),
            raw("x", "x"),
            raw("pay", "d", amount=1),
        ]
    )
    plan = found.confirmed().with_results([found.calls[1].complete("p")]).reject("r")
    with pytest.raises(RoundError, match=said) as caught:
        decide(plan)
    assert caught.value.count in {0, None}
    assert kinds(plan) == ["pending", "handled", "rejected", "issue", "deferred"]


NUMBERS = {"0": 0, "1": 1, "03": 3, "x": None}


@pytest.mark.parametrize("ids", list(itertools.product(NUMBERS, repeat=3)), ids="-".join)
def test_a_position_that_is_the_id_of_another_call_is_refused(ids):
    plan = waiting(*[raw("pay", call_id, amount=1) for call_id in ids])
    for position in range(-1, 4):
        others = [one for at, one in enumerate(ids) if NUMBERS[one] == position and at != position]
        for decide in (plan.approve, plan.reject):
            if others:
                remedy = f'give "{others[0]}"'
                if 0 <= position < 3:
                    remedy += rf", or round.calls\[{position}\] if you mean the position"
                with pytest.raises(RoundError, match=f'has the id "{others[0]}": {remedy}$'):
                    decide(position)
            elif 0 <= position < 3:
                assert decide(position) == decide(plan.calls[position])
            else:
                with pytest.raises(RoundError, match=f"no call of this turn has the position {position}; "):
                    decide(position)


@pytest.mark.parametrize("chosen", [None, 1.0, True, b"a", ["a"], Odd(), pay, raw("pay", "a", amount=1)])
def test_a_call_can_not_be_chosen_by_something_else(chosen):
    plan = waiting()
    for decide in (plan.approve, plan.reject, lambda call: plan.answer(call, 1)):
        with pytest.raises(TypeError, match="choose a call by its id, its position or the call itself"):
            decide(chosen)


def test_stale_calls_will_do_and_foreign_ones_do_not():
    plan = waiting()
    stale = plan.deferred[0]
    edited = plan.approve("a", input=pay.input_type(amount=9))
    with pytest.raises(RoundError, match="was approved already"):
        edited.approve(stale)
    assert kinds(edited.reject(stale)) == ["rejected", "deferred"]
    foreign = waiting(raw("pay", "a", amount=2)).deferred[0]
    with pytest.raises(RoundError, match="no call of this turn has the position 0"):
        plan.approve(foreign)
    with pytest.raises(RoundError, match="was rejected already"):
        plan.reject("a").approve(plan.reject("a").rejected[0])


# --- rejection -----------------------------------------------------------------------------------


def test_a_person_may_reject_what_waits_or_is_pending():
    plan = waiting().approve("b").reject("a", "not today").reject("b")
    assert kinds(plan) == ["rejected", "rejected"]
    assert [rejected.by for rejected in plan.rejected] == ["host", "host"]
    assert [rejection_reason(result) for result in plan.commit([]).results] == ["not today", ""]
    with pytest.raises(TypeError, match="the reason must be a string"):
        waiting().reject("a", 5)


# --- questions -----------------------------------------------------------------------------------


def test_an_answer_makes_it_pending_and_reaches_the_function():
    plan = asking()
    (call,) = plan.deferred
    assert call.reason == call.question.text == "May I tell about cats?"
    assert call.question.parameter == "answer"
    assert call.question.answer_schema == {"type": "boolean"}
    call.question.answer_schema.clear()
    assert call.question.answer_schema == {"type": "boolean"}
    assert repr(call.question) == "Question('May I tell about cats?', 'answer')"
    answered = plan.answer("a", True)
    assert answered.pending[0].answers == {"answer": True}
    assert answered.pending[0].approved
    after = Executor(toolset, threads=False).run_sync(answered)
    assert after.handled[0].result.content == "cats: True"


@pytest.mark.parametrize("answer", ["yes", None, 5, {}, Odd()])
def test_an_answer_that_does_not_fit_is_refused(answer):
    plan = asking()
    with pytest.raises(DecodeError, match="the answer for ask"):
        plan.answer("a", answer)
    assert kinds(plan) == ["deferred"]


def test_a_question_has_to_be_answered_or_the_call_rejected():
    plan = asking()
    with pytest.raises(
        RoundError, match=r'asks "May I tell about cats\?": give the answer with round\.answer'
    ):
        plan.approve("a")
    assert kinds(plan.reject("a", "no")) == ["rejected"]
    with pytest.raises(CommitError, match="still waits for a decision: answer it"):
        plan.commit([])


def test_an_answer_is_kept_as_a_copy():
    @tool
    def note(tags: Annotated[list[str] | None, skip] = None) -> str:
        """Note."""
        if tags is None:
            raise NeedsInput("Which tags?", parameter="tags")
        return "+".join(tags)

    tools = Toolset(note)
    plan = asking(raw("note", "a"), tools=tools)
    answer = ["x"]
    answered = plan.answer("a", answer)
    answer.append("y")
    answered.pending[0].answers["tags"].append("z")
    assert answered.pending[0].answers == {"tags": ["x"]}
    assert Executor(tools).run_sync(answered).handled[0].result.content == "x"


def test_two_questions_one_after_the_other():
    @tool
    def book(day: Annotated[str | None, skip] = None, sure: Annotated[bool | None, skip] = None) -> str:
        """Book."""
        if day is None:
            raise NeedsInput("Which day?", parameter="day")
        if sure is None:
            raise NeedsInput("Sure?", parameter="sure")
        return f"{day} {sure}"

    tools = Toolset(book)
    executor = Executor(tools, threads=False)
    plan = asking(raw("book", "a"), tools=tools).answer("a", "Monday")
    plan = executor.run_sync(plan)
    assert plan.deferred[0].question.text == "Sure?"
    assert plan.deferred[0].answers == {"day": "Monday"}
    plan = executor.run_sync(plan.answer("a", False))
    assert plan.handled[0].result.content == "Monday False"


def test_the_same_question_again_gets_the_new_answer():
    @tool
    def guess(number: Annotated[int | None, skip] = None) -> int:
        """Guess."""
        if number != 7:
            raise NeedsInput("Which number?", parameter="number")
        return number

    tools = Toolset(guess)
    executor = Executor(tools, threads=False)
    plan = executor.run_sync(asking(raw("guess", "a"), tools=tools).answer("a", 5))
    plan = plan.answer("a", 7)
    assert plan.pending[0].answers == {"number": 7}
    assert executor.run_sync(plan).handled[0].result.value == 7


# --- results and further hooks -------------------------------------------------------------------


def test_with_results_gives_some_calls_theirs():
    found = toolset.offer().round(
        [raw("fetch", "a", url="1"), raw("fetch", "b", url="2"), raw("pay", "c", amount=1)]
    )
    plan = found.confirmed().with_results([found.calls[1].complete("page 2")])
    assert kinds(plan) == ["pending", "handled", "deferred"]
    assert (plan.handled[0].by, plan.handled[0].input) == ("host", found.calls[1].input)
    plan = plan.with_results([found.calls[0].reject("no")]).reject("c")
    assert kinds(plan) == ["rejected", "handled", "rejected"]
    assert plan.is_complete
    assert kinds(plan.with_results([])) == kinds(plan)


def test_with_results_is_all_or_nothing():
    found = toolset.offer().round([raw("fetch", "a", url="1"), raw("fetch", "b", url="2")])
    plan = found.confirmed()
    with pytest.raises(CommitError) as caught:
        plan.with_results([found.calls[0].complete("p"), found.calls[0].complete("p")])
    assert [fault.code for fault in caught.value.findings] == ["duplicate"]
    assert kinds(plan) == ["pending", "pending"]


def test_hooks_see_what_is_still_pending_again():
    seen = []
    plan = waiting().approve("a")
    again = done(plan.apply(lambda call: seen.append(call.id)))
    assert seen == ["a"]
    assert kinds(again) == ["pending", "deferred"]
    assert kinds(done(plan.apply(lambda call: Reject("x")))) == ["rejected", "deferred"]


# --- threads and size ----------------------------------------------------------------------------


def test_two_plans_of_one_round_are_settled_once():
    for ways in (("commit", "discard"), ("commit", "commit"), ("discard", "discard")):
        for _ in range(30):
            plan = waiting()
            plans = [plan.reject("a").reject("b"), plan.reject("b").reject("a")]
            transcript, ended, barrier = Transcript(), [], threading.Barrier(2)

            def settle(way, own, transcript=transcript, ended=ended, barrier=barrier):
                barrier.wait()
                try:
                    own.commit(transcript) if way == "commit" else own.discard()
                    ended.append(way)
                except RoundError as error:
                    assert "already" in str(error)

            threads = [threading.Thread(target=settle, args=pair) for pair in zip(ways, plans, strict=True)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(ended) == 1
            assert len(transcript) == (ended == ["commit"])
