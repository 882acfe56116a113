"""What becomes of a fault that was seen if there is no time to make its calls again?"""

import sys
from math import inf
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from operator_schema.workbench.probe.calls import Call, ProbedTool
from operator_schema.workbench.probe.checks import AnswerFault, faults_of
from operator_schema.workbench.probe.evidence import Evidence
from operator_schema.workbench.probe.sequences import Step
from operator_schema.workbench.probe.targets import server_of
from operator_schema.workbench.probe.watching import ProbeLimits, ServerWatcher, change_of

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("it starts a server"),
    pytest.mark.usefixtures("quick_probes"),
]

SERVER = Path(__file__).with_name("notes_server.py")
FAULTS = ("coerces", "wrong_result", "damages")
CALLS = (
    Call("repeat", {"text": "", "times": "3"}, "invalid", "a text in place of a number"),
    Call("repeat", {"text": "a"}, "valid", "generated"),
    Call("create_note", {}, "invalid", "nothing at all"),
)
NEVER_SEEN = AnswerFault("invalid_accepted", (), "it isn't so")
LOOK = Call("list_notes", {}, "valid", "to see the state")


@pytest.fixture
def watcher():
    command = [sys.executable, "-S", str(SERVER), *FAULTS, "ticks"]
    server = server_of(command, setup=None, timeout=5, context=None, memory=4096, env={})
    server.start()
    tools = {each["name"]: ProbedTool.of(each) for each in server.list_tools()}
    watcher = ServerWatcher(server, tools, 1_000_000)
    watcher.find_observers([LOOK])
    yield watcher
    server.close()


def seen_by(watcher, limits):
    """Make the calls, and note what is wrong with each answer."""
    evidence = Evidence(watcher, limits)
    for call in CALLS:
        before = watcher.state()
        outcome = watcher.made(call)
        tool = watcher.tools[call.tool]
        changed = change_of(tool, outcome, before, watcher.state())
        for fault in [*faults_of(tool, call, outcome, 1_000_000), *filter(None, [changed])]:
            evidence.note(fault, [Step(call)], call.tool)
    return evidence


def codes(found):
    return sorted(each.finding.code for each in found)


def ended(evidence):
    """Return what is reported if the time is over."""
    evidence.limits = ProbeLimits(-inf, 1, 0)
    return evidence.settled(lambda *_: None)


def test_what_showed_twice_is_reported_even_if_no_time_is_left(watcher):
    evidence = seen_by(watcher, ProbeLimits(inf, 1, 0))
    evidence.show_again()
    found = ended(evidence)
    assert codes(found) == ["changed_by_refused", "invalid_accepted", "wrong_result"]
    assert all([step.call for step in each.steps] in ([CALLS[0]], [CALLS[2]]) for each in found)
    assert evidence.unrepeated == []


def test_what_there_is_no_time_for_is_told_with_its_call(watcher):
    evidence = seen_by(watcher, ProbeLimits(inf, 1, 0))
    found = ended(evidence)
    (late,) = evidence.unrepeated
    assert codes([*found, late]) == ["changed_by_refused", "invalid_accepted", "wrong_result"]
    assert late.finding.code == "changed_by_refused"
    assert late.finding.message.endswith(" (there was no time to reproduce it)")
    assert [step.call for step in late.steps] == [CALLS[2]]
    assert not evidence.is_in_time


def test_what_does_not_show_again_is_not_reported(watcher):
    evidence = Evidence(watcher, ProbeLimits(inf, 1, 0))
    evidence.note(NEVER_SEEN, [Step(CALLS[1])], "repeat")
    evidence.show_again()
    assert evidence.settled(lambda *_: None) == []
    assert [each.finding.message for each in evidence.unrepeated] == [
        f"{NEVER_SEEN.message} (it couldn't be reproduced)"
    ]
    assert evidence.is_in_time
