"""Unions with models of pydantic: their schemas say by what they are told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from libraries import library

from operator_schema import Codec, DecodeError, SchemaError, json_schema, tool

pydantic = library("pydantic")

Field = pydantic.Field
BaseModel = pydantic.BaseModel


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, ge=1)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    lives: int


class Bird(BaseModel):
    wings: int
    age: int = 0


@dataclass
class Car:
    kind: Literal["car"]
    wheels: int = 4


class Black(BaseModel):
    kind: Literal["cat"]
    color: Literal["black"]


class White(BaseModel):
    kind: Literal["cat"]
    color: Literal["white"]


class Lizard(BaseModel):
    kind: Literal["lizard"]


Nested = Annotated[
    Annotated[Black | White, Field(discriminator="color")] | Lizard, Field(discriminator="kind")
]


class Home(BaseModel):
    pet: Nested


@pytest.mark.parametrize("calls", [1, 300])
@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (Cat | Dog, {"kind": "dog", "lives": 3}, Dog(lives=3)),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "cat"}, Cat(kind="cat")),
        (Cat | Dog | None, None, None),
        (list[Cat | Car], [{"kind": "car"}], [Car("car")]),
        (list[Cat | Car | str], ["x", {"kind": "cat"}], ["x", Cat(kind="cat")]),
        (Bird | Cat, {"wings": 2}, Bird(wings=2)),
        (
            dict[str, Nested],
            {"a": {"kind": "cat", "color": "white"}},
            {"a": White(kind="cat", color="white")},
        ),
        (Home, {"pet": {"kind": "lizard"}}, Home(pet=Lizard(kind="lizard"))),
    ],
)
def test_constants_and_required_keys_tell_models_apart(annotation, value, instance, calls) -> None:
    codec: Codec[Any] = Codec(annotation)
    for _ in range(calls):
        assert codec.decode(value) == instance
        assert codec.decode(codec.encode(instance)) == instance
    Draft202012Validator(codec.json_schema()).validate(value)


@pytest.mark.parametrize("calls", [1, 300])
def test_the_problems_are_those_of_the_member_that_was_meant(calls) -> None:
    codec: Codec[Any] = Codec(list[Cat | Dog | Car])
    for _ in range(calls):
        with pytest.raises(DecodeError) as caught:
            codec.decode([{"kind": "cow"}, {"kind": "dog", "lives": "x"}, {"kind": "cat", "lives": 0}, {}])
    assert [(problem.path, problem.code) for problem in caught.value.findings] == [
        ((0, "kind"), "not_one_of"),
        ((1, "lives"), "wrong_type"),
        ((2, "lives"), "out_of_range"),
        ((3, "kind"), "missing"),
    ]


class Whole(BaseModel):
    size: int


class Text(BaseModel):
    size: str


@pytest.mark.parametrize("annotation", [Whole | Text, list[Whole] | list[Text], Whole | dict[str, int]])
def test_types_alone_tell_no_models_apart_because_models_convert_them(annotation) -> None:
    with pytest.raises(SchemaError, match="can't be told apart"):
        json_schema(annotation)


def test_a_nested_discriminator_keeps_its_references_wherever_the_model_stands() -> None:
    @tool
    def move(homes: list[Home], other: Home | None = None) -> str:
        return (other or homes[0]).pet.kind

    schema = move.input_schema()
    Draft202012Validator.check_schema(schema)
    assert sorted(schema["$defs"]) == ["Black", "Lizard", "White"]
    assert move.run({"homes": [{"pet": {"kind": "cat", "color": "black"}}]}) == "cat"


class Order(BaseModel, extra="forbid"):
    kind: Literal["order"]
    lines: list[Bird] = []
    note: str | None = None
    either: Cat | Dog | None = None
    level: Literal[1, 2] = 1
    any: Any = None


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        ({"kindd": "order"}, 'kind: missing ("order", required); rename "kindd" to "kind"'),
        (
            {"kind": "order", "linse": []},
            'linse: unknown key; the keys are "kind", "lines", "note", "either"',
        ),
        ({"kind": "order", "lines": [{"wing": 1}]}, "lines[0].wings: missing (integer, required)"),
        ({"kind": "order", "either": {"kind": "cat", "lives": "x"}}, "either.lives: Input should be"),
    ],
)
def test_the_problems_of_a_model_say_what_it_expects(value, reported) -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(list[Order]).decode([value])
    assert f"[0].{reported}" in str(caught.value)
    assert 'expects: array of (object {kind: "order", lines?: array of object, note?: string | null' in str(
        caught.value
    )
