"""Limits on `Decimal` bind what comes as a number and what comes as a string."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

import pytest
from annotated_types import Ge, Gt, Interval, Le, Lt, MaxLen, MultipleOf
from hypothesis import given
from hypothesis import strategies as st
from judge import validator

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf, decode, json_schema
from operator_schema.testing import arguments, near_misses

Price = Annotated[Decimal, Ge(0), Lt(1000)]
Coin = Annotated[Decimal, MultipleOf(Decimal("0.05"))]
Half = Annotated[Decimal, Gt(0.1), Le(1e22), MultipleOf(0.5)]


@dataclass
class Order:
    price: Price
    tip: Annotated[Decimal | None, Interval(gt=Decimal("0.5"), le=10)] = None
    coins: list[Coin] | None = None


def test_the_schema_has_the_limits_on_numbers_and_names_them_all():
    assert json_schema(Price) == {
        "type": ["string", "number"],
        "pattern": json_schema(Decimal)["pattern"],
        "description": "decimal number, ≥ 0 and < 1000",
        "minimum": 0,
        "exclusiveMaximum": 1000,
    }
    assert json_schema(Half)["multipleOf"] == 0.5
    assert json_schema(Half)["description"] == "decimal number, > 0.1 and ≤ 1e+22 and a multiple of 0.5"


def test_a_step_that_validators_disagree_about_is_in_the_description_alone():
    schema = json_schema(Coin)
    assert "multipleOf" not in schema
    assert schema["description"] == "decimal number, a multiple of 0.05"
    with pytest.raises(SchemaError, match="use Decimal"):
        json_schema(Annotated[float, MultipleOf(0.05)])


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Price, "0"), (Price, 0), (Price, -0.0), (Price, "999.999"), (Price, 999),
        (Coin, "0.15"), (Coin, 0.15), (Coin, "-1e2"), (Coin, 7),
        (Half, "1e22"), (Half, 10**22), (Half, 0.5), (Half, "10000000000000000000000.0"),
        (Annotated[Decimal, Ge(0.1)], "0.1"), (Annotated[Decimal, Ge(0.1)], 0.1),
    ],
)  # fmt: skip
def test_what_is_within_decodes(annotation, value):
    codec = Codec(annotation)
    decoded = codec.decode(value)
    assert decoded == Decimal(str(value))
    assert validator(codec.json_schema()).is_valid(value)
    codec.compile()
    assert codec.decode(codec.encode(decoded)) == decoded


@pytest.mark.parametrize(
    ("annotation", "value", "says"),
    [
        (Price, "-0.01", "it must be ≥ 0"),
        (Price, -1, "it must be ≥ 0"),
        (Price, "1e3", "it must be < 1000"),
        (Coin, "0.07", "it must be a multiple of 0.05"),
        (Coin, 0.07, "it must be a multiple of 0.05"),
        (Half, "0.1", "it must be > 0.1"),
        (Half, "1e24", "it must be ≤ 1e+22"),
        (Half, 0.75, "it must be a multiple of 0.5"),
    ],
)
def test_what_is_beyond_is_refused_in_both_tiers_and_on_the_way_out(annotation, value, says):
    codec = Codec(annotation)
    for _ in range(2):
        (problem,) = codec.report(value)
        assert (problem.code, problem.message.partition(": ")[2]) == ("out_of_range", says)
        codec.compile()
    with pytest.raises(EncodeError, match=says.replace("+", r"\+")):
        codec.encode(Decimal(str(value)))
    if not isinstance(value, str) and annotation is not Coin:
        assert not validator(codec.json_schema()).is_valid(value)


def test_a_float_that_only_its_digits_make_a_multiple_is_refused_as_the_schema_does():
    annotation = Annotated[Decimal, MultipleOf(5)]
    number = 1e23  # as a float 99999999999999991611392
    assert not validator(json_schema(annotation)).is_valid(number)
    (problem,) = Codec(annotation).report(number)
    assert "write it as a string" in problem.message
    assert decode(annotation, "1e23") == Decimal("1e23")


def test_an_error_says_what_is_expected_whatever_the_field_is_called():
    @dataclass
    class Bill:
        total: Annotated[Decimal, Gt(0), "What is owed"]

    with pytest.raises(DecodeError) as caught:
        decode(Bill, {"total": 0})
    assert "decimal number, > 0" in str(caught.value)
    assert decode(Bill, caught.value.example()).total > 0


def test_limits_that_are_put_on_twice_hold_together():
    narrow = Annotated[Annotated[Decimal, Ge(0), Le(10)], Ge(5), Le(20)]
    assert Codec(narrow).graph == Codec(Annotated[Decimal, Ge(5), Le(10)]).graph
    assert json_schema(narrow)["maximum"] == 10


@pytest.mark.parametrize(
    "limits",
    [
        (Ge(5), Le(5)), (Gt(0), Lt(Decimal("0.001"))), (Lt(-100),), (Gt(1000), MultipleOf(7)),
        (Le(-3), MultipleOf(0.25)), (Ge(10**40), MultipleOf(3)), (Gt(-1), Lt(1)), (Ge(13), Lt(14)),
    ],
)  # fmt: skip
def test_an_example_is_within_the_limits(limits):
    annotation = Annotated[Decimal, *limits]
    with pytest.raises(DecodeError) as caught:
        decode(annotation, "none")
    assert not Codec(annotation).report(caught.value.example())


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ((Ge(5), Lt(5)), "no value is within the limits"),
        ((Gt(0), Lt(1), MultipleOf(1)), "no decimal that is > 0 and < 1 and a multiple of 1 was found"),
        ((MaxLen(5),), "the constraint max_length has no meaning for a Decimal"),
        ((Ge(Decimal("NaN")),), "not a finite number"),
        ((Ge(Decimal("1e999")),), "more digits than JSON readers keep"),
        ((Ge(Decimal("0.12345678901234567890")),), "more digits than JSON readers keep"),
        ((MultipleOf(0),), "not above zero"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, says):
    with pytest.raises(SchemaError, match=says):
        Codec(Annotated[Decimal, *limits])


def test_limits_that_are_decimals_do_for_other_numbers_too():
    assert json_schema(Annotated[float, Ge(Decimal("0.5")), Le(Decimal(7))]) == {
        "type": "number", "minimum": 0.5, "maximum": 7,
    }  # fmt: skip


def test_a_leaf_of_ones_own_for_decimals_is_limited_as_well():
    cents = SchemaLeaf(
        Decimal, {"type": "integer"}, lambda value: Decimal(value) / 100, lambda d: int(d * 100), Decimal(1)
    )
    codec = Codec(Annotated[Decimal, cents, Ge(2)])
    assert codec.decode(250) == Decimal("2.5")
    (problem,) = codec.report(150)
    assert problem.message == "150 is not accepted: it must be ≥ 2"


ORDERS = Codec(Order)
SCHEMA_OF_ORDERS = validator(ORDERS.json_schema())


@given(arguments(ORDERS), near_misses(ORDERS))
def test_the_strategies_keep_to_the_limits(value, missed):
    order = ORDERS.decode_json(json.dumps(value))
    assert 0 <= order.price < 1000
    assert ORDERS.decode(ORDERS.encode(order)) == order
    assert SCHEMA_OF_ORDERS.is_valid(missed) or ORDERS.report(missed)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_schema_and_decoder_agree_about_numbers(number):
    for annotation in (Price, Half, Annotated[Decimal, Gt(0.1), Lt(1e23)]):
        codec = Codec(annotation)
        if not codec.report(number):
            assert validator(codec.json_schema()).is_valid(number)


def test_a_limited_decimal_is_distinguished_from_text_in_a_union():
    codec = Codec(list[Price | str])
    assert codec.decode(["5", 7, "-5", "five"]) == [Decimal(5), Decimal(7), "-5", "five"]


@pytest.mark.parametrize("limits", [[Gt(1e308)], [Gt(1e300), MultipleOf(0.1)]])
def test_limits_without_a_known_decimal_are_refused(limits):
    with pytest.raises(SchemaError, match=r"no decimal that is .* was found\. Widen the limits"):
        Codec(Annotated[(Decimal, *limits)])
