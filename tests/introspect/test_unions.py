"""Unions: which member a value decodes to."""

import itertools
import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path, PurePosixPath
from typing import (
    Any,
    Literal,
    Union,
)
from urllib.parse import SplitResult
from uuid import UUID

import pytest
from annotation_samples import (
    IDENTIFIER,
    PROBES,
    STRICTER,
    U1,
    U2,
    U3,
    Answer,
    Bird,
    Cat,
    Color,
    Degrees,
    Dog,
    Level,
    Point,
    TaggedA,
    TaggedB,
    Tree,
    check_agreement,
    same,
    schema_of,
    union_of,
)
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError


def outcome(codec, value):
    """What decoding a value comes to, in a form that two codecs can be compared by."""
    try:
        decoded = codec.decode(value)
    except DecodeError as error:
        return sorted((problem.path, problem.code) for problem in error.findings)
    return (type(decoded), repr(decoded), decoded)


UNIONS = [
    (int, str),
    (int, float),
    (int, float, str, None),
    (bool, int, str),
    (bool, float, None),
    (Color, str),
    (Color, Answer, Level, None),
    (Color, Literal["x", 2], str, None),
    (Literal[1], Literal[True], Literal["a", 1.5], None),
    (Level, float),
    (Level, Literal["a"], int, bool),
    (Color, date, UUID, str),
    (date, datetime, time, str),
    (timedelta, UUID, bytes, str),
    (IPv4Address, IPv6Address, Path, None),
    (Degrees, IPv4Address, Color, str),
    (Decimal, date, bool, None),
    (SplitResult, PurePosixPath, datetime, int),
    (list[int], int, str, dict[str, int]),
    (set[int], dict[str, int], None),
    (tuple[int, str], dict[int, int], str),
    (list[int | str | None], str, None),
    (list[U1 | U2], U1, None),
    (U1, U2, str),
    (U1, U3, None),
    (U1, U2, Cat, Dog),
    (Cat, Dog, None),
    (Cat, Dog, Bird),
    (TaggedA, TaggedB, int),
    (Point, Cat, list[int]),
    (Point, tuple[int, int], None),
    (U1, Point, Color, Literal["b"]),
]


def orders(members):
    """Every order of a few members; each rotation, forth and back, of many."""
    if len(members) <= 3:
        return list(itertools.permutations(members))
    rotations = [members[i:] + members[:i] for i in range(len(members))]
    return rotations + [order[::-1] for order in rotations]


def union_name(members):
    return "-".join(str(getattr(member, "__name__", member)) for member in members)


every_union = pytest.mark.parametrize("members", UNIONS, ids=union_name)


@every_union
def test_a_union_agrees_with_its_schema_and_comes_back(members):
    # Where several leaves refuse what a bare string takes, the value fits none of them.
    bare = {Path, PurePosixPath, SplitResult}.intersection(members)
    check_agreement(union_of(members), stricter=STRICTER | {"no_match"} if bare else STRICTER)


@every_union
def test_a_union_means_the_same_in_every_order(members):
    codecs = [Codec(union_of(order)) for order in orders(members)]
    for value in PROBES:
        first, *rest = [outcome(codec, value) for codec in codecs]
        assert all(other == first for other in rest), value
    schemas = [sorted(map(json.dumps, codec.json_schema()["anyOf"])) for codec in codecs]
    assert all(schema == schemas[0] for schema in schemas)


@every_union
def test_a_union_is_any_of_its_members(members):
    schemas = [schema_of(member) for member in members]
    if {Cat, Dog} <= {*members}:  # the tag of a Dog is required beside a Cat
        dog = members.index(Dog)
        schemas[dog] = {**schemas[dog], "required": ["kind"]}
    once = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
    assert schema_of(union_of(members)) == {"anyOf": once}


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int | float, 1, 1),
        (int | float, 1.0, 1.0),
        (int | float, 1.5, 1.5),
        (int | float | str, 2.0, 2.0),
        (float | None, 1, 1.0),
        (int | None, 1.0, 1),
        (int | str, 1.0, 1),
        (bool | int, True, True),
        (bool | int, 1, 1),
        (int | str, "1", "1"),
        (Color | str, "red", Color.RED),
        (Color | str, "green", "green"),
        (Answer | str, "yes", Answer.YES),
        (Level | int, 7, Level.HIGH),
        (Level | int, 7.0, Level.HIGH),
        (Level | int, 8, 8),
        (Level | float, 1.5, 1.5),
        (Literal["red"] | str, "red", "red"),  # noqa: PYI051  # it says the same, and is told apart
        (Literal[1] | Literal[True], True, True),  # noqa: PYI030  # two members
        (Literal[1] | Literal[True], 1, 1),  # noqa: PYI030  # likewise
        (date | str, "2026-01-31", date(2026, 1, 31)),
        (date | str, "2026-02-30", "2026-02-30"),
        (date | datetime, "2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        (UUID | str, IDENTIFIER, UUID(IDENTIFIER)),
        (Path | IPv4Address, "127.0.0.1", IPv4Address("127.0.0.1")),
        (Path | IPv4Address, "127.0.0", Path("127.0.0")),
        (Degrees | IPv4Address, "127.0.0.1", Degrees("127.0.0.1")),
        (Degrees | Color | str, "red", Color.RED),
        (Decimal | str, "1.50", Decimal("1.50")),
        (Decimal | str, 2, Decimal(2)),
        (Decimal | str, "many", "many"),
        (bytes | str, "YQ==", b"a"),
        (list[int] | str, "1", "1"),
        (list[str] | str, ["1"], ["1"]),
        (Point | tuple[int, int], [1, 2], (1, 2)),
        (Point | tuple[int, int], {"x": 1, "y": 2}, Point(1, 2)),
        (Any | None, None, None),
        (Any | None, [1], [1]),
        (object | None, {"a": 1}, {"a": 1}),
    ],
)
def test_which_member_a_value_is_taken_for(annotation, value, expected):
    assert same(Codec(annotation).decode(value), expected)


@pytest.mark.parametrize(
    ("annotation", "value", "code"),
    [
        (int | str, 1.5, "wrong_type"),
        (int | str, None, "wrong_type"),
        (int | float, True, "wrong_type"),
        (int | float, "1", "wrong_type"),
        (Color | Answer, "maybe", "no_match"),
        (Color | int, "green", "not_one_of"),
        (date | UUID, "tomorrow", "no_match"),
        (date | int, "tomorrow", "bad_format"),
        (Level | Literal["a"], 2, "not_one_of"),
        (list[int] | int, "1", "wrong_type"),
    ],
)
def test_what_fits_no_member_of_a_union(annotation, value, code):
    [problem] = Codec(annotation).report(value)
    assert (problem.path, problem.code) == ((), code)
    assert problem.expected


def test_problems_inside_the_one_member_that_a_value_may_be():
    [problem] = Codec(list[int] | str).report([1, "x"])
    assert (problem.path, problem.code) == ((1,), "wrong_type")
    [problem] = Codec(dict[str, int | list[str]]).report({"a": ["x", 5]})
    assert problem.path == ("a", 1)


def test_a_union_spells_out_what_it_takes_in_its_problems():
    tree = TypeAliasType("Tree", Union[int, "list[Tree]"])
    [problem] = Codec(tree, namespace={"Tree": tree}).report(["x"])
    assert "object" not in problem.message
