"""Discriminators inside models of pydantic: the schema requires what pydantic requires."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Any, Literal, Union

import pytest
from judge import validator
from libraries import library

from operator_schema import Codec

pydantic = library("pydantic")


class Keep(pydantic.BaseModel):
    path: str = "/"
    kind: Literal["keep"] = "keep"


class Drop(pydantic.BaseModel):
    path: str = "/"
    kind: Literal["drop"] = "drop"
    how: Literal["drop"] = "drop"


class Move(pydantic.BaseModel):
    kind: Literal["drop"] = "drop"
    how: Literal["move"] = "move"


class Aliased(pydantic.BaseModel):
    own: Literal["aliased"] = pydantic.Field("aliased", alias="kind")


class AlsoAliased(pydantic.BaseModel):
    own: Literal["keep"] = pydantic.Field("keep", alias="kind")


class Tree(pydantic.BaseModel):
    kind: Literal["tree"] = "tree"
    leaves: list[Annotated[Union[Keep, Tree], pydantic.Field(discriminator="kind")]] = []


def pair(one: Any, other: Any) -> Any:
    return pydantic.create_model("Pair", one=(one, ...), other=(other, ...))


BY_KIND = Annotated[Union[Keep, Drop], pydantic.Field(discriminator="kind")]
BY_HOW = Annotated[Union[Drop, Move], pydantic.Field(discriminator="how")]
FORMS: list[tuple[Any, Any]] = [
    (BY_KIND, lambda value: value),
    (Union[BY_KIND, None], lambda value: value),
    (list[BY_KIND], lambda value: [value]),
    (dict[str, BY_KIND], lambda value: {"a": value}),
    (Annotated[Union[AlsoAliased, Aliased], pydantic.Field(discriminator="own")], lambda value: value),
    (Annotated[Union[Keep, BY_HOW], pydantic.Field(discriminator="kind")], lambda value: value),
    (pair(Keep, BY_KIND), lambda value: {"one": {}, "other": value}),
    (pair(BY_KIND, BY_HOW), lambda value: {"one": {"kind": "keep"}, "other": value}),
    (Tree, lambda value: {"leaves": [value]}),
    (pair(Union[Keep, int], BY_HOW), lambda value: {"one": 1, "other": value}),
    (Keep, lambda value: value),
]
VALUES: list[dict[str, Any]] = [
    dict(pairs)
    for pairs in product(
        [("path", "/")],
        *[
            [("other", 1), *[(key, each) for each in ("keep", "drop", "move", "tree", "aliased")]]
            for key in ("kind", "how")
        ],
    )
]


@pytest.mark.parametrize(("annotation", "around"), FORMS)
@pytest.mark.parametrize("is_root", [False, True])
def test_the_schema_requires_the_discriminator_that_pydantic_requires(annotation, around, is_root):
    if is_root:
        cls, key = pydantic.RootModel[annotation], lambda value: value
    else:
        cls, key = pydantic.create_model("Holder", x=(annotation, ...)), lambda value: {"x": value}
    codec = Codec(cls)
    judge = validator(codec.json_schema())
    for value in VALUES:
        given = key(around(value))
        assert judge.is_valid(given) == (not codec.report(given)), given
    assert not codec.report(codec.example())


class Tagged(pydantic.BaseModel):
    a: Literal["tagged"] = "tagged"
    b: Literal["tagged"] = "tagged"
    a_b: Literal["tagged"] = "tagged"


class Other(pydantic.BaseModel):
    a: Literal["other"] = "other"
    b: Literal["other"] = "other"
    a_b: Literal["other"] = "other"


def by(key: str, *classes: Any) -> Any:
    return Annotated[Union[classes], pydantic.Field(discriminator=key)]


@pytest.mark.parametrize("name", ["Tagged_with_a_b", "Tagged_with_a", "Other_with_a_b", "Tagged_with_a_b_"])
@pytest.mark.parametrize("named_first", [False, True])
def test_definitions_that_we_make_take_no_name_of_another_class(name, named_first):
    Third = pydantic.create_model("Third", a=(Literal["third"], "third"))  # noqa: N806  # it is a class
    named = pydantic.create_model(name, number=(int, 0))
    forms = {"one": by("a_b", Tagged, Other), "two": by("a", by("b", Tagged, Other), Third), "own": Tagged}
    fields = {"named": named, **forms} if named_first else {**forms, "named": named}
    codec = Codec(pydantic.create_model("Holder", **{key: (form, ...) for key, form in fields.items()}))
    judge = validator(codec.json_schema())
    whole = {key: {"a": "tagged", "b": "tagged", "a_b": "tagged"} for key in forms}
    for key, lacking in product([*forms, "named"], ["a", "b", "a_b", "all"]):
        object_ = {inner: text for inner, text in whole.get(key, {}).items() if inner != lacking}
        for changed in ({} if lacking == "all" else object_, {"number": "x"}):
            given = {"named": {"number": 1}, **whole, key: changed}
            assert judge.is_valid(given) == (not codec.report(given)), given
    assert not codec.report(codec.example())


def test_a_class_that_is_used_alone_as_well_keeps_its_default_there():
    cls = pydantic.create_model("Holder", one=(Keep, ...), other=(BY_KIND, ...))
    definitions = Codec(cls).json_schema()["$defs"]
    assert "required" not in definitions["Keep"]
    assert definitions["Keep_with_kind"]["required"] == definitions["Drop"]["required"] == ["kind"]


class Sorter(pydantic.BaseModel):
    discriminator: str


class Shelf(pydantic.BaseModel):
    sorter: Sorter
    spare: Sorter | None = None


def test_a_field_that_has_the_name_discriminator_changes_nothing():
    assert Codec(Shelf).json_schema()["$defs"]["Sorter"]["required"] == ["discriminator"]
    assert Codec(Shelf).decode({"sorter": {"discriminator": "a"}}) == Shelf(sorter=Sorter(discriminator="a"))
