"""A slice of the damage campaign; `make damage` runs the whole of it."""

from __future__ import annotations

import io
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from calls import made_calls, recorded_calls
from damaging import meets_the_bar, report, run_calls
from hands_off import HANDS_OFF, TEMPTING, Trap
from kinds import KINDS
from proposed import PROPOSED, SHARE_SHOWN, share_right
from rich.console import Console

from operator_schema import Codec


def some_of_each_tool(number):
    calls = defaultdict(list)
    for call in recorded_calls():
        calls[call.codec.name].append(call)
    return [call for each in calls.values() for call in each[:: -(-len(each) // number)]]


@pytest.fixture(scope="module")
def recorded():
    return run_calls(some_of_each_tool(3), "test:recorded")


@pytest.fixture(scope="module")
def made():
    return run_calls(made_calls(8, 0), "test:made")


def test_every_recorded_call_comes_back(recorded):
    assert recorded.found == []
    assert meets_the_bar([recorded])


@pytest.mark.slow("damages hundreds of calls")
def test_every_made_call_comes_back(made):
    assert made.found == []
    assert meets_the_bar([made])


def test_every_kind_of_damage_is_done_alone_and_with_another(made):
    done = {(kind, pair) for kind, pair, _ in made.counts}
    assert done == {(kind, pair) for kind in KINDS for pair in (False, True)}


def test_most_mistakes_are_made_and_shown_right(recorded, made):
    counts = recorded.proposed + made.proposed
    # So few calls hardly have a date; each day of a year is tried in tests/codec/corrections.
    assert {kind for kind, _ in counts} >= set(PROPOSED) - {"date in another form"}
    assert all(share_right(counts, kind) >= SHARE_SHOWN for kind in PROPOSED)
    assert {what for _, what in counts} <= {"right", "absent"}


def test_everything_that_must_not_be_repaired_is_tried(made):
    assert {name for name, _ in made.trapped} == set(HANDS_OFF)


def test_a_seed_says_which_run_it_is():
    calls = recorded_calls()[:6]
    assert run_calls(calls, "again") == run_calls(calls, "again")
    assert run_calls(calls, "again") != run_calls(calls, "another")


def test_there_are_all_the_recorded_calls():
    assert len(recorded_calls()) == 1164


@pytest.mark.parametrize("what", ["different", "refused"])
def test_the_bar_is_missed_where_a_call_does_not_come_back(made, what):
    counts = Counter({(KINDS[0], False, what): 10})
    bad = made._replace(counts=made.counts + counts, found=[(f"{what}: {KINDS[0]}", "sent", "shown")])
    assert not meets_the_bar([bad])
    console = Console(record=True, width=124, file=io.StringIO())
    assert not report("some calls", [bad], console)
    assert f"{what}: {KINDS[0]}" in console.export_text()


def test_the_bar_is_missed_where_something_was_repaired_that_must_not_be(made):
    trap = Trap(Codec(int, repair=True), "5", "refused")
    what, shown = trap.outcome()
    assert what == "changed"
    assert not meets_the_bar([made._replace(found=[(f"{what}: a trap", "'5'", shown)])])


def test_a_text_is_kept_however_tempting_it_is():
    codec = Codec(str, repair=True)
    assert [Trap(codec, text, "kept", text).outcome()[0] for text in TEMPTING] == ["kept"] * len(TEMPTING)
