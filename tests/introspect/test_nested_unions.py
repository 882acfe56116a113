"""Unions that are nested, described or recursive."""

import json
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    NewType,
)

from annotation_samples import INTEGER, NULL, STRING, U1, check_agreement, schema_of, union_of
from typing_extensions import TypeAliasType

from operator_schema import Codec


def test_unions_inside_unions_are_spread_out():
    inner = TypeAliasType("inner", int | str)
    for annotation in (union_of([inner, None, int]), NewType("New", int | str) | None, inner | None):
        assert schema_of(annotation) == {"anyOf": [INTEGER, STRING, NULL]}


def test_a_described_union_inside_a_union_keeps_its_description():
    schema = schema_of(Annotated[int | str, "how many, or all"] | None)
    assert schema == {"anyOf": [{"anyOf": [INTEGER, STRING], "description": "how many, or all"}, NULL]}
    codec = Codec(Annotated[int | str, "how many, or all"] | None)
    assert [codec.decode(value) for value in (1, "all", None)] == [1, "all", None]


def test_equal_members_count_once():
    assert schema_of(str | NewType("Name", str)) == STRING
    assert schema_of(U1 | TypeAliasType("Same", U1) | None)["anyOf"] == [schema_of(U1), NULL]


@dataclass
class Sum:
    left: "Sum | Negation | int"
    right: "Sum | Negation | int" = 0


@dataclass
class Negation:
    of: "int | Negation | Sum"


def test_recursive_unions():
    for annotation in (Sum, Negation, Sum | Negation, Negation | Sum | int):
        check_agreement(
            annotation,
            [
                1,
                {"of": 1},
                {"of": {"of": {"left": 1}}},
                {"left": {"of": 2}, "right": 3},
                {"left": {}},
                {"of": "x"},
                {},
            ],
        )
    assert Codec(Sum).decode({"left": {"of": {"left": 1}}}) == Sum(Negation(Sum(1)))
    [problem] = Codec(Sum | int).report({"left": {"of": "x"}})
    assert problem.path == ("left", "of")
    assert set(schema_of(Sum)["$defs"]) <= {"Sum", "Negation"}


def test_a_recursive_union_takes_time_that_grows_with_its_value():
    """Trying every member at every level would double at each."""
    value: Any = 1
    for _ in range(45):
        value = {"left": value, "right": 1}
    wrong = json.loads(json.dumps(value).replace('"left": 1', '"left": "x"'))
    codec = Codec(Sum | Negation)
    assert codec.report(value) == ()
    assert [problem.code for problem in codec.report(wrong)] == ["wrong_type"]
