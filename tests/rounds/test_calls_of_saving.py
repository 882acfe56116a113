"""How many functions of the package run where a round is saved and restored, and a strict request is made."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import operator_schema
from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.providers import openai_chat

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = str(Path(operator_schema.__file__).parent)


@dataclass
class Person:
    name: str
    age: int


def book() -> Any:
    @tool
    def book(title: str, who: list[Person], note: str | None = None) -> str:
        """Book it."""
        return title

    return book


@tool(confirm=True)
def delete(path: str) -> str:
    """Delete it."""
    return path


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of functions of the package, without what only happens at times, such as compiling."""
    return min(_counted(work), _counted(work))


def _counted(work: Callable[[], object]) -> int:
    found = 0

    def count(frame: Any, event: str, _: object) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename.startswith(HERE)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.needs_threads
def test_saving_and_restoring_a_usual_round_asks_little():
    toolset = Toolset(book(), delete)
    sent = {"title": "x", "who": [{"name": "a", "age": 1}]}
    plan = Executor(toolset).run_sync(
        toolset.offer().round([RawCall("1", "book", sent), RawCall("2", "delete", {"path": "p"})])
    )
    assert [call.state for call in plan.calls] == ["handled", "deferred"]
    data = plan.as_dict()
    assert toolset.restore_round(data) == plan
    assert calls_of(plan.as_dict) <= 200
    assert calls_of(lambda: toolset.restore_round(data)) <= 250


def test_a_strict_request_asks_little():
    offers = iter([Toolset(book()).offer(strict=True) for _ in range(3)])
    openai_chat.request(next(offers))
    assert calls_of(lambda: openai_chat.request(next(offers))) <= 400
