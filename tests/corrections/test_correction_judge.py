"""A slice of the judge of corrections; `make corrections` asks all of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mistake_score import ROWS, Score, has_to_copy, judge, missed_bars, row_of, score, tools_of
from mistakes import KINDS, Wrong, repeatable, wrong_call
from right_calls import agent_calls, airline_calls, traffic_calls

pytestmark = pytest.mark.slow("makes hundreds of mistakes")


@pytest.fixture(scope="module")
def calls():
    return [*airline_calls()[::40], *traffic_calls()[::12], *agent_calls(2, 0)]


@pytest.fixture(scope="module")
def found(calls):
    return score(calls, tools_of(calls), "test")


def test_each_kind_of_mistake_is_made(found):
    assert {name for name, _ in found.counts} == set(ROWS)


def test_nearly_every_text_ends_with_the_right_call_and_none_with_an_invented_one(found):
    assert missed_bars(found) == []


@pytest.mark.parametrize("row", [*filter(has_to_copy, ROWS)])
def test_no_text_ends_with_a_wrong_call(found, row):
    of_kind = row_of(found, row)
    assert of_kind.lines == of_kind.right


def test_the_same_seed_makes_the_same_mistakes(calls):
    made = [
        [wrong_call(call, (kind,), repeatable(seed)) for call in calls[::5] for kind in KINDS]
        for seed in ("one", "one", "two")
    ]
    assert made[0] == made[1] != made[2]


def test_making_a_mistake_leaves_the_call_as_it_is(calls):
    for call in calls[::5]:
        for kind in KINDS:
            wrong_call(call, (kind,), repeatable(0))
        assert judge(call, Wrong((), call.subject.name, call.arguments), []).outcome == "same"


def test_the_bars_are_missed_where_nothing_is_at_the_end_or_something_else():
    nothing = Score.of_nothing()
    nothing.counts["nested", "no line"] += 10
    (missed,) = missed_bars(nothing)
    assert "0 of 10 texts" in missed
    wrong = Score.of_nothing()
    wrong.counts.update({("nested", "right"): 90, ("nested", "wrong"): 2, ("null", "right"): 1})
    assert len(missed_bars(wrong)) == 2
