"""Dataclasses that pydantic made: what their `Field(…)` says is read, their constructor checks the rest."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from libraries import library

from operator_schema import Codec, DecodeError, SchemaError, json_schema

pydantic = library("pydantic")
library("pydantic.dataclasses")

Field = pydantic.Field


@pydantic.dataclasses.dataclass
class Order:
    amount: Annotated[int, Field(le=9)] = Field(3, ge=1, description="Count")
    note: str = Field(max_length=5)
    tags: list[str] = Field(default_factory=list)
    plain: int = 1

    @pydantic.field_validator("note")
    @classmethod
    def _no_shouting(cls, note: str) -> str:
        if note.isupper():
            message = "no shouting"
            raise ValueError(message)
        return note


def test_what_the_default_says_is_in_the_schema() -> None:
    assert json_schema(Order) == {
        "type": "object",
        "properties": {
            "amount": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9,
                "default": 3,
                "description": "Count",
            },
            "note": {"type": "string", "maxLength": 5},
            "tags": {"type": "array", "items": {"type": "string"}},
            "plain": {"type": "integer", "default": 1},
        },
        "required": ["note"],
    }


@pytest.mark.parametrize("calls", [1, 300])
def test_it_is_decoded_and_encoded_like_any_dataclass(calls: int) -> None:
    codec = Codec(Order)
    for _ in range(calls):
        value = codec.decode({"note": "hi"})
        assert (value.amount, value.tags) == (3, [])
        assert codec.encode(value) == {"amount": 3, "note": "hi", "tags": [], "plain": 1}


def test_its_validators_run() -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(Order).decode({"note": "HI"})
    (problem,) = caught.value.findings
    assert problem.code == "rejected"
    assert "no shouting" in problem.message


@pydantic.dataclasses.dataclass
class Aliased:
    limit: int = Field(alias="maxResults", default=3)


@pydantic.dataclasses.dataclass(config={"validate_by_name": True})
class ByName:
    limit: int = Field(alias="maxResults", default=3)


def test_an_alias_that_the_constructor_wants_too_is_refused() -> None:
    with pytest.raises(SchemaError, match="pydantic takes it by its alias alone") as caught:
        json_schema(Aliased)
    assert caught.value.findings[0].path == ("limit",)


def test_an_alias_is_the_key_where_the_constructor_takes_the_name() -> None:
    codec = Codec(ByName)
    assert codec.decode({"maxResults": 7}) == ByName(limit=7)
    assert codec.encode(ByName(limit=7)) == {"maxResults": 7}


def test_an_annotation_that_cannot_be_evaluated_is_what_is_complained_about() -> None:
    made: dict[str, Any] = {}
    source = "@dataclass\nclass Lost:\n    x: 'Nowhere' = Field(3)\n"
    exec(source, {"dataclass": pydantic.dataclasses.dataclass, "Field": Field, "__name__": "lost"}, made)  # noqa: S102  # its module lacks a name
    with pytest.raises(SchemaError, match="Nowhere"):
        json_schema(made["Lost"])
