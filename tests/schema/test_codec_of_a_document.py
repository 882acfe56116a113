"""What the codec of somebody else's document says of itself, and its ways in and out."""

import copy
import pickle
from datetime import date
from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument, shipped_leaf
from operator_schema.errors import DecodeError, EncodeError

COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "maxProperties": 2}
EVEN = {**COUNTED, "properties": {"n": {"type": "integer", "not": {"const": 3}}}}


def codec_of(schema, *, is_arguments=False, **options):
    return DocumentCodec(SchemaDocument("theirs", schema, is_arguments), **options)


@pytest.mark.parametrize(("is_arguments", "decoded"), [(True, dict[str, Any]), (False, Any)])
def test_arguments_are_a_dict_and_anything_else_is_anything(is_arguments, decoded):
    assert codec_of(COUNTED, is_arguments=is_arguments).decoded_type == decoded


@pytest.mark.parametrize("schema", [COUNTED, EVEN], ids=["read in whole", "with a judge"])
def test_what_fits_comes_and_goes_as_a_copy(schema):
    codec = codec_of(schema)
    value = {"n": 1, "more": [{"a": None}]}
    for made in (codec.decode(value), codec.encode(value), codec.encode_leniently(value)[0]):
        assert made == value
        assert made is not value
        assert made["more"] is not value["more"]
        assert made["more"][0] is not value["more"][0]
    assert codec.report(value) == codec.encode_leniently(value)[1] == ()


@pytest.mark.parametrize("value", [{"n": 3}, {"n": "x"}, {"n": 1, "a": 1, "b": 2}, []])
def test_what_doesnt_fit_is_said_in_every_way(value):
    codec = codec_of(EVEN)
    found = codec.report(value)
    assert found
    with pytest.raises(DecodeError) as decoding:
        codec.decode(value)
    with pytest.raises(EncodeError) as encoding:
        codec.encode(value)
    copied, notes = codec.encode_leniently(value)
    assert copied == value
    assert [one.path for one in decoding.value.findings] == [one.path for one in found]
    assert [one.path for one in encoding.value.findings] == [one.path for one in notes]
    assert len(notes) == len(found)


def test_a_repaired_value_is_what_is_judged():
    codec = codec_of(EVEN, repair=True)
    assert codec.decode({"n": "4"}) == {"n": 4}
    assert codec.report({"n": "4"}) == ()
    with pytest.raises(DecodeError):
        codec.decode({"n": "3"})


def test_a_closed_codec_refuses_keys_without_a_name():
    value = {"n": 1, "more": 2}
    assert codec_of(COUNTED).decode(value) == value
    with pytest.raises(DecodeError):
        codec_of(COUNTED, unknown_fields="reject").decode(value)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)  # our own
def test_a_copy_is_the_same_codec(again):
    codec = codec_of(EVEN, unknown_fields="reject", repair=True)
    made = again(codec)
    assert made.json_schema() == codec.json_schema() == EVEN
    assert (made.left, made.beyond) == (codec.left, codec.beyond)
    assert made.decode({"n": "4"}) == {"n": 4}
    with pytest.raises(DecodeError):
        made.decode({"n": 1, "more": 2})


@pytest.mark.parametrize(
    ("more", "beyond"),
    [
        ({}, ["patternProperties"]),
        ({"additionalProperties": True}, ["patternProperties"]),
        ({"additionalProperties": False}, ["patternProperties", "additionalProperties"]),
        ({"additionalProperties": {"type": "string"}}, ["patternProperties", "additionalProperties"]),
    ],
)
def test_what_stands_beside_patterns_of_keys_is_left_to_the_judge(more, beyond):
    codec = codec_of({"type": "object", "patternProperties": {"^n": {"type": "integer"}}, **more})
    assert [one.keyword for one in codec.beyond] == beyond
    assert codec.left == ()
    assert codec.report({"n": 1}) == ()
    assert codec.report({"n": "1"}) != ()
    assert bool(codec.report({"a": 1})) is (len(beyond) == 2)


@pytest.mark.parametrize(
    ("schema", "described"),
    [
        ({"type": "string"}, None),
        ({"type": "string", "description": "Own."}, "Own."),
        ({"$ref": "#/$defs/A"}, "Of A."),
        ({"$ref": "#/$defs/A", "description": "Own."}, "Own."),
        ({"anyOf": [{"type": "string", "description": "Of the only one."}]}, "Of the only one."),
    ],
)
def test_a_description_belongs_to_the_field(schema, described):
    whole = {
        "$defs": {"A": {"type": "string", "description": "Of A."}},
        "type": "object",
        "properties": {"a": schema},
    }
    (field,) = codec_of(whole).graph.resolve_root().fields
    assert (field.description, field.node.description) == (described, None)


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"type": "object", "properties": {"a": inner}},
    ],
)
@pytest.mark.parametrize(("levels", "is_read"), [(49, True), (50, False)])
def test_so_many_levels_are_read_and_more_are_judged(around, levels, is_read):
    schema = {"type": "integer"}
    for _ in range(levels):
        schema = around(schema)
    codec = codec_of(schema)
    assert (codec.beyond == ()) is is_read


def test_a_format_is_read_by_the_leaf_that_is_given_for_it():
    day = {"type": "string", "format": "day"}
    schema = {
        "properties": {"day": day, "by_day": {"type": "object", "propertyNames": day}},
    }
    leaf = shipped_leaf(date)
    assert leaf is not None
    held = DocumentCodec(SchemaDocument("days", schema, leaves={"day": leaf}))
    given = [{"day": "soon"}, {"by_day": {"soon": 1}}]
    assert [held.report(value)[0].code for value in given] == ["bad_format", "bad_format"]
    right = {"day": "2026-01-31", "by_day": {"2026-01-31": 1}}
    assert held.decode(right) == right
    assert not any(DocumentCodec(SchemaDocument("days", schema)).report(value) for value in given)
