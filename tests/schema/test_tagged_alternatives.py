"""Alternatives that a tag tells apart: what is wrong is told of the one that was meant."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument

OTHER: dict[str, Any] = {
    "type": "object",
    "properties": {"op": {"const": "drop"}, "name": {"type": "string"}},
    "required": ["op"],
}
BEYOND: dict[str, tuple[dict[str, Any], Any, tuple[str | int, ...]]] = {
    "uniqueItems": ({"properties": {"x": {"uniqueItems": True}}}, [1, 1], ("x", 1)),
    "not": ({"properties": {"x": {"not": {"const": 3}}}}, 3, ("x",)),
    "contains": ({"properties": {"x": {"contains": {"const": 3}}}}, [1], ("x",)),
    "propertyNames": ({"properties": {"x": {"propertyNames": {"maxLength": 1}}}}, {"ab": 1}, ("x", "ab")),
    "if": ({"properties": {"x": {"if": {"type": "integer"}, "then": {"minimum": 4}}}}, 3, ("x",)),
    "dependentRequired": ({"dependentRequired": {"x": ["y"]}}, 3, ("y",)),
    "minProperties": ({"minProperties": 3}, 3, ()),
    "unevaluatedProperties": ({"unevaluatedProperties": False}, 3, ("x",)),
}
"""By keyword: what stands beside the tag, a value of `x` that doesn't fit, and the place of the problem."""

SPELLINGS: dict[str, Any] = {
    "as it is": lambda member: member,
    "referred to": lambda _: {"$ref": "#/$defs/put"},
    "in allOf": lambda member: {"allOf": [member]},
    "referred to in allOf": lambda _: {"type": "object", "allOf": [{"$ref": "#/$defs/put"}]},
}


def codec_of(keyword: str, members: list[Any], put: Any) -> DocumentCodec:
    document = {"type": "object", "properties": {"what": {keyword: members}}, "$defs": {"put": put}}
    return DocumentCodec(SchemaDocument("tool", document))


def told(codec: DocumentCodec, value: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return [(problem.path, problem.message) for problem in codec.report({"what": value})]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("tag", [{"const": "put"}, {"enum": ["put", "set"]}], ids=["const", "enum"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("beyond", BEYOND)
def test_what_is_wrong_is_told_of_the_member_that_the_tag_names(
    keyword: str, tag: Any, spelling: str, beyond: str
) -> None:
    said, wrong, place = BEYOND[beyond]
    put = {"type": "object", **said, "required": ["op"]}
    put["properties"] = {"op": tag, **said.get("properties", {})}
    for members in ([put, OTHER], [OTHER, put], [{"type": "string"}, OTHER, put]):
        spelt = [SPELLINGS[spelling](member) if member is put else member for member in members]
        codec = codec_of(keyword, spelt, put)
        found = told(codec, {"op": "put", "x": wrong})
        assert [path for path, _ in found] == [("what", *place)]
        assert "alternatives" not in found[0][1]
        assert codec.report({"what": {"op": "drop", "x": wrong}}) == ()


def test_the_only_member_of_the_type_of_the_value_is_meant() -> None:
    codec = codec_of(
        "anyOf", [{"type": "null"}, {"type": "string"}, {"type": "array", "uniqueItems": True}], {}
    )
    assert told(codec, [1, 1]) == [(("what", 1), "1 equals an earlier one; items must differ")]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_tags_may_be_two_keys(keyword: str) -> None:
    members = [
        {"properties": {"a": {"const": a}, "b": {"const": b}, "x": {"not": {"const": [a, b]}}}}
        for a in "12"
        for b in "12"
    ]
    codec = codec_of(
        keyword, [{"type": "object", "required": ["a", "b"], **member} for member in members], {}
    )
    assert [path for path, _ in told(codec, {"a": "2", "b": "1", "x": ["2", "1"]})] == [("what", "x")]


def test_where_several_may_be_meant_the_reasons_of_all_are_told() -> None:
    several = [{"type": "array", "uniqueItems": True}, {"type": "array", "contains": {"const": 5}}]
    ((path, message),) = told(codec_of("anyOf", several, {}), [1, 1])
    assert path == ("what",)
    assert "fits none of the alternatives: 1 equals an earlier one" in message
    open_tag = {"type": "object", "properties": {"op": {"type": "string"}, "x": {"not": {"const": 3}}}}
    tagged = {"type": "object", "properties": {"op": {"const": "put"}, "x": {"not": {"const": 3}}}}
    ((path, _),) = told(codec_of("anyOf", [open_tag, tagged], {}), {"op": "put", "x": 3})
    assert path == ("what",)


def test_a_tag_that_is_not_there_names_nobody() -> None:
    put = {"type": "object", "properties": {"op": {"const": "put"}, "x": {"not": {"const": 3}}}}
    drop = {"type": "object", "properties": {"op": {"const": "drop"}, "x": {"not": {"const": 3}}}}
    ((path, message),) = told(codec_of("anyOf", [put, drop], {}), {"x": 3})
    assert path == ("what",)
    assert "alternatives" in message


def test_members_that_lead_back_to_themselves_are_looked_at_once() -> None:
    put: dict[str, Any] = {"allOf": [{"$ref": "#/$defs/put"}, {"type": "array", "uniqueItems": True}]}
    codec = codec_of("anyOf", [{"$ref": "#/$defs/put"}, {"type": "null"}], put)
    assert [path for path, _ in told(codec, [1, 1])] == [("what", 1)]


def test_a_wide_union_is_looked_at_in_counted_steps() -> None:
    members = [
        {"type": "object", "properties": {"op": {"const": n}, "x": {"uniqueItems": True}}}
        for n in range(3000)
    ]
    codec = codec_of("anyOf", members, {})
    assert [path for path, _ in told(codec, {"op": 2999, "x": [1, 1]})] == [("what", "x", 1)]


GRAPH: dict[str, tuple[dict[str, Any], Any, tuple[str | int, ...]]] = {
    "type": ({"properties": {"x": {"type": "string"}}}, 3, ("x",)),
    "minLength": ({"properties": {"x": {"type": "string", "minLength": 2}}}, "a", ("x",)),
    "maximum": ({"properties": {"x": {"type": "integer", "maximum": 2}}}, 3, ("x",)),
    "enum": ({"properties": {"x": {"enum": ["a", "b"]}}}, "c", ("x",)),
    "items": ({"properties": {"x": {"type": "array", "items": {"type": "string"}}}}, ["a", 3], ("x", 1)),
    "required": ({"properties": {"y": {"type": "string"}}, "required": ["op", "y"]}, 3, ("y",)),
    "additionalProperties": ({"additionalProperties": False}, 3, ("x",)),
}
"""What a graph holds of a document, as in `BEYOND`."""


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("beyond", GRAPH)
def test_what_a_graph_holds_is_told_of_the_member_that_the_tag_names(keyword: str, beyond: str) -> None:
    said, wrong, place = GRAPH[beyond]
    put = {"type": "object", "required": ["op"], **said}
    put["properties"] = {"op": {"const": "put"}, **said.get("properties", {})}
    for members in ([put, OTHER], [OTHER, put], [{"type": "string"}, OTHER, put]):
        found = told(codec_of(keyword, members, put), {"op": "put", "x": wrong})
        assert [path for path, _ in found] == [("what", *place)]
        assert "none of" not in found[0][1]
