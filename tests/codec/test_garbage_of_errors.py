"""An error leaves nothing behind that only the garbage collector can free."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TYPES, values_for

from operator_schema import Codec, DecodeError, EncodeError


def outcome(function, *arguments):
    try:
        function(*arguments)
    except (DecodeError, EncodeError) as error:
        return str(error)
    return None


def garbage_of(function, *arguments):
    """Return how many objects the collector frees after a call that has been made before."""
    for _ in range(2):
        outcome(function, *arguments)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        gc.collect(0)
        outcome(function, *arguments)
        return gc.collect(0)  # what the call made is young
    finally:
        if was_enabled:
            gc.enable()


@dataclass
class Point:
    x: int


@dataclass
class Checked:
    x: int

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("x is negative")


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Point, {"x": "one"}),
        (list[Point], [{}]),
        (Checked, {"x": -1}),
        (list[Checked], [{"x": -1}]),
        (int, "{"),
    ],
    ids=str,
)
def test_each_way_to_refuse_a_value(annotation, value, warm):
    codec = Codec(annotation)
    repairing = Codec(annotation, repair=True)
    for each in (codec, repairing):
        if warm:
            each.compile()
        assert garbage_of(each.decode, value) == 0
        assert garbage_of(each.decode_report, value) == 0
        assert garbage_of(each.decode_json, '{"x": ') == 0
        assert garbage_of(each.encode, object()) == 0
        assert garbage_of(each.report, value) == 0


@pytest.mark.slow("draws types")
@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_no_type_leaves_garbage(data):
    codec = Codec(data.draw(TYPES))
    if data.draw(st.booleans()):
        codec.compile()
    for value in data.draw(values_for(codec)):
        assert garbage_of(codec.decode, value) == 0
        assert garbage_of(codec.encode, value) == 0
