"""The laws: what holds for every supported type and every JSON value."""

from __future__ import annotations

import copy
import dataclasses
import json
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
import typing_inspect
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from judge import validator
from strategies import DATACLASSES, JSON_VALUES, OBJECTS, TYPES, supposedly_valid, values_for

from operator_schema import Codec, DecodeError, Finding, SchemaError
from operator_schema.engine import Field
from operator_schema.sameness import same_text
from operator_schema.schema.keywords import INTEGER_KEY
from operator_schema.testing import arguments

pytestmark = pytest.mark.slow("draws hundreds of types")

ACCEPTED_EXCEPTIONS = """
A decoder may refuse what the schema takes, for these reasons alone:

- a leaf's parser is stricter than its schema (`bad_format`; `no_match` where the leaf is in a union)
- the class's own `__post_init__` (`rejected`)
- an integer beyond the range of floats, or whose float breaks its limits (`out_of_range`)
- the limits on depth and size (`too_deep`, `too_large`)
- items of a set, or keys of a map, that differ in JSON and are one value in Python (`duplicate`)
- an object that fits several members of a union equally well (`no_match`)
- the `$` of Python matches before a line break at the end: in the keys that are integers
  (`bad_format`) the decoder is as strict as JSON Schema means it

A decoder may take what the schema refuses for one reason alone: an explicit null for a field whose
absence means None.
"""


def is_excused(codec: Codec[Any], value: Any, problem: Finding) -> bool:
    match problem.code:
        case "rejected" | "too_deep" | "too_large":
            return True
        case "duplicate":
            around, step = at(value, problem.path[:-1]), problem.path[-1]
            return isinstance(around, dict) or same_text(around[step]) not in map(same_text, around[:step])
        case "bad_format":
            is_of_leaf = "is not accepted: " in problem.message
            return is_of_leaf or (problem.expected == INTEGER_KEY and problem.path[-1].endswith("\n"))
        case "no_match":
            return "equally well" in problem.message or "LeafNode" in repr(codec.graph)
        case "out_of_range":
            number = at(value, problem.path)
            is_beyond = isinstance(number, int) and abs(number) > sys.float_info.max
            return is_beyond or "as a float" in problem.message
        case _:
            return False


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@st.composite
def codecs(draw: st.DrawFn) -> Codec[Any]:
    return Codec(draw(TYPES))


@st.composite
def closed_with_values(draw: st.DrawFn) -> tuple[Codec[Any], tuple[Any, ...]]:
    codec = Codec(draw(OBJECTS), unknown_fields="reject")
    return codec, draw(values_for(codec))


def without_nulls(value: Any) -> Any:
    """Leave out the keys that are null, everywhere: what an explicit null for a field means."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def judge_of(codec: Codec[Any]) -> Callable[[Any], bool]:
    judge = validator(codec.json_schema())

    def is_valid(value: Any) -> bool:
        try:
            return judge.is_valid(value)
        except OverflowError:  # jsonschema divides by multipleOf in floats
            reject()

    return is_valid


def check_agreement(codec: Codec[Any], values: tuple[Any, ...]) -> None:
    """Law 1: decode accepts a value exactly when `jsonschema` accepts it under the schema."""
    is_valid = judge_of(codec)
    for value in values:
        problems = codec.report(value)
        if is_valid(value):
            is_wrapper = any("the arguments are inside" in problem.message for problem in problems)
            excused = [is_wrapper or is_excused(codec, value, problem) for problem in problems]
            assert all(excused), (value, problems)
        elif not problems:
            assert is_valid(codec.encode(codec.decode(value))), value
            assert without_nulls(value) != value


# Types vary more than the values of one type: twice as many examples as the profile says.
@settings(max_examples=2 * settings().max_examples)
@given(st.data(), codecs())
def test_the_laws_of_values(data, codec):
    """Laws 1, 2, 4 and 5 together, since drawing the types takes most of the time."""
    values = data.draw(values_for(codec))
    check_agreement(codec, values)
    for value in values:
        check_no_surprise(codec, value)
        check_hands_off(codec, value)
    check_example(codec)
    check_own_idea(codec, data.draw(supposedly_valid(codec)))
    check_round_trip(codec, data.draw(arguments(codec)))


def check_example(codec: Codec[Any]) -> None:
    """An example decodes, and a validator accepts it."""
    try:
        example = codec.example()
    except ValueError:  # the type has no values
        return
    codec.decode(example)
    assert judge_of(codec)(example)


# Only objects can be closed, and all else is as in the other laws.
@settings(max_examples=3 * settings().max_examples // 5)
@given(closed_with_values())
def test_rejecting_unknown_fields_agrees_too(typed):
    check_agreement(*typed)


def check_own_idea(codec: Codec[Any], value: Any) -> None:
    """The strategies' own idea of a valid value is the decoder's."""
    assert {problem.code for problem in codec.report(value)} <= {"rejected", "duplicate"}


def check_round_trip(codec: Codec[Any], value: Any) -> None:
    """Law 2: what is encoded is valid and decodes to an equal instance, through real JSON text."""
    instance = codec.decode(value)
    encoded = codec.encode(instance)
    assert judge_of(codec)(encoded)
    text = codec.encode_json(instance)
    assert json.loads(text) == encoded
    assert codec.decode_json(text.encode()) == instance
    assert codec.decode(encoded) == instance
    assert type(codec.decode(encoded)) is type(instance)


def check_no_surprise(codec: Codec[Any], value: Any) -> None:
    """Law 4: decode returns or raises DecodeError, and its text is bounded and printable."""
    try:
        codec.decode(value)
    except DecodeError as error:
        text = str(error)
        assert len(text) <= 2000
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode()


@given(OBJECTS, st.text() | st.binary())
def test_no_surprise_in_text(annotation, text):
    try:
        Codec(annotation).decode_json(text)
    except DecodeError as error:
        str(error).encode()


def check_hands_off(codec: Codec[Any], value: Any) -> None:
    """Law 5: the input is not changed, and no mutable part of it is in a result without Any."""
    before = copy.deepcopy(value)
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
    """Return the identities of the lists and dicts that a value holds."""
    own = {id(value)} if isinstance(value, (list, dict)) else set()
    if isinstance(value, dict):
        return own.union(*map(containers, value.values()), *map(containers, value))
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return own.union(*map(containers, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return own.union(*[containers(getattr(value, f.name)) for f in dataclasses.fields(value)])
    return own


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
def test_registration_is_total(annotation):
    """Law 6: every annotation gives a codec or a SchemaError, never another exception."""
    for odd in (annotation, dataclasses.make_dataclass("Odd", [("field", annotation)])):
        try:
            codec = Codec(odd)
        except SchemaError as error:
            assert error.findings
            assert all(isinstance(complaint, Finding) for complaint in error.findings)
            assert all(complaint.message and complaint.remedy for complaint in error.findings)
            str(error).encode()
        else:
            validator(codec.json_schema())


@given(DATACLASSES)
def test_typing_inspect_agrees(annotation):
    """Law 7: an independent reading of the annotations finds the same kinds."""
    hints = get_type_hints(annotation, include_extras=True)
    fields = {field.name: field for field in Codec(annotation).graph.resolve_root().fields}
    for name, hint in hints.items():
        if typing_inspect.is_classvar(hint):
            assert name not in fields
            continue
        check_kind(fields[name], bare(hint), annotation.__dataclass_fields__[name])


def bare(hint: Any) -> Any:
    """Take off what says nothing about the values."""
    while True:
        if isinstance(hint, dataclasses.InitVar):
            hint = hint.type
        elif typing_inspect.is_new_type(hint):
            hint = hint.__supertype__
        elif hasattr(hint, "__metadata__"):
            hint = hint.__origin__
        else:
            return hint


def check_kind(field: Field, hint: Any, declared: dataclasses.Field[Any]) -> None:
    kind = type(field.node).__name__
    if typing_inspect.is_optional_type(hint) and hint is not type(None):
        has_own_default = declared.default is not None and declared.default is not dataclasses.MISSING
        has_factory = declared.default_factory is not dataclasses.MISSING
        assert field.absent_is_none == (not has_own_default and not has_factory)
        assert not field.required
        return
    assert typing_inspect.is_literal_type(hint) == (kind == "LiteralNode")
    assert typing_inspect.is_union_type(hint) == (kind == "UnionNode")
    if typing_inspect.is_tuple_type(hint):
        assert kind in {"TupleNode", "ArrayNode"}
    elif typing_inspect.is_generic_type(hint) and not typing_inspect.is_literal_type(hint):
        assert kind in {"ArrayNode", "MapNode", "ObjectNode", "RefNode"}
