"""Repair of one item in place of an array."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import pytest
from repair_samples import Circle, Color, Leg, Limits, Square, Tree, Trip, refused, repaired


@pytest.mark.parametrize(
    ("annotation", "value", "instance", "kinds"),
    [
        (list[int], 5, [5], ["array"]),
        (list[int], "5", [5], ["array", "scalar"]),
        (list[str], "a", ["a"], ["array"]),
        (list[str], "a b", ["a b"], ["array"]),
        (list[Leg], {"number": "A1"}, [Leg("A1")], ["array"]),
        (list[Leg], '{"number": "A1"}', [Leg("A1")], ["array", "json_text"]),
        (list[Color], "Red", [Color.RED], ["array", "choice"]),
        (set[int], 5, {5}, ["array"]),
        (tuple[int, ...], 5, (5,), ["array"]),
        (list[list[int]], 5, [[5]], ["array", "array"]),
        (list[tuple[int, int]], [1, 2], [(1, 2)], ["array"]),
        (list[date], "2020-01-01", [date(2020, 1, 1)], ["array"]),
        (list[Any], {"a": 1}, [{"a": 1}], ["array"]),
        (list[int] | None, 5, [5], ["array"]),
        (Annotated[list[int], Limits(min_length=1)], 5, [5], ["array"]),
        (list[Circle | Square], {"kind": "circle", "radius": 1}, [Circle("circle", 1.0)], ["array"]),
        (Trip, {"legs": [], "labels": "a"}, Trip([], labels=["a"]), ["array"]),
    ],
)
def test_one_item_becomes_an_array(annotation, value, instance, kinds):
    assert repaired(annotation, value) == (instance, kinds)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], None),
        (list[int], "x"),
        (list[int | None], None),
        (list[str], 5),
        (list[str], ""),
        (set[str], ""),
        (list[Any], ""),
        (list[str] | None, ""),
        (list[list[str]], ""),
        (list[str], '["a"'),
        (list[str], '"a"'),
        (list[str], " {"),
        (list[str], "5"),
        (list[str], "true"),
        (list[str], "a, b"),
        (list[str], "a;b"),
        (list[str], "a\nb"),
        (list[str], '```json\n["a"]\n```'),
        (list[Any], "5"),
        (list[list[int]], [1, 2]),  # two arrays of one, or one of two
        (Annotated[list[int], Limits(min_length=2)], 5),
        (tuple[int], 5),
        (list[Leg], {"stops": 1}),
        (Tree, {"value": 1, "children": "x"}),
    ],
)
def test_what_is_no_item_or_may_be_more_is_refused(annotation, value):
    assert refused(annotation, value)


def test_arrays_of_arrays_are_wrapped_where_one_reading_fits():
    assert repaired(list[list[int]], [[1], 2]) == ([[1], [2]], ["array"])
    assert repaired(list[Annotated[list[int], Limits(min_length=2)]], [1, 2])[0] == [[1, 2]]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Annotated[list, Limits(min_length=1)], []),
        (Annotated[list[Any], Limits(max_length=2)], [1, 2, 3]),
        (Annotated[list[Any], Limits(max_length=2)], "[1, 2, 3]"),
        (Annotated[tuple[Any, ...], Limits(min_length=1)], []),
        (Annotated[set[frozenset[int]], Limits(min_length=1)], []),
        (Annotated[list[list[float]], Limits(min_length=1)], []),
        (Annotated[list[list[float]], Limits(min_length=1)], "[]"),
        (Annotated[list[list[float]], Limits(max_length=2)], [1, 2, 3]),
        (Annotated[list[list[float]], Limits(max_length=1)], [[1], [2]]),
        (Annotated[list[list[float]] | None, Limits(min_length=1)], []),
        (Annotated[dict[str, int], Limits(min_length=1)] | list[dict[str, int]], {}),
        (Annotated[dict[str, int], Limits(max_length=1)] | list[dict[str, int]], {"a": "1", "b": 2}),
    ],
)
def test_nothing_is_wrapped_because_of_its_length(annotation, value):
    assert "bad_length" in refused(annotation, value)


def test_no_item_is_wrapped_past_the_limit_on_depth():
    assert refused(list[list[int]], {"a": 5}, max_depth=2)
    assert refused(Tree, {"value": 1, "children": {"value": 2}}, max_depth=2) == ["wrong_type"]
