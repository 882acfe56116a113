"""A leaf's schema without references: so many are followed, and no more."""

import pytest

from operator_schema.schema.moved_definitions import (
    HoistedDefinitions,
    describe_reference_fault,
    with_references_inlined,
    with_references_resolved,
)

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


A = {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}}
B = {"type": "integer"}


def test_definitions_of_leaves_move_to_one_place():
    hoisted = HoistedDefinitions({"B"})
    leaf = {"$defs": {"A": A, "B": B, "Unused": {}}, "$ref": "#/$defs/A", "type": "object", "title": "T"}
    assert hoisted.move(leaf) == {"$ref": "#/$defs/A", "title": "T"}
    moved = {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B_2"}}}, "B_2": B}
    assert hoisted.found == moved
    plain = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert hoisted.move(plain) == plain
    again = {"definitions": {"B": B}, "type": "array", "items": {"$ref": "#/definitions/B/not"}}
    assert hoisted.move(again) == {"type": "array", "items": {"$ref": "#/$defs/B_2/not"}}
    assert hoisted.found == moved
    other = {"$defs": {"B": {"type": "string"}, "ä b": {}}, "anyOf": [{"$ref": "#/$defs/B"}]}
    assert hoisted.move(other) == {"anyOf": [{"$ref": "#/$defs/B_3"}]}
    assert hoisted.found == {**moved, "B_3": {"type": "string"}}
    odd = {"$defs": {"ä b": {}, "": {}}, "anyOf": [{"$ref": "#/$defs/ä b"}, {"$ref": "#/$defs/"}]}
    assert hoisted.move(odd) == {"anyOf": [{"$ref": "#/$defs/__b"}, {"$ref": "#/$defs/Definition"}]}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, None),
        (CHAIN, None),
        ({"definitions": {"A": {}}, "items": {"$ref": "#/definitions/A"}}, None),
        ({"$ref": "#/$defs/A"}, 'refers to "#/$defs/A", which isn\'t one of its definitions'),
        ({"$defs": {"A": {}}, "items": {"$ref": "#/$defs/B"}}, 'refers to "#/$defs/B"'),
        ({"$defs": {"A": {}}, "items": {"$ref": "other.json#/$defs/A"}}, 'refers to "other.json#/$defs/A"'),
        ({"$id": "https://a.example", "type": "string"}, None),
        ({"$id": "https://a.example", "$defs": {"A": {}}, "$ref": "#/$defs/A"}, "uses $id"),
        ({"items": {"$dynamicRef": "#a"}}, "uses $dynamicRef"),
        ({"not": {"$recursiveRef": "#"}}, "uses $recursiveRef"),
    ],
)
def test_references_that_lead_nowhere_are_said(schema, said):
    found = describe_reference_fault(schema)
    assert found is None if said is None else said in found[0]


@pytest.mark.parametrize(
    ("beside", "found"),
    [
        ({}, {"type": "integer", "minimum": 0}),
        ({"type": "integer"}, {"type": "integer", "minimum": 0}),
        ({"title": "T", "type": "integer"}, {"type": "integer", "minimum": 0, "title": "T"}),
        ({"description": "D", "type": "integer"}, {"type": "integer", "minimum": 0, "description": "D"}),
        ({"maximum": 5, "type": "integer"}, {"maximum": 5, "allOf": [THREE]}),
        ({"type": "number"}, {"type": "number", "allOf": [THREE]}),
        ({"allOf": [{"maximum": 5}]}, {"allOf": [{"maximum": 5}, THREE]}),
    ],
)
def test_what_stands_beside_an_inlined_reference_is_kept(beside, found):
    schema = {"$defs": {"Three": THREE}, "$ref": "#/$defs/Three", **beside}
    assert with_references_inlined(schema, lambda: True) == found
