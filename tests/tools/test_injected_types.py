"""Which type has a parameter that your program gives?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest

from operator_schema import Codec, ToolError, skip, tool, tool_input
from operator_schema.types import Progress


class AtLeast:
    def __init__(self, ge):
        self.ge = ge


class Answer:
    pass


@dataclass
class Point:
    x: int


class Service:
    @tool
    def find(self, key: str, answer: Annotated[bool | None, skip] = None) -> str:
        return key


@tool(skip=("named", "bare"))
def ask(
    key: str,
    named: list[int],
    bare,
    *rest: Annotated[int, skip],
    answer: Annotated[bool | None, skip] = None,
    count: Annotated[int, AtLeast(1), skip, "How many"] = 1,
    mixed: Annotated[str, skip] | None = None,
    written: Annotated[Optional["Answer"], skip] = None,  # noqa: UP037  # forward references
    one: Annotated[list["Answer"], skip] = (),  # noqa: UP037  # as before
    choice: Annotated[Literal["Answer", "b"] | None, skip] = None,
    unknown: Annotated["Nowhere", skip] = 5,  # noqa: F821, UP037  # as before
    progress: Annotated[Progress | None, skip] = None,
    **more: Annotated[str, skip],
) -> str:
    return key


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("named", list[int]),
        ("bare", Any),
        ("answer", bool | None),
        ("mixed", str | None),
        ("written", Answer | None),
        ("one", list[Answer]),
        ("choice", Literal["Answer", "b"] | None),
        ("unknown", Any),
        ("progress", Progress | None),
        ("rest", Any),
        ("more", Any),
    ],
)
def test_it_is_the_annotation_without_the_mark(name, expected):
    assert ask.injected_type(name) == expected


def test_constraints_stay():
    codec = Codec(ask.injected_type("count"))
    assert codec.json_schema() == {"type": "integer", "minimum": 1, "description": "How many"}


def test_another_name_is_refused_with_the_nearest():
    with pytest.raises(ToolError, match=r'ask: "anser" isn.t one of its injected .*; did you mean "answer"?'):
        ask.injected_type("anser")
    with pytest.raises(ToolError, match='"key" isn\'t one of its injected parameters'):
        ask.injected_type("key")


def test_a_tool_without_a_function_has_none():
    with pytest.raises(
        ToolError, match='it has no injected parameter "answer"; add it to the function: answer: Annotated'
    ):
        tool_input(Point).injected_type("answer")


def test_a_method_keeps_its_types_when_it_is_bound():
    assert Service.find.injected_type("answer") == Service().find.injected_type("answer") == (bool | None)
    assert Service.find.injected_type("self") is Any
    with pytest.raises(ToolError, match="self"):
        Service().find.injected_type("self")
