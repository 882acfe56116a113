"""What tests of the probe share."""

import pytest
from hypothesis import strategies

from operator_schema.testing.result_values import drawn


@pytest.fixture(scope="session", autouse=True)
def tables_of_hypothesis():
    """Load the tables that Hypothesis keeps in files: in the empty folder of a probe it makes them anew."""
    drawn(strategies.floats() | strategies.integers() | strategies.text(), seed=0, number=200)
