"""Compiled decoders on values that are nearly right."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from compile_samples import Colour, GiveUp, Part, Text, check, check_decoder, check_encoder, decoder_of
from strategies import Limits

from operator_schema import Codec, SchemaLeaf


@dataclass
class Many:
    text: str
    number: float
    whole: int
    flag: bool
    colour: Colour
    choice: Literal["a", 1, True, None]
    mode: Literal["fast", "slow"]
    parts: list[Part]
    pair: tuple[int, str]
    empty: tuple[()]
    kinds: dict[int, set[str]]
    by_day: OrderedDict[UUID, frozenset[int]]
    queue: deque[float]
    anything: Any
    nothing: None
    items: Sequence[Any] = ()
    first: Part | None = None
    tags: dict[Literal["x", "y"], int | float | str | None] = field(default_factory=dict)


RIGHT: dict[str, Any] = {
    "text": "größe",
    "number": 1.5,
    "whole": 5,
    "flag": True,
    "colour": "red",
    "choice": 1,
    "mode": "fast",
    "parts": [{"name": "a"}, {"name": "b", "size": 4}],
    "pair": [1, "x"],
    "empty": [],
    "kinds": {"1": ["a", "b"], "-2": []},
    "by_day": {"12345678-1234-5678-1234-567812345678": [1, 2]},
    "queue": [1.0, 2],
    "anything": [{"x": 1}],
    "nothing": None,
    "items": [1],
    "first": {"name": "c"},
    "tags": {"x": 1, "y": 2.5},
}


WRONG = [
    ("text", ["\ud800", 5, None, Text("a")]),
    ("number", [float("nan"), float("inf"), -float("inf"), "1", True, 2**53, 10**400, 7]),
    ("whole", [True, 1.0, 1.5, 10**4300, -(10**4300), 10**4300 - 1, 2**30, "1"]),
    ("flag", [1, 0, None, "true"]),
    ("colour", ["blue", 2, 2.0, True, None, [], {}]),
    ("choice", [True, 1.0, 0, False, None, "b", [], Text("a")]),
    ("mode", ["medium", 5, Text("fast")]),
    ("parts", [None, {}, (), [None], [{"size": 1}], [{"name": "x", "more": 1}], [{"name": "x", "size": ""}]]),
    ("pair", [[1], [1, "x", 2], ["x", 1], (1, "x")]),
    ("empty", [[1], {}]),
    ("kinds", [{"01": []}, {"0": [], "-0": []}, {"x": []}, {"1\n": []}, {"1" * 65: []}, {1: []}]),
    ("kinds", [{"1": ["a", "a"]}]),
    ("by_day", [{"x": []}, {UUID(int=1).hex: []}, {"ABCDEFAB" + "-1234" * 3 + "-567812345678": [1, 1]}]),
    ("queue", [[None], "12", [float("nan")]]),
    ("anything", [None, {1, 2}]),
    ("nothing", [0, False, "null"]),
    ("items", [None, "ab", []]),
    ("first", [None, {}, {"name": 5}, []]),
    ("tags", [{"z": 1}, {"x": None}, {"x": "s"}, {"x": True}, {"x": []}, {"x": 10**400}]),
]  # fmt: skip


@pytest.mark.parametrize("unknown", ["ignore", "reject"])
def test_each_kind_of_value_right_and_nearly(unknown):
    codec = Codec(Many, unknown_fields=unknown).compile()
    assert decoder_of(codec)(RIGHT) is not GiveUp
    check(codec, RIGHT)
    check(codec, {**RIGHT, "more": 1})
    check(codec, [RIGHT])
    for key, values in WRONG:
        check(codec, {name: item for name, item in RIGHT.items() if name != key})
        for value in values:
            check_decoder(codec, {**RIGHT, key: value})
    instance = codec.decode(RIGHT)
    for key, values in WRONG:
        for value in values:
            check_encoder(codec, instance.__class__(**{**vars(instance), key: value}))
    del instance.text
    check_encoder(codec, instance)


class Cents(int):
    pass


CENTS = SchemaLeaf(Cents, {"type": ["integer", "null"]}, lambda v: Cents(v or 0), int, Cents(1))


GRAMS = SchemaLeaf(Decimal, {"type": "number"}, Decimal, float, Decimal(1))


@pytest.mark.parametrize("leaf", [CENTS, GRAMS])
def test_leaves_of_other_json_types(leaf):
    codec = Codec(list[leaf.type], leaves=[leaf]).compile()
    for value in (1, 1.0, 1.5, None, True, "1", float("inf"), float("nan"), []):
        check(codec, [value])
    check_encoder(codec, [Decimal("inf")])
    check_encoder(codec, [Decimal(1), Cents(1)])


LIMITED: list[Any] = [
    Annotated[int, Limits(ge=1, lt=5, multiple_of=2)],
    Annotated[float, Limits(gt=0.5, le=10**400)],
    Annotated[float, Limits(multiple_of=0.5)],
    Annotated[list[int], Limits(min_length=1, max_length=2)],
    Annotated[dict[str, Any], Limits(min_length=1, max_length=2)],
    Annotated[str, Limits(min_length=1, max_length=2)],
    Annotated[int, Limits(ge=1)] | str,
    Annotated[int, Limits(ge=3)] | float,
    Annotated[float, Limits(ge=3)] | int,
]


@pytest.mark.parametrize("annotation", LIMITED)
def test_constraints(annotation):
    codec = Codec(annotation).compile()
    for value in (
        0,
        1,
        2,
        3,
        4,
        5,
        0.5,
        1.5,
        2.0,
        3.25,
        "",
        "a",
        "abc",
        [],
        [1],
        [1, 2, 3],
        {},
        {"a": 1},
        dict.fromkeys("abc"),
    ):
        check(codec, value)
