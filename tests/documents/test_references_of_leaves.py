"""A leaf's schema without references: so many are followed, and no more."""

import pytest

from operator_schema.schema.references import with_references_resolved

CHAIN = {
    "$defs": {
        "One": {"type": "object", "properties": {"two": {"$ref": "#/$defs/Two", "title": "Second"}}},
        "Two": {"type": "array", "items": {"$ref": "#/$defs/Three"}},
        "Three": {"type": "integer", "minimum": 0},
    },
    "$ref": "#/$defs/One",
}
THREE = {"type": "integer", "minimum": 0}


def nested(two):
    return {"type": "object", "properties": {"two": {**two, "title": "Second"}}}


@pytest.mark.parametrize(
    ("most", "found"),
    [
        (3, nested({"type": "array", "items": THREE})),
        (2, nested({"type": "array", "items": {"type": "integer"}})),
        (1, nested({"type": "array"})),
        (0, {"type": "object"}),
        (-1, {"type": "object"}),
    ],
)
def test_so_many_references_are_followed(most, found):
    assert with_references_resolved(CHAIN, most) == found


def test_what_is_inside_itself_ends():
    schema = {
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "$ref": "#/$defs/Node",
    }
    assert with_references_resolved(schema, 100) == {
        "type": "object",
        "properties": {"next": {"type": "object"}},
    }


def test_an_unnamed_type_leaves_nothing_to_write():
    schema = {"$defs": {"Any": {"minimum": 0}}, "properties": {"a": {"$ref": "#/$defs/Any"}}}
    assert with_references_resolved(schema, 0) == {"properties": {"a": {}}}


def test_what_stands_beside_a_reference_that_isnt_followed_has_no_reference():
    schema = {
        "$defs": {"A": {"type": "object"}},
        "$ref": "#/$defs/A",
        "properties": {"a": {"$ref": "#/$defs/A", "$defs": {}, "not": {"$ref": "#/$defs/A"}}},
    }
    inner = {"type": "object", "not": {"type": "object"}}
    assert with_references_resolved(schema, 0) == {"type": "object", "properties": {"a": inner}}
