"""How deep JSON values nest, whatever they come from, and whether JSON has their numbers."""

from collections import OrderedDict
from fractions import Fraction
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.json_values import is_finite, is_finite_within, nests_deeper, plain_number

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def depth_of(value):
    if isinstance(value, (dict, list)):
        inside = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth_of, inside), default=0)
    return 0


def numbers_of(value):
    if isinstance(value, (dict, list)):
        inside = value.values() if isinstance(value, dict) else value
        return [number for inner in inside for number in numbers_of(inner)]
    return [value] if isinstance(value, float) else []


@given(JSON, st.integers(0, 6))
def test_levels_are_counted_as_they_nest(value, levels):
    assert nests_deeper(value, levels) is (depth_of(value) > levels)


@given(JSON)
def test_numbers_are_finite_if_each_is(value):
    assert is_finite(value) is all(-inf < number < inf for number in numbers_of(value))


@given(JSON, st.integers(0, 6))
def test_one_walk_says_as_much_as_two(value, levels):
    assert is_finite_within(value, levels) is (is_finite(value) and not nests_deeper(value, levels))


FRACTIONS = st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction)


@given(FRACTIONS, st.sampled_from([0, 400]))
def test_a_fraction_becomes_the_nearest_number_of_json(fraction, zeros):
    scaled = fraction * 10**zeros
    number = plain_number(scaled)
    if scaled.denominator == 1:
        assert (type(number), number) == (int, scaled)
    rounding = max(1, abs(scaled)) * Fraction(2) ** -53
    assert abs(Fraction(number) - scaled) <= (rounding if type(number) is float else 1)


@pytest.mark.parametrize("value", [nan, {"a": [inf]}, [[{"b": {"c": -inf}}]], OrderedDict(a=nan)])
def test_a_number_that_json_lacks_is_found_at_any_depth(value):
    assert not is_finite(value)


def test_a_subclass_is_a_level_too():
    class Items(list):
        pass

    assert nests_deeper(OrderedDict(a=Items()), 1)
    assert not nests_deeper(OrderedDict(a=Items()), 2)


def test_neither_needs_a_stack():
    value = []
    for _ in range(100_000):
        value = [value]
    assert nests_deeper(value, 99_999)
    assert not nests_deeper(value, 100_001)
    assert is_finite(value)
