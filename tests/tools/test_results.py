"""Calls and results: values that travel."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading

import pytest

from operator_schema import Executor, RawCall, ToolResult, tool


@pytest.mark.parametrize(
    "value",
    [
        RawCall("1", "search", '{"query": "x"}'),
        RawCall("1", "search"),
        ToolResult("1", "search", "found"),
        ToolResult("1", "search", "no", True, "timeout", {"seconds": 30.0}),
    ],
)
def test_calls_and_results_are_values(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert type(again) is type(value)
    assert type(value).__name__ in repr(value)
    with pytest.raises(AttributeError, match="immutable"):
        value.name = "other"


def test_equal_calls_are_one_in_a_set():
    assert len({RawCall("1", "a", "{}"), RawCall("1", "a", "{}"), RawCall("2", "a", "{}")}) == 2
    assert RawCall("1", "a") != ToolResult("1", "a", "")


def test_fields_and_defaults():
    call, result = RawCall("1", "a", {"x": 1}), ToolResult("1", "a", "text")
    assert (call.id, call.name, call.arguments) == ("1", "a", {"x": 1})
    assert (result.call_id, result.name, result.content) == ("1", "a", "text")
    assert (result.is_error, result.code, result.details) == (False, None, None)
    assert result.replace(content="other") == ToolResult("1", "a", "other")


def test_a_call_without_an_id_gets_one_of_its_own():
    calls = [
        RawCall(name="a"),
        RawCall(None, "a"),
        RawCall(None, "a", {"x": 1}),
        RawCall(name="a", arguments=""),
    ]
    assert len({call.id for call in calls}) == len(calls)
    assert all(re.fullmatch("call_[0-9a-f]{24}", call.id) for call in calls)
    assert [(call.name, call.arguments) for call in calls[2:]] == [("a", {"x": 1}), ("a", "")]
    for again in (pickle.loads(pickle.dumps(calls[0])), copy.copy(calls[0]), copy.deepcopy(calls[0])):
        assert again == calls[0]
    assert calls[0].replace(id=None).id != calls[0].id


def test_an_empty_id_is_an_id():
    assert RawCall("", "a").id == ""


@pytest.mark.parametrize("make", [RawCall, lambda: RawCall("add"), lambda: RawCall(id="1", arguments={})])
def test_a_call_needs_the_name_of_a_tool(make):
    with pytest.raises(TypeError, match=r"needs the name of a tool: RawCall\(id, name, arguments\), or"):
        make()


@pytest.mark.parametrize(("wrong", "what"), [((5, "a"), "the id"), (("1", 5), "the name")])
def test_a_call_has_texts_for_id_and_name(wrong, what):
    with pytest.raises(
        TypeError, match=rf"^in RawCall\(id, name, arguments\), {what} of a call must be a string, not"
    ):
        RawCall(*wrong)


class Mute(Exception):  # noqa: N818  # it says nothing at all
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("no\x1b such\nuser"), "ValueError: no\\u001b such\nuser"),
        (Mute(), "Mute"),
        (KeyError(), "KeyError"),
    ],
)
def test_a_result_for_logs_is_json(error, shown):
    details = {"exception": error, "seconds": 1.5}
    result = ToolResult("1", "a", "failed", is_error=True, code="execution_failed", details=details)
    logged = json.loads(json.dumps(result.as_dict()))
    assert logged == {
        "call_id": "1",
        "name": "a",
        "content": "failed",
        "is_error": True,
        "code": "execution_failed",
        "details": {"exception": shown, "seconds": 1.5},
    }
    assert ToolResult("1", "a", "x").as_dict()["details"] is None


def test_what_is_logged_is_bounded():
    error = ValueError("x" * 10**6)
    result = ToolResult("1", "a", "", is_error=True, code="execution_failed", details={"exception": error})
    assert len(result.as_dict()["details"]["exception"]) <= 1000


class Uncopyable(Exception):  # noqa: N818  # what it is called does not matter
    """Python makes copies of an exception from its `args`, which aren't what this one takes."""

    def __init__(self, one, other):
        super().__init__(f"{one} {other}")


def test_a_copy_shares_the_exception():
    error = Uncopyable(1, 2)
    result = ToolResult("1", "a", "no", True, "execution_failed", {"exception": error, "findings": [{}]})
    copied = copy.deepcopy(result)
    assert copied == result
    assert copied.details["exception"] is error
    assert copied.details["findings"] is not result.details["findings"]


def test_results_with_details_have_a_hash():
    first, second = (ToolResult("1", "a", "no", True, "timeout", {"seconds": 30.0}) for _ in range(2))
    assert {first, second} == {first}


class OpenError(Exception):
    """Can't be pickled: it holds a lock."""

    def __init__(self, held):
        super().__init__("failed")
        self.held = held


class TwoArgumentsError(Exception):
    """Is pickled, and can't be made again: Python calls it with the text alone."""

    def __init__(self, code, place):
        super().__init__(f"{code} at {place}")


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        (ValueError("no"), True),
        (OpenError(threading.Lock()), False),
        (TwoArgumentsError(1, 2), False),
        (type("Local", (Exception,), {})("no"), False),
    ],
)
def test_a_failed_result_is_pickled_whatever_was_raised(error, is_kept):
    @tool
    def fail() -> str:
        """Fail."""
        raise error

    result = Executor([fail]).run_sync(RawCall("1", "fail"))
    for again in (pickle.loads(pickle.dumps(result)), pickle.loads(pickle.dumps([result]))[0]):
        assert (again.content, again.code, again.is_error) == (result.content, result.code, True)
        assert ("exception" in (again.details or {})) == is_kept
    assert result.details["exception"] is error
