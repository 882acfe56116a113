"""Constraints in Annotated: read, written in the schema, enforced."""

import re
import sys
from collections import deque
from dataclasses import dataclass, make_dataclass
from datetime import date
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
)

import pytest
import typing_extensions
from annotation_samples import (
    INTEGER,
    NULL,
    STRING,
    U1,
    A,
    Bag,
    Color,
    Ge,
    TaggedA,
    array_of,
    complaint_of,
    complaints_of,
    schema_of,
)
from judge import validator

from operator_schema import Codec, EncodeError, SchemaError, SchemaLeaf, json_schema
from operator_schema.engine import LIMITS
from operator_schema.introspect.number_bounds import Bound, Bounds


@dataclass(frozen=True)
class Gt:
    gt: Any


@dataclass(frozen=True)
class Le:
    le: Any


@dataclass(frozen=True)
class Lt:
    lt: Any


@dataclass(frozen=True)
class Interval:
    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None


@dataclass(frozen=True)
class MultipleOf:
    multiple_of: Any


@dataclass(frozen=True)
class MinLen:
    min_length: Any


@dataclass(frozen=True)
class MaxLen:
    max_length: Any


@dataclass(frozen=True)
class Len:
    min_length: Any = 0
    max_length: Any = None


CONSTRAINTS = [
    (A[int, Ge(1)], {"type": "integer", "minimum": 1}, [1, 1.0, 10**20], [0, -(10**20)]),
    (A[int, Gt(1)], {"type": "integer", "exclusiveMinimum": 1}, [2], [1, 1.0]),
    (A[int, Le(1)], {"type": "integer", "maximum": 1}, [1], [2]),
    (A[int, Lt(1)], {"type": "integer", "exclusiveMaximum": 1}, [0], [1]),
    (A[float, Ge(0.5)], {"type": "number", "minimum": 0.5}, [0.5, 1], [0.49999, 0]),
    (A[float, Gt(0)], {"type": "number", "exclusiveMinimum": 0}, [5e-324], [0, -0.0]),
    (A[float, Le(-0.5)], {"type": "number", "maximum": -0.5}, [-0.5, -1], [-0.25]),
    (A[float, Lt(1.5)], {"type": "number", "exclusiveMaximum": 1.5}, [1.4999], [1.5, 2]),
    (A[int, Ge(0.5)], {"type": "integer", "minimum": 0.5}, [1], [0]),
    (A[int, Ge(2**63 + 1)], {"type": "integer", "minimum": 2**63 + 1}, [2**63 + 1], [2**63]),
    (A[int, Interval(ge=1, lt=5)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 5}, [1, 4], [0, 5]),
    (A[int, Interval(gt=1, le=5)], {"type": "integer", "exclusiveMinimum": 1, "maximum": 5}, [2, 5], [1, 6]),
    (A[int, Interval()], INTEGER, [0], []),
    (A[int, MultipleOf(3)], {"type": "integer", "multipleOf": 3}, [3, -3, 0, 6.0, 3 * 10**30], [4, 10**30]),
    (A[float, MultipleOf(0.5)], {"type": "number", "multipleOf": 0.5}, [1.5, 2, 1e300], [1.25]),
    (A[int, MultipleOf(2.5)], {"type": "integer", "multipleOf": 2.5}, [5, 0], [7]),
    (A[str, MinLen(2)], {"type": "string", "minLength": 2}, ["ab", "😀é"], ["a", "", "😀"]),
    (A[str, MaxLen(2)], {"type": "string", "maxLength": 2}, ["", "ab", "😀😀"], ["abc"]),
    (A[str, Len(1, 3)], {"type": "string", "minLength": 1, "maxLength": 3}, ["a", "abc"], ["", "abcd"]),
    (A[str, Len(2)], {"type": "string", "minLength": 2}, ["ab"], ["a"]),
    (A[str, Len()], STRING, ["", "x" * 99], []),
    (A[list[int], Len(1, 2)], array_of(INTEGER, minItems=1, maxItems=2), [[1], [1, 2]], [[], [1, 2, 3]]),
    (A[list[int], Len(2, 2)], array_of(INTEGER, minItems=2, maxItems=2), [[1, 2]], [[1], [1, 2, 3]]),
    (A[set[int], MinLen(1)], array_of(INTEGER, uniqueItems=True, minItems=1), [[1]], [[]]),
    (A[tuple[int, ...], MaxLen(1)], array_of(INTEGER, maxItems=1), [[], [1]], [[1, 2]]),
    (A[deque[int], MaxLen(0)], array_of(INTEGER, maxItems=0), [[]], [[1]]),
    (
        A[dict[str, int], Len(1, 1)],
        {"type": "object", "additionalProperties": INTEGER, "minProperties": 1, "maxProperties": 1},
        [{"a": 1}],
        [{}, {"a": 1, "b": 2}],
    ),
    (A[str, re.compile("^a+$")], {"type": "string", "pattern": "^a+$"}, ["a", "aa"], ["", "b", "ab"]),
    (A[str, re.compile("b")], {"type": "string", "pattern": "b"}, ["abc"], ["ac"]),
    (A[str, re.compile("(?<=a)b")], {"type": "string", "pattern": "(?<=a)b"}, ["ab"], ["b"]),
    (
        A[str, MinLen(1), MaxLen(2), re.compile("^x")],
        {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^x"},
        ["x", "xy"],
        ["", "y", "xyz"],
    ),
    (A[int, Ge(1), Ge(3), Le(9), Le(5)], {"type": "integer", "minimum": 3, "maximum": 5}, [3, 5], [2, 6]),
    (
        A[int, Ge(1), Gt(1), Le(9), Lt(9)],
        {"type": "integer", "minimum": 1, "exclusiveMinimum": 1, "maximum": 9, "exclusiveMaximum": 9},
        [2, 8],
        [1, 9],
    ),
    (A[A[int, Ge(1)], Le(2)], {"type": "integer", "minimum": 1, "maximum": 2}, [1, 2], [0, 3]),
    (
        A[NewType("Natural", A[int, Ge(0)]), Le(2)],
        {"type": "integer", "minimum": 0, "maximum": 2},
        [0, 2],
        [-1, 3],
    ),
    (A[int | None, Ge(1)], {"anyOf": [{"type": "integer", "minimum": 1}, NULL]}, [1, None], [0]),
    (
        A[int | float, Ge(1)],
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "number", "minimum": 1}]},
        [1, 1.5],
        [0, 0.5],
    ),
    (
        A[str | list[int], MinLen(1)],
        {"anyOf": [{"type": "string", "minLength": 1}, array_of(INTEGER, minItems=1)]},
        ["a", [1]],
        ["", []],
    ),
    (list[A[int, Ge(1)]], array_of({"type": "integer", "minimum": 1}), [[], [1]], [[0]]),
    (
        dict[A[str, MinLen(2)], int],
        {"type": "object", "propertyNames": {"minLength": 2}, "additionalProperties": INTEGER},
        [{"ab": 1}],
        [{"a": 1}],
    ),
    (A[int, "described", Ge(1)], {"type": "integer", "minimum": 1, "description": "described"}, [1], [0]),
]


@pytest.mark.parametrize(("annotation", "schema", "good", "bad"), CONSTRAINTS, ids=lambda x: str(x)[:60])
def test_a_constraint_is_in_the_schema_and_enforced(annotation, schema, good, bad):
    codec = Codec(annotation)
    assert schema_of(annotation) == schema
    judge = validator(schema)
    for value in good:
        assert codec.report(value) == (), value
        assert judge.is_valid(value), value
        assert codec.decode(codec.encode(codec.decode(value))) == codec.decode(value)
    for value in bad:
        assert codec.report(value), value
        assert not judge.is_valid(value), value


@pytest.mark.parametrize(
    ("annotation", "value", "code"),
    [
        (A[int, Ge(1)], 0, "out_of_range"),
        (A[float, Lt(1)], 1, "out_of_range"),
        (A[int, MultipleOf(2)], 1, "out_of_range"),
        (A[str, MinLen(1)], "", "bad_length"),
        (A[list[int], MaxLen(0)], [1], "bad_length"),
        (A[dict[str, int], MinLen(1)], {}, "bad_length"),
        (A[str, re.compile("x")], "y", "bad_format"),
    ],
)
def test_problems_with_constraints_say_the_limit(annotation, value, code):
    [problem] = Codec(annotation).report(value)
    assert problem.code == code
    assert re.search(r"\d|x", problem.message)


def test_constraints_hold_on_the_way_out():
    for annotation, value in [(A[int, Ge(1)], 0), (A[str, MaxLen(1)], "ab"), (A[list[int], MinLen(1)], [])]:
        with pytest.raises(EncodeError):
            Codec(annotation).encode(value)
    made = make_dataclass("Made", [("a", A[int, Ge(1)], 0)])
    assert (complaint_of(made).path, complaint_of(made).code) == (("a",), "bad_default")


def test_constraints_stand_in_what_errors_expect():
    [problem] = Codec(A[int, Ge(1), Le(5)]).report("x")
    assert "1" in problem.expected
    assert "5" in problem.expected


class Predicate:
    def __init__(self, func):
        self.func = func


Predicate.__module__ = "annotated_types"


OWN_LEAF = SchemaLeaf(Bag, {"type": "number"}, lambda _: Bag(), lambda _: 1, Bag())


@pytest.mark.parametrize(
    "annotation",
    [
        A[str, Ge(1)],
        A[bool, Ge(1)],
        A[None, Ge(1)],
        A[int, MinLen(1)],
        A[float, MaxLen(1)],
        A[int, re.compile("x")],
        A[list[str], re.compile("x")],
        A[list[int], Ge(1)],
        A[dict[str, int], Le(1)],
        A[tuple[int, int], MinLen(1)],
        A[Any, Ge(1)],
        A[Color, MinLen(1)],
        A[Literal["a"], MinLen(1)],
        A[U1, MinLen(1)],
        A[TaggedA, MinLen(1)],
        A[date, Ge(1)],
        A[Decimal, MinLen(1)],
        A[int | str, Ge(1)],
        A[U1 | None, Ge(1)],
        A[Bag, OWN_LEAF, Ge(1)],
        A[int, Ge("1")],
        A[int, Ge(1 + 1j)],
        A[int, Ge(float("nan"))],
        A[int, Le(float("inf"))],
        A[float, Ge(Decimal("NaN"))],
        A[date, Ge(date(2026, 1, 1))],
        A[str, MinLen(-1)],
        A[str, MinLen(1.5)],
        A[str, MinLen("1")],
        A[str, MaxLen(False)],
        A[str, re.compile("a", re.IGNORECASE)],
        A[str, re.compile("a", re.ASCII)],
        A[str, re.compile("(?i)a")],
        A[str, re.compile("(?x) a")],
        A[str, re.compile("(?P<name>a)")],
        A[str, re.compile(r"\Aa\Z")],
        A[str, re.compile(b"a")],
        A[str, re.compile("a"), re.compile("b")],
        A[int, MultipleOf(2), MultipleOf(3)],
        A[float, MultipleOf(0.01)],
        A[int, MultipleOf(0)],
        A[int, MultipleOf(-2)],
        A[float, MultipleOf(float("inf"))],
        A[str, Predicate(str.islower)],
    ],
    ids=lambda annotation: re.sub(r"0x\w+", "", str(annotation))[-60:],
)
def test_constraints_that_no_schema_can_hold(annotation):
    complaint = complaint_of(annotation)
    assert (complaint.path, complaint.code) == ((), "bad_constraint")
    made = make_dataclass("Made", [("a", int), ("b", list[annotation])])
    assert [(c.path, c.code) for c in complaints_of(made)] == [(("b", "*"), "bad_constraint")]


def test_a_limit_beyond_the_range_of_floats():
    assert schema_of(A[int, Le(10**400)]) == {"type": "integer", "maximum": 10**400}
    codec = Codec(A[int, Ge(10**400)])
    assert codec.decode(10**400) == 10**400
    assert codec.report(10**400 - 1)[0].code == "out_of_range"


def test_an_integer_whose_float_breaks_its_limits():
    """Else it would decode to a value that can't be encoded."""
    codec = Codec(A[float, Gt(2**53)])
    [problem] = codec.report(2**53 + 1)
    assert problem.code == "out_of_range"
    assert problem.message == "9007199254740993 as a float is not above 9007199254740992"
    assert codec.decode(2**53 + 2) == 2.0**53 + 2
    [problem] = codec.report(2**53)
    assert problem.message == "9007199254740992 is not above 9007199254740992"
    assert Codec(A[float, MultipleOf(3)]).report(9007199254740993)[0].code == "out_of_range"


def test_metadata_that_is_no_constraint_is_passed_over():
    class Rich:
        unit = "m"

        def ge(self, other):
            return self is other

        le = lt = gt = ge

    for item in (
        object(),
        Rich(),
        5,
        None,
        ("ge", 1),
        typing_extensions.deprecated("x"),
    ):
        assert schema_of(A[int, item]) == INTEGER


@pytest.mark.parametrize(
    ("slot", "limit", "within", "outside"),
    [
        ("minimum", 3, 3, 2),
        ("exclusive_minimum", 3, 4, 3),
        ("maximum", 3, 3, 4),
        ("exclusive_maximum", 3, 2, 3),
        ("multiple_of", 3, 6, 7),
        ("min_length", 3, 3, 2),
        ("max_length", 3, 3, 4),
        ("pattern", re.compile("b"), "abc", "ac"),
    ],
)
def test_the_table_says_what_breaks_a_constraint(slot, limit, within, outside):
    [row] = [row for row in LIMITS if row.slot == slot]
    assert not row.breaks(within, limit)
    assert row.breaks(outside, limit)


@pytest.mark.parametrize("exponent", [1, 10, 20])
def test_steps_that_every_validator_calculates_exactly(exponent):
    step = 3 * 2.0**-exponent
    assert json_schema(Annotated[float, MultipleOf(step)]) == {"type": "number", "multipleOf": step}
    with pytest.raises(SchemaError, match="has no exact binary form"):
        json_schema(Annotated[float, MultipleOf(3 * 2.0**-21)])


@pytest.mark.parametrize(
    ("bounds", "ends"),
    [
        (Bounds(None, None), (-sys.float_info.max, sys.float_info.max)),
        (Bounds(Bound(1, False), Bound(2, False)), (1, 2)),
        (Bounds(Bound(0, True), Bound(1, True)), (5e-324, 1 - 2**-53)),
    ],
    ids=["none", "closed", "open"],
)
def test_a_range_has_a_least_and_a_greatest_float(bounds, ends):
    assert bounds.floats() == ends
