"""ScriptedModel: its responses and its streams are what the SDK of OpenAI gives to a program."""

from __future__ import annotations

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel, ValidationError
from turns import TOOLS

from operator_schema import RawCall
from operator_schema.providers import openai_chat
from operator_schema.testing import ScriptedModel

CALLS = [
    RawCall("c1", "add", {"a": 20, "b": 22}),
    RawCall("c2", "wipe", '{"path": "a folder of some length"}'),
]
ANSWERS = {
    "text": ("It is 42, as everybody knows.", "It is 42, as everybody knows.", []),
    "call": (CALLS[0], "", CALLS[:1]),
    "text and calls": (["I add them.", *CALLS], "I add them.", CALLS),
}
CASES = pytest.mark.parametrize(("line", "text", "calls"), ANSWERS.values(), ids=ANSWERS)


def unknown_to(model):
    """List what a model of the SDK took although it doesn't know it, in all parts of it."""
    found = [*(model.model_extra or {})]
    for name in type(model).model_fields:
        value = getattr(model, name)
        for part in value if isinstance(value, list) else [value]:
            found += unknown_to(part) if isinstance(part, BaseModel) else []
    return found


def check(answer, text, calls):
    assert answer.text == text
    assert answer.stop == ("calls" if calls else "end")
    assert [(call.id, call.name) for call in answer.calls] == [(call.id, call.name) for call in calls]
    for call, wanted in zip(answer.calls, calls, strict=True):
        (tool,) = [tool for tool in TOOLS if tool.name == call.name]
        assert tool.decode(call.arguments) == tool.decode(wanted.arguments)


@CASES
def test_a_response_is_one_of_the_sdk(line, text, calls):
    made = ChatCompletion.model_validate(ScriptedModel(openai_chat, [line])(model="m", messages=[]))
    assert unknown_to(made) == []
    check(openai_chat.answer(made, TOOLS), text, calls)


@CASES
def test_the_events_of_a_stream_are_those_of_the_sdk(line, text, calls):
    events = ScriptedModel(openai_chat, [line])(model="m", messages=[], stream=True)
    chunks = [ChatCompletionChunk.model_validate(event) for event in events]
    assert [unknown_to(chunk) for chunk in chunks] == [[]] * len(chunks)
    assert len(chunks) > 3
    stream = openai_chat.stream(TOOLS)
    deltas = [stream.feed(chunk) for chunk in chunks]
    assert "".join([delta.text for delta in deltas]) == text
    check(stream.close(), text, calls)


def test_the_models_of_the_sdk_refuse_what_is_wrong():
    response = ScriptedModel(openai_chat, ["done"])(model="m", messages=[])
    with pytest.raises(ValidationError):
        ChatCompletion.model_validate({**response, "choices": [{"index": 0}]})
    assert unknown_to(ChatCompletion.model_validate({**response, "other": 1})) == ["other"]
