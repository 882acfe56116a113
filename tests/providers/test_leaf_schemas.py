"""Schemas of leaves in a dialect: what it can't say is refused with its place, and words say the rest."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.providers import cohere, gemini, gemini_parameters, openai_chat
from operator_schema.schema.dialect_writing import CannotSay, leaf_schema
from operator_schema.schema.openapi_form import openapi_schema

STRING = {"type": "string"}


def as_it_is(document: dict[str, Any]) -> dict[str, Any]:
    return document


def deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = STRING
    for _ in range(levels):
        made = {"type": "array", "items": made}
    return made


@pytest.mark.parametrize(
    ("schema", "path", "what"),
    [
        (True, (), "its schema is true"),
        (deep(50), ("*",) * 50, "its schema nests more than 50 levels"),
        ({"anyOf": []}, (), 'its schema has an "anyOf" without members'),
        ({"anyOf": [STRING], "minLength": 1}, (), 'its schema has the keyword "minLength"'),
        ({}, (), "its schema leaves open what type a value has"),
        ({"type": "string", "enum": "a"}, (), "its schema has an enum that isn't a list"),
        ({"type": "string", "enum": [1]}, (), "its schema takes no value"),
        ({"type": "array", "enum": [[]]}, (), "its schema is an enum of arrays"),
        ({"type": "array"}, (), "its schema is an array of any items"),
        ({"type": "object"}, (), "its schema is an object with free keys"),
        (
            {"type": "object", "properties": {"a": STRING}, "additionalProperties": False},
            ("a",),
            "its schema lets it be left out",
        ),
        ({"type": "object", "minProperties": 1}, (), 'its schema has the keyword "minProperties"'),
    ],
)
def test_what_a_dialect_cant_say_is_refused_with_its_place(schema, path, what):
    with pytest.raises(CannotSay) as caught:
        leaf_schema(schema, openai_chat.dialect, as_it_is)
    assert (caught.value.path, caught.value.what) == (path, what)


def test_an_object_needs_a_required_property_where_one_has_to_be():
    open_object = {"type": "object", "properties": {"a": STRING}, "additionalProperties": False}
    with pytest.raises(CannotSay, match="its schema requires none of its properties"):
        leaf_schema(open_object, cohere.dialect, as_it_is)
    closed = {**open_object, "required": ["a"]}
    assert leaf_schema(closed, cohere.dialect, as_it_is) == closed


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"const": "a", "type": "string"}, {"type": "string", "enum": ["a"]}),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        ({"type": ["null"], "default": None}, {"type": "null", "default": None}),
        ({"type": ["integer", "null"], "minimum": 1}, {"type": ["integer", "null"], "minimum": 1}),
        (
            {"type": "object", "additionalProperties": STRING},
            {"type": "object", "additionalProperties": STRING},
        ),
        ({"type": "object", "additionalProperties": True}, {"type": "object", "additionalProperties": True}),
        (
            {"type": ["string", "integer"], "minimum": 1, "title": "Either."},
            {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}], "title": "Either."},
        ),
    ],
)
def test_what_it_can_say_takes_the_same_values(schema, written):
    assert leaf_schema(schema, gemini.dialect, as_it_is) == written


def test_a_union_of_one_is_its_member_in_the_form_of_openapi():
    assert openapi_schema({"anyOf": [STRING], "description": "One."}) == {
        "type": "STRING",
        "description": "One.",
    }
    assert openapi_schema({"anyOf": [STRING, {"type": "null"}]}) == {"type": "STRING", "nullable": True}
    assert openapi_schema({"anyOf": [{"type": "null"}]}) == {"type": "NULL"}


def test_a_form_without_closed_objects_leaves_that_out():
    closed = {"type": "object", "properties": {"a": STRING}, "additionalProperties": False}
    open_form = {"type": "object", "properties": {"a": STRING}}
    assert leaf_schema(closed, gemini_parameters.always, as_it_is) == open_form
