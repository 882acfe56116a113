"""Whether two values are the same in everything they keep."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from operator_schema.immutable import is_same_state


@dataclass
class Job:
    path: str
    hidden: str = field(default="", compare=False)

    @cached_property
    def length(self) -> int:
        return len(self.path)


@dataclass
class SubJob(Job):
    more: int = 0


@dataclass(slots=True)
class Slotted:
    value: Any


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


class SlottedPlain:
    __slots__ = ("__value",)

    def __init__(self, value: Any) -> None:
        self.__value = value


class Pair(NamedTuple):
    one: Any
    other: Any


class Angry:
    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    __hash__ = None


MAKE = {
    "alone": lambda value: value,
    "in a list": lambda value: [0, value],
    "in a map": lambda value: {"a": value},
    "in a tuple": lambda value: (value, 1),
    "in a named tuple": lambda value: Pair(1, value),
    "in a dataclass": Job,
    "in what == leaves out": lambda value: Job("", value),
    "with slots": Slotted,
    "without __eq__": Plain,
    "without __eq__, with slots": SlottedPlain,
}


def with_attribute(value: str) -> Job:
    job = Job("a")
    job.mode = value  # type: ignore[attr-defined]  # as a __post_init__ may set it
    return job


@pytest.mark.parametrize("around", MAKE)
@pytest.mark.parametrize("make", [str, Path, re.compile, Plain, with_attribute])
def test_values_are_the_same_in_all_they_keep_at_every_depth(around, make):
    wrap = MAKE[around]
    assert is_same_state(wrap(make("a")), wrap(make("a")))
    assert not is_same_state(wrap(make("a")), wrap(make("b")))
    assert not is_same_state(wrap(make("a")), wrap(Job("c")))


def test_an_attribute_of_one_of_both_counts_unless_it_was_worked_out():
    looked_at = Job("a")
    assert looked_at.length == 1
    assert is_same_state(Job("a"), looked_at)
    assert not is_same_state(Job("a"), with_attribute("x"))
    assert not is_same_state(with_attribute("x"), Job("a"))


def test_of_a_related_class_the_attributes_of_the_new_value_count():
    assert is_same_state(Job("a"), SubJob("a", more=3))
    assert not is_same_state(Job("a"), SubJob("b"))
    assert not is_same_state(Job("a"), Slotted("a"))


@pytest.mark.parametrize("make", [object, lambda: lambda: 0, Angry], ids=["object", "lambda", "angry"])
def test_what_can_not_be_known_is_not_the_same(make):
    assert not is_same_state(make(), make())
    same = make()
    assert is_same_state([same], [same])


def test_values_that_hold_themselves_end():
    one, other = Job("a"), Job("a")
    one.path, other.path = one, other  # type: ignore[assignment]  # on purpose
    assert not is_same_state(one, other)
