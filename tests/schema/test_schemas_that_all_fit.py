"""`allOf`: a value fits exactly when it fits each schema alone, whatever of them is read as one."""

import json
from functools import cache
from itertools import combinations, product

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}


def an_object(properties, **more):
    return {"type": "object", "properties": properties, **more}


SCHEMAS = [
    {},
    {"enum": [{"a": 1}, {"b": "x"}, 1]},
    {"minProperties": 1},
    an_object({"a": INTEGER}),
    an_object({"a": {"type": "integer", "minimum": 3}}),
    an_object({"a": TEXT}),
    an_object({"b": TEXT}),
    an_object({"a": INTEGER}, required=["a"]),
    an_object({"a": INTEGER}, additionalProperties=False),
    an_object({"b": TEXT}, additionalProperties=False),
    an_object({}, additionalProperties=INTEGER),
    INTEGER,
]
VALUES = [
    {},
    {"a": 1},
    {"a": 5},
    {"a": "x"},
    {"b": "x"},
    {"b": 1},
    {"a": 5, "b": "x"},
    {"a": 5, "c": 1},
    1,
    "x",
]


@cache
def codec_of(text):
    return DocumentCodec(SchemaDocument("theirs", json.loads(text), is_arguments=False))


def fits(schema, value):
    return not codec_of(json.dumps(schema)).report(value)


@pytest.mark.parametrize("around", [{}, {"type": "object"}, {"minProperties": 0}])
def test_two_schemas_take_what_both_take(around):
    for first, second in product(SCHEMAS, repeat=2):
        schema = {**around, "allOf": [first, second]}
        for value in VALUES:
            alone = fits(around, value) and fits(first, value) and fits(second, value)
            assert fits(schema, value) == alone, (schema, value)


def test_three_schemas_take_what_all_take():
    for schemas in combinations(SCHEMAS, 3):
        for value in VALUES:
            alone = all(fits(schema, value) for schema in schemas)
            assert fits({"allOf": [*schemas]}, value) == alone, (schemas, value)
