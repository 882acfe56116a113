"""Unions with models of pydantic: their schemas say by what they are told apart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Any, Literal, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from libraries import library

from operator_schema import Codec, DecodeError, SchemaError, json_schema, tool
from operator_schema.workbench.lint import lint_type

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


# --- unions inside a model -----------------------------------------------------------------------


class Keep(BaseModel):
    kind: Literal["keep"] = "keep"


class Drop(BaseModel):
    kind: Literal["drop"] = "drop"


VALUES = {int: 1, bool: True, str: "a", "keep": "keep", "drop": "drop", list: [1]}
"""What a field takes, a Literal by its text, to a value of it."""

AROUND = {
    "alone": lambda union: union,
    "or null": lambda union: union | None,
    "list": lambda union: list[union],
    "map": lambda union: dict[str, union],
    "pair": lambda union: tuple[int, union],
}


@st.composite
def members(draw: st.DrawFn, number: int) -> Any:
    """Draw a model with up to three fields, each maybe with a default."""
    kinds = draw(st.dictionaries(st.sampled_from("abk"), st.sampled_from(list(VALUES)), min_size=1))
    fields = {
        key: (Literal[kind] if isinstance(kind, str) else kind, VALUES[kind] if draw(st.booleans()) else ...)
        for key, kind in kinds.items()
    }
    return pydantic.create_model(f"Member{number}", **fields)


@pytest.mark.slow("makes models of pydantic")
@given(data=st.data())
def test_check_names_each_union_inside_a_model_whose_order_decides(data: st.DataObject) -> None:
    several = [data.draw(members(number)) for number in range(data.draw(st.integers(2, 3)))]
    around = AROUND[data.draw(st.sampled_from(list(AROUND)))]
    fits = {key: st.sampled_from(list(VALUES.values())) for key in "abk"}
    value = data.draw(st.fixed_dictionaries({}, optional=fits))
    chosen = {_read_by_pydantic(Union[tuple(order)], value) for order in permutations(several)}
    is_guessed = len({model for model in chosen if value.keys() <= model.model_fields.keys()}) > 1
    inner = pydantic.create_model("Inner", field=(around(Union[tuple(several)]), ...))
    outer = pydantic.create_model("Outer", inner=(list[inner], ...))
    found = [each for each in lint_type(Codec(outer)) if each.code == "overlapping_members"]
    assert all(each.path[:3] == ("inner", "*", "field") for each in found)
    assert found or not is_guessed


def _read_by_pydantic(union: Any, value: Any) -> Any:
    try:
        return type(pydantic.TypeAdapter(union).validate_json(json.dumps(value)))
    except ValueError:
        return BaseModel


class Step(BaseModel):
    """Unions that a discriminator or a function decides, or in which nothing has to be guessed."""

    tagged: Annotated[Keep | Drop, Field(discriminator="kind")]
    tagged_or_null: Annotated[Keep | Drop, Field(discriminator="kind")] | None = None
    by_function: (
        Annotated[
            Annotated[Keep, pydantic.Tag("a")] | Annotated[Drop, pydantic.Tag("b")],
            pydantic.Discriminator(lambda _: "a"),
        ]
        | None
    ) = None
    by_tags: list[Cat | Lizard]
    plain: Keep | int | str | None = None
    again: Step | None = None


def test_check_says_nothing_where_a_discriminator_or_a_function_chooses() -> None:
    assert not [each for each in lint_type(Codec(Step)) if each.code == "overlapping_members"]
    assert not [each for each in lint_type(Codec(Home)) if each.code == "overlapping_members"]


def test_check_says_which_members_pydantic_guesses_and_what_to_write() -> None:
    fields = {"steps": (list[Keep | Drop], ...), "step": (Step, ...), "pair": (tuple[int, Keep | Drop], ...)}
    model = pydantic.create_model("Plan", **fields)
    findings = [each for each in lint_type(Codec(model)) if each.code == "overlapping_members"]
    assert [(found.path, found.severity) for found in findings] == [
        (("steps", "*"), "warning"),
        (("pair", "*"), "warning"),
    ]
    for found in findings:
        assert found.message == "an object may fit both Drop and Keep, and pydantic guesses which is meant"
        assert 'Field(discriminator="kind")' in found.remedy
