"""Tools that run in the process that probes them."""

import gc
from threading import enumerate as threads

import pytest
from patience import LONGEST_WAIT

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from operator_schema import CallError, Registry, tool
from operator_schema.workbench.probe import probe

pytestmark = [pytest.mark.needs_threads, pytest.mark.usefixtures("quick_probes")]


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


def counted(changes_at):
    """Tools of which one tells the state, which a call of another one changes; and the calls as they come."""
    came, state = [], [0]

    @tool(read_only=True)
    def total() -> int:
        """Tell what is counted."""
        came.append("total")
        return state[0]

    @tool(read_only=True)
    def look(query: str) -> str:
        """Look for a text.

        Args:
            query: The text.
        """
        came.append("look")
        state[0] += came.count("look") == changes_at
        return query

    @tool
    def sell(is_cut: bool) -> str:
        """Take some bread away.

        Args:
            is_cut: Whether it is cut.
        """
        came.append("sell")
        return f"some, {is_cut}"

    return Registry([total, look, sell]), came


def test_the_state_is_asked_for_once_between_two_calls():
    tools, came = counted(changes_at=0)
    assert str(probe(tools, allow=["sell"], calls=1)).startswith("nothing found")
    assert came.count("total") < len(came) / 2


def test_what_one_call_changes_is_not_blamed_on_the_next_one():
    tools, _ = counted(changes_at=9)
    report = probe(tools, allow=["sell"], calls=12)
    assert report.findings == []
    assert {each.finding.tool for each in report.unrepeated} <= {"look"}


def test_the_state_is_looked_at_with_those_of_many_tools_that_show_changes():
    kept = []

    def echoing(number):
        @tool(name=f"echo_{number}", read_only=True)
        def echo(text: str) -> str:
            """Repeat a text."""
            return text

        return echo

    @tool(read_only=True)
    def notes(topic: str) -> list[str]:
        """List the notes."""
        return [topic, *kept]

    @tool
    def keep(note: str) -> str:
        """Keep a note."""
        kept.append(note)
        message = "it isn't kept"
        raise CallError(message)

    tools = Registry([*map(echoing, range(4)), notes, keep])
    report = probe(tools, allow=["keep"], calls=1)
    assert ("keep", "changed_by_refused") in {(each.tool, each.code) for each in report.findings}


def test_no_pipe_and_no_thread_is_left_open():
    probe(registry(), calls=1)
    for thread in threads():
        if thread.name.startswith("probe"):
            thread.join(LONGEST_WAIT)
            assert not thread.is_alive()
    gc.collect()  # an open pipe is a ResourceWarning then, which fails a test here
