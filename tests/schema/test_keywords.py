"""The table of keywords says what JSON Schema says, and whoever goes through schemas goes by it."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.providers import Dialect, openai_chat, openai_compatible
from operator_schema.schema.dialect_renderer import strange_parts
from operator_schema.schema.framework_changes import schema_changes
from operator_schema.schema.keywords import KEYWORDS, LIMITS, about, limit_of
from operator_schema.schema.references import as_path, mapped, path_of, rebuilt, subschemas
from operator_schema.schema.validator import _CHECKS  # they are a table too

REGISTRY = pytest.importorskip(
    "jsonschema_specifications", reason="WebAssembly has no wheels of what it needs"
).REGISTRY

WHOLE = {
    "$defs": {"a": {"type": "string"}},
    "allOf": [{"minimum": 1}, True],
    "items": [{"type": "null"}, False],
    "not": {"const": {"type": "a value"}},
    "additionalProperties": False,
    "properties": {"items": {"items": {"type": "integer"}}},
    "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
    "enum": [{"items": {"type": "a value"}}],
    "x-own": {"nested": [{"$ref": "#/$defs/a"}], "is": True},
}


def holds_in(metaschema: Any) -> str:
    """Return what a keyword holds, going by what the metaschema says of it."""
    if metaschema is True:
        return "value"
    many = metaschema.get("additionalProperties")
    if metaschema.get("$dynamicRef") == "#meta":
        return "schema"
    if metaschema.get("$ref") == "#/$defs/schemaArray":
        return "schemas"
    return "named" if isinstance(many, dict) and "$dynamicRef" in many else "value"


VOCABULARIES = sorted(uri for uri in REGISTRY if "2020-12/meta/" in uri)


@pytest.mark.parametrize("uri", VOCABULARIES)
def test_the_table_holds_every_keyword_of_the_specification(uri):
    metaschema: Any = REGISTRY[uri].contents
    for keyword, said in metaschema.get("properties", {}).items():
        expected = "either" if keyword == "items" else holds_in(said)  # a list until 2019-09
        assert KEYWORDS[keyword].holds == expected, keyword
    assert len(VOCABULARIES) == 8


def test_each_keyword_has_one_row_and_each_constraint_its_keywords():
    assert list(KEYWORDS) == [row.name for row in KEYWORDS.values()]
    for limit in LIMITS:
        for json_type, name in limit.keywords.items():
            assert KEYWORDS[name].limit is limit
            assert json_type in KEYWORDS[name].of
            assert KEYWORDS[name].words.count("{}") == 1
    assert about("boolean") == ()
    assert "minItems" in about("array")
    assert about("string", "format")[0] == "format"


def test_whoever_checks_values_knows_only_keywords_of_the_table():
    assert _CHECKS.keys() <= KEYWORDS.keys()
    without = {name for name, row in KEYWORDS.items() if row.says == "values"} - _CHECKS.keys()
    assert without == set()


def test_a_limit_is_a_number_that_every_validator_reads_alike():
    assert limit_of("minLength", 3.0) == 3
    assert limit_of("minLength", -1) is None
    assert limit_of("minimum", 1.5) == 1.5
    assert limit_of("multipleOf", 0.1) is None
    assert limit_of("maximum", True) is None


def test_all_ways_through_a_schema_meet_the_same_schemas():
    met: list[Any] = []
    assert mapped(WHOLE, lambda inner: met.append(inner) or inner) == WHOLE
    assert met == [inner for _, inner in subschemas(WHOLE)]
    assert [steps for steps, _ in subschemas(WHOLE)] == [
        ("$defs", "a"),
        ("allOf", "0"),
        ("allOf", "1"),
        ("items", "0"),
        ("items", "1"),
        ("not",),
        ("additionalProperties",),
        ("properties", "items"),
        ("dependencies", "c"),
    ]


def test_a_reference_in_a_keyword_of_somebody_else_counts_and_booleans_stay():
    met: list[Any] = []
    assert rebuilt(WHOLE, lambda inner: met.append(inner) or inner) == WHOLE
    objects = [inner for _, inner in subschemas(WHOLE) if isinstance(inner, dict)]
    assert met == [*objects, WHOLE["x-own"]]


@pytest.mark.parametrize("keyword", ["properties", "anyOf", "items", "not"])
@pytest.mark.parametrize("value", [5, "x", None])
def test_what_is_no_schema_is_left_as_it_is(keyword, value):
    assert mapped({keyword: value}, lambda inner: inner) == {keyword: value}


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", ()),
        ("/properties/a~1b/items/0/properties/items", ("a/b", "*", "items")),
        ("/items/anyOf/1", ("*",)),
        ("/$defs/T/additionalProperties/allOf/0", ("T", "*")),
    ],
)
def test_a_pointer_to_a_schema_means_a_path_in_a_value(pointer, path):
    assert path_of(pointer) == path


def test_the_name_of_a_property_is_a_step_of_the_path():
    assert as_path(("properties", "*")) == ("*",)
    assert as_path(("anyOf", "0")) == ()
    assert as_path(("prefixItems", "0")) == ("*",)


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ({"type": "array", "items": False}, "its schema is false"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "its schema is an object with free"),
        ({"type": "string", "format": "own"}, 'its schema has the keyword "format"'),
        ({"type": "string", "pattern": "(?=a)"}, 'its schema has the keyword "pattern"'),
        ({"type": "string", "const": "a"}, 'its schema has the keyword "const"'),
        ({"description": "Anything."}, "its schema leaves open what type"),
    ],
)
def test_a_finished_document_is_looked_through_for_what_nobody_takes(part, what):
    document = {"type": "object", "properties": {"a": part}}
    ((path, found),) = strange_parts(document, openai_chat.dialect)
    assert path[0] == "a"
    assert found.startswith(what)


def test_a_dialect_may_take_a_keyword_that_has_no_words():
    dialect = Dialect(frozenset({"const"}), frozenset())
    assert openai_compatible("own", dialect=dialect).dialect is dialect
    assert strange_parts({"type": "string", "const": "a"}, dialect) == []


class Described:
    """What has a schema of its arguments."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def input_schema(self, *, inline: bool = False) -> dict[str, Any]:
        return {} if inline and "$defs" in self.schema else self.schema


def nested(levels: int, inside: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        inside = {"type": "array", "items": inside}
    return inside


def test_changes_are_looked_for_a_hundred_levels_deep():
    for levels, number in [(100, 1), (101, 0)]:
        ours, theirs = nested(levels, {"type": "string"}), nested(levels, {"type": "null"})
        assert len(schema_changes(Described(ours), theirs)) == number


def test_booleans_that_are_the_same_are_no_change():
    closed = {"type": "object", "additionalProperties": False, "not": {"type": "null"}}
    assert schema_changes(Described(closed), dict(closed)) == []
    (found,) = schema_changes(Described(closed), {**closed, "not": False})
    assert (found.path, found.code, found.keyword) == (("*",), "changed", "not")
    assert (found.expected, found.received) == ('{"type": "null"}', "false")
