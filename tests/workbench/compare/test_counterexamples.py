"""Whether there is a value that fits one document and not another one, decided by cases."""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

import pytest
from patience import assert_takes
from schema_edits import Documents, flips, search

from operator_schema.workbench.compare.counterexamples import NO_VALUE_EXISTS, UNDECIDED, difference

TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
A, B = {"properties": {"kind": {"const": "a"}}}, {"properties": {"kind": {"const": "b"}}}
TREE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}, "required": ["next"]}

WITHIN: dict[str, tuple[Any, Any]] = {
    "a condition that is never true": (INTEGER, {"if": TEXT, "then": False}),
    "both ways of a condition": (
        {"minimum": 3, **NUMBER},
        {"if": INTEGER, "then": {"minimum": 3}, "else": {"exclusiveMinimum": 3}},
    ),
    "a condition that another one implies": (
        {"if": {"required": ["p"]}, "then": {"required": ["q", "r"]}},
        {"if": {"required": ["p", "q"]}, "then": {"required": ["r"]}},
    ),
    "members that exclude each other": (
        {"anyOf": [{**A, "required": ["kind"]}, {**B, "required": ["kind"]}], "type": "object"},
        {"oneOf": [{**A, "required": ["kind"]}, {**B, "required": ["kind"]}]},
    ),
    "members of other types": ({"anyOf": [TEXT, INTEGER]}, {"oneOf": [TEXT, NUMBER]}),
    "nothing fits the old one": ({"allOf": [TEXT, INTEGER]}, {"const": 1}),
    "a required key of which nothing fits": (
        {"type": "object", "properties": {"p": False}, "required": ["p"]},
        {"const": 1},
    ),
    "choices, each of which fits": ({"enum": [1, "a", None]}, {"not": {"type": ["array", "object"]}}),
    "a range with one number": ({"minimum": 3, "maximum": 4.5, **INTEGER}, {"enum": [3, 4]}),
    "steps that are multiples": (
        {"anyOf": [{"multipleOf": 4}, {"multipleOf": 6}], **NUMBER},
        {"multipleOf": 2},
    ),
    "the same expressions": (
        {"patternProperties": {"^p": INTEGER}, "additionalProperties": TEXT},
        {"patternProperties": {"^p": NUMBER}, "additionalProperties": {"type": ["string", "null"]}},
    ),
    "an expression that no name has": (
        {"type": "object", "properties": {"q": INTEGER}, "additionalProperties": False},
        {"patternProperties": {"^p": TEXT}},
    ),
    "names that are limited": (
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
        {"maxProperties": 2, "propertyNames": {"maxLength": 1}},
    ),
    "the number of keys": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False},
        {"maxProperties": 2},
    ),
    "a key that depends on one that is never there": (
        {"type": "object", "properties": {"a": False}},
        {"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"a": ["c"]}},
    ),
    "keys that other keywords look at": (
        {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False},
        {"allOf": [{"properties": {"a": NUMBER}}], "unevaluatedProperties": False},
    ),
    "keys that are left over": (
        {"type": "object", "allOf": [{"properties": {"a": INTEGER}}], "unevaluatedProperties": TEXT},
        {"additionalProperties": {"type": ["string", "integer"]}},
    ),
    "items that are left over": (
        {"type": "array", "prefixItems": [TEXT], "unevaluatedItems": False},
        {"items": TEXT, "maxItems": 1},
    ),
    "items that no array has": (
        {"type": "array", "prefixItems": [TEXT], "items": False},
        {"prefixItems": [TEXT, INTEGER]},
    ),
    "arrays of nothing": ({"type": "array", "items": {"allOf": [TEXT, INTEGER]}}, {"maxItems": 0}),
    "more of the same items": ({"contains": TEXT, "minContains": 2}, {"contains": TEXT}),
    "no item is contained": ({"type": "array", "items": TEXT}, {"contains": INTEGER, "minContains": 0}),
    "an array with a text in it isn't empty": ({"type": "array", "contains": TEXT}, {"minItems": 1}),
    "values without an end": (
        {"$ref": "#/$defs/T", "$defs": {"T": TREE}},
        {"$ref": "#/$defs/T", "$defs": {"T": {**TREE, "maxProperties": 1}}},
    ),
}


@pytest.mark.parametrize("case", WITHIN)
def test_no_value_exists(case):
    old, new = WITHIN[case]
    assert difference(old, new) is NO_VALUE_EXISTS


BEYOND: dict[str, tuple[Any, Any]] = {
    "the way of a condition": (INTEGER, {"if": {"minimum": 3}, "then": {"maximum": 7}}),
    "two members at once": (INTEGER, {"oneOf": [INTEGER, {"minimum": 5}]}),
    "what is excepted": (TEXT, {"not": {"minLength": 20}}),
    "a key that a dependency asks for": ({"type": "object"}, {"dependentRequired": {"a": ["b"]}}),
    "a schema that a key asks for": ({"type": "object"}, {"dependentSchemas": {"a": {"minProperties": 2}}}),
    "a key that an expression finds": ({"type": "object"}, {"patternProperties": {"^k": INTEGER}}),
    "a key without a name": (
        {"type": "object", "properties": {"a": {}}},
        {"properties": {"a": {}}, "additionalProperties": False},
    ),
    "a name": ({"type": "object", "propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 2}}),
    "an item after the first ones": ({"type": "array", "prefixItems": [TEXT]}, {"items": TEXT}),
    "a second item": ({"type": "array"}, {"prefixItems": [{}, TEXT]}),
    "items that are the same": ({"type": "array", "items": INTEGER, "minItems": 2}, {"uniqueItems": True}),
    "too few that are contained": ({"type": "array", "minItems": 1}, {"contains": TEXT}),
    "too many that are contained": (
        {"type": "array"},
        {"contains": TEXT, "minContains": 0, "maxContains": 1},
    ),
    "a key that is left over": (
        {"type": "object"},
        {"properties": {"a": {}}, "unevaluatedProperties": False},
    ),
    "an item that is left over": ({"type": "array"}, {"prefixItems": [{}], "unevaluatedItems": False}),
    "a number between two others": (NUMBER, {"anyOf": [{"maximum": 1}, {"minimum": 2}]}),
    "a value with others inside of it": (
        {"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"n": {"$ref": "#/$defs/T"}}}}},
        {"properties": {"n": {"properties": {"n": {"maxProperties": 0}}}}},
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_a_value_is_found(case):
    old, new = BEYOND[case]
    assert flips(old, new, difference(old, new))


UNKNOWN: dict[str, tuple[Any, Any]] = {
    "a format": (TEXT, {"format": "date"}),
    "a format that is excepted": ({"not": {"format": "date"}}, {"maxLength": 3}),
    "an expression that can't be run": ({"type": "object"}, {"patternProperties": {"(?<=a)b": TEXT}}),
    "a reference out of the document": ({}, {"$ref": "https://example.com/other.json"}),
    "alternatives that are none": ({"anyOf": []}, {"const": 1}),
    "a type that there isn't": ({"type": "any"}, {"const": 1}),
    "draft 7": ({"$schema": "http://json-schema.org/draft-07/schema#", **INTEGER}, NUMBER),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_not_understood_is_undecided(case):
    old, new = UNKNOWN[case]
    assert difference(old, new) is UNDECIDED


def test_only_objects_count_as_arguments():
    old, new = {"properties": {"a": INTEGER}}, {"type": "object", "properties": {"a": INTEGER}}
    assert flips(old, new, difference(old, new))
    assert difference(old, new, is_object_only=True) is NO_VALUE_EXISTS


@pytest.mark.skipif(
    version("jsonschema").startswith("4.17"),
    reason="it misjudges unevaluatedProperties beside additionalProperties",
)
@pytest.mark.slow("draws values for hundreds of pairs")
@pytest.mark.parametrize("seed", range(2))
def test_another_validator_agrees(seed):
    documents = Documents(random.Random(seed))  # noqa: S311  # a sample that can be drawn again
    proven = 0
    for _ in range(75):
        old = documents.arguments()
        new = documents.edited(old)
        found = difference(old, new)
        if found is NO_VALUE_EXISTS:
            proven += 1
            assert list(search(documents, old, new, 50)) == [], (old, new)
        elif found is not UNDECIDED:
            assert flips(old, new, found), (old, new, found)
    assert proven > 25


HOSTILE: dict[str, Any] = {
    "many alternatives": {"oneOf": [{"required": [f"k{i}"]} for i in range(300)]},
    "alternatives in alternatives": {
        "allOf": [{"anyOf": [{"required": [f"k{i}"]}, {"required": [f"l{i}"]}]} for i in range(60)]
    },
    "many choices": {"enum": list(range(20_000))},
    "a long tuple": {"type": "array", "prefixItems": [INTEGER] * 3000},
    "large numbers": {"minimum": 10**300, "multipleOf": 1e-300, **NUMBER},
    "many expressions": {"patternProperties": {f"^{i}": INTEGER for i in range(200)}},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_the_work_is_limited(case):
    old, new = HOSTILE[case], {"allOf": [HOSTILE[case], {"not": {"const": "a"}}]}

    def compare_both_ways():
        difference(old, new)
        difference(new, old)

    assert_takes(10, compare_both_ways)
