"""The servers of the judge are right without a fault, and each fault shows when it is switched on."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from patience import LONGEST_WAIT, at_most
from planted import FAULTS, VALID, groups, works
from talk import answers_of

pytestmark = pytest.mark.needs_process

SDK = pytest.mark.slow("imports the SDK")
SERVERS = [pytest.param(name, marks=SDK if name == "lab" else ()) for name in VALID]


def together(faults):
    """Return the calls of faults one after the other, and the numbers of those that belong to each."""
    calls, places = [], {}
    for fault in faults:
        places[fault.name] = slice(len(calls), len(calls) + len(fault.calls))
        calls += fault.calls
    return calls, places


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_a_fault_is_right(server):
    faults = [each for each in FAULTS if each.server == server]
    calls, places = together(faults)
    with at_most(LONGEST_WAIT):
        answers = answers_of(server, (), [*VALID[server], *calls])
    for call, answer in zip(VALID[server], answers, strict=False):
        assert works(answer), (call, answer)
    rest = answers[len(VALID[server]) :]
    assert [each.name for each in faults if each.shows(rest[places[each.name]])] == []


GROUPS = [
    *(group for group in groups(FAULTS) if group[0].server != "lab"),
    [each for each in FAULTS if each.server == "lab"],
]


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=SDK if group[0].server == "lab" else (), id="+".join(f.name for f in group))
        for group in GROUPS
    ],
)
def test_a_fault_shows(group):
    calls, places = together(group)
    with at_most(LONGEST_WAIT):
        answers = answers_of(group[0].server, group, calls)
    assert [each.name for each in group if not each.shows(answers[places[each.name]])] == []


def test_there_are_forty_faults_with_codes_that_the_page_lists():
    page = Path(__file__).parents[3].joinpath("docs/probe.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `([a-z_]+)` \| (?:error|warning) \|", page, re.MULTILINE))
    assert len({(each.server, each.name) for each in FAULTS}) == len(FAULTS) == 40
    assert {code for each in FAULTS for code in each.codes} <= listed
