"""A server with planted faults is probed; `make probe-judge` tries each alone."""

import pytest

pytest.importorskip("hypothesis")

from faulty_server import FAULTS
from planted_faults import EXPECTED, found_in, probed, unexplained

from operator_schema.workbench.probe import watching

pytestmark = [pytest.mark.needs_process, pytest.mark.slow("it calls 31 tools in some thousand ways")]

WAITED_FOR = {"hang", "stuck_after_cancel"}
"""Faults that take seconds, since an answer is waited for."""


def test_each_fault_has_a_finding_that_tells_of_it():
    assert list(EXPECTED) == list(FAULTS)


def test_planted_faults_are_found_and_nothing_else(monkeypatch):
    monkeypatch.setattr(watching, "SECONDS_BETWEEN", 0.01)  # its answers have no clock
    names = [name for name in EXPECTED if name not in WAITED_FOR]
    # What finds them are calls that are made however few are drawn.
    report = probed("--quick", *[word for name in names for word in ("--fault", name)], calls=1)
    assert found_in(report, names) == set(names)
    assert unexplained(report, names) == []
