"""Documents, graphs and `jsonschema` agree about every value."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema.codec.interpret import interpret
from operator_schema.engine import DocumentCodec, Judge, Patterns, SchemaDocument
from operator_schema.errors import DecodeError
from operator_schema.json_values import copy_json
from operator_schema.schema.document_reader import read_document

KEYS = st.sampled_from(["a", "b", "c d", "$ref"])
TEXTS = st.sampled_from(["", "a", "bb", "10", "ab-c"])
NUMBERS = st.sampled_from([-1, 0, 1, 2, 3.0, 0.5, 10])
LENGTHS = st.integers(0, 3)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
PATTERNS = st.sampled_from(["^a", "b+$", "^[a-z]+(-[a-z]+)*$", "."])


def schema_of(inner: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    """Make schemas of a type and a few keywords: with all of them, hardly any value fits."""
    schemas = st.lists(inner, min_size=1, max_size=3)
    keywords: dict[str, st.SearchStrategy[object]] = {
        "enum": st.lists(SCALARS | VALUES, min_size=1, max_size=3),
        "const": SCALARS,
        "minLength": LENGTHS,
        "maxLength": LENGTHS,
        "pattern": PATTERNS,
        "minimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "items": inner,
        "prefixItems": schemas,
        "minItems": LENGTHS,
        "maxItems": LENGTHS,
        "uniqueItems": st.booleans(),
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "required": st.lists(KEYS, max_size=2, unique=True),
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=1),
        "propertyNames": inner,
        "minProperties": LENGTHS,
        "maxProperties": LENGTHS,
        "anyOf": schemas,
        "oneOf": schemas,
        "allOf": schemas,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "contains": inner,
        "minContains": LENGTHS,
        "maxContains": LENGTHS,
        "dependentRequired": st.dictionaries(KEYS, st.lists(KEYS, max_size=2, unique=True), max_size=2),
        "dependentSchemas": st.dictionaries(KEYS, inner, max_size=2),
        "unevaluatedItems": inner,
        "unevaluatedProperties": inner,
        "default": VALUES,
        "description": st.just("words"),
        "format": st.sampled_from(["date-time", "uuid", "nonsense"]),
    }
    types = st.fixed_dictionaries({"type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True)})
    some = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    more = some.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))
    return st.builds(lambda one, other: {**one, **other}, types | types | st.just({}), more)


SCHEMAS = st.recursive(
    st.booleans()
    | st.sampled_from([{}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}])
    | schema_of(st.just({})),
    schema_of,
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, SCHEMAS, max_size=3).map(
    lambda found: {"type": "object", "properties": found}
)
DOCUMENTS = st.builds(
    lambda schema, a, b, more: {**schema, **more, "type": "object", "$defs": {"A": a, "B": b}},
    OBJECTS,
    SCHEMAS,
    SCHEMAS,
    st.just({})
    | st.fixed_dictionaries({"required": st.lists(KEYS, max_size=1)})
    | st.fixed_dictionaries({"additionalProperties": SCHEMAS}),
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)


class TooManyStepsError(Exception):
    """References went round and round, or there was too much to check."""


class Steps:
    """How far a check may go on."""

    left = depth = 0


@cache
def counting_validator():
    """Return a validator of `jsonschema` that gives up after so many keywords."""

    def counted(check):
        def checked(*args):
            Steps.left, Steps.depth = Steps.left - 1, Steps.depth + 1
            try:
                if Steps.left < 0 or Steps.depth > MOST_NESTED:
                    raise TooManyStepsError
                yield from check(*args) or ()
            finally:
                Steps.depth -= 1

        return checked

    plain = jsonschema.Draft202012Validator
    checks = {keyword: counted(check) for keyword, check in plain.VALIDATORS.items()}
    return jsonschema.validators.extend(plain, checks)


MOST_NESTED = 100
MOST_STEPS = 30_000


def is_valid(schema: dict[str, object], value: object) -> bool | None:
    """Return what `jsonschema` says; None where references go round and round, which it can't stand."""
    Steps.left, Steps.depth = MOST_STEPS, 0
    try:
        return counting_validator()(schema).is_valid(value)
    except TooManyStepsError:
        return None


def decodes(codec: DocumentCodec, value: object) -> bool:
    try:
        decoded = codec.decode(value)
    except DecodeError as error:
        assert str(error)
        return False
    assert decoded == value
    return True


@pytest.mark.slow("draws many types")
@settings(deadline=None, max_examples=settings().max_examples)
@given(DOCUMENTS, st.lists(ARGUMENTS, min_size=2, max_size=5))
def test_a_codec_takes_what_its_document_takes(schema: dict[str, object], values: list[object]) -> None:
    before = copy_json(schema)
    codec = DocumentCodec(SchemaDocument("tool", schema))
    again = json.loads(json.dumps(super(DocumentCodec, codec).json_schema()))
    jsonschema.Draft202012Validator.check_schema(again)
    reading = read_document(schema, "tool")
    for value in values:
        found = interpret(codec.graph, value, 100)[1].found
        if any("the arguments are inside" in problem.message for problem in found):
            continue  # which no schema can say
        fits = not found
        expected = is_valid(schema, value)
        assert jsonschema.Draft202012Validator(again).is_valid(value) is fits
        if expected is None:
            continue
        assert fits or not expected, reading.left
        if not reading.left:
            assert fits is expected
        if codec.left:  # a reference that leads nowhere
            assert decodes(codec, value) or not expected
        else:
            assert decodes(codec, value) is expected
    assert codec.json_schema() == before == schema


@pytest.mark.skipif(
    tuple(map(int, version("jsonschema").split(".")[:2])) < (4, 18),
    reason="before, jsonschema fails itself at unevaluatedItems and $ref",
)
@pytest.mark.slow("draws hundreds of documents")
@settings(deadline=None, max_examples=3 * settings().max_examples)
@given(DOCUMENTS, st.lists(ARGUMENTS, min_size=2, max_size=5))
def test_the_judge_and_jsonschema_agree(schema: dict[str, object], values: list[object]) -> None:
    judge = Judge(schema, Patterns())
    for value in values:
        expected = is_valid(schema, value)
        problems = judge.problems(value)
        assert expected is not True or problems == []
        if not judge.left and expected is not None:
            assert bool(problems) is not expected
        assert all(problem.message for problem in problems)


@settings(deadline=None, max_examples=3 * settings().max_examples // 5)
@given(VALUES, ARGUMENTS)
def test_whatever_a_document_is_it_is_read_or_refused(found: object, value: object) -> None:
    schema = {
        "type": "object",
        "properties": {"a": found, "b": {"anyOf": [found], "items": found}},
        "required": found,
        "$defs": found,
    }
    codec = DocumentCodec(SchemaDocument("tool", schema))
    decodes(codec, value)


@pytest.mark.parametrize("compiled", [False, True])
@settings(deadline=None, max_examples=settings().max_examples // 5)
@given(schema=DOCUMENTS, value=ARGUMENTS)
def test_compiled_codecs_and_repairing_ones_give_what_fits(
    compiled: bool, schema: dict[str, object], value: object
) -> None:  # a parameter of a test
    plain = DocumentCodec(SchemaDocument("tool", schema))
    codec = DocumentCodec(SchemaDocument("tool", schema), repair=True)
    if compiled:
        codec.compile()
        assert decodes(plain, value) is decodes(plain.compile(), value)
    if decodes(plain, value):
        assert codec.decode(value) == value
        return
    try:
        repaired = codec.decode(value)
    except DecodeError:
        return
    assert decodes(plain, repaired)
