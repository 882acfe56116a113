"""Defects measured in other libraries: values taken for what they aren't."""

from __future__ import annotations

import collections
import enum
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, List, Literal, Union  # noqa: UP035

import pytest
from judge import validator
from pitfall_samples import Level, Loose, codes, same

from operator_schema import (
    Codec,
    DecodeError,
    EncodeError,
    decode,
    decode_json,
    encode,
    json_schema,
)


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Ge:
    ge: float


"""Calls after which a codec may do the same in another way."""


@pytest.mark.parametrize(
    ("annotation", "code"),
    [
        (int, "wrong_type"),
        (float, "wrong_type"),
        (Literal[1], "not_one_of"),
        (Level, "not_one_of"),
        (Size, "not_one_of"),
        (int | str, "wrong_type"),
        (Decimal, "wrong_type"),
    ],
)
def test_true_is_no_number(annotation, code):
    assert codes(annotation, True) == [code]
    assert codes(list[annotation], [True]) == [code]
    assert codes(dict[str, annotation], {"a": True}) == [code]
    assert not validator(json_schema(annotation)).is_valid(True)


@pytest.mark.parametrize("value", [1, 0, 1.0, "no", "yes", "true", "on", ""])
def test_only_booleans_are_booleans(value):
    assert codes(bool, value) == ["wrong_type"]


@pytest.mark.parametrize("value", [1, 1.0])
def test_one_is_not_literal_true(value):
    assert codes(Literal[True], value) == ["not_one_of"]


@pytest.mark.parametrize("value", [1.5, -0.5, 1e-9, 0.1 + 0.2])
def test_a_fraction_is_not_cut_to_an_integer(value):
    assert codes(int, value) == ["wrong_type"]
    with pytest.raises(DecodeError):
        decode_json(int, json.dumps(value))


SIX = (True, False, 0, 1, "y", "n")


def test_a_literal_of_six_values_keeps_all_six_in_order():
    annotation = Literal[True, False, 0, 1, "y", "n"]
    listed = json_schema(annotation)["enum"]
    assert all(map(same, listed, SIX))
    assert len(listed) == len(SIX)


@pytest.mark.parametrize("value", SIX, ids=repr)
def test_each_of_six_literal_values_decodes_to_itself(value):
    annotation = Literal[True, False, 0, 1, "y", "n"]
    assert same(decode(annotation, value), value)
    assert same(Codec(annotation).encode(value), value)


@pytest.mark.parametrize("values", [(1, True), (True, 1), (0, False), (False, 0)])
def test_codecs_are_not_cached_by_equality_of_literals(values):
    """The second question must not get the answer of the first."""
    for value in values:
        other = int(value) if isinstance(value, bool) else bool(value)
        assert same(decode(Literal[value], value), value)
        assert same(decode(list[Literal[value]], [value])[0], value)
        assert same(decode(List[Literal[value]], [value])[0], value)  # noqa: UP006  # it has a cache of its own
        assert same(json_schema(Literal[value])["enum"][0], value)
        assert codes(Literal[value], other) == ["not_one_of"]


def test_codecs_are_not_cached_by_equality_of_constraints():
    """`Annotated[int, Ge(1)]` and `Annotated[int, Ge(1.0)]` may be one object: they mean the same."""
    for annotation in (Annotated[int, Ge(1)], Annotated[int, Ge(1.0)]):
        assert json.dumps(json_schema(annotation)) == '{"type": "integer", "minimum": 1}'
        assert same(decode(annotation, 1), 1)
    assert json_schema(Annotated[int, Ge(2)])["minimum"] == 2


@pytest.mark.parametrize(
    "annotation",
    [List[Union[int, float]], List[Union[float, int]], list[int | float], list[float | int]],  # noqa: UP006  # these are cached by equality
)
def test_nothing_depends_on_the_order_of_a_union(annotation):
    decoded = decode(annotation, [1, 1.0, 2.5])
    assert list(map(type, decoded)) == [int, float, float]
    assert {member["type"] for member in json_schema(annotation)["items"]["anyOf"]} == {"integer", "number"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400, -(10**400)], ids=str)
def test_numbers_that_are_not_finite_are_no_floats(value):
    assert codes(float, value) == ["out_of_range"]
    assert codes(float | None, value) == ["out_of_range"]
    with pytest.raises(EncodeError):
        Codec(float).encode(value)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + "0" * 400])
def test_json_text_of_numbers_that_are_not_finite(text):
    for annotation in (float, Any):
        if annotation is Any and text.isdigit():
            continue
        with pytest.raises(DecodeError) as caught:
            decode_json(list[annotation], f"[{text}]")
        assert caught.value.findings[0].code in {"invalid_json", "out_of_range"}


@pytest.mark.parametrize("value", ["NaN", "sNaN", "-NaN123", "Infinity", "-inf", float("nan"), float("inf")])
def test_decimals_are_finite(value):
    assert codes(Decimal, value)


@pytest.mark.parametrize(
    "annotation",
    [
        list[int],
        list[str],
        set[str],
        frozenset[str],
        tuple[str, ...],
        tuple[str, str],
        Sequence[str],
        Iterable[str],
        collections.deque[str],
    ],
)
def test_a_string_is_no_array_of_characters(annotation):
    assert codes(annotation, "12") == ["wrong_type"]
    with pytest.raises(EncodeError):
        Codec(annotation).encode("12")


@pytest.mark.parametrize(
    "text", ["aGVsbG8", "aGVs bG8=", "aGVsbG8=\n", "aGVsbG8_", "aGVsbG8=x", "a", "====", "é"]
)
def test_base64_is_strict(text):
    assert codes(bytes, text) == ["bad_format"]


@pytest.mark.parametrize("value", [0, 1_700_000_000, 1.5, "1700000000", "now", "2026-01-31"])
def test_no_timestamp_for_a_datetime(value):
    assert codes(datetime, value)


@pytest.mark.parametrize("seconds", [-1.5, -0.5, -86_401.25, -0.000001, 1.5, 0])
def test_negative_durations_come_back_as_they_were(seconds):
    """adaptix #453."""
    duration = timedelta(seconds=seconds)
    assert decode(timedelta, encode(duration)) == duration


def test_minus_one_and_a_half_seconds_is_read_as_written():
    assert decode(timedelta, "-PT1.5S") == timedelta(seconds=-1.5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1], [((), "bad_length")]),
        ([1, "y", "z"], [((), "bad_length")]),
        ([], [((), "bad_length")]),
        (["x", "y"], [((0,), "wrong_type")]),
        (["x", 5], [((0,), "wrong_type"), ((1,), "wrong_type")]),
    ],
)
def test_fixed_tuples_have_their_length_and_their_types(value, expected):
    found = Codec(tuple[int, str]).report(value)
    assert [(problem.path, problem.code) for problem in found] == expected


def test_an_absent_key_of_a_typed_dict_stays_absent():
    assert decode(Loose, {"name": "a"}) == {"name": "a"}
    assert decode(Loose, {"name": "a", "count": None}) == {"name": "a", "count": None}
    assert Codec(Loose).encode({"name": "a"}) == {"name": "a"}


@dataclass
class Counted:
    name: str
    length: int = field(init=False, default=-1)

    def __post_init__(self):
        self.length = len(self.name)


def test_a_field_without_init_cannot_be_supplied():
    assert decode(Counted, {"name": "abc", "length": 99}).length == 3
    [problem] = Codec(Counted, unknown_fields="reject").report({"name": "abc", "length": 99})
    assert (problem.path, problem.code) == (("length",), "unknown")
    assert list(json_schema(Counted)["properties"]) == ["name"]


def test_post_init_runs():
    assert decode(Counted, {"name": "abc"}).length == 3
    assert decode(list[Counted], [{"name": "ab"}])[0].length == 2
