"""Repair of null where the default is meant."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Union
from uuid import UUID

import pytest
from repair_samples import Source, Trip, kept, refused, repaired, report

from operator_schema import SchemaLeaf


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key in ("price", "is_paid", "labels") for value in (None, "null", "None")]
    + [(key, "") for key in ("price", "is_paid", "labels", "since")]
    + [("note", None), ("color", None), ("since", None), ("since", "null")],
)
def test_null_stands_for_the_default(key, value):
    made = report(Trip, {"legs": [], key: value})
    assert made.instance == Trip([])
    assert [(repair.path, repair.code, repair.expected) for repair in made.repairs] == [
        ((key,), "default", "default")
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("legs", None),  # it has no default
        ("legs", "null"),
        ("legs", ""),
        ("color", "null"),  # it takes strings
        ("color", ""),
        ("limit", ""),  # null is one reading, the default another
        ("price", " "),
        ("price", []),
    ],
)
def test_what_may_mean_more_than_the_default_is_refused(key, value):
    assert refused(Trip, {"legs": [], key: value})


@pytest.mark.parametrize("key", ["seats", "names", "until"])
@pytest.mark.parametrize("value", ["", "null", "None"])
def test_empty_text_is_absent_where_absent_means_none_and_no_string_is_taken(key, value):
    made = report(Trip, {"legs": [], key: value})
    assert made.instance == Trip([])
    assert [(repair.path, repair.code, repair.expected) for repair in made.repairs] == [
        ((key,), "scalar", "null")
    ]


def test_keys_of_typed_dicts_have_no_default():
    assert refused(Source, {"name": "a", "line": None})
    assert refused(Source, {"name": "a", "tags": ""})


def test_defaults_of_fields_that_are_not_kept():
    @dataclass
    class Made:
        seed: InitVar[int] = 3
        total: int = 0

        def __post_init__(self, seed):
            self.total = seed

    assert repaired(Made, {"seed": None})[0].total == 3


def test_null_that_fits_is_kept():
    assert kept(Trip, {"legs": [], "seats": None, "limit": None, "names": None}) == Trip([], limit=None)


def test_strings_are_kept_where_strings_are_wanted():
    for text in ("", "null", "5", "[1]", '{"a": 1}', "true", " x ", "'x'", "```json\n{}\n```"):
        assert kept(Trip, {"legs": [], "note": text}).note == text
        assert kept(str | None, text) == text
        assert kept(list[str], [text]) == [text]
        assert kept(dict[str, str], {text: text}) == {text: text}
        assert kept(Union[int, bool, list[int], str, None], text) == text
        assert kept(Any, text) == text
        assert kept(list[Any], [text]) == [text]


def test_leaves_read_strings_themselves():
    assert kept(Decimal, "5") == Decimal(5)
    assert kept(date | int | str, "5") == "5"
    assert refused(UUID, "5") == ["bad_format"]
    assert refused(date, '"2020-01-01"') == ["bad_format"]


def test_leaves_of_numbers_are_given_numbers():
    leaf = SchemaLeaf(complex, {"type": "number"}, complex, lambda value: value.real, 1j)
    assert repaired(complex, "5", leaves=[leaf]) == (complex(5), ["scalar"])
    assert repaired(complex, "0.1", leaves=[leaf]) == (complex(0.1), ["scalar"])
    assert refused(complex, "9007199254740993.0", leaves=[leaf])
    whole = SchemaLeaf(complex, {"type": "integer"}, complex, lambda value: int(value.real), 1j)
    assert repaired(complex, "9007199254740992.0", leaves=[whole]) == (complex(2**53), ["scalar"])
    assert refused(complex, "9007199254740993.0", leaves=[whole])
    assert refused(complex, "1.00000000000000000001", leaves=[whole])
