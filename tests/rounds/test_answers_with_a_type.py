"""Answers of a wrong type are kept in rounds like calls that can't be run."""

import json
from dataclasses import dataclass

import pytest

from operator_schema import AnswerError, DecodeError, Executor, RawCall, Toolset, tool
from operator_schema.providers import deepseek, openai_chat
from operator_schema.testing import ScriptedModel

FINAL = "final_answer"


@dataclass
class Booking:
    name: str


@tool
def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


def answered(offer, output, value):
    body = openai_chat.request(offer, ["x"], output=output)
    response = ScriptedModel(openai_chat, [json.dumps(value)])(**body)
    return openai_chat.answer(response, offer, output=output)


def test_a_saved_round_keeps_a_wrong_answer():
    tools = Toolset(add)
    offer = tools.offer()
    answer = answered(offer, Booking, {})
    found = offer.round(answer)
    restored = tools.restore_round(found.as_dict())
    assert restored == found
    assert restored.issues[0].name == FINAL
    assert json.loads(restored.issues[0].raw.arguments) == {}
    assert openai_chat.turn(restored.commit([]))[-1]["role"] == "user"


@pytest.mark.needs_threads
def test_the_final_tool_beside_other_calls_waits():
    offer = Toolset(add).offer()
    body = deepseek.request(offer, ["x"], output=Booking)
    both = [RawCall("1", "add", {"x": 1, "y": 2}), RawCall("2", FINAL, {"name": "Ann"})]
    answer = deepseek.answer(ScriptedModel(deepseek, [both])(**body), offer, output=Booking)
    assert [call.name for call in answer.calls] == ["add"]
    with pytest.raises(AnswerError, match="it waits for the results of its calls"):
        _ = answer.output
    assert answer.output_error is None
    turn = Executor(offer.toolset).run_sync(offer.round(answer)).commit([])
    assert [(result.call_id, result.code) for result in turn.results] == [
        ("1", None),
        ("2", "invalid_params"),
    ]


def test_an_error_of_a_class_itself_is_told_shortly():
    @dataclass
    class Broken:
        name: str

        def __post_init__(self):
            raise RuntimeError("secret")

    offer = Toolset().offer()
    answer = answered(offer, Broken, {"name": "x"})
    with pytest.raises(RuntimeError):
        _ = answer.output
    (call,) = offer.round(answer).issues
    assert (call.code, call.content) == ("execution_failed", "final_answer could not be used: RuntimeError")


def test_an_answer_that_is_no_object_is_wrapped():
    offer = Toolset().offer()
    right, wrong = [answered(offer, list[Booking], {"value": [{"name": name}]}) for name in ("Ann", 5)]
    assert right.output == [Booking("Ann")]
    assert answered(offer, list[Booking], [{"name": "Bo"}]).output == [Booking("Bo")]
    with pytest.raises(DecodeError, match=r"\[0\]\.name: expected string, got integer 5"):
        _ = wrong.output
    assert offer.round(right).calls == ()
    assert [call.code for call in offer.round(wrong).calls] == ["invalid_params"]


def test_the_results_alone_tell_what_is_wrong():
    offer = Toolset(add).offer()
    turn = offer.round(answered(offer, Booking, {})).commit([])
    (message,) = openai_chat.results(turn.results, offer)
    assert (message["role"], message["content"]) == ("user", turn.results[0].content)
