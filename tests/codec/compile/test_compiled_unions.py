"""Compiled unions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath, PurePosixPath
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union
from uuid import UUID

import pytest
from compile_samples import Colour, Expression, GiveUp, Part, check, check_encoder, encoder_of

from operator_schema import Codec


@dataclass
class One:
    kind: Literal[1] = 1
    a: int = 0


@dataclass
class Yes:
    kind: Literal[True] = True
    b: int = 0


@dataclass
class Named:
    name: str
    first: int = 0


@dataclass
class Numbered:
    name: str
    second: int
    third: int = 0


class Small(TypedDict):
    a: int


class Large(TypedDict):
    a: int
    b: NotRequired[int]
    c: int


Choices = Literal["a", 3]


UNIONS: list[tuple[Any, list[Any]]] = [
    (Expression, [1, {"kind": "add", "left": 1, "right": {"kind": "neg", "of": 2}}, {"kind": "x"}]),
    (Expression, [{"kind": []}, {}]),
    (One | Yes, [{"kind": 1}, {"kind": True}, {"kind": 1.0}, {"kind": 2}, {}, {"a": 1}, {"b": 1}]),
    (Named | Numbered, [{"name": "x"}, {"name": "x", "second": 1}, {"name": "x", "first": 1}]),
    (Named | Numbered, [{}, {"name": "x", "second": "x"}]),
    (Small | Large, [{"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}, {"c": 1}]),
    (UUID | datetime | str, ["x", "12345678-1234-5678-1234-567812345678", "2026-01-31T09:30:00Z", "\ud800"]),
    (Union[Choices, str, int], ["a", "b", 3, 4, 3.0, 10**400, None]),
    (Colour | float, ["red", 2, 2.5, 3, "x"]),
    (Optional[Literal[None, "a"]], [None, "a", "b"]),
    (list[int] | dict[str, int] | bool, [[1], {"a": 1}, True, ["x"], None]),
    (Any | None, [None, 1, [2], {"a": "x"}]),
    (PurePath | None, ["a/b", None, "", 5]),
    (tuple[int, int] | str, [[1, 2], "x", [1]]),
    (int | bool, [1, True, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "values"), UNIONS)
def test_unions(annotation, values):
    codec = Codec(list[annotation]).compile()
    for value in values:
        check(codec, [value])
        check(codec, [values[0], value])
    for odd in (
        None,
        5,
        "a",
        Named("x"),
        PurePosixPath("a"),
        object(),
        Colour.RED,
        True,
        (1, 2),
        {"a": 1, "c": 2},
    ):
        check_encoder(codec, [odd])


def test_a_subclass_is_left_to_the_interpreter():
    class Same(Part):
        pass

    codec = Codec(list[Part]).compile()
    assert encoder_of(codec)([Same("a")]) is GiveUp
    assert codec.encode([Same("a")]) == [{"name": "a", "size": 3}]


@dataclass
class Counted:
    x: int


@dataclass
class Written:
    x: Annotated[str, re.compile("^[a-z]+$")]


@pytest.mark.parametrize("x", [1, "a", "A", None, 1.0, [], 0.5])
def test_members_with_the_same_keys_are_tried_one_after_the_other(x):
    codec = Codec(Counted | Written).compile()
    check(codec, {"x": x})
    check(Codec(Written).compile(), {"x": x})
