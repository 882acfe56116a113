"""What mypy and pyright say of answers with a type; both run over this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from operator_schema import Codec
from operator_schema.providers import (
    Answer,
    Provider,
    Stream,
    deepseek,
    groq,
    llama_cpp,
    mistral,
    openai_chat,
    openai_compatible,
)


@dataclass
class Booking:
    name: str


RESPONSE = {"choices": [{"message": {"content": '{"name": "Ann"}'}, "finish_reason": "stop"}]}
MANY = {"choices": [{"message": {"content": '{"value": [{"name": "Ann"}]}'}, "finish_reason": "stop"}]}


def test_an_answer_has_the_type_that_was_asked_for() -> None:
    answer = openai_chat.answer(RESPONSE, [], output=Booking)
    assert_type(answer, Answer[Booking])
    assert_type(answer.output, Booking)
    assert_type(answer.raise_for_stop(), Answer[Booking])
    assert answer.output == Booking("Ann")
    assert_type(openai_chat.answers(RESPONSE, [], output=Booking), tuple[Answer[Booking], ...])
    assert_type(openai_chat.answer(RESPONSE, [], output=Codec(Booking)).output, Booking)
    assert_type(openai_chat.answer(MANY, [], output=list[Booking]).output, list[Booking])
    either: Any = openai_chat.answer(RESPONSE, [], output=Booking | int).output
    assert either is not None


def test_a_stream_has_it_too() -> None:
    stream = openai_chat.stream([], output=Booking)
    assert_type(stream, Stream[Booking])
    assert_type(stream.close(), Answer[Booking])
    without: Answer = openai_chat.answer(RESPONSE, [])
    assert without.text


def test_type_checkers_know_the_providers_of_chat_completions() -> None:
    assert_type(
        (deepseek, groq, llama_cpp, mistral, openai_chat),
        tuple[Provider, Provider, Provider, Provider, Provider],
    )
    assert_type(openai_compatible("vLLM"), Provider)
