"""Values made to share one hash: refused in time that grows with their number, not its square."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import pytest
from patience import assert_takes

from operator_schema import Codec, DecodeError, decode, decode_json
from operator_schema.json_values import MAX_COLLISIONS

# Of the hashes of numbers: 2**61 - 1 on every 64-bit Python.
MODULUS = sys.hash_info.modulus
COUNT = 20_000


@dataclass(frozen=True)
class Point:
    x: int


COLLIDING = [
    (set[int], [k * MODULUS for k in range(1, COUNT)]),
    (frozenset[int], [k * MODULUS for k in range(1, COUNT)]),
    (set[Decimal], [str(k * MODULUS) for k in range(1, COUNT)]),
    (set[UUID], [str(UUID(int=k * MODULUS)) for k in range(1, COUNT)]),
    (set[tuple[int, ...]], [[k * MODULUS] for k in range(1, COUNT)]),
    (set[Point], [{"x": k * MODULUS} for k in range(1, COUNT)]),
    (dict[int, int], {str(k * MODULUS): 1 for k in range(1, COUNT)}),
]


@pytest.mark.parametrize(("annotation", "value"), COLLIDING, ids=lambda part: str(part)[:30])
def test_colliding_values_are_refused(annotation, value):
    text = json.dumps(value)

    def read():
        with pytest.raises(DecodeError) as caught:
            decode_json(annotation, text)
        [problem] = caught.value.findings
        assert (problem.path, problem.code) == ((), "too_large")

    assert_takes(1, read)  # it was 6 s for one, and grew with the square


@pytest.mark.parametrize(("annotation", "value"), COLLIDING, ids=lambda part: str(part)[:30])
def test_colliding_values_are_refused_when_compiled_too(annotation, value):
    codec = Codec(annotation).compile()

    def read():
        with pytest.raises(DecodeError) as caught:
            codec.decode(value)
        assert caught.value.findings == Codec(annotation).report(value)

    assert_takes(1, read)


def test_a_few_that_collide_are_as_good_as_others():
    values = [k * MODULUS for k in range(1, MAX_COLLISIONS + 1)]
    assert decode(set[int], values) == set(values)
    assert decode(set[int], [*values, *range(1, 1000)]) == {*values, *range(1, 1000)}


def test_duplicates_are_no_collisions():
    problems = Codec(set[int]).report([7] * (MAX_COLLISIONS * 3))
    assert {problem.code for problem in problems} == {"duplicate"}


def test_many_that_do_not_collide():
    assert len(decode(set[int], list(range(50_000)))) == 50_000
    assert len(decode(dict[int, int], {str(i): i for i in range(50_000)})) == 50_000
