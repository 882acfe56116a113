"""What a person approved is what runs, whatever the tool is by then: the law of every adapter."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from changed_tools import FIXED, Change, change_of, drawn, keys_in
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema import Defer, Executor, Reject, RunNormally, tool
from operator_schema.adapters.base import Adapter
from operator_schema.rounds import rejection_reason

pytestmark = pytest.mark.needs_threads


class Host:
    """What a framework has for a call: the question that it keeps, and the answer."""

    def __init__(self, kept: str | None = None) -> None:
        self.kept, self.is_agreed = kept, kept is not None

    def question(self, _key: str = "") -> Any:
        return None if self.kept is None else json.loads(self.kept)


def ask(host: Host, question: dict[str, Any]) -> bool | None:
    if host.is_agreed:
        return True
    host.kept = json.dumps(question)
    return None


def door(**asking: Any) -> Adapter[Any]:
    return Adapter("a framework", lambda made, runner: (made, runner), **asking)


ASKS_ITSELF = door(asks=ask, kept=Host.question)
SHOWS_THE_CALL = door(asks=ask, kept=Host.question, shows_call=True)
HOLDS_BACK = door(asks="before", agreed=lambda host: host.is_agreed, kept=Host.question)
KEEPS_NOTHING = door(asks="before")


def run(adapter: Adapter[Any], called: Any, arguments: Any, host: Host) -> Any:
    ((made, runner),) = adapter.to_tools([called])
    return asyncio.run(runner.run(made.name, arguments, host))


def asked(adapter: Adapter[Any], change: Change) -> Host:
    """Have a framework ask a person about the old tool."""
    host = Host()
    if adapter is HOLDS_BACK:
        ((made, runner),) = adapter.to_tools([change.old])
        question = asyncio.run(runner.question(made.name, change.arguments, host))
        host.kept = json.dumps(question)
    elif adapter is KEEPS_NOTHING:
        host.kept = "null"
    else:
        run(adapter, change.old, change.arguments, host)
    assert change.ran == []
    return Host(host.kept)


def check(adapter: Adapter[Any], change: Change) -> None:
    host = asked(adapter, change)
    if host.kept is None:  # the model has heard at once of the key that nobody can agree to
        assert (adapter, change.kind) == (SHOWS_THE_CALL, "ignored")
        return
    if adapter is not KEEPS_NOTHING:
        assert host.question()["arguments"] == change.approved
        assert bool(host.question()["ignored"]) == (change.kind == "ignored")
    result = run(adapter, change.new, change.arguments, host)
    if adapter is KEEPS_NOTHING:
        for ran in change.ran:
            assert set(keys_in(change.arguments)) <= set(keys_in(ran))
    else:
        assert change.ran in ([], [change.approved])
    if change.kind in {"same", "default made anew"}:
        assert len(change.ran) == 1
    if not change.ran:
        assert result.is_error
        assert "ake the call again" in result.content


@pytest.mark.parametrize("adapter", [ASKS_ITSELF, SHOWS_THE_CALL, HOLDS_BACK, KEEPS_NOTHING])
@pytest.mark.parametrize("case", FIXED)
def test_what_was_approved_runs_or_nothing(adapter, case):
    check(adapter, change_of(case))


@pytest.mark.slow("draws many tools")
@pytest.mark.parametrize("adapter", [ASKS_ITSELF, SHOWS_THE_CALL, HOLDS_BACK, KEEPS_NOTHING])
@given(st.randoms(use_true_random=False))
@settings(deadline=None)
def test_what_was_approved_of_any_tool_runs_or_nothing(adapter, random):
    check(adapter, drawn(random))


@tool(confirm=True)
def wipe(path: str, dry: bool = False) -> str:
    """Wipe."""
    return f"{path} {dry}"


def test_an_answer_without_its_question_agrees_to_nothing():
    for adapter in (ASKS_ITSELF, SHOWS_THE_CALL, HOLDS_BACK):
        for kept in ("null", "{}", '{"key": 3}', '{"key": ""}', '{"key": "."}'):
            result = run(adapter, wipe, {"path": "a"}, Host(kept))
            assert rejection_reason(result) is not None
            assert "make the call again" in result.content


def test_a_question_says_why_a_call_waits_and_what_it_ignores():
    executor = Executor([wipe], hooks=lambda _: Defer("somebody has to look"))
    ((_, runner),) = ASKS_ITSELF.to_tools(executor)
    question = asyncio.run(runner.question("wipe", {"path": "a", "dry_run": True}))
    assert question.pop("key")
    assert question == {
        "question": (
            'Run wipe?\n(somebody has to look)\npath: "a"\ndry: false\n'
            '(the tool doesn\'t know, and ignores: dry_run (did you mean "dry"?))'
        ),
        "tool": "wipe",
        "arguments": {"path": "a", "dry": False},
        "reason": "somebody has to look",
        "ignored": ['dry_run (did you mean "dry"?)'],
    }


@pytest.mark.parametrize("confirm", ["run", None])
def test_a_call_that_a_person_read_elsewhere_has_no_key_that_is_ignored(confirm):
    """`"run"`: the program asks otherwise, so nobody knows what a person has read."""
    ((_, runner),) = KEEPS_NOTHING.to_tools([wipe], confirm=confirm)
    result = asyncio.run(runner.run("wipe", {"path": "a", "dry_run": True}))
    assert rejection_reason(result) == (
        "a person can't agree to arguments that the tool doesn't know: dry_run (did you mean \"dry\"?). Make "
        "the call again without them"
    )
    assert asyncio.run(runner.run("wipe", {"path": "a", "dry": True})).content == "a True"


def test_arguments_as_text_are_the_same_call():
    host = Host()
    ((_, runner),) = HOLDS_BACK.to_tools([wipe])
    host.kept = json.dumps(asyncio.run(runner.question("wipe", {"path": "a"})))
    result = run(HOLDS_BACK, wipe, '{"path": "a"}', Host(host.kept))
    assert result.content == "a False"


def test_a_call_is_asked_about_only_if_it_waits():
    ((_, runner),) = HOLDS_BACK.to_tools(Executor([wipe], hooks=lambda _: Reject("no")))
    assert asyncio.run(runner.question("wipe", {"path": "a"})) is None
    ((_, runner),) = HOLDS_BACK.to_tools([wipe])
    assert asyncio.run(runner.question("wipe", {"path": 3})) is None
    assert asyncio.run(runner.question("wipe", {"path": "a"})) is not None
    ((_, runner),) = HOLDS_BACK.to_tools([wipe], confirm="run")
    assert asyncio.run(runner.question("wipe", {"path": "a"})) is None


def watch(call) -> None:
    """Look on."""


def decide(_call):
    return None


class Watcher:
    def look(self, call) -> None:
        """Look on."""


def around_the_clock(_call) -> Missing:  # noqa: F821  # a name that isn't there
    return None


async def log(call):
    for _ in range(3):
        if call.name == "wipe":
            return
    await asyncio.sleep(0)


def defer_some(call):
    if call.name == "wipe":
        return None
    return Defer("others")


def defer_in_one_expression(call):
    return None if call.name == "other" else Defer("this one")


def fail(call):
    raise ValueError(call)


class Called:
    def __call__(self, call) -> None:
        """Look on."""


@pytest.mark.parametrize(
    ("hook", "may"),
    [
        (watch, False),
        (Watcher().look, False),
        (log, False),
        (decide, False),
        (fail, False),
        (around_the_clock, False),
        (lambda call: print(call), True),  # noqa: T201, PLW0108  # as a user writes it
        (defer_some, True),
        (defer_in_one_expression, True),
        (partial(decide), True),
        (Called(), True),
    ],
)
def test_a_hook_that_always_returns_none_lets_no_call_wait(hook, may):
    plain = wipe.with_(confirm=False)
    executor = Executor([plain], hooks=hook)
    assert executor.may_defer("wipe") is may
    ((made, runner),) = HOLDS_BACK.to_tools(executor)
    assert runner.may_wait(made) is may
    assert not Executor([plain]).may_defer("wipe")


def test_the_context_is_made_for_a_switch_only_if_that_looks_at_it():
    made: list[Any] = []

    def context(host: Any) -> dict[str, Any]:
        made.append(host)
        return {"user": "ada"}

    ((_, runner),) = KEEPS_NOTHING.to_tools([wipe], context=context)
    later = runner.context_when_needed("host")
    assert made == []
    assert (later["user"], len(later), list(later)) == ("ada", 1, ["user"])
    assert made == ["host"]


def test_a_hook_that_changes_approved_arguments_is_noticed():
    def change(call):
        return RunNormally(call.tool.decode({"path": "b"}))

    ((made, runner),) = HOLDS_BACK.to_tools(Executor([wipe], hooks=change))
    question = asyncio.run(runner.question("wipe", {"path": "a"}))
    assert question["arguments"] == {"path": "b", "dry": False}
    result = asyncio.run(runner.run(made.name, {"path": "a"}, Host(json.dumps(question))))
    assert "a person agreed to those that you wrote" in result.content
