"""Decode: every kind of node with what it takes and what it refuses."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal

import pytest

from operator_schema import Codec, DecodeError, decode, decode_json
from operator_schema.codec.interpret import DecodeState
from operator_schema.engine import Constraints
from operator_schema.introspect.nodes import TAKERS, ScalarNode, UnionNode
from operator_schema.introspect.union_plans import make_plan
from operator_schema.json_values import JSON_TYPES, MAX_INTEGER_DIGITS, MAX_PROBLEMS


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


class Text(str):
    __slots__ = ()


def exactly(value, expected):
    return type(value) is type(expected) and value == expected


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (str, "x", "x"),
        (str, Text("x"), "x"),
        (int, 3, 3),
        (int, 3.0, 3),
        (int, -0.0, 0),
        (int, 1e300, int(1e300)),
        (int, Level.HIGH, 1),
        (float, 1.5, 1.5),
        (float, 3, 3.0),
        (float, 2**53 + 1, float(2**53)),
        (bool, True, True),
        (None, None, None),
        (Any, {"a": [1]}, {"a": [1]}),
        (list[int], [1, 2.0], [1, 2]),
        (list, [1, "a"], [1, "a"]),
        (dict[str, int], {"a": 1.0}, {"a": 1}),
        (dict[str, int], {}, {}),
        (int | None, None, None),
        (int | None, 3, 3),
        (Literal["a", 1], "a", "a"),
        (Literal["a", 1], 1.0, 1),
        (Literal[True, False, 0, 1, "y", "n"], True, True),
        (Literal[True, False, 0, 1, "y", "n"], 1, 1),
        (Literal[True, False, 0, 1, "y", "n"], 0.0, 0),
        (Literal[True, False, 0, 1, "y", "n"], "n", "n"),
        (Literal[Level.HIGH], 1, Level.HIGH),
        (Literal["a", None], None, None),
        (Level, 1, Level.HIGH),
        (Level, 0.0, Level.LOW),
    ],
)
def test_takes(annotation, value, expected):
    assert exactly(decode(annotation, value), expected)


@pytest.mark.parametrize(
    ("annotation", "value", "code"),
    [
        (str, 5, "wrong_type"),
        (str, None, "wrong_type"),
        (str, ["x"], "wrong_type"),
        (int, True, "wrong_type"),
        (int, 1.5, "wrong_type"),
        (int, "1", "wrong_type"),
        (int, float("nan"), "wrong_type"),
        (int, float("inf"), "wrong_type"),
        (float, True, "wrong_type"),
        (float, "1.5", "wrong_type"),
        (float, float("nan"), "out_of_range"),
        (float, float("-inf"), "out_of_range"),
        (bool, 1, "wrong_type"),
        (bool, "true", "wrong_type"),
        (None, 0, "wrong_type"),
        (list[int], "12", "wrong_type"),
        (list[str], "ab", "wrong_type"),
        (list[int], (1, 2), "wrong_type"),
        (list[int], {"0": 1}, "wrong_type"),
        (dict[str, int], [["a", 1]], "wrong_type"),
        (dict[str, int], {1: 1}, "wrong_type"),
        (int | None, "x", "wrong_type"),
        (Literal[1], True, "not_one_of"),
        (Literal[True], 1, "not_one_of"),
        (Literal["a"], ["a"], "not_one_of"),
        (Literal["a"], {"a": 1}, "not_one_of"),
        (Level, True, "not_one_of"),
        (Level, "HIGH", "not_one_of"),
        (Level, object(), "not_one_of"),
    ],
)
def test_refuses(annotation, value, code):
    with pytest.raises(DecodeError) as caught:
        decode(annotation, value)
    assert [problem.code for problem in caught.value.findings] == [code]
    str(caught.value).encode()


# pytest would write these numbers into the names of the tests, which Python refuses.
def test_integers_at_the_limit_and_past_it():
    largest = 10**MAX_INTEGER_DIGITS - 1
    assert decode(list[int], [largest, -largest]) == [largest, -largest]
    found = Codec(list[int]).report([largest + 1, -largest - 1, 10**1_000_000])
    assert [p.code for p in found] == ["too_large"] * 3
    assert all(len(str(p)) < 200 for p in found)
    assert Codec(float).report(10**400)[0].code == "out_of_range"


@pytest.mark.parametrize("limits", [None, Constraints(minimum=1)])
def test_a_union_of_scalars_gives_a_value_to_the_members_that_a_plan_gives_it_to(limits):
    for number in range(2, len(TAKERS) + 1):
        for types in permutations(TAKERS, number):
            union = UnionNode(tuple([ScalarNode(name, limits) for name in types]))
            state, planned = DecodeState({}, 1), make_plan(union, {}).candidates
            for json_type in (*JSON_TYPES, ""):
                assert tuple(state.candidates(union, json_type)) == planned.get(json_type, ())
            assert state.plans == {}


def test_a_union_of_scalars_of_one_type_has_a_plan():
    union = UnionNode((ScalarNode("string"), ScalarNode("integer"), ScalarNode("integer", Constraints(1))))
    state = DecodeState({}, 1)
    assert state.candidates(union, "number") == (union.members[1], union.members[2])
    assert [*state.plans] == [id(union)]


def test_literals_of_equal_values_do_not_share_a_codec():
    assert decode(Literal[1], 1) == 1
    assert decode(Literal[True], True) is True
    assert decode(list[Literal[0]], [0]) == [0]
    assert decode(list[Literal[False]], [False])[0] is False


@dataclass
class Item:
    name: str
    count: int = 1
    tags: list[str] = field(default_factory=list)
    note: str | None = None
    limit: int | None = 10


@dataclass
class Order:
    items: list[Item]
    extra: dict[str, Item]


def test_fields_absent_null_and_given():
    assert decode(Item, {"name": "a"}) == Item("a")
    assert decode(Item, {"name": "a", "note": None, "limit": None}) == Item("a", limit=None)
    assert decode(Item, {"name": "a", "count": 2, "tags": ["x"], "limit": 3}) == Item("a", 2, ["x"], None, 3)
    assert [p.path for p in Codec(Item).report({"name": None, "count": None, "tags": None})] == [
        ("name",),
        ("count",),
        ("tags",),
    ]


def test_every_problem_has_its_path():
    value = {"items": [{"name": "a"}, {"name": 5, "tags": ["x", 3]}, 7], "extra": {"k": {}}}
    found = Codec(Order).report(value)
    assert [(p.path, p.code) for p in found] == [
        (("items", 1, "name"), "wrong_type"),
        (("items", 1, "tags", 1), "wrong_type"),
        (("items", 2), "wrong_type"),
        (("extra", "k", "name"), "missing"),
    ]


def test_codec_problems_is_empty_for_what_decodes():
    assert Codec(Item).report({"name": "a"}) == ()


def test_unknown_fields():
    value = {"items": [{"name": "a", "cuont": 3}], "extra": {}, "more": 1}
    assert decode(Order, value) == Order([Item("a")], {})
    found = Codec(Order, unknown_fields="reject").report(value)
    assert [(p.path, p.code, p.suggestion) for p in found] == [
        (("items", 0, "cuont"), "unknown", '"count"'),
        (("more",), "unknown", None),
    ]
    schema = Codec(Order, unknown_fields="reject").json_schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["items"]["items"]["additionalProperties"] is False
    [problem] = Codec(Item, unknown_fields="reject").report({"name": "a", 5: 1})
    assert problem.path == ("5",)


def test_subclasses_of_dict_and_list_are_objects_and_arrays():
    import collections

    value = collections.OrderedDict(
        items=collections.UserList([1]).data and [], extra=collections.defaultdict(dict)
    )
    assert decode(Order, value) == Order([], {})


class Counted:
    made = 0


@dataclass
class Checked:
    low: int
    high: int = field(default_factory=lambda: _count() or 5)

    def __post_init__(self):
        Counted.made += 1
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")


def _count():
    Counted.made += 100


def test_post_init_runs_once_and_on_valid_values_alone():
    Counted.made = 0
    assert Codec(Checked).report({"low": "x"}) == Codec(Checked).report({"low": "x"})
    assert Counted.made == 0
    decode(Checked, {"low": 1})
    assert Counted.made == 101


def test_what_post_init_says_is_a_problem_at_its_path():
    [problem] = Codec(list[Checked]).report([{"low": 9}])
    assert (problem.path, problem.code) == ((0,), "rejected")
    assert problem.message == "Checked refused it: low 9 is above high 5"


@pytest.mark.parametrize("kind", [KeyError, RuntimeError, KeyboardInterrupt, MemoryError, RecursionError])
def test_a_bug_in_user_code_is_not_swallowed(kind):
    @dataclass
    class Buggy:
        a: int

        def __post_init__(self):
            raise kind

    with pytest.raises(kind):
        Codec(Buggy).decode({"a": 1})


@dataclass
class Nest:
    inner: Nest | None = None
    more: list[Nest] = field(default_factory=list)
    table: dict[str, Nest] = field(default_factory=dict)


def nested(depth, key="inner"):
    value = {}
    for _ in range(depth - 1):
        value = {key: value}
    return value


def test_depth_at_the_limit_and_past_it():
    codec = Codec(Nest, max_depth=5)
    codec.decode(nested(5))
    [problem] = codec.report(nested(6))
    assert (problem.path, problem.code) == (("inner",) * 5, "too_deep")
    Codec(Nest).decode(nested(100))
    assert Codec(Nest).report(nested(101))[0].code == "too_deep"


@pytest.mark.slow("goes very deep")
@pytest.mark.parametrize("depth", [1000, 20_000])
@pytest.mark.parametrize("max_depth", [100, 10**6])
def test_no_depth_is_too_deep_for_an_answer(depth, max_depth):
    value = {}
    for _ in range(depth):
        value = {"inner": {"more": [{"table": {"k": value}}]}}
    assert Codec(Nest, max_depth=max_depth).report(value)[0].code == "too_deep"
    while value:  # freed level by level: even that recurses
        value = value["inner"]["more"][0]["table"].pop("k")


def test_a_value_that_contains_itself():
    value: dict[str, Any] = {}
    value["inner"] = value
    assert Codec(Nest).report(value)[0].code == "too_deep"


def test_problems_are_bounded():
    with pytest.raises(DecodeError) as caught:
        decode(list[int], ["x"] * (MAX_PROBLEMS + 5))
    assert len(caught.value.findings) == MAX_PROBLEMS
    assert caught.value.omitted == 5
    assert "105 problems" in str(caught.value)
    assert len(str(caught.value)) <= 2000


def test_the_interpreters_recursion_limit_is_left_alone():
    before = sys.getrecursionlimit()
    Codec(Nest).report(nested(5000))
    assert sys.getrecursionlimit() == before


def test_fields_of_every_name():
    namespace = {
        "self": int,
        "cls": int,
        "json": int,
        "title": int,
        "type": int,
        "properties": int,
        "größe": int,
    }
    from dataclasses import make_dataclass

    made = make_dataclass("Odd", list(namespace.items()))
    value = dict.fromkeys(namespace, 1)
    assert vars(decode(made, value)) == value
    assert decode_json(
        made, '{"self":1,"cls":1,"json":1,"title":1,"type":1,"properties":1,"größe":1}'
    ) == made(*[1] * 7)
