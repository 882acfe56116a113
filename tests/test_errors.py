"""Errors: data that travels, text that a golden file holds."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import get_args

import pytest
from error_cases import GROUPS

from operator_schema import Codec, DecodeError, EncodeError, Finding, SchemaError
from operator_schema.findings import ValueCode, about_type

GOLDEN = Path(__file__).parent / "golden"
CASES = [case for group in GROUPS.values() for case in group.values()]


def error_of(case):
    decode = case.codec.decode_json if case.is_text else case.codec.decode
    with pytest.raises(DecodeError) as caught:
        decode(case.value)
    return caught.value


@pytest.mark.parametrize("group", GROUPS)
def test_decode_errors_read_as_the_golden_files_say(request, group):
    reports = [f"## {name}\n{error_of(case)}\n" for name, case in GROUPS[group].items()]
    compare(request, GOLDEN / "errors" / f"{group}.txt", "\n".join(reports))


def test_every_code_has_its_case():
    codes = {problem.code for case in CASES for problem in error_of(case).findings}
    assert codes == set(get_args(ValueCode))


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
        # Wherever the tests are, and whatever is changed above the class.
        parts.append(re.sub(r"[^ ]*(test_errors\.py):[0-9]+", r"\1:40", str(caught.value)) + "\n")
    compare(request, GOLDEN / "schema_errors.txt", "\n".join(parts))


def compare(request, path, text):
    if request.config.getoption("--write-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


PROBLEM = Finding(("a", 0), "wrong_type", "expected string, got integer 5", "string", "integer 5", None)


@pytest.mark.parametrize(
    "error",
    [
        DecodeError("tool", [PROBLEM], "tool expects: a (string)", 3),
        EncodeError("tool", [PROBLEM]),
        SchemaError("Tool", [about_type(("a",), "unsupported", "Tool", "no", "Do that")]),
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
    long = Finding(("k" * 1000,) * 50, "wrong_type", "m" * 10_000, suggestion='"s"')
    text = str(DecodeError("t", [long] * 100, "e" * 10_000, 10**6))
    assert len(text) <= 2000
    assert "… and 1000" in text
    assert len(str(DecodeError("t" * 10_000, [long]))) <= 2000


def test_one_problem_and_no_path():
    assert str(EncodeError("T", [Finding((), "wrong_type", "no")])) == "T: 1 problem with the value\n- no"


@pytest.mark.parametrize("number", [1, 2, 100, 102, 300])
def test_a_schema_error_is_json_for_logs(number):
    fields = {f"é{index}": (complex, "a\x1b\n" * index)[index % 2] for index in range(number)}
    cls = make_dataclass("Many\n", list(fields.items()))
    with pytest.raises(SchemaError) as caught:
        Codec(cls)
    error = caught.value
    content = error.as_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["findings"] == [finding.as_dict() for finding in error.findings[:50]]
    assert content["omitted"] == len(error.findings) - len(content["findings"])
    assert [content[key] for key in ("error", "name", "about")] == ["SchemaError", "Many\\u000a", "type"]
    assert pickle.loads(pickle.dumps(error)).as_dict() == content
