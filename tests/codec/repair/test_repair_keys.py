"""Repair of keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
from repair_samples import Leg, Square, kept, refused, repaired, report

from operator_schema import Codec
from operator_schema.findings import ignored


@dataclass
class Renamed:
    max_results: int = field(default=1, metadata={"alias": "maxHits"})
    page_token: str | None = field(default=None, metadata={"alias": "cursor"})


@pytest.mark.parametrize(
    "key", ["sideLength", "SideLength", "side-length", "SIDE_LENGTH", "side length", "side_length_"]
)
def test_keys_in_another_convention(key):
    assert repaired(Square, {"kind": "square", key: 2}) == (Square("square", 2.0), ["key"])
    assert repaired(Square, {"kind": "square", key: 2}, unknown_fields="reject")[0] == Square("square", 2.0)


@pytest.mark.parametrize("key", ["max_results", "maxResults", "maxhits", "max_hits", "MaxHits"])
def test_the_name_of_a_field_where_its_key_is_an_alias(key):
    assert repaired(Renamed, {key: 7}) == (Renamed(7), ["key"])


def test_a_key_that_need_not_be_there_is_found_all_the_same():
    assert repaired(Renamed, {"page_token": "x"}) == (Renamed(1, "x"), ["key"])
    assert repaired(Leg, {"number": "A1", "Stops": "2"}) == (Leg("A1", 2), ["key", "scalar"])
    assert repaired(Leg, {"number": "A1", "Stops": None}) == (Leg("A1"), ["key", "default"])


@pytest.mark.parametrize(
    "value",
    [
        {"maxHits": 1, "max_results": 2},  # the proper key is there
        {"max_results": 2, "max_hits": 3},  # either could be meant
        {"MaxHits": 2, "maxhits": 3},
        {"max_result": 2},
        {"max_results": "many"},  # it would not fit
        {"": 1, "_": 2},
    ],
)
def test_keys_that_are_not_certain_stay_unknown(value):
    made = report(Renamed, value)
    assert (made.instance, made.repairs) == (Renamed(value.get("maxHits", 1)), ())
    assert {key.path for key in made.ignored} == {(key,) for key in value if key != "maxHits"}
    assert set(refused(Renamed, value, unknown_fields="reject")) == {"unknown"}


def test_a_key_that_two_fields_could_have_stays_unknown():
    @dataclass
    class Two:
        max_size: int = 1
        maxsize: int = 2

    assert kept(Two, {"MaxSize": 5}) == Two()


def test_keys_without_letters_name_nothing():
    @dataclass
    class Odd:
        dash: int = field(default=0, metadata={"alias": "-"})

    assert kept(Odd, {"_": 5}) == Odd()
    assert refused(Odd, {5: 5, "-": "x"}) == ["wrong_type"]


def test_unknown_keys_are_never_dropped():
    assert refused(Leg, {"number": "A1", "colour": 1}, unknown_fields="reject") == ["unknown"]
    assert report(Leg, {"number": "A1", "stop": 1}).ignored == (ignored(("stop",), "stops"),)


@dataclass
class Choices:
    some_tags: set[Literal["a", "b"]] = field(default_factory=set)


def test_a_key_is_read_as_another_only_if_its_items_differ():
    codec = Codec(Choices, repair=True)
    assert codec.decode({"someTags": ["b", "a"]}) == Choices({"a", "b"})
    report = codec.decode_report({"someTags": ["b", "b"]})
    assert (report.instance, report.repairs) == (Choices(), ())
    assert [finding.path for finding in report.ignored] == [("someTags",)]
