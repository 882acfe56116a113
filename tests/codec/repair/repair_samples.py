"""Types and helpers that several tests of repair share."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, NotRequired, TypedDict

import pytest

from operator_schema import Codec, DecodeError


class Limits:
    def __init__(self, **limits):
        vars(self).update(limits)


class Color(enum.Enum):
    RED = "red"
    DARK_BLUE = "navy"
    OFF_WHITE = "off-white"


class Level(enum.IntEnum):
    LOW = 1
    VERY_HIGH = 9


@dataclass
class Leg:
    number: str
    stops: int = 0


class Source(TypedDict):
    name: str
    line: NotRequired[int]
    tags: NotRequired[list[str]]


@dataclass
class Trip:
    legs: list[Leg]
    price: float = 9.5
    is_paid: bool = False
    color: Color = Color.RED
    seats: int | None = None
    note: str = "none"
    limit: int | None = 5
    labels: list[str] = field(default_factory=list)
    names: list[str] | None = None
    since: date = date(2020, 1, 1)
    until: date | None = None


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: float


@dataclass
class Square:
    kind: Literal["square"]
    side_length: float


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


@dataclass
class One:
    first_name: str
    inner: list[One | Two] = field(default_factory=list)


@dataclass
class Two:
    second_name: str
    inner: list[One | Two] = field(default_factory=list)


def report(annotation, value, **options):
    return Codec(annotation, repair=True, **options).decode_report(value)


def repaired(annotation, value, **options):
    """Decode what can't be decoded without repair, or not whole; return it and the kinds of repair."""
    plain = Codec(annotation, **options)
    assert plain.report(value) or plain.decode_report(value).ignored
    made = report(annotation, value, **options)
    assert made.repairs
    return made.instance, [repair.code for repair in made.repairs]


def refused(annotation, value, **options):
    with pytest.raises(DecodeError) as caught:
        report(annotation, value, **options)
    return [problem.code for problem in caught.value.findings]


def kept(annotation, value, **options):
    made = report(annotation, value, **options)
    assert made.repairs == ()
    assert made.instance == Codec(annotation, **options).decode(value)
    return made.instance
