"""What tests of the probe share."""

import pytest
from hypothesis import strategies

from operator_schema.testing import drawn
from operator_schema.workbench.probe import walking, watching


@pytest.fixture(scope="session", autouse=True)
def tables_of_hypothesis():
    """Load the tables that Hypothesis keeps in files: in the empty folder of a probe it makes them anew."""
    drawn(strategies.floats() | strategies.integers() | strategies.text(), seed=0, number=200)


@pytest.fixture
def quick_probes(monkeypatch):
    """Make as many sequences as generated calls, as each of them starts the server, and wait for no clock."""
    monkeypatch.setattr(walking, "LEAST_SEQUENCES", 1)
    monkeypatch.setattr(watching, "SECONDS_BETWEEN", 0.01)
