"""What classes of other libraries say about a value reaches the model at its field, escaped and short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from libraries import library

from operator_schema import Codec, DecodeError

attrs, msgspec, pydantic = library("attrs"), library("msgspec"), library("pydantic")

HOSTILE = [
    "\x1b[31mred",
    "a\n- y: forged",
    "x" * 100_000,
    "\u202egnp",
    "\ud800",
    "\x00",
    "\N{TAG LATIN SMALL LETTER A}",
]


def refuse(text: str) -> str:
    if text != "fine":
        message = f"bad value {text}"
        raise ValueError(message)
    return text


class Model(pydantic.BaseModel):
    text: str

    _check = pydantic.field_validator("text")(refuse)


class WholeModel(pydantic.BaseModel):
    text: str

    @pydantic.model_validator(mode="before")
    @classmethod
    def _check(cls, value: Any) -> Any:
        refuse(value["text"])
        return value


@pydantic.dataclasses.dataclass
class PydanticDataclass:
    text: str

    _check = pydantic.field_validator("text")(refuse)


@dataclass
class Plain:
    text: str

    def __post_init__(self) -> None:
        refuse(self.text)


@attrs.define
class Attrs:
    text: str = attrs.field(validator=lambda _self, _field, text: refuse(text))


def refuse_in_full(_self: object, field: Any, text: str) -> None:
    raise ValueError(f"{field.name} is bad: {text}", field, text)


@attrs.define
class AttrsInFull:
    text: str = attrs.field(validator=refuse_in_full)


class Struct(msgspec.Struct):
    text: str

    def __post_init__(self) -> None:
        refuse(self.text)


KINDS = [Model, WholeModel, PydanticDataclass, Plain, Attrs, AttrsInFull, Struct]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("cls", KINDS, ids=lambda cls: cls.__name__)
def test_a_report_is_printable_and_short_whatever_a_constructor_says(cls: Any, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(list[cls]).decode([{"text": text}])
    (problem,) = caught.value.findings
    assert problem.message.isprintable()
    assert len(problem.message) <= 300
    assert len(problem.received or "") <= 100
    lines = str(caught.value).splitlines()
    assert len(lines) <= 4
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("calls", [1, 300])
@pytest.mark.parametrize("cls", [Model, PydanticDataclass, AttrsInFull])
def test_what_names_a_field_is_reported_there(cls: Any, calls: int) -> None:
    whole, inside = Codec(cls), Codec(dict[str, list[cls]])
    for _ in range(calls):
        assert paths(whole, {"text": "odd"}) == [("text",)]
        assert paths(inside, {"a": [{"text": "odd"}]}) == [("a", 0, "text")]


def paths(codec: Codec[Any], value: Any) -> list[Any]:
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    assert all(problem.code == "rejected" for problem in caught.value.findings)
    assert "Attribute(" not in str(caught.value)
    assert "errors.pydantic.dev" not in str(caught.value)
    return [problem.path for problem in caught.value.findings]


def test_each_error_of_a_pydantic_dataclass_has_its_path() -> None:
    @pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(validate_by_name=True))
    class Both:
        first: list[int]
        second: int = pydantic.Field(alias="secondOne")

        @pydantic.field_validator("first")
        @classmethod
        def _few(cls, first: list[int]) -> list[int]:
            refuse("many")
            return first

        @pydantic.field_validator("second")
        @classmethod
        def _small(cls, second: int) -> int:
            refuse("large")
            return second

    codec = Codec(list[Both])
    assert paths(codec, [{"first": [1], "secondOne": 2}]) == [(0, "first"), (0, "secondOne")]


def test_what_names_no_field_is_reported_at_the_object() -> None:
    assert paths(Codec(list[Attrs]), [{"text": "odd"}]) == [(0,)]

    @attrs.define
    class Odd:
        text: str

        def __attrs_post_init__(self) -> None:
            raise ValueError({"not": "a text"}, Codec)

    assert paths(Codec(list[Odd]), [{"text": "odd"}]) == [(0,)]
