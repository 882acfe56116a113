"""What is plain enough to be encoded by a look, and how an integer is written as a key."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Literal

import pytest
from small_domains import texts_of

from operator_schema import Codec, EncodeError
from operator_schema.codec.interpret import encoded_at_sight, fits_at_sight, is_integer_key
from operator_schema.codec.problems import INVALID
from operator_schema.schema.keywords import INTEGER_KEY


class Colour(Enum):
    RED = "red"


class Text(str):
    __slots__ = ()


ANNOTATIONS = (
    str,
    int,
    float,
    bool,
    None,
    Any,
    Colour,
    list[int],
    Literal["a", 1, True, None],
    Literal[Colour.RED, "blue"],
)
VALUES = (
    *("a", "blue", "red", "é", "\ud800", Text("a"), Colour.RED),
    *(0, 1, -1, 10**4300, True, False, None),
    *(0.0, 1.0, 1.5, float("nan"), float("inf"), [1], {}),
)


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_what_is_encoded_at_sight_is_encoded_the_same(annotation):
    codec = Codec(annotation)
    for value in VALUES:
        at_sight = encoded_at_sight(codec.graph.root, value)
        if at_sight is not INVALID:
            encoded = codec.encode(value)
            assert (at_sight, type(at_sight)) == (encoded, type(encoded))


UNIONS = (int | float, str | None, bool | Literal[2], Colour | int, Colour | list[int], Any | None)


@pytest.mark.parametrize("annotation", [*ANNOTATIONS, *UNIONS])
def test_what_fits_at_sight_is_encoded(annotation):
    codec = Codec(annotation)
    fitting = [value for value in VALUES if fits_at_sight(codec.graph.root, value)]
    for value in fitting:
        assert codec.decode(codec.encode(value)) == value
    assert fitting or annotation in {None, Any, list[int], Any | None}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(str, "\ud800"), (int, 10**4300), (float, float("nan"))],
    ids=["surrogate", "digits", "nan"],
)
def test_what_can_not_be_encoded_is_not_encoded_at_sight(annotation, value):
    assert encoded_at_sight(Codec(annotation).graph.root, value) is INVALID
    with pytest.raises(EncodeError):
        Codec(annotation).encode(value)


@pytest.mark.parametrize("value", ["a", 1, True])
def test_plain_defaults_are_encoded_at_sight_as_themselves(value):
    assert encoded_at_sight(Codec(type(value)).graph.root, value) is value
    assert encoded_at_sight(Codec(Literal["a", 1, True]).graph.root, value) is value


@pytest.mark.parametrize("annotation", [Colour, Literal[Colour.RED, "blue"]])
def test_members_of_an_enum_are_encoded_at_sight(annotation):
    assert encoded_at_sight(Codec(annotation).graph.root, Colour.RED) == "red"


def test_an_integer_as_a_key_is_written_as_the_schema_says():
    def matches(key):
        return re.fullmatch(INTEGER_KEY, key) is not None and not key.endswith("\n")

    keys = texts_of("-0123456789\n ٣²", 4)
    assert [key for key in keys if is_integer_key(key) != matches(key)] == []
