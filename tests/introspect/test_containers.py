"""Lists, tuples, sets and the abstract collections."""

import collections
import collections.abc
import enum
import types
import typing
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
)
from zoneinfo import ZoneInfo

import pytest
from annotation_samples import (
    BAG,
    INTEGER,
    NULL,
    STRING,
    U1,
    Bag,
    Color,
    Json,
    Level,
    Point,
    TaggedA,
    Tree,
    array_of,
    check_agreement,
    codes_of,
    complaint_of,
    complaints_of,
    same,
    schema_of,
)
from typing_extensions import TypeAliasType

from operator_schema import Codec, EncodeError

ABC = collections.abc


CONTAINERS = [
    (list[int], [1, 2], array_of(INTEGER)),
    (ABC.Sequence[int], [1, 2], array_of(INTEGER)),
    (ABC.MutableSequence[int], [1, 2], array_of(INTEGER)),
    (ABC.Collection[int], [1, 2], array_of(INTEGER)),
    (ABC.Iterable[int], [1, 2], array_of(INTEGER)),
    (set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (frozenset[int], frozenset({1, 2}), array_of(INTEGER, uniqueItems=True)),
    (ABC.Set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (ABC.MutableSet[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (tuple[int, ...], (1, 2), array_of(INTEGER)),
    (deque[int], deque([1, 2]), array_of(INTEGER)),
    (typing.List[int], [1, 2], array_of(INTEGER)),  # noqa: UP006  # the other spellings
    (typing.Set[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),  # noqa: UP006
    (typing.FrozenSet[int], frozenset({1, 2}), array_of(INTEGER, uniqueItems=True)),  # noqa: UP006
    (typing.AbstractSet[int], {1, 2}, array_of(INTEGER, uniqueItems=True)),
    (typing.Tuple[int, ...], (1, 2), array_of(INTEGER)),  # noqa: UP006
    (typing.Deque[int], deque([1, 2]), array_of(INTEGER)),  # noqa: UP006
    (typing.Sequence[int], [1, 2], array_of(INTEGER)),
    (typing.Iterable[int], [1, 2], array_of(INTEGER)),
    (tuple[int, int], (1, 2), {"type": "array", "prefixItems": [INTEGER] * 2, "minItems": 2, "items": False}),
    (list, [1, 2], array_of({})),
    (tuple, (1, 2), array_of({})),
    (deque, deque([1, 2]), array_of({})),
    (typing.List, [1, 2], array_of({})),  # noqa: UP006
    (typing.Tuple, (1, 2), array_of({})),  # noqa: UP006
    (typing.Sequence, [1, 2], array_of({})),
    (ABC.Iterable, [1, 2], array_of({})),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "expected", "schema"), CONTAINERS, ids=lambda x: str(x)[:40])
def test_arrays_of_every_container(annotation, expected, schema):
    codec = Codec(annotation)
    assert schema_of(annotation) == schema
    assert same(codec.decode([1, 2]), expected)
    assert sorted(codec.encode(expected)) == [1, 2]
    for value in ("12", {"0": 1}, None, 12, (1, 2)):
        assert codes_of(annotation, value) == ["wrong_type"]
    check_agreement(annotation)


@pytest.mark.parametrize(
    ("annotation", "value", "encoded"),
    [
        (ABC.Sequence[int], (1, 2), [1, 2]),
        (ABC.Sequence[int], deque([1]), [1]),
        (ABC.Sequence[int], range(3), [0, 1, 2]),
        (ABC.MutableSequence[int], deque([1]), [1]),
        (ABC.Collection[int], {1}, [1]),
        (ABC.Collection[int], {1: 2}.values(), [2]),
        (ABC.Iterable[int], (1, 2), [1, 2]),
        (ABC.Iterable[int], frozenset({1}), [1]),
        (ABC.Iterable[int], {1: 2}.keys(), [1]),
        (ABC.Set[int], frozenset({1}), [1]),
        (ABC.Set[int], {1: 2}.keys(), [1]),
        (ABC.Mapping[str, int], types.MappingProxyType({"a": 1}), {"a": 1}),
        (ABC.Mapping[str, int], collections.ChainMap({"a": 1}), {"a": 1}),
        (ABC.MutableMapping[str, int], collections.OrderedDict(a=1), {"a": 1}),
        (dict[str, int], collections.defaultdict(int, a=1), {"a": 1}),
        (list[int], collections.UserList([1]).data, [1]),
    ],
)
def test_encoding_what_an_abstract_container_stands_for(annotation, value, encoded):
    assert Codec(annotation).encode(value) == encoded


def test_encoding_an_iterator_reads_it_once():
    assert Codec(ABC.Iterable[int]).encode(iter([1, 2])) == [1, 2]
    assert Codec(ABC.Iterable[int] | None).encode(iter([1, 2])) == [1, 2]
    assert Codec(list[ABC.Iterable[int] | None]).encode([iter([1, 2]), None]) == [[1, 2], None]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[int], (1,)),
        (list[int], {1}),
        (set[int], [1]),
        (set[int], frozenset({1})),
        (frozenset[int], {1}),
        (tuple[int, ...], [1]),
        (tuple[int, int], [1, 2]),
        (deque[int], [1]),
        (ABC.Sequence[int], {1}),
        (ABC.Sequence[int], b"12"),
        (ABC.Sequence[str], "12"),
        (ABC.MutableSequence[int], (1,)),
        (ABC.Iterable[str], "12"),
        (ABC.Iterable[str], {"a": 1}),
        (ABC.Set[int], [1]),
        (ABC.MutableSet[int], frozenset({1})),
        (dict[str, int], [("a", 1)]),
        (collections.OrderedDict[str, int], {"a": 1}),
        (ABC.MutableMapping[str, int], types.MappingProxyType({"a": 1})),
    ],
)
def test_encoding_another_container_is_refused(annotation, value):
    with pytest.raises(EncodeError) as caught:
        Codec(annotation).encode(value)
    assert [problem.code for problem in caught.value.findings] == ["wrong_type"]


@pytest.mark.parametrize(
    ("annotation", "value", "path"),
    [
        (set[int], [1, 2, 1], (2,)),
        (set[int], [1, 1.0], (1,)),
        (frozenset[str], ["a", "a"], (1,)),
        (set[float], [1, 1.0], (1,)),
        (set[Color], ["red", "blue", "red"], (2,)),
        (set[Decimal], ["1.0", "1.00"], (1,)),
        (set[tuple[int, int]], [[1, 2], [1, 2]], (1,)),
        (set[frozenset[int]], [[1, 2], [2, 1]], (1,)),
        (set[Point], [{"x": 1}, {"x": 1, "y": 0}], (1,)),
        (set[int | None], [None, 1, None], (2,)),
    ],
    ids=str,
)
def test_duplicates_in_a_set_are_a_problem(annotation, value, path):
    [problem] = Codec(annotation).report(value)
    assert (problem.path, problem.code) == (path, "duplicate")


@pytest.mark.parametrize(
    "item", [list[int], dict[str, int], U1, TaggedA, set[int], Any, object, deque[int]], ids=str
)
def test_what_can_t_be_in_a_set(item):
    for annotation in (set[item], frozenset[item | None], set[tuple[item, ...]]):
        assert complaints_of(annotation)[0].code == "unsupported"


@dataclass(eq=False)
class Unequal:
    a: int


@pytest.mark.parametrize("item", [Unequal, Annotated[Bag, BAG["integer"]]], ids=["class", "leaf"])
def test_what_is_equal_to_nothing_else_can_t_be_in_a_set(item):
    """Else a set would take duplicates that the schema refuses."""
    for annotation in (set[item], frozenset[item | None], set[tuple[item, ...]]):
        assert "compare by identity" in complaint_of(annotation).message
    assert len(Codec(set[ZoneInfo]).decode(["UTC"])) == 1
    assert Codec(set[ZoneInfo]).report(["UTC", "UTC"])[0].code == "duplicate"


Nested = TypeAliasType("Nested", Union[int, "tuple[Nested, ...]"])


@dataclass(frozen=True)
class Link:
    value: int
    next: "Link | None" = None


@dataclass(frozen=True)
class Branch:
    value: int
    branches: "list[Branch]" = field(default_factory=list)


@pytest.mark.parametrize("item", [Json, Tree[int], Branch, tuple[Tree[int], ...]], ids=str)
def test_recursive_types_that_can_t_be_in_a_set(item):
    for annotation in (set[item], frozenset[item | None], dict[str, set[item]]):
        assert complaints_of(annotation)[0].code == "unsupported"


def test_recursive_types_that_can_be_in_a_set():
    assert Codec(set[Nested]).decode([1, [1, [2]]]) == {1, (1, (2,))}
    assert Codec(set[Link]).decode([{"value": 1, "next": {"value": 2}}]) == {Link(1, Link(2))}


def test_sets_of_booleans_and_numbers():
    """In Python `True == 1`, in JSON `true` is not `1`."""
    for annotation in (set[bool | int], set[Literal[True, 1]], frozenset[float | bool | str]):
        assert complaint_of(annotation).code == "ambiguous"
    for annotation in (set[Level | bool], set[tuple[int | bool, ...]], set[tuple[str, Literal[True, 1]]]):
        assert complaint_of(annotation).code == "ambiguous"
    assert Codec(set[bool]).decode([True, False]) == {True, False}
    assert Codec(set[tuple[int, bool]]).decode([[1, True]]) == {(1, True)}
    plain = enum.Enum("plain", {"ONE": 1})
    assert Codec(set[plain | bool]).decode([1, True]) == {plain.ONE, True}


def test_fixed_tuples():
    annotation = tuple[int, str | None, tuple[Point, ...]]
    assert schema_of(annotation) == {
        "type": "array",
        "prefixItems": [INTEGER, {"anyOf": [STRING, NULL]}, array_of(schema_of(Point))],
        "minItems": 3,
        "items": False,
    }
    codec = Codec(annotation)
    assert codec.decode([1.0, None, [{"x": 1}]]) == (1, None, (Point(1),))
    assert codec.encode((1, "a", ())) == [1, "a", []]
    assert [p.path for p in codec.report(["x", 1, [{}]])] == [(0,), (1,), (2, 0, "x")]
    assert codes_of(annotation, [1, None]) == codes_of(annotation, [1, None, [], 1]) == ["bad_length"]
    check_agreement(annotation)


def test_tuples_of_no_and_of_one_item():
    assert schema_of(tuple[()]) == {"type": "array", "maxItems": 0}
    assert Codec(tuple[()]).decode([]) == ()
    assert codes_of(tuple[()], [1]) == ["bad_length"]
    assert Codec(tuple[int]).decode([1]) == (1,)
    check_agreement(tuple[()])
    check_agreement(tuple[int])


def test_ordered_maps():
    codec = Codec(collections.OrderedDict[str, int])
    assert same(codec.decode({"b": 1, "a": 2}), collections.OrderedDict(b=1, a=2))
    assert same(Codec(ABC.Mapping[str, int]).decode({"a": 1}), {"a": 1})
    assert schema_of(ABC.Mapping) == {"type": "object", "additionalProperties": {}}
    assert schema_of(typing.Dict[str, int]) == schema_of(dict[str, int])  # noqa: UP006  # the other spelling
