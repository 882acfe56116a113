"""Unions whose members can't be told apart."""

import enum
import itertools
import json
from dataclasses import InitVar, dataclass, make_dataclass
from decimal import Decimal
from pathlib import Path, PurePath
from typing import (
    Annotated,
    Any,
    Literal,
)
from urllib.parse import ParseResult, SplitResult

import pytest
from annotation_samples import (
    BAG,
    U1,
    Bag,
    Box,
    Cat,
    Color,
    Degrees,
    Ge,
    Nothing,
    Point,
    complaint_of,
    complaints_of,
    union_of,
)

from operator_schema import Codec
from operator_schema.introspect import ambiguity_checks


@dataclass
class Twin:
    name: str
    a: int = 0


@dataclass
class Empty:
    pass


@dataclass
class Vacant:
    pass


@dataclass
class Kitten:
    kind: Literal["cat"]
    lives: int = 1


@dataclass
class OptionalA:
    a: int | None = None


@dataclass
class OptionalB:
    b: int | None = None


class Shade(enum.Enum):
    CRIMSON = "red"


@dataclass
class TaggedY:
    kind: Literal["y"] | None
    v: int = 0


@dataclass
class TaggedZ:
    kind: Literal["z"] | None = "z"
    v: int = 0


@dataclass
class BuiltA:
    kind: InitVar[Literal["a"]] = "a"
    v: int = 0


@dataclass
class BuiltB:
    kind: InitVar[Literal["b"]] = "b"
    v: int = 0


AMBIGUOUS = {
    "twins": (U1, Twin, ("U1", "Twin"), "tag"),
    "empty objects": (Empty, Vacant, ("Empty", "Vacant"), "tag"),
    "one tag for two": (Cat, Kitten, ("Cat", "Kitten"), 'Both take "cat" as kind: give each'),
    "objects that may both be empty": (OptionalA, OptionalB, ("OptionalA", "OptionalB"), "tag"),
    "tags that may both be null": (TaggedY, TaggedZ, ("TaggedY", "TaggedZ"), "tag"),
    "tags that are not kept": (BuiltA, BuiltB, ("BuiltA", "BuiltB"), "tag"),
    "named tuple and dataclass": (Point, make_dataclass("Place", ["x", "y"]), ("Point", "Place"), "tag"),
    "objects and maps": (U1, dict[str, int], ("U1",), "Keep one"),
    "objects and object leaves": (U1, Box, ("U1", "Bag"), "Keep one"),
    "maps": (dict[str, int], dict[str, str], (), "Keep one"),
    "arrays": (list[int], list[str], (), "Keep one"),
    "arrays and sets": (list[int], set[int], (), "Keep one"),
    "arrays and tuples": (list[int], tuple[int, int], (), "Keep one"),
    "tuples": (tuple[int], tuple[int, int], (), "Keep one"),
    "arrays and array leaves": (list[int], Annotated[Bag, BAG["array"]], ("Bag",), "Keep one"),
    "strings": (str, Annotated[str, "described"], (), "Keep one"),
    "constrained numbers": (int, Annotated[int, Ge(1)], (), "Keep one"),
    "literals": (Literal["a", "b"], Literal["b", "c"], ("'a'", "'c'"), "Keep one"),
    "numbers of one value": (Literal[1], Literal[1.0, 2], ("1", "2"), "Keep one"),
    "enums": (Color, Shade, ("Color", "Shade"), "Keep one"),
    "an enum and a literal": (Color, Literal["red"], ("Color", "'red'"), "Keep one"),
    "URLs": (SplitResult, ParseResult, ("SplitResult", "ParseResult"), "Keep one"),
    "paths": (Path, PurePath, ("Path", "PurePath"), "Keep one"),
    "leaves of one's own": (Degrees, Annotated[Bag, BAG["string"]], ("Degrees", "Bag"), "Keep one"),
    "a leaf of numbers and integers": (Annotated[Bag, BAG["integer"]], int, ("Bag", "integer"), "Keep one"),
    "a leaf of integers and numbers": (Annotated[Bag, BAG["integer"]], float, ("Bag", "number"), "Keep one"),
    "decimals and integers": (Decimal, int, ("Decimal", "integer"), "Keep one"),
    "decimals and numbers": (Decimal, float, ("Decimal", "number"), "Keep one"),
    "anything and integers": (Any, int, ("any value", "integer"), "Keep one"),
    "any object and a class": (object, U1, ("any value", "U1"), "Keep one"),
    "null that means two things": (Nothing, None, ("Nothing", "null"), "Keep one"),
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_can_t_be_told_apart_is_said_with_its_fix(kind):
    one, other, names, fix = AMBIGUOUS[kind]
    for order in ((one, other), (other, one)):
        complaint = complaint_of(union_of(order))
        assert (complaint.path, complaint.code) == ((), "ambiguous")
        assert all(name in complaint.message for name in names)
        assert fix in complaint.remedy


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_the_two_that_can_t_be_told_apart_are_named(kind):
    one, other, _, _ = AMBIGUOUS[kind]
    first, found, rest = complaint_of(union_of([one, other])).message.partition(" and ")
    assert found
    assert not rest.startswith(first)


TAGS = ("a", "b", 1, 2)
SOME_TAGS = [chosen for size in (1, 2) for chosen in itertools.combinations(TAGS, size)]


@pytest.mark.parametrize("first", SOME_TAGS, ids=str)
@pytest.mark.parametrize("second", SOME_TAGS, ids=str)
def test_a_value_that_two_tags_share_is_named(first, second):
    one = make_dataclass("One", [("x", int), ("kind", Literal[first])])
    other = make_dataclass("Other", [("kind", Literal[second]), ("x", int)])
    shared = [value for value in first if value in second]
    if not shared:
        assert Codec(one | other).decode({"kind": first[0], "x": 1}) == one(1, first[0])
    elif 1 in {len(first), len(second)}:
        said = f"Both take {json.dumps(shared[0])} as kind: give each a value of its own there"
        assert complaint_of(one | other).remedy == said
    else:
        assert complaint_of(one | other).remedy == ambiguity_checks.ADD_TAG  # it may be no tag


def test_where_an_ambiguous_union_stands():
    @dataclass
    class Holder:
        plain: int
        deep: dict[str, list[U1 | Twin]]
        pair: tuple[int, Color | Shade | None]
        nullable: list[int] | set[int] | None = None

    assert [(c.path, c.type) for c in complaints_of(Holder)] == [
        (("deep", "*", "*"), "Holder"),
        (("pair", "*"), "Holder"),
        (("nullable",), "Holder"),
    ]


def test_each_pair_is_named():
    messages = [complaint.message for complaint in complaints_of(U1 | Twin | Empty | Vacant)]
    assert len(messages) == 2


@pytest.mark.parametrize(
    "member",
    [lambda i: make_dataclass(f"C{i}", [("x", int)]), lambda i: Literal["same", i]],  # type: ignore[valid-type]
    ids=["classes", "literals"],
)
def test_of_many_members_that_are_alike_a_few_pairs_are_compared_and_named(member, monkeypatch):
    compared = 0
    why_alike = ambiguity_checks.why_alike

    def count(*args: Any) -> str | None:
        nonlocal compared
        compared += 1
        return why_alike(*args)

    monkeypatch.setattr(ambiguity_checks, "why_alike", count)
    found = complaints_of(union_of([member(i) for i in range(300)]))
    assert len(found) == 21
    assert {complaint.code for complaint in found} == {"ambiguous"}
    assert found[-1].message == "more of its members can't be told apart by their JSON"
    assert compared == 21


def test_twenty_pairs_are_all_named():
    pairs = [make_dataclass(name, [(f"key{i}", int)]) for i in range(20) for name in (f"One{i}", f"Other{i}")]
    assert [complaint.message.split()[0] for complaint in complaints_of(union_of(pairs))] == [
        f"One{i}" for i in range(20)
    ]
