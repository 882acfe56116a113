"""What is reported of repairs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from repair_samples import Leg, One, Tree, Trip, Two, refused, report

from operator_schema import Codec, DecodeError
from operator_schema.findings import DecodeReport, repaired


def test_repair_is_off_by_default():
    assert Codec(int).report("5")
    assert Codec(int).decode_report(5) == DecodeReport(5, ())
    with pytest.raises(DecodeError):
        Codec(dict[str, int]).decode_json("{'a': 1}")


def test_each_repair_is_recorded_with_its_path():
    value = {"legs": '[{"Number": "A1", "stops": "2"}]', "price": None, "isPaid": "true"}
    made = report(Trip, value)
    assert made.instance == Trip([Leg("A1", 2)], is_paid=True)
    assert [(repair.path, repair.code, repair.received, repair.expected) for repair in made.repairs] == [
        (
            ("legs",),
            "json_text",
            '"[{\\"Number\\": \\"A1\\", \\"stops\\": \\"2\\"}]"',
            '[{"number": "A1", "stops": 2}]',
        ),
        (("legs", 0, "number"), "key", '"Number"', '"number"'),
        (("legs", 0, "stops"), "scalar", '"2"', "2"),
        (("price",), "default", "null", "default"),
        (("is_paid",), "key", '"isPaid"', '"is_paid"'),
        (("is_paid",), "scalar", '"true"', "true"),
    ]
    assert str(made.repairs[2]) == 'legs[0].stops: "2" read as 2 (scalar)'


def test_a_repair_of_the_root_has_no_path():
    (repair,) = report(int, "5").repairs
    assert repair == repaired((), "scalar", '"5"', "5")
    assert str(repair) == '"5" read as 5 (scalar)'


def test_what_is_shown_of_a_repair_is_bounded():
    (repair, *_) = report(dict[str, list[int]], {"k" * 1000: json.dumps([1] * 1000)}).repairs
    assert len(repair.received) <= 60
    assert len(repair.expected) <= 60
    assert len(str(repair)) <= 400


def test_a_value_is_read_once_however_deep_unions_nest():
    value: Any = {"firstName": "x"}
    for level in range(40):
        value = {"firstName" if level % 2 else "secondName": "x", "inner": value}
    made = report(One | Two, value).instance
    for level in reversed(range(40)):
        assert type(made) is (One if level % 2 else Two)
        (made,) = made.inner
    assert made == One("x")


def test_the_value_is_not_changed():
    value = {"legs": [{"Number": "A1"}], "isPaid": "true"}
    before = json.dumps(value)
    report(Trip, value)
    assert json.dumps(value) == before


def test_problems_are_those_that_repair_leaves():
    codec = Codec(Trip, repair=True)
    assert codec.report({"Legs": "[]", "price": "5"}) == ()
    assert [problem.path for problem in codec.report({"legs": "[]", "price": "x"})] == [("price",)]


def test_values_too_deep_to_follow_are_left_to_decoding():
    deep: Any = {"value": 1}
    for _ in range(5000):
        deep = {"value": 1, "children": [deep]}
    assert refused(Tree, deep, max_depth=10**6) == ["too_deep"]
    assert "too_deep" in refused(Tree, deep)
