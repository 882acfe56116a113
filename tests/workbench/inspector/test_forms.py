"""Which fields a form has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from counted_keys import comparisons_of
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import json_schema
from operator_schema.workbench.inspector.input_forms import form_of


@dataclass
class Leaf:
    """A leaf."""

    kind: Literal["leaf"]
    size: float = 1.5


@dataclass
class Branch:
    """A branch."""

    inside: list[Branch | Leaf]
    names: dict[str, int]
    note: str | None = None


def test_a_recursive_type_refers_to_itself():
    form = form_of(json_schema(Branch))
    root = form["root"]
    if root["kind"] == "reference":
        root = form["definitions"][root["name"]]
    inside, names, note = root["fields"]
    assert (inside["kind"], inside["key"], inside["required"]) == ("list", "inside", True)
    assert inside["item"]["kind"] == "union"
    assert {member["kind"] for member in inside["item"]["members"]} <= {"reference", "object"}
    assert names["kind"] == "map"
    assert names["value"]["kind"] == "integer"
    assert not note["required"]
    assert all(field is not None for field in form["definitions"].values())


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer", "minimum": 1}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "null"}, "null"),
        ({"const": 3}, "constant"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"type": ["string", "null"]}, "union"),
        ({"oneOf": [{"type": "string"}, True]}, "union"),
        ({"type": "array"}, "json"),
        ({"type": "array", "items": {}}, "list"),
        ({"type": "object"}, "json"),
        ({"type": "object", "additionalProperties": False}, "object"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map"),
        ({"properties": {"a": {}}}, "object"),
        ({}, "json"),
        ({"type": 3}, "json"),
        ({"type": "file"}, "json"),
        ({"$ref": 3}, "json"),
        ({"$ref": "https://example.com/x"}, "json"),
        ({"allOf": [{"type": "string"}]}, "json"),
    ],
)
def test_each_schema_has_its_field(schema, kind):
    assert form_of(schema)["root"]["kind"] == kind


def test_what_is_said_about_a_field_goes_along():
    root = form_of({"type": "integer", "minimum": 1, "description": "d" * 5000, "default": 4})["root"]
    assert (root["minimum"], root["default"], len(root["description"])) == (1, 4, 2000)


def test_what_is_said_about_a_union_of_types_is_said_once():
    root = form_of({"type": ["string", "null"], "description": "A name.", "maxLength": 3})["root"]
    assert root["description"] == "A name."
    assert root["members"] == [{"kind": "text", "maxLength": 3}, {"kind": "null", "maxLength": 3}]


def test_other_keys_of_an_object_have_a_field():
    schema = {
        "properties": {"a": {"type": "string"}},
        "required": "a",
        "additionalProperties": {"type": "null"},
    }
    root = form_of(schema)["root"]
    assert root["others"] == {"kind": "null"}
    assert not root["fields"][0]["required"]


def test_a_reference_is_followed_once_and_may_lead_nowhere():
    schema = {
        "$ref": "#/$defs/a~1b",
        "$defs": {"a/b": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"$ref": "#/nowhere/x"}]}},
    }
    form = form_of(schema)
    assert form["root"] == {"kind": "reference", "name": "#/$defs/a~1b"}
    assert set(form["definitions"]) == {"#/$defs/a~1b", "#/nowhere/x"}
    assert form["definitions"]["#/nowhere/x"] == {"kind": "json"}


def test_a_huge_schema_ends_in_json():
    schema: dict[str, Any] = {"properties": {f"p{number}": {"type": "string"} for number in range(6_000)}}
    fields = form_of(schema)["root"]["fields"]
    assert fields[0]["kind"] == "text"
    assert fields[-1]["kind"] == "json"


KEYWORDS = st.sampled_from(
    ["type", "properties", "items", "anyOf", "oneOf", "enum", "const", "$ref", "required", "x"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "enum", "const", "$ref", "required", "x"]
            ),
            inside,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["type", "properties", "items", "anyOf", "oneOf", "enum", "$ref"]), JSON)
)
def test_any_document_has_a_form(schema):
    assert form_of(schema)["root"]["kind"]


def test_each_key_of_a_schema_is_looked_up_once():
    assert comparisons_of(form_of, 500) <= 1000
