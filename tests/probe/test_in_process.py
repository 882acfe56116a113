"""Tools that run in the process that probes them."""

import gc
from threading import enumerate as threads

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from operator_schema import Registry, tool
from operator_schema.probe import probe

pytestmark = pytest.mark.needs_threads


def registry():
    """A tool that says that it only reads, and another one that shows that this is wrong."""
    searches = []

    @tool(read_only=True)
    def history() -> list[str]:
        """List what was looked for."""
        return searches

    @tool(read_only=True)
    def find(query: str) -> int:
        """Count what has a text in its name.

        Args:
            query: The text.
        """
        searches.append(query)
        return len(searches)

    return Registry([history, find])


def test_a_fault_is_found_with_the_smallest_call():
    report = probe(registry(), calls=2)
    (found,) = report.found
    assert (found.finding.tool, found.finding.code) == ("find", "read_only_changed")
    assert [step.call.arguments for step in found.steps] == [{"query": ""}]
    assert found.is_smallest
    assert found.repeat == ""  # no command reaches these tools


def test_no_pipe_and_no_thread_is_left_open():
    probe(registry(), calls=1)
    for thread in threads():
        if thread.name.startswith("probe"):
            thread.join(30)
            assert not thread.is_alive()
    gc.collect()  # an open pipe is a ResourceWarning then, which fails a test here
