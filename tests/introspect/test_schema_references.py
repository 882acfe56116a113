"""Leaves whose schemas have definitions: moved to the root of the document, never left pointing nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from operator_schema import Codec, SchemaError, SchemaLeaf, tool
from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.tools import parameters_of

IN = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
POINTS_TO_IN = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/In"}}, "required": ["inner"]}


class User(dict[str, Any]):
    pass


class Other(dict[str, Any]):
    pass


def leaf(cls: type, schema: dict[str, Any]) -> SchemaLeaf[Any]:
    placeholder = DocumentCodec(SchemaDocument(cls.__name__, schema)).example()
    return SchemaLeaf(cls, schema, cls, dict, cls(placeholder))


def schema_of(annotation: Any, *leaves: SchemaLeaf[Any]) -> dict[str, Any]:
    document = Codec(annotation, leaves=leaves).json_schema()
    Draft202012Validator.check_schema(document)
    return document


def accepts(document: dict[str, Any], value: object) -> bool:
    return Draft202012Validator(document).is_valid(value)


USER = leaf(User, {**POINTS_TO_IN, "$defs": {"In": IN, "Unused": {}}})


def test_definitions_stand_at_the_root_of_the_document() -> None:
    document = schema_of(list[User], USER)
    assert document == {"type": "array", "items": POINTS_TO_IN, "$defs": {"In": IN}}
    assert accepts(document, [{"inner": {"x": 1}}])
    assert not accepts(document, [{"inner": {"x": "1"}}])


def test_a_leaf_as_the_whole_type_keeps_its_definitions() -> None:
    assert schema_of(User, USER) == {**POINTS_TO_IN, "$defs": {"In": IN}}


def test_equal_definitions_are_shared_and_others_of_the_same_name_get_a_number() -> None:
    same = leaf(Other, {**POINTS_TO_IN, "$defs": {"In": IN}})
    other = leaf(Other, {**POINTS_TO_IN, "$defs": {"In": {"type": "string"}}})
    assert schema_of(dict[str, User] | list[Other], USER, same)["$defs"] == {"In": IN}
    document = schema_of(dict[str, User] | list[Other], USER, other)
    assert document["$defs"] == {"In": IN, "In_2": {"type": "string"}}
    assert accepts(document, [{"inner": "text"}])
    assert accepts(document, {"a": {"inner": {"x": 1}}})
    assert not accepts(document, [{"inner": {"x": 1}}])


def test_definitions_that_are_written_alike_but_mean_something_else_are_two() -> None:
    via: dict[str, Any] = {"$ref": "#/$defs/Way"}
    way = {"type": "object", "properties": {"end": {"$ref": "#/$defs/End"}}}
    one = leaf(User, {"type": "object", **via, "$defs": {"Way": way, "End": {"type": "string"}}})
    two = leaf(Other, {"type": "object", **via, "$defs": {"Way": way, "End": {"type": "integer"}}})
    document = schema_of(tuple[User, Other], one, two)
    assert sorted(document["$defs"]) == ["End", "End_2", "Way", "Way_2"]
    assert accepts(document, [{"end": "a"}, {"end": 1}])
    assert not accepts(document, [{"end": 1}, {"end": "a"}])


@dataclass
class In:
    again: list[In]
    user: User


def test_a_recursive_class_of_the_same_name_keeps_it() -> None:
    document = schema_of(In, USER)
    assert sorted(document["$defs"]) == ["In", "In_2"]
    assert document["$defs"]["In_2"] == IN
    assert accepts(document, {"again": [], "user": {"inner": {"x": 1}}})
    assert not accepts(document, {"again": [], "user": {"inner": {}}})


def test_a_recursive_schema_of_a_leaf_stays_recursive() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/definitions/A%20b~1c"}}}
    schema = {"type": "object", "$ref": "#/definitions/A b~1c", "definitions": {"A b/c": node}}
    document = schema_of(list[User], leaf(User, schema))
    moved = {"type": "object", "properties": {"next": {"$ref": "#/$defs/A_b_c"}}}
    assert document == {"type": "array", "items": {"$ref": "#/$defs/A_b_c"}, "$defs": {"A_b_c": moved}}
    assert accepts(document, [{"next": {"next": {}}}])
    assert not accepts(document, [{"next": {"next": 3}}])


def test_references_below_a_definition_and_of_a_discriminator_follow_it() -> None:
    schema = {
        "type": "object",
        "properties": {
            "deep": {"$ref": "#/$defs/In/properties/x"},
            "nth": {"$ref": "#/$defs/Any/anyOf/0"},
            "one": {
                "oneOf": [{"$ref": "#/$defs/In"}],
                "discriminator": {"propertyName": "x", "mapping": {"in": "#/$defs/In", "out": "Out"}},
            },
        },
        "$defs": {"In": IN, "Any": {"anyOf": [{"type": "null"}]}},
    }
    document = schema_of(tuple[User, In], leaf(User, schema))
    properties = document["prefixItems"][0]["properties"]
    assert properties["deep"] == {"$ref": "#/$defs/In_2/properties/x"}
    assert properties["one"]["discriminator"]["mapping"] == {"in": "#/$defs/In_2", "out": "Out"}


def test_what_only_looks_like_a_reference_is_left_alone() -> None:
    schema = {
        "type": "object",
        "properties": {"$ref": {"type": "string"}, "default": {"$ref": "#/$defs/In"}},
        "default": {"$ref": "#/nowhere"},
        "examples": [{"$ref": "#/nowhere"}],
        "pattern": "^a$",
        "$defs": {"In": IN},
    }
    document = schema_of(User, leaf(User, schema))
    assert document == schema


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "#/$defs/A"}, 'json_schema refers to "#/$defs/A", which isn\'t one of its definitions'),
        ({"items": {"$ref": "#"}}, 'refers to "#"'),
        ({"items": [{"$ref": "#/properties/x"}], "properties": {"x": {}}}, 'refers to "#/properties/x"'),
        ({"items": {"$ref": "#/$defs"}, "$defs": {}}, 'refers to "#/$defs"'),
        (
            {"items": {"$ref": "#/$defs/A/anyOf/1"}, "$defs": {"A": {"anyOf": [{}]}}},
            'refers to "#/$defs/A/anyOf/1"',
        ),
        ({"items": {"$ref": "#a"}, "$defs": {"A": {"$anchor": "a"}}}, 'refers to "#a"'),
        ({"items": {"$ref": "https://example.com/a"}}, 'refers to "https://example.com/a"'),
        ({"items": {"$dynamicRef": "#a"}}, "json_schema uses $dynamicRef"),
        (
            {"$id": "https://example.com", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {}}},
            "json_schema uses $id",
        ),
    ],
)
def test_a_reference_that_would_point_nowhere_is_refused(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        leaf(User, {"type": "object", **schema})
    (complaint,) = caught.value.findings
    assert complaint.code == "bad_leaf"
    assert said in complaint.message


def test_an_id_without_references_does_no_harm() -> None:
    schema = {"$id": "https://example.com/user", "type": "object"}
    assert schema_of(User, leaf(User, schema)) == schema


def test_a_tools_schemas_have_them_at_the_root() -> None:
    class Known(User):
        __schema_leaf__: Any = None

    Known.__schema_leaf__ = leaf(Known, {**POINTS_TO_IN, "$defs": {"In": IN}})

    @tool
    def find(users: list[Known], limit: int) -> list[Known]:
        """Find."""
        return users[:limit]

    schema = find.input_schema()
    assert schema["$defs"] == {"In": IN}
    assert schema["properties"]["users"]["items"] == POINTS_TO_IN
    output = find.output_schema()
    assert output is not None
    assert output["$defs"] == {"In": IN}


@dataclass
class Both:
    user: User
    way: Other


def test_the_neutral_form_writes_them_out() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "in": {"$ref": "#/$defs/In"}}}
    recursive = leaf(Other, {"type": "object", "$ref": "#/$defs/Node", "$defs": {"Node": node, "In": IN}})
    inner = {"type": "object", "properties": {"x": {"type": "integer", "required": True}}}
    assert dict(parameters_of(Codec(Both, leaves=[USER, recursive]))) == {
        "user": {"type": "object", "required": True, "properties": {"inner": {**inner, "required": True}}},
        "way": {
            "type": "object",
            "required": True,
            "properties": {"next": {"type": "object", "required": False}, "in": {**inner, "required": False}},
        },
    }


def test_the_neutral_form_of_definitions_that_double_is_bounded() -> None:
    double = {
        f"L{i}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/L{i + 1}"} for side in "ab"}}
        for i in range(40)
    }
    schema = {"type": "object", "$ref": "#/$defs/L0", "$defs": {**double, "L40": {}}}
    parameters = dict(parameters_of(Codec(Both, leaves=[USER, leaf(Other, schema)])))
    assert len(str(parameters)) < 3_000_000
