"""What parts of a document are called, what describes them, and how many unions may have to be tried."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.schema import document_reader
from operator_schema.schema.linear_regex import linear_pattern


def codec_of(schema: Any) -> DocumentCodec:
    return DocumentCodec(SchemaDocument("tool", {"type": "object", **schema}))


def test_descriptions_stay_at_every_place() -> None:
    text = {"type": "string", "description": "D"}
    places = {
        "plain": text,
        "items": {"type": "array", "items": text},
        "values": {"type": "object", "additionalProperties": text},
        "inner": {"type": "object", "properties": {"x": text}},
        "either": {"anyOf": [{"type": "integer"}, text]},
        "referred": {"$ref": "#/$defs/d"},
        "without": {"type": "string"},
    }
    inline = codec_of({"properties": places, "$defs": {"d": text}}).json_schema(inline=True)["properties"]
    assert inline["plain"]["description"] == "D"
    assert inline["items"]["items"]["description"] == "D"
    assert inline["values"]["additionalProperties"]["description"] == "D"
    assert inline["inner"]["properties"]["x"]["description"] == "D"
    assert [member.get("description") for member in inline["either"]["anyOf"]] == [None, "D"]
    assert inline["referred"]["description"] == "D"
    assert "description" not in inline["without"]


def test_alternatives_are_counted_from_one_or_have_their_title() -> None:
    members = [
        {"type": "object", "properties": {"op": {"const": op}}, "required": ["op"], **title}
        for op, title in (("a", {}), ("b", {"title": "Bee"}), ("c", {"title": " "}))
    ]
    root: Any = codec_of({"properties": {"what": {"anyOf": members}}}).graph.resolve_root()
    assert [member.name for member in root.fields[0].node.members] == ["what1", "Bee", "what3"]


@pytest.mark.parametrize(("kind", "is_tried"), [("string", False), ("object", True)])
def test_only_so_many_alternatives_of_containers_are_tried(kind: str, is_tried: bool) -> None:
    tried: Any = document_reader
    members = {
        "string": [{"type": "string", "minLength": 3}, {"type": "string", "maxLength": 5}],
        "object": [
            {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]} for key in "ab"
        ],
    }[kind]
    for number, is_left in ((tried.MOST_TRIED // 2, False), (tried.MOST_TRIED // 2 + 1, is_tried)):
        codec = codec_of({"properties": {f"p{n}": {"anyOf": members} for n in range(number)}})
        assert bool(codec.beyond) is is_left
        assert codec.left == ()


@pytest.mark.parametrize("letter", ["\U00010000", "\U0001f600", "\U0010ffff", "\U000103ff", "\U0010fc00"])
def test_a_pair_of_surrogates_is_one_character(letter: str) -> None:
    pair = letter.encode("utf-16-be")
    spelt = f"\\u{pair[:2].hex()}\\u{pair[2:].hex()}"
    found = linear_pattern(f"^{spelt}$")
    assert found is not None
    assert found.search(letter)
    assert not found.search("a")
