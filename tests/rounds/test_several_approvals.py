"""Who decided what: several approvals, their order, their end, and the record of them."""

from __future__ import annotations

import itertools
import json
import logging
import unicodedata
from functools import partial

import pytest
from round_samples import ask, fetch, pay
from saving_samples import SECRET, problems, refused, resealed, restored

from operator_schema import (
    Complete,
    DecodeError,
    Defer,
    Executor,
    RawCall,
    Reject,
    RoundError,
    RunNormally,
    Toolset,
)
from operator_schema.rounds import CommitError, DecisionRecord, SqliteStore, Turn, call_text, tool_call

pytestmark = pytest.mark.needs_threads

TOOLS = Toolset(fetch, pay, ask)


def waiting(tools=TOOLS, **limits):
    """Return a round whose only call waits as a hook says."""
    executor = Executor(tools, hooks=lambda _: Defer("a lot", **limits))
    return executor.run_sync(tools.offer().round([RawCall("1", "pay", {"amount": 900})]))


def said_of(work):
    """Return who decided what, and which amount it changed, if any."""
    return [
        (one.kind, one.by, None if one.arguments is None else one.arguments["amount"])
        for one in work.calls[0].decisions
    ]


# --- every order of decisions of two persons, and a model of what they come to -----------------------


class Model:
    """What a call that needs a number of approvals has come to, said once more."""

    def __init__(self, approvals):
        self.approvals, self.state, self.amount, self.agreed = approvals, "deferred", 900, []

    def decide(self, who, what, amount):
        """Take a decision; return False if it is refused."""
        if what == "reject":
            if self.state == "rejected":
                return False
            self.state = "rejected"
            return True
        is_new = amount is not None and amount != self.amount
        if self.state != "deferred" or (self.approvals > 1 and who in self.agreed and not is_new):
            return False
        self.amount = amount if is_new else self.amount
        self.agreed = [who] if is_new else [*self.agreed, who]
        if len(self.agreed) >= self.approvals:
            self.state = "pending"
        return True


SAID = [
    *itertools.product(("anna", "ben"), ("approve",), (None, 9, 900)),
    *itertools.product(("anna", "ben"), ("reject",), (None,)),
]


def decided(work, who, what, amount):
    if what == "reject":
        return work.reject("1", "no", by=who, words="w")
    arguments = None if amount is None else {"amount": amount}
    return work.approve("1", arguments=arguments, by=who, words="w")


@pytest.mark.parametrize("approvals", [1, 2])
def test_any_decisions_of_two_persons_come_to_what_a_model_says(approvals):
    for said in itertools.product(SAID, repeat=3):
        work, model, accepted = waiting(approvals=approvals), Model(approvals), []
        for who, what, amount in said:
            if model.decide(who, what, amount):
                work = decided(work, who, what, amount)
                accepted.append((what, who))
            else:
                with pytest.raises(RoundError):
                    decided(work, who, what, amount)
        call = work.calls[0]
        assert (call.state, call.arguments) == (model.state, {"amount": model.amount}), said
        assert call.approved_by == (tuple(model.agreed) if model.state == "deferred" else ())
        assert [(one.kind, one.by) for one in call.decisions] == accepted
        assert {one.words for one in call.decisions} <= {"w"}
        again = restored(work, TOOLS, SECRET)
        assert again == work
        assert [one.when for one in again.calls[0].decisions] == [one.when for one in call.decisions]


def test_two_different_people_have_to_agree_and_one_refusal_is_enough():
    work = waiting(approvals=2)
    with pytest.raises(RoundError, match=r"needs 2 approvals by different people: say who agrees \(by=…\)"):
        work.approve("1")
    one = work.approve("1", by="anna")
    assert one.calls[0].state == "deferred"
    assert "1 of 2 approvals" in repr(one.calls[0])
    assert "(1 of 2 people have agreed: anna)" in call_text(one.calls[0])
    assert "(0 of 2 people have agreed)" in call_text(work.calls[0])
    with pytest.raises(RoundError, match=r'anna has approved pay \(call "1"\) already \(1 of 2\)'):
        one.approve("1", by="anna")
    assert one.reject("1", "too much", by="ben").calls[0].state == "rejected"
    done = Executor(TOOLS).run_sync(one.approve("1", by="ben"))
    assert done.calls[0].content == "paid 900"


def wide(name):
    """Write the letters of ASCII in their wide forms."""
    return "".join([chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in name])


SPELLINGS = [
    *(str, str.upper, str.lower, str.swapcase, wide),
    *(partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")),
    *(lambda name, space=space: f"{space}{name.replace(' ', space * 2)}{space}" for space in " \t\xa0\u3000"),
    *(lambda name, sign=sign: f"{sign}{name[:2]}{sign}{name[2:]}" for sign in "\u200b\xad\ufeff\u2060"),
    *(
        lambda name, sign=sign: f"{sign}{name[:2]}{sign}{name[2:]}"
        for sign in "\u034f\ufe0f\u3164\uffa0\U000e0101"
    ),
]


@pytest.mark.parametrize("name", ["anna lee", "Zoë Straße", "Σίσυφος ﬁ"])
def test_somebody_counts_once_however_the_name_is_written(name):
    work = waiting(approvals=2)
    for one, other in itertools.product(SPELLINGS, repeat=2):
        once = work.approve("1", by=one(name))
        assert once.calls[0].approved_by == (one(name),)
        again = other(one(name))
        with pytest.raises(RoundError, match=r"has approved pay \(call \"1\"\) already \(1 of 2\)"):
            once.approve("1", by=again)
        assert once.approve("1", by=f"{again} b").calls[0].state == "pending"


@pytest.mark.parametrize("by", ["", " ", "\xa0", "\u200b", "\ufeff \u2060", "\u3164"])
def test_a_name_in_which_nothing_can_be_seen_is_empty(by):
    for decide in (waiting().approve, waiting().reject):
        with pytest.raises(ValueError, match="by, the name of who decides, is empty"):
            decide("1", by=by)


@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("first", [None, {"amount": 9}])
def test_an_edit_in_place_after_the_first_approval_takes_it_away(first, is_restored):
    work = waiting(approvals=2).approve("1", arguments=first, by="anna")
    work.calls[0].input.amount = 5
    work = restored(work, TOOLS) if is_restored else work
    again = work.approve("1", by="ben")
    assert (again.calls[0].state, again.calls[0].approved_by) == ("deferred", ("ben",))
    assert said_of(again)[-1] == ("approve", "ben", 5)
    done = Executor(TOOLS).run_sync(again.approve("1", by="anna"))
    assert done.calls[0].result.value == "paid 5"


def test_nobody_is_asked_alone_about_a_call_that_several_have_to_agree_to():
    asked = []
    executor = Executor(TOOLS, hooks=lambda _: Defer(approvals=2), confirm=asked.append)
    call = RawCall("1", "pay", {"amount": 1})
    assert executor.run_sync(call).code == "needs_approval"
    assert executor.run_sync(TOOLS.offer().round([call])).deferred
    assert asked == []


def test_several_hooks_that_defer_a_call_come_to_the_strictest_limits():
    limits = [{}, {"approvals": 2}, {"expires_in": 50}, {"approvals": 3, "expires_in": 5_000}]
    for chosen in itertools.product(limits, repeat=2):
        hooks = [lambda _, one=one: Defer("why", **one) for one in chosen]
        call = RawCall("1", "fetch", {"url": "a"})
        work = Executor(TOOLS, hooks=hooks).run_sync(TOOLS.offer().round([call]))
        (waits,) = work.deferred
        assert waits.approvals == max(one.get("approvals", 1) for one in chosen)
        ends = [one["expires_in"] for one in chosen if "expires_in" in one]
        assert (waits.expires_at is None) == (not ends)
        if ends:
            assert abs(waits.expires_at - waits.deferred_at - min(ends)) < 1


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        ({"approvals": 0}, "at least 1"),
        ({"approvals": True}, "at least 1"),
        ({"approvals": "2"}, "at least 1"),
        ({"expires_in": 0}, "positive number of seconds"),
        ({"expires_in": -1}, "positive number of seconds"),
        ({"expires_in": float("inf")}, "positive number of seconds"),
        ({"expires_in": float("nan")}, "positive number of seconds"),
        ({"expires_in": "1"}, "positive number of seconds"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, complaint):
    with pytest.raises(ValueError, match=complaint):
        Defer("why", **limits)


# --- calls that nobody approved in time ---------------------------------------------------------------


@pytest.fixture
def later(monkeypatch):
    """Return a function that lets a minute pass since a call began to wait."""

    def pass_by(call):
        monkeypatch.setattr(tool_call, "time", lambda: call.deferred_at + 61)
        return True

    return pass_by


def test_a_call_that_has_expired_cannot_be_approved_and_running_the_round_tells_the_model(later):
    work = waiting(expires_in=60)
    assert work.approve("1").pending
    assert work.with_expired() is work
    approved = work.approve("1")
    later(work.calls[0])
    with pytest.raises(RoundError, match="has expired: nobody approved it in time"):
        work.approve("1")
    with pytest.raises(CommitError, match=r"it has expired, so commit round\.with_expired"):
        work.commit([])
    assert work.reject("1", "no").calls[0].state == "rejected"
    done = Executor(TOOLS).run_sync(restored(work, TOOLS))
    (call,) = done.handled
    assert (call.code, call.content) == ("expired", "Nobody approved this call in time, so it was not run.")
    assert said_of(done) == [("expire", None, None)]
    assert restored(done, TOOLS, SECRET) == done
    with pytest.raises(RoundError, match="has expired"):
        done.approve("1")
    assert done.commit([]).results[0].code == "expired"
    assert Executor(TOOLS).run_sync(approved).calls[0].content == "paid 900"  # agreed to in time


def test_one_of_two_approvals_expires_too(later):
    one = waiting(expires_in=60, approvals=2).approve("1", by="anna")
    later(one.calls[0])
    assert said_of(one.with_expired()) == [("approve", "anna", None), ("expire", None, None)]


def test_a_store_that_loads_a_round_answers_what_has_expired(later, tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    executor = Executor(TOOLS, store=store, hooks=lambda _: Defer(expires_in=60))
    work = executor.run_sync(TOOLS.offer().round([RawCall("1", "pay", {"amount": 1})]))
    assert store.load(work.id, TOOLS).deferred
    later(work.calls[0])
    found = store.load(work.id, TOOLS)
    assert [call.code for call in found.calls] == ["expired"]
    found.commit(store.transcript("a"))
    assert store.waiting() == []


def test_a_person_who_answers_too_late_has_not_agreed(later):
    executor = Executor(TOOLS, hooks=lambda _: Defer(expires_in=60), confirm=later)
    call = RawCall("1", "fetch", {"url": "a"})
    assert executor.run_sync(TOOLS.offer().round([call])).calls[0].code == "expired"


def test_a_person_who_answers_too_late_to_a_single_call_has_not_agreed(later):
    executor = Executor(TOOLS, hooks=lambda _: Defer(expires_in=60), confirm=later)
    assert executor.run_sync(RawCall("1", "fetch", {"url": "a"})).code == "expired"


def test_a_person_who_does_not_answer_changes_neither_the_limits_nor_since_when_it_waits():
    executor = Executor(TOOLS, hooks=lambda _: Defer("why", expires_in=60))
    work = executor.run_sync(TOOLS.offer().round([RawCall("1", "fetch", {"url": "a"})]))
    again = executor.with_(confirm=lambda _: None).run_sync(
        TOOLS.offer().round([RawCall("1", "fetch", {"url": "a"})])
    )
    assert again.calls[0].reason == work.calls[0].reason == "why"
    assert again.calls[0].expires_at is not None


# --- the record --------------------------------------------------------------------------------------


def test_each_decision_is_kept_with_who_when_and_which_words(caplog):
    with caplog.at_level(logging.INFO, "operator_schema"):
        work = waiting().approve("1", arguments={"amount": 9}, by="anna", words="as agreed on the phone")
    (record,) = work.calls[0].decisions
    assert record == DecisionRecord(
        "approve", "person", "anna", "as agreed on the phone", 0.0, {"amount": 900}, {"amount": 9}
    )
    assert record.when >= work.calls[0].deferred_at - 0.001
    assert caplog.messages[-1] == "pay (call 1): anna decided Approve: changed amount; as agreed on the phone"
    turn = Executor(TOOLS).run_sync(work).commit([])
    assert turn.decisions == ((record,),)
    assert Turn.from_dict(json.loads(json.dumps(turn.as_dict()))) == turn


def test_a_record_is_a_value_apart_from_its_time():
    one, other = (waiting().approve("1", words="yes").calls[0].decisions[0] for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
    assert one.by is None
    assert one != "approve"


def test_what_hooks_and_a_person_who_is_asked_decide_is_recorded_too():
    def decide(decision, **options):
        call = RawCall("1", "pay", {"amount": 900})
        executor = Executor(TOOLS, hooks=hook_of(decision), **options)
        return said_of(executor.run_sync(TOOLS.offer().round([call])))

    def hook_of(decision):
        def rule(call):
            return decision(call)

        rule.__qualname__ = name
        return rule

    name = "rule"
    changed = pay.input_type(amount=9)
    assert decide(lambda _: RunNormally()) == []
    assert decide(lambda _: RunNormally(changed)) == [("change", name, 9)]
    assert decide(lambda _: RunNormally(changed, approved=True)) == [("approve", name, 9)]
    assert decide(lambda _: RunNormally(approved=True)) == [("approve", name, None)]
    assert decide(lambda _: Reject("no")) == [("reject", name, None)]
    assert decide(lambda _: Complete("paid")) == [("complete", name, None)]
    assert decide(lambda _: Defer("why")) == []
    assert decide(lambda _: None, confirm=lambda _: True) == [("approve", None, None)]
    assert decide(lambda _: None, confirm=lambda _: RunNormally(changed)) == [("approve", None, 9)]
    assert decide(lambda _: None, confirm=lambda _: "no") == [("reject", None, None)]
    assert decide(lambda _: None, confirm=lambda _: None) == []


def test_an_answer_and_a_refusal_of_all_are_recorded():
    work = Executor(TOOLS).run_sync(TOOLS.offer().round([RawCall("1", "ask", {"topic": "rain"})]))
    answered = work.answer("1", True, by="anna", words="I was there")
    assert said_of_any(answered) == [("answer", "anna", "I was there")]
    assert said_of_any(work.reject_open("no", by="ben", words="late")) == [("reject", "ben", "late")]
    assert Executor(TOOLS).run_sync(answered).calls[0].decisions == answered.calls[0].decisions


def said_of_any(work):
    return [(one.kind, one.by, one.words) for one in work.calls[0].decisions]


@pytest.mark.parametrize(("by", "error"), [("", ValueError), ("  ", ValueError), (7, TypeError)])
def test_a_name_that_is_none_is_refused(by, error):
    with pytest.raises(error, match="by"):
        waiting().approve("1", by=by)


def test_a_change_back_to_what_the_model_sent_is_recorded():
    work = waiting(approvals=2).approve("1", arguments={"amount": 9}, by="anna")
    work = work.approve("1", arguments={"amount": 900}, by="ben")
    assert said_of(work) == [("approve", "anna", 9), ("approve", "ben", 900)]
    assert work.calls[0].approved_by == ("ben",)
    assert work.calls[0].changed is None


def test_each_single_change_of_a_record_is_refused_with_a_secret():
    work = waiting(approvals=3, expires_in=900).approve("1", arguments={"amount": 9}, by="anna", words="w")
    data = work.as_dict(secret=SECRET)
    (record,) = data["calls"][0]["decisions"]
    for inside in (record, data["calls"][0]["wait"]):
        for key in list(inside):
            saved = json.loads(json.dumps(inside[key]))
            inside[key] = "approve" if saved != "approve" else "reject"
            assert problems(refused(data, TOOLS, SECRET)) == [("data_changed", "1")]
            inside[key] = saved
    assert TOOLS.restore_round(data, secret=SECRET) == work


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ("decisions", "when", 10**400),
        ("decisions", "when", -(10**400)),
        ("decisions", "arguments", None),
        ("decisions", "before", None),
        ("wait", "expires_at", 10**400),
        ("wait", "approvals", 0),
    ],
)
def test_a_record_that_no_round_has_is_refused(where, name, value):
    work = waiting(approvals=3, expires_in=900).approve("1", arguments={"amount": 9}, by="anna")
    data = json.loads(json.dumps(work.as_dict()))
    inside = data["calls"][0][where]
    (inside[0] if where == "decisions" else inside)[name] = value
    assert problems(refused(resealed(data), TOOLS)) == [("data_changed", "1")]


def test_a_turn_with_a_time_that_no_clock_shows_is_refused():
    turn = Executor(TOOLS).run_sync(waiting().approve("1")).commit([])
    data = turn.as_dict()
    data["decisions"][0][0]["when"] = 10**400
    with pytest.raises(DecodeError, match="the saved turn"):
        Turn.from_dict(data)


def test_approvals_by_hooks_and_interruptions_begin_anew():
    """Whether an interrupted call may run again is a new question, to one person, at any time."""
    work = waiting(approvals=2, expires_in=900).approve("1", by="anna").approve("1", by="ben")
    again = work.interrupted()
    assert (again.calls[0].approvals, again.calls[0].expires_at) == (1, None)
    assert again.approve("1").calls[0].approved
