"""What all tests of the MCP server and client need: the SDK, which is not on every Python, and an end."""

from importlib.util import find_spec

import pytest
from patience import LONGEST_WAIT, at_most

collect_ignore_glob = ["*test_*.py"] if find_spec("mcp") is None else []


@pytest.fixture(autouse=True)
def _ends():
    """No test waits for ever, whatever a server does not say."""
    with at_most(2 * LONGEST_WAIT):
        yield
