"""Annotations where Python makes them hard: what each means, by value, and every complaint.

This file is without `from __future__ import annotations`, so that its annotations are objects; what
they mean as text is tested in modules that are made of source.
"""

import collections
import collections.abc
import enum
import itertools
import json
import re
import sys
import types
import typing
from collections import deque, namedtuple
from dataclasses import KW_ONLY, InitVar, dataclass, field, make_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path, PurePath, PurePosixPath
from textwrap import dedent
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    ParamSpec,
    Required,
    Self,
    TypedDict,
    TypeVar,
    TypeVarTuple,
    Union,
)
from urllib.parse import ParseResult, SplitResult
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
import typing_extensions
from judge import same_json, validator
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf

# The decoder may refuse what the schema takes for these reasons alone (law 1).
STRICTER = {"bad_format", "out_of_range", "rejected", "too_deep", "too_large", "duplicate"}
IDENTIFIER = "12345678-1234-5678-1234-567812345678"
PROBES: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 7, 1.0, 1.5, -0.5, "", "a", "b", "x", "1", "red", "yes", "1.5",
    "a/b", "YQ==", "2026-01-31", "2026-01-31T09:30:00Z", "09:30:00Z", "P1D", IDENTIFIER, "127.0.0.1",
    "::1", [], [1], [1, 2], [1, 1], ["a"], ["a", 1], [1, "a"], [1.5], [None], [[]], [[1]], [{}],
    [1, [2, [3]]], [{"kind": "cat"}], [{"a": 1}], {}, {"a": 1}, {"a": "x"}, {"a": None}, {"a": [1]},
    {"a": {"a": 1}}, {"1": 1}, {"01": 1}, {"red": 1}, {"name": "n"}, {"name": "n", "a": 1},
    {"name": "n", "b": 1}, {"name": "n", "a": 1, "b": 1}, {"name": "n", "a": "x"}, {"kind": "cat"},
    {"kind": "dog"}, {"kind": "cow"}, {"kind": "cat", "lives": 3}, {"kind": "cat", "lives": "x"},
    {"kind": "dog", "tricks": ["sit"]}, {"tricks": ["sit"]}, {"lives": 3}, {"x": 1, "y": 2}, {"x": 1},
    {"x": "1"}, {"x": 1, "kind": "cat"}, {"value": 1}, {"value": "x", "children": []},
    {"value": 1, "children": [{"value": 2}]},
]  # fmt: skip


def schema_of(annotation, **options):
    schema = Codec(annotation, **options).json_schema()
    validator(schema)
    return schema


def property_of(annotation, name, **options):
    return schema_of(annotation, **options)["properties"][name]


def complaints_of(annotation, **options):
    with pytest.raises(SchemaError) as caught:
        Codec(annotation, **options)
    complaints = caught.value.complaints
    assert all(complaint.message and complaint.remedy for complaint in complaints)
    return complaints


def complaint_of(annotation, **options):
    [complaint] = complaints_of(annotation, **options)
    return complaint


def codes_of(annotation, value):
    return [problem.code for problem in Codec(annotation).problems(value)]


def same(value, expected):
    return type(value) is type(expected) and repr(value) == repr(expected) and value == expected


def outcome(codec, value):
    """What decoding a value comes to, in a form that two codecs can be compared by."""
    try:
        decoded = codec.decode(value)
    except DecodeError as error:
        return sorted((problem.path, problem.code) for problem in error.problems)
    return (type(decoded), repr(decoded), decoded)


def check_agreement(annotation, values=PROBES, stricter=STRICTER):
    """Compare the decoder with `jsonschema`, and encode again what was decoded."""
    codec = Codec(annotation)
    judge = validator(codec.json_schema())
    for value in values:
        problems = codec.problems(value)
        if judge.is_valid(value):
            assert {problem.code for problem in problems} <= stricter, (annotation, value)
        else:
            # An explicit null may stand for a field that is not required.
            assert problems or "None" in repr(value), (annotation, value)
        if not problems:
            decoded = codec.decode(value)
            encoded = codec.encode(decoded)
            assert judge.is_valid(encoded), (annotation, value)
            assert codec.decode(encoded) == decoded, (annotation, value)


@pytest.fixture
def define(monkeypatch):
    """Run source text as a module of its own."""

    def run(source, name="defined_by_a_test"):
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(dedent(source), name, "exec", dont_inherit=True), vars(module))  # noqa: S102  # the test's own source
        return module

    return run


def union_of(members):
    return Union[tuple(members)]  # made at run time


FUTURE = pytest.mark.parametrize("future", ["", "from __future__ import annotations"], ids=["now", "future"])
NULL = {"type": "null"}
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}


def array_of(items, **words):
    return {"type": "array", "items": items, **words}


# --- unions: what fits where ---------------------------------------------------------------------


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Answer(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 7


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    kind: Literal["dog"] = "dog"
    tricks: list[str] = field(default_factory=list)


@dataclass
class Bird:
    sort: Literal["bird"] = field(metadata={"alias": "kind"})


@dataclass
class U1:
    name: str
    a: int = 0


@dataclass
class U2:
    name: str
    b: int = 0


@dataclass
class U3:
    name: str
    b: int


class Point(NamedTuple):
    x: int
    y: int = 0


class TaggedA(TypedDict):
    kind: Literal["cat"]
    a: int


class TaggedB(TypedDict):
    kind: Literal["dog"]
    a: str


class Degrees:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Degrees) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"Degrees({self.value!r})"

    @classmethod
    def read(cls, text):
        if text not in {"x", "127.0.0.1"}:
            raise ValueError("not these degrees")
        return cls(text)

    @classmethod
    def __schema_leaf__(cls):
        return SchemaLeaf(
            cls, {"type": "string", "enum": ["x", "127.0.0.1"]}, cls.read, lambda d: d.value, cls("x")
        )


UNIONS = [
    (int, str),
    (int, float),
    (int, float, str, None),
    (bool, int, str),
    (bool, float, None),
    (Color, str),
    (Color, Answer, Level, None),
    (Color, Literal["x", 2], str, None),
    (Literal[1], Literal[True], Literal["a", 1.5], None),
    (Level, float),
    (Level, Literal["a"], int, bool),
    (Color, date, UUID, str),
    (date, datetime, time, str),
    (timedelta, UUID, bytes, str),
    (IPv4Address, IPv6Address, Path, None),
    (Degrees, IPv4Address, Color, str),
    (Decimal, date, bool, None),
    (SplitResult, PurePosixPath, datetime, int),
    (list[int], int, str, dict[str, int]),
    (set[int], dict[str, int], None),
    (tuple[int, str], dict[int, int], str),
    (list[int | str | None], str, None),
    (list[U1 | U2], U1, None),
    (U1, U2, str),
    (U1, U3, None),
    (U1, U2, Cat, Dog),
    (Cat, Dog, None),
    (Cat, Dog, Bird),
    (TaggedA, TaggedB, int),
    (Point, Cat, list[int]),
    (Point, tuple[int, int], None),
    (U1, Point, Color, Literal["b"]),
]


def orders(members):
    """Every order of a few members; each rotation, forth and back, of many."""
    if len(members) <= 3:
        return list(itertools.permutations(members))
    rotations = [members[i:] + members[:i] for i in range(len(members))]
    return rotations + [order[::-1] for order in rotations]


def union_name(members):
    return "-".join(str(getattr(member, "__name__", member)) for member in members)


every_union = pytest.mark.parametrize("members", UNIONS, ids=union_name)


@every_union
def test_a_union_agrees_with_its_schema_and_comes_back(members):
    # Where several leaves refuse what a bare string takes, the value fits none of them.
    bare = {Path, PurePosixPath, SplitResult}.intersection(members)
    check_agreement(union_of(members), stricter=STRICTER | {"no_match"} if bare else STRICTER)


@every_union
def test_a_union_means_the_same_in_every_order(members):
    codecs = [Codec(union_of(order)) for order in orders(members)]
    for value in PROBES:
        first, *rest = [outcome(codec, value) for codec in codecs]
        assert all(other == first for other in rest), value
    schemas = [sorted(map(json.dumps, codec.json_schema()["anyOf"])) for codec in codecs]
    assert all(schema == schemas[0] for schema in schemas)


@every_union
def test_a_union_is_any_of_its_members(members):
    assert schema_of(union_of(members)) == {"anyOf": [schema_of(member) for member in members]}


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int | float, 1, 1),
        (int | float, 1.0, 1.0),
        (int | float, 1.5, 1.5),
        (int | float | str, 2.0, 2.0),
        (float | None, 1, 1.0),
        (int | None, 1.0, 1),
        (int | str, 1.0, 1),
        (bool | int, True, True),
        (bool | int, 1, 1),
        (int | str, "1", "1"),
        (Color | str, "red", Color.RED),
        (Color | str, "green", "green"),
        (Answer | str, "yes", Answer.YES),
        (Level | int, 7, Level.HIGH),
        (Level | int, 7.0, Level.HIGH),
        (Level | int, 8, 8),
        (Level | float, 1.5, 1.5),
        (Literal["red"] | str, "red", "red"),  # noqa: PYI051  # it says the same, and is told apart
        (Literal[1] | Literal[True], True, True),  # noqa: PYI030  # two members
        (Literal[1] | Literal[True], 1, 1),  # noqa: PYI030  # likewise
        (date | str, "2026-01-31", date(2026, 1, 31)),
        (date | str, "2026-02-30", "2026-02-30"),
        (date | datetime, "2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        (UUID | str, IDENTIFIER, UUID(IDENTIFIER)),
        (Path | IPv4Address, "127.0.0.1", IPv4Address("127.0.0.1")),
        (Path | IPv4Address, "127.0.0", Path("127.0.0")),
        (Degrees | IPv4Address, "127.0.0.1", Degrees("127.0.0.1")),
        (Degrees | Color | str, "red", Color.RED),
        (Decimal | str, "1.50", Decimal("1.50")),
        (Decimal | str, 2, Decimal(2)),
        (Decimal | str, "many", "many"),
        (bytes | str, "YQ==", b"a"),
        (list[int] | str, "1", "1"),
        (list[str] | str, ["1"], ["1"]),
        (Point | tuple[int, int], [1, 2], (1, 2)),
        (Point | tuple[int, int], {"x": 1, "y": 2}, Point(1, 2)),
        (Any | None, None, None),
        (Any | None, [1], [1]),
        (object | None, {"a": 1}, {"a": 1}),
    ],
)
def test_which_member_a_value_is_taken_for(annotation, value, expected):
    assert same(Codec(annotation).decode(value), expected)


@pytest.mark.parametrize(
    ("annotation", "value", "code"),
    [
        (int | str, 1.5, "wrong_type"),
        (int | str, None, "wrong_type"),
        (int | float, True, "wrong_type"),
        (int | float, "1", "wrong_type"),
        (Color | Answer, "maybe", "no_match"),
        (Color | int, "green", "not_one_of"),
        (date | UUID, "tomorrow", "no_match"),
        (date | int, "tomorrow", "bad_format"),
        (Level | Literal["a"], 2, "not_one_of"),
        (list[int] | int, "1", "wrong_type"),
    ],
)
def test_what_fits_no_member_of_a_union(annotation, value, code):
    [problem] = Codec(annotation).problems(value)
    assert (problem.path, problem.code) == ((), code)
    assert problem.expected


def test_problems_inside_the_one_member_that_a_value_may_be():
    [problem] = Codec(list[int] | str).problems([1, "x"])
    assert (problem.path, problem.code) == ((1,), "wrong_type")
    [problem] = Codec(dict[str, int | list[str]]).problems({"a": ["x", 5]})
    assert problem.path == ("a", 1)


def test_a_union_spells_out_what_it_takes_in_its_problems():
    tree = TypeAliasType("Tree", Union[int, "list[Tree]"])
    [problem] = Codec(tree, namespace={"Tree": tree}).problems(["x"])
    assert "object" not in problem.message


# --- unions of objects ---------------------------------------------------------------------------


def test_a_tag_tells_objects_apart():
    codec = Codec(list[Cat | Dog | Bird])
    values = [{"kind": "dog"}, {"kind": "bird"}, {"kind": "cat", "lives": 3}]
    assert codec.decode(values) == [Dog(), Bird("bird"), Cat("cat", 3)]
    assert codec.encode(codec.decode(values)) == [{"kind": "dog", "tricks": []}, *values[1:]]


def test_problems_with_tags():
    codec = Codec(list[Cat | Bird])
    found = codec.problems(
        [{"kind": "cta"}, {}, {"kind": "cat", "lives": "x"}, {"kind": None}, {"kind": ["cat"]}]
    )
    assert [(problem.path, problem.code) for problem in found] == [
        ((0, "kind"), "not_one_of"),
        ((1, "kind"), "missing"),
        ((2, "lives"), "wrong_type"),
        ((3, "kind"), "not_one_of"),
        ((4, "kind"), "not_one_of"),
    ]
    assert found[0].suggestion == '"cat"'
    assert '"cat" | "bird"' in found[1].message


def test_a_tag_with_a_default_may_be_left_out():
    codec = Codec(Cat | Dog)
    assert codec.decode({}) == Dog()
    assert codec.decode({"tricks": ["sit"]}) == Dog(tricks=["sit"])
    assert codec.problems({"kind": "cow"})[0].code == "not_one_of"
    assert codec.json_schema()["anyOf"][1]["properties"]["kind"] == {
        "type": "string",
        "enum": ["dog"],
        "default": "dog",
    }
    assert "required" not in codec.json_schema()["anyOf"][1]


def test_tags_that_all_have_defaults():
    @dataclass
    class Off:
        mode: Literal["off"] = "off"

    @dataclass
    class On:
        mode: Literal["on"] = "on"
        level: int = 5

    for annotation in (Off | On, On | Off):
        codec = Codec(annotation)
        assert codec.decode({"mode": "on"}) == On()
        assert codec.decode({"mode": "off"}) == Off()
        assert codec.decode({"level": 3}) == On("on", 3)
        assert codec.decode(codec.encode(Off())) == Off()
        check_agreement(
            annotation, [{}, {"mode": "on"}, {"mode": "x"}, {"level": "x"}, {"mode": "off", "level": "x"}]
        )


@pytest.mark.parametrize("tags", [(1, 2), (True, False), (1, True), ("a", None), (1, "1"), (0, False)])
def test_tags_of_every_kind(tags):
    one = make_dataclass("One", [("tag", Literal[tags[0]])])
    two = make_dataclass("Two", [("tag", Literal[tags[1]])])
    codec = Codec(one | two)
    for cls, tag in zip((one, two), tags, strict=True):
        assert same(codec.decode({"tag": tag}).tag, tag)
        assert type(codec.decode({"tag": tag})) is cls
        assert json.dumps(codec.encode(cls(tag))) == json.dumps({"tag": tag})
    assert codec.problems({"tag": 5})[0].code == "not_one_of"


def test_a_member_of_an_enum_as_a_tag():
    @dataclass
    class Red:
        color: Literal[Color.RED]

    @dataclass
    class Blue:
        color: Literal[Color.BLUE]

    codec = Codec(Red | Blue)
    assert codec.decode({"color": "blue"}) == Blue(Color.BLUE)
    assert codec.encode(Red(Color.RED)) == {"color": "red"}


def test_the_tag_counts_more_than_the_other_keys():
    codec = Codec(TaggedA | TaggedB)
    assert codec.decode({"kind": "dog", "a": "x"}) == {"kind": "dog", "a": "x"}
    [problem] = codec.problems({"kind": "dog", "a": 1})
    assert (problem.path, problem.code) == (("a",), "wrong_type")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "n"}, U1("n")),
        ({"name": "n", "a": 1}, U1("n", 1)),
        ({"name": "n", "b": 1}, U2("n", 1)),
        ({"name": "n", "a": "x"}, U2("n")),
        ({"name": "n", "a": 1, "b": 1}, U1("n", 1)),
        ({"name": "n", "b": 1, "c": 2, "d": 3}, U2("n", 1)),
    ],
)
def test_objects_without_a_tag_go_by_their_keys(value, expected):
    """The member that fits and leaves the fewest keys unused, then the one whose name comes first."""
    for annotation in (U1 | U2, U2 | U1):
        assert Codec(annotation).decode(value) == expected


def test_required_keys_tell_objects_apart():
    codec = Codec(U1 | U3)
    assert codec.decode({"name": "n", "b": 1}) == U3("n", 1)
    assert codec.decode({"name": "n"}) == U1("n")
    for value in (U1("n"), U3("n", 0)):
        assert codec.decode(codec.encode(value)) == value


def test_problems_of_objects_without_a_tag_are_those_of_the_nearest():
    for annotation in (Point | U1, U1 | Point):
        codec = Codec(annotation)
        assert [p.path for p in codec.problems({"x": "1", "y": 2})] == [("x",)]
        assert [p.path for p in codec.problems({"name": 5, "a": 2})] == [("name",)]


def test_closed_objects_are_told_apart_by_what_they_refuse():
    codec = Codec(U1 | U2, unknown_fields="reject")
    assert codec.decode({"name": "n", "b": 1}) == U2("n", 1)
    assert [(p.path, p.code) for p in codec.problems({"name": "n", "a": 1, "b": 1})] == [(("b",), "unknown")]
    assert not validator(codec.json_schema()).is_valid({"name": "n", "a": 1, "b": 1})


def test_a_subclass_beside_its_base():
    @dataclass
    class More(U1):
        c: int = 0

    for annotation in (U1 | More, More | U1):
        codec = Codec(annotation)
        for value in (U1("n", 1), More("n", 1, 0), More("n", 1, 2)):
            assert same(codec.decode(codec.encode(value)), value)


def test_an_empty_object_beside_another():
    @dataclass
    class Nothing:
        pass

    codec = Codec(Nothing | U1)
    assert codec.decode({}) == Nothing()
    assert codec.decode({"name": "n"}) == U1("n")


def test_a_union_as_a_field_without_its_null():
    @dataclass
    class Owner:
        pet: Cat | Dog | None
        pets: list[Cat | Dog | None] = field(default_factory=list)
        other: Cat | Dog | None = field(default_factory=Dog)

    properties = schema_of(Owner)["properties"]
    members = [schema_of(Cat), schema_of(Dog)]
    assert properties["pet"] == {"anyOf": members}
    assert properties["pets"] == array_of({"anyOf": [*members, NULL]})
    assert properties["other"] == {"anyOf": [*members, NULL]}
    codec = Codec(Owner)
    assert codec.decode({}) == Owner(None)
    assert codec.decode({"pet": None, "other": None}) == Owner(None, [], None)
    assert codec.decode({"pet": {"kind": "cat"}, "pets": [None]}) == Owner(Cat("cat"), [None])


# --- unions: spread out, described, recursive ----------------------------------------------------


def test_unions_inside_unions_are_spread_out():
    inner = TypeAliasType("inner", int | str)
    for annotation in (union_of([inner, None, int]), NewType("New", int | str) | None, inner | None):
        assert schema_of(annotation) == {"anyOf": [INTEGER, STRING, NULL]}


def test_a_described_union_inside_a_union_keeps_its_description():
    schema = schema_of(Annotated[int | str, "how many, or all"] | None)
    assert schema == {"anyOf": [{"anyOf": [INTEGER, STRING], "description": "how many, or all"}, NULL]}
    codec = Codec(Annotated[int | str, "how many, or all"] | None)
    assert [codec.decode(value) for value in (1, "all", None)] == [1, "all", None]


def test_equal_members_count_once():
    assert schema_of(str | NewType("Name", str)) == STRING
    assert schema_of(U1 | TypeAliasType("Same", U1) | None)["anyOf"] == [schema_of(U1), NULL]


@dataclass
class Sum:
    left: "Sum | Negation | int"
    right: "Sum | Negation | int" = 0


@dataclass
class Negation:
    of: "int | Negation | Sum"


def test_recursive_unions():
    for annotation in (Sum, Negation, Sum | Negation, Negation | Sum | int):
        check_agreement(
            annotation,
            [
                1,
                {"of": 1},
                {"of": {"of": {"left": 1}}},
                {"left": {"of": 2}, "right": 3},
                {"left": {}},
                {"of": "x"},
                {},
            ],
        )
    assert Codec(Sum).decode({"left": {"of": {"left": 1}}}) == Sum(Negation(Sum(1)))
    [problem] = Codec(Sum | int).problems({"left": {"of": "x"}})
    assert problem.path == ("left", "of")
    assert set(schema_of(Sum)["$defs"]) <= {"Sum", "Negation"}


def test_a_recursive_union_takes_time_that_grows_with_its_value():
    """Trying every member at every level would double at each."""
    value: Any = 1
    for _ in range(45):
        value = {"left": value, "right": 1}
    wrong = json.loads(json.dumps(value).replace('"left": 1', '"left": "x"'))
    codec = Codec(Sum | Negation)
    assert codec.problems(value) == ()
    assert [problem.code for problem in codec.problems(wrong)] == ["wrong_type"]


# --- unions: what can't be told apart ------------------------------------------------------------


@dataclass
class Twin:
    name: str
    a: int = 0


@dataclass
class Empty:
    pass


@dataclass
class Vacant:
    pass


@dataclass
class Kitten:
    kind: Literal["cat"]
    lives: int = 1


@dataclass
class OptionalA:
    a: int | None = None


@dataclass
class OptionalB:
    b: int | None = None


class Shade(enum.Enum):
    CRIMSON = "red"


@dataclass
class TaggedY:
    kind: Literal["y"] | None
    v: int = 0


@dataclass
class TaggedZ:
    kind: Literal["z"] = "z"
    v: int = 0


@dataclass
class BuiltA:
    kind: InitVar[Literal["a"]] = "a"
    v: int = 0


@dataclass
class BuiltB:
    kind: InitVar[Literal["b"]] = "b"
    v: int = 0


class Nothing(enum.Enum):
    NONE = None


class Bag:
    pass


@dataclass(frozen=True)
class Ge:
    ge: Any


BAG = {kind: SchemaLeaf(Bag, {"type": kind}, lambda _: Bag(), lambda _, v=value: v, Bag())
       for kind, value in {"array": [], "object": {}, "integer": 1, "string": "x"}.items()}  # fmt: skip
Box = Annotated[Bag, BAG["object"]]
AMBIGUOUS = {
    "twins": (U1, Twin, ("U1", "Twin"), "tag"),
    "empty objects": (Empty, Vacant, ("Empty", "Vacant"), "tag"),
    "one tag for two": (Cat, Kitten, ("Cat", "Kitten"), "tag"),
    "objects that may both be empty": (OptionalA, OptionalB, ("OptionalA", "OptionalB"), "tag"),
    "a tag that may be null": (TaggedY, TaggedZ, ("TaggedY", "TaggedZ"), "tag"),
    "tags that are not kept": (BuiltA, BuiltB, ("BuiltA", "BuiltB"), "tag"),
    "named tuple and dataclass": (Point, make_dataclass("Place", ["x", "y"]), ("Point", "Place"), "tag"),
    "objects and maps": (U1, dict[str, int], ("U1",), "Keep one"),
    "objects and object leaves": (U1, Box, ("U1", "Bag"), "Keep one"),
    "maps": (dict[str, int], dict[str, str], (), "Keep one"),
    "arrays": (list[int], list[str], (), "Keep one"),
    "arrays and sets": (list[int], set[int], (), "Keep one"),
    "arrays and tuples": (list[int], tuple[int, int], (), "Keep one"),
    "tuples": (tuple[int], tuple[int, int], (), "Keep one"),
    "arrays and array leaves": (list[int], Annotated[Bag, BAG["array"]], ("Bag",), "Keep one"),
    "strings": (str, Annotated[str, "described"], (), "Keep one"),
    "constrained numbers": (int, Annotated[int, Ge(1)], (), "Keep one"),
    "literals": (Literal["a", "b"], Literal["b", "c"], ("'a'", "'c'"), "Keep one"),
    "numbers of one value": (Literal[1], Literal[1.0, 2], ("1", "2"), "Keep one"),
    "enums": (Color, Shade, ("Color", "Shade"), "Keep one"),
    "an enum and a literal": (Color, Literal["red"], ("Color", "'red'"), "Keep one"),
    "URLs": (SplitResult, ParseResult, ("SplitResult", "ParseResult"), "Keep one"),
    "paths": (Path, PurePath, ("Path", "PurePath"), "Keep one"),
    "leaves of one's own": (Degrees, Annotated[Bag, BAG["string"]], ("Degrees", "Bag"), "Keep one"),
    "a leaf of numbers and integers": (Annotated[Bag, BAG["integer"]], int, ("Bag", "integer"), "Keep one"),
    "a leaf of integers and numbers": (Annotated[Bag, BAG["integer"]], float, ("Bag", "number"), "Keep one"),
    "decimals and integers": (Decimal, int, ("Decimal", "integer"), "Keep one"),
    "decimals and numbers": (Decimal, float, ("Decimal", "number"), "Keep one"),
    "anything and integers": (Any, int, ("any value", "integer"), "Keep one"),
    "any object and a class": (object, U1, ("any value", "U1"), "Keep one"),
    "null that means two things": (Nothing, None, ("Nothing", "null"), "Keep one"),
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_can_t_be_told_apart_is_said_with_its_fix(kind):
    one, other, names, fix = AMBIGUOUS[kind]
    for order in ((one, other), (other, one)):
        complaint = complaint_of(union_of(order))
        assert (complaint.path, complaint.code) == ((), "ambiguous")
        assert all(name in complaint.message for name in names)
        assert fix in complaint.remedy


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_the_two_that_can_t_be_told_apart_are_named(kind):
    one, other, _, _ = AMBIGUOUS[kind]
    first, found, rest = complaint_of(union_of([one, other])).message.partition(" and ")
    assert found
    assert not rest.startswith(first)


def test_where_an_ambiguous_union_stands():
    @dataclass
    class Holder:
        plain: int
        deep: dict[str, list[U1 | Twin]]
        pair: tuple[int, Color | Shade | None]
        nullable: list[int] | set[int] | None = None

    assert [(c.path, c.type) for c in complaints_of(Holder)] == [
        (("deep", "*", "*"), "Holder"),
        (("pair", "*"), "Holder"),
        (("nullable",), "Holder"),
    ]


def test_each_pair_is_named():
    messages = [complaint.message for complaint in complaints_of(U1 | Twin | Empty | Vacant)]
    assert len(messages) == 2


needs_3_12_bases = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="a TypedDict knows its bases since Python 3.12"
)


# --- TypedDict -----------------------------------------------------------------------------------

TYPED_DICTS = """
{future}
from typing import Annotated, NotRequired, Required, TypedDict
from typing_extensions import ReadOnly

class Base(TypedDict):
    '''A base.

    Args:
        a: The first.
    '''
    a: int
    b: NotRequired[str]
    c: NotRequired["str | None"]

class Derived(Base, total=False):
    '''A derived one.

    Args:
        d: The fourth.
    '''
    d: bool
    e: Required[Annotated[float, "The fifth"]]
    f: Annotated[Required[int], "The sixth"]
    g: ReadOnly[Required[int]]
    h: Required[ReadOnly[list[Base]]]
    i: ReadOnly[int]

class Whole(Derived):
    j: int | None
    k: NotRequired[ReadOnly[int]]
"""
REQUIRED = {
    "Base": ["a"],
    "Derived": ["a", "e", "f", "g", "h"],
    "Whole": ["a", "e", "f", "g", "h", "j"],
}


@FUTURE
@pytest.mark.parametrize("name", REQUIRED)
def test_which_keys_of_a_typed_dict_are_required(define, future, name):
    cls = getattr(define(TYPED_DICTS.format(future=future)), name)
    assert schema_of(cls)["required"] == REQUIRED[name]


@FUTURE
def test_a_typed_dict(define, future):
    module = define(TYPED_DICTS.format(future=future))
    properties = schema_of(module.Whole)["properties"]
    assert list(properties) == list("abcdefghijk")
    assert properties["c"] == {"anyOf": [STRING, NULL]}
    assert properties["e"] == {"type": "number", "description": "The fifth"}
    assert properties["f"] == {"type": "integer", "description": "The sixth"}
    assert properties["g"] == properties["i"] == properties["k"] == INTEGER
    assert properties["h"]["type"] == "array"
    assert properties["j"] == {"anyOf": [INTEGER, NULL]}
    codec = Codec(module.Whole)
    value = {"a": 1, "e": 2, "f": 3.0, "g": 4, "h": [{"a": 5, "c": None}], "j": None}
    decoded = codec.decode(value)
    assert decoded == value
    assert type(decoded) is dict
    assert same(decoded["e"], 2.0)
    assert same(decoded["f"], 3)
    assert codec.encode(decoded) == value
    assert {p.path for p in codec.problems({})} == {(key,) for key in REQUIRED["Whole"]}
    assert [p.path for p in codec.problems({**value, "b": None, "d": None})] == [("b",), ("d",)]


@FUTURE
def test_a_key_that_is_not_required_in_quotes(define, future):
    module = define(f"""
        {future}
        from typing import NotRequired, TypedDict
        class Quoted(TypedDict):
            a: "int"
            b: "NotRequired[int]"
    """)
    assert schema_of(module.Quoted)["required"] == ["a"]


@FUTURE
def test_descriptions_of_a_typed_dict(define, future):
    properties = schema_of(define(TYPED_DICTS.format(future=future)).Derived)["properties"]
    assert properties["d"]["description"] == "The fourth."
    assert properties["e"]["description"] == "The fifth"


@needs_3_12_bases
@FUTURE
def test_a_typed_dict_inherits_descriptions(define, future):
    properties = schema_of(define(TYPED_DICTS.format(future=future)).Derived)["properties"]
    assert properties["a"]["description"] == "The first."


def test_param_descriptions_of_a_typed_dict():
    class Described(TypedDict):
        a: int
        param_descriptions = {"a": "The first"}  # type: ignore[misc]  # type checkers want it outside

    assert property_of(Described, "a") == {"type": "integer", "description": "The first"}


def test_a_typed_dict_of_a_functional_call():
    made = TypedDict("made", {"it's": int, "class": NotRequired[str], "": "bool"}, total=True)
    assert schema_of(made)["required"] == ["it's", ""]
    assert Codec(made).decode({"it's": 1, "": True}) == {"it's": 1, "": True}


def test_a_typed_dict_without_keys():
    assert schema_of(TypedDict("Bare", {})) == {"type": "object", "properties": {}}
    assert Codec(TypedDict("Bare", {})).decode({"a": 1}) == {}


T = TypeVar("T")
U = TypeVar("U")


class GenericDict(TypedDict, Generic[T]):
    x: T
    more: NotRequired[list[T]]


class IntDict(GenericDict[int]):
    y: str


class DeepDict(IntDict, total=False):
    z: bool


def test_a_generic_typed_dict():
    assert schema_of(GenericDict[int])["properties"] == {"x": INTEGER, "more": array_of(INTEGER)}
    assert schema_of(GenericDict)["properties"] == {"x": {}, "more": array_of({})}
    assert codes_of(GenericDict[int], {"x": "1"}) == ["wrong_type"]
    assert property_of(GenericDict[GenericDict[str]], "x") == schema_of(GenericDict[str])


def test_a_typed_dict_that_inherits_from_a_generic_one():
    assert schema_of(IntDict)["properties"] == {"x": INTEGER, "more": array_of(INTEGER), "y": STRING}
    assert codes_of(IntDict, {"x": "1", "y": "a"}) == ["wrong_type"]


@needs_3_12_bases
def test_a_typed_dict_two_steps_from_a_generic_one():
    assert schema_of(DeepDict)["properties"] == {
        "x": INTEGER,
        "more": array_of(INTEGER),
        "y": STRING,
        "z": {"type": "boolean"},
    }


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a TypedDict knows its bases since Python 3.12")
def test_a_typed_dict_that_has_forgotten_what_its_parameter_means():
    assert {complaint.path for complaint in complaints_of(DeepDict)} == {("x",), ("more", "*")}


def test_a_closed_typed_dict_says_so_itself():
    class Closed(typing_extensions.TypedDict, closed=True):
        a: int

    class Open(typing_extensions.TypedDict, closed=False):
        a: int

    @dataclass
    class Holder:
        closed: Closed
        open: Open

    schema = schema_of(Holder)
    assert schema["properties"]["closed"]["additionalProperties"] is False
    assert "additionalProperties" not in schema["properties"]["open"]
    assert "additionalProperties" not in schema
    surplus = {"a": 1, "b": 2}
    [problem] = Codec(Holder).problems({"closed": surplus, "open": surplus, "c": 3})
    assert (problem.path, problem.code) == (("closed", "b"), "unknown")
    with pytest.raises(EncodeError):
        Codec(Closed).encode(surplus)
    assert Codec(Open).encode(surplus) == {"a": 1}


def test_typed_dicts_inside_other_types():
    check_agreement(GenericDict[int] | None)
    check_agreement(list[TaggedA | TaggedB])
    assert Codec(dict[str, TaggedA]).decode({"k": {"kind": "cat", "a": 1}}) == {"k": {"kind": "cat", "a": 1}}


# --- NamedTuple ----------------------------------------------------------------------------------


class Stop(NamedTuple):
    """A stop on the way.

    Args:
        name: What it is called.
    """

    name: str
    at: Annotated[Point, "Where it is"]
    note: str | None = None
    days: tuple[int, ...] = (1, 2)
    level: Level | None = Level.LOW

    param_descriptions = {"days": "When to stop"}


def test_a_named_tuple():
    assert schema_of(Stop) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "at": {**schema_of(Point), "description": "Where it is"},
            "note": STRING,
            "days": array_of(INTEGER, description="When to stop", default=[1, 2]),
            "level": {"anyOf": [{"type": "integer", "enum": [1, 7]}, NULL], "default": 1},
        },
        "required": ["name", "at"],
    }
    codec = Codec(Stop)
    stop = codec.decode({"name": "a", "at": {"x": 1}})
    assert same(stop, Stop("a", Point(1), None, (1, 2), Level.LOW))
    assert codec.encode(stop) == {"name": "a", "at": {"x": 1, "y": 0}, "days": [1, 2], "level": 1}
    assert codec.decode({"name": "a", "at": {"x": 1}, "level": None}).level is None
    assert codes_of(Stop, ["a", [1, 2]]) == ["wrong_type"]
    check_agreement(Stop)


def test_a_named_tuple_of_collections():
    plain = namedtuple("plain", "a b c", defaults=[3])  # noqa: PYI024  # the other kind is tested above
    assert schema_of(plain) == {
        "type": "object",
        "properties": {"a": {}, "b": {}, "c": {"default": 3}},
        "required": ["a", "b"],
    }
    assert same(Codec(plain).decode({"a": None, "b": [1]}), plain(None, [1], 3))
    assert Codec(plain).encode(plain(1, "x", None)) == {"a": 1, "b": "x", "c": None}
    renamed = namedtuple("renamed", "a class a", rename=True)  # noqa: PYI024  # likewise
    assert list(schema_of(renamed)["properties"]) == ["a", "_1", "_2"]


class GenericTuple(NamedTuple, Generic[T]):
    x: T
    y: int = 3


class TextTuple(GenericTuple[str]):
    def shout(self):
        return self.x.upper()


def test_generic_and_inherited_named_tuples():
    assert property_of(GenericTuple[int], "x") == INTEGER
    assert property_of(TextTuple, "x") == STRING
    decoded = Codec(TextTuple).decode({"x": "a"})
    assert type(decoded) is TextTuple
    assert decoded.shout() == "A"


@FUTURE
def test_a_named_tuple_in_source(define, future):
    module = define(f"""
        {future}
        from typing import NamedTuple
        class Chain(NamedTuple):
            value: int
            next: "Chain | None" = None
    """)
    codec = Codec(module.Chain)
    assert codec.decode({"value": 1, "next": {"value": 2}}) == module.Chain(1, module.Chain(2))
    assert set(schema_of(module.Chain)["$defs"]) == {"Chain"}


# --- dataclasses ---------------------------------------------------------------------------------

INIT_VARS = """
{future}
import dataclasses
from dataclasses import InitVar, dataclass, field
from typing import Annotated

@dataclass
class Built:
    width: int
    height: InitVar[int]
    unit: InitVar["str | None"] = None
    scale: dataclasses.InitVar[Annotated[int, "How large"]] = 2
    area: int = field(init=False, default=0)

    def __post_init__(self, height, unit, scale):
        self.area = self.width * height * scale
        self.unit = unit
"""


@FUTURE
def test_init_vars(define, future):
    built = define(INIT_VARS.format(future=future)).Built
    assert schema_of(built) == {
        "type": "object",
        "properties": {
            "width": INTEGER,
            "height": INTEGER,
            "unit": STRING,
            "scale": {"type": "integer", "description": "How large", "default": 2},
        },
        "required": ["width", "height"],
    }
    codec = Codec(built)
    assert codec.decode({"width": 2, "height": 3}).area == 12
    assert codec.decode({"width": 2, "height": 3, "unit": "cm", "scale": 1}).unit == "cm"
    assert codec.problems({"width": 2})[0].path == ("height",)
    with pytest.raises(EncodeError) as caught:
        codec.encode(built(1, 2))
    assert [(p.path, p.code) for p in caught.value.problems] == [(("height",), "missing")]


def test_an_init_var_with_a_default_is_left_out_of_what_is_encoded():
    @dataclass
    class Seeded:
        a: int
        seed: InitVar[int] = 0

        def __post_init__(self, seed):
            self.a += seed

    assert Codec(Seeded).decode({"a": 1, "seed": 2}) == Seeded(3)
    assert Codec(Seeded).encode(Seeded(1, 2)) == {"a": 3}


KEYWORD_ONLY = """
{future}
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

@dataclass
class Base:
    a: int = 1
    _: KW_ONLY
    b: str
    constant: ClassVar[int] = 5

@dataclass
class Derived(Base):
    c: float = 0.5
    d: bool = field(kw_only=True)

@dataclass(kw_only=True)
class All:
    a: int = 1
    b: str
"""


@FUTURE
def test_keyword_only_fields(define, future):
    module = define(KEYWORD_ONLY.format(future=future))
    assert schema_of(module.Derived)["required"] == ["b", "d"]
    assert list(schema_of(module.Derived)["properties"]) == ["a", "b", "c", "d"]
    decoded = Codec(module.Derived).decode({"b": "x", "d": True, "_": 1, "constant": 2})
    assert decoded == module.Derived(1, 0.5, b="x", d=True)
    assert Codec(module.Derived).encode(decoded) == {"a": 1, "b": "x", "c": 0.5, "d": True}
    assert Codec(module.All).decode({"b": "x"}) == module.All(b="x")


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("slots", [False, True])
def test_frozen_and_slotted_dataclasses(frozen, slots):
    @dataclass(frozen=frozen, slots=slots)
    class Base:
        a: int
        b: tuple[int, ...] = (1,)

    @dataclass(frozen=frozen, slots=slots)
    class Derived(Base):
        c: list[Base] = field(default_factory=list)
        d: frozenset[str] = frozenset({"x"})

    assert Codec(Derived).decode({"a": 1, "c": [{"a": 2, "b": [3, 4]}]}) == Derived(
        1, (1,), [Base(2, (3, 4))]
    )
    assert property_of(Derived, "d")["default"] == ["x"]
    assert Codec(Derived).encode(Derived(1)) == {"a": 1, "b": [1], "c": [], "d": ["x"]}
    assert set(schema_of(Derived)["required"]) == {"a"}


def test_frozen_dataclasses_in_a_set():
    @dataclass(frozen=True)
    class Key:
        a: int
        b: str = ""

    codec = Codec(set[Key])
    assert codec.decode([{"a": 1}, {"a": 2}]) == {Key(1), Key(2)}
    assert [(p.path, p.code) for p in codec.problems([{"a": 1}, {"a": 1, "b": ""}])] == [((1,), "duplicate")]


@FUTURE
def test_finals_and_class_variables(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        from typing import Annotated, ClassVar, Final
        @dataclass
        class Some:
            a: Final[int]
            b: Annotated[Final[str | None], "maybe"] = None
            c: ClassVar[int] = 3
            d: ClassVar = 4
            e: Final[list[int]] = None
    """)
    assert schema_of(module.Some) == {
        "type": "object",
        "properties": {
            "a": INTEGER,
            "b": {"type": "string", "description": "maybe"},
            "e": array_of(INTEGER),
        },
        "required": ["a"],
    }
    assert Codec(module.Some).decode({"a": 1}) == module.Some(1)


def test_a_final_that_leaves_its_type_open():
    @dataclass
    class Open:
        a: Final = 3

    assert (complaint_of(Open).path, complaint_of(Open).code) == (("a",), "unsupported")


def test_a_new_type_is_what_it_stands_for():
    one = NewType("one", int)
    two = NewType("two", Annotated[one, "a number"])
    assert schema_of(two) == {"type": "integer", "description": "a number"}
    assert same(Codec(NewType("Users", list[two])).decode([1.0]), [1])
    assert schema_of(NewType("Cats", Cat)) == schema_of(Cat)


@dataclass
class Selfish:
    children: list[Self] = field(default_factory=list)
    parent: Self | None = None


@dataclass
class Named(Selfish):
    name: str = ""


class SelfishTuple(NamedTuple):
    value: int
    next: Optional["Self"] = None


@dataclass
class SelfishBox(Generic[T]):
    value: T
    next: Self | None = None


def test_self():
    value = {"children": [{"name": "x", "parent": {"name": "y"}}], "name": "z"}
    assert Codec(Named).decode(value) == Named([Named([], Named([], None, "y"), "x")], None, "z")
    assert set(schema_of(Named)["$defs"]) == {"Named"}
    assert set(schema_of(Selfish)["$defs"]) == {"Selfish"}
    assert type(Codec(Selfish).decode(value).children[0]) is Selfish


def test_self_in_generic_classes_and_named_tuples():
    codec = Codec(SelfishBox[int])
    assert codec.decode({"value": 1, "next": {"value": 2}}) == SelfishBox(1, SelfishBox(2))
    assert codec.problems({"value": 1, "next": {"value": "x"}})[0].path == ("next", "value")
    assert Codec(SelfishTuple).decode({"value": 1, "next": {"value": 2}}) == SelfishTuple(1, SelfishTuple(2))


def test_self_outside_a_class():
    assert complaint_of(Self).code == "unsupported"
    assert complaint_of(list[Self]).path == ("*",)


HARD_NAMES = [
    "self", "cls", "json", "title", "type", "properties", "items", "required", "copy", "model_dump",
    "größe", "名前",
    "x_", "_x", "fields", "value", "path", "node", "dict", "None_", "MISSING", "object", "len",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["dataclass", "frozen", "typed_dict", "named_tuple"])
def test_fields_of_hard_names(kind):
    names = [name for name in HARD_NAMES if not (kind == "named_tuple" and name.startswith("_"))]
    made: Any = {
        "dataclass": lambda: make_dataclass("made", [(name, int) for name in names]),
        "frozen": lambda: make_dataclass("made", [(name, int) for name in names], frozen=True, slots=True),
        "typed_dict": lambda: TypedDict("made", dict.fromkeys(names, int)),
        "named_tuple": lambda: NamedTuple("made", [(name, int) for name in names]),
    }[kind]()
    value = {name: i for i, name in enumerate(names)}
    codec = Codec(made)
    assert schema_of(made)["properties"] == dict.fromkeys(names, INTEGER)
    decoded = codec.decode(value)
    assert decoded == made(**value)
    assert codec.encode(decoded) == value
    assert codec.decode_json(json.dumps(value)) == decoded


@pytest.mark.parametrize("count", [0, 1, 500])
def test_dataclasses_of_many_fields(count):
    made = make_dataclass("Many", [(f"f{i}", int if i % 2 else list[int]) for i in range(count)])
    value = {f"f{i}": i if i % 2 else [i] for i in range(count)}
    codec = Codec(made)
    assert len(schema_of(made)["properties"]) == count
    assert codec.encode(codec.decode(value)) == value
    if count == 500:
        [problem] = codec.problems({**value, "f499": "x"})
        assert problem.path == ("f499",)
        with pytest.raises(DecodeError) as caught:
            codec.decode({})
        assert len(str(caught.value)) <= 2000


# --- generic classes -----------------------------------------------------------------------------

B = TypeVar("B", bound=int)
Forward = TypeVar("Forward", bound="Cat")
C = TypeVar("C", int, str)
D = typing_extensions.TypeVar("D", default=int)
DefaultNone = typing_extensions.TypeVar("DefaultNone", default=None)
DefaultOther = typing_extensions.TypeVar("DefaultOther", default=list[D])


@dataclass
class User:
    name: str


@dataclass
class Page(Generic[T]):
    items: list[T]
    first: T | None = None


@dataclass
class Users(Page[User]):
    total: int = 0


@dataclass
class MorePages(Page[U]):
    extra: U | None = None


@dataclass
class Strings(MorePages[str]):
    pass


@dataclass
class Pair(Generic[T, U]):
    a: T
    b: U


@dataclass
class Swapped(Pair[U, T], Generic[T, U]):
    c: T


@dataclass
class HoldsSwapped(Generic[T, U]):
    pair: Pair[U, T]


@dataclass
class Node(Generic[T]):
    value: T
    children: "list[Node[T]]" = field(default_factory=list)


@dataclass
class Bounded(Generic[B]):
    x: B


@dataclass
class HoldsBounded(Generic[B]):
    x: Bounded[B]


@dataclass
class Constrained(Generic[C]):
    x: C


@dataclass
class Defaulted(Generic[D]):
    x: D


def test_a_generic_dataclass():
    assert schema_of(Page[int]) == {
        "type": "object",
        "properties": {"items": array_of(INTEGER), "first": INTEGER},
        "required": ["items"],
    }
    assert Codec(Page[User]).decode({"items": [{"name": "x"}]}) == Page([User("x")])
    assert codes_of(Page[int], {"items": ["x"], "first": 1.5}) == ["wrong_type", "wrong_type"]


def test_a_generic_dataclass_without_arguments_takes_anything():
    assert schema_of(Page)["properties"] == {"items": array_of({}), "first": {}}


def test_a_generic_dataclass_given_a_nullable():
    assert schema_of(Pair[int | None, str]) == {
        "type": "object",
        "properties": {"a": INTEGER, "b": STRING},
        "required": ["b"],
    }
    assert Codec(Pair[int | None, str]).decode({"b": "x"}) == Pair(None, "x")
    assert property_of(Page[int | None], "items") == array_of({"anyOf": [INTEGER, NULL]})


def test_a_generic_dataclass_inside_itself():
    assert property_of(Page[Page[int]], "items") == array_of(schema_of(Page[int]))
    value = {"items": [{"items": [1]}], "first": {"items": []}}
    assert Codec(Page[Page[int]]).decode(value) == Page([Page([1])], Page([]))
    assert "$defs" not in schema_of(Page[Page[int]])


def test_generic_dataclasses_inherited():
    assert property_of(Users, "items") == array_of(schema_of(User))
    assert Codec(Users).decode({"items": [{"name": "x"}], "total": 1}) == Users([User("x")], None, 1)
    assert schema_of(Strings)["properties"] == {"items": array_of(STRING), "first": STRING, "extra": STRING}
    assert property_of(MorePages[bool], "first") == {"type": "boolean"}
    assert property_of(MorePages, "first") == {}


def test_type_parameters_that_change_places():
    assert schema_of(Swapped[int, str])["properties"] == {"a": STRING, "b": INTEGER, "c": INTEGER}
    assert property_of(HoldsSwapped[int, str], "pair")["properties"] == {"a": STRING, "b": INTEGER}


def test_type_parameters_that_change_places_and_are_left_open():
    assert schema_of(Swapped)["properties"] == {"a": {}, "b": {}, "c": {}}
    assert property_of(HoldsSwapped, "pair")["properties"] == {"a": {}, "b": {}}


def test_recursive_generic_dataclasses():
    codec = Codec(Node[int])
    assert codec.decode({"value": 1, "children": [{"value": 2}]}) == Node(1, [Node(2)])
    assert codec.problems({"value": 1, "children": [{"value": "x"}]})[0].path == ("children", 0, "value")
    schema = schema_of(Pair[Node[int], Node[str]])
    assert schema["properties"]["a"] == {"$ref": "#/$defs/Node_int"}
    assert schema["properties"]["b"] == {"$ref": "#/$defs/Node_str"}
    assert schema["$defs"]["Node_int"]["properties"]["value"] == INTEGER
    assert schema["$defs"]["Node_str"]["properties"]["value"] == STRING
    assert Codec(Node[Node[int]]).decode({"value": {"value": 1}}) == Node(Node(1))
    assert len(schema_of(Node[Node[int]])["$defs"]) == 2


def test_a_recursive_generic_that_grows_is_refused():
    @dataclass
    class Growing(Generic[T]):
        value: T
        next: "Growing[list[T]] | None" = None

    complaint = complaints_of(Growing[int], namespace={"Growing": Growing})[0]
    assert complaint.code == "too_deep"


def test_definitions_of_generic_classes_do_not_depend_on_the_order():
    one = make_dataclass("User", [("a", int)])
    two = make_dataclass("User", [("b", str)])
    one.__module__, two.__module__ = "one", "two"
    found = []
    for order in itertools.permutations([Node[one], Node[two], Node[int]]):
        made = make_dataclass("Made", [(f"f{i}", annotation) for i, annotation in enumerate(order)])
        found.append(schema_of(made)["$defs"])
    assert len(found[0]) == 3
    assert all(definitions == found[0] for definitions in found)


@dataclass
class HandsOn(Bounded[B]):
    pass


@dataclass
class LeavesOpen(HandsOn):
    z: int = 0


@dataclass
class LeavesOpenToo(LeavesOpen):
    pass


@dataclass
class NamesAnother(Bounded[int]):
    other: T  # which nothing says anything about


def test_a_base_that_is_left_open_takes_its_bound():
    for cls in (HandsOn, LeavesOpen, LeavesOpenToo):
        assert {"type": "integer"} in schema_of(cls)["properties"].values()
    assert complaint_of(NamesAnother).path == ("other",)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a TypedDict knows its bases since Python 3.12")
def test_a_typed_dict_whose_base_is_left_open():
    class Handed(GenericDict[T]):
        pass

    class Open(Handed):
        b: int

    assert schema_of(Open)["properties"]["b"] == {"type": "integer"}
    assert {} in schema_of(Open)["properties"].values()


Several = TypeVarTuple("Several")


@dataclass
class Last(Generic[*Several, T]):
    x: T


@dataclass
class LastIsBool(Last[int, str, bool]):
    pass


def test_type_parameters_beside_a_tuple_of_them():
    for annotation in (Last[int, str, bool], Last[bool], LastIsBool):
        assert schema_of(annotation)["properties"] == {"x": {"type": "boolean"}}
    assert schema_of(Last)["properties"] == {"x": {}}


def test_bounds_constraints_and_defaults_of_type_parameters():
    assert property_of(Bounded, "x") == INTEGER
    assert property_of(Bounded[bool], "x") == {"type": "boolean"}
    assert property_of(Constrained, "x") == {"anyOf": [INTEGER, STRING]}
    assert property_of(Constrained[str], "x") == STRING
    assert property_of(Defaulted, "x") == INTEGER
    assert property_of(Defaulted[str], "x") == STRING
    assert schema_of(T) == {}
    assert schema_of(B) == INTEGER
    assert schema_of(C) == {"anyOf": [INTEGER, STRING]}
    assert schema_of(D) == INTEGER
    assert schema_of(DefaultOther) == array_of(INTEGER)


def test_a_bound_that_is_a_forward_reference():
    made = make_dataclass("Made", [("pet", Forward)], bases=(Generic[Forward],))
    assert property_of(made, "pet", namespace={"Cat": Cat}) == schema_of(Cat)


def test_a_bound_still_holds_in_a_class_that_hands_its_parameter_on():
    assert property_of(HoldsBounded, "x") == schema_of(Bounded)
    assert property_of(HoldsBounded[bool], "x") == schema_of(Bounded[bool])


def test_a_type_parameter_whose_default_is_none():
    made = make_dataclass("Made", [("x", DefaultNone)], bases=(Generic[DefaultNone],))
    assert schema_of(DefaultNone) == NULL
    assert Codec(made).decode({"x": None}).x is None
    assert codes_of(made, {"x": 1}) == ["wrong_type"]


Ts = TypeVarTuple("Ts")
P = ParamSpec("P")


@pytest.mark.parametrize(
    "annotation",
    [
        tuple[int, *Ts],
        tuple[*Ts],
        tuple[int, *tuple[str, ...]],
        tuple[*tuple[int, ...]],
        collections.abc.Callable[P, int],
        collections.abc.Callable[..., int],
        Generic,
        Generic[T],
        Required,
        Literal,
        Union,
        Optional,
        Annotated,
        types.UnionType,
        types.GenericAlias,
        typing.Protocol,
        typing.LiteralString,
        typing.Never,
        typing.NoReturn,
        typing.Iterator[int],
        typing.Awaitable[int],
        collections.defaultdict[str, int],
        collections.Counter[str],
        bytearray,
        range,
        ...,
        NotImplemented,
        [int],
        (int, str),
        3,
        Ge(1),
    ],
    ids=repr,
)
def test_what_has_no_meaning_is_refused(annotation):
    for odd in (annotation, list[annotation], make_dataclass("Odd", [("field", annotation)])):
        assert {complaint.code for complaint in complaints_of(odd)} <= {"unsupported", "unresolved"}


@pytest.mark.parametrize("annotation", [ClassVar[int], InitVar[int], KW_ONLY], ids=repr)
def test_what_has_a_meaning_as_a_field_alone(annotation):
    assert complaint_of(annotation).code == "unsupported"
    assert complaint_of(list[annotation]).path == ("*",)


# --- aliases -------------------------------------------------------------------------------------

Json = TypeAliasType("Json", Union[str, int, float, bool, "list[Json]", "dict[str, Json]", None])
Tree = TypeAliasType("Tree", Union[T, "list[Tree[T]]"], type_params=(T,))
Both = TypeAliasType("Both", tuple[T, T], type_params=(T,))
Size = TypeAliasType("Size", Annotated[int, "How many"])
Loop = TypeAliasType("Loop", "Loop")
LoopInUnion = TypeAliasType("LoopInUnion", Union[int, "LoopInUnion"])
LoopInKey = TypeAliasType("LoopInKey", "dict[LoopInKey, int]")
Ping = TypeAliasType("Ping", Union[int, "Pong"])
Pong = TypeAliasType("Pong", Union[str, "Ping"])
Endless = TypeAliasType("Endless", Union[T, "list[Endless[list[T]]]"], type_params=(T,))
Broken = TypeAliasType("Broken", "list[Nowhere]")  # noqa: F821  # on purpose


def test_an_alias_is_what_it_stands_for():
    assert schema_of(Size) == {"type": "integer", "description": "How many"}
    assert schema_of(list[Size]) == array_of(schema_of(Size))
    assert schema_of(Both[int]) == schema_of(tuple[int, int])
    assert schema_of(Both) == schema_of(tuple[Any, Any])
    assert Codec(Both[Size]).decode([1, 2.0]) == (1, 2)
    made = make_dataclass("Made", [("size", Size), ("maybe", Size | None), ("own", Annotated[Size, "Mine"])])
    assert schema_of(made) == {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "description": "How many"},
            "maybe": {"type": "integer", "description": "How many"},
            "own": {"type": "integer", "description": "Mine"},
        },
        "required": ["size", "own"],
    }


def test_a_recursive_alias():
    reference = {"$ref": "#/$defs/Json"}
    members = [STRING, INTEGER, NUMBER, {"type": "boolean"}, array_of(reference),
               {"type": "object", "additionalProperties": reference}, NULL]  # fmt: skip
    assert schema_of(Json) == {"anyOf": members, "$defs": {"Json": {"anyOf": members}}}
    assert schema_of(list[Json])["items"] == reference
    check_agreement(Json)
    for value in PROBES:
        assert same_json(Codec(Json).decode(value), value)


def test_a_recursive_alias_does_not_share_with_its_input():
    value = {"a": [1, {"b": []}]}
    decoded = Codec(Json).decode(value)
    assert decoded == value
    assert decoded is not value
    assert decoded["a"] is not value["a"]


def test_a_recursive_generic_alias():
    assert Codec(Tree[int]).decode([1, [2, [3.0]]]) == [1, [2, [3]]]
    assert Codec(Tree[int]).problems([1, ["x"]])[0].path == (1, 0)
    check_agreement(Tree[int])
    check_agreement(Tree[Color])


def test_definitions_of_generic_aliases_do_not_depend_on_the_order():
    found = []
    for order in itertools.permutations([Tree[int], Tree[str], Tree[bool]]):
        made = make_dataclass("Made", [(f"f{i}", annotation) for i, annotation in enumerate(order)])
        found.append(schema_of(made)["$defs"])
    assert len(found[0]) == 3
    assert all(definitions == found[0] for definitions in found)


@pytest.mark.parametrize("alias", [Loop, LoopInUnion, LoopInKey, Ping, Pong, Endless[int], Broken], ids=str)
def test_aliases_that_stand_for_nothing(alias):
    complaints = complaints_of(alias)
    assert complaints[0].code in {"unsupported", "unresolved", "too_deep"}
    assert complaints_of(list[alias])
    assert complaints_of(make_dataclass("Made", [("x", alias | None)]))


def test_an_alias_that_stands_for_itself_says_so():
    for alias in (Loop, LoopInUnion, Ping):
        assert "stands for itself" in complaint_of(alias).message
    assert complaint_of(Broken).code == "unresolved"
    assert "Nowhere" in complaint_of(Broken).message


Rows = TypeAliasType("Rows", "list[Rows] | None")
Chained = TypeAliasType("Chained", "ChainLink | None")


@dataclass
class ChainLink:
    next: Chained


@dataclass
class Nullables:
    recursive: Rows
    alias: TypeAliasType("Count", int | None)
    inner: Annotated[int | None, "d"] | str
    described: Annotated[None, "d"] | int
    plain: Annotated[int, "d"] | str


def test_null_inside_an_alias_or_a_described_union_makes_a_field_not_required():
    assert schema_of(Nullables)["required"] == ["plain"]
    codec = Codec(Nullables)
    decoded = codec.decode({"plain": "a"})
    assert decoded == Nullables(None, None, None, None, "a")
    assert codec.encode(decoded) == {"plain": "a"}
    full = {"recursive": [None, []], "alias": 1, "inner": "a", "described": 5, "plain": 1}
    assert codec.encode(codec.decode(full)) == full
    assert validator(codec.json_schema()).is_valid(full)


def test_null_in_an_alias_that_comes_round_through_a_class():
    for annotation in (ChainLink, Chained):
        assert Codec(annotation).decode({"next": {}}) == ChainLink(ChainLink(None))
        assert Codec(annotation).encode(ChainLink(ChainLink(None))) == {"next": {}}


def test_an_alias_of_a_recursive_dataclass():
    alias = TypeAliasType("alias", Node[int] | None)
    assert Codec(alias).decode({"value": 1, "children": [{"value": 2}]}) == Node(1, [Node(2)])
    assert Codec(alias).decode(None) is None


# --- PEP 695 and PEP 696 -------------------------------------------------------------------------

needs_3_12 = pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with Python 3.12")
needs_3_13 = pytest.mark.skipif(sys.version_info < (3, 13), reason="PEP 696 came with Python 3.13")

PEP_695 = """
{future}
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, Self, TypedDict

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None
type Count = Annotated[int, "How many"]
type Both[T] = tuple[T, T]
type Tree[T] = T | list[Tree[T]]
type Loop = int | Loop
type Late = list[Defined]
type Broken = list[Nowhere]

@dataclass
class Defined:
    x: int

@dataclass
class Page[T]:
    items: list[T]
    both: Both[T] | None = None
    tree: Tree[T] | None = None
    next: "Page[T] | None" = None

@dataclass
class Plain[T]:
    items: list[T]

@dataclass
class Pages(Page[Count]):
    extra: Json = None

@dataclass
class Bounded[T: int]:
    x: T

@dataclass
class Constrained[T: (int, str)]:
    x: T

@dataclass
class Outer[T]:
    page: Page[T]
    own: list[Self] = field(default_factory=list)

class Pair[A, B](NamedTuple):
    a: A
    b: B

class Table[K, V](TypedDict):
    entries: dict[K, V]

class IntTable(Table[str, int]):
    name: str
"""


@needs_3_12
@FUTURE
def test_pep_695_aliases(define, future):
    module = define(PEP_695.format(future=future))
    assert schema_of(module.Count) == {"type": "integer", "description": "How many"}
    assert schema_of(module.Both[int]) == schema_of(tuple[int, int])
    assert schema_of(module.Json)["anyOf"] == schema_of(Json)["anyOf"]
    assert Codec(module.Tree[int]).decode([1, [2.0]]) == [1, [2]]
    assert Codec(module.Late).decode([{"x": 1}]) == [module.Defined(1)]
    assert "stands for itself" in complaint_of(module.Loop).message
    assert complaint_of(module.Broken).code == "unresolved"
    check_agreement(module.Json)


@needs_3_12
@FUTURE
def test_pep_695_generic_classes(define, future):
    module = define(PEP_695.format(future=future))
    for annotation in (module.Page[int], module.Pages):
        codec = Codec(annotation)
        value = {"items": [1], "both": [1, 2], "tree": [1, [2]], "next": {"items": [3]}}
        assert codec.decode(value).items == [1]
        assert codec.decode(value).both == (1, 2)
        assert codec.decode(value).next == module.Page([3])
        wrong = {"items": ["x"], "both": ["x", 1], "tree": ["x"], "next": {"items": ["x"]}}
        assert [p.path for p in codec.problems(wrong)] == [
            ("items", 0), ("both", 0), ("tree", 0), ("next", "items", 0),
        ]  # fmt: skip
        assert codec.encode(codec.decode({"items": [1]})) is not None
    assert property_of(module.Bounded, "x") == INTEGER
    assert property_of(module.Bounded[bool], "x") == {"type": "boolean"}
    assert property_of(module.Constrained, "x") == {"anyOf": [INTEGER, STRING]}
    assert property_of(module.Plain, "items") == array_of({})
    outer = Codec(module.Outer[int]).decode({"page": {"items": [1]}, "own": [{"page": {"items": [2]}}]})
    assert outer == module.Outer(module.Page([1]), [module.Outer(module.Page([2]))])
    assert property_of(module.Pair[int, str], "a") == INTEGER
    assert schema_of(module.Table[str, int]) == schema_of(TypedDict("Table", {"entries": dict[str, int]}))


@needs_3_12
@FUTURE
def test_pep_695_typed_dict_inherited(define, future):
    module = define(PEP_695.format(future=future))
    assert property_of(module.IntTable, "entries") == {"type": "object", "additionalProperties": INTEGER}


@needs_3_13
@FUTURE
def test_pep_696_defaults(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        @dataclass
        class Box[T = int, U = list[T]]:
            x: T
            y: U
        type Maybe[T = str] = T | None
    """)
    assert schema_of(module.Box)["properties"] == {"x": INTEGER, "y": array_of(INTEGER)}
    assert schema_of(module.Box[str, bool])["properties"] == {"x": STRING, "y": {"type": "boolean"}}
    assert schema_of(module.Maybe) == {"anyOf": [STRING, NULL]}


@needs_3_13
@FUTURE
def test_a_default_of_a_type_parameter_that_names_another(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        @dataclass
        class Box[T = int, U = list[T]]:
            x: T
            y: U
    """)
    assert schema_of(module.Box[str])["properties"] == {"x": STRING, "y": array_of(STRING)}


# --- constraints ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gt:
    gt: Any


@dataclass(frozen=True)
class Le:
    le: Any


@dataclass(frozen=True)
class Lt:
    lt: Any


@dataclass(frozen=True)
class Interval:
    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None


@dataclass(frozen=True)
class MultipleOf:
    multiple_of: Any


@dataclass(frozen=True)
class MinLen:
    min_length: Any


@dataclass(frozen=True)
class MaxLen:
    max_length: Any


@dataclass(frozen=True)
class Len:
    min_length: Any = 0
    max_length: Any = None


A = Annotated
CONSTRAINTS = [
    (A[int, Ge(1)], {"type": "integer", "minimum": 1}, [1, 1.0, 10**20], [0, -(10**20)]),
    (A[int, Gt(1)], {"type": "integer", "exclusiveMinimum": 1}, [2], [1, 1.0]),
    (A[int, Le(1)], {"type": "integer", "maximum": 1}, [1], [2]),
    (A[int, Lt(1)], {"type": "integer", "exclusiveMaximum": 1}, [0], [1]),
    (A[float, Ge(0.5)], {"type": "number", "minimum": 0.5}, [0.5, 1], [0.49999, 0]),
    (A[float, Gt(0)], {"type": "number", "exclusiveMinimum": 0}, [5e-324], [0, -0.0]),
    (A[float, Le(-0.5)], {"type": "number", "maximum": -0.5}, [-0.5, -1], [-0.25]),
    (A[float, Lt(1.5)], {"type": "number", "exclusiveMaximum": 1.5}, [1.4999], [1.5, 2]),
    (A[int, Ge(0.5)], {"type": "integer", "minimum": 0.5}, [1], [0]),
    (A[int, Ge(2**63 + 1)], {"type": "integer", "minimum": 2**63 + 1}, [2**63 + 1], [2**63]),
    (A[int, Interval(ge=1, lt=5)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 5}, [1, 4], [0, 5]),
    (A[int, Interval(gt=1, le=5)], {"type": "integer", "exclusiveMinimum": 1, "maximum": 5}, [2, 5], [1, 6]),
    (A[int, Interval()], INTEGER, [0], []),
    (A[int, MultipleOf(3)], {"type": "integer", "multipleOf": 3}, [3, -3, 0, 6.0, 3 * 10**30], [4, 10**30]),
    (A[float, MultipleOf(0.5)], {"type": "number", "multipleOf": 0.5}, [1.5, 2, 1e300], [1.25]),
    (A[int, MultipleOf(2.5)], {"type": "integer", "multipleOf": 2.5}, [5, 0], [7]),
    (A[str, MinLen(2)], {"type": "string", "minLength": 2}, ["ab", "😀é"], ["a", "", "😀"]),
    (A[str, MaxLen(2)], {"type": "string", "maxLength": 2}, ["", "ab", "😀😀"], ["abc"]),
    (A[str, Len(1, 3)], {"type": "string", "minLength": 1, "maxLength": 3}, ["a", "abc"], ["", "abcd"]),
    (A[str, Len(2)], {"type": "string", "minLength": 2}, ["ab"], ["a"]),
    (A[str, Len()], STRING, ["", "x" * 99], []),
    (A[list[int], Len(1, 2)], array_of(INTEGER, minItems=1, maxItems=2), [[1], [1, 2]], [[], [1, 2, 3]]),
    (A[list[int], Len(2, 2)], array_of(INTEGER, minItems=2, maxItems=2), [[1, 2]], [[1], [1, 2, 3]]),
    (A[set[int], MinLen(1)], array_of(INTEGER, uniqueItems=True, minItems=1), [[1]], [[]]),
    (A[tuple[int, ...], MaxLen(1)], array_of(INTEGER, maxItems=1), [[], [1]], [[1, 2]]),
    (A[deque[int], MaxLen(0)], array_of(INTEGER, maxItems=0), [[]], [[1]]),
    (
        A[dict[str, int], Len(1, 1)],
        {"type": "object", "additionalProperties": INTEGER, "minProperties": 1, "maxProperties": 1},
        [{"a": 1}],
        [{}, {"a": 1, "b": 2}],
    ),
    (A[str, re.compile("^a+$")], {"type": "string", "pattern": "^a+$"}, ["a", "aa"], ["", "b", "ab"]),
    (A[str, re.compile("b")], {"type": "string", "pattern": "b"}, ["abc"], ["ac"]),
    (A[str, re.compile("(?<=a)b")], {"type": "string", "pattern": "(?<=a)b"}, ["ab"], ["b"]),
    (
        A[str, MinLen(1), MaxLen(2), re.compile("^x")],
        {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^x"},
        ["x", "xy"],
        ["", "y", "xyz"],
    ),
    (A[int, Ge(1), Ge(3), Le(9), Le(5)], {"type": "integer", "minimum": 3, "maximum": 5}, [3, 5], [2, 6]),
    (
        A[int, Ge(1), Gt(1), Le(9), Lt(9)],
        {"type": "integer", "minimum": 1, "exclusiveMinimum": 1, "maximum": 9, "exclusiveMaximum": 9},
        [2, 8],
        [1, 9],
    ),
    (A[A[int, Ge(1)], Le(2)], {"type": "integer", "minimum": 1, "maximum": 2}, [1, 2], [0, 3]),
    (
        A[NewType("Natural", A[int, Ge(0)]), Le(2)],
        {"type": "integer", "minimum": 0, "maximum": 2},
        [0, 2],
        [-1, 3],
    ),
    (A[int | None, Ge(1)], {"anyOf": [{"type": "integer", "minimum": 1}, NULL]}, [1, None], [0]),
    (
        A[int | float, Ge(1)],
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 1}]},
        [1, 1.5],
        [0, 0.5],
    ),
    (
        A[str | list[int], MinLen(1)],
        {"anyOf": [{"type": "string", "minLength": 1}, array_of(INTEGER, minItems=1)]},
        ["a", [1]],
        ["", []],
    ),
    (list[A[int, Ge(1)]], array_of({"type": "integer", "minimum": 1}), [[], [1]], [[0]]),
    (
        dict[A[str, MinLen(2)], int],
        {"type": "object", "propertyNames": {"minLength": 2}, "additionalProperties": INTEGER},
        [{"ab": 1}],
        [{"a": 1}],
    ),
    (A[int, "described", Ge(1)], {"type": "integer", "minimum": 1, "description": "described"}, [1], [0]),
]


@pytest.mark.parametrize(("annotation", "schema", "good", "bad"), CONSTRAINTS, ids=lambda x: str(x)[:60])
def test_a_constraint_is_in_the_schema_and_enforced(annotation, schema, good, bad):
    codec = Codec(annotation)
    assert schema_of(annotation) == schema
    judge = validator(schema)
    for value in good:
        assert codec.problems(value) == (), value
        assert judge.is_valid(value), value
        assert codec.decode(codec.encode(codec.decode(value))) == codec.decode(value)
    for value in bad:
        assert codec.problems(value), value
        assert not judge.is_valid(value), value


@pytest.mark.parametrize(
    ("annotation", "value", "code"),
    [
        (A[int, Ge(1)], 0, "out_of_range"),
        (A[float, Lt(1)], 1, "out_of_range"),
        (A[int, MultipleOf(2)], 1, "out_of_range"),
        (A[str, MinLen(1)], "", "bad_length"),
        (A[list[int], MaxLen(0)], [1], "bad_length"),
        (A[dict[str, int], MinLen(1)], {}, "bad_length"),
        (A[str, re.compile("x")], "y", "bad_format"),
    ],
)
def test_problems_with_constraints_say_the_limit(annotation, value, code):
    [problem] = Codec(annotation).problems(value)
    assert problem.code == code
    assert re.search(r"\d|x", problem.message)


def test_constraints_hold_on_the_way_out():
    for annotation, value in [(A[int, Ge(1)], 0), (A[str, MaxLen(1)], "ab"), (A[list[int], MinLen(1)], [])]:
        with pytest.raises(EncodeError):
            Codec(annotation).encode(value)
    made = make_dataclass("Made", [("a", A[int, Ge(1)], 0)])
    assert (complaint_of(made).path, complaint_of(made).code) == (("a",), "bad_default")


def test_constraints_stand_in_what_errors_expect():
    [problem] = Codec(A[int, Ge(1), Le(5)]).problems("x")
    assert "1" in problem.expected
    assert "5" in problem.expected


class Predicate:
    def __init__(self, func):
        self.func = func


Predicate.__module__ = "annotated_types"
OWN_LEAF = SchemaLeaf(Bag, {"type": "number"}, lambda _: Bag(), lambda _: 1, Bag())


@pytest.mark.parametrize(
    "annotation",
    [
        A[str, Ge(1)],
        A[bool, Ge(1)],
        A[None, Ge(1)],
        A[int, MinLen(1)],
        A[float, MaxLen(1)],
        A[int, re.compile("x")],
        A[list[str], re.compile("x")],
        A[list[int], Ge(1)],
        A[dict[str, int], Le(1)],
        A[tuple[int, int], MinLen(1)],
        A[Any, Ge(1)],
        A[Color, MinLen(1)],
        A[Literal["a"], MinLen(1)],
        A[U1, MinLen(1)],
        A[TaggedA, MinLen(1)],
        A[date, Ge(1)],
        A[Decimal, Ge(1)],
        A[int | str, Ge(1)],
        A[U1 | None, Ge(1)],
        A[Bag, OWN_LEAF, Ge(1)],
        A[int, Ge("1")],
        A[int, Ge(1 + 1j)],
        A[int, Ge(float("nan"))],
        A[int, Le(float("inf"))],
        A[float, Ge(Decimal(1))],
        A[date, Ge(date(2026, 1, 1))],
        A[str, MinLen(-1)],
        A[str, MinLen(1.5)],
        A[str, MinLen("1")],
        A[str, MaxLen(False)],
        A[str, re.compile("a", re.IGNORECASE)],
        A[str, re.compile("a", re.ASCII)],
        A[str, re.compile("(?i)a")],
        A[str, re.compile("(?x) a")],
        A[str, re.compile("(?P<name>a)")],
        A[str, re.compile(r"\Aa\Z")],
        A[str, re.compile(b"a")],
        A[str, re.compile("a"), re.compile("b")],
        A[int, MultipleOf(2), MultipleOf(3)],
        A[float, MultipleOf(0.01)],
        A[int, MultipleOf(0)],
        A[int, MultipleOf(-2)],
        A[float, MultipleOf(float("inf"))],
        A[str, Predicate(str.islower)],
    ],
    ids=lambda annotation: re.sub(r"0x\w+", "", str(annotation))[-60:],
)
def test_constraints_that_no_schema_can_hold(annotation):
    complaint = complaint_of(annotation)
    assert (complaint.path, complaint.code) == ((), "bad_constraint")
    made = make_dataclass("Made", [("a", int), ("b", list[annotation])])
    assert [(c.path, c.code) for c in complaints_of(made)] == [(("b", "*"), "bad_constraint")]


def test_a_limit_beyond_the_range_of_floats():
    assert schema_of(A[int, Le(10**400)]) == {"type": "integer", "maximum": 10**400}
    codec = Codec(A[int, Ge(10**400)])
    assert codec.decode(10**400) == 10**400
    assert codec.problems(10**400 - 1)[0].code == "out_of_range"


def test_an_integer_whose_float_breaks_its_limits():
    """Else it would decode to a value that can't be encoded."""
    codec = Codec(A[float, Gt(2**53)])
    [problem] = codec.problems(2**53 + 1)
    assert problem.code == "out_of_range"
    assert problem.message == "9007199254740993 as a float is not above 9007199254740992"
    assert codec.decode(2**53 + 2) == 2.0**53 + 2
    [problem] = codec.problems(2**53)
    assert problem.message == "9007199254740992 is not above 9007199254740992"
    assert Codec(A[float, MultipleOf(3)]).problems(9007199254740993)[0].code == "out_of_range"


def test_metadata_that_is_no_constraint_is_passed_over():
    class Rich:
        unit = "m"

        def ge(self, other):
            return self is other

        le = lt = gt = ge

    for item in (
        object(),
        Rich(),
        5,
        None,
        ("ge", 1),
        {"ge": 1},
        slice(1, 2),
        typing_extensions.deprecated("x"),
    ):
        assert schema_of(A[int, item]) == INTEGER


# --- descriptions --------------------------------------------------------------------------------


class Doc:
    def __init__(self, documentation):
        self.documentation = documentation


@dataclass
class Nearest:
    """Every source of a description, and one less at each field.

    Args:
        a: docstring
        b: docstring
        c: docstring
        d: docstring
    """

    a: Annotated[UUID, "annotated"] = field(metadata={"description": "metadata"})
    """attribute"""
    b: Annotated[UUID, "annotated"] = field(metadata={"description": "metadata"})
    """attribute"""
    c: UUID = field(metadata={"description": "metadata"})
    """attribute"""
    d: UUID
    """attribute"""
    e: UUID
    """attribute
    over two lines
    """
    f: UUID
    g: str
    h: Annotated[UUID, Doc("documentation")] = field(metadata={"description": "metadata"})

    param_descriptions = {"a": "param"}


def texts_of(annotation, **options):
    properties = schema_of(annotation, **options)["properties"]
    return {name: schema.get("description") for name, schema in properties.items()}


def test_the_nearest_description_wins():
    assert texts_of(Nearest) == {
        "a": "param",
        "b": "annotated",
        "c": "metadata",
        "d": "docstring",
        "e": "UUID string",
        "f": "UUID string",
        "g": None,
        "h": "documentation",
    }


def test_attribute_docstrings_are_read_when_asked_for():
    assert texts_of(Nearest, attribute_docs=True) == {
        "a": "param",
        "b": "annotated",
        "c": "metadata",
        "d": "docstring",
        "e": "attribute\nover two lines",
        "f": "UUID string",
        "g": None,
        "h": "documentation",
    }


def test_descriptions_given_to_the_codec_win_over_all():
    given = {"a": "given", "g": "given", "f": ""}
    found = texts_of(Nearest, param_descriptions=given)
    assert (found["a"], found["b"], found["f"], found["g"]) == ("given", "annotated", None, "given")


def test_attribute_docstrings_without_source():
    made = make_dataclass("Made", [("a", int)])
    assert texts_of(made, attribute_docs=True) == {"a": None}


@dataclass
class Ancestor:
    """The ancestor.

    Args:
        a: ancestor's docstring
        b: ancestor's docstring
    """

    a: int = 0
    b: int = 0
    c: int = 0
    """ancestor's attribute"""

    param_descriptions = {"c": "ancestor's param"}


@dataclass
class Descendant(Ancestor):
    """The descendant.

    Args:
        b: descendant's docstring
        d: descendant's docstring
    """

    d: int = 0
    param_descriptions = {"a": "descendant's param"}


def test_descriptions_along_the_mro():
    assert texts_of(Descendant) == {
        "a": "descendant's param",
        "b": "descendant's docstring",
        "c": "ancestor's param",
        "d": "descendant's docstring",
    }
    assert texts_of(Ancestor) == {
        "a": "ancestor's docstring",
        "b": "ancestor's docstring",
        "c": "ancestor's param",
    }


@dataclass
class Documented:
    """A thing that says what it is.

    Over several lines.

    Args:
        x: A number.
    """

    x: int = 0


@dataclass
class DocumentedNode:
    """A node."""

    next: "DocumentedNode | None" = None


@dataclass
class HoldsDocumented:
    plain: Documented
    own: Annotated[Documented, "own"]
    items: list[Documented]
    maybe: Documented | None
    point: Point
    taken: Annotated[Documented, ""]
    node: DocumentedNode | None = None


def test_a_nested_class_is_described_by_its_docstring():
    text = "A thing that says what it is.\n\nOver several lines."
    properties = schema_of(HoldsDocumented)["properties"]
    assert properties["plain"]["description"] == text
    assert properties["own"]["description"] == "own"
    assert properties["items"]["items"]["description"] == text
    assert "description" not in properties["items"]
    assert properties["maybe"]["description"] == text
    assert "description" not in properties["point"]
    assert "description" not in properties["taken"]
    assert properties["plain"]["properties"]["x"]["description"] == "A number."
    assert properties["node"] == {"$ref": "#/$defs/DocumentedNode"}
    assert schema_of(HoldsDocumented)["$defs"]["DocumentedNode"]["description"] == "A node."


def test_the_docstring_of_the_registered_class_is_not_in_its_schema():
    assert "description" not in schema_of(Documented)
    assert schema_of(Annotated[Documented, "said outside"])["description"] == "said outside"


@pytest.mark.parametrize(
    ("documented", "near"), [("max_result", '"max_results"'), ("maxResults", '"max_results"'), ("zzz", None)]
)
@pytest.mark.parametrize(
    "form",
    ["Args:\n        {}: text", ":param {}: text", "Parameters\n    ----------\n    {} : int\n        text"],
)
def test_a_documented_parameter_that_does_not_exist(documented, near, form):
    made = make_dataclass("Made", [("max_results", int), ("query", str)])
    made.__doc__ = f"Search.\n\n    {form.format(documented)}\n    "
    complaint = complaint_of(made)
    assert complaint.code == "unknown_description"
    assert f'"{documented}"' in complaint.message
    assert complaint.suggestion == near
    assert '"max_results", "query"' in complaint.remedy


def test_a_documented_attribute_that_is_no_field():
    @dataclass
    class Some:
        """Some.

        Attributes:
            a: A field.
            b: Set afterwards.
            c: Of the class.
            d: A property.
        """

        a: int
        b: int = field(init=False, default=0)
        c: ClassVar[int] = 3

        @property
        def d(self):
            return self.a

    assert texts_of(Some) == {"a": "A field."}


def test_the_docstring_that_dataclass_writes_is_no_description():
    holder = make_dataclass("Holder", [("cat", Cat), ("point", Point)])
    assert texts_of(holder) == {"cat": None, "point": None}


# --- maps ----------------------------------------------------------------------------------------

Name = NewType("Name", str)
KEYS = [
    (str, None, {"": 1, "a": 1}, {"": 1, "a": 1}, None),
    (Name, None, {"a": 1}, {"a": 1}, None),
    (Annotated[str, "who"], {"description": "who"}, {"a": 1}, {"a": 1}, None),
    (Annotated[str, re.compile("^a")], {"pattern": "^a"}, {"ab": 1}, {"ab": 1}, {"b": 1}),
    (int, {"pattern": "^(0|-?[1-9][0-9]*)$"}, {"0": 1, "-12": 2}, {0: 1, -12: 2}, {"01": 1}),
    (Color, {"enum": ["red", "blue"]}, {"red": 1}, {Color.RED: 1}, {"RED": 1}),
    (Answer, {"enum": ["yes", "no"]}, {"no": 1}, {Answer.NO: 1}, {"": 1}),
    (Level, {"enum": ["1", "7"]}, {"7": 1}, {Level.HIGH: 1}, {"7.0": 1}),
    (Literal["a", "b"], {"enum": ["a", "b"]}, {"b": 1}, {"b": 1}, {"c": 1}),
    (Literal[1, "x"], {"enum": ["1", "x"]}, {"1": 1, "x": 2}, {1: 1, "x": 2}, {"2": 1}),
    (Literal[Level.LOW], {"enum": ["1"]}, {"1": 1}, {Level.LOW: 1}, {"LOW": 1}),
    (date, {"format": "date"}, {"2026-01-31": 1}, {date(2026, 1, 31): 1}, {"2026-1-31": 1}),
    (
        UUID, {"format": "uuid", "description": "UUID string"}, {IDENTIFIER: 1}, {UUID(IDENTIFIER): 1},
        {"x": 1},
    ),
    (Path, None, {"a/b": 1}, {Path("a/b"): 1}, {"": 1}),
    (Degrees, {"enum": ["x", "127.0.0.1"]}, {"x": 1}, {Degrees("x"): 1}, {"y": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "names", "value", "decoded", "bad"), KEYS, ids=lambda x: str(x)[:40])
def test_keys_of_a_map(key, names, value, decoded, bad):
    schema = {"type": "object", "additionalProperties": INTEGER}
    if names is not None:
        schema["propertyNames"] = names
    found = schema_of(dict[key, int])
    assert {k: v for k, v in found.items() if k != "propertyNames"} == {
        k: v for k, v in schema.items() if k != "propertyNames"
    }
    if key is not Path:
        assert found == schema
    codec = Codec(dict[key, int])
    result = codec.decode(value)
    assert result == decoded
    assert [type(k) for k in result] == [type(k) for k in decoded]
    assert codec.encode(result) == value
    if bad is not None:
        [problem] = codec.problems(bad)
        assert problem.path == tuple(bad)
        assert problem.code in {"bad_format", "not_one_of", "bad_length"}
    check_agreement(dict[key, int])


@pytest.mark.parametrize(
    "key",
    [
        bool, float, None, Any, object, bytes | None, str | int, str | None, list[int],
        tuple[str, ...], Decimal,
        U1, Literal[True], Literal[None, "a"], Literal[1.5], Literal["1", 1], Nothing,
    ],
    ids=str,
)  # fmt: skip
def test_keys_that_are_no_texts(key):
    complaint = complaint_of(dict[key, int])
    assert (complaint.path, complaint.code) == ((), "unsupported")
    assert "keys" in complaint.message


def test_keys_that_mean_the_same_are_a_problem():
    upper = IDENTIFIER.replace("5678", "ABCD")
    [problem] = Codec(dict[UUID, int]).problems({upper: 1, upper.lower(): 2})
    assert (problem.path, problem.code) == ((upper.lower(),), "duplicate")


@pytest.mark.parametrize(
    "key", ["", " 1", "1 ", "+1", "1_0", "-0", "00", "1.0", "0x1", "1\n", "\u0661", "1e3"]
)
def test_integer_keys_are_written_in_one_way(key):
    assert codes_of(dict[int, int], {key: 1}) == ["bad_format"]


def test_keys_and_values_are_judged_together():
    found = Codec(dict[int, int]).problems({"a": "x", "1": "y"})
    assert [problem.path for problem in found] == [("a",), ("a",), ("1",)]


def test_maps_of_maps():
    annotation = dict[Color, dict[int, list[Level]]]
    value = {"red": {"1": [7, 1]}}
    assert Codec(annotation).decode(value) == {Color.RED: {1: [Level.HIGH, Level.LOW]}}
    assert Codec(annotation).encode(Codec(annotation).decode(value)) == value


# --- containers ----------------------------------------------------------------------------------

ABC = collections.abc
CONTAINERS = [
    (list[int], [1, 2], array_of(INTEGER)),
    (ABC.Sequence[int], [1, 2], array_of(INTEGER)),
    (ABC.MutableSequence[int], [1, 2], array_of(INTEGER)),
    (ABC.Collection[int], [1, 2], array_of(INTEGER)),
    (ABC.Iterable[int], [1, 2], array_of(INTEGER)),
    (set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (frozenset[int], frozenset({1, 2}), array_of(INTEGER, uniqueItems=True)),
    (ABC.Set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (ABC.MutableSet[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (tuple[int, ...], (1, 2), array_of(INTEGER)),
    (deque[int], deque([1, 2]), array_of(INTEGER)),
    (typing.List[int], [1, 2], array_of(INTEGER)),  # noqa: UP006  # the other spellings
    (typing.Set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),  # noqa: UP006
    (typing.FrozenSet[int], frozenset({1, 2}), array_of(INTEGER, uniqueItems=True)),  # noqa: UP006
    (typing.AbstractSet[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (typing.Tuple[int, ...], (1, 2), array_of(INTEGER)),  # noqa: UP006
    (typing.Deque[int], deque([1, 2]), array_of(INTEGER)),  # noqa: UP006
    (typing.Sequence[int], [1, 2], array_of(INTEGER)),
    (typing.Iterable[int], [1, 2], array_of(INTEGER)),
    (tuple[int, int], (1, 2), {"type": "array", "prefixItems": [INTEGER] * 2, "minItems": 2, "items": False}),
    (list, [1, 2], array_of({})),
    (tuple, (1, 2), array_of({})),
    (deque, deque([1, 2]), array_of({})),
    (typing.List, [1, 2], array_of({})),  # noqa: UP006
    (typing.Tuple, (1, 2), array_of({})),  # noqa: UP006
    (typing.Sequence, [1, 2], array_of({})),
    (ABC.Iterable, [1, 2], array_of({})),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "expected", "schema"), CONTAINERS, ids=lambda x: str(x)[:40])
def test_arrays_of_every_container(annotation, expected, schema):
    codec = Codec(annotation)
    assert schema_of(annotation) == schema
    assert same(codec.decode([1, 2]), expected)
    assert sorted(codec.encode(expected)) == [1, 2]
    for value in ("12", {"0": 1}, None, 12, (1, 2)):
        assert codes_of(annotation, value) == ["wrong_type"]
    check_agreement(annotation)


@pytest.mark.parametrize(
    ("annotation", "value", "encoded"),
    [
        (ABC.Sequence[int], (1, 2), [1, 2]),
        (ABC.Sequence[int], deque([1]), [1]),
        (ABC.Sequence[int], range(3), [0, 1, 2]),
        (ABC.MutableSequence[int], deque([1]), [1]),
        (ABC.Collection[int], {1}, [1]),
        (ABC.Collection[int], {1: 2}.values(), [2]),
        (ABC.Iterable[int], (1, 2), [1, 2]),
        (ABC.Iterable[int], frozenset({1}), [1]),
        (ABC.Iterable[int], {1: 2}.keys(), [1]),
        (ABC.Set[int], frozenset({1}), [1]),
        (ABC.Set[int], {1: 2}.keys(), [1]),
        (ABC.Mapping[str, int], types.MappingProxyType({"a": 1}), {"a": 1}),
        (ABC.Mapping[str, int], collections.ChainMap({"a": 1}), {"a": 1}),
        (ABC.MutableMapping[str, int], collections.OrderedDict(a=1), {"a": 1}),
        (dict[str, int], collections.defaultdict(int, a=1), {"a": 1}),
        (list[int], collections.UserList([1]).data, [1]),
    ],
)
def test_encoding_what_an_abstract_container_stands_for(annotation, value, encoded):
    assert Codec(annotation).encode(value) == encoded


def test_encoding_an_iterator_reads_it_once():
    assert Codec(ABC.Iterable[int]).encode(iter([1, 2])) == [1, 2]
    assert Codec(ABC.Iterable[int] | None).encode(iter([1, 2])) == [1, 2]
    assert Codec(list[ABC.Iterable[int] | None]).encode([iter([1, 2]), None]) == [[1, 2], None]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], (1,)),
        (list[int], {1}),
        (set[int], [1]),
        (set[int], frozenset({1})),
        (frozenset[int], {1}),
        (tuple[int, ...], [1]),
        (tuple[int, int], [1, 2]),
        (deque[int], [1]),
        (ABC.Sequence[int], {1}),
        (ABC.Sequence[int], b"12"),
        (ABC.Sequence[str], "12"),
        (ABC.MutableSequence[int], (1,)),
        (ABC.Iterable[str], "12"),
        (ABC.Iterable[str], {"a": 1}),
        (ABC.Set[int], [1]),
        (ABC.MutableSet[int], frozenset({1})),
        (dict[str, int], [("a", 1)]),
        (collections.OrderedDict[str, int], {"a": 1}),
        (ABC.MutableMapping[str, int], types.MappingProxyType({"a": 1})),
    ],
)
def test_encoding_another_container_is_refused(annotation, value):
    with pytest.raises(EncodeError) as caught:
        Codec(annotation).encode(value)
    assert [problem.code for problem in caught.value.problems] == ["wrong_type"]


@pytest.mark.parametrize(
    ("annotation", "value", "path"),
    [
        (set[int], [1, 2, 1], (2,)),
        (set[int], [1, 1.0], (1,)),
        (frozenset[str], ["a", "a"], (1,)),
        (set[float], [1, 1.0], (1,)),
        (set[Color], ["red", "blue", "red"], (2,)),
        (set[Decimal], ["1.0", "1.00"], (1,)),
        (set[tuple[int, int]], [[1, 2], [1, 2]], (1,)),
        (set[frozenset[int]], [[1, 2], [2, 1]], (1,)),
        (set[Point], [{"x": 1}, {"x": 1, "y": 0}], (1,)),
        (set[int | None], [None, 1, None], (2,)),
    ],
    ids=str,
)
def test_duplicates_in_a_set_are_a_problem(annotation, value, path):
    [problem] = Codec(annotation).problems(value)
    assert (problem.path, problem.code) == (path, "duplicate")


@pytest.mark.parametrize(
    "item", [list[int], dict[str, int], U1, TaggedA, set[int], Any, object, deque[int]], ids=str
)
def test_what_can_t_be_in_a_set(item):
    for annotation in (set[item], frozenset[item | None], set[tuple[item, ...]]):
        assert complaints_of(annotation)[0].code == "unsupported"


@dataclass(eq=False)
class Unequal:
    a: int


@pytest.mark.parametrize("item", [Unequal, Annotated[Bag, BAG["integer"]]], ids=["class", "leaf"])
def test_what_is_equal_to_nothing_else_can_t_be_in_a_set(item):
    """Else a set would take duplicates that the schema refuses."""
    for annotation in (set[item], frozenset[item | None], set[tuple[item, ...]]):
        assert "compare by identity" in complaint_of(annotation).message
    assert len(Codec(set[ZoneInfo]).decode(["UTC"])) == 1
    assert Codec(set[ZoneInfo]).problems(["UTC", "UTC"])[0].code == "duplicate"


Nested = TypeAliasType("Nested", Union[int, "tuple[Nested, ...]"])


@dataclass(frozen=True)
class Link:
    value: int
    next: "Link | None" = None


@dataclass(frozen=True)
class Branch:
    value: int
    branches: "list[Branch]" = field(default_factory=list)


@pytest.mark.parametrize("item", [Json, Tree[int], Branch, tuple[Tree[int], ...]], ids=str)
def test_recursive_types_that_can_t_be_in_a_set(item):
    for annotation in (set[item], frozenset[item | None], dict[str, set[item]]):
        assert complaints_of(annotation)[0].code == "unsupported"


def test_recursive_types_that_can_be_in_a_set():
    assert Codec(set[Nested]).decode([1, [1, [2]]]) == {1, (1, (2,))}
    assert Codec(set[Link]).decode([{"value": 1, "next": {"value": 2}}]) == {Link(1, Link(2))}


def test_sets_of_booleans_and_numbers():
    """In Python `True == 1`, in JSON `true` is not `1`."""
    for annotation in (set[bool | int], set[Literal[True, 1]], frozenset[float | bool | str]):
        assert complaint_of(annotation).code == "ambiguous"
    for annotation in (set[Level | bool], set[tuple[int | bool, ...]], set[tuple[str, Literal[True, 1]]]):
        assert complaint_of(annotation).code == "ambiguous"
    assert Codec(set[bool]).decode([True, False]) == {True, False}
    assert Codec(set[tuple[int, bool]]).decode([[1, True]]) == {(1, True)}
    plain = enum.Enum("plain", {"ONE": 1})
    assert Codec(set[plain | bool]).decode([1, True]) == {plain.ONE, True}


def test_fixed_tuples():
    annotation = tuple[int, str | None, tuple[Point, ...]]
    assert schema_of(annotation) == {
        "type": "array",
        "prefixItems": [INTEGER, {"anyOf": [STRING, NULL]}, array_of(schema_of(Point))],
        "minItems": 3,
        "items": False,
    }
    codec = Codec(annotation)
    assert codec.decode([1.0, None, [{"x": 1}]]) == (1, None, (Point(1),))
    assert codec.encode((1, "a", ())) == [1, "a", []]
    assert [p.path for p in codec.problems(["x", 1, [{}]])] == [(0,), (1,), (2, 0, "x")]
    assert codes_of(annotation, [1, None]) == codes_of(annotation, [1, None, [], 1]) == ["bad_length"]
    check_agreement(annotation)


def test_tuples_of_no_and_of_one_item():
    assert schema_of(tuple[()]) == {"type": "array", "maxItems": 0}
    assert Codec(tuple[()]).decode([]) == ()
    assert codes_of(tuple[()], [1]) == ["bad_length"]
    assert Codec(tuple[int]).decode([1]) == (1,)
    check_agreement(tuple[()])
    check_agreement(tuple[int])


def test_ordered_maps():
    codec = Codec(collections.OrderedDict[str, int])
    assert same(codec.decode({"b": 1, "a": 2}), collections.OrderedDict(b=1, a=2))
    assert same(Codec(ABC.Mapping[str, int]).decode({"a": 1}), {"a": 1})
    assert schema_of(ABC.Mapping) == {"type": "object", "additionalProperties": {}}
    assert schema_of(typing.Dict[str, int]) == schema_of(dict[str, int])  # noqa: UP006  # the other spelling


# --- text, functions and namespaces --------------------------------------------------------------

IN_A_FUNCTION = """
{future}
from dataclasses import dataclass, field
from typing import Annotated, Generic, NamedTuple, TypedDict, TypeVar

def make():
    T = TypeVar("T")

    @dataclass
    class Inner:
        x: int

    class Typed(TypedDict):
        inner: Inner

    class Tuple(NamedTuple):
        inner: Inner

    @dataclass
    class Box(Generic[T]):
        value: T
        inner: Inner

    @dataclass
    class Outer:
        inner: Inner
        many: "list[Inner | None]"
        typed: Typed
        tuple: Tuple
        box: Box[Inner]
        me: "Outer | None" = None

    return Outer, Inner, locals()
"""


@FUTURE
def test_classes_defined_in_a_function(define, future):
    outer, inner, names = define(IN_A_FUNCTION.format(future=future)).make()
    codec = Codec(outer, namespace=names)
    x = {"x": 1}
    value = {
        "inner": x, "many": [x, None], "typed": {"inner": x}, "tuple": {"inner": x},
        "box": {"value": x, "inner": x},
    }  # fmt: skip
    decoded = codec.decode({**value, "me": value})
    assert decoded.inner == decoded.typed["inner"] == decoded.tuple.inner == decoded.box.value == inner(1)
    assert decoded.many == [inner(1), None]
    assert type(decoded.me) is outer
    assert codec.encode(decoded) == {**value, "me": value}


def test_classes_defined_in_a_function_need_a_namespace_under_future_annotations(define):
    outer, _, _ = define(IN_A_FUNCTION.format(future="from __future__ import annotations")).make()
    complaints = complaints_of(outer)
    assert {complaint.code for complaint in complaints} == {"unresolved"}
    assert {complaint.path for complaint in complaints} >= {
        ("inner",),
        ("many",),
        ("typed",),
        ("tuple",),
        ("box",),
    }
    assert all("namespace" in complaint.remedy for complaint in complaints)
    assert any("inside a function" in complaint.remedy for complaint in complaints)


def test_a_namespace_reaches_everywhere_and_wins():
    @dataclass
    class Inner:
        x: "Local"  # noqa: F821  # in the namespace

    @dataclass
    class Outer:
        inner: Inner
        many: "list[Local]"  # noqa: F821  # likewise
        alias: TypeAliasType("alias", "Local | None")  # noqa: F821  # likewise

    schema = schema_of(Outer, namespace={"Local": Level})
    level = schema_of(Level)
    assert schema["properties"]["inner"]["properties"]["x"] == level
    assert schema["properties"]["many"] == array_of(level)
    assert schema["properties"]["alias"] == level
    assert schema_of("list[Local]", namespace={"Local": int}) == array_of(INTEGER)


def test_text_inside_every_kind_of_annotation():
    for annotation in (
        list["int"],
        Optional["int"],
        dict["str", "int"],
        tuple["int", "str"],
        Annotated["int", "described"],
        Union["int", "list[str]"],
        typing.List["int"],  # noqa: UP006  # likewise
        Page["int"],
        Tree["int"],
        set["int"],
    ):
        assert "integer" in json.dumps(schema_of(annotation))
