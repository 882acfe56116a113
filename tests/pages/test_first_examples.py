"""The examples that this library started from, by value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Optional
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from judge import validator

from operator_schema import Codec, DecodeError, SchemaError, decode, encode, json_schema
from operator_schema.types import URL


class URLComponent(Enum):
    scheme = "scheme"
    host = "host"
    port = "port"
    path = "path"
    query = "query"
    fragment = "fragment"


@dataclass
class ParseURLInput:
    url: URL
    components: list[URLComponent]
    max_results: int | None

    param_descriptions = {
        "url": "The URL to parse",
        "components": "Which URL components to extract",
        "max_results": "Maximum number of results to return",
    }


@dataclass
class Coordinate:
    latitude: float
    longitude: float


@dataclass
class GeoSearchInput:
    center: Coordinate
    radius_km: float
    query: str

    param_descriptions = {
        "center": "The center point for the search",
        "radius_km": "Search radius in kilometers",
        "query": "What to search for",
    }


@dataclass
class WriteFile:
    path: str
    content: str


PARSE_URL_SCHEMA = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "description": "The URL to parse"},
        "components": {
            "type": "array",
            "items": {
                "type": "string",
                "enum": ["scheme", "host", "port", "path", "query", "fragment"],
            },
            "description": "Which URL components to extract",
        },
        "max_results": {"type": "integer", "description": "Maximum number of results to return"},
    },
    "required": ["url", "components"],
}
GEO_SEARCH_SCHEMA = {
    "type": "object",
    "properties": {
        "center": {
            "type": "object",
            "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
            "required": ["latitude", "longitude"],
            "description": "The center point for the search",
        },
        "radius_km": {"type": "number", "description": "Search radius in kilometers"},
        "query": {"type": "string", "description": "What to search for"},
    },
    "required": ["center", "radius_km", "query"],
}


@pytest.mark.parametrize(
    ("cls", "schema"), [(ParseURLInput, PARSE_URL_SCHEMA), (GeoSearchInput, GEO_SEARCH_SCHEMA)]
)
def test_the_documents_schemas_exactly(cls, schema):
    made = json_schema(cls)
    assert made == schema
    assert list(made["properties"]) == list(schema["properties"])
    assert made["required"] == schema["required"]
    validator(made)


def test_declaration_order_is_kept_for_properties_and_required():
    @dataclass
    class Order:
        zulu: int
        alpha: str
        mike: bool | None
        bravo: float

    made = json_schema(Order)
    assert list(made["properties"]) == ["zulu", "alpha", "mike", "bravo"]
    assert made["required"] == ["zulu", "alpha", "bravo"]


def test_the_caller_owns_the_schema():
    json_schema(ParseURLInput)["properties"]["components"]["items"]["enum"].clear()
    json_schema(ParseURLInput)["properties"].clear()
    assert json_schema(ParseURLInput) == PARSE_URL_SCHEMA


def test_shipped_leaves():
    @dataclass
    class Leaves:
        link: URL
        at: datetime
        id: UUID
        due: datetime

        param_descriptions = {"due": "When it is due"}

    assert json_schema(Leaves)["properties"] == {
        "link": {"type": "string"},
        "at": {
            "type": "string",
            "format": "date-time",
            "description": "date, time and UTC offset, such as 2026-01-31T09:30:00+01:00",
        },
        "id": {"type": "string", "format": "uuid", "description": "UUID string"},
        "due": {"type": "string", "format": "date-time", "description": "When it is due"},
    }
    arguments = {
        "link": "https://example.com/a",
        "at": "2026-01-31T09:30:00Z",
        "id": "12345678-1234-5678-1234-567812345678",
        "due": "2026-01-31T09:30:00.5+02:00",
    }
    decoded = decode(Leaves, arguments)
    assert decoded.at == datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
    assert decoded.link.netloc == "example.com"
    assert decoded.id == UUID(int=0x12345678123456781234567812345678)


def test_an_unknown_description_key_names_all_and_the_nearest():
    @dataclass
    class Person:
        name: str
        age: int

        param_descriptions = {"naem": "?", "aeg": "?"}

    with pytest.raises(SchemaError) as caught:
        json_schema(Person)
    complaints = caught.value.findings
    assert [(c.code, c.suggestion) for c in complaints] == [
        ("unknown_description", '"name"'),
        ("unknown_description", '"age"'),
    ]
    assert all('"name", "age"' in c.remedy for c in complaints)
    assert '"naem"' in str(caught.value)


def test_a_nested_types_own_descriptions_describe_its_fields():
    @dataclass
    class Point:
        x: int

        param_descriptions = {"x": "Steps east"}

    @dataclass
    class Area:
        corner: Point
        others: list[list[Point]]

    schema = Codec(Area, namespace=locals()).json_schema()
    point = {
        "type": "object",
        "properties": {"x": {"type": "integer", "description": "Steps east"}},
        "required": ["x"],
    }
    assert schema["properties"]["corner"] == point
    nested = {"type": "array", "items": {"type": "array", "items": point}}
    assert schema["properties"]["others"] == nested


@dataclass
class Tree:
    name: str
    children: list[Tree]


def test_recursive_types_give_a_reference():
    schema = json_schema(Tree)
    assert schema["type"] == "object"
    assert schema["properties"]["children"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    assert list(schema["$defs"]) == ["Tree"]
    assert validator(schema).is_valid({"name": "a", "children": [{"name": "b", "children": []}]})
    value = {"name": "a", "children": [{"name": "b", "children": []}]}
    assert decode(Tree, value) == Tree("a", [Tree("b", [])])


def test_errors_name_the_parameter_and_what_the_tool_expects():
    with pytest.raises(DecodeError) as caught:
        decode(WriteFile, {})
    assert [(p.path, p.code) for p in caught.value.findings] == [
        (("path",), "missing"),
        (("content",), "missing"),
    ]
    with pytest.raises(DecodeError) as caught:
        decode(WriteFile, {"path": 42, "content": "x"})
    assert [(p.path, p.code) for p in caught.value.findings] == [(("path",), "wrong_type")]
    assert "WriteFile expects: path (string, required), content (string, required)" in str(caught.value)


def test_decode_rules():
    arguments = {"url": "https://example.com:8080/path", "components": ["host", "port"], "extra": 1}
    expected = ParseURLInput(
        urlsplit("https://example.com:8080/path"), [URLComponent.host, URLComponent.port], None
    )
    assert decode(ParseURLInput, arguments) == expected
    assert decode(ParseURLInput, {**arguments, "max_results": None}) == expected


def test_integer_enums_stay_integers():
    class Level(Enum):
        LOW = 1
        HIGH = 2

    assert Codec(Level).json_schema() == {"type": "integer", "enum": [1, 2]}
    assert decode(Level, 2) is Level.HIGH
    assert encode(Level.HIGH) == 2


def test_an_input_is_a_plain_dataclass():
    made = ParseURLInput(
        url=urlsplit("https://example.com:8080/path"),
        components=[URLComponent.host, URLComponent.port],
        max_results=None,
    )
    assert made.url.hostname == "example.com"
    assert len(made.components) == 2
    assert made == ParseURLInput(made.url, list(made.components), None)


class Color(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


@dataclass
class Scalars:
    a: str
    b: int
    c: float
    d: bool


@dataclass
class Empty:
    pass


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Collected:
    maybe: Optional[str]  # one of the two spellings
    tags: list[str]
    color: Color
    colors: list[Color]
    nested: Point


def test_acceptance_cases():
    assert json_schema(Scalars) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"type": "number"},
            "d": {"type": "boolean"},
        },
        "required": ["a", "b", "c", "d"],
    }
    assert json_schema(Empty) == {"type": "object", "properties": {}}
    assert decode(Empty, {}) == Empty()
    color = {"type": "string", "enum": ["red", "green", "blue"]}
    assert json_schema(Collected) == {
        "type": "object",
        "properties": {
            "maybe": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "color": color,
            "colors": {"type": "array", "items": color},
            "nested": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x", "y"],
            },
        },
        "required": ["tags", "color", "colors", "nested"],
    }
