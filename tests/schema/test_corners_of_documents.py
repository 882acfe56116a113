"""What is rare in documents of others, and still has an answer."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.providers import xai
from operator_schema.schema import document_reader
from operator_schema.schema.dialect_renderer import dialect_schema
from operator_schema.schema.linear_regex import linear_pattern

NOWHERE = "it refers to another document, or to nothing"


def codec_of(schema: dict[str, Any], *, is_arguments: bool = False) -> DocumentCodec:
    return DocumentCodec(SchemaDocument("theirs", schema, is_arguments))


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({"oneOf": [{"$ref": "https://elsewhere"}, {"minLength": 3}]}, f"#/oneOf/0 $ref: {NOWHERE}"),
        ({"not": {"$ref": "#/x-own"}, "x-own": 5}, f"#/not $ref: {NOWHERE}"),
        ({"$ref": "http://[not an address"}, f"# $ref: {NOWHERE}"),
    ],
)
def test_what_cant_be_followed_refuses_nothing(schema, left):
    codec = codec_of(schema)
    assert [str(one) for one in codec.left] == [left]
    assert codec.report("a") == ()


def test_patterns_of_keys_that_are_no_object_say_nothing():
    codec = codec_of({"patternProperties": 3})
    assert [one.keyword for one in codec.left] == ["patternProperties"]
    assert codec.report({"a": 1}) == ()


def test_a_value_that_nests_too_deep_to_be_compared_is_refused():
    value: Any = []
    for _ in range(100_000):
        value = [value]
    codec = codec_of({"properties": {"a": {"uniqueItems": True}}})
    (problem,) = codec._judged({"a": [value]})  # what comes before refuses it too
    assert problem.code == "too_deep"


def test_a_member_that_takes_everything_takes_the_place_of_all():
    inner = {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "string"}]}
    schema = {
        "$ref": "#/$defs/x",
        "$defs": {"x": {"anyOf": [{"type": "object", "properties": {"a": inner}}, {}]}},
    }
    codec = codec_of(schema)
    assert codec.decode({"a": 3}) == {"a": 3}


UNCLEAR = {"anyOf": [{"type": "object"}, {"type": "object", "properties": {"b": {"type": "string"}}}]}


@pytest.mark.parametrize("is_arguments", [True, False])
def test_alternatives_that_stay_unclear_are_left_to_the_judge(monkeypatch, is_arguments):
    monkeypatch.setattr(document_reader, "_MAX_ATTEMPTS", 1)
    codec = codec_of({"type": "object", "properties": {"a": UNCLEAR}}, is_arguments=is_arguments)
    assert [str(one) for one in codec.beyond] == ["#: its alternatives can't be told apart"]
    assert codec.decode({"a": {"b": "x"}}) == {"a": {"b": "x"}}
    assert [problem.path for problem in codec.report({"a": 3})] == [("a",)]


def test_a_default_of_a_type_that_contains_itself_is_left_out():
    inner = {"$ref": "#/$defs/x", "default": {}, "examples": [{}]}
    codec = codec_of({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {"a": inner}}}})
    assert codec.decode({"a": {}}) == {"a": {}}


def test_an_expression_whose_parts_can_follow_each_other_in_too_many_ways_isnt_run():
    assert linear_pattern("(?:a?){1900}") is None
    assert linear_pattern("(?:a?){1000}") is not None


def test_a_word_doesnt_both_end_and_go_on():
    pattern = linear_pattern("(?:a\\b|b)(?:\\Bc|d)")
    assert pattern is not None
    found = {text: pattern.search(text, lambda _steps: None) for text in ("ac", "ad", "bc", "bd")}
    assert found == {"ac": False, "ad": False, "bc": True, "bd": True}


def test_what_is_beside_the_keywords_is_noted_with_its_place():
    """A reference may lead into keywords of somebody else, where no path of a value leads."""
    inner = {"type": "string", "pattern": "(?<=x)y"}
    properties = {"a": {"$ref": "#/custom/inner"}, "b": {"items": [inner]}}
    found = codec_of({"properties": properties, "custom": {"inner": inner}}, is_arguments=True)
    assert [(one.path, one.where) for one in found.left] == [
        (("custom", "inner"), "#/custom/inner"),
        (("b", "*"), "#/properties/b/items/0"),
    ]
    told = dialect_schema(found, xai.always, "tool", "xAI")
    assert ("custom", "inner") in [one.path for one in told.losses]


def test_alternatives_that_fit_equally_well_are_all_right_in_a_document():
    """Nothing is made of them: whoever wrote the document says that either may fit."""
    alternatives = [
        {"type": "object", "properties": {"kind": {"enum": ["a"]}, "x": {"type": "integer"}}},
        {"type": "object", "properties": {"kind": {"enum": ["b"]}, "x": {"type": "integer"}, "y": {}}},
    ]
    schema = {"type": "object", "properties": {"value": {"anyOf": alternatives}}, "required": ["value"]}
    for repair in (False, True):
        codec = DocumentCodec(SchemaDocument("either", schema), repair=repair)
        for each in (codec, codec.compile()):
            for value in ({}, {"x": 1}, {"kind": "b"}, {"z": 1}):
                assert each.decode({"value": value}) == {"value": value}
            assert each.report({"value": {"kind": "c"}})
            assert each.report({"value": {"x": "a"}})
