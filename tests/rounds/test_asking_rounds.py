"""Tools that ask while a round is executed: from the question to the answer that the function gets."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import pytest
from round_samples import raw

from operator_schema import DecodeError, Executor, NeedsInput, Reject, Toolset, skip, tool

pytestmark = pytest.mark.needs_threads


def run(tools, *calls, hooks=None, context=None, **options):
    """Execute a round of these calls, in a loop of its own."""
    executor = Executor(tools, **options)
    found = tools.offer().round(calls)
    return asyncio.run(executor.run(found, hooks=hooks, context=context))


class Closed:
    """A class that JSON can't make."""

    def __init__(self, *parts):
        self.parts = parts


def asking(**options):
    """Return a tool that asks."""

    @tool
    def ask_it(
        answer: Annotated[str | None, skip] = None, other: Annotated[Closed | None, skip] = None
    ) -> str:
        """Ask."""
        if answer is None:
            raise NeedsInput("Which?", **options)
        return answer

    return Toolset(ask_it)


def test_a_question_defers_its_call():
    (call,) = run(asking(), raw("ask_it")).deferred
    assert (call.question.text, call.question.answer_schema) == ("Which?", {"type": "string"})


def test_a_question_may_have_an_answer_of_another_type():
    tools = asking(answer_type=Literal["left", "right"])
    plan = run(tools, raw("ask_it"))
    assert plan.deferred[0].question.answer_schema == {"type": "string", "enum": ["left", "right"]}
    with pytest.raises(DecodeError, match="the answer for ask_it"):
        plan.answer(0, "up")
    after = Executor(tools).run_sync(plan.answer(0, "left"))
    assert after.handled[0].result.content == "left"


def test_an_answer_has_to_fit_the_parameter_too():
    plan = run(asking(answer_type=int), raw("ask_it"))
    with pytest.raises(DecodeError, match="the answer for ask_it"):
        plan.answer(0, 5)


@pytest.mark.parametrize(
    "options", [{"parameter": "nobody"}, {"parameter": "other"}, {"answer_type": 5}, {"answer_type": Closed}]
)
def test_a_question_that_can_not_be_answered_is_a_failure(options, caplog):
    plan = run(asking(**options), raw("ask_it"))
    (handled,) = plan.handled
    assert handled.result.code == "execution_failed"
    assert "can't be run here" in handled.result.content
    assert "the tool can't be run" in caplog.text
    assert plan.deferred == ()


def test_an_answer_wins_over_the_context_and_belongs_to_its_call():
    tools = asking()
    plan = run(tools, raw("ask_it", "a"), raw("ask_it", "b"))
    plan = plan.answer("a", "mine")
    after = Executor(tools).run_sync(plan.answer("b", "yours"), context={"other": 1})
    assert [handled.result.content for handled in after.handled] == ["mine", "yours"]


def test_hooks_still_see_an_answered_call():
    tools = asking()
    plan = run(tools, raw("ask_it")).answer(0, "x")
    after = Executor(tools).run_sync(plan, hooks=lambda call: Reject(call.answers["answer"]))
    assert after.rejected[0].reason == "x"
