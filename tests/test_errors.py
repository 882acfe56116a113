"""Errors: data that travels, text that a golden file holds."""

from __future__ import annotations

import copy
import enum
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult

import pytest

from operator_schema import Codec, Complaint, DecodeError, EncodeError, Problem, SchemaError

GOLDEN = Path(__file__).parent / "golden"


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclass
class Place:
    latitude: float
    longitude: float


@dataclass
class Search:
    query: str
    near: Place
    link: SplitResult
    unit: Unit = Unit.METRIC
    mode: Literal["fast", "exact", 3] = "fast"
    max_results: int | None = None
    tags: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    more: Any = None

    def __post_init__(self):
        if self.query == "":
            raise ValueError("query is empty")


GOOD: dict[str, Any] = {
    "query": "coffee",
    "near": {"latitude": 1.5, "longitude": 2},
    "link": "https://example.com/",
}
CASES = {
    "no_arguments": {},
    "not_an_object": ["coffee"],
    "null": None,
    "one_wrong_type": {**GOOD, "query": 42},
    "object_as_text": {**GOOD, "near": '{"latitude": 1.5, "longitude": 2}'},
    "nested_missing": {**GOOD, "near": {"latitude": 1.5}},
    "number_as_text": {**GOOD, "max_results": "5"},
    "fraction_for_integer": {**GOOD, "max_results": 5.5},
    "boolean_for_integer": {**GOOD, "max_results": True},
    "misspelt_choice": {**GOOD, "unit": "Metrics"},
    "choice_of_another_type": {**GOOD, "mode": 4},
    "choice_as_text": {**GOOD, "mode": "3"},
    "text_for_array": {**GOOD, "tags": "a, b"},
    "array_item": {**GOOD, "tags": ["a", 5, None]},
    "map_value": {**GOOD, "headers": {"x-trace": 5}},
    "bad_link": {**GOOD, "link": "example.com"},
    "rejected": {**GOOD, "query": ""},
    "hostile_text": {**GOOD, "unit": "x\n- query: fine\n\x1b[2J" + "y" * 10_000},
    "hostile_key": {**GOOD, "headers": {"a\n- query: fine" + "y" * 10_000: 5}},
    "many_problems": {**GOOD, "tags": list(range(1000))},
    "all_at_once": {"near": {"latitude": "north"}, "unit": 5, "mode": "slow", "tags": {}, "link": 1},
    "infinite": {**GOOD, "near": {"latitude": float("inf"), "longitude": 10**400}},
}
REJECTED = {
    "unknown_key": {**GOOD, "maxResults": 5},
    "unknown_nested": {**GOOD, "near": {**GOOD["near"], "altitude": 3}},
}
TEXTS = {
    "broken_text": '{"query": "coffee", "near": {"latitude": 1.5,',
    "repeated_key": '{"query": "a", "query": "b"}',
    "not_a_number": '{"query": "coffee", "near": NaN}',
    "single_quotes": "{'query': 'coffee'}",
}


def reports() -> str:
    codec, strict = Codec(Search, name="search"), Codec(Search, name="search", unknown_fields="reject")
    parts = []
    for decode, cases in ((codec.decode, CASES), (strict.decode, REJECTED), (codec.decode_json, TEXTS)):
        for name, value in cases.items():
            with pytest.raises(DecodeError) as caught:
                decode(value)
            parts.append(f"## {name}\n{caught.value}\n")
    return "\n".join(parts)


def test_decode_errors_read_as_the_golden_file_says(request):
    compare(request, GOLDEN / "decode_errors.txt", reports())


@dataclass
class Inner:
    value: complex


@dataclass
class Wrong:
    inner: Inner
    items: list[set[int]]
    gone: Undefined  # noqa: F821  # on purpose
    count: int = "many"  # type: ignore[assignment]  # on purpose
    first: str = field(default="", metadata={"alias": "key"})
    second: str = field(default="", metadata={"alias": "key"})

    param_descriptions = {"cuont": "How many", "items": 5}


def test_schema_errors_read_as_the_golden_file_says(request):
    parts = []
    for annotation in (Wrong, complex, list[Wrong], "Search"):
        with pytest.raises(SchemaError) as caught:
            Codec(annotation)
        parts.append(str(caught.value) + "\n")
    compare(request, GOLDEN / "schema_errors.txt", "\n".join(parts))


def compare(request, path, text):
    if request.config.getoption("--write-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


PROBLEM = Problem(("a", 0), "wrong_type", "expected string, got integer 5", "string", "integer 5", None)


@pytest.mark.parametrize(
    "error",
    [
        DecodeError("tool", [PROBLEM], "tool expects: a (string)", 3),
        EncodeError("tool", [PROBLEM]),
        SchemaError("Tool", [Complaint(("a",), "unsupported", "Tool", "no", "Do that")]),
    ],
)
def test_errors_travel(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_a_problem_is_a_value():
    again = pickle.loads(pickle.dumps(PROBLEM))
    assert again == PROBLEM
    assert hash(again) == hash(PROBLEM)
    assert again != PROBLEM.replace(path=())
    assert PROBLEM != "other"
    assert "wrong_type" in repr(PROBLEM)
    assert str(PROBLEM) == "a[0]: expected string, got integer 5"
    with pytest.raises(AttributeError, match="immutable"):
        PROBLEM.code = "missing"
    with pytest.raises(AttributeError, match="immutable"):
        del PROBLEM.code


def test_a_report_is_bounded():
    long = Problem(("k" * 1000,) * 50, "wrong_type", "m" * 10_000, suggestion='"s"')
    text = str(DecodeError("t", [long] * 100, "e" * 10_000, 10**6))
    assert len(text) <= 2000
    assert "… and 1000" in text
    assert len(str(DecodeError("t" * 10_000, [long]))) <= 2000


def test_one_problem_and_no_path():
    assert str(EncodeError("T", [Problem((), "wrong_type", "no")])) == "T: 1 problem with the value\n- no"
