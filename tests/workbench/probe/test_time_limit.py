"""What happens to a fault that was seen when no time is left to show it again."""

from time import monotonic
from typing import Literal

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from shares import share

from operator_schema import CallError, tool
from operator_schema.workbench.probe import (
    evidence,
    plan,
    planning,
    probe,
    probing,
    settling,
    subject,
    varying,
    watching,
)
from operator_schema.workbench.probe.calls import Call, ProbedTool
from operator_schema.workbench.probe.checks import AnswerFault, faults_of
from operator_schema.workbench.probe.reports import NO_TIME
from operator_schema.workbench.probe.sequences import Step
from operator_schema.workbench.probe.settling import Candidate, settle, settled_anew
from operator_schema.workbench.probe.targets import server_of
from operator_schema.workbench.probe.watching import ServerWatcher

pytestmark = pytest.mark.needs_threads

ASKED = Step(Call("ask", {"question": "what is it?"}, "valid", ""))


@pytest.fixture
def watcher():
    """A server whose tool answers an error that isn't flagged, unless a question is short."""

    @tool(read_only=True)
    def ask(question: str) -> str:
        """Answer a question.

        Args:
            question: The question.
        """
        return "Error: busy" if len(question) > 2 else "yes"

    server = server_of([ask], timeout=10)
    server.start()
    tools = {each["name"]: ProbedTool.of(each) for each in server.list_tools()}
    try:
        yield ServerWatcher(server, tools, 1_000_000)
    finally:
        server.close()


@pytest.fixture
def fault(watcher):
    (found,) = faults_of(watcher.tools["ask"], ASKED.call, watcher.made(ASKED.call), watcher.most_bytes)
    watcher.count = 0
    return found


def test_one_call_is_made_once_more_and_reported_as_it_is(watcher, fault):
    found = settle(watcher, Candidate(fault, [ASKED], "ask"), monotonic() - 1, monotonic() - 1)
    assert watcher.count == 1
    assert (found.steps, found.is_smallest) == ((ASKED,), False)
    assert settled_anew(watcher, Candidate(fault, [ASKED], "ask"), found, monotonic() - 1) == found


def test_calls_that_need_another_start_are_not_made(watcher, fault):
    starts, over = watcher.server.restarts, monotonic() - 1
    assert settle(watcher, Candidate(fault, [ASKED, ASKED], "ask"), over, over) is None
    crash = Candidate(AnswerFault("crash", (), "it ended"), [ASKED], "ask")
    nearly_over = monotonic() + watcher.server.seconds_to_start / 2
    assert settle(watcher, crash, nearly_over, nearly_over) is None
    assert (watcher.count, watcher.server.restarts) == (0, starts)


def test_a_sequence_is_shown_once_more_though_its_share_of_the_time_is_over(watcher, fault):
    now = monotonic()
    found = settle(watcher, Candidate(fault, [ASKED, ASKED], "ask"), now - 1, now + 600)
    assert (found.steps, found.is_smallest) == ((ASKED, ASKED), False)


def test_what_does_not_show_in_a_new_server_is_not_reported(watcher, fault):
    candidate = Candidate(fault, [ASKED], "ask")
    found = settle(watcher, candidate, monotonic() + 600, monotonic() + 600)
    assert [step.call.arguments for step in found.steps] == [{"question": "000"}]
    other = found._replace(steps=(Step(Call("ask", {"question": ""}, "valid", "")),))
    assert settled_anew(watcher, candidate, other, monotonic() - 1) is None


def many(number):
    def made(position):
        @tool(name=f"tool_{position}", read_only=True)
        def answer(question: str) -> str:
            """Answer a question."""
            return question

        return answer

    return [made(position) for position in range(number)]


def test_of_more_tools_than_there_is_time_for_the_first_are_called_and_the_others_counted():
    report = probe(many(60), seconds=1e-6, calls=1)
    assert [plan.is_called for plan in report.plan] == [True] + [False] * 59
    assert {plan.reason for plan in report.plan[1:]} == {NO_TIME}
    assert not report.is_complete
    assert "59 not looked at in time" in report.summary()
    assert "not called, since" not in report.summary()
    messages = [each.finding.message for each in report.found if each.finding.code == "many_tools"]
    assert messages == ["there are 60 tools; models choose less well among many"]


class CountedSeconds:
    """A clock that only calls and starts of the server move."""

    def __init__(self, monkeypatch, *, start):
        self.now = 0.0
        for module in (evidence, planning, probing, settling, varying, watching):
            monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.move_by(monkeypatch, "start", start)
        self.move_by(monkeypatch, "send", 1.0)

    def move_by(self, monkeypatch, name, seconds):
        real = getattr(subject.Server, name)

        def moved(server, *given):
            self.now += seconds
            return real(server, *given)

        monkeypatch.setattr(subject.Server, name, moved)


@pytest.mark.usefixtures("quick_probes")
def test_a_slow_start_takes_no_tool_away(monkeypatch):
    CountedSeconds(monkeypatch, start=50.0)
    assert [each.is_called for each in probe(many(5), seconds=60, calls=1).plan] == [True] * 5


Letter = Literal["a", "b", "c", "d", "e", "f"]


def choosing(position):
    @tool(name=f"choose_{position}", read_only=True)
    def choose(one: Letter, two: Letter, three: Letter, four: Letter) -> str:
        """Choose letters from a to c."""
        if {one, two, three, four} & {"d", "e", "f"}:
            message = "choose others"
            raise CallError(message)
        return one

    return choose


@pytest.mark.slow("it makes some hundred calls")
@pytest.mark.usefixtures("quick_probes")
@pytest.mark.hypothesis
@pytest.mark.parametrize("seconds", share([1000, 2000], 2))
def test_the_tools_share_the_time_evenly(seconds, monkeypatch):
    CountedSeconds(monkeypatch, start=0.0)
    report = probe([*map(choosing, range(4))], seconds=seconds, calls=1)
    made = [plan.made for plan in report.plan]
    assert not report.is_complete
    assert max(made) <= 2 * min(made)


def test_a_plan_that_calls_nothing_is_of_all_tools():
    assert all(each.is_called for each in plan(many(20), calls=1))
