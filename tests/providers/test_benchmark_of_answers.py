"""The benchmark of answers measures what it says, with or without OpenAI's SDK."""

import pytest

pytest.importorskip("rich")  # what shows the results; it has no part in the package

from rich.progress import Progress

from benchmarks.contestants import OURS
from benchmarks.measure import Plan
from benchmarks.questions import answers

pytestmark = pytest.mark.needs_threads


def test_each_case_has_a_number_for_us_and_for_each_peer_or_why_it_has_none():
    with Progress(disable=True) as progress:
        found = answers.run(Plan(quick=True, rounds=1, seconds=0.0001, progress=progress))
    assert tuple(found) == answers.CASES
    for entries in found.values():
        assert entries[OURS]["median"] > 0
        assert {*entries} <= {OURS, *answers.PEERS}
        assert all(
            "median" in entry or entry["cant"] == "can't: openai isn't installed"
            for entry in entries.values()
        )
