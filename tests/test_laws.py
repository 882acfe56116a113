"""The laws: what holds for every supported type and every JSON value."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any, get_type_hints

import typing_inspect
from hypothesis import given, settings
from hypothesis import strategies as st
from judge import validator
from strategies import CASES, JSON_VALUES, OBJECT_CASES, Case, values_for

from operator_schema import Codec, DecodeError, SchemaError
from operator_schema.errors import Complaint

ACCEPTED_EXCEPTIONS = """
A decoder may refuse what the schema takes, for these reasons alone:

- a leaf's parser is stricter than its schema (`bad_format`)
- the class's own `__post_init__` (`rejected`)
- an integer beyond the range of floats (`out_of_range`)
- the limits on depth and size (`too_deep`, `too_large`)

A decoder may take what the schema refuses for one reason alone: an explicit null for a field whose
absence means None.
"""
STRICTER = {"bad_format", "rejected", "out_of_range", "too_deep", "too_large"}


def typed_values() -> st.SearchStrategy[tuple[Case, Any]]:
    return (CASES | OBJECT_CASES).flatmap(lambda case: st.tuples(st.just(case), values_for(case)))


def without_nulls(value: Any) -> Any:
    """Leave out the keys that are null, everywhere: what an explicit null for a field means."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@given(typed_values())
@settings(max_examples=600)
def test_agreement(typed):
    """Law 1: decode accepts a value exactly when `jsonschema` accepts it under the schema."""
    case, value = typed
    codec = Codec(case.annotation)
    accepted = validator(codec.json_schema()).is_valid(value)
    problems = codec.problems(value)
    if accepted:
        assert {problem.code for problem in problems} <= STRICTER
    elif not problems:
        assert validator(codec.json_schema()).is_valid(encoded_again(codec, value))
        assert without_nulls(value) != value


def encoded_again(codec: Codec[Any], value: Any) -> Any:
    return codec.encode(codec.decode(value))


@given(typed_values())
@settings(max_examples=300)
def test_rejecting_unknown_fields_agrees_too(typed):
    case, value = typed
    codec = Codec(case.annotation, unknown_fields="reject")
    accepted = validator(codec.json_schema()).is_valid(value)
    problems = codec.problems(value)
    if accepted:
        assert {problem.code for problem in problems} <= STRICTER
    elif not problems:
        assert without_nulls(value) != value


@given((CASES | OBJECT_CASES).flatmap(lambda case: st.tuples(st.just(case), case.valid)))
@settings(max_examples=600)
def test_valid_values_decode(typed):
    """The generator's own idea of a valid value is the decoder's, leaves and all."""
    case, value = typed
    assert Codec(case.annotation).problems(value) == ()


@given((CASES | OBJECT_CASES).flatmap(lambda case: st.tuples(st.just(case), case.valid)))
@settings(max_examples=600)
def test_round_trip(typed):
    """Law 2: what is encoded is valid and decodes to an equal instance, through real JSON text."""
    case, value = typed
    codec = Codec(case.annotation)
    instance = codec.decode(value)
    encoded = codec.encode(instance)
    assert validator(codec.json_schema()).is_valid(encoded)
    text = json.dumps(encoded)
    assert codec.decode_json(text) == instance
    assert codec.decode(encoded) == instance
    assert type(codec.decode(encoded)) is type(instance)


@given(typed_values())
@settings(max_examples=400)
def test_no_surprise(typed):
    """Law 4: decode returns or raises DecodeError, and its text is bounded and printable."""
    case, value = typed
    try:
        Codec(case.annotation).decode(value)
    except DecodeError as error:
        text = str(error)
        assert len(text) <= 2000
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode()


@given(OBJECT_CASES, st.text() | st.binary())
def test_no_surprise_in_text(case, text):
    try:
        Codec(case.annotation).decode_json(text)
    except DecodeError as error:
        str(error).encode()


@given(typed_values())
@settings(max_examples=300)
def test_hands_off(typed):
    """Law 5: the input is not changed, and no mutable part of it is in a result without Any."""
    case, value = typed
    before = copy.deepcopy(value)
    codec = Codec(case.annotation)
    try:
        instance = codec.decode(value)
    except DecodeError:
        assert value == before
        return
    assert value == before
    encoded = codec.encode(instance)
    assert not containers(encoded) & containers(instance)
    if "Any" not in repr(codec.graph):
        assert not containers(instance) & containers(value)


def containers(value: Any) -> set[int]:
    if isinstance(value, dict):
        return {id(value)}.union(*map(containers, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(containers, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return set().union(*[containers(getattr(value, f.name)) for f in dataclasses.fields(value)])
    return set()


ODD_ANNOTATIONS = st.one_of(
    JSON_VALUES,
    st.text().map(lambda text: list[text]),
    st.sampled_from(
        [complex, type, Ellipsis, NotImplemented, [int], {"a": int}, (int, str), int, len, object()]
    ),
    st.sampled_from(
        [list[int, str], dict[int], set[int], tuple[int, ...], type[int], "int", "no such name", "("]
    ),
)


@given(ODD_ANNOTATIONS)
@settings(max_examples=300)
def test_registration_is_total(annotation):
    """Law 6: every annotation gives a codec or a SchemaError, never another exception."""
    for odd in (annotation, dataclasses.make_dataclass("Odd", [("field", annotation)])):
        try:
            codec = Codec(odd)
        except SchemaError as error:
            assert error.complaints
            assert all(isinstance(complaint, Complaint) for complaint in error.complaints)
            assert all(complaint.message and complaint.remedy for complaint in error.complaints)
            str(error).encode()
        else:
            validator(codec.json_schema())


@given(OBJECT_CASES)
@settings(max_examples=300)
def test_typing_inspect_agrees(case):
    """Law 7: an independent reading of the annotations finds the same kinds."""
    hints = get_type_hints(case.annotation, include_extras=True)
    fields = {field.name: field for field in Codec(case.annotation).graph.resolve_root().fields}
    for name, hint in hints.items():
        if typing_inspect.is_classvar(hint):
            assert name not in fields
            continue
        declared = case.annotation.__dataclass_fields__[name]
        bare = hint.__origin__ if hasattr(hint, "__metadata__") else hint
        if typing_inspect.is_optional_type(bare) and bare is not type(None):
            assert fields[name].absent_is_none == (declared.default in (None, dataclasses.MISSING))
            assert not fields[name].required
            continue
        assert typing_inspect.is_literal_type(bare) == (type(fields[name].node).__name__ == "LiteralNode")
        if typing_inspect.is_generic_type(bare) and not typing_inspect.is_literal_type(bare):
            assert type(fields[name].node).__name__ in {"ArrayNode", "MapNode"}
