"""Calls whose arguments the model didn't finish: they are never run, whatever came of them fits."""

from __future__ import annotations

import pytest
from round_samples import done, fetch
from saving_samples import planned, problems, refused, resealed, restored, saved

from operator_schema import Executor, RawCall, Toolset, tool

RAN: list[str] = []


@tool
def wipe(path: str = "/") -> str:
    """Wipe a folder."""
    RAN.append(path)
    return f"wiped {path}"


TOOLS = Toolset(wipe, fetch)
CUT = RawCall("1", "wipe", "", is_cut_off=True)


@pytest.mark.parametrize("arguments", ["", None, {}, {"path": "/a"}, '{"path": "/a"}', '{"path": ', "\ud800"])
def test_a_call_that_was_cut_off_is_an_issue_and_stays_one(arguments):
    sent = TOOLS.offer().round([RawCall("1", "wipe", arguments, is_cut_off=True)])
    assert sent.pending == ()
    (issue,) = sent.issues
    assert issue.code == issue.result.code == "cut_off"
    assert "your answer was cut off before this call was complete" in issue.content
    assert issue.raw.is_cut_off
    again = restored(done(sent.apply()), TOOLS)
    assert again == sent.confirmed()
    assert (again.issues[0].code, again.issues[0].raw.is_cut_off) == ("cut_off", True)
    assert "wipe (cut_off)" in (again.continue_suggestion or "")
    turn = again.commit([])
    assert turn.calls[0].is_cut_off
    assert turn.as_dict()["calls"][0]["is_cut_off"] is True


@pytest.mark.needs_threads
def test_the_others_of_its_turn_run():
    RAN.clear()
    plan = Executor(TOOLS).run_sync(TOOLS.offer().round([RawCall("0", "wipe", {"path": "/b"}), CUT]))
    assert [result.code for result in plan.commit([]).results] == [None, "cut_off"]
    assert RAN == ["/b"]


def test_what_is_said_of_a_tool_that_is_not_there_comes_first():
    (issue,) = Toolset(fetch).offer().round([CUT]).issues
    assert issue.code == "tool_not_found"


@pytest.mark.needs_threads
def test_saved_data_that_make_a_pending_call_of_it_run_nothing():
    plan = TOOLS.offer().round([RawCall("1", "wipe", {"path": "/a"})]).confirmed()
    data = saved(plan)
    data["calls"][0]["is_cut_off"] = True
    assert problems(refused(data, TOOLS)) == [("data_changed", "1")]
    assert problems(refused({**data, "calls": [{**data["calls"][0], "is_cut_off": "x"}]}, TOOLS)) == [
        ("data_changed", "1")
    ]
    RAN.clear()
    again = Executor(TOOLS).run_sync(TOOLS.restore_round(resealed(data)))
    assert (again.handled[0].result.code, RAN) == ("cut_off", [])


def test_a_call_that_came_whole_says_nothing_of_it():
    assert "is_cut_off" not in planned(("book", {"leg": {"origin": "A"}})).as_dict()["calls"][0]
