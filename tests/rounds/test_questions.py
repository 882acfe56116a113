"""Tools that have a question while they run, and answers that come after a restart."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from saving_samples import calls, nested, problems, refused, saved

from operator_schema import (
    DecodeError,
    Executor,
    NeedsInput,
    RawCall,
    RoundError,
    ToolError,
    ToolResult,
    Toolset,
    skip,
    tool,
)

pytestmark = pytest.mark.needs_threads


class Class(Enum):
    ECONOMY = "economy"
    FIRST = "first"


@dataclass
class Seat:
    row: int
    letter: str = "A"


class Fare(TypedDict):
    price: float


class Place(NamedTuple):
    row: int
    letter: str


def asks(annotation: Any, *, answer_type: Any = None, parameter: str = "answer") -> Any:
    """Return a tool that asks for an answer of a type, and tells what it gets."""

    def ask(number: int, answer: Any = None) -> str:
        if answer is None:
            raise NeedsInput(f"Question {number}?", answer_type, parameter)
        return f"{type(answer).__name__} {answer}"

    ask.__annotations__["answer"] = Annotated[annotation | None, skip]
    return tool(ask)


def asked(toolset: Any, **context: Any) -> Any:
    round_ = toolset.offer().round(calls(("ask", {"number": 1})))
    return asyncio.run(Executor(toolset).run(round_, context=context or None))


def restarted(toolset: Any, plan: Any) -> Any:
    return toolset.restore_round(saved(plan))


def finished(toolset: Any, plan: Any) -> Any:
    done = asyncio.run(Executor(toolset).run(plan))
    return done.handled[0].result.content


ANSWERS = [
    (bool, True, "bool True"),
    (bool | None, False, "bool False"),
    (int, 3, "int 3"),
    (float, 3, "float 3.0"),
    (str | None, "12A", "str 12A"),
    (int | str | None, 5, "int 5"),
    (date | None, "2026-03-01", "date 2026-03-01"),
    (Class, "first", "Class Class.FIRST"),
    (Literal["a", "b"], "b", "str b"),
    (list[int], [1, 2], "list [1, 2]"),
    (Seat | None, {"row": 3}, "Seat Seat(row=3, letter='A')"),
    (Fare, {"price": 1.5}, "dict {'price': 1.5}"),
    (Place, {"row": 1, "letter": "B"}, "Place Place(row=1, letter='B')"),
    (Any, {"a": [None]}, "dict {'a': [None]}"),
]


@pytest.mark.parametrize(("annotation", "answer", "shown"), ANSWERS, ids=lambda value: str(value)[:30])
def test_an_answer_reaches_the_function_after_restarts(annotation, answer, shown):
    toolset = Toolset(asks(annotation))
    plan = restarted(toolset, asked(toolset))
    assert plan.deferred[0].question.text == "Question 1?"
    answered = plan.answer("c0", answer)
    again = restarted(toolset, answered)
    assert again == answered
    with_defaults = {"row": 3, "letter": "A"} if answer == {"row": 3} else answer
    assert (again.pending[0].approved, again.pending[0].answers) == (True, {"answer": with_defaults})
    assert finished(toolset, again) == shown


@pytest.mark.parametrize(
    ("annotation", "answer", "complaint"),
    [
        (bool, "yes", "expected boolean"),
        (Seat, {"letter": "A"}, "row: missing"),
        (Class, "second", "not one of"),
        (date, "soon", "date"),
        (int | None, None, "expected integer"),
        (Any, float("nan"), "the answer has to be JSON: nan is not finite"),
        (Any, {1: 2}, "a key that isn't a string"),
        (Any, nested(101), "deeper than 100"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_before_and_after_a_restart(annotation, answer, complaint):
    toolset = Toolset(asks(annotation))
    plan = asked(toolset)
    for waiting in (plan, restarted(toolset, plan)):
        with pytest.raises(DecodeError, match=complaint) as caught:
            waiting.answer("c0", answer)
        assert str(caught.value).startswith("the answer for ask: 1 problem")
        assert len(waiting.deferred) == 1


def test_the_schema_of_the_answer_is_for_a_form_and_comes_back():
    toolset = Toolset(asks(Seat | None))
    plan = asked(toolset)
    question = restarted(toolset, plan).deferred[0].question
    assert question == plan.deferred[0].question
    assert question.answer_schema["required"] == ["row"]
    question.answer_schema.clear()
    assert question.answer_schema["type"] == "object"
    assert repr(question) == "Question('Question 1?', 'answer')"


def test_a_narrower_answer_type_is_checked_until_the_process_ends():
    toolset = Toolset(asks(str | None, answer_type=Literal["window", "aisle"]))
    plan = asked(toolset)
    with pytest.raises(DecodeError, match="window"):
        plan.answer("c0", "middle")
    again = restarted(toolset, plan)
    # Types aren't saved, so it is the parameter alone that says what fits. The form still knows.
    assert again.deferred[0].question.answer_schema == {"type": "string", "enum": ["window", "aisle"]}
    assert finished(toolset, again.answer("c0", "middle")) == "str middle"


def test_an_answer_has_to_fit_the_answer_type_and_the_parameter():
    toolset = Toolset(asks(int, answer_type=int | str))
    plan = asked(toolset)
    with pytest.raises(DecodeError, match="expected integer"):
        plan.answer("c0", "text")
    assert finished(toolset, plan.answer("c0", 5)) == "int 5"


def test_an_answer_wins_over_the_context_and_is_there_for_its_own_call_alone():
    toolset = Toolset(asks(int))
    both = toolset.offer().round(calls(("ask", {"number": 1}), ("ask", {"number": 2})))
    executor = Executor(toolset)
    plan = asyncio.run(executor.run(both))
    plan = asyncio.run(executor.run(restarted(toolset, plan.answer("c0", 7))))
    assert [call.result.content for call in plan.handled] == ["int 7"]
    assert [call.id for call in plan.deferred] == ["c1"]


def test_a_second_answer_takes_the_place_of_the_first_and_others_are_kept():
    @tool
    def ask(first: Annotated[int | None, skip] = None, second: Annotated[str | None, skip] = None) -> str:
        if first is None:
            raise NeedsInput("First?", parameter="first")
        if second is None:
            raise NeedsInput("Second?", parameter="second")
        if first < 0:
            raise NeedsInput("First again?", parameter="first")
        return f"{first} {second}"

    toolset = Toolset(ask)
    plan = asyncio.run(Executor(toolset).run(toolset.offer().round(calls(("ask", {})))))
    for text, answer in [("First?", -1), ("Second?", "b"), ("First again?", 3)]:
        plan = restarted(toolset, plan)
        assert plan.deferred[0].question.text == text
        plan = restarted(toolset, plan.answer("c0", answer))
        plan = asyncio.run(Executor(toolset).run(plan))
    assert plan.handled[0].result.content == "3 b"
    assert restarted(toolset, plan).handled[0].answers == {"second": "b", "first": 3}


def test_a_parameter_without_none_takes_an_answer():
    @tool
    def ask(answer: Annotated[int, skip] = 0) -> str:
        if not answer:
            message = "How many?"
            raise NeedsInput(message)
        return str(answer)

    toolset = Toolset(ask)
    plan = asyncio.run(Executor(toolset).run(toolset.offer().round(calls(("ask", {})))))
    assert finished(toolset, restarted(toolset, plan).answer("c0", 4)) == "4"


def test_an_answer_that_somebody_changes_afterwards_stays_as_it_was():
    toolset = Toolset(asks(list[int]))
    given = [1]
    plan = asked(toolset).answer("c0", given)
    given.append(2)
    plan.pending[0].answers["answer"].append(3)
    assert finished(toolset, plan) == "list [1]"


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (asks(int, parameter="seat"), "seat"),
        (asks(int, answer_type=object()), "object"),
    ],
)
def test_a_question_that_nobody_could_answer_is_a_failure_of_the_tool(broken, complaint, caplog):
    with caplog.at_level(logging.ERROR):
        plan = asked(Toolset(broken))
    result = plan.handled[0].result
    assert (result.code, result.is_error) == ("execution_failed", True)
    assert result.content == "ask can't be run here; calling it again will not help"
    assert complaint in caplog.text


def test_a_result_that_only_looks_like_a_question_is_a_result():
    toolset = Toolset(asks(int))
    plan = toolset.offer().round(calls(("ask", {"number": 1}))).confirmed()
    result = ToolResult("c0", "ask", "which?", is_error=True, code="needs_input")
    assert plan.with_results([result]).handled[0].result == result


def test_a_question_is_answered_and_not_approved():
    toolset = Toolset(asks(int))
    plan = restarted(toolset, asked(toolset))
    with pytest.raises(RoundError, match=r"give the answer with round\.answer"):
        plan.approve("c0")
    assert restarted(toolset, plan.reject("c0", "no")).rejected[0].reason == "no"


def test_a_type_that_can_no_longer_be_read_is_said():
    class Database:
        def __init__(self, secret: object) -> None:
            self.secret = secret

    plan = asked(Toolset(asks(int)))
    assert problems(refused(saved(plan), Toolset(asks(Database)))) == [("input_does_not_fit", "c0")]
    answered = plan.answer("c0", 5)
    error = refused(saved(answered), Toolset(asks(Database)))
    assert problems(error) == [("input_does_not_fit", "c0")]
    assert error.round.issues[0].code == "execution_failed"
    json.dumps(error.round.as_dict())


def test_a_question_for_a_parameter_that_is_gone_is_refused_when_it_is_answered():
    toolset = Toolset(asks(int))
    plan = asked(toolset)
    waiting = plan.deferred[0]
    other = waiting.replace(_tool=asks(int).with_(name="ask"))
    assert plan.replace(calls=(other,)).answer("c0", 1).pending[0].answers == {"answer": 1}
    gone = waiting.replace(question=waiting.question.replace(parameter="gone"))
    with pytest.raises(ToolError, match="gone"):
        plan.replace(calls=(gone,)).answer("c0", 1)


def test_an_answer_to_the_question_before_does_not_fit_the_next_one():
    @tool
    def wipe(disk: Annotated[bool | None, skip] = None, backup: Annotated[bool | None, skip] = None) -> str:
        if disk is None:
            raise NeedsInput("Wipe the disk?", parameter="disk")
        if backup is None:
            raise NeedsInput("The backup, too?", parameter="backup")
        return f"{disk} {backup}"

    tools = Toolset(wipe)
    executor = Executor(tools)
    plan = executor.run_sync(tools.offer().round([RawCall("a", "wipe", {})]))
    (first,) = plan.deferred
    plan = tools.restore_round(plan.as_dict())
    plan = executor.run_sync(plan.answer(first, True))
    with pytest.raises(RoundError, match=r"waits for something else by now: look at round\.deferred"):
        plan.answer(first, True)
    with pytest.raises(RoundError, match="waits for something else"):
        plan.reject(first)
    (second,) = plan.deferred
    plan = executor.run_sync(plan.answer(second, False))
    assert [call.result.content for call in plan.handled] == ["True False"]


@pytest.mark.parametrize(("length", "is_whole"), [(198, True), (199, False)])
def test_a_question_is_shown_up_to_200_characters_with_its_quotes_where_it_is_approved(length, is_whole):
    question = "?" * length

    @tool
    def wait(answer: Annotated[str | None, skip] = None) -> str:
        raise NeedsInput(question)

    toolset = Toolset(wait)
    plan = Executor(toolset).run_sync(toolset.offer().round([RawCall("a", "wait", {})]))
    with pytest.raises(RoundError) as caught:
        plan.approve("a")
    assert (question in str(caught.value)) == is_whole
