"""Defects measured in other libraries: the wrong member of a union."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Union

import pytest
from pitfall_samples import U1, U2, objects_in, same, schema_of

from operator_schema import (
    Codec,
    DecodeError,
    decode,
)


@pytest.mark.parametrize("annotation", [U1 | U2, U2 | U1])
def test_the_member_of_a_union_that_knows_the_keys_is_taken(annotation):
    assert decode(annotation, {"name": "x", "b": 7}) == U2("x", 7)
    assert decode(annotation, {"name": "x", "a": 7}) == U1("x", 7)
    for value in (U1("x", 0), U2("x", 0)):
        codec = Codec(annotation)
        assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize(
    ("members", "value"),
    [
        ((int, str), "1"),
        ((int, str), 1),
        ((float, str), "1.5"),
        ((float, str), 1.5),
        ((bool, int), 1),
        ((bool, int), True),
        ((bool, str), "true"),
        ((list[str], str), "ab"),
        ((str, None), ""),
        ((dict[str, int], list[str]), []),
        ((int, float), 2.0),
        ((int, float), 2),
    ],
)
def test_values_are_not_cast_to_the_first_member_of_a_union(members, value):
    """mashumaro #190."""
    for order in itertools.permutations(members):
        assert same(decode(Union[order], value), value)  # made at run time


@pytest.mark.parametrize("value", [{}, {"c": 1}, {"name": 5, "a": 1}, "x", [{"name": "x"}], None])
def test_what_fits_no_member_of_a_union_is_no_dict(value):
    """dataclasses-json #488, #522."""
    with pytest.raises(DecodeError):
        decode(U1 | U2, value)
    with pytest.raises(DecodeError):
        decode(dict[str, U1 | U2], {"k": value})


def test_unions_are_any_of():
    @dataclass
    class Holder:
        one: U1 | U2
        many: list[int | str]
        maybe: dict[str, int | None]
        more: tuple[U1 | None, int | str]

    found = {key for part in objects_in(schema_of(Holder, namespace=globals())) for key in part}
    assert "anyOf" in found
    assert not found & {"oneOf", "allOf"}
