"""Whether two values are the same: as JSON, or in everything they keep."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.json_values import WrittenFloat
from operator_schema.rounds.signatures import canonical_text
from operator_schema.sameness import is_equal, is_same_json, is_same_state, same_text


class Word(StrEnum):
    ONE = "1"
    TRUE = "True"


class Number(IntEnum):
    ONE = 1


class Half(float):
    """Such as a `numpy.float64`."""

    def __repr__(self) -> str:
        return "half"


ALIKE = [None, True, False, 0, 1, -0.0, 1.0, 0.5, "", "0", "1", "True", "None", "0x1", "[]"]
SUBCLASSES = [*Word, *Number, Half(0.5), Half(1), WrittenFloat("1.0")]
LARGE = [2**53, 2.0**53, 2**53 + 1, 1e23, int(1e23), 10**23, 10**400, 5e-324]


def json_of(scalars: Any) -> Any:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_leaves=4,
    )


def other_form(value: Any) -> Any:
    """Return a value that is the same in JSON, written in another way."""
    if isinstance(value, dict):
        return OrderedDict((key, other_form(value[key])) for key in reversed(value))
    if isinstance(value, list):
        return [*map(other_form, value)]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return next((word for word in Word if word == value), str(value))
    same = [other for other in (*LARGE, *SUBCLASSES, *ALIKE) if not isinstance(other, (str, bool))]
    return next((other for other in same if other == value and type(other) is not type(value)), value)


def reference(value: Any) -> Any:
    """Return what a JSON value is, without the library: each part with its type."""
    if isinstance(value, dict):
        return "object", frozenset((str(key), reference(item)) for key, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(reference, value))
    if isinstance(value, bool) or value is None:
        return "word", value
    return ("text", str(value)) if isinstance(value, str) else ("number", Fraction(value))


SCALARS = st.sampled_from([*ALIKE, *SUBCLASSES, *LARGE]) | st.floats(allow_nan=False, allow_infinity=False)


@given(json_of(SCALARS), json_of(SCALARS))
def test_two_values_are_the_same_json_if_each_part_is(one, other):
    for each in (other, other_form(one)):
        is_same = reference(one) == reference(each)
        assert is_same_json(one, each) is is_same
        assert (same_text(one) == same_text(each)) is is_same


@pytest.mark.parametrize("one", [*ALIKE, *SUBCLASSES, *LARGE], ids=repr)
def test_two_scalars_are_the_same_json_if_their_types_and_values_are(one):
    for other in (*ALIKE, *SUBCLASSES, *LARGE):
        is_same = reference(one) == reference(other)
        assert is_same_json(one, other) is is_same
        assert (same_text(one) == same_text(other)) is is_same


@given(json_of(st.sampled_from([*ALIKE, 2**53, 2.0**53])), json_of(st.sampled_from(ALIKE)))
def test_a_database_keeps_a_value_the_same_if_a_float_can_hold_its_numbers(one, other):
    for each in (other, other_form(one)):
        assert (canonical_text(one) == canonical_text(each)) is is_same_json(one, each)


def test_a_database_writes_the_digits_of_a_large_number():
    assert canonical_text(1e23) == canonical_text(10**23)
    assert not is_same_json(1e23, 10**23)


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


class Generous:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


def test_values_are_equal_if_their_class_says_so_or_they_keep_the_same():
    assert is_equal(Generous(1), Generous(2))
    assert is_equal(Job("a", "b"), Job("a", "c"))
    assert is_equal(Plain(1), Plain(1))
    assert not is_equal(AngryRecord(1), AngryRecord(1))
    assert not is_equal(Plain(1), Plain(2))
    assert not is_equal(SubJob("a"), Job("a"))


@dataclass(eq=False)
class AngryRecord:
    value: int

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    __hash__ = None


@pytest.mark.parametrize("value", [Plain(1), (1,), b"a", {1}], ids=["object", "tuple", "bytes", "set"])
def test_what_json_has_no_type_for_is_the_same_as_nothing_else(value):
    assert is_same_json([value], [value])
    assert not any(is_same_json(value, other) for other in (*ALIKE, type(value)))


class Empty:
    pass


DIFFERENT = {
    "object": object,
    "empty": Empty,
    "class": lambda: Empty,
    "function": lambda: lambda: 0,
    "number": lambda: 1,
    "text": lambda: "1",
    "null": lambda: None,
    "list": lambda: [1],
    "map": lambda: {"value": 1},
    "set": lambda: {1},
    **{
        name: (lambda make=make: make(1))
        for name, make in MAKE.items()
        if name.startswith(("in a d", "with"))
    },
}


@pytest.mark.parametrize("one", DIFFERENT)
def test_different_values_are_never_the_same(one):
    for other, make in DIFFERENT.items():
        if other != one:
            assert not is_same_state(DIFFERENT[one](), make()), other
            assert not is_equal(DIFFERENT[one](), make()), other
