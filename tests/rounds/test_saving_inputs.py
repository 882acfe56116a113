"""Inputs of every kind: they come back as they were, or are refused when they are saved."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import pytest
from saving_samples import (
    Cat,
    executed,
    made,
    nested,
    planned,
    problems,
    ran,
    refused,
    restored,
    through_text,
)

from operator_schema import Defer, EncodeError, RawCall, ToolError, Toolset, tool

pytestmark = pytest.mark.needs_threads

INPUTS = [
    ("book", {"leg": {"origin": "MUC", "stops": ["a"]}, "seats": 2}),
    ("book", '{"leg": {"origin": "MUC"}, "seats": 1.0}'),
    ("book", b'{"leg": {"origin": "MUC"}}'),
    ("search", {"options": {}}),
    ("search", {"options": {"origin": "X"}}),
    ("with_seed", {"x": 1, "seed": 4}),
    ("with_default_seed", {"x": 1, "seed": 4}),
    ("with_default_seed", {"x": 1}),
    ("drawn", {"x": 1}),
    ("plain", {"value": [1, {"a": None}]}),
    ("plain", {"value": "\ud800"}),
    ("tree", {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}),
    ("adopt", {"pet": {"lives": 9}, "price": 1.0}),
    ("adopt", {"pet": {"tricks": []}, "price": 1}),
    ("pay", {"price": 12}),
    ("pay", {"price": 12_000}),
    ("forward", {"a": [1], "b": {"c": None}}),
    ("forward", None),
    ("anything", {"value": -0.0}),
    ("anything", {"value": 10**4000}),
    ("anything", {"value": {"": "\x00\ud800\U0001f600"}}),
    ("anything", '{"value": 1e308}'),
    ("anything", {"value": float("nan")}),
    ("anything", {"value": {1: 2}}),
    ("anything", {"value": OrderedDict(a=1)}),
    ("anything", "{broken"),
    ("no such tool", {"value": ...}),
]


@pytest.mark.parametrize("call", INPUTS, ids=lambda call: f"{call[0]}-{ascii(call[1])[:40]}")
def test_inputs_of_every_kind_come_back(call):
    plan = planned(call)
    again = restored(plan)
    assert again == plan
    assert again.as_dict() == plan.as_dict()
    assert [type(state) for state in again.calls] == [type(state) for state in plan.calls]
    for before, after in zip(plan.pending, again.pending, strict=True):
        assert after.raw == before.raw
        assert getattr(after.input, "__dict__", None) == getattr(before.input, "__dict__", None)


def test_arguments_as_deep_as_they_may_be_come_back():
    plan = planned(("anything", {"value": nested(99)}), ("anything", {"value": nested(100)}))
    assert [call.state for call in plan.calls] == ["pending", "issue"]
    assert restored(plan) == plan


def test_a_result_as_deep_as_it_may_be_comes_back():
    plan = planned(("anything", {"value": 1}))
    deep = plan.with_results([plan.pending[0].handled(nested(100))])
    assert restored(deep).handled[0].result.json == nested(100)


def test_a_default_that_is_drawn_at_random_keeps_its_value():
    plan = planned(("drawn", {"x": 1}))
    assert restored(plan).pending[0].input == plan.pending[0].input


def test_inputs_that_were_changed_in_place_come_back():
    plan = planned(
        ("book", {"leg": {"origin": "MUC"}}),
        ("search", {"options": {"origin": "X"}}),
        ("adopt", {"pet": {"lives": 9}}),
    )
    first, second, third = plan.pending
    first.input.leg.stops.append("VIE")
    second.input["options"].clear()
    third.input.pet = Cat(lives=8)
    again = restored(plan)
    assert again == plan
    assert [call.input for call in again.pending] == [first.input, second.input, third.input]


def test_an_input_that_was_emptied_comes_back_empty():
    plan = planned(("filters", {"city": "MUC"}))
    plan.pending[0].input.clear()
    assert restored(plan).pending[0].input == {}


def changed(name, arguments, **attributes):
    plan = planned((name, arguments))
    for attribute, value in attributes.items():
        setattr(plan.pending[0].input, attribute, value)
    return plan


@pytest.mark.parametrize(
    ("plan", "error", "complaint"),
    [
        (changed("anything", {"value": 1}, value=float("nan")), EncodeError, "nan is not finite"),
        (changed("anything", {"value": 1}, value={1: 2}), EncodeError, "expected string"),
        (changed("anything", {"value": 1}, value="\ud800"), EncodeError, "lone surrogate"),
        (changed("anything", {"value": 1}, value=10**5000), EncodeError, "more than 4300 digits"),
        (changed("anything", {"value": 1}, value=nested(120)), EncodeError, "nested deeper than 100"),
        (changed("anything", {"value": 1}, value=object()), EncodeError, "value"),
        (changed("with_seed", {"x": 1, "seed": 4}, x=2), EncodeError, "seed"),
        (changed("with_default_seed", {"x": 1, "seed": 4}, x=2), ToolError, "InitVar"),
        (changed("pay", {"price": 12_000}, price=5), EncodeError, "price"),
    ],
)
def test_an_input_that_was_changed_and_cannot_be_written_is_refused(plan, error, complaint):
    with pytest.raises(error, match=complaint):
        plan.as_dict()


def test_what_a_function_did_to_its_input_does_not_lose_its_result():
    plan = planned(("anything", {"value": 1}))
    done = plan.with_results([plan.pending[0].handled("done")])
    done.handled[0].input.value = object()
    again = restored(done)
    assert again.handled[0].result.content == "done"
    assert again.handled[0].input.value == 1


def test_neither_does_an_input_that_does_not_keep_what_it_was_made_of():
    plan = planned(("with_default_seed", {"x": 1, "seed": 4}))
    done = plan.with_results([plan.pending[0].handled("done")])
    done.handled[0].input.x = 2
    assert restored(done).handled[0].result.content == "done"


def test_an_edited_input_comes_back_with_the_approval():
    plan = planned(("cancel", {"booking": "7KQ"}))
    given = plan.deferred[0].input
    given.note = "agreed"
    again = restored(plan.approve("c0", input=given))
    assert (again.pending[0].approved, again.pending[0].input.note) == (True, "agreed")
    assert again.pending[0].raw.arguments == {"booking": "7KQ"}
    ran.clear()
    assert (
        executed(again).handled[0].result.content
        == 'A person changed note to "agreed" before it ran.\ncancelled 7KQ agreed'
    )
    assert ran == ["cancel"]


def test_a_class_whose_own_code_cannot_compare_it_is_not_taken_for_unchanged():
    plan = planned(("incomparable", {"x": 1, "seed": 2}))
    with pytest.raises(EncodeError, match="seed"):
        plan.as_dict()


def test_an_input_whose_arguments_no_longer_decode_is_saved_as_it_is():
    made.clear()
    plan = planned(("once", {"x": 1}))
    assert plan.pending[0].input.x == 1
    data = plan.as_dict()
    assert data["calls"][0]["input"] == {"x": 1}
    assert problems(refused(through_text(data))) == [("input_does_not_fit", "c0")]


def test_values_that_are_equal_but_not_the_same_json_count_as_changed():
    for value, other in [(1, True), (1, 1.0), (0.0, -0.0), (0, False)]:
        plan = planned(("anything", {"value": value}))
        plan.pending[0].input.value = other
        again = restored(plan).pending[0].input.value
        assert repr(again) == repr(other)


def test_equal_sets_are_equal_in_whatever_order_they_were_made():
    plan = planned(("tags", {"names": []}))
    names = plan.pending[0].input.names
    names |= {8, 0, 16}  # 0, 8 and 16 are in the same place of a small table
    names.discard(0)
    other = planned(("tags", {"names": []})).pending[0].replace(_input=type(plan.pending[0].input)({16, 8}))
    assert restored(plan) == plan
    assert plan.replace(calls=(other,)) == plan
    done = executed(plan.with_results([plan.pending[0].handled("done")]))
    assert restored(done) == done


def test_plans_with_inputs_that_cannot_be_written_can_be_compared():
    plan = changed("anything", {"value": 1}, value=object())
    other = plan.replace(calls=(plan.pending[0].with_input(type(plan.pending[0].input)(2)),))
    assert plan != other
    assert plan == plan.replace(calls=plan.calls)


def test_plans_that_differ_are_not_equal():
    plan = planned(("anything", {"value": 1}), ("tags", {"names": [1]}))
    first, second = plan.pending
    others = [
        plan.replace(calls=(first,)),
        plan.replace(calls=(first.replace(approved=True), second)),
        plan.replace(calls=(first.with_input(type(first.input)(2)), second)),
        plan.replace(offered=("anything",)),
        plan.replace(_assistant="text"),
        planned(("anything", {"value": 1}), ("tags", {"names": [1]})),
    ]
    assert [plan == other for other in others] == [False] * 6
    assert plan != "a plan"
    assert plan == restored(plan)


@pytest.mark.parametrize("name", ["with_seed", "with_default_seed"])
def test_an_input_that_somebody_decides_about_comes_back_from_its_arguments(name):
    plan = planned((name, {"x": 1, "seed": 4}), hooks=lambda call: Defer("wait"))
    again = restored(plan)
    assert again == plan
    assert (again.deferred[0].input.x, again.deferred[0].input.doubled) == (1, 8)
    assert restored(plan.approve(0)).pending[0].input.doubled == 8


def a_registration(refused):
    """Return a tool whose input grows when it is made, and is refused from some number on."""

    @dataclass
    class Registration:
        number: int

        def __post_init__(self) -> None:
            if self.number in refused:
                raise ValueError("not this one")
            self.number *= 2

    @tool(confirm=True)
    def register(registration: Registration) -> str:
        return str(registration.number)

    return Toolset(register)


def test_an_input_that_its_class_refuses_afterwards_comes_from_the_arguments():
    tools = a_registration({14})
    plan = tools.offer().round([RawCall("a", "register", {"number": 7})]).confirmed()
    [saved_call] = plan.as_dict()["calls"]
    assert saved_call["source"] == "arguments"
    assert "schema" not in saved_call  # the schema could not have told that they give something else
    assert tools.restore_round(plan.as_dict()).deferred[0].input == plan.deferred[0].input


def test_arguments_that_their_class_refuses_by_now_are_not_the_source():
    refused_numbers = set()
    plan = (
        a_registration(refused_numbers).offer().round([RawCall("a", "register", {"number": 7})]).confirmed()
    )
    refused_numbers.add(7)
    [saved_call] = plan.as_dict()["calls"]
    assert "source" not in saved_call
