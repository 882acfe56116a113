"""The judge with a model shows what pydantic-ai itself says after a wrong call."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "model_judge"))

from judge_mistakes import WrongCall
from judge_tasks import Task
from judge_texts import OURS, PYDANTIC_AI, pydantic_ai_text, texts_after

from operator_schema import tool


def book(city: str, nights: int = 1) -> None:
    """Book a room.

    Args:
        city: Where
        nights: How many
    """


TASK = Task("t", "Book two nights in Oslo.", book, tool(book), {}, {"city": "Oslo", "nights": 2})


def wrong(name, arguments):
    return WrongCall(TASK, ("some",), name, arguments)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"nights": 2}, "missing"),
        ({"city": "Oslo", "nights": "2 nights"}, "int_parsing"),
        ({"city": None}, "string_type"),
        ({"input": {"city": "Oslo"}}, "extra_forbidden"),
    ],
)
def test_what_pydantic_finds_is_in_its_text(arguments, kind):
    text = pydantic_ai_text(wrong("book", arguments))
    assert kind in [one["type"] for one in json.loads(text)["error"]]
    assert texts_after(wrong("book", arguments))[PYDANTIC_AI] == text


def test_an_unknown_tool_has_a_text_of_its_own():
    assert json.loads(pydantic_ai_text(wrong("book_tool", {})))["error"].startswith(
        "Unknown tool name: 'book_tool'"
    )


def test_a_call_that_pydantic_takes_has_no_text():
    assert pydantic_ai_text(wrong("book", {"city": "Oslo", "nights": "2"})) is None
    texts = texts_after(wrong("book", {"city": "Oslo", "nights": "2"}))
    assert OURS in texts
    assert PYDANTIC_AI not in texts
