"""Repair of numbers, booleans and null in quotes."""

from __future__ import annotations

import enum
import json
import sys
from datetime import date
from typing import Annotated, Literal, Union

import pytest
from repair_samples import Level, Limits, Trip, refused, repaired

from operator_schema import Codec
from operator_schema.json_values import MAX_INTEGER_DIGITS


@pytest.mark.parametrize(
    ("annotation", "value", "instance"),
    [
        (int, "5", 5),
        (int, "-12", -12),
        (int, "5.0", 5),
        (int, "1e3", 1000),
        (int, "1.242970108301102e+16", 12429701083011020),
        (float, "-2.5", -2.5),
        (float, "5", 5.0),
        (float, "1E-2", 0.01),
        (int | float, "5", 5),
        (bool, "true", True),
        (bool, "False", False),
        (None, "null", None),
        (None, "None", None),
        (int | None, "null", None),
        (int | None, "7", 7),
        (int | bool | None, "true", True),
        (Level, "9", Level.VERY_HIGH),
        (Literal[1, 2, True], "2", 2),
        (Literal[1, True], "True", True),
        (Annotated[int, Limits(ge=3)], "5", 5),
        (list[int], ["1", 2, "3"], [1, 2, 3]),
        (dict[str, bool], {"a": "true"}, {"a": True}),
    ],
)
def test_scalars_lose_their_quotes(annotation, value, instance):
    made, kinds = repaired(annotation, value)
    assert (made, type(made)) == (instance, type(instance))
    assert set(kinds) == {"scalar"}


def test_null_in_quotes_for_a_field_that_may_be_left_out():
    assert repaired(Trip, {"legs": [], "seats": "null"}) == (Trip([]), ["scalar"])
    assert repaired(Trip, {"legs": [], "limit": "None"}) == (Trip([], limit=None), ["scalar"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 5",
        "5 ",
        "+5",
        "05",
        "5.",
        ".5",
        "5.5",
        "1_000",
        "1,000",
        "٣",
        "0x5",
        "five",
        "5\n",
        "NaN",
        "Infinity",
    ],
)
def test_integers_have_one_spelling(text):
    assert refused(int, text)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "9007199254740993.0"),  # the float nearest to it is another integer
        (float, "9007199254740993.0"),
        (float, "9007199254740993.00"),
        (int, "1e30"),
        (float, "9007199254740993e0"),
        (Literal[1, 2], "1.00000000000000000001"),
        (Literal[1, 2], "1e-" + "9" * 30),
        (Level, "1.00000000000000000001"),
        (int, "1e-400"),
        (int, "1e-" + "9" * 30),
        (float, "9007199254740993"),
        (float, "1" + "0" * 400),
        (float, "1e400"),
        (int, "1" * (MAX_INTEGER_DIGITS + 1)),
        (int, "true"),
        (bool, "1"),
        (bool, "yes"),
        (bool, "TRUE"),
        (bool, "null"),
        (int, "null"),
        (Annotated[int, Limits(ge=3)], "2"),
        (Level, "2"),
        (Union[int, Literal["a"]], "5"),
        (Union[int, date], "5"),
        (int, 2.5),
        (bool, 1),
        (str, 5),
    ],
)
def test_what_would_be_guessed_or_rounded_is_refused(annotation, value):
    assert refused(annotation, value)


def test_a_float_takes_the_largest_exact_integer():
    assert repaired(float, "9007199254740992")[0] == 2.0**53
    assert repaired(float, "9007199254740992.0")[0] == 2.0**53
    assert repaired(float, "1e22")[0] == 1e22


@pytest.mark.parametrize(
    "text", ["0.1", "1.00000000000000000001", "1e-400", "1e30", "2.5E+40", "1e-" + "9" * 30, "-0.0"]
)
def test_a_float_takes_what_json_writes(text):
    made, kinds = repaired(float, text)
    assert (repr(made), kinds) == (repr(json.loads(text)), ["scalar"])


def test_choices_are_never_rounded_to():
    class Share(enum.Enum):
        TENTH = 0.1
        ALL = 1.0

    assert repaired(Share, "0.1")[0] is Share.TENTH
    assert repaired(Share, "1.0")[0] is Share.ALL
    assert refused(Share, "1.00000000000000000001")


@pytest.mark.parametrize("limit", [640, 0])
def test_integers_of_more_digits_than_the_interpreter_takes_are_refused(limit):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        assert Codec(int).report("9" * 1000)
        most = limit or MAX_INTEGER_DIGITS - 1
        assert repaired(int, "-" + "9" * most)[0] == 1 - 10**most
        assert not limit or refused(Trip, {"legs": [], "labels": "9" * 1000, "limit": "9" * 1000})
    finally:
        sys.set_int_max_str_digits(before)
