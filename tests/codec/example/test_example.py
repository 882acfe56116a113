"""The example that an error carries: smallest, and valid."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Union
from uuid import UUID

import pytest
from strategies import Limits
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, SchemaLeaf
from operator_schema.codec.spellings import NOTHING, quoted_scalar, quoted_type
from operator_schema.engine import matching_text


class Refused:
    """No JSON value, so that every type refuses it but those that take anything."""


def example_of(annotation, **options):
    codec = Codec(annotation, **options)
    with pytest.raises(DecodeError) as caught:
        codec.decode(Refused())
    example = caught.value.example()
    assert example is None or codec.report(example) == ()
    return example


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclass
class Node:
    value: int
    next: Node | None = None


@dataclass
class Endless:
    next: Endless


@dataclass
class Choosy:
    unit: Unit
    count: int = field(metadata={"examples": [7, 8]})
    alias: str = field(metadata={"alias": "the alias"})
    more: str = "default"


class Movie(TypedDict):
    title: str


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclass
class Maybe:
    next: Endless | int


@dataclass
class Never:
    count: int

    def __post_init__(self):
        raise ValueError("never")


@dataclass
class Broken:
    count: int

    def __post_init__(self):
        raise KeyError("not what decoding expects")


Nested = TypeAliasType("Nested", "list[Nested]")
OrText = TypeAliasType("OrText", "dict[str, OrText] | str")


@pytest.mark.parametrize(
    ("annotation", "example"),
    [
        (str, "text"),
        (int, 0),
        (float, 0),
        (bool, False),
        (Literal[3, "a"], 3),
        (Unit, "metric"),
        (UUID, "12345678-1234-5678-1234-567812345678"),
        (date, "2026-01-31"),
        (Choosy, {"unit": "metric", "count": 7, "the alias": "text"}),
        (Movie, {"title": "text"}),
        (Point, {"x": 0}),
        (Node, {"value": 0}),
        (Maybe, {"next": 0}),
        (list[int], []),
        (Annotated[list[int], Limits(min_length=2)], [0, 0]),
        (Annotated[set[int], Limits(min_length=3)], [0, 1, 2]),
        (Annotated[set[str], Limits(min_length=2)], ["text", "text1"]),
        (Annotated[set[bool], Limits(min_length=2)], [False, True]),
        (Annotated[set[Unit], Limits(min_length=2)], ["metric", "imperial"]),
        (Annotated[set[tuple[int, str]], Limits(min_length=2)], [[0, "text"], [1, "text1"]]),
        (Annotated[set[int | str], Limits(min_length=2)], [0, 1]),
        (Annotated[set[Literal[1] | str], Limits(min_length=2)], [1, "text1"]),
        (tuple[int, str], [0, "text"]),
        (Annotated[dict[str, int], Limits(min_length=2)], {"text": 0, "text1": 0}),
        (Annotated[Mapping[int, Any], Limits(min_length=1)], {"0": {}}),
        (Nested, []),
        (OrText, {}),
        (Annotated[str, Limits(min_length=6)], "xxtext"),
        (Annotated[str, Limits(max_length=2)], "xt"),
        (Annotated[str, Limits(max_length=0)], ""),
        (Annotated[str, re.compile("^[A-Z]{3}$")], "AAA"),
        (Annotated[str, re.compile("t"), Limits(min_length=6)], "xxtext"),
        (Annotated[str, re.compile("^b+$"), Limits(min_length=3)], "bbb"),
        (Annotated[int, Limits(ge=3)], 3),
        (Annotated[int, Limits(gt=3)], 4),
        (Annotated[int, Limits(le=-3)], -3),
        (Annotated[int, Limits(lt=-3)], -4),
        (Annotated[int, Limits(ge=4, multiple_of=3)], 6),
        (Annotated[int, Limits(le=-1, multiple_of=3)], -3),
        (Annotated[int, Limits(gt=1, multiple_of=0.75)], 3),
        (Annotated[float, Limits(gt=0, lt=1)], 0.5),
        (Annotated[float, Limits(gt=0, multiple_of=0.25)], 0.25),
        (Annotated[float, Limits(ge=-(10**400))], 0),
        (Annotated[float, Limits(le=10**400, ge=2)], 2),
        (Annotated[int, Limits(ge=10**400)], 10**400),
        (Annotated[float, Limits(ge=2**60 + 1)], 2.0**60 + 256),
        (Annotated[float, Limits(le=-(2**60) - 1)], -(2.0**60) - 256),
        (Annotated[int, Limits(ge=10**400, le=10**400 + 3)], 10**400),
    ],
)
def test_the_example_of(annotation, example):
    assert example_of(annotation) == example
    codec = Codec(annotation)
    assert codec.example() == example
    codec.decode(codec.example())


@pytest.mark.parametrize(
    "annotation",
    [
        Endless,
        Never,
        Broken,
        Annotated[set[Literal[1]], Limits(min_length=2)],
        Annotated[set[Point], Limits(min_length=2)],
        Annotated[set[None], Limits(min_length=2)],
        Annotated[list[int], Limits(min_length=101)],
        Annotated[str, Limits(min_length=1001)],
        Annotated[str, re.compile("^b{2000}$")],
        Annotated[str, re.compile("^[a-c]{2}$"), Limits(min_length=3)],
        Annotated[set[Annotated[str, re.compile("^a$")]], Limits(min_length=2)],
        Union[Endless, Annotated[str, re.compile("^b{2000}$")]],
    ],
)
def test_there_is_none_of(annotation):
    assert example_of(annotation) is None
    with pytest.raises(ValueError, match="no valid example was found; give its fields examples"):
        Codec(annotation, name="Odd").example()


def test_null_is_an_example():
    assert Codec(None).example() is None


def test_the_example_of_a_codec_is_the_callers_own():
    codec = Codec(Choosy)
    codec.example()["unit"] = "changed"
    assert codec.example()["unit"] == "metric"


def test_a_leaf_that_breaks_has_none():
    class Fragile:
        whole = True

    def encode(value):  # noqa: ARG001  # they are all the same
        if not Fragile.whole:
            raise OSError("broken")
        return "fragile"

    def decode(text):  # noqa: ARG001  # any text will do
        return Fragile()

    leaf = SchemaLeaf(Fragile, {"type": "string"}, decode, encode, Fragile())
    assert example_of(Fragile, leaves=[leaf]) == "fragile"
    Fragile.whole = False
    assert example_of(Fragile, leaves=[leaf]) is None


def test_a_field_may_give_anything():
    assert example_of(Annotated[list[Any], Limits(min_length=2)]) == [{}, {}]


def test_numbers_that_must_differ():
    few = set[Annotated[int, Limits(ge=1, le=2)]]
    assert example_of(Annotated[few, Limits(min_length=2)]) == [1, 2]
    assert example_of(Annotated[few, Limits(min_length=3)]) is None
    assert example_of(Annotated[set[float], Limits(min_length=3)]) == [0, 1, 2]
    assert example_of(Annotated[float, Limits(lt=-1e308, ge=-1.1e308)]) is not None


def test_an_example_is_the_callers_own():
    with pytest.raises(DecodeError) as caught:
        Codec(Movie).decode(None)
    caught.value.example()["title"] = "changed"
    assert caught.value.example() == {"title": "text"}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("abc", "abc"),
        ("^a.c$", "aac"),
        ("[^a]", "A"),
        ("^[^aA0]$", "-"),
        ("[0-9]{3}", "000"),
        (r"^\d\w\s$", "0a "),
        (r"^[\d_]+$", "0"),
        (r"^[^\d]$", "a"),
        (r"^\D\W\S$", "a-a"),
        (r"^[^\w]$", "-"),
        (r"^[^\s]$", "a"),
        (r"^[^\D]$", "0"),
        (r"^[^a-z]$", "A"),
        ("^(a|b)c?d*$", "a"),
        ("^(ab|cd)e$", "abe"),
        ("^(?:ab)+?$", "ab"),
        ("^a++$", "a"),
        (r"\bword\b", "word"),
        ("^[^x]$", "a"),
        ("^[^b]?x$", "x"),
        ("[^a]b", "Ab"),
        ("(?s:.)", "a"),
    ],
)
def test_a_text_for_a_pattern(pattern, text):
    assert matching_text(re.compile(pattern)) == text


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1",
        "(?=a)b",
        "a{2000}",
        "(a{500}){500}",
        r"[^aA0_ ./:@é\-]",
        "^b$a",
    ],
)
def test_no_text_for_a_pattern(pattern):
    assert matching_text(re.compile(pattern)) is None


def test_a_pattern_that_nests_deep_has_a_text_or_none():
    assert matching_text(re.compile("(" * 80 + "a" + ")" * 80)) == "a"


def test_a_python_without_the_parser_has_none(monkeypatch):
    monkeypatch.delattr(re, "_parser")
    assert matching_text(re.compile("a")) is None


@pytest.mark.parametrize(
    ("text", "scalar"),
    [
        ("5", 5),
        ("-2.5", -2.5),
        ("1e3", 1000.0),
        ("true", True),
        ("True", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ("05", NOTHING),
        ("+5", NOTHING),
        ("1_000", NOTHING),
        ("٣", NOTHING),
        ("1e999", NOTHING),
        ("NaN", NOTHING),
        ("9" * 5000, NOTHING),
        ("", NOTHING),
    ],
)
def test_what_a_string_spells(text, scalar):
    found = quoted_scalar(text)
    assert found is scalar if scalar is NOTHING else (found == scalar and type(found) is type(scalar))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("5", "integer"),
        ("null", "null"),
        (' {"a": 1}\n', "object"),
        ("[]", "array"),
        ("[", None),
        ("a", None),
        ("{]", None),
    ],
)
def test_the_type_that_a_string_seems_to_hold(text, name):
    assert quoted_type(text) == name


@pytest.mark.parametrize(
    ("annotation", "text", "suggestion"),
    [
        (int, "5", "5"),
        (int, "5.0", "5.0"),
        (int, "9007199254740993.0", None),
        (int, "1.00000000000000000001", None),
        (int, "1" * 61, None),
        (float, "0.10", "0.1"),
        (bool, "True", "true"),
        (list[str], "one", '["one"]'),
        (list[str], '"one"', None),
    ],
)
def test_what_stood_in_quotes_is_suggested_where_it_is_what_was_wanted(annotation, text, suggestion):
    [problem] = Codec(annotation).report(text)
    assert problem.suggestion == suggestion


@pytest.mark.parametrize("text", ['["a", "b"', "[draft]", "{"])
def test_json_that_begins_in_a_string_is_no_item(text):
    [problem] = Codec(list[str] | dict[str, str]).report(text)
    assert problem.suggestion is None
    assert problem.message.startswith("got a string that ")


def test_a_leaf_that_can_t_write_its_placeholder_has_no_example():
    class Clock:
        is_broken = False

    def write(_clock: Clock) -> str:
        if Clock.is_broken:
            raise ValueError
        return "now"

    leaf = SchemaLeaf(Clock, {"type": "string"}, lambda _text: Clock(), write, Clock())
    codec = Codec(Annotated[Clock, leaf] | None)
    Clock.is_broken = True
    with pytest.raises(DecodeError) as caught:
        codec.decode([])
    assert caught.value.example() is None
    with pytest.raises(DecodeError) as caught:
        Codec(Annotated[Clock, leaf]).decode([])
    assert caught.value.example() is None


@dataclass
class Archive:
    path: str
    zip: bool = False


@dataclass
class Remove:
    path: str
    force: bool = False


@dataclass
class Base:
    path: str


@dataclass
class OfText:
    path: str
    zip: str = ""


@pytest.mark.parametrize(
    ("annotation", "example"),
    [
        (Archive | Remove, {"path": "text", "zip": False}),
        (Remove | Archive, {"path": "text", "force": False}),
        (Base | Archive, {"path": "text", "zip": False}),
        (Archive | OfText, {"path": "text", "zip": False}),
        (Base | int, {"path": "text"}),
        (Base | Archive | int, {"path": "text", "zip": False}),
        (list[Base] | Archive | Remove, []),
    ],
)
def test_the_example_of_a_union_fits_one_member_alone(annotation, example):
    codec = Codec(annotation)
    assert codec.example() == example
    codec.decode(example)


def test_a_union_has_no_example_if_what_sets_a_member_apart_has_none():
    @dataclass
    class More(Base):
        name: Annotated[str, re.compile("^b{2000}$")] = "b" * 2000

    with pytest.raises(ValueError, match="no valid example"):
        Codec(Base | More).example()
