"""Decode and encode in the corners: options of another kind, subclasses, surrogates, bugs of users."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Optional, TypedDict, Union

import pytest

from operator_schema import (
    Codec,
    DecodeError,
    EncodeError,
    SchemaError,
    SchemaLeaf,
    decode,
    decode_json,
    encode,
)
from operator_schema.json_values import MAX_PROBLEMS


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": 5}, "name must be a string"),
        ({"leaves": [5]}, "leaves must be SchemaLeaf"),
        ({"leaves": [Point]}, "leaves must be SchemaLeaf values, not the class Point"),
        ({"namespace": [1]}, "namespace maps"),
        ({"max_depth": True}, "max_depth"),
    ],
)
def test_options_of_another_kind(options, words):
    with pytest.raises(ValueError, match=words):
        Codec(Point, **options)


def test_a_codec_can_t_be_emptied():
    codec = Codec(Point)
    with pytest.raises(AttributeError, match="immutable"):
        del codec.graph


def test_names_are_escaped_in_reports():
    with pytest.raises(DecodeError) as caught:
        Codec(Point, name="x\n- fine\x1b[2J").decode({})
    assert str(caught.value).count("\n") == 2
    assert "\x1b" not in str(caught.value)


@dataclass
class Wider(Point):
    y: int = 0


@dataclass
class Holder:
    point: Point


def test_a_subclass_is_written_as_the_declared_class():
    assert encode(Holder(Wider(1, 2))) == {"point": {"x": 1}}


class Grams(float):
    __slots__ = ()


GRAMS = SchemaLeaf(Grams, {"type": "number"}, Grams, float, Grams(1))


def test_leaves_of_the_codec_count_under_any():
    codec = Codec(list[Any], leaves=[GRAMS])
    assert codec.encode([Grams(2), Point(1)]) == [2.0, {"x": 1}]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_leaves_get_finite_numbers_and_give_them(number):
    codec = Codec(Grams, leaves=[GRAMS])
    assert codec.report(number)[0].code == "out_of_range"
    with pytest.raises(EncodeError, match="not finite"):
        codec.encode(Grams(number))


def test_a_leaf_that_overflows_is_a_problem():
    assert Codec(Grams, leaves=[GRAMS]).report(10**400)[0].code == "bad_format"


@pytest.mark.parametrize("kind", [RecursionError, KeyError])
def test_a_bug_in_a_leaf_is_not_swallowed(kind):
    ready = []

    def decode_odd(value):
        if ready:
            raise kind
        return Grams(value)

    codec = Codec(list[Grams], leaves=[SchemaLeaf(Grams, {"type": "number"}, decode_odd, float, Grams(1))])
    ready.append(True)
    with pytest.raises(kind):
        codec.decode([1])


def test_a_leaf_gives_away_nothing_of_its_own():
    shared: dict[str, Any] = {"a": []}
    leaf = SchemaLeaf(Point, {"type": "object"}, lambda _: Point(1), lambda _: shared, Point(1))
    encoded = Codec(Point, leaves=[leaf]).encode(Point(1))
    encoded["a"].append(1)
    assert shared == {"a": []}


def test_lone_surrogates_are_no_text():
    assert Codec(str).report("\ud800")[0].code == "bad_format"
    assert Codec(dict[str, int]).report({"\udfff": 1})[0].code == "bad_format"
    assert decode(str, "größe") == "größe"
    with pytest.raises(EncodeError, match="surrogate"):
        Codec(str).encode("\ud800")


def test_what_a_users_check_says_is_bounded_and_escaped():
    @dataclass
    class Loud:
        text: str

        def __post_init__(self):
            raise ValueError(self.text)

    assert len(str(Codec(Loud).report({"text": "x" * 10**6})[0])) < 300
    assert "\n" not in str(Codec(Loud).report({"text": "a\nb"})[0])
    assert Codec(Loud).report({"text": ""})[0].message == "Loud refused it without a message (ValueError)"


@dataclass
class Ring:
    next: Ring | None = None
    more: list[Any] = field(default_factory=list)


def test_a_recursive_class_under_any():
    assert encode([Ring(Ring(), [Ring()])]) == [{"next": {"more": []}, "more": [{"more": []}]}]


def test_a_key_repeated_deep_in_a_long_text_costs_little():
    @dataclass
    class Anything:
        x: Any

    text = '{"x":' + "[" * 400 + "0," * 50_000 + '{"a":1,"a":2}' + "]" * 400 + "}"
    with pytest.raises(DecodeError) as caught:
        decode_json(Anything, text)
    assert [p.code for p in caught.value.findings] == ["duplicate"]
    assert len(caught.value.findings[0].path) == 402


def test_more_than_cpythons_own_limit_on_digits():
    import sys

    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(DecodeError, match="digits"):
            decode_json(list[Any], f"[{'1' * 5000}]")
    finally:
        sys.set_int_max_str_digits(before)


class Small(TypedDict):
    a: int


class Large(TypedDict):
    a: int
    b: int


class Pair(NamedTuple):
    a: int
    b: int


def test_encoding_unions_of_dicts_and_tuples():
    codec = Codec(list[Union[Small, Large]])
    value = [{"a": 1}, {"a": 1, "b": 2}]
    assert codec.encode(codec.decode(value)) == value
    assert Codec(Union[tuple[int, int], str]).encode((1, 2)) == [1, 2]
    assert Codec(Union[Pair, list[int]]).encode(Pair(1, 2)) == {"a": 1, "b": 2}
    assert Codec(Union[Point, Wider, None]).encode(Wider(1, 2)) == {"x": 1, "y": 2}
    with pytest.raises(EncodeError) as caught:
        Codec(tuple[int, int]).encode((1, 2, 3))
    assert caught.value.findings[0].code == "bad_length"
    with pytest.raises(EncodeError):
        codec.encode([{"c": 1}])


def test_tuples_nest_too():
    assert Codec(tuple[tuple[int, ...], int], max_depth=2).report([[1], 2]) == ()
    assert Codec(list[tuple[int, int]], max_depth=2).decode([[1, 2]]) == [(1, 2)]
    codec: Any = Codec(Optional[list[Ring]], max_depth=3)
    assert codec.report([{"next": {"next": {}}}])[0].code == "too_deep"


@pytest.mark.parametrize("empty", [tuple[()], tuple, list, deque, Sequence, dict])
def test_what_has_no_parameters_is_a_level_too(empty):
    value: Any = [{} if empty is dict else []]
    with pytest.raises(SchemaError, match="nests deeper than 1 levels"):
        Codec(list[empty], max_depth=1)
    codec = Codec(list[empty], max_depth=2)
    assert codec.report(value) == ()
    assert codec.compile().decode(value) == [codec.decode(value)[0]]


@dataclass
class Turn:
    kind: tuple[Turn, ...] | dict[str, Turn] = ()


def test_depth_of_tuples_and_maps():
    codec = Codec(Turn, max_depth=3)
    assert codec.report({"kind": [{"kind": []}]})[0].code == "too_deep"
    assert codec.report({"kind": {"a": {"kind": {}}}})[0].code == "too_deep"
    assert len(Codec(list[Turn]).report([5] * (MAX_PROBLEMS + 1))) == MAX_PROBLEMS


class One(TypedDict):
    kid: Small | Large


class Two(TypedDict):
    kid: Small | Large
    x: int


def test_unions_of_dicts_inside_unions_of_dicts():
    codec = Codec(One | Two)
    for value in ({"kid": {"a": 1}}, {"kid": {"a": 1, "b": 2}, "x": 1}):
        assert codec.encode(codec.decode(value)) == value


@dataclass
class Chain:
    pair: tuple[int, Chain] | None = None


def test_depth_of_fixed_tuples():
    value = {"pair": [1, {"pair": [1, {}]}]}
    assert Codec(Chain, max_depth=5).report(value) == ()
    assert Codec(Chain, max_depth=3).report(value)[0].path == ("pair", 1, "pair")
