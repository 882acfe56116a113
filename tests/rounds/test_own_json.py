"""Copies of JSON values that nobody else can change."""

from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, defaultdict
from enum import IntEnum, StrEnum

import pytest
from saving_samples import nested

from operator_schema import RawCall, Toolset, tool
from operator_schema.rounds.own_json import own_json


class Text(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


class Half(float):
    pass


class Items(list):
    pass


@pytest.mark.parametrize(
    ("value", "copied"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (10**4299, 10**4299),
        (-(10**4299), -(10**4299)),
        (1.5, 1.5),
        ("\ud800", "\ud800"),
        ([1, [2], {"a": []}], [1, [2], {"a": []}]),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (Counter("ab"), {"a": 1, "b": 1}),
        (Items([1, Items()]), [1, []]),
        ({Text.A: Text.A}, {"a": "a"}),
        (Number.ONE, 1),
        (Half(0.5), 0.5),
    ],
)
def test_json_is_copied_as_values_of_built_in_types(value, copied):
    found = own_json(value)
    assert found == copied
    assert type(found) is type(copied)
    assert found is not value or not isinstance(value, (dict, list))
    if isinstance(found, dict):
        assert {type(part) for part in (*found, *found.values())} == {
            type(part) for part in (*copied, *copied.values())
        }


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (float("inf"), "inf is not finite"),
        ([Half("nan")], "nan is not finite"),
        (10**4300, "an integer of about 4301 digits is too long"),
        ((1, 2), "tuple isn't JSON"),
        ({"a": {1}}, "set isn't JSON"),
        (UserDict(a=1), "UserDict isn't JSON"),
        (b"", "bytes isn't JSON"),
        ({None: 1}, "an object has a key that isn't a string"),
        (nested(101), "it nests deeper than 100 levels"),
        ({"a": nested(100)}, "it nests deeper than 100 levels"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused(value, complaint):
    with pytest.raises(ValueError, match=complaint):
        own_json(value)


def test_values_nest_as_deep_as_they_may():
    assert own_json(nested(100)) == nested(100)
    assert own_json(nested(3), 3) == nested(3)
    with pytest.raises(ValueError, match="deeper than 2 levels"):
        own_json({"a": {"b": {}}}, 2)


class Overridden(dict):
    def items(self):
        message = "code of the arguments was run"
        raise RuntimeError(message)

    __len__ = __iter__ = items


def test_a_round_takes_arguments_that_cannot_even_be_shown():
    @tool
    def search(query: str) -> str:
        return query

    toolset = Toolset(search)
    plan = toolset.offer().round([RawCall("c0", "search", {1: Overridden(query="x")})]).confirmed()
    assert plan.issues[0].raw.arguments == "dict"
    assert toolset.restore_round(plan.as_dict()) == plan
