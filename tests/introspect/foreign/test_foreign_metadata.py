"""Metadata of pydantic, msgspec and annotated-types in `Annotated`: read, or refused; never lost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, make_dataclass
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, Optional, TypedDict

import pytest
from libraries import library
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, SchemaError, json_schema, tool

pydantic = library("pydantic")
msgspec = library("msgspec")
at = library("annotated_types")
attrs = library("attrs")

Field = pydantic.Field


def complaint(annotation: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        json_schema(annotation)
    (only,) = caught.value.findings
    return f"{only.message}. {only.remedy}"


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (
            Annotated[int, Field(ge=1, lt=9, multiple_of=2)],
            {"minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2},
        ),
        (Annotated[int, Field(gt=1, le=9)], {"exclusiveMinimum": 1, "maximum": 9}),
        (Annotated[int, Field(description="How many")], {"description": "How many"}),
        (Annotated[int, Field(strict=True, repr=False, frozen=True, exclude=False)], {}),
        (
            Annotated[int, msgspec.Meta(ge=1, description="d", extra={"a": 1})],
            {"minimum": 1, "description": "d"},
        ),
        (pydantic.conint(ge=1, strict=True), {"minimum": 1}),
        (pydantic.PositiveInt, {"exclusiveMinimum": 0}),
    ],
)
def test_what_is_said_of_an_integer_is_in_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    found = json_schema(annotation)
    assert found == {"type": "integer", **schema}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Annotated[str, Field(min_length=2, pattern="^a+$")], {"minLength": 2, "pattern": "^a+$"}),
        (
            Annotated[str, pydantic.StringConstraints(max_length=2, pattern="a")],
            {"maxLength": 2, "pattern": "a"},
        ),
        (Annotated[str, msgspec.Meta(pattern="^a", min_length=1)], {"minLength": 1, "pattern": "^a"}),
        (Annotated[str, at.doc("What")], {"description": "What"}),
        (Annotated[str, at.DocInfo("What")], {"description": "What"}),
        (Annotated[str, pydantic.FailFast()], {}),
    ],
)
def test_what_is_said_of_a_string_is_in_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    assert json_schema(annotation) == {"type": "string", **schema}


def test_a_pattern_given_as_text_is_checked_by_decode() -> None:
    codec = Codec(Annotated[str, Field(pattern="^[a-z]+$")])
    assert codec.decode("abc") == "abc"
    with pytest.raises(DecodeError):
        codec.decode("ABC")


@pytest.mark.parametrize("annotation", [at.IsFinite[float], at.IsNotNan[float], at.IsNotInfinite[float]])
def test_a_predicate_that_every_json_number_satisfies_is_taken(annotation: Any) -> None:
    assert json_schema(annotation) == {"type": "number"}


def test_finite_floats_and_aware_datetimes_are_what_is_decoded_anyway() -> None:
    assert json_schema(pydantic.FiniteFloat) == {"type": "number"}
    assert json_schema(Annotated[datetime, msgspec.Meta(tz=True)]) == json_schema(datetime)


@dataclass
class Search:
    text: Annotated[str, Field(alias="q", examples=["cats"], description="What to look for")]
    limit: Annotated[int, Field(ge=1), "At most"] = 10
    page: Optional[Annotated[int, Field(alias="p", examples=[2])]] = None
    lang: Annotated[str, msgspec.Meta(examples=["en"])] = "de"


def test_examples_are_json_as_the_libraries_write_them() -> None:
    @tool
    def book(
        day: Annotated[date, Field(examples=["2026-01-31"])],
        until: Annotated[date, msgspec.Meta(examples=["2026-02-01"])],
        seats: Annotated[tuple[int, int], Field(examples=[[1, 2]])] = (1, 1),
    ) -> str:
        """Book seats."""
        return f"{day} {until} {seats}"

    properties = book.input_schema()["properties"]
    assert properties["day"]["examples"] == ["2026-01-31"]
    assert properties["until"]["examples"] == ["2026-02-01"]
    assert properties["seats"]["examples"] == [[1, 2]]
    assert "2026-01-31" in str(book.codec.example())


def test_alias_and_examples_in_the_annotation_of_a_field_are_the_fields_own() -> None:
    properties = json_schema(Search)["properties"]
    assert list(properties) == ["q", "limit", "p", "lang"]
    assert properties["q"]["examples"] == ["cats"]
    assert properties["q"]["description"] == "What to look for"
    assert properties["limit"] == {"type": "integer", "minimum": 1, "default": 10, "description": "At most"}
    assert properties["p"]["examples"] == [2]
    assert properties["lang"]["examples"] == ["en"]
    codec = Codec(Search)
    value = codec.decode({"q": "dogs", "p": 2})
    assert value == Search("dogs", 10, 2)
    assert codec.encode(value) == {"q": "dogs", "limit": 10, "p": 2, "lang": "de"}


def test_a_tool_reads_what_is_said_of_its_parameters() -> None:
    @tool
    def search(
        q: Annotated[str, Field(min_length=3, pattern="^[a-z]+$", description="What")],
        n: Annotated[int, Field(ge=1)] = 5,
    ) -> str:
        return q * n

    assert search.input_schema()["properties"] == {
        "q": {"type": "string", "minLength": 3, "pattern": "^[a-z]+$", "description": "What"},
        "n": {"type": "integer", "minimum": 1, "default": 5},
    }
    with pytest.raises(DecodeError) as caught:
        search.run({"q": "", "n": -7})
    assert {problem.path for problem in caught.value.findings} == {("q",), ("n",)}


def test_metadata_of_the_field_itself_wins_over_its_annotation() -> None:
    @dataclass
    class Own:
        x: Annotated[int, Field(alias="theirs")] = field(metadata={"alias": "mine"})

    assert list(json_schema(Own)["properties"]) == ["mine"]


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (
            Annotated[int, Field(title="Amount")],
            "title='Amount' of pydantic.Field has no meaning here. Put it into",
        ),
        (Annotated[int, Field(json_schema_extra={"a": 1})], "json_schema_extra={'a': 1} of pydantic.Field"),
        (Annotated[int, Field(deprecated=True)], "deprecated=True of pydantic.Field"),
        (Annotated[int, Field(exclude=True)], "exclude=True of pydantic.Field"),
        (Annotated[int, Field(strict=False)], "strict=False of pydantic.Strict"),
        (Annotated[int, Field(validation_alias="b")], "validation_alias='b' of pydantic.Field"),
        (Annotated[int, Field(alias="a", serialization_alias="b")], "alias='a' of pydantic.Field"),
        (
            Annotated[int, Field(default=3)],
            "default=3 of pydantic.Field has no meaning here. Give it after the annot",
        ),
        (Annotated[int, Field(default=None)], "default=None of pydantic.Field"),
        (
            Annotated[list[int], Field(default_factory=list)],
            "default_factory=<class 'list'> of pydantic.Field",
        ),
        (Annotated[int, Field(alias="a")], 'alias="a" works only in the annotation of a field'),
        (Annotated[str, Field(max_digits=3)], "max_digits=3 of pydantic.Field"),
        (Annotated[str, Field(pattern="(")], 'the pattern "(" of pydantic.Field can\'t be compiled'),
        (
            Annotated[str, pydantic.StringConstraints(to_lower=True)],
            "to_lower=True of pydantic.StringConstraints",
        ),
        (Annotated[float, pydantic.AllowInfNan(True)], "allow_inf_nan=True of pydantic.AllowInfNan"),
        (
            Annotated[int | str, pydantic.Discriminator(len)],
            "discriminator=the function len of pydantic.Disc",
        ),
        (
            Annotated[int, pydantic.AfterValidator(abs)],
            "AfterValidator(func=<built-in function abs>) of pydantic can't",
        ),
        (Annotated[int, pydantic.BeforeValidator(abs)], "BeforeValidator"),
        (Annotated[int, pydantic.PlainValidator(abs)], "PlainValidator"),
        (Annotated[int, pydantic.WrapValidator(lambda v, h: h(v))], "WrapValidator"),
        (Annotated[int, pydantic.PlainSerializer(str)], "Give the type a SchemaLeaf with its own encode"),
        (Annotated[int, pydantic.WithJsonSchema({})], "Give the type a SchemaLeaf with that schema"),
        (Annotated[int, pydantic.Tag("a")], "Tag(tag='a') of pydantic can't be expressed in JSON Schema"),
        (
            Annotated[int, Field],
            "pydantic.Field lacks its parentheses, so it has no effect. Call it: `Field(…)`",
        ),
        (Annotated[int, msgspec.Meta], "msgspec.Meta lacks its parentheses, so it has no effect. Call it"),
        (pydantic.SkipValidation[int], "SkipValidation() of pydantic"),
        (Annotated[int, pydantic.SkipValidation], "SkipValidation'> of pydantic"),
        (Annotated[str, pydantic.UrlConstraints(max_length=3)], "UrlConstraints"),
        (pydantic.UUID4, "UuidVersion(uuid_version=4) of pydantic"),
        (Annotated[int, msgspec.Meta(title="t")], "title='t' of msgspec.Meta"),
        (
            Annotated[int, msgspec.Meta(extra_json_schema={"a": 1})],
            "extra_json_schema={'a': 1} of msgspec.Meta",
        ),
        (Annotated[datetime, msgspec.Meta(tz=False)], "tz=False of msgspec.Meta"),
        (
            at.LowerCase[str],
            "Predicate(str.islower) of annotated_types can't be expressed in JSON Schema. Check it in",
        ),
        (Annotated[float, at.Predicate(at.Not(math.isfinite))], "Predicate(Not(func="),
        (Annotated[int, at.Predicate(lambda x: x > 1)], "Predicate("),
        (Annotated[str, at.Timezone(None)], "Timezone(tz=None) of annotated_types"),
    ],
)
def test_what_would_be_lost_is_named_and_refused(annotation: Any, said: str) -> None:
    assert said in complaint(annotation)


CHECKED = [
    at.Predicate(lambda x: x > 1),
    at.Predicate(at.Not(math.isfinite)),
    at.Timezone(None),
    pydantic.AfterValidator(abs),
    pydantic.BeforeValidator(abs),
    pydantic.PlainValidator(abs),
    pydantic.types.UuidVersion(4),
    pydantic.UrlConstraints(max_length=3),
    pydantic.StringConstraints(to_upper=True),
]
"""What only code can check."""


def owners(annotation: Any) -> dict[str, tuple[Any, str]]:
    """Return registrations of an annotation in each kind of owner, with what the owner has for checks."""
    made = make_dataclass("Data", [("x", annotation)])

    def takes(x: Any) -> None:
        """Take it."""

    def takes_rest(**rest: Any) -> None:
        """Take it."""

    async def takes_class(item: Any) -> None:
        """Take it."""

    takes.__annotations__["x"] = list[annotation]
    takes_rest.__annotations__["rest"] = annotation
    takes_class.__annotations__["item"] = made
    in_class, in_function = "in __post_init__", "in the function, which can raise CallError"
    own_class = attrs.make_class("Attrs", {"x": attrs.field(type=annotation)})
    nowhere = "in the __post_init__ of a dataclass"
    alias = TypeAliasType("alias", annotation)  # type: ignore[misc]  # made for each
    return {
        "dataclass": (lambda: Codec(made), in_class),
        "struct": (lambda: Codec(msgspec.defstruct("Struct", [("x", annotation)])), in_class),
        "attrs": (
            lambda: Codec(own_class),
            "in __attrs_post_init__",
        ),
        "typed dict": (lambda: Codec(TypedDict("Typed", {"x": annotation})), nowhere),
        "named tuple": (lambda: Codec(NamedTuple("Named", [("x", annotation)])), nowhere),
        "bare": (lambda: Codec(list[annotation]), nowhere),
        "function": (lambda: tool(takes), in_function),
        "rest": (lambda: tool(takes_rest), in_function),
        "class of a parameter": (lambda: tool(takes_class), in_class),
        "alias in a dataclass": (lambda: Codec(make_dataclass("Data", [("x", alias)])), in_class),
    }


@pytest.mark.parametrize("metadata", CHECKED, ids=lambda metadata: type(metadata).__name__)
@pytest.mark.parametrize("owner", owners(int))
def test_a_remedy_names_the_place_for_checks_that_the_owner_has(metadata: Any, owner: str) -> None:
    register, place = owners(Annotated[float, metadata])[owner]
    with pytest.raises(SchemaError) as caught:
        register()
    (only,) = caught.value.findings
    assert place in only.remedy
    assert "post_init__" not in only.remedy.replace(place, "")


def test_a_default_inside_the_annotation_of_a_field_needs_one_after_it() -> None:
    @dataclass
    class Without:
        x: Annotated[int, Field(default=3)]

    @dataclass
    class With:
        x: Annotated[int, Field(default=3)] = 3

    assert complaint(Without).startswith("default=3 of pydantic.Field has no meaning here. Give it after")
    assert json_schema(With)["properties"] == {"x": {"type": "integer", "default": 3}}


def test_a_discriminator_that_names_a_field_says_what_is_found_anyway() -> None:
    annotation = Annotated[int | str, pydantic.Discriminator("kind")]
    assert json_schema(annotation) == json_schema(int | str)


@pytest.mark.parametrize(
    ("default", "said"),
    [
        (
            Field(3, ge=1),
            "its default is pydantic.Field(…), which only pydantic reads. Write it inside the annotation",
        ),
        (
            msgspec.field(default=3),
            "its default is msgspec.field(…), which only msgspec reads. Use dataclasses.field",
        ),
        (library("attrs").field(default=3), "its default is attrs.field(…), which only attrs reads. Use"),
    ],
)
def test_the_field_function_of_another_library_as_a_default_is_named(default: Any, said: str) -> None:
    @dataclass
    class Confused:
        x: int = default

    assert said in complaint(Confused)


def test_the_field_function_as_a_parameters_default_is_named() -> None:
    def search(limit: int = Field(3, ge=1)) -> None:
        """Search."""

    with pytest.raises(SchemaError, match=r"its default is pydantic\.Field"):
        tool(search)


class Unit:
    """Metadata of somebody else's library."""


class Settings(pydantic.BaseModel):
    unit: str = "m"


class Level(at.BaseMetadata):
    ge = 3


def test_metadata_of_anybody_else_is_ignored() -> None:
    for item in (Unit(), Unit, Settings(), Settings, object(), complaint, len):
        assert json_schema(Annotated[int, item]) == {"type": "integer"}


def test_a_users_own_constraint_class_is_read_by_its_attributes() -> None:
    assert json_schema(Annotated[int, Level()]) == {"type": "integer", "minimum": 3}


def test_metadata_that_stands_alone_is_told_its_place():
    def search(limit) -> str:
        """Search."""
        return str(limit)

    search.__annotations__["limit"] = Field(ge=1)
    with pytest.raises(SchemaError) as caught:
        tool(search)
    assert "Write it after the type: Annotated[…, Field(…)]." in str(caught.value)
