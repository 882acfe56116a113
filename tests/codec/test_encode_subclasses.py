"""Encoding an instance of a subclass: by the class that is declared."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from operator_schema import Codec, EncodeError, decode, encode


@dataclass
class Animal:
    name: str


@dataclass
class Dog(Animal):
    breed: str


@dataclass
class Puppy(Dog):
    age: int


class Pair(NamedTuple):
    a: int
    b: int


class OwnPair(Pair):
    pass


PUPPY = Puppy("Rex", "terrier", 1)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("annotation", "value", "encoded"),
    [
        (Animal, Dog("Rex", "terrier"), {"name": "Rex"}),
        (list[Animal], [PUPPY, Animal("Tom")], [{"name": "Rex"}, {"name": "Tom"}]),
        (dict[str, Dog], {"a": PUPPY}, {"a": {"name": "Rex", "breed": "terrier"}}),
        (Animal | None, PUPPY, {"name": "Rex"}),
        (Pair, OwnPair(1, 2), {"a": 1, "b": 2}),
    ],
)
def test_the_fields_of_the_declared_class_are_written(
    annotation: Any, value: Any, encoded: Any, compiled: bool
):
    codec = Codec(annotation)
    if compiled:
        codec.compile()
    assert codec.encode(value) == encoded
    assert codec.encode(codec.decode(encoded)) == encoded


def test_under_any_it_is_written_by_its_own_class():
    assert encode({"a": PUPPY}) == {"a": {"name": "Rex", "breed": "terrier", "age": 1}}


def test_a_union_takes_the_nearest_of_its_classes():
    codec = Codec(Animal | Dog)
    assert codec.encode(Animal("Tom")) == {"name": "Tom"}
    assert codec.encode(Dog("Rex", "terrier")) == {"name": "Rex", "breed": "terrier"}
    assert codec.encode(PUPPY) == {"name": "Rex", "breed": "terrier"}


def test_leaves_too_go_to_the_nearest_class():
    class Stamp(dt.datetime):
        pass

    assert Codec(dt.date | dt.datetime).encode(Stamp(2026, 1, 2, tzinfo=dt.UTC)).startswith("2026-01-02T")


def test_a_base_class_is_no_instance_of_a_subclass():
    with pytest.raises(EncodeError, match="expected Dog, got Animal"):
        Codec(Dog).encode(Animal("Tom"))  # type: ignore[arg-type]


def test_the_round_trip_gives_the_declared_class():
    assert decode(Animal, Codec(Animal).encode(PUPPY)) == Animal("Rex")
