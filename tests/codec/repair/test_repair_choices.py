"""Repair of choices."""

from __future__ import annotations

import enum
from datetime import date
from typing import Literal, Union

import pytest
from repair_samples import Color, Level, kept, refused, repaired


class Twisted(enum.Enum):
    """A name here is a value there."""

    A = "b"
    B = "c"
    C_1 = 1


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (Color, "RED", Color.RED),
        (Color, " red ", Color.RED),
        (Color, "NAVY", Color.DARK_BLUE),
        (Color, "DARK_BLUE", Color.DARK_BLUE),
        (Color, "dark blue", Color.DARK_BLUE),
        (Color, "DarkBlue", Color.DARK_BLUE),
        (Color, "off white", Color.OFF_WHITE),
        (Color, "Off_White", Color.OFF_WHITE),
        (Level, "very high", Level.VERY_HIGH),
        (Level, "LOW", Level.LOW),
        (Twisted, "a", Twisted.A),
        (Twisted, "C", Twisted.B),
        (Twisted, "c_1", Twisted.C_1),
        (Literal["bug report", "other"], "bug_report", "bug report"),
        (Literal["bug report", "other"], "Bug-Report", "bug report"),
        (Literal["a", 1, None], "A", "a"),
        (Literal["v1-2", "v12"], "V1_2", "v1-2"),
        (Color | int, "Red", Color.RED),
        (Color | None, "Red", Color.RED),
        (Color | list[int], "Red", Color.RED),
    ],
)
def test_the_choice_that_is_meant_is_found(annotation, value, instance):
    assert repaired(annotation, value) == (instance, ["choice"])


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Color, "redd"),
        (Color, ""),
        (Color, "_"),
        (Twisted, "B"),  # the name of one, the value of another
        (Literal["a", "A"], " a"),
        (Literal["ab", "a-b"], "A B"),
        (Literal["+", "-"], ""),
        (Literal["+", "-"], "_"),
        (Literal["+", "-"], " "),
        (Literal["-1", "2"], "1"),
        (Literal["v1-2"], "v12"),
        (Literal["A-", "B"], "A"),
        (Literal["a", 1], "1"),
        (Union[Color, date], "Red"),
        (Union[Literal["a"], int], "5"),
    ],
)
def test_what_no_choice_or_more_than_one_is_named_by_is_refused(annotation, value):
    assert refused(annotation, value)


def test_text_next_to_choices_is_kept():
    assert kept(Union[Color, str], "Red") == "Red"
    assert kept(Twisted, "b") is Twisted.A
    assert kept(Literal["a", "A"], "A") == "A"
