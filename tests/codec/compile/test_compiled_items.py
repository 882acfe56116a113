"""Items of arrays are compiled on their own, so that the interpreter walks only into those with mistakes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypedDict

import pytest
from compile_samples import Checked, GiveUp, Tree, check_items, items_of

from operator_schema import Codec, DecodeError
from operator_schema.codec.compile.items import ItemDecoders
from operator_schema.engine import ArrayNode


@dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.0


@dataclass
class Path:
    points: list[Point]
    names: list[str] = field(default_factory=list)


class Log(TypedDict):
    lines: list[dict[str, int]]
    tags: frozenset[tuple[int, str]]
    recent: deque[Point | int]


GOOD, BAD = {"x": 1, "y": 2}, {"x": "one"}
LOG = {"lines": [{"a": 1}], "tags": [[1, "a"]], "recent": [GOOD, 3]}


class Items(list[Any]):
    pass


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[Point], [GOOD, BAD, GOOD, BAD]),
        (list[Point], [BAD]),
        (list[Point], []),
        (list[Point], Items([GOOD, BAD])),
        (list[Point], [GOOD, {**GOOD, "z": 3}, BAD]),
        (list[Point], [BAD] * 150),
        (list[Path], [{"points": [GOOD, BAD]}, {"points": [GOOD], "names": ["a", 2]}, {"points": [GOOD]}]),
        (Log, {**LOG, "lines": [{"a": 1}, {"a": "1"}, {"a": 2}]}),
        (Log, {**LOG, "tags": [[1, "a"], [1, "a"]], "recent": [GOOD, "3", 4, BAD]}),
        (Path | int, {"points": [GOOD, BAD]}),
        (list[Path] | int, [{"points": [GOOD]}, {"points": [BAD]}]),
        (list[Checked], [{"x": 1}, {"x": -1}, {"x": 2}, {"x": None}]),
        (Tree, {"kids": [{"kids": [{}, {"kids": 3}]}, {"named": {"a": 1}}, {}]}),
        (list[list[Point]], [[GOOD], [GOOD, BAD], "points", [GOOD]]),
    ],
    ids=str,
)
def test_the_same_results_and_problems(annotation, value):
    check_items(Codec(annotation), value)


def test_the_same_depth():
    codec = Codec(list[list[Any]], max_depth=4)
    for value in ([[1], [[2]]], [[[[3]]], [[[[4]]]], 5]):
        check_items(codec, value)


def fill_of(codec, number=1, depth=2):
    root = codec.graph.root
    assert isinstance(root, ArrayNode)
    return items_of(codec).filler(root, number, depth)


@pytest.mark.parametrize("annotation", [list[str], list[Checked], list[Tree]], ids=str)
def test_scalars_users_code_and_recursive_types_are_interpreted(annotation):
    assert fill_of(Codec(annotation)) is None


def test_items_near_the_greatest_depth_are_interpreted():
    codec = Codec(list[Point])
    deepest = max(depth for depth in range(2, 101) if fill_of(codec, depth=depth))
    assert 90 < deepest < 100


def test_valid_items_are_compiled_after_enough_of_them():
    codec, items, seen = Codec(list[Point]), ItemDecoders(100, cold=3), []
    for _ in range(3):
        fill = items.filler(codec.graph.root, 1, 2)
        seen.append(fill is not None)
    assert seen == [False, False, True]
    made = []
    rest = iter([GOOD, GOOD, BAD, GOOD])
    assert fill(made, rest) is GiveUp
    assert made == [Point(1, 2.0), Point(1, 2.0)]
    assert fill(made, rest) is made
    assert len(made) == 3


def test_a_codec_reports_each_wrong_item_of_many():
    codec = Codec(Path).compile()
    value = {"points": [GOOD, BAD] * 20}
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            codec.decode(value)
        assert [finding.path for finding in caught.value.findings] == [
            ("points", at, "x") for at in range(1, 40, 2)
        ]
