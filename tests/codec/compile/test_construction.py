"""How compiled decoders construct instances."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, make_dataclass
from typing import ClassVar, NamedTuple, Optional, TypedDict

import pytest
from compile_samples import Checked, Counting, Part, check

from operator_schema import Codec
from operator_schema.codec.construction import way_of


@dataclass(frozen=True)
class Frozen:
    x: int
    y: int = 2


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    x: int
    y: int = 2


@dataclass(slots=True, kw_only=True)
class Slots:
    x: int
    y: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Mixed(FrozenSlots):
    z: int = 3


@dataclass
class Hinted:
    x: int
    hint: InitVar[int]


@dataclass(frozen=True)
class Empty:
    constant: ClassVar[int] = 3


class Pair(NamedTuple):
    a: int
    b: str = "b"


class OwnPair(Pair):
    def __new__(cls, a, b="b"):
        return super().__new__(cls, a + 1, b)


class Movie(TypedDict, total=False):
    title: str
    größe: int  # noqa: PLC2401  # names that are not of ASCII are what is tested


Grand = make_dataclass("Grand", [("größe", int), ("x", Optional[int], None)])


@dataclass
class OwnInit:
    x: int
    y: int = 5

    def __init__(self, x, y=5):
        self.x, self.y = x, y


class Loud:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return 7 if instance is None else vars(instance)[self.name]

    def __set__(self, instance, value):
        vars(instance)[self.name] = value


@dataclass
class Described:
    x: int = Loud()  # type: ignore[assignment]  # as the documentation of dataclasses has it


@dataclass
class Setting:
    x: int

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


@dataclass
class Dying:
    x: int

    def __del__(self):
        pass


class Meta(type):
    def __call__(cls, *args, **kwargs):
        return super().__call__(*args, **kwargs)


@dataclass
class Governed(metaclass=Meta):
    x: int


@dataclass
class Later(Checked):
    pass


WAYS = [
    (Part, "attributes"),
    (Frozen, "dictionary"),
    (FrozenSlots, "slots"),
    (Slots, "attributes"),
    (Mixed, "call"),
    (Counting, "call"),
    (Hinted, "attributes"),
    (Empty, "slots"),
    (Pair, "tuple"),
    (OwnPair, "user"),
    (Movie, "dict"),
    (Grand, "attributes"),
    (Checked, "user"),
    (Later, "user"),
    (OwnInit, "user"),
    (Described, "user"),
    (Setting, "user"),
    (Dying, "user"),
    (Governed, "user"),
]


@pytest.mark.parametrize(("cls", "way"), WAYS)
def test_each_way_of_making_an_instance(cls, way):
    codec = Codec(cls).compile()
    assert way_of(codec.graph.resolve_root()) == way
    if cls is not Movie and cls is not Empty and cls is not Grand:
        first = "a" if issubclass(cls, tuple) else "name" if cls is Part else "x"
        for value in (1, -1, "s", None):
            check(codec, {first: value})
    for value in (
        {},
        {"größe": 3},
        {"größe": 3, "x": 4},
        {"title": "a", "größe": 1},
        {"title": 1},
        {"y": 1, "x": 1},
    ):
        check(codec, value)
