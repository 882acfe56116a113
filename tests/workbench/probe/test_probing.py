"""A server of notes is probed, with one fault each."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from operator_schema.workbench.probe import ProbeError, plan, probe, watching

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("it starts servers, some of them many times"),
    pytest.mark.usefixtures("quick_probes"),
]

SERVER = Path(__file__).with_name("notes_server.py")
SECONDS_BETWEEN = watching.SECONDS_BETWEEN


def probed(*faults, clock="ticks", **options):
    given = {"allow_all": True, "calls": 1, "seconds": 60, "timeout": 2, **options}
    return probe([sys.executable, "-S", str(SERVER), *faults, clock], **given)


def shown(report, code):
    return [each for each in report.found if each.finding.code == code]


def test_a_server_without_faults_has_no_findings():
    report = probed(calls=6)
    assert str(report).split(" · ")[0] == "nothing found"
    assert report.unrepeated == []


def test_a_clock_of_seconds_is_no_fault(monkeypatch):
    monkeypatch.setattr(watching, "SECONDS_BETWEEN", SECONDS_BETWEEN)
    report = probed(clock="seconds")
    assert str(report).split(" · ")[0] == "nothing found"
    assert report.unrepeated == []


def test_a_server_need_not_read_lone_surrogates_and_is_asked_once_only():
    report = probed("ignores_surrogates", timeout=0.5)
    assert str(report).split(" · ")[0] == "nothing found"
    assert report.is_complete
    reads = probed("ignores_surrogates", "hangs", timeout=0.5, allow_all=False)
    assert reads.findings[0].code == "hang"


@pytest.mark.parametrize(
    ("fault", "code", "tool", "arguments"),
    [
        ("edge", "valid_refused", "repeat", {"text": "", "times": 9}),
        ("coerces", "invalid_accepted", "repeat", {"text": "", "times": "0"}),
        ("unflagged", "unknown_tool_accepted", None, {}),
        ("unnamed", "unnamed_parameter", "repeat", {"text": 0}),
        ("wrong_result", "wrong_result", "repeat", {"text": ""}),
        ("no_result", "no_structured_result", "repeat", {"text": ""}),
        ("prints", "channel_noise", "repeat", {"text": ""}),
        ("crashes", "crash", "repeat", {"text": "\0"}),
        ("hangs", "hang", "repeat", {"text": "", "times": 9}),
        ("ends", "crash", "repeat", {"text": "", "times": 1}),
        ("writes", "read_only_changed", "repeat", {"text": ""}),
        ("damages", "changed_by_refused", "create_note", {}),
        ("idempotent", "not_idempotent", "create_note", {"title": ""}),
    ],
)
def test_a_fault_is_found_with_the_smallest_call(fault, code, tool, arguments):
    # Only the tool that has the fault: sequences of all of them are tried below.
    allow = ["create_note"] if tool == "create_note" else []
    report = probed(fault, timeout=0.5 if fault == "hangs" else 2, allow_all=False, allow=allow)
    found = [each for each in shown(report, code) if each.finding.tool == tool]
    assert arguments in [each.steps[-1].call.arguments for each in found]
    assert all(each.is_smallest for each in found)


def test_a_fault_that_needs_three_calls_is_found_with_these_three():
    report = probed("second_delete", calls=3)
    (found,) = shown(report, "crash")
    names = [step.call.tool for step in found.steps]
    assert names == ["create_note", "delete_note", "delete_note"]
    assert found.steps[1].links == ((("note_id",), 0, ("id",)),)


def test_a_fault_that_one_call_alone_does_not_show_has_the_calls_before_it():
    (found,) = shown(probed("limits"), "unflagged_error")
    assert [step.call.arguments for step in found.steps] == [{"text": ""}] * 6
    assert found.is_smallest


def test_only_tools_that_only_read_are_called_unless_others_are_allowed():
    called = {each.tool for each in plan([sys.executable, str(SERVER)]) if each.is_called}
    assert called == {"list_notes", "repeat", "now"}
    called = {
        each.tool for each in plan([sys.executable, str(SERVER)], allow=["create_note"]) if each.is_called
    }
    assert called == {"list_notes", "repeat", "now", "create_note"}


def test_equal_seeds_make_equal_calls():
    command = [sys.executable, str(SERVER)]
    assert plan(command, seed=3) == plan(command, seed=3)


def test_a_name_that_no_tool_has_cannot_be_allowed():
    with pytest.raises(ProbeError, match='to allow; did you mean "create_note"'):
        plan([sys.executable, str(SERVER)], allow=["create_notes"])
    with pytest.raises(ProbeError, match=r'^there is no tool "nope" to allow; the server has .*create_note'):
        plan([sys.executable, str(SERVER)], allow=["nope"])


def test_what_a_server_said_before_it_ended_is_told():
    with pytest.raises(ProbeError, match="no such luck"):
        plan([sys.executable, "-c", "import sys; sys.exit('no such luck')"])
