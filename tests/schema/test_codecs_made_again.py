"""A document that was read is read again only where its meaning is another."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema import Codec, DecodeError
from operator_schema.tools import document_tool

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "x": {"not": {"type": "null"}}},
    "required": ["name"],
}


def find(arguments: dict[str, Any]) -> Any:
    return arguments


SAME: list[dict[str, Any]] = [
    {"name": "other"},
    {"repair": True},
    {"examples": [{"name": "a"}]},
    {"max_depth": 9},
]
ANOTHER: list[dict[str, Any]] = [{"unknown_fields": "reject"}, {"param_descriptions": {"name": "Of whom"}}]


@pytest.mark.parametrize("changes", SAME, ids=min)
def test_what_means_the_same_is_shared(changes: dict[str, Any]) -> None:
    own = document_tool(find, SCHEMA)
    again = own.with_(**changes)
    assert again.codec is not own.codec
    assert again.codec.graph is own.codec.graph
    assert again.input_schema() == own.input_schema()
    for wrong in ({}, {"name": "a", "x": None}):
        with pytest.raises(DecodeError, match=again.name):
            again.decode(wrong)


@pytest.mark.parametrize("changes", ANOTHER, ids=min)
def test_what_means_something_else_is_read_again(changes: dict[str, Any]) -> None:
    own = document_tool(find, SCHEMA)
    again = own.with_(**changes)
    assert again.codec.graph is not own.codec.graph
    once_more = again.with_(name="once_more", repair=True)
    assert once_more.codec.graph is again.codec.graph
    assert once_more.input_schema() == again.input_schema()


def test_a_codec_of_a_type_is_made_anew_with_other_options() -> None:
    codec = Codec(dict[str, int], name="counts")
    again = codec.again(dict[str, int], name="others", repair=True)
    assert (again.name, again.decode({"a": "1"})) == ("others", {"a": 1})
    assert type(again) is Codec
