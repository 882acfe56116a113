"""`assert_calls`: which calls fit what a test expects, and what it says of those that don't."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.testing import ToolDouble, assert_calls
from operator_schema.testing.calls import differences

pytestmark = pytest.mark.needs_threads


@tool
def refund(
    order_id: str, amount: float, note: str = "", tags: list[str] | None = None, on: date = date(2026, 1, 2)
) -> str:
    """Pay money back."""
    return f"{order_id} {amount} {note} {tags} {on}"


@tool
def search(query: str) -> str:
    """Search."""
    return query


A7 = {"order_id": "A7", "amount": 6}
A8 = {"order_id": "A8", "amount": 9.5, "tags": ["late", "broken"]}


def made(*calls):
    """Return doubles of both tools that got these calls."""
    doubles = [ToolDouble(refund, "ok"), ToolDouble(search, "ok")]
    executor = Executor(doubles)
    for name, arguments in calls:
        executor.run_sync(RawCall(None, name, arguments))
    return doubles, executor


def message(source, expected, **options):
    with pytest.raises(AssertionError) as raised:
        assert_calls(source, expected, **options)
    return str(raised.value).removeprefix("the calls differ from what was expected:\n")


def test_calls_of_a_double_are_compared_with_defaults():
    (double, _), executor = made(("refund", A7), ("refund", A8))
    assert_calls(double, [A7, A8])
    assert_calls(double, [{**A7, "note": "", "tags": None}, ("refund", {**A8, "on": "2026-01-02"})])
    assert_calls(executor, [RawCall("any id", "refund", json.dumps(A7)), "refund"])


def test_an_ellipsis_stands_for_anything():
    (double, _), executor = made(("refund", A7), ("search", {"query": "x"}), ("refund", A8))
    assert_calls(double, [{"order_id": ..., "amount": 6}, {"order_id": "A8", ...: ...}])
    assert_calls(double, [..., {**A8, "tags": ["late", ...]}])
    assert_calls(executor, ["refund", ..., ("refund", ...)])
    assert_calls(executor, [(..., A7), "search", (..., {...: ...})])


def test_the_order_matters_unless_it_does_not():
    (double, _), _ = made(("refund", A7), ("refund", A8))
    assert_calls(double, [A8, A7], in_order=False)
    assert_calls(double, [{"order_id": ..., ...: ...}, A7], in_order=False)  # the first fits both
    text = message(double, [A8, A7])
    assert text.startswith("  the same calls were made in another order: refund {")
    assert text.endswith("\n  if the order doesn't matter: in_order=False")


def test_the_difference_is_told_by_path():
    (double, _), _ = made(("refund", A7), ("refund", A8))
    wanted = [A7, {"order_id": "A9", "amount": True, "tags": ["late", "lost"], "why": 1}]
    assert message(double, wanted) == (
        "  call 2, refund:\n"
        '    order_id: expected "A9", got "A8"\n'
        "    amount: expected true, got 9.5\n"
        '    tags[1]: expected "lost", got "broken"\n'
        "    why: expected 1, but it is missing"
    )


def test_a_call_too_many_and_one_too_few_are_told():
    doubles, executor = made(("refund", A7), ("search", {"query": "x"}))
    assert message(executor, ["refund"]) == '  call 2, not expected: search {"query": "x"}'
    assert (
        message(executor, ["refund", "search", "search"]) == "  expected, but not made: search, any arguments"
    )
    assert message(doubles, ["search"]).startswith("  call 1, not expected: refund")
    assert message(executor, [..., "find"]).splitlines() == [
        "  expected, but not made: find, any arguments",
        '  call 2, not expected: search {"query": "x"}',
    ]


def test_without_order_the_nearest_calls_are_compared():
    (double, _), _ = made(("refund", A7), ("refund", A8))
    text = message(double, [{**A8, "amount": 1}, A7], in_order=False)
    assert text == "  call 2, refund:\n    amount: expected 1.0, got 9.5"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (date(2026, 1, 1), '"2026-01-01"'),
        (Decimal("1.5"), '"1.5"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ({1, 2}, "what a model sends"),
        (object(), "what a model sends"),
        (date, "what a model sends"),
    ],
)
def test_a_value_that_is_none_of_json_is_told_how_to_be_written(given, written):
    (double, _), _ = made(("refund", A7))
    text = message(double, [{**A7, "on": given}])
    assert text.startswith("  call 1, refund:\n    on: expected ")
    assert text.endswith(f', got "2026-01-02"; arguments are compared as JSON values, so write {written}')


def test_a_long_difference_is_cut():
    calls = [RawCall(None, "search", {"query": "x" * 10_000}) for _ in range(100)]
    text = message(calls, [])
    assert len(text) < 10_000
    assert text.endswith("… and 80 more")


def test_an_ellipsis_is_shown_as_it_is_written():
    (double, _), _ = made()
    text = message(double, [{"order_id": ..., "tags": [..., "x"], ...: ...}, ...])
    assert text.splitlines() == [
        '  expected, but not made: any tool {"order_id": ..., "tags": [..., "x"], ...: ...}',
        "  expected, but not made: any tool, any arguments",
    ]


def test_many_calls_are_compared_by_position():
    calls = [RawCall(None, "search", {"query": str(number)}) for number in range(500)]
    assert_calls(calls, calls)
    assert message(calls, [*calls[:-1], "refund"]).count("\n") == 1
    with pytest.raises(ValueError, match="too many calls for in_order=False: 500 expected, 500 made"):
        assert_calls(calls, calls, in_order=False)


def test_transcripts_turns_and_answers_have_the_calls_as_they_were_sent():
    toolset, history = Toolset(search), Transcript(["Find x."])
    sent = [RawCall("c1", "search", '{"query": "x"}'), RawCall("c2", "search", '{"query": ')]
    turn = Executor(toolset).run_sync(toolset.offer().round(sent)).commit(history)
    for source in (history, turn, sent, [turn]):
        assert_calls(source, [{"query": "x"}, ("search", '{"query": ')])
    assert_calls(Transcript(["hello"]), [])


def test_true_is_not_one():
    assert differences({"a": 1}, {"a": True}) == ["a: expected 1, got true"]
    assert differences({"a": 1}, {"a": 1.0}) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(value=JSON, other=JSON)
def test_values_differ_if_their_json_does(value, other):
    assert differences(value, value) == []
    texts = [json.dumps(one, sort_keys=True) for one in (value, other)]
    assert (differences(value, other) == []) == (texts[0] == texts[1])


@pytest.mark.parametrize("source", ["search", {"a": 1}, 3, None])
def test_other_sources_are_refused(source):
    with pytest.raises(TypeError, match=r"^assert_calls takes a double, an executor, a transcript"):
        assert_calls(source, [])


def test_an_executor_without_doubles_remembers_nothing():
    with pytest.raises(TypeError, match=r"doesn't remember its calls: give record\("):
        assert_calls(Executor(search), [])


@pytest.mark.parametrize("expected", ["search", {"query": "x"}, RawCall("c1", "search", {}), 3, None])
def test_expected_calls_are_a_list(expected):
    with pytest.raises(TypeError, match=r"^expected calls must be a list, not"):
        assert_calls([], expected)


@pytest.mark.parametrize("one", [3, None, ("a",), (1, {}), ["search", {}]])
def test_an_expected_call_of_another_form_is_refused(one):
    with pytest.raises(TypeError, match=r"^an expected call must be a RawCall"):
        assert_calls([], [one])
