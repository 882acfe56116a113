"""Limits of documents, each at exactly the limit and one beyond it; references that stay here."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema import SchemaError
from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.schema import document_reader, validator, written
from operator_schema.schema.references import MAX_REFERENCE, References, resolve_pointer
from operator_schema.schema.value_check import MAX_PROBLEMS
from operator_schema.schema.written import MAX_DOCUMENT

INTERNALS: Any = {"written": written, "document_reader": document_reader, "validator": validator}


def limit(module: str, name: str) -> int:
    found: int = getattr(INTERNALS[module], name)
    return found


def codec_of(schema: Any) -> DocumentCodec:
    return DocumentCodec(SchemaDocument("tool", {"type": "object", **schema}))


def takes(codec: DocumentCodec, value: Any) -> bool:
    return not codec.report(value)


@pytest.mark.parametrize("reference", ["other.json#/$defs/a", "a", "#a", "/$defs/a", "//$defs/a"])
def test_what_leads_elsewhere_is_not_read_from_here(reference: str) -> None:
    schema = {"$defs": {"a": {"type": "string"}}, "a": {"type": "string"}}
    assert resolve_pointer(schema, reference) is None
    codec = codec_of({**schema, "properties": {"x": {"$ref": reference}}})
    assert takes(codec, {"x": 3})
    assert [(each.where, each.keyword) for each in codec.left] == [("#/properties/x", "$ref")]


@pytest.mark.parametrize("reference", [None, 3, ["#"], {"#": 1}])
def test_a_reference_is_a_text(reference: Any) -> None:
    assert resolve_pointer({}, reference) is None
    with pytest.raises(LookupError):
        References({"$ref": reference}).find({"$ref": reference})


@pytest.mark.parametrize(("beyond", "is_found"), [(0, True), (1, False)])
def test_a_reference_has_so_many_characters(beyond: int, is_found: bool) -> None:
    name = "n" * (MAX_REFERENCE - len("#/$defs/") + beyond)
    schema = {"$defs": {name: {"type": "string"}}, "properties": {"x": {"$ref": f"#/$defs/{name}"}}}
    assert (resolve_pointer(schema, f"#/$defs/{name}") is not None) is is_found
    codec = codec_of(schema)
    assert takes(codec, {"x": 3}) is not is_found
    assert bool(codec.left) is not is_found
    anchored = codec_of(
        {
            "$defs": {"a": {"$anchor": name + "n" * 7, "type": "string"}},
            "properties": {"x": {"$ref": "#" + name + "n" * 7}},
        }
    )
    assert takes(anchored, {"x": 3}) is not is_found


def test_the_pointer_of_a_reference_is_in_its_usual_spelling() -> None:
    schema = {"$defs": {"a/b": [{"~": True}], "é": 1}}
    assert resolve_pointer(schema, "#") == ("", schema)
    assert resolve_pointer(schema, "#/%24defs/a~1b/0/~0") == ("/$defs/a~1b/0/~0", True)
    assert resolve_pointer(schema, "#/$defs/%C3%A9") == ("/$defs/é", 1)
    for nothing in (
        "#/$defs/a~1b/1",
        "#/$defs/a~1b/-1",
        "#/$defs/a~1b/+0",
        "#/$defs/a~1b/²",
        "#/$defs/a~1b/0/~0/x",
    ):
        assert resolve_pointer(schema, nothing) is None


@pytest.mark.parametrize(("beyond", "is_taken"), [(0, True), (1, False)])
def test_a_document_nests_so_deep(beyond: int, is_taken: bool) -> None:
    deep: Any = {}
    for _ in range(limit("written", "_MAX_DEPTH") - 1 + beyond):
        deep = {"x": deep}
    if is_taken:
        assert SchemaDocument("tool", deep).schema == deep
    else:
        with pytest.raises(SchemaError, match="it nests too deep"):
            SchemaDocument("tool", deep)


@pytest.mark.parametrize(("beyond", "is_taken"), [(0, True), (1, False)])
def test_a_document_is_so_large(beyond: int, is_taken: bool) -> None:
    """Each value and key counts for ten, and each character for one."""
    schema = {"x": "y" * (MAX_DOCUMENT - 31 + beyond)}
    if is_taken:
        assert SchemaDocument("tool", schema).schema == schema
    else:
        with pytest.raises(SchemaError, match="it is too large"):
            SchemaDocument("tool", schema)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("\ud800", "a text in it has a lone surrogate"),
        (float("nan"), "a number in it isn't finite"),
        (float("inf"), "a number in it isn't finite"),
        ((), "isn't a value of JSON"),
        ({1: 2}, "a key in it isn't a text"),
        ({"\ud800": 2}, "a text in it has a lone surrogate"),
        ([b""], "isn't a value of JSON"),
    ],
    ids=ascii,
)
def test_a_document_is_made_of_json(value: Any, fault: str) -> None:
    for schema in ({"x": value}, {"x": [1, {"y": value}]}):
        with pytest.raises(SchemaError, match=fault):
            SchemaDocument("tool", schema)


def test_keys_may_be_of_a_class_derived_from_text() -> None:
    class Name(str):
        __slots__ = ()

    assert SchemaDocument("tool", {Name("x"): [None, True, 1, 1.5]}).schema == {"x": [None, True, 1, 1.5]}


@pytest.mark.parametrize(("beyond", "number"), [(0, 0), (1, 1)])
def test_so_many_notes_are_kept(beyond: int, number: int) -> None:
    most = limit("validator", "_MAX_NOTES")
    assert most == limit("document_reader", "_MAX_NOTES")
    properties = {f"p{i}": {"$ref": "other.json"} for i in range(most + beyond)}
    codec = codec_of({"properties": properties})
    assert len(codec.left) == len(properties) - number
    assert len(codec.beyond) == len(properties) - number
    assert [each.where for each in codec.left[:2]] == ["#/properties/p0", "#/properties/p1"]


@pytest.mark.parametrize(("beyond", "is_read"), [(0, True), (1, False)])
def test_so_many_choices_are_in_a_graph(beyond: int, is_read: bool) -> None:
    choices = list(range(limit("document_reader", "_MAX_CHOICES") + beyond))
    codec = codec_of({"properties": {"x": {"enum": choices}}})
    assert (codec.beyond == ()) is is_read
    assert not takes(codec, {"x": -1})


def test_so_many_examples_are_kept() -> None:
    most = limit("document_reader", "_MAX_EXAMPLES")
    codec = codec_of({"properties": {"x": {"type": "integer", "examples": ["a", *range(9)]}}})
    root: Any = codec.graph.resolve_root()
    assert root.fields[0].examples == tuple(range(most - 1))


@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_so_many_problems_are_noted(beyond: int) -> None:
    codec = codec_of({"properties": {"x": {"items": {"not": {"type": "integer"}}}}})
    found = codec.report({"x": list(range(MAX_PROBLEMS + beyond))})
    assert len(found) == MAX_PROBLEMS


@pytest.mark.parametrize("keyword", ["anyOf", "allOf"])
@pytest.mark.parametrize(("beyond", "is_read"), [(0, True), (1, False)])
def test_schemas_nest_so_deep_in_a_graph(keyword: str, beyond: int, is_read: bool) -> None:
    deep: Any = {"type": "integer"}
    for _ in range(limit("document_reader", "MAX_LEVELS") - 2 + beyond):
        deep = {keyword: [deep]}
    codec = codec_of({"properties": {"x": deep}})
    assert (codec.beyond == ()) is is_read
    assert not takes(codec, {"x": "a"})
