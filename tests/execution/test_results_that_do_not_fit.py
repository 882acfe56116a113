"""Results that do not fit their declared type are written as well as they can be, and it is logged."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from operator_schema import Executor, RawCall, tool

pytestmark = pytest.mark.needs_threads


class Colour(Enum):
    RED = "red"


@dataclass
class Note:
    id: int
    at: datetime


def row():
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found = connection.execute("select 1 as id, 'x' as title").fetchone()
    connection.close()
    return found


NAIVE = datetime.fromisoformat("2026-01-02T03:04:00")
CASES = [
    (datetime, lambda: NAIVE, "2026-01-02T03:04:00"),
    (list[list[int]], lambda: [(1, 2), (3, 4)], "[[1,2],[3,4]]"),
    (tuple[int, ...], lambda: [1, 2], "[1,2]"),
    (dict[str, Any], row, '{"id":1,"title":"x"}'),
    (dict, lambda: {1: "a"}, '{"1":"a"}'),
    (Note, lambda: Note(1, NAIVE), '{"id":1,"at":"2026-01-02T03:04:00"}'),
    (int, lambda: "five", "five"),
]
IDS = [str(number) for number in range(len(CASES))]


def executor_of(declared, make, **options):
    @tool(name="work", namespace={"declared": declared})
    def work() -> declared:
        return make()

    return Executor([work], **options)


@pytest.mark.parametrize(("declared", "make", "content"), CASES, ids=IDS)
def test_what_has_a_json_form_is_written(caplog, declared, make, content):
    result = executor_of(declared, make).run_sync(RawCall("c", "work", {}))
    assert (result.content, result.is_error, result.code) == (content, False, None)
    assert result.details["mismatches"]
    assert result.as_dict()["details"]["mismatches"] == [str(note) for note in result.details["mismatches"]]
    [record] = caplog.records
    assert (record.name, record.levelno) == ("operator_schema", logging.WARNING)
    assert record.getMessage().startswith(
        "work (call c): the result does not fit its declared type; mismatches: "
    )


def test_the_log_has_no_values(caplog):
    executor = executor_of(list[int], lambda: [1, "hunter2"])
    assert executor.run_sync(RawCall("c", "work", {})).content == '[1,"hunter2"]'
    assert "[1] wrong_type" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(("declared", "make", "content"), CASES, ids=IDS)
def test_strict_results_fail(declared, make, content):
    result = executor_of(declared, make, strict_results=True).run_sync(RawCall("c", "work", {}))
    assert (result.code, content in result.content) == ("execution_failed", False)
    assert result.content.startswith("work did its work, but its result can't be shown")


TEXTS = [
    (int, ['expected integer, got string "b"']),
    (Literal["a"], ['"b" is not one of "a"']),
    (list[str], ['expected array of string, got string "b"']),
    (None, ['expected null, got string "b"']),
    (int | bool, ['string "b" fits none of integer | boolean']),
]
FITTING = [str, Any, object, int | str, str | None, Literal["b"], Annotated[str, "why"]]


@pytest.mark.parametrize(("declared", "notes"), TEXTS, ids=str)
def test_text_has_to_fit_the_declared_type_too(declared, notes):
    result = executor_of(declared, lambda: "b").run_sync(RawCall("c", "work", {}))
    assert (result.content, result.is_error) == ("b", False)
    assert [note.message for note in result.details["mismatches"]] == notes
    strict = executor_of(declared, lambda: "b", strict_results=True).run_sync(RawCall("c", "work", {}))
    assert strict.is_error
    assert strict.content.startswith("work did its work, but its result can't be shown")
    assert [problem["message"] for problem in strict.details["findings"]] == notes


@pytest.mark.parametrize("strict_results", [False, True])
@pytest.mark.parametrize("declared", FITTING, ids=str)
def test_text_that_fits_is_the_content(caplog, declared, strict_results):
    executor = executor_of(declared, lambda: "b", strict_results=strict_results)
    result = executor.run_sync(RawCall("c", "work", {}))
    assert (result.content, result.details, caplog.records) == ("b", None, [])


@pytest.mark.parametrize(
    ("declared", "value", "key", "content"),
    [
        (dict[str, int], {1: 1, "1": 2}, "1", '{"1":2}'),
        (Any, {1: 1, "1": 2}, "1", '{"1":2}'),
        (Any, {True: 1, "true": 2}, "true", '{"true":2}'),
    ],
)
def test_a_note_names_the_key_whose_entry_is_lost(declared, value, key, content):
    result = executor_of(declared, lambda: value).run_sync(RawCall("c", "work", {}))
    assert result.content == content
    last = result.details["mismatches"][-1]
    assert (last.path, last.code) == ((key,), "duplicate")
    assert last.message == f'several keys are written as "{key}": only the value of the last one is kept'


@pytest.mark.parametrize(
    ("declared", "value", "message"),
    [
        (tuple[int, ...], [1], "expected tuple, got list"),
        (tuple[int, str], [1, "a"], "expected tuple, got list"),
        (set[int], [1], "expected set, got list"),
        (frozenset[int], {1}, "expected frozenset, got set"),
        (list[int], (1,), "expected list, got tuple"),
        (list[int], {"a": 1}, 'expected array of integer, got object {"a": 1}'),
    ],
)
def test_where_only_the_python_class_differs_the_classes_are_named(declared, value, message):
    result = executor_of(declared, lambda: value).run_sync(RawCall("c", "work", {}))
    assert [note.message for note in result.details["mismatches"]] == [message]
    strict = executor_of(declared, lambda: value, strict_results=True)
    [problem] = strict.run_sync(RawCall("c", "work", {})).details["findings"]
    assert problem["message"] == message


class Unreadable:
    def __getattribute__(self, name):
        raise RuntimeError(name)


class UnreadableClass(type):
    def __getattr__(cls, name):
        raise RuntimeError(name)


class OfUnreadableClass(metaclass=UnreadableClass):
    pass


@pytest.mark.parametrize("strict_results", [False, True])
@pytest.mark.parametrize("declared", [Any, list[Colour], int, str, None], ids=str)
@pytest.mark.parametrize("make", [Unreadable, OfUnreadableClass], ids=["instance", "class"])
def test_a_result_that_raises_when_it_is_read_is_no_failure_of_the_function(make, declared, strict_results):
    async def awork() -> declared:
        return make()

    executor = executor_of(declared, make, strict_results=strict_results)
    asynchronous = Executor(
        [tool(name="work", namespace={"declared": declared})(awork)], strict_results=strict_results
    )
    for one in (executor, asynchronous):
        result = one.run_sync(RawCall("c", "work", {}))
        assert (result.code, result.is_error) == ("execution_failed", True)
        assert result.content.startswith("work did its work, but its result can't be shown")


@pytest.mark.parametrize("strict_results", [False, True])
def test_what_fits_has_no_details_and_no_log(caplog, strict_results):
    executor = executor_of(dict[str, Colour], lambda: {"a": Colour.RED}, strict_results=strict_results)
    result = executor.run_sync(RawCall("c", "work", {}))
    assert (result.content, result.details, caplog.records) == ('{"a":"red"}', None, [])


# --- arguments that did not fit exactly ----------------------------------------------------------


@dataclass
class Point:
    x: int
    y: int = 0


@tool(repair=True)
def move(point: Point, label: str = "") -> int:
    return point.x


@tool
async def plain(point: Point, label: str = "") -> int:
    return point.x


@pytest.mark.parametrize("calls", [1, 250], ids=["interpreted", "compiled"])
def test_repairs_and_ignored_keys_reach_the_details_and_the_log(caplog, calls):
    executor = Executor([move, plain])
    exact = {"point": {"x": 1}, "label": "a"}
    for _ in range(calls):
        assert executor.run_sync(RawCall("c", "move", exact)).details is None
        assert executor.run_sync(RawCall("c", "plain", exact)).details is None
    with caplog.at_level(logging.DEBUG, "operator_schema"):
        moved = executor.run_sync(RawCall("c", "move", '{"point": {"x": "3", "z": 1}, "lable": "b"}'))
        ignored = executor.run_sync(RawCall("c", "plain", {"point": {"x": 3, "z": 1}, "lable": "b"}))
    assert (moved.content, ignored.content) == ("3", "3")
    assert [(repair.code, repair.path) for repair in moved.details["repairs"]] == [
        ("scalar", ("point", "x")),
    ]
    assert [key.path for key in moved.details["ignored"]] == [("point", "z"), ("lable",)]
    assert "repairs" not in ignored.details
    assert ignored.as_dict()["details"]["ignored"] == ["point.z", 'lable (did you mean "label"?)']
    first, second = caplog.records
    assert (first.levelno, second.levelno) == (logging.DEBUG, logging.DEBUG)
    assert 'repairs: point.x: "3" read as 3 (scalar); ignored: point.z' in first.getMessage()
    assert 'ignored: point.z, lable (did you mean "label"?)' in second.getMessage()


def test_a_class_that_stays_interpreted_is_reported_on_too():
    @dataclass
    class Checked:
        x: int

        def __post_init__(self):
            made.append(self.x)
            if self.x < 0:
                raise ValueError("negative")

    made = []

    @tool(namespace={"Checked": Checked})
    def check(items: list[Checked]) -> int:
        return len(items)

    @tool(namespace={"Checked": Checked}, flatten=True)
    def one(checked: Checked) -> int:
        return checked.x

    executor = Executor([check, one])
    for _ in range(250):
        executor.run_sync(RawCall("c", "check", {"items": [{"x": 1}]}))
        executor.run_sync(RawCall("c", "one", {"x": 2}))
    assert made == [1, 2] * 250  # an instance is made once for each call
    result = executor.run_sync(RawCall("c", "check", {"items": [{"x": 1, "y": 2}]}))
    assert [key.path for key in result.details["ignored"]] == [("items", 0, "y")]
    assert executor.run_sync(RawCall("c", "one", {"x": -1})).code == "invalid_params"
    assert executor.run_sync(RawCall("c", "one", {"x": 1, "z": 1})).details["ignored"][0].path == ("z",)


def test_the_log_does_not_mention_a_type_where_none_is_declared(caplog):
    @tool
    def now():
        return datetime(2026, 1, 1)  # noqa: DTZ001  # without an offset, which doesn't fit date-time

    result = Executor([now]).run_sync(RawCall("c", "now", {}))
    assert (result.content, len(result.details["mismatches"])) == ("2026-01-01T00:00:00", 1)
    assert "now (call c): the result has no exact JSON form; mismatches: " in caplog.text
