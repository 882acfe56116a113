"""What distinguishes the objects of a union: discriminators of several values, types of a shared key."""

from __future__ import annotations

from dataclasses import make_dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal, Optional, Required, TypedDict, Union

import pytest
from judge import validator
from libraries import library

from operator_schema import Codec, DecodeError, EncodeError, SchemaError
from operator_schema.introspect import ambiguity_checks

pydantic = library("pydantic")


def cls(name: str, **fields: Any) -> Any:
    return make_dataclass(name, list(fields.items()))


CAT, DOG = cls("Cat", kind=Literal["cat"]), cls("Dog", kind=Literal["dog"])
REPTILE = cls("Reptile", kind=Literal["reptile", "lizard"])
FIRST, SECOND = cls("First", kind=Optional[Literal["a"]]), cls("Second", kind=Literal["b"])
NUMBER, TEXT = cls("Number", x=int), cls("Text", x=str)
OF_CAT, OF_DOG = cls("OfCat", pet=CAT), cls("OfDog", pet=DOG)


class LOOSE(TypedDict):
    kind: Union[Literal["a"], None]
    x: int


class STRICT(TypedDict):
    kind: Required[Literal["b"]]


CASES: list[tuple[Any, dict[str, Any], str]] = [
    (Union[CAT, DOG, REPTILE], {"kind": "lizard"}, "Reptile"),
    (Union[CAT, DOG, REPTILE], {"kind": "dog"}, "Dog"),
    (Union[FIRST, SECOND], {"kind": "a"}, "First"),
    (Union[FIRST, SECOND], {"kind": None}, "First"),
    (Union[FIRST, SECOND], {"kind": "b"}, "Second"),
    (Union[NUMBER, TEXT], {"x": 3}, "Number"),
    (Union[NUMBER, TEXT], {"x": "3"}, "Text"),
    (Union[OF_CAT, OF_DOG], {"pet": {"kind": "dog"}}, "OfDog"),
]


@pytest.mark.parametrize(("annotation", "value", "name"), CASES)
@pytest.mark.parametrize("repair", [False, True])
def test_a_value_belongs_to_the_one_member_that_it_fits(annotation, value, name, repair):
    codec = Codec(annotation, repair=repair)
    for each in (codec, codec.compile()):
        decoded = each.decode(value)
        assert type(decoded).__name__ == name
        assert each.decode(each.encode(decoded)) == decoded


@pytest.mark.parametrize("annotation", [annotation for annotation, _, _ in CASES])
@pytest.mark.parametrize("value", [{"kind": "no"}, {"x": []}, {"pet": {"kind": "x"}}, {"x": True}])
def test_no_member_takes_what_the_schema_refuses(annotation, value):
    codec = Codec(annotation)
    if validator(codec.json_schema()).is_valid(value):
        codec.decode(value)
    else:
        with pytest.raises(DecodeError):
            codec.decode(value)


def test_a_discriminator_that_may_be_null_is_required_and_written():
    codec = Codec(Union[FIRST, SECOND])
    for each in (codec, codec.compile()):
        assert each.encode(FIRST(None)) == {"kind": None}
        assert [(p.path, p.code) for p in each.report({})] == [(("kind",), "missing")]
    assert Codec(FIRST).encode(FIRST(None)) == {}
    assert codec.json_schema()["anyOf"][0]["required"] == ["kind"]


def test_null_is_one_of_the_values_of_a_discriminator():
    codec = Codec(Union[LOOSE, STRICT])
    assert codec.decode({"kind": None, "x": 1}) == {"kind": None, "x": 1}
    with pytest.raises(DecodeError, match="x: missing"):
        codec.decode({"kind": None})


def test_the_message_names_every_value_of_the_discriminator():
    with pytest.raises(DecodeError) as caught:
        Codec(Union[CAT, DOG, REPTILE]).decode({"kind": "lizzard"})
    [problem] = caught.value.findings
    assert problem.path == ("kind",)
    assert problem.suggestion == '"lizard"'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cls("A", x=int), cls("B", x=float)),
        (cls("A", x=list[int]), cls("B", x=list[str])),
        (cls("A", kind=Literal["a", "b"]), cls("B", kind=Literal["b", "c"])),
        (cls("A", x=Optional[int]), cls("B", x=Optional[str])),
        (cls("A", pet=CAT), cls("B", pet=CAT)),
        (cls("A", pet=dict[str, int]), cls("B", pet=CAT)),
        (cls("A"), cls("B")),
    ],
)
def test_objects_that_share_values_are_refused(one, other):
    with pytest.raises(SchemaError) as caught:
        Codec(Union[one, other])
    [complaint] = caught.value.findings
    assert complaint.code == "ambiguous"


@pytest.mark.parametrize(
    "fields",
    [
        lambda i: {"kind": Literal[f"k{i}"], "value": int},
        lambda i: {"kind": Literal[f"k{i}", f"l{i}"], "value": int},
        lambda i: {f"f{i}": int, "value": int},
    ],
)
def test_wide_unions_compare_few_pairs(fields, monkeypatch):
    """Twice the members need twice the comparisons, not four times as many."""
    compared: list[int] = []
    why = ambiguity_checks.why_alike
    monkeypatch.setattr(ambiguity_checks, "why_alike", lambda *pair: compared.append(1) or why(*pair))
    members = [cls(f"Member{i}", **fields(i)) for i in range(100)]
    Codec(Union[tuple(members)])
    assert len(compared) <= len(members)


def test_wide_unions_of_choices_compare_few_pairs(monkeypatch):
    compared: list[int] = []
    why = ambiguity_checks.why_alike
    monkeypatch.setattr(ambiguity_checks, "why_alike", lambda *pair: compared.append(1) or why(*pair))
    members = [Enum(f"Choice{i}", {"A": f"a{i}", "B": f"b{i}"}) for i in range(100)]
    Codec(Union[tuple(members)])
    assert not compared


class Whole(pydantic.BaseModel):
    v: int


class Text(pydantic.BaseModel):
    v: str


@pytest.mark.parametrize(
    "members",
    [
        (cls("One", e=Whole, a=Optional[int]), cls("Two", e=Text, b=Optional[int])),
        (
            pydantic.create_model("One", e=(IntEnum("Whole", {"ONE": 1}), ...), a=(int, 0)),
            pydantic.create_model("Two", e=(StrEnum("Text", {"ONE": "1"}), ...), b=(int, 0)),
        ),
    ],
)
def test_no_tier_chooses_where_a_leaf_converts(members):
    codec = Codec(Union[(*members, cls("Other", other=int))])
    value = {"e": {"v": "1"} if members[0].__annotations__["e"] is Whole else "1"}
    for each in (codec, codec.compile()):
        with pytest.raises(DecodeError, match="fits One and Two equally well"):
            each.decode(value)


def test_no_tier_writes_what_a_leaf_of_another_member_converts():
    one, two = cls("One", e=Whole), cls("Two", e=Text)
    codec = Codec(Union[one, two])
    for each in (codec, codec.compile()):
        assert each.encode(one(Whole(v=1))) == {"e": {"v": 1}}
        with pytest.raises(EncodeError, match="what this Two is written as fits One equally well"):
            each.encode(two(Text(v="1")))


def test_what_a_leaf_writes_is_tried_for_another_leaf_without_a_common_tag():
    one = pydantic.create_model("One", e=(IntEnum("Whole", {"ONE": 1}), ...))
    two = pydantic.create_model("Two", e=(StrEnum("Text", {"ONE": "1"}), ...))
    codec = Codec(Union[one, two, cls("Other", other=int)])
    for each in (codec, codec.compile()):
        with pytest.raises(EncodeError, match="what this Two is written as fits One equally well"):
            each.encode(two(e="1"))
