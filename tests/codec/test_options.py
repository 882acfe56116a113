"""The options of a codec: one table that `Codec`, its documentation and the strategies share."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import dataclass
from typing import get_type_hints

import pytest

from operator_schema import Codec, SchemaLeaf
from operator_schema.codec.codec import DEFAULTS
from operator_schema.codec.options import CodecOptions, checked_options


@dataclass
class Point:
    x: int


def test_each_option_has_a_type_a_default_and_a_check():
    assert list(DEFAULTS) == list(CodecOptions.__annotations__)
    assert checked_options(DEFAULTS) == DEFAULTS


def test_each_option_is_documented():
    listed = re.findall(
        r"^    (\w+): ", inspect.getdoc(Codec).partition("Args:")[2].partition("Raises:")[0], re.MULTILINE
    )
    assert [name for name in listed if name != "annotation"] == list(DEFAULTS)


def test_the_types_of_the_options_can_be_read():
    assert list(get_type_hints(CodecOptions)) == list(DEFAULTS)


def test_what_isnt_given_has_its_default():
    assert checked_options({"repair": True}) == {"repair": True}
    for name, default in DEFAULTS.items():
        codec = Codec(Point, **{name: default})
        assert codec.json_schema() == Codec(Point).json_schema()


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("repairs", "; did you mean repair?"),
        ("zzz", f"; it takes {', '.join(DEFAULTS)}"),
        ("leafs", "; did you mean leaves?"),
    ],
)
def test_an_option_that_doesnt_exist_is_a_type_error_with_the_nearest_name(option, hint):
    with pytest.raises(TypeError, match=re.escape(f"unexpected option {option!r}{hint}") + "$"):
        Codec(Point, **{option: 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": 5}, "name must be a string, not integer 5"),
        (
            {"unknown_fields": "rejct"},
            "unknown_fields must be 'ignore' or 'reject', not string \"rejct\"; did you mean 'reject'?",
        ),
        ({"unknown_fields": []}, "unknown_fields must be 'ignore' or 'reject', not array []"),
        ({"repair": 1}, "repair must be True or False, not integer 1"),
        ({"leaves": 5}, "leaves must be SchemaLeaf values, not integer 5"),
        ({"namespace": 5}, "namespace maps names to types, it isn't integer 5"),
        ({"max_depth": 0}, "max_depth must be an integer of at least 1, not integer 0"),
        ({"attribute_docs": None}, "attribute_docs must be True or False, not null"),
        ({"json_loads": "orjson"}, 'json_loads must be a function such as orjson.loads, not string "orjson"'),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_value_error(options, message):
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        Codec(Point, **options)


def test_what_the_caller_changes_later_doesnt_change_the_codec():
    leaf = SchemaLeaf(complex, {"type": "string"}, complex, str, placeholder=1j)
    descriptions, leaves, namespace = {"x": "Across"}, [leaf], {"Name": int}
    codec = Codec(Point, param_descriptions=descriptions, leaves=leaves, namespace=namespace)
    descriptions["x"], namespace["Name"] = "Other", str
    leaves.clear()
    again = pickle.loads(pickle.dumps(Codec(Point, param_descriptions={"x": "Across"})))
    assert again.json_schema() == codec.json_schema()
    _, (_, options) = codec.__reduce__()
    assert options["leaves"] == (leaf,)
    assert options["namespace"] == {"Name": int}
