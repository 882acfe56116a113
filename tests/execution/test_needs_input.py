"""Tools that need an answer of a person before they can do their work."""

from __future__ import annotations

import asyncio
import logging
import pickle
from typing import Annotated

import pytest
from executor_samples import both, one, raising

from operator_schema import CallError, Executor, NeedsInput, RawCall, skip, tool

pytestmark = pytest.mark.needs_threads


@tool
def cancel_booking(booking: str, answer: Annotated[bool | None, skip] = None) -> str:
    if answer is None:
        message = "Refund 300 USD to the card?"
        raise NeedsInput(message)
    return "refunded" if answer else "kept"


def test_a_question_has_a_type_and_a_parameter():
    asked = NeedsInput("How many?", int, "count")
    assert (asked.question, asked.answer_type, asked.parameter) == ("How many?", int, "count")
    assert str(asked) == "How many?"
    usual = NeedsInput("Sure?")
    assert (usual.answer_type, usual.parameter) == (None, "answer")


def test_a_question_can_be_pickled():
    asked = pickle.loads(pickle.dumps(NeedsInput("How many?", int | None, parameter="count")))
    assert (asked.question, asked.answer_type, asked.parameter) == ("How many?", int | None, "count")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((5,), "the question of NeedsInput must be a string that isn't empty, not integer 5"),
        (("",), 'not string ""'),
        ((" \n",), "a string that isn't empty"),
        (("Sure?", bool, None), "parameter must be the name of an injected parameter, not null"),
        (("Sure?", bool, "an answer"), 'not string "an answer"'),
    ],
)
def test_what_is_not_a_question_is_refused(arguments, complaint):
    with pytest.raises(TypeError, match=complaint):
        NeedsInput(*arguments)


def test_the_model_reads_the_question_and_the_answer_comes_with_the_next_run():
    result = one(cancel_booking, {"booking": "7KQ"})
    assert (result.code, result.is_error) == ("needs_input", True)
    assert result.content == "cancel_booking needs an answer first: Refund 300 USD to the card?"
    assert type(result.details["exception"]) is NeedsInput
    assert one(cancel_booking, {"booking": "7KQ"}, {"answer": False}).content == "kept"


@both
def test_it_is_logged_without_the_question(caplog, is_async):
    caplog.set_level(logging.INFO)
    assert one(raising(NeedsInput("Is the secret 1234?"), is_async)).code == "needs_input"
    assert caplog.record_tuples == [
        ("operator_schema", logging.INFO, "work (call c1): the function needs an answer first")
    ]
    assert caplog.records[0].exc_info is None


def test_a_question_of_any_length_and_with_any_characters_is_bounded_and_can_be_encoded():
    result = one(raising(NeedsInput("\ud800 " + "x" * 10**6 + "?")))
    assert result.code == "needs_input"
    assert len(result.content) < 1100
    assert "\\ud800" in result.content.encode().decode()


def test_alone_in_a_group_it_is_a_question():
    asked = NeedsInput("Sure?")
    result = one(raising(ExceptionGroup("a", [ExceptionGroup("b", [asked])])))
    assert (result.code, result.details["exception"]) == ("needs_input", asked)


@pytest.mark.parametrize("other", [ValueError("x"), CallError("no seats"), NeedsInput("And this?")])
def test_beside_others_in_a_group_it_hides_nothing(other):
    group = ExceptionGroup("a", [NeedsInput("Sure?"), other])
    result = one(raising(group))
    assert (result.code, result.details["exception"]) == ("execution_failed", group)
    assert result.content.startswith("work failed: NeedsInput; ")


def test_your_program_may_handle_it_itself():
    executor = Executor([cancel_booking], pass_through=(NeedsInput,))
    with pytest.raises(NeedsInput, match="Refund"):
        asyncio.run(executor.run(RawCall(name="cancel_booking", arguments={"booking": "a"})))


class Strange(NeedsInput):
    def __init__(self):
        pass


class Raising(NeedsInput):
    @property
    def question(self):
        raise RuntimeError

    @question.setter
    def question(self, value):
        pass


def changed():
    asked = NeedsInput("Sure?")
    asked.question = 5
    return asked


@pytest.mark.parametrize("make", [Strange, lambda: Raising("Sure?"), changed])
def test_a_question_that_cannot_be_read_fails_alone(make):
    result = one(raising(make()))
    assert (result.code, result.content) == ("execution_failed", "work failed")
