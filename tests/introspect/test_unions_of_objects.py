"""Unions of objects: told apart by discriminator and by keys."""

import json
from dataclasses import dataclass, field, make_dataclass
from typing import (
    Any,
    Literal,
    Union,
)
from zoneinfo import ZoneInfo

import pytest
from annotation_samples import (
    NULL,
    U1,
    U2,
    U3,
    Bird,
    Cat,
    Color,
    Dog,
    Point,
    TaggedA,
    TaggedB,
    array_of,
    check_agreement,
    same,
    schema_of,
)
from judge import validator

from operator_schema import Codec, DecodeError, EncodeError
from operator_schema.codec.codec import ResultCodec
from operator_schema.introspect import meant_objects


def test_a_tag_tells_objects_apart():
    codec = Codec(list[Cat | Dog | Bird])
    values = [{"kind": "dog"}, {"kind": "bird"}, {"kind": "cat", "lives": 3}]
    assert codec.decode(values) == [Dog(), Bird("bird"), Cat("cat", 3)]
    assert codec.encode(codec.decode(values)) == [{"kind": "dog", "tricks": []}, *values[1:]]


def test_problems_with_tags():
    codec = Codec(list[Cat | Bird])
    found = codec.report(
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


def test_a_tag_with_a_default_is_required_in_a_union_alone():
    codec = Codec(Cat | Dog)
    for value in ({}, {"tricks": ["sit"]}, {"type": "dog"}):
        assert [(p.path, p.code) for p in codec.report(value)] == [(("kind",), "missing")]
    assert codec.report({"kind": "cow"})[0].code == "not_one_of"
    assert codec.json_schema()["anyOf"][1]["properties"]["kind"] == {
        "type": "string",
        "enum": ["dog"],
        "default": "dog",
    }
    assert codec.json_schema()["anyOf"][1]["required"] == ["kind"]
    assert Codec(Dog).decode({}) == Dog()
    assert "required" not in schema_of(Dog)


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
        assert codec.report({"level": 3})[0].code == "missing"
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
    assert codec.report({"tag": 5})[0].code == "not_one_of"


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
    [problem] = codec.report({"kind": "dog", "a": 1})
    assert (problem.path, problem.code) == (("a",), "wrong_type")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "n", "a": 1}, U1("n", 1)),
        ({"name": "n", "b": 1}, U2("n", 1)),
        ({"name": "n", "a": "x"}, U2("n")),
        ({"name": "n", "b": 1, "c": 2, "d": 3}, U2("n", 1)),
    ],
)
def test_objects_without_a_tag_go_by_their_keys(value, expected):
    """The member that fits and leaves the fewest keys unused."""
    for annotation in (U1 | U2, U2 | U1):
        for codec in (Codec(annotation), Codec(annotation).compile()):
            assert codec.decode(value) == expected


@pytest.mark.parametrize(
    ("value", "ways"),
    [
        ({"name": "n"}, 'add "a" for U1, or add "b" for U2'),
        ({"name": "n", "more": 1}, 'add "a" for U1, or add "b" for U2'),
        ({"name": "n", "a": 1, "b": 1}, 'leave out "b" for U1, or leave out "a" for U2'),
    ],
)
def test_what_fits_several_members_is_refused_with_what_chooses_one(value, ways):
    for annotation in (U1 | U2, U2 | U1):
        for codec in (Codec(annotation), Codec(annotation).compile(), Codec(annotation, repair=True)):
            with pytest.raises(DecodeError) as caught:
                codec.decode(value)
            (problem,) = caught.value.findings
            assert (problem.path, problem.code) == ((), "no_match")
            assert "it fits U1 and U2 equally well; " in problem.message
            assert set(problem.message.partition("; ")[2].split(", or ")) == set(ways.split(", or "))


def test_a_tag_that_some_members_have_is_what_chooses_them():
    @dataclass
    class On:
        path: str
        mode: Literal["on"] = "on"

    @dataclass
    class Off:
        path: str
        mode: Literal["off"] = "off"

    @dataclass
    class Further:
        x: int
        mode: Literal["on"] = "on"

    (problem,) = Codec(On | Off | Point).report({"path": "/"})
    assert 'mode: "off"' in problem.message
    codec = Codec(On | Off | Further)
    (problem,) = codec.report({"path": "/"})
    assert 'add "mode": "off" for Off' in problem.message
    assert codec.decode({"path": "/", "mode": "off"}) == Off("/")
    assert codec.decode(codec.encode(On("/"))) == On("/")


def test_many_members_that_fit_are_counted():
    classes = [make_dataclass(f"M{i}", [("name", str), (f"k{i}", int, 0)]) for i in range(9)]
    codec = Codec(Union[tuple(classes)]).compile()
    (problem,) = codec.report({"name": "n"})
    assert "(4 more)" in problem.message
    assert codec.decode({"name": "n", "k3": 1}) == classes[3]("n", 1)


def test_a_member_of_which_nothing_is_its_own_has_no_way_to_be_chosen():
    @dataclass
    class More(U1):
        c: int = 0

    (problem,) = Codec(U1 | More).report({"name": "n"})
    assert problem.message == 'it fits More and U1 equally well; add "c" for More'


def test_required_keys_tell_objects_apart():
    codec = Codec(U1 | U3)
    assert codec.decode({"name": "n", "b": 1}) == U3("n", 1)
    assert codec.decode({"name": "n"}) == U1("n")
    for value in (U1("n"), U3("n", 0)):
        assert codec.decode(codec.encode(value)) == value


def test_problems_of_objects_without_a_tag_are_those_of_the_nearest():
    for annotation in (Point | U1, U1 | Point):
        codec = Codec(annotation)
        assert [p.path for p in codec.report({"x": "1", "y": 2})] == [("x",)]
        assert [p.path for p in codec.report({"name": 5, "a": 2})] == [("name",)]


def test_closed_objects_are_told_apart_by_what_they_refuse():
    codec = Codec(U1 | U2, unknown_fields="reject")
    assert codec.decode({"name": "n", "b": 1}) == U2("n", 1)
    assert [(p.path, p.code) for p in codec.report({"name": "n", "a": 1, "b": 1})] == [((), "no_match")]
    assert not validator(codec.json_schema()).is_valid({"name": "n", "a": 1, "b": 1})


def test_a_subclass_beside_its_base():
    @dataclass
    class More(U1):
        c: int = 0

    for annotation in (U1 | More, More | U1):
        for codec in (Codec(annotation), Codec(annotation).compile()):
            for value in (More("n", 1, 0), More("n", 1, 2)):
                assert same(codec.decode(codec.encode(value)), value)
            with pytest.raises(EncodeError, match="what this U1 is written as fits More equally well"):
                codec.encode(U1("n", 1))
        assert ResultCodec(annotation).encode(U1("n", 1)) == {"name": "n", "a": 1}
        assert ResultCodec(annotation).compile().encode(U1("n", 1)) == {"name": "n", "a": 1}


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
    members = [schema_of(Cat), {**schema_of(Dog), "required": ["kind"]}]
    assert properties["pet"] == {"anyOf": members}
    assert properties["pets"] == array_of({"anyOf": [*members, NULL]})
    assert properties["other"] == {"anyOf": [*members, NULL]}
    codec = Codec(Owner)
    assert codec.decode({}) == Owner(None)
    assert codec.decode({"pet": None, "other": None}) == Owner(None, [], None)
    assert codec.decode({"pet": {"kind": "cat"}, "pets": [None]}) == Owner(Cat("cat"), [None])


@dataclass
class First:
    number: int
    kind: Literal["first"] = "first"


@dataclass
class Second:
    amount: int
    note: str | None = None
    kind: Literal["second"] = "second"


@dataclass
class WithFirst:
    inner: First


@dataclass
class WithSecond:
    inner: Second


@dataclass
class WithText:
    inner: str


@pytest.mark.parametrize(
    ("annotation", "value", "path"),
    [
        (WithFirst | WithSecond, {"inner": {"kind": "second", "amount": "x"}}, ("inner", "amount")),
        (WithFirst | WithSecond, {"inner": {"kind": "first", "number": "x"}}, ("inner", "number")),
        (WithFirst | WithSecond, {"inner": {"amount": 1, "note": 3}}, ("inner", "note")),
        (WithFirst | WithSecond, {"inner": {"amount": "x", "note": None}}, ("inner", "amount")),
        (WithSecond | WithText, {"inner": {"amount": "x"}}, ("inner", "amount")),
        (WithSecond | WithText, {"inner": "\ud800"}, ("inner",)),
        (WithFirst | WithSecond, {"inner": 3}, ()),
    ],
)
def test_a_report_is_about_the_member_that_the_values_resemble(annotation, value, path):
    (problem,) = Codec(annotation).report(value)
    assert problem.path == path


@dataclass
class Drawn:
    kind: Literal["line", "point"]
    color: str


@dataclass
class Measured:
    kind: Literal["point", "area"]
    size: float


def test_members_that_share_a_value_are_told_apart_by_their_keys():
    codec = Codec(Drawn | Measured)
    assert codec.decode({"kind": "point", "color": "red"}) == Drawn("point", "red")
    assert codec.decode({"kind": "point", "size": 2.5}) == Measured("point", 2.5)


def test_values_are_compared_for_those_members_alone_whose_keys_fit_best(monkeypatch):
    members = [make_dataclass(f"K{i}", [(f"key{i}", int)]) for i in range(200)]
    codec = Codec(Union[tuple(members)] | WithFirst | WithSecond)  # type: ignore[operator]
    compared: list[Any] = []
    mistakes = meant_objects._mistakes

    def note(node: Any, *rest: Any) -> int:
        compared.append(node)
        return mistakes(node, *rest)

    monkeypatch.setattr(meant_objects, "_mistakes", note)
    assert [problem.path for problem in codec.report({"key7": "x"})] == [("key7",)]
    assert not compared
    (problem,) = codec.report({"inner": {"kind": "second", "amount": "x"}})
    assert problem.path == ("inner", "amount")
    assert {node.name for node in compared if hasattr(node, "name")} <= {
        "WithFirst",
        "WithSecond",
        "First",
        "Second",
    }
    assert len(compared) < 20


def test_a_union_inside_a_member_counts_when_members_are_told_apart():
    @dataclass
    class Inch:
        inches: int

    @dataclass
    class Meter:
        meters: int

    @dataclass
    class Box:
        side: Inch | Meter
        weight: int

    @dataclass
    class Weight:
        weight: int

    decoded = Codec(Box | Weight).decode({"side": {"meters": 2}, "weight": 3})
    assert decoded == Box(Meter(2), 3)


def test_a_wrong_type_says_more_about_the_member_than_a_key_that_nobody_knows():
    @dataclass
    class Zone:
        zone: ZoneInfo

    @dataclass
    class Counted:
        name: str
        value: int

    @dataclass
    class Listed:
        name: str
        value: list[int]

    @dataclass
    class Zoned:
        name: str
        value: Zone | None = None

    given = {"name": "a", "value": {"zone": " America/New_York", "more": False}}
    for codec in (Codec(Counted | Listed | Zoned), Codec(Zoned | Listed | Counted)):
        with pytest.raises(DecodeError) as caught:
            codec.decode(given)
        found = [(problem.path, problem.code) for problem in caught.value.findings]
        assert found == [(("value", "zone"), "bad_format")]


@pytest.mark.parametrize(("mode", "expected"), [("hour", "integer"), ("once", "string")])
def test_a_choice_that_only_one_member_has_says_which_is_meant(mode, expected):
    @dataclass
    class Loan:
        mode: Literal["hour", "day"]
        size: int
        weeks: int = 0

    @dataclass
    class Sale:
        mode: Literal["day", "once"]
        size: str
        price: int = 0

    with pytest.raises(DecodeError) as caught:
        Codec(Loan | Sale).decode({"mode": mode, "size": True})
    assert [(problem.path, problem.expected) for problem in caught.value.findings] == [(("size",), expected)]
