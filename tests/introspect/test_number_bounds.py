"""The float nearest to a limit is on the right side of it."""

from math import inf, nextafter

import pytest

from operator_schema.introspect.number_bounds import nearest_float

BETWEEN = 2**53 + 1  # an integer that no float is equal to


def test_a_limit_that_is_a_float_is_itself():
    assert nearest_float(1.5, inf, strict=False) == 1.5
    assert nearest_float(1.5, -inf, strict=False) == 1.5


def test_a_limit_that_does_not_count_gives_its_neighbour():
    assert nearest_float(1.5, inf, strict=True) == nextafter(1.5, inf)
    assert nearest_float(1.5, -inf, strict=True) == nextafter(1.5, -inf)


@pytest.mark.parametrize("strict", [True, False])
def test_a_limit_between_two_floats_gives_the_one_on_its_side(strict):
    assert nearest_float(BETWEEN, inf, strict=strict) == 2**53 + 2
    assert nearest_float(BETWEEN, -inf, strict=strict) == 2**53
    assert nearest_float(2**53 + 3, inf, strict=strict) == 2**53 + 4
    assert nearest_float(2**53 + 3, -inf, strict=strict) == 2**53 + 2


def test_a_limit_beyond_all_floats_is_infinite():
    assert nearest_float(10**400, inf, strict=False) == inf
    assert nearest_float(-(10**400), -inf, strict=False) == -inf
