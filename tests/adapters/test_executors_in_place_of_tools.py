"""An executor in place of tools, at the door of a framework."""

from __future__ import annotations

from typing import Annotated

import pytest

from operator_schema import Executor, Registry, Reject, skip, tool
from operator_schema.adapters.base import Adapter
from operator_schema.rounds import rejection_reason


@tool
def greet(name: str, greeting: Annotated[str, skip]) -> str:
    """Greet somebody."""
    return f"{greeting} {name}"


def made(tool, runner):
    return tool.name, lambda arguments: runner.run_sync(tool.name, arguments).content


ADAPTER = Adapter("a framework", made)
FRENCH = Executor([greet], context={"greeting": "Bonjour"})


@pytest.mark.needs_threads
def test_it_has_its_tools_and_its_context():
    ((name, call),) = ADAPTER.to_tools(FRENCH)
    assert name == "greet"
    assert call({"name": "Ada"}) == "Bonjour Ada"


@pytest.mark.needs_threads
def test_the_context_of_the_door_wins():
    ((_, call),) = ADAPTER.to_tools(FRENCH, context={"greeting": "Ciao"})
    assert call({"name": "Ada"}) == "Ciao Ada"


@pytest.mark.needs_threads
def test_the_context_of_an_executor_beside_tools_counts_too():
    ((_, call),) = ADAPTER.to_tools(FRENCH.registry, executor=FRENCH)
    assert call({"name": "Ada"}) == "Bonjour Ada"
    _, alone = ADAPTER.to_tool(greet, executor=FRENCH)
    assert alone({"name": "Ada"}) == "Bonjour Ada"


def test_two_executors_are_one_too_many():
    with pytest.raises(TypeError, match="leave out executor="):
        ADAPTER.to_tools(FRENCH, executor=FRENCH)


def test_tools_that_are_switched_off_are_left_out():
    registry = Registry([greet])
    registry.switch("greet", enabled=False)
    assert ADAPTER.to_tools(Executor(registry)) == []


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("agreed", "was", "ran"),
    [(None, True, ["a"]), (None, False, []), (lambda host: host == "yes", True, [])],
    ids=["held back", "not held back", "held back, but nobody agreed"],
)
def test_what_a_framework_did_not_hold_back_runs_only_after_somebody_was_asked(agreed, was, ran):
    """A registry gets another tool of the same name after the framework has got the first one."""
    wiped = []

    @tool(confirm=True)
    def wipe(path: str) -> str:
        """Delete a folder."""
        wiped.append(path)
        return "gone"

    def held(tool, runner):
        return lambda host: runner.run_sync(tool.name, {"path": "a"}, host)

    registry = Registry([wipe.with_(confirm=was)])
    adapter = Adapter("a framework", held, asks="before", agreed=agreed)
    (call,) = adapter.to_tools(registry)
    registry.unregister("wipe")
    registry.register(wipe)
    assert call("no").code == (None if ran else "needs_approval")
    assert wiped == ran
    # A person has read of the other tool, if that isn't the same.
    assert call("yes").code == (None if was else "needs_approval")


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, None),
        (" Yes ", None),
        ({"type": "human_response", "response": "yes"}, None),
        ({"confirmed": True}, None),
        ({"response": {"approved": True}}, None),
        (1, "a person declined it"),
        ({"type": "reject", "approved": True}, "a person declined it"),
        ({"type": " Edit ", "response": "yes"}, "a person declined it"),
        ({"type": "Deny", "approved": True}, "a person declined it"),
        ({"type": False, "approved": True}, "a person declined it"),
        ({"approved": True, "confirmed": False}, "a person declined it"),
        ({"type": {"type": "approve"}}, "a person declined it"),
        ({"type": ["approve"], "approved": "maybe"}, "a person declined it"),
        ({}, "a person declined it"),
        (Reject("make it alone"), "make it alone"),
    ],
)
def test_an_answer_agrees_only_if_nothing_in_it_says_otherwise(answer, said):
    wiped = []

    @tool(confirm=True)
    def wipe(path: str) -> None:
        """Delete a folder."""
        wiped.append(path)

    def held(tool, runner):
        return lambda host: runner.run_sync(tool.name, {"path": "a"}, host)

    (call,) = Adapter("a framework", held, asks=lambda *_: answer).to_tools([wipe])
    result = call("the host")
    assert rejection_reason(result) == said
    assert wiped == (["a"] if said is None else [])
