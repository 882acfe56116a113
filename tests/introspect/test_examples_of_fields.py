"""Examples of fields: as JSON, or as Python values; what is shown is the JSON form."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, make_dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge import validator
from strategies import TYPES

from operator_schema import Codec, SchemaError, json_schema
from operator_schema.codec import default_checks
from operator_schema.testing import arguments


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    x: int


def shown(annotation: Any, *examples: Any) -> list[Any]:
    made = make_dataclass("Shown", [("value", annotation, field(metadata={"examples": list(examples)}))])
    schema = json_schema(made)
    for example in schema["properties"]["value"]["examples"]:
        assert validator(schema).is_valid({"value": example})
    Codec(made).decode(Codec(made).example())
    return schema["properties"]["value"]["examples"]


@pytest.mark.slow("draws hundreds of types")
@settings(max_examples=2 * settings().max_examples)
@given(st.data(), TYPES)
def test_every_value_is_an_example_as_it_comes_as_it_is_encoded_and_as_it_is_decoded(data, annotation):
    codec = Codec(annotation)
    value = data.draw(arguments(codec))
    assume(value is not None)  # of a field, null means that it is left out
    instance = codec.decode(value)
    encoded = codec.encode(instance)
    first, *others = shown(annotation, value, encoded, instance)
    assert codec.decode(first) == instance
    assert others == [encoded, encoded]


@pytest.mark.parametrize(
    ("annotation", "written", "instance"),
    [
        (date, "2026-01-31", date(2026, 1, 31)),
        (UUID, "00000000-0000-0000-0000-000000000001", UUID(int=1)),
        (Decimal, "1.50", Decimal("1.50")),
        (bytes, "aGk=", b"hi"),
        (list[Color], ["red"], [Color.RED]),
        (Color, "blue", Color.BLUE),
        (tuple[int, int], [1, 2], (1, 2)),
        (set[int], [1, 2], {1, 2}),
        (dict[int, date], {"1": "2026-01-31"}, {1: date(2026, 1, 31)}),
        (Place, {"x": 1}, Place(1)),
        (int | Color, "red", Color.RED),
        (Any, {"x": 1}, Place(1)),
    ],
)
def test_an_example_may_be_json_or_an_instance(annotation, written, instance):
    assert shown(annotation, written, instance) == [written, written]


@pytest.mark.parametrize(
    ("annotation", "wrong", "said"),
    [
        (date, "31.1.", 'write a date as in 2026-01-31. Give it as JSON, such as "2026-01-31", or as an'),
        (Color, "rot", '"rot" is not one of "red", "blue". Give it as JSON, such as "red", or'),
        (set[int], [1, 1], "1 equals an earlier one"),
        (Place, {"y": 1}, 'x: missing (integer, required). Give it as JSON, such as {"x": 0}, or'),
        (Place, date(2026, 1, 31), "Give it as JSON, such as"),
        (Any, float("nan"), "nan is not finite"),
        (Any, "\ud800", "lone surrogate"),
        (dict[str, int], {1: 1}, "expected string"),
    ],
)
def test_an_example_that_does_not_fit_shows_one_that_does(annotation, wrong, said):
    with pytest.raises(SchemaError) as caught:
        shown(annotation, wrong)
    assert said in str(caught.value)


def test_a_type_without_a_small_value_shows_none():
    @dataclass
    class Endless:
        more: Annotated[Endless, "itself"] = field(metadata={"examples": [5]})

    with pytest.raises(SchemaError, match=r"Give it as JSON, or as an instance; or change the annotation"):
        Codec(Endless, namespace=locals())


@dataclass
class Stop:
    name: str
    after: list[Stop] | None = None


def test_a_null_that_the_schema_does_not_have_is_left_out():
    written = {"name": "a", "after": [{"name": "b", "after": None}]}
    assert shown(Stop, written) == [{"name": "a", "after": [{"name": "b"}]}]


def test_an_example_that_holds_itself_ends():
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(SchemaError):
        shown(list[Any], endless)


def test_examples_of_json_are_copies():
    given_ = {"x": [1]}
    made = make_dataclass("Shown", [("value", Any, field(metadata={"examples": [given_]}))])
    codec = Codec(made)
    given_["x"].append(2)
    codec.json_schema()["properties"]["value"]["examples"][0]["x"].append(3)
    assert codec.json_schema()["properties"]["value"]["examples"] == [{"x": [1]}]


@dataclass
class Wide:
    items: list[int] = field(metadata={"examples": [[0] * 40_000, [1]]})


@dataclass
class Repeated:
    first: Wide
    second: Wide
    third: Wide


def test_a_document_shares_a_class_whose_examples_are_large():
    schema = json_schema(Repeated)
    assert schema["properties"]["third"] == {"$ref": "#/$defs/Wide"}
    assert len(schema["$defs"]["Wide"]["properties"]["items"]["examples"][0]) == 40_000


def test_examples_with_too_many_values_are_one_complaint(monkeypatch):
    monkeypatch.setattr(default_checks, "MAX_DEFAULT_VALUES", 5)
    with pytest.raises(SchemaError, match="more than 5 values") as caught:
        shown(list[int], [1, 2, 3], [1, 2, 3], [1, 2, 3])
    assert len(caught.value.findings) == 1


def test_two_fields_with_one_tuple_of_examples_have_their_own():
    metadata = {"examples": (date(2026, 1, 31),)}
    fields = [("day", date, field(metadata=metadata)), ("any", Any, field(metadata=metadata))]
    properties = json_schema(make_dataclass("Both", fields))["properties"]
    assert properties["day"]["examples"] == properties["any"]["examples"] == ["2026-01-31"]


def test_members_of_a_union_whose_tags_become_required_show_their_examples():
    def member(name: str, example: Any) -> Any:
        days = field(default=date.min, metadata={"examples": [example]})
        return make_dataclass(name, [("kind", Literal[name], field(default=name)), ("day", date, days)])

    schema = json_schema(list[member("a", date(2026, 1, 31)) | member("b", "2026-01-31")])
    for each in schema["items"]["anyOf"]:
        assert each["required"] == ["kind"]
        assert each["properties"]["day"]["examples"] == ["2026-01-31"]


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclass
class Tagged:
    tags: list[str]


@dataclass
class Archive:
    path: str
    zip: bool | None = None


@dataclass
class Remove:
    path: str
    force: bool = False


@pytest.mark.parametrize(
    ("annotation", "example", "complaint"),
    [
        (Archive | Remove, {"path": "/"}, "fits Archive and Remove equally well"),
        (list[Archive | Remove], [{"path": "/"}], "fits Archive and Remove equally well"),
        (set[Point], [{"x": 1}, {"x": 1}], "equals an earlier one"),
        (set[Point], [{"x": 1}, {"x": 1, "y": 0}], "equals an earlier one"),
    ],
)
def test_an_example_that_decoding_refuses_is_refused(annotation, example, complaint):
    with pytest.raises(SchemaError, match=complaint):
        shown(annotation, example)


def test_an_example_of_a_union_is_one_of_its_nearest_member():
    assert shown(Archive | Remove, {"path": "/", "force": True}) == [{"path": "/", "force": True}]
    assert shown(Archive | int, {"path": "/", "zip": None}) == [{"path": "/"}]
    assert shown(set[Point], [{"x": 1}, {"x": 2}]) == [[{"x": 1}, {"x": 2}]]


def test_examples_of_a_set_whose_items_have_no_hash_say_so():
    with pytest.raises(SchemaError, match="can't be in a Python set"):
        shown(set[Tagged], [{"tags": []}, {"tags": ["a"]}])
