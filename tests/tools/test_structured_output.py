"""Results as JSON objects, for those who take nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict, Union

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from judge import validator
from strategies import TYPES

from operator_schema import EncodeError, Executor, RawCall, SchemaError, SchemaLeaf, tool
from operator_schema.testing import instances
from operator_schema.tools import StructuredOutput


@dataclass
class Hit:
    title: str
    result: int = 0


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


@dataclass
class Cat:
    kind: Literal["cat"] = "cat"


@dataclass
class Dog:
    kind: Literal["dog"] = "dog"


class Movie(TypedDict):
    title: str


class Point(NamedTuple):
    x: int


class Color(Enum):
    RED = "red"


@dataclass
class Row:
    title: str


@dataclass
class Line:
    """It looks like a `Row`."""

    title: str


class Held:
    """Its schema has a definition of its own."""


HELD = SchemaLeaf(
    Held,
    {
        "type": "array",
        "items": {"$ref": "#/$defs/inner"},
        "$defs": {"inner": {"type": "integer", "minimum": 1}},
    },
    lambda _: Held(),
    lambda _: [5],
    Held(),
)
Nested = Union[int, list["Nested"]]
Name = NewType("Name", str)
HIT = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "result": {"type": "integer", "default": 0}},
    "required": ["title"],
}


def giving(declared, **options):
    def work(): ...

    work.__annotations__["return"] = declared
    return tool(work, **options)


def wrapped(schema, **more):
    return {"type": "object", "properties": {"result": schema}, "required": ["result"], **more}


@pytest.mark.parametrize(
    "declared", [Hit, Movie, Point, dict[str, int], dict, Tree, Cat | Dog, Annotated[Hit, "One"]], ids=str
)
def test_an_object_stays_as_it_is(declared):
    made = giving(declared)
    structured = made.structured_output()
    assert not structured.is_wrapped
    assert structured.schema == {"type": "object", **made.output_schema()}
    assert structured.schema["type"] == "object"
    validator(structured.schema)
    value = {"a": 1}
    assert structured.of(value) is value
    assert structured.of([1]) is None
    assert structured.of(None) is None


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        (int, {"type": "integer"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (list[Hit], {"type": "array", "items": HIT}),
        (Optional[Hit], {"anyOf": [HIT, {"type": "null"}]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Hit | int, {"anyOf": [HIT, {"type": "integer"}]}),
        (Color, {"type": "string", "enum": ["red"]}),
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (date, {"type": "string", "format": "date"}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Annotated[int, "How many"], {"type": "integer", "description": "How many"}),
    ],
    ids=str,
)
def test_anything_else_is_wrapped(declared, schema):
    made = giving(declared)
    structured = made.structured_output()
    assert structured.is_wrapped
    found = structured.schema
    inner = found["properties"]["result"]
    assert {key: value for key, value in inner.items() if key != "description" or key in schema} == schema
    assert found == wrapped(inner)
    assert structured.of(None) == {"result": None}
    assert structured.of([1]) == {"result": [1]}


@pytest.mark.parametrize(
    "declared", [str, Name, Annotated[str, "Some text"], Any, object, "NotThere", Row | Line], ids=str
)
def test_text_and_what_has_no_schema_have_no_object(declared):
    assert giving(declared).structured_output() is None


def test_a_function_without_a_declared_type_has_none():
    def work(): ...

    assert tool(work).structured_output() is None


def test_definitions_move_to_the_root():
    structured = giving(list[Tree]).structured_output()
    assert structured.schema["properties"]["result"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    assert list(structured.schema["$defs"]) == ["Tree"]
    assert giving(Tree | None).structured_output().schema["properties"]["result"] == {
        "anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]
    }
    judge = validator(structured.schema)
    assert judge.is_valid({"result": [{"value": 1, "children": [{"value": 2}]}]})
    assert not judge.is_valid({"result": [{"value": 1, "children": [{"value": "2"}]}]})
    assert not judge.is_valid({"result": None})


def test_a_recursive_alias_is_wrapped_by_its_reference():
    structured = giving(Nested, namespace={"Nested": Nested}).structured_output()
    judge = validator(structured.schema)
    assert judge.is_valid({"result": [1, [2]]})
    assert not judge.is_valid({"result": [1, ["2"]]})
    assert not judge.is_valid({})


def test_definitions_of_a_leaf_move_too():
    for declared in (Annotated[Held, HELD], list[Annotated[Held, HELD]]):
        structured = giving(declared).structured_output()
        assert structured.schema["$defs"] == {"inner": {"type": "integer", "minimum": 1}}
        judge = validator(structured.schema)
        assert not judge.is_valid({"result": "x"})
        assert not judge.is_valid({"result": [0]})
        assert not judge.is_valid({"result": [[0]]})


def test_definitions_that_are_shared_because_the_schema_is_long():
    inner = Hit
    for depth in range(11):
        inner = dataclass(type(f"Level{depth}", (), {"__annotations__": {"left": inner, "right": inner}}))
    structured = giving(list[inner]).structured_output()
    assert set(structured.schema) == {"type", "properties", "required", "$defs"}
    validator(structured.schema)
    assert json.dumps(structured.schema).count('"$ref"') < 100


def test_schemas_are_the_callers_own():
    structured = giving(int).structured_output()
    structured.schema["properties"].clear()
    assert structured.schema == wrapped({"type": "integer"})
    assert structured == giving(int).structured_output()
    assert isinstance(structured, StructuredOutput)


@pytest.mark.needs_threads
def test_a_result_and_its_schema():
    @tool
    def count(text: str) -> list[str]:
        return text.split()

    result = Executor([count]).run_sync(RawCall("c", "count", {"text": "a b"}))
    structured = count.structured_output()
    assert structured.of(result.json) == {"result": ["a", "b"]}
    assert validator(structured.schema).is_valid(structured.of(result.json))


@pytest.mark.slow("draws many types")
@given(TYPES, st.data())
def test_every_result_fits_its_schema(declared, data):
    try:
        made = giving(declared)
        value = data.draw(instances(declared))
        written = made.write_output(value)
    except (SchemaError, EncodeError):
        reject()
    structured = made.structured_output()
    if structured is None:
        said = made.output_schema()  # of text, or of a type that says nothing
        assert said.get("type") == "string" or said.keys() <= {"description"}
        return
    schema = structured.schema
    assert schema["type"] == "object"
    found = structured.of(written.json)
    assert isinstance(found, dict)
    validator(schema).validate(found)
    assert isinstance(written.json, str) or json.loads(written.text) == written.json
