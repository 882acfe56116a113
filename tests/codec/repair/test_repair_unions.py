"""Repair inside unions."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Union

from repair_samples import Circle, Leg, Square, Tree, refused, repaired

from operator_schema import Codec


@dataclass
class Loose:
    name: str
    size: int = 0


@dataclass
class Other:
    name: str
    max_depth: int = 0


def test_the_tag_says_which_member_is_meant():
    assert repaired(Circle | Square, {"kind": "square", "sideLength": "2"})[0] == Square("square", 2.0)
    assert repaired(Circle | Square, {"kind": "Square", "side_length": 2})[0] == Square("square", 2.0)
    assert refused(Circle | Square, {"kind": "circle", "sideLength": "2"})
    assert refused(Circle | Square, {"kind": None, "radius": 2})


def test_the_member_that_leaves_no_key_unused_is_meant():
    assert repaired(Loose | Other, {"name": "a", "maxDepth": 3}) == (Other("a", 3), ["key"])
    assert repaired(Loose | Other, {"name": "a", "size": "3"}) == (Loose("a", 3), ["scalar"])


def test_a_repair_that_members_take_differently_is_not_made():
    @dataclass
    class Apart:
        a_b: int

    @dataclass
    class Close:
        ab: int

    assert refused(Apart | Close, {"AB": 1})
    assert refused(Loose | Other, {"NAME": "a"}) == ["no_match"]
    assert refused(Union[dict[str, int], list[int]], "x")


class Counted(enum.Enum):
    ONE = 1


class Said(enum.Enum):
    ONE = True


@dataclass
class Filed:
    name: str
    tags: list[int] = field(default_factory=list)
    first: int = 0


@dataclass
class Found:
    name: str
    tags: list[int] = field(default_factory=list)
    last: int = 0


def test_readings_that_are_equal_in_python_alone_are_two():
    assert refused(Counted | Said, "one")
    assert repaired(Counted | int, "1.0") == (Counted.ONE, ["scalar"])
    both = repaired(Filed | Found, {"NAME": "a", "tags": ["1", 2], "Last": 5})
    assert both == (Found("a", [1, 2], 5), ["key", "scalar", "key"])
    assert refused(Filed | Found, {"NAME": "a", "tags": ["1", 2]}) == ["no_match"]


def test_values_that_no_json_has_are_left_alone():
    class Vague:
        def __eq__(self, other):
            raise ValueError("neither")

        __hash__ = None

    @dataclass
    class Held:
        anything: Any = None
        number: int = 0
        either: int | list[int] = 0

    vague = Vague()
    assert Codec(Held, repair=True).decode({"anything": vague, "number": "5"}).number == 5
    assert set(refused(Held, {"anything": vague, "number": vague, "either": vague})) == {"wrong_type"}
    assert Codec(dict[str, Any] | list[Any], repair=True).decode({"a": vague})["a"] is vague


def test_a_member_that_needs_no_array_comes_first():
    assert repaired(int | list[int], "5") == (5, ["scalar"])
    assert repaired(Leg | list[Leg], {"number": "A1", "stops": "1"}) == (Leg("A1", 1), ["scalar"])


def test_recursive_unions():
    value = {"value": "1", "children": {"value": 2, "children": [{"VALUE": 3}]}}
    made, kinds = repaired(Tree, value)
    assert made == Tree(1, [Tree(2, [Tree(3)])])
    assert kinds == ["scalar", "array", "key"]


def test_null_in_quotes_for_what_may_be_left_out_makes_a_member_fit():
    @dataclass
    class Filter:
        limit: int | None = None

    assert repaired(Filter | bool, {"limit": "null"}) == (Filter(None), ["scalar"])
    assert repaired(Filter | bool, '{"limit": "null"}')[0] == Filter(None)
