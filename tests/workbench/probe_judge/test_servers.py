"""The servers of the judge are right without a fault, and each fault shows when it is switched on."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).parent))

from patience import LONGEST_WAIT, at_most
from planted import FAULTS, VALID, data, error_of, groups, works
from talk import answers_of, tools_and_answers

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


EXISTING = {"T-1003": "T-1001", "sensor-3": "sensor-1"}
"""Ids that a server has from the start, for those that the valid calls made."""

ODD = (None, True, 0, -1, 1.0, 1.5, 10**13, "", "x", "ä" * 600, [], {}, ["x"], [1], ["x"] * 9)
WITH_FORMAT = {"deliver_at", "due", "at", "since"}
"""Parameters with a format, which jsonschema doesn't check."""


def with_existing_ids(arguments):
    return json.loads(re.sub("|".join(EXISTING), lambda found: EXISTING[found[0]], json.dumps(arguments)))


def changed(value):
    """Yield a value with each odd value in the place of each of its parts, or with a part left out or added.

    Each comes with the key of the part.
    """
    for key, part in value.items():
        yield key, {name: each for name, each in value.items() if name != key}
        for odd in ODD:
            yield key, {**value, key: odd}
        if isinstance(part, dict):
            for inner, new in changed(part):
                yield inner, {**value, key: new}
    yield "", {**value, "more": 1}


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_a_fault_judges_by_its_schemas(server):
    asked = [
        (name, key, new)
        for name, arguments in VALID[server]
        for key, new in changed(with_existing_ids(arguments))
    ]
    with at_most(LONGEST_WAIT):
        listed, answers = tools_and_answers(server, (), [(name, new) for name, _, new in asked])
    checks = {name: Draft202012Validator(tool["inputSchema"]) for name, tool in listed.items()}
    results = {
        name: Draft202012Validator(tool["outputSchema"])
        for name, tool in listed.items()
        if "outputSchema" in tool
    }
    for (name, key, new), answer in zip(asked, answers, strict=True):
        if checks[name].is_valid(new):
            about_meaning = (
                key.endswith("_id") or key in WITH_FORMAT or name in {"cancel_order", "remove_sensor"}
            )
            assert works(answer) or about_meaning, (name, new, answer)
        else:
            assert key in error_of(answer) or not key, (name, new, answer)
        if works(answer) and name in results:
            results[name].validate(data(answer))


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
