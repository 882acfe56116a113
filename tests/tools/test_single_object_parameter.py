"""A function whose only parameter is a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import (
    Annotated,
    Generic,
    NamedTuple,
)

import pytest
from tool_samples import Point, T, codes_of

from operator_schema import (
    SchemaError,
    json_schema,
    tool,
)


class Pair(NamedTuple):
    left: int
    right: int = 2


@dataclass
class Page(Generic[T]):
    items: list[T]


@pytest.mark.parametrize("annotation", [Point, Pair, Page[int], Annotated[Point, "where"]])
def test_one_object_takes_its_fields(annotation):
    def move(to): ...

    move.__annotations__ = {"to": annotation}
    bare = Point if annotation == Annotated[Point, "where"] else annotation
    assert tool(move).input_schema() == json_schema(bare)
    assert tool(move).input_type is bare or tool(move).input_type == bare


def test_one_object_that_may_be_absent_stays_a_parameter():
    @tool
    def move(to: Point | None) -> str:
        return str(to)

    assert list(move.input_schema()["properties"]) == ["to"]
    assert move.run({}) == "None"


def test_two_objects_stay_parameters():
    @tool
    def move(start: Point, end: Point) -> int:
        return end.x - start.x

    assert move.run({"start": {"x": 1}, "end": {"x": 3}}) == "2"


def test_the_documentation_of_a_whole_parameter():
    @tool
    def move(to: Point) -> str:
        """Move.

        Args:
            to: Where.
        """

    assert move.definition()["description"] == "Move.\n\nWhere."
    with pytest.raises(SchemaError) as caught:

        @tool
        def turn(to: Point) -> str:
            """Turn.

            Args:
                x: How far.
            """

    assert codes_of(caught) == ["unknown_description"]
