"""What pydantic's decorators and settings say about classes that are no models is followed or refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import pytest
from jsonschema import Draft202012Validator
from libraries import library
from typing_extensions import TypedDict

from operator_schema import Codec, DecodeError, SchemaError, json_schema, tool

attrs, pydantic = library("attrs"), library("pydantic")
library("pydantic.dataclasses")

T = TypeVar("T")
with_pydantic = pydantic.dataclasses.dataclass


@with_pydantic(config=pydantic.ConfigDict(extra="forbid"))
class Closed:
    size: int


@with_pydantic
class StillClosed(Closed):
    more: int = 1


@pydantic.with_config(pydantic.ConfigDict(extra="forbid", title="Any", frozen=True))
class ClosedDict(TypedDict):
    size: int


@pydantic.with_config(pydantic.ConfigDict(extra="forbid"))
@dataclass
class ClosedPlain:
    size: int


@pytest.mark.parametrize("calls", [1, 300])
@pytest.mark.parametrize("cls", [Closed, StillClosed, ClosedDict, ClosedPlain])
def test_forbidden_keys_are_refused_and_the_schema_says_so(cls: Any, calls: int) -> None:
    codec = Codec(list[cls])
    for _ in range(calls):
        assert codec.decode([{"size": 1}]) == [cls(size=1)]
        with pytest.raises(DecodeError) as caught:
            codec.decode([{"size": 1, "sise": 2}])
    assert [(problem.path, problem.code) for problem in caught.value.findings] == [((0, "sise"), "unknown")]
    assert json_schema(cls)["additionalProperties"] is False


def refuse(value: Any) -> Any:
    message = f"no: {value}"
    raise ValueError(message)


@dataclass
class Plain:
    size: int

    _check = pydantic.field_validator("size")(refuse)


@dataclass
class Inherited(Plain):
    pass


@dataclass
class PlainWhole:
    size: int

    @pydantic.model_validator(mode="after")
    def _check(self) -> PlainWhole:
        return refuse(self)


class Dict(TypedDict):
    size: int

    _check = pydantic.field_validator("size")(refuse)  # type: ignore[misc]  # pydantic takes it


class Tuple(NamedTuple):
    size: int
    _check = pydantic.field_serializer("size")(refuse)


@attrs.define
class Attrs:
    size: int

    _check = pydantic.field_validator("size")(refuse)


@pydantic.with_config(pydantic.ConfigDict(str_strip_whitespace=True))
class Stripped(TypedDict):
    name: str


@dataclass
class Upper:
    name: str
    __pydantic_config__ = pydantic.ConfigDict(str_to_upper=True)


@with_pydantic
class Serialized:
    size: int

    @pydantic.field_serializer("size")
    def _write(self, size: int) -> str:
        return str(size)


@with_pydantic
class SerializedWhole:
    size: int

    @pydantic.model_serializer
    def _write(self) -> str:
        return str(self.size)


@with_pydantic(config=pydantic.ConfigDict(extra="allow"))
class Open:
    size: int


@with_pydantic
class StillOpen(Open):
    more: int = 1


@pydantic.with_config(pydantic.ConfigDict(extra="allow"))
class OpenDict(TypedDict):
    size: int


@pydantic.with_config(pydantic.ConfigDict(extra="allow"))
@dataclass
class OpenPlain:
    size: int


UNFOLLOWED = [Plain, Inherited, PlainWhole, Dict, Tuple, Attrs, Stripped, Upper, Serialized, SerializedWhole]
KEEPING = [Open, StillOpen, OpenDict, OpenPlain]


@pytest.mark.parametrize("cls", [*UNFOLLOWED, *KEEPING])
def test_what_nothing_would_run_is_refused(cls: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        Codec(list[cls])
    complaint = caught.value.findings[0]
    assert complaint.path[-1] in {"_check", "_write", "__pydantic_config__"}
    assert "pydantic" in complaint.message
    assert "BaseModel" in complaint.remedy


def test_settings_and_validators_that_the_constructor_follows_are_taken() -> None:
    @with_pydantic(config=pydantic.ConfigDict(str_strip_whitespace=True))
    class Person:
        name: str

        @pydantic.field_validator("name")
        @classmethod
        def _upper(cls, name: str) -> str:
            return name.upper()

    assert Codec(Person).decode({"name": " ada "}) == Person("ADA")


@with_pydantic
@dataclass
class Box(Generic[T]):
    inside: T


def test_a_generic_dataclass_that_pydantic_made_anew_keeps_its_argument() -> None:
    assert json_schema(Box[int])["properties"]["inside"] == {"type": "integer"}
    with pytest.raises(DecodeError, match="inside: expected integer"):
        Codec(Box[int]).decode({"inside": "a"})
    assert Codec(Box[str]).decode({"inside": "a"}) == Box("a")


@dataclass
class Base:
    """A size.

    Attributes:
        size: How large.
    """

    size: int


class Derived(pydantic.BaseModel, Base):
    more: int = 1


def test_a_model_that_inherits_from_a_dataclass_is_a_model() -> None:
    assert list(json_schema(Derived)["properties"]) == list(Derived.model_json_schema()["properties"])

    @tool
    def take(given: Derived) -> Derived:
        return given

    schema = take.output_schema()
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    assert Codec(Derived).decode({"size": 1, "more": 2}).more == 2
