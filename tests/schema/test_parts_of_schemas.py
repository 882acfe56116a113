"""Parts of schemas: their pointers, and copies in which they are replaced."""

from __future__ import annotations

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.errors import DecodeError
from operator_schema.schema.openapi_form import openapi_schema
from operator_schema.schema.references import _address, rebuilt, written_step


def test_what_an_unknown_keyword_holds_counts_as_schemas():
    schema = {"x-of": [{"type": "null"}, True, 5], "x-more": {"a": 1}, "items": {}, "type": "array"}
    copy = rebuilt(schema, lambda part: {**part, "seen": True})
    assert copy == {
        "x-of": [{"type": "null", "seen": True}, True, 5],
        "x-more": {"a": 1, "seen": True},
        "items": {"seen": True},
        "type": "array",
    }


@pytest.mark.parametrize(("name", "written"), [("a", "a"), ("a/b~c", "a~1b~0c"), ("é %", "%C3%A9%20%25")])
def test_a_name_is_written_as_a_step_of_a_pointer_in_a_fragment(name, written):
    assert written_step(name) == written


@pytest.mark.parametrize(("base", "said"), [("https://example.com/a", "https://[x"), ("", "https://[x#y")])
def test_what_is_no_address_leads_nowhere(base, said):
    with pytest.raises(LookupError):
        _address(base, said)


def test_a_pattern_that_takes_many_steps_is_checked_where_they_are_counted():
    text = {"type": "string", "pattern": "^(a|b)*a(a|b){450}c$"}
    codec = DocumentCodec(SchemaDocument("tool", {"type": "object", "properties": {"x": text}}))
    assert [part.message for part in codec.beyond] == ["it is checked where steps are counted"]
    with pytest.raises(DecodeError, match="does not match the pattern"):
        codec.decode({"x": "b"})


def test_each_member_of_a_union_that_stands_in_a_union_takes_null():
    inner = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    made = openapi_schema({"anyOf": [inner, {"type": "boolean"}, {"type": "null"}]})
    assert made == {
        "anyOf": [
            {"anyOf": [{"type": "INTEGER", "nullable": True}, {"type": "STRING", "nullable": True}]},
            {"type": "BOOLEAN", "nullable": True},
        ]
    }
