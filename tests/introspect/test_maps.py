"""Maps and their keys."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
)
from uuid import UUID

import pytest
from annotated_types import Ge
from annotation_samples import (
    IDENTIFIER,
    INTEGER,
    U1,
    Answer,
    Color,
    Degrees,
    Level,
    Name,
    Nothing,
    check_agreement,
    codes_of,
    complaint_of,
    schema_of,
)

from operator_schema import Codec

KEYS = [
    (str, None, {"": 1, "a": 1}, {"": 1, "a": 1}, None),
    (Name, None, {"a": 1}, {"a": 1}, None),
    (Annotated[str, "who"], {"description": "who"}, {"a": 1}, {"a": 1}, None),
    (Annotated[str, re.compile("^a")], {"pattern": "^a"}, {"ab": 1}, {"ab": 1}, {"b": 1}),
    (int, {"pattern": "^(0|-?[1-9][0-9]*)$"}, {"0": 1, "-12": 2}, {0: 1, -12: 2}, {"01": 1}),
    (Color, {"enum": ["red", "blue"]}, {"red": 1}, {Color.RED: 1}, {"RED": 1}),
    (Answer, {"enum": ["yes", "no"]}, {"no": 1}, {Answer.NO: 1}, {"": 1}),
    (Level, {"enum": ["1", "7"]}, {"7": 1}, {Level.HIGH: 1}, {"7.0": 1}),
    (Literal["a", "b"], {"enum": ["a", "b"]}, {"b": 1}, {"b": 1}, {"c": 1}),
    (Literal[1, "x"], {"enum": ["1", "x"]}, {"1": 1, "x": 2}, {1: 1, "x": 2}, {"2": 1}),
    (Literal[Level.LOW], {"enum": ["1"]}, {"1": 1}, {Level.LOW: 1}, {"LOW": 1}),
    (
        date,
        {"format": "date", "description": "date, such as 2026-01-31"},
        {"2026-01-31": 1},
        {date(2026, 1, 31): 1},
        {"2026-1-31": 1},
    ),
    (
        UUID, {"format": "uuid", "description": "UUID string"}, {IDENTIFIER: 1}, {UUID(IDENTIFIER): 1},
        {"x": 1},
    ),
    (Path, None, {"a/b": 1}, {Path("a/b"): 1}, {"": 1}),
    (Degrees, {"enum": ["x", "127.0.0.1"]}, {"x": 1}, {Degrees("x"): 1}, {"y": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "names", "value", "decoded", "bad"), KEYS, ids=lambda x: str(x)[:40])
def test_keys_of_a_map(key, names, value, decoded, bad):
    schema = {"type": "object", "additionalProperties": INTEGER}
    if names is not None:
        schema["propertyNames"] = names
    found = schema_of(dict[key, int])
    assert {k: v for k, v in found.items() if k != "propertyNames"} == {
        k: v for k, v in schema.items() if k != "propertyNames"
    }
    if key is not Path:
        assert found == schema
    codec = Codec(dict[key, int])
    result = codec.decode(value)
    assert result == decoded
    assert [type(k) for k in result] == [type(k) for k in decoded]
    assert codec.encode(result) == value
    if bad is not None:
        [problem] = codec.report(bad)
        assert problem.path == tuple(bad)
        assert problem.code in {"bad_format", "not_one_of", "bad_length"}
    check_agreement(dict[key, int])


@pytest.mark.parametrize(
    "key",
    [
        bool, float, None, bytes | None, str | int, str | None, list[int],
        tuple[str, ...], Decimal,
        U1, Literal[True], Literal[None, "a"], Literal[1.5], Literal["1", 1], Nothing,
    ],
    ids=str,
)  # fmt: skip
def test_keys_that_are_no_texts(key):
    complaint = complaint_of(dict[key, int])
    assert (complaint.path, complaint.code) == ((), "unsupported")
    assert "keys" in complaint.message


@pytest.mark.parametrize("key", [Any, object])
def test_keys_of_any_kind_are_text(key):
    check_agreement(dict[key, int])
    codec = Codec(dict[key, int])
    assert codec.json_schema() == Codec(dict[str, int]).json_schema()
    assert codec.decode({"a": 1}) == {"a": 1}


def test_limits_on_keys_are_named_as_what_cannot_be_said():
    complaint = complaint_of(dict[Annotated[int, Ge(3)], int])
    assert complaint.code == "bad_constraint"
    assert "have limits, which JSON Schema can't put on keys" in complaint.message


def test_keys_that_mean_the_same_are_a_problem():
    upper = IDENTIFIER.replace("5678", "ABCD")
    [problem] = Codec(dict[UUID, int]).report({upper: 1, upper.lower(): 2})
    assert (problem.path, problem.code) == ((upper.lower(),), "duplicate")


@pytest.mark.parametrize(
    "key", ["", " 1", "1 ", "+1", "1_0", "-0", "00", "1.0", "0x1", "1\n", "\u0661", "1e3"]
)
def test_integer_keys_are_written_in_one_way(key):
    assert codes_of(dict[int, int], {key: 1}) == ["bad_format"]


def test_keys_and_values_are_judged_together():
    found = Codec(dict[int, int]).report({"a": "x", "1": "y"})
    assert [problem.path for problem in found] == [("a",), ("a",), ("1",)]


def test_maps_of_maps():
    annotation = dict[Color, dict[int, list[Level]]]
    value = {"red": {"1": [7, 1]}}
    assert Codec(annotation).decode(value) == {Color.RED: {1: [Level.HIGH, Level.LOW]}}
    assert Codec(annotation).encode(Codec(annotation).decode(value)) == value
