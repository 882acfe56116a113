"""What a probe that is complete does doesn't depend on how fast the machine or the server is."""

import sys
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from operator_schema.workbench.probe import probe, subject

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("it starts a server many times"),
    pytest.mark.usefixtures("quick_probes"),
]

SERVER = Path(__file__).with_name("workshop_server.py")


def probed(seconds):
    """Probe a server of which one tool, `add_job`, works only once with each value."""
    command = [sys.executable, "-S", str(SERVER), "english"]
    return probe(command, allow_all=True, calls=1, seconds=seconds, timeout=20)


def test_a_slow_start_changes_nothing_in_a_complete_probe_of_a_right_server(monkeypatch):
    report = probed(600)
    assert report.found == report.unrepeated == []
    monkeypatch.setattr(subject, "monotonic", map(float, count()).__next__)  # each start takes a second
    assert report.is_complete
    assert probed(600).as_dict() == report.as_dict()


def test_a_probe_without_time_for_all_ways_of_calling_is_not_complete():
    assert not probed(0.01).is_complete
