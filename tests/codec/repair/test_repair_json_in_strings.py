"""Repair of strings that hold JSON."""

from __future__ import annotations

import json
from collections import deque
from datetime import date
from typing import Literal, NamedTuple, Union

import pytest
from repair_samples import Circle, Leg, Source, Square, Tree, refused, repaired

from operator_schema import SchemaLeaf


class Span(NamedTuple):
    first: int
    last: int = 10


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (Leg, '{"number": "A1"}', Leg("A1")),
        (Leg, ' \n{"number": "A1"} ', Leg("A1")),
        (Leg, json.dumps('{"number": "A1"}'), Leg("A1")),
        (Leg, json.dumps(json.dumps(json.dumps({"number": "A1"}))), Leg("A1")),
        (list[int], "[1, 2]", [1, 2]),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (deque[int], "[]", deque()),
        (set[int], "[1]", {1}),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Span, '{"first": 1}', Span(1)),
        (Source, '{"name": "a"}', {"name": "a"}),
        (list[list[int]], ["[1]", [2]], [[1], [2]]),
        (dict[str, list[int]], {"a": "[1]"}, {"a": [1]}),
        (list[Leg] | None, '[{"number": "A1"}]', [Leg("A1")]),
        (Circle | Square | int, '{"kind": "circle", "radius": 1}', Circle("circle", 1.0)),
        (Tree, {"value": 1, "children": '[{"value": 2, "children": "[]"}]'}, Tree(1, [Tree(2)])),
    ],
)
def test_json_in_a_string_is_read(annotation, value, instance):
    made, kinds = repaired(annotation, value)
    assert made == instance
    assert set(kinds) == {"json_text"}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], "[1, 2"),
        (list[int], "[1, 2] and more"),
        (list[int], "[1, 2,]"),
        (list[int], '{"a": 1}'),
        (Leg, "[]"),
        (Leg, "A1"),
        (Leg, '{"number": "A1", "number": "A2"}'),
        (Leg, "{'number': 'A1'}"),
        (list[float], "[NaN]"),
        (list[int], '"' * 9),
        (list[int], "[" * 600 + "]" * 600),
        (tuple[int, int], "[1]"),
        (Union[date, list[int]], "[1]"),
        (Union[Literal["a"], list[int]], "[1]"),
    ],
)
def test_other_strings_are_no_json(annotation, value):
    assert refused(annotation, value)


class Point:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and other.x == self.x

    def __hash__(self) -> int:
        return hash(self.x)


POINT = SchemaLeaf(
    Point,
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    lambda value: Point(value["x"] + 0),
    lambda point: {"x": point.x},
    Point(0),
)


@pytest.mark.parametrize("leaf", [POINT, POINT.replace(json_schema={"type": "object"})])
def test_json_of_a_leaf_in_a_string_is_read(leaf: SchemaLeaf[Point]):
    assert repaired(Point, '{"x": 1}', leaves=[leaf]) == (Point(1), ["json_text"])
    assert repaired(list[Point], ['{"x": 1}'], leaves=[leaf]) == ([Point(1)], ["json_text"])
    for text in ('{"x": "a"}', "[1]", "1", "x"):
        assert refused(Point, text, leaves=[leaf])
