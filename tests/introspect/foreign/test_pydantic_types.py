"""Types of pydantic that are no models: their own schema, validator and serializer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from libraries import library

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, json_schema, tool

pydantic = library("pydantic")
core_schema = library("pydantic_core").core_schema

BaseModel = pydantic.BaseModel
Field = pydantic.Field


class Even(int):
    """A number that says itself how pydantic reads it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        return core_schema.no_info_after_validator_function(cls._checked, core_schema.int_schema())

    @classmethod
    def _checked(cls, value: int) -> Even:
        if value % 2:
            message = "not even\nforged: line"
            raise ValueError(message)
        return cls(value)


URL = "https://example.com/a"
TYPES = [
    (pydantic.HttpUrl, URL, "no url", pydantic.HttpUrl(URL)),
    (pydantic.AnyUrl, "foo://a", "a b", pydantic.AnyUrl("foo://a")),
    (
        pydantic.AwareDatetime,
        "2026-01-31T09:30:00Z",
        "2026-01-31T09:30:00",
        datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
    ),
    (pydantic.PastDatetime, "2000-01-01T00:00:00Z", "3000-01-01T00:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
    (pydantic.FutureDate, "3000-01-01", "2000-01-01", date(3000, 1, 1)),
    (pydantic.IPvAnyAddress, "192.0.2.1", "192.0.2.256", IPv4Address("192.0.2.1")),
    (pydantic.IPvAnyNetwork, "192.0.2.0/24", "x", IPv4Network("192.0.2.0/24")),
    (pydantic.ByteSize, 1000, "1 apple", pydantic.ByteSize(1000)),
    (Even, 4, 3, Even(4)),
]


@pytest.mark.parametrize("calls", [1, 300])
@pytest.mark.parametrize(("annotation", "good", "bad", "instance"), TYPES, ids=lambda value: str(value)[:30])
def test_values_are_read_and_written_as_pydantic_does(annotation, good, bad, instance, calls):
    single, several = Codec(annotation), Codec(dict[str, list[annotation | None]])
    for _ in range(calls):
        assert single.decode(good) == instance
        assert type(single.decode(good)) is type(
            pydantic.TypeAdapter(annotation).validate_json(json.dumps(good))
        )
        assert several.decode({"a": [good, None]}) == {"a": [instance, None]}
        assert several.encode({"a": [instance, None]}) == {"a": [single.encode(instance), None]}
        assert single.decode(single.encode(instance)) == instance
        with pytest.raises(DecodeError) as caught:
            several.decode({"a": [good, bad]})
        assert [problem.path for problem in caught.value.findings] == [("a", 1)]
        assert "\nforged" not in str(caught.value)
    for schema in (single.json_schema(), several.json_schema()):
        Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(single.json_schema()).is_valid(good)


@pytest.mark.parametrize(("annotation", "good", "_", "instance"), TYPES, ids=lambda value: str(value)[:30])
def test_they_are_parameters_fields_and_results(annotation, good, _, instance):
    @dataclass
    class Holder:
        inner: annotation  # type: ignore[valid-type]  # of whatever kind

    @tool(namespace={"annotation": annotation, "Holder": Holder})
    def work(x: annotation, holder: Holder) -> annotation:
        assert x == holder.inner
        return x

    written = Codec(annotation).encode(instance)
    assert work.run({"x": good, "holder": {"inner": good}}) == (
        written if isinstance(written, str) else json.dumps(written)
    )
    assert work.write_output(instance).json == written


def test_an_aware_datetime_is_a_datetime_as_everywhere():
    assert json_schema(pydantic.AwareDatetime) == json_schema(datetime)


@pytest.mark.parametrize(
    "annotation", [pydantic.JsonValue, dict[str, pydantic.JsonValue], list[pydantic.JsonValue]]
)
def test_any_json_value_is_any(annotation):
    plain = {pydantic.JsonValue: Any, dict[str, pydantic.JsonValue]: dict[str, Any]}
    assert json_schema(annotation) == json_schema(plain.get(annotation, list[Any]))


class Login(BaseModel):
    user: str
    password: pydantic.SecretStr


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (pydantic.SecretStr, "hunter2"),
        (pydantic.SecretBytes, "hunter2"),
        (Login, {"user": "a", "password": "hunter2"}),
    ],
    ids=str,
)
def test_a_secret_is_read_and_never_written(annotation, value):
    codec = Codec(annotation)
    secret = codec.decode(value)
    with pytest.raises(EncodeError, match="it holds a secret, which is never written"):
        codec.encode(secret)  # the stars would be read again as the secret

    @tool(namespace={"annotation": annotation})
    def show(secret: annotation) -> annotation:
        return secret

    assert "hunter2" not in show.run({"secret": value})
    assert "**********" in show.run({"secret": value})


def test_stars_that_are_no_secret_are_written():
    class Stars(BaseModel):
        text: str

    assert Codec(Stars).encode(Stars(text="**********")) == {"text": "**********"}
    assert Codec(pydantic.SecretStr).encode(pydantic.SecretStr("")) == ""


def complaint(annotation: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        Codec(annotation)
    assert len(caught.value.findings) == 1
    return str(caught.value).partition("\n- ")[2]


class Unwritable:
    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        return core_schema.is_instance_schema(cls)


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (
            pydantic.ImportString,
            "it imports any module that a model names. Use a Literal, and do the import in your function.",
        ),
        (pydantic.NaiveDatetime, "Write datetime, with the leaf for local times."),
        (pydantic.Secret[int], "pydantic.types.Secret is not supported. See docs/other-libraries.md"),
        (Unwritable, "Unwritable can't be read: its own code raised PydanticInvalidForJsonSchema"),
        (pydantic.UUID4, "Write UUID, and check its version in the __post_init__ of a dataclass."),
        (pydantic.FilePath, "Write Path, and look for the file in your function."),
        (pydantic.Base64Bytes, "Write bytes, which is base64 in JSON."),
        (pydantic.Base64Str, "Write str, and decode it in your function."),
        (pydantic.Json[list[int]], "Write the type that is inside: arguments are JSON already."),
        (
            pydantic.condecimal(max_digits=5),
            "Give up to 15, and decimal_places as well: together they are limits.",
        ),
        (pydantic.condecimal(max_digits=2, decimal_places=2), "of pydantic.Field has no meaning here. Give "),
        (pydantic.condecimal(max_digits=1, decimal_places=2), "of pydantic.Field has no meaning here. Give "),
        (
            pydantic.condecimal(max_digits=20, decimal_places=2),
            "of pydantic.Field has no meaning here. Give ",
        ),
        (pydantic.condecimal(decimal_places=16), "Give 0 to 15, and less than max_digits."),
        (pydantic.condecimal(decimal_places=-1), "Give 0 to 15, and less than max_digits."),
        (Annotated[int, Field(decimal_places=2)], "Count in the smaller unit as int, or use Decimal."),
    ],
    ids=str,
)
def test_what_cannot_be_said_is_refused_with_what_to_write(annotation, said):
    assert said in complaint(annotation)


MONEY = [
    pydantic.condecimal(decimal_places=2),
    pydantic.condecimal(decimal_places=0),
    pydantic.condecimal(max_digits=5, decimal_places=2),
    pydantic.condecimal(max_digits=3, decimal_places=2),
    Annotated[Decimal, Field(max_digits=5, decimal_places=2, gt=0)],
]
AMOUNTS: list[str | float] = [
    *(
        "12.50",
        "12.505",
        "12.500",
        "999.99",
        "1000",
        "-999.99",
        "-1000",
        "0.01",
        "1e2",
        "1e-3",
        "99999",
        "0",
        "-0.5",
    ),
    *(12.5, 12.34, 0.07, 1, 1000, 0.001),
]


@pytest.mark.parametrize("annotation", MONEY, ids=range(len(MONEY)))
def test_places_and_digits_of_a_decimal_are_step_and_limits(annotation):
    codec, theirs = Codec(annotation), pydantic.TypeAdapter(annotation)
    for amount in AMOUNTS:
        try:
            expected = theirs.validate_json(json.dumps(amount))
        except ValueError:
            with pytest.raises(DecodeError):
                codec.decode(amount)
        else:
            assert codec.decode(amount) == expected


def test_places_are_in_the_description():
    description = json_schema(pydantic.condecimal(max_digits=5, decimal_places=2))["description"]
    assert description == "decimal number, > -1000 and < 1000 and a multiple of 0.01"


def test_a_type_is_one_of_a_union():
    with pytest.raises(SchemaError, match="can't be told apart"):
        Codec(pydantic.AnyUrl | pydantic.HttpUrl)
    assert [Codec(str | pydantic.HttpUrl).decode(text) for text in (URL, "x")] == [pydantic.HttpUrl(URL), "x"]
    assert Codec(int | pydantic.HttpUrl).decode(URL) == pydantic.HttpUrl(URL)
    assert Codec(int | pydantic.HttpUrl).encode(pydantic.HttpUrl(URL)) == URL
    assert Codec(int | pydantic.HttpUrl).encode(3) == 3
