"""What errors of encoding and of defaults say, in words that a developer can act on."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import pytest

from operator_schema import Codec, EncodeError, SchemaError, decode, encode
from operator_schema.errors import DecodeError


@dataclass
class A:
    x: int = 1


@dataclass
class AllDay:
    kind: Literal["all_day"]
    day: date


@dataclass
class Event:
    when: AllDay
    until: date


def test_a_class_in_the_place_of_an_instance_is_named_for_what_it_is():
    with pytest.raises(EncodeError, match="got the class A, not an instance"):
        encode(A)
    with pytest.raises(EncodeError, match="expected A, got the class A, not an instance"):
        Codec(A).encode(A)  # type: ignore[arg-type]
    with pytest.raises(EncodeError, match="expected date, got the class date, not an instance"):
        Codec(list[date]).encode([date])  # type: ignore[list-item]


def test_a_suggestion_ends_with_one_mark():
    @dataclass
    class Wrong:
        x: int = "5"  # type: ignore[assignment]

    with pytest.raises(SchemaError) as caught:
        Codec(Wrong)
    assert "did you mean 5? Change the default" in str(caught.value)


def test_a_leaf_is_shown_as_its_json_type_and_what_it_holds():
    with pytest.raises(DecodeError) as caught:
        decode(Event, {})
    problems: Any = {problem.path: problem.message for problem in caught.value.findings}
    assert problems["until",] == "missing (string <date, such as 2026-01-31>, required)"
    assert (
        problems["when",]
        == 'missing (object {kind: "all_day", day: string <date, such as 2026-01-31>}, required)'
    )


class Colour(enum.Enum):
    RED = "r"


class Level(enum.IntEnum):
    LOW = 1


class Hostile:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("b", "b"),
        (Colour.RED, "Colour.RED"),
        (Level.LOW, "1"),
        (5, "5"),
        (None, "null"),
        (date(2026, 1, 31), "date"),
        (Hostile(), "Hostile"),
        (enum.Enum("Many", {"A" * 100: 1})["A" * 100], "Many." + "A" * 54 + "…"),
    ],
    ids=["text", "member", "number of a member", "number", "null", "date", "hostile", "long name"],
)
def test_a_key_that_does_not_fit_is_found_by_its_path(key: Any, step: str, compiled: bool):
    codec = Codec(dict[Literal["a"], int])
    if compiled:
        codec.compile()
    with pytest.raises(EncodeError) as caught:
        codec.encode({key: "x"})
    assert [problem.path for problem in caught.value.findings] == [(step,), (step,)]
    assert codec.report({key: 1})[0].path == (step,)


class Mode(enum.StrEnum):
    FAST = "fast"


@pytest.mark.parametrize("compiled", [False, True])
def test_a_member_of_an_enum_in_the_place_of_a_literal_is_named_by_its_class(compiled: bool):
    codec = Codec(Literal["fast"])
    if compiled:
        codec.compile()
    said = '"fast" of the class Mode is not one of "fast"; did you mean "fast"[?]'
    with pytest.raises(EncodeError, match=said):
        codec.encode(Mode.FAST)  # type: ignore[arg-type]

    @dataclass
    class Run:
        mode: Literal["fast"] = Mode.FAST  # type: ignore[assignment]

    with pytest.raises(SchemaError, match=said):
        Codec(Run)
