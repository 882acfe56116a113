"""Faults that no single call shows are found whatever language a server speaks."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from shares import share
from workshop_server import FAULTY_TOOLS, TEXTS

from operator_schema.workbench.probe import probe

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("it starts a server many times"),
    pytest.mark.usefixtures("quick_probes"),
]

SERVER = Path(__file__).with_name("workshop_server.py")


def findings(*words):
    report = probe([sys.executable, "-S", str(SERVER), *words], allow_all=True, calls=1, timeout=20)
    assert report.is_complete
    return {(each.finding.tool, each.finding.code) for each in report.found}


ALONE = [(language, [fault]) for fault in FAULTY_TOOLS for language in TEXTS]
TOGETHER = [
    ("polish", ["second_fails", "cancelled_change_stays", "known_id_breaks_promise", "nested_id_is_changed"]),
    ("codes", ["cancelled_reading_changes", "known_id_is_changed", "another_job_breaks_promise"]),
]
HALF = len(ALONE) // 2 + 1
CASES = [TOGETHER[0], *ALONE[:HALF], TOGETHER[1], *ALONE[HALF:]]


@pytest.mark.hypothesis
@pytest.mark.parametrize(("language", "faults"), share(CASES, HALF + 1))
def test_faults_that_show_in_several_calls_are_found_in_each_language(language, faults):
    assert findings(language, *faults) == {FAULTY_TOOLS[fault] for fault in faults}


def test_calls_that_have_to_come_first_are_shown_and_no_others():
    command = [sys.executable, "-S", str(SERVER), "codes", "another_job_breaks_promise"]
    (found,) = probe(command, allow_all=True, calls=1, timeout=20).found
    assert [step.call.tool for step in found.steps] == ["add_job", "list_jobs"]
