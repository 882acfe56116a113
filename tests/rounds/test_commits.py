"""Results go into a transcript with their turn: all of them, or none."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import hypothesis
import pytest
from hypothesis import strategies as st
from round_samples import Odd, fetch, raw, toolset

from operator_schema import Executor, RoundError, ToolResult, Toolset, Transcript, Turn, tool
from operator_schema.rounds import ON_COMMIT, CommitError, rejection_reason


def started(*calls):
    return toolset.offer().round([raw("fetch", call_id, url=url) for call_id, url in calls])


def result(call_id="a", name="fetch", content="page"):
    return ToolResult(call_id, name, content)


def faults(plan, *results):
    """Return the faults of a commit that is refused and changes nothing."""
    transcript = Transcript(["before"])
    with pytest.raises(CommitError) as caught:
        plan.commit(transcript, results=results)
    assert list(transcript) == ["before"]
    assert caught.value.count == len(caught.value.findings)
    return [(fault.code, fault.call_id) for fault in caught.value.findings]


# --- a commit ------------------------------------------------------------------------------------


def test_results_go_in_in_the_order_of_the_calls():
    found = started(("a", "1"), ("b", "2"), ("c", "3"))
    transcript = Transcript()
    turn = found.commit(transcript, results=[result("c"), result("a"), result("b")])
    assert [entry.call_id for entry in turn.results] == ["a", "b", "c"]
    assert turn.calls == tuple([raw("fetch", name, url=url) for name, url in ["a1", "b2", "c3"]])
    assert list(transcript) == [turn]
    assert (len(transcript), transcript[0], transcript[-1]) == (1, turn, turn)
    assert (turn.id, turn.assistant) == (found.id, None)
    assert repr(transcript) == "<Transcript of 1>"


def test_whoever_counts_commits_gets_each_round_once_and_can_not_spoil_one(request, caplog):
    told = []

    def fails(_):
        raise ZeroDivisionError

    for each in (fails, told.append):
        ON_COMMIT.append(each)
        request.addfinalizer(partial(ON_COMMIT.remove, each))
    found, transcript = started(("a", "1")), Transcript()
    with pytest.raises(CommitError):
        found.commit(transcript)
    found.commit(transcript, results=[result("a")])
    with pytest.raises(RoundError):
        found.commit(transcript, results=[result("a")])
    assert told == [found]
    assert len(transcript) == 1
    assert "a function that is called after commits failed" in caplog.text


def test_what_is_decided_already_goes_in_by_itself():
    found = toolset.offer().round(
        [raw("pay", "a", amount=1), raw("fetch", "b", url="u"), raw("x", "c"), raw("fetch", "d", url="v")]
    )
    plan = found.confirmed().reject("a", "no").with_results([found.calls[1].complete("page b")])
    turn = plan.commit([], results=[found.calls[3].complete("page d")])
    assert [entry.call_id for entry in turn.results] == ["a", "b", "c", "d"]
    assert rejection_reason(turn.results[0]) == "no"
    assert [entry.code for entry in turn.results] == ["rejected", None, "tool_not_found", None]
    assert [entry.content for entry in turn.results][1::2] == ["page b", "page d"]


def test_handled_and_rejected_calls_are_results():
    found = started(("a", "1"), ("b", "2"))
    first, second = found.calls
    turn = found.commit([], results=[second.reject("no"), first.handled("page")])
    assert [entry.code for entry in turn.results] == [None, "rejected"]


def test_any_iterable_and_any_list_will_do():
    transcript = []
    found = started(("a", "1"), ("b", "2"))
    turn = found.commit(transcript, results=(call.complete("p") for call in found.calls))
    assert transcript == [turn]


def test_an_explicit_result_for_an_issue_wins():
    found = toolset.offer().round([raw("x", "a"), raw("fetch", "b")])
    turn = found.commit([], results=[result("a", "x", "made by hand")])
    assert [entry.content == "made by hand" for entry in turn.results] == [True, False]
    again = toolset.offer().round([raw("x", "a")])
    plan = again.confirmed().with_results([result("a", "x", "made by hand")])
    assert (plan.issues, plan.handled[0].has_input, plan.is_complete) == ((), False, True)
    assert plan.commit([]).results[0].content == "made by hand"


# --- faults --------------------------------------------------------------------------------------


def test_each_fault_alone():
    assert faults(started(("a", "1"))) == [("missing", "a")]
    assert faults(started(("a", "1")), result(), result()) == [("duplicate", "a")]
    assert faults(started(("a", "1")), result(), result("b")) == [("unknown_call", "b")]
    assert faults(started(("a", "1")), result("a", "search")) == [("wrong_name", "a"), ("missing", "a")]
    assert faults(toolset.offer().round([raw("pay", "a", amount=1)]).confirmed()) == [("deferred", "a")]
    assert faults(toolset.offer().round([raw("ask", "a", topic="t")]).confirmed()) == [("missing", "a")]


def test_a_call_that_is_decided_takes_no_other_result():
    handled = started(("a", "1")).confirmed().with_results([result()])
    assert faults(handled, result(content="other")) == [("already_decided", "a")]
    rejected = started(("a", "1")).confirmed().reject("a")
    assert faults(rejected, result()) == [("already_decided", "a")]
    for decided in (handled, rejected):
        own = started(("a", "1")).calls[0]
        assert faults(decided, own.handled("p")) == [("already_decided", "a")]
        assert faults(decided, own.reject("no")) == [("already_decided", "a")]


def test_a_commit_of_calls_that_wait_says_who_may_decide():
    waiting = toolset.offer().round([raw("pay", "a", amount=1)]).confirmed()
    with pytest.raises(
        CommitError, match=r"approve or reject it, or give the executor a function that asks \(confirm=…\)$"
    ):
        waiting.commit([])


def test_a_deferred_call_takes_no_result():
    waiting = toolset.offer().round([raw("pay", "a", amount=1)]).confirmed()
    assert faults(waiting, result("a", "pay")) == [("deferred", "a"), ("deferred", "a")]
    with pytest.raises(CommitError, match="it waits for a decision: leave this one out"):
        waiting.with_results([result("a", "pay")])


def test_a_result_of_a_call_with_other_arguments_is_refused():
    other = started(("a", "other")).calls[0]
    for given in (other.handled("page"), other.reject("no")):
        assert faults(started(("a", "1")), given) == [("changed_arguments", "a"), ("missing", "a")]
    elsewhere = started(("b", "0"), ("a", "1")).calls[1]
    assert faults(started(("a", "1")), elsewhere.handled("p"))[0] == ("changed_arguments", "a")
    edited = started(("a", "1")).calls[0].with_input(fetch.input_type(url="edited"))
    (given,) = started(("a", "1")).commit([], results=[edited.handled("p")]).results
    assert given.content == "The program changed url before it ran.\np"


def test_all_faults_come_together_in_the_order_of_the_calls():
    found = toolset.offer().round(
        [
            raw("fetch", "a", url="1"),
            raw("fetch", "b", url="2"),
            raw("pay", "c", amount=1),
            raw("fetch", "d", url="4"),
            raw("fetch", "e", url="5"),
        ]
    )
    plan = found.confirmed().with_results([found.calls[4].complete("done")])
    given = [
        result("z"),
        result("e"),
        result("d", "search"),
        result("b"),
        result("b"),
        started(("d", "x")).calls[0].handled("p"),
    ]
    assert faults(plan, *given) == [
        ("missing", "a"),
        ("duplicate", "b"),
        ("deferred", "c"),
        ("wrong_name", "d"),
        ("changed_arguments", "d"),
        ("missing", "d"),
        ("already_decided", "e"),
        ("unknown_call", "z"),
    ]


@pytest.mark.parametrize(("count", "more"), [(10, []), (11, ["- … and 1 more"])])
def test_the_message_lists_ten_faults_and_says_how_many_more_there_are(count, more):
    with pytest.raises(CommitError) as caught:
        started(*[(str(number), "u") for number in range(count)]).commit([])
    _, *lines = str(caught.value).splitlines()
    assert [*lines[:10], *more] == lines
    assert all(line.endswith("it has no result: run it, or reject it") for line in lines[:10])


def test_the_message_lists_the_faults_and_is_bounded():
    found = started(*[(str(i) + "x" * 1000, "u") for i in range(1000)])
    with pytest.raises(CommitError) as caught:
        found.commit([], results=[])
    assert len(caught.value.findings) == 1000
    assert len(str(caught.value)) < 10_000
    assert "… and 990 more" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.findings, str(again)) == (caught.value.findings, str(caught.value))
    fault = started(("a", "1"))
    with pytest.raises(CommitError, match='- fetch \\(call "a"\\): it has no result: run it, or reject it'):
        fault.commit([])


@pytest.mark.parametrize("given", ["page", None, 5, {"call_id": "a"}, Odd(), ("a", "page")])
def test_something_else_is_not_a_result(given):
    found = started(("a", "1"))
    with pytest.raises(TypeError, match="a result must be a ToolResult"):
        found.commit([], results=[given])
    with pytest.raises(TypeError, match="a result must be a ToolResult"):
        found.confirmed().with_results([given])


@pytest.mark.parametrize("wrong", [None, 5, b"a", [], Odd()])
def test_a_result_has_the_id_and_the_name_of_its_call(wrong):
    found = started(("a", "1"))
    with pytest.raises(TypeError, match="the call_id of a result must be a string"):
        found.commit([], results=[result(wrong)])
    with pytest.raises(TypeError, match="the name of a result must be a string"):
        found.commit([], results=[result("a", wrong)])


def test_one_result_alone_is_not_a_list():
    found = started(("a", "1"))
    call = found.calls[0]
    for alone in (result(), call.handled("p"), call.reject()):
        with pytest.raises(TypeError, match=r"write \[result\]"):
            found.commit([], results=alone)


# --- ids that repeat -----------------------------------------------------------------------------


def test_results_of_one_id_go_to_the_calls_in_order():
    found = started(("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"))
    given = [result(content="1"), result("b", content="3"), result(content="2"), result(content="4")]
    assert [entry.content for entry in found.commit([], results=given).results] == ["1", "2", "3", "4"]


MAKERS = {
    "complete": lambda call, text: call.complete(text),
    "fail": lambda call, text: call.fail(text),
    "handled": lambda call, text: call.handled(text),
    "a copy": lambda call, text: copy.deepcopy(call.complete(text)),
    "a pickle": lambda call, text: pickle.loads(pickle.dumps(call.fail(text))),
    "edited": lambda call, text: call.complete("secret").replace(content=text),
}


@hypothesis.given(st.lists(st.sampled_from("ab"), min_size=1, max_size=5), st.data())
def test_a_result_that_a_call_made_goes_to_this_call(call_ids, data):
    """Also if calls share their ids, and even their arguments, and the results come in any order."""
    found = started(*[(call_id, "u") for call_id in call_ids])
    made = [MAKERS[data.draw(st.sampled_from(list(MAKERS)))](call, str(call.index)) for call in found.calls]
    given_first = data.draw(st.integers(0, len(made)))
    shuffled = data.draw(st.permutations(made[:given_first]))
    plan = found.confirmed().with_results(shuffled)
    turn = plan.commit([], results=data.draw(st.permutations(made[given_first:])))
    assert [entry.content for entry in turn.results] == [str(index) for index in range(len(call_ids))]


def test_a_call_that_shares_its_id_takes_one_result():
    found = started(("a", "1"), ("a", "2"))
    first, second = found.calls
    assert ("duplicate", "a") in faults(found, first.complete("1"), first.complete("2"))
    decided = found.confirmed().with_results([second.complete("2")])
    with pytest.raises(CommitError) as caught:
        decided.commit([], results=[second.complete("3")])
    assert {fault.code for fault in caught.value.findings} == {"missing", "already_decided"}
    turn = decided.commit(
        [], results=[result(content="1")]
    )  # one that knows only the id goes to the call that is left
    assert [entry.content for entry in turn.results] == ["1", "2"]


def test_a_result_of_another_turn_goes_by_its_id():
    other = started(("x", "1"), ("a", "1")).calls[1]
    assert [
        entry.content for entry in started(("a", "1")).commit([], results=[other.complete("p")]).results
    ] == ["p"]
    found = started(("b", "1"), ("c", "1"), ("a", "1"))
    rest = [call.complete("q") for call in found.calls[:2]]
    assert found.commit([], results=[other.complete("p"), *rest]).results[2].content == "p"


def test_one_id_may_name_two_tools():
    found = toolset.offer().round([raw("fetch", "a", url="1"), raw("search", "a", query="q")])
    turn = found.commit([], results=[result("a", "search"), result("a", "fetch")])
    assert [entry.name for entry in turn.results] == ["fetch", "search"]


def test_a_handled_call_of_a_repeated_id_keeps_its_place():
    found = started(("a", "1"), ("a", "2"))
    first, second = found.calls
    turn = found.commit([], results=[second.handled("2"), first.handled("1")])
    assert [entry.content for entry in turn.results] == ["1", "2"]
    found = started(("a", "1"), ("a", "2"))
    turn = found.commit([], results=[result(content="other"), found.calls[0].handled("1")])
    assert [entry.content for entry in turn.results] == ["1", "other"]


def test_two_results_for_one_of_two_calls_are_refused():
    found = started(("a", "1"), ("a", "2"))
    first = found.calls[0]
    assert ("duplicate", "a") in faults(found, first.handled("1"), first.handled("1"))
    assert faults(found, result()) == [("missing", "a")]
    assert faults(found, result(), result(), result()) == [("duplicate", "a")]


def test_pending_calls_of_an_id_get_their_results_before_issues():
    found = toolset.offer().round([raw("fetch", "a"), raw("fetch", "a", url="2")])
    turn = found.commit([], results=[result(content="2")])
    assert [entry.code for entry in turn.results] == ["invalid_params", None]
    found = toolset.offer().round([raw("fetch", "a"), raw("fetch", "a", url="2")])
    turn = found.commit([], results=[result(content="2"), result(content="for the issue")])
    assert [entry.content for entry in turn.results] == ["for the issue", "2"]


# --- the turn ------------------------------------------------------------------------------------


def test_a_turn_is_a_value_and_json():
    found = toolset.offer().round([raw("fetch", "a", url="1"), raw("x", "b")], assistant={"text": "hm"})
    turn = found.commit([], results=[result()])
    assert turn == Turn(found.id, turn.calls, turn.results, {"text": "hm"})
    data = turn.as_dict()
    assert data["id"] == found.id
    assert data["assistant"] == {"text": "hm"}
    assert data["calls"][0] == {"id": "a", "name": "fetch", "arguments": {"url": "1"}}
    assert [entry["call_id"] for entry in data["results"]] == ["a", "b"]
    data["assistant"].clear()
    assert turn.assistant == {"text": "hm"}


class Later:
    """A transcript that a commit can't wait for."""

    def __init__(self):
        self.turns = []

    async def append(self, turn):
        self.turns.append(turn)


def test_an_async_append_is_refused_and_the_round_stays_open():
    found = started(("a", "1"))
    later = Later()
    with pytest.raises(TypeError, match=r"Later\.append is async"):
        found.commit(later, results=[result()])
    assert later.turns == []
    transcript = Transcript()
    found.commit(transcript, results=[result()])
    assert len(transcript) == 1


@pytest.mark.needs_threads
def test_nothing_runs_in_a_round_that_ended_while_its_hooks_were_asked():
    ran = []

    @tool
    def note(text: str) -> str:
        """Note a text."""
        ran.append(text)
        return text

    notes = Toolset(note)
    executor = Executor(notes)
    for end in ("commit", "discard"):
        found = notes.offer().round([raw("note", "a", text="x")])
        ends = {
            "commit": lambda found=found: found.commit([], results=[result(name="note")]),
            "discard": found.discard,
        }
        with pytest.raises(RoundError, match="already"):
            executor.run_sync(found, hooks=lambda _, end=ends[end]: (end(), None)[1])
    assert ran == []


def test_results_that_are_none_are_refused():
    plan = toolset.offer().round([raw("search", query="q")])
    with pytest.raises(TypeError, match="expected a list of results, not null: leave it out"):
        plan.commit([], results=None)


def test_a_position_before_the_first_call_is_no_call():
    found = started(("a", "1"), ("b", "2"))
    last = found.calls[-1].handled("1")
    assert ("changed_arguments", "b") in faults(found, last.replace(index=-1))
