"""Whatever the code of a value or of an exception does, only the library's own errors leave a codec."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hostile_values import ERRORS, GIVING, error_of, named
from hypothesis import given
from hypothesis import strategies as st
from strategies import TYPES

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf

AROUND = [lambda value: value, lambda value: [value], lambda value: {"a": value}]


@pytest.mark.slow("draws types")
@given(TYPES, st.sampled_from([*GIVING]), st.sampled_from(AROUND))
def test_a_value_of_a_hostile_class_is_refused_or_taken(annotation, gives, around):
    codec, value = Codec(annotation), named(gives)()
    for read in (codec.decode, codec.encode, codec.compile().decode):
        try:
            read(around(value))
        except (DecodeError, EncodeError) as error:
            assert len(str(error)) < 10_000


@pytest.mark.parametrize("annotation", [int, str, list[int], dict[str, int], int | str, None])
@pytest.mark.parametrize("gives", GIVING)
def test_the_class_of_a_value_is_named_as_it_was_declared(annotation, gives):
    codec, value = Codec(annotation), named(gives)()
    with pytest.raises(DecodeError, match="Hostile"):
        codec.decode(value)
    with pytest.raises(EncodeError, match="Hostile"):
        codec.encode(value)


@pytest.mark.parametrize(("name", "text"), ERRORS)
def test_what_a_class_raises_refuses_the_value(name, text):
    @dataclass
    class Own:
        number: int

        def __post_init__(self):
            raise error_of(name, text)

    with pytest.raises(DecodeError, match="Own refused it"):
        Codec(Own).decode({"number": 1})


def leaf_that(fails, error):
    def read(text):
        if text == "fails" or fails:
            raise error
        return Read()

    class Read:
        __schema_leaf__: SchemaLeaf

    Read.__schema_leaf__ = SchemaLeaf(Read, {"type": "string"}, read, lambda _: "read", placeholder=Read())
    return Read


@pytest.mark.parametrize(("name", "text"), ERRORS)
def test_what_a_leaf_raises_refuses_the_value_or_the_leaf(name, text):
    error = error_of(name, text)
    with pytest.raises(DecodeError, match="is not accepted"):
        Codec(leaf_that(False, error)).decode("fails")
    with pytest.raises((SchemaError, TypeError, ValueError), match="Hostile"):
        Codec(leaf_that(True, error))
