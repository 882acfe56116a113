"""pydantic models at their corners: examples of results, documents of their own, readers of older models."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from libraries import library

from operator_schema import Codec, EncodeError, SchemaError, json_schema, tool

pydantic: Any = library("pydantic")

BaseModel: Any = pydantic.BaseModel


class Cat(BaseModel):
    name: str


class Square(BaseModel):
    side: int

    @pydantic.computed_field
    @property
    def area(self) -> int:
        return int(self.side**2)


def test_an_example_of_a_result_is_valid_for_its_schema() -> None:
    @tool
    def make(side: int) -> Square:
        return Square(side=side)

    described = make.structured_output()
    assert described is not None
    example = described.codec.example()
    assert sorted(example) == ["area", "side"]
    validator: Any = Draft202012Validator(described.schema)
    assert validator.is_valid(example)


class Addressed(BaseModel):
    model_config = {"json_schema_extra": {"$id": "https://example.com/addressed.json"}}

    pet: Cat


def test_a_model_whose_schema_is_a_document_of_its_own_is_refused_by_name() -> None:
    with pytest.raises(SchemaError, match=r"Addressed can't be used: json_schema uses \$id, which can't be"):
        json_schema(Addressed)


class Place(Enum):
    HOME = [0, 0]  # no tuple: pydantic looks for the array of the JSON
    WORK = [3, 4]


class Visit(BaseModel):
    place: Place


class Stay(BaseModel):
    nights: int


def test_a_model_of_choices_that_are_no_scalars_is_told_apart_by_its_keys() -> None:
    codec: Codec[Any] = Codec(Visit | Stay)
    assert codec.decode({"place": [3, 4]}) == Visit(place=Place.WORK)
    assert codec.decode({"nights": 2}) == Stay(nights=2)


class Growing(BaseModel):
    size: int

    @pydantic.field_validator("size")
    @classmethod
    def _more(cls, size: int) -> int:
        return size + 1

    @pydantic.computed_field
    @property
    def later(self) -> Callable[[int], int]:  # which has no JSON Schema
        return lambda more: int(self.size + more)


def test_a_value_that_changes_is_not_written_even_where_the_schema_for_writing_cannot_be_made() -> None:
    with pytest.raises(EncodeError, match="what it writes would be read back as another value"):
        Codec(Growing).encode(Growing(size=7))


class Older(BaseModel):
    """As a model was written before pydantic 2.11, which gave its readers more options."""

    size: int = pydantic.Field(alias="theSize")

    @classmethod
    def model_validate_json(cls, json_data: Any, *, strict: bool | None = None, context: Any = None) -> Any:
        inherited: Any = super()
        return inherited.model_validate_json(json_data, strict=strict, context=context)


def test_a_result_may_be_a_model_whose_reader_takes_no_newer_options() -> None:
    @tool
    def make(size: int) -> Older:
        return Older(theSize=size)

    assert json.loads(make.run({"size": 2})) == {"theSize": 2}
