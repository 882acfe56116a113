"""The airline example: real definitions, real calls, and the demo that shows them."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from operator_schema import Codec, DecodeError, decode_json, encode, json_schema

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "airline"
DATA = EXAMPLE / "data"
DEFINITIONS = {
    entry["function"]["name"]: entry["function"]
    for entry in json.loads((DATA / "tools.json").read_text(encoding="utf-8"))
}
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")


def read_calls():
    with (DATA / "calls.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


CALLS = read_calls()

UNDECLARED = {
    # The one call in which the model sent keys that the published definition does not have.
    339: ["flights[0].origin", "flights[0].destination", "flights[1].origin", "flights[1].destination"],
}


@dataclass
class Example:
    tools: Any
    demo: Any


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield Example(importlib.import_module("airline_tools"), importlib.import_module("demo"))
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in ("airline_tools", "demo"):
            sys.modules.pop(name, None)


def calls_of(name):
    return [call["arguments"] for call in CALLS if call["name"] == name]


def declared_part(text):
    arguments = json.loads(text)
    if text == CALLS[339 - 1]["arguments"]:
        for leg in arguments["flights"]:
            del leg["origin"], leg["destination"]
    return arguments


def run_demo(*arguments):
    # -S leaves site-packages out: the standard library and this package are all that is there.
    command = [sys.executable, "-S", "-W", "error", str(EXAMPLE / "demo.py"), *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=60,
    )


def table_line(shown, name):
    (line,) = re.findall(rf"^{name} +\d+ .*$", shown, re.MULTILINE)
    return line.split()


# --- the definitions ------------------------------------------------------------------------------


def test_there_are_14_tools_in_the_published_order(example):
    assert list(example.tools.TOOLS) == list(DEFINITIONS)
    assert len(example.tools.TOOLS) == 14


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_schema_equals_the_published_parameters(example, name):
    schema = json_schema(example.tools.TOOLS[name])
    published = DEFINITIONS[name]["parameters"]
    assert {"required": [], **schema} == {"required": [], **published}
    assert list(schema["properties"]) == list(published["properties"])


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_schema_is_valid_under_the_meta_schema(example, name):
    Draft202012Validator.check_schema(json_schema(example.tools.TOOLS[name]))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_docstring_is_the_published_description(example, name):
    docstring = example.tools.TOOLS[name].__doc__
    assert " ".join(docstring.split()) == DEFINITIONS[name]["description"]


# --- the calls ------------------------------------------------------------------------------------


def test_there_are_1164_calls_and_every_tool_was_called():
    assert len(CALLS) == 1164
    assert {call["name"] for call in CALLS} == set(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_call_decodes_and_what_is_declared_encodes_back(example, name):
    cls = example.tools.TOOLS[name]
    for text in calls_of(name):
        instance = decode_json(cls, text)
        assert type(instance) is cls
        assert encode(instance) == declared_part(text)
        assert decode_json(cls, json.dumps(encode(instance))) == instance


def test_every_call_but_one_encodes_back_whole(example):
    changed = [
        line
        for line, call in enumerate(CALLS, 1)
        if encode(decode_json(example.tools.TOOLS[call["name"]], call["arguments"]))
        != json.loads(call["arguments"])
    ]
    assert changed == list(UNDECLARED)


def test_that_one_has_keys_that_no_definition_declares(example):
    codecs = {name: Codec(cls, unknown_fields="reject") for name, cls in example.tools.TOOLS.items()}
    found = {}
    for line, call in enumerate(CALLS, 1):
        problems = codecs[call["name"]].problems(json.loads(call["arguments"]))
        assert {problem.code for problem in problems} <= {"unknown"}
        if problems:
            found[line] = [str(problem).split(":")[0] for problem in problems]
    assert found == UNDECLARED


@pytest.mark.parametrize("name", DEFINITIONS)
def test_jsonschema_accepts_every_call(example, name):
    validator = Draft202012Validator(json_schema(example.tools.TOOLS[name]))
    for text in calls_of(name):
        assert list(validator.iter_errors(json.loads(text))) == []


def test_what_is_nested_is_of_its_class_too(example):
    tools = example.tools
    for text in calls_of("book_reservation"):
        booking = decode_json(tools.BookReservation, text)
        assert {type(leg) for leg in booking.flights} == {tools.FlightLeg}
        assert {type(passenger) for passenger in booking.passengers} == {tools.Passenger}
        assert {type(payment) for payment in booking.payment_methods} <= {tools.Payment}
        assert {type(payment.amount) for payment in booking.payment_methods} <= {float}
        assert type(booking.total_baggages) is int


# --- the demo -------------------------------------------------------------------------------------


@pytest.mark.needs_process
def test_the_demo_runs_with_nothing_else_installed(example):
    done = run_demo()
    assert (done.returncode, done.stderr) == (0, "")
    counts = Counter(call["name"] for call in CALLS)
    for name in DEFINITIONS:
        assert table_line(done.stdout, name)[-2:] == [str(counts[name]), "0"]
    assert re.search(r"^1,164 calls read and decoded in \d+ ms, 0 failed$", done.stdout, re.MULTILINE)
    report = error_of_the_damaged_call(example)
    assert done.stdout.endswith(f"\n{report}\n")
    assert all(f"- {problem}\n" in done.stdout for problem in report.problems)


def test_the_damaged_call_has_the_four_problems_that_the_demo_announces(example):
    problems = error_of_the_damaged_call(example).problems
    assert [(problem.path, problem.code) for problem in problems] == [
        (("cabin",), "not_one_of"),
        (("passengers", 0, "dob"), "wrong_type"),
        (("total_baggages",), "wrong_type"),
        (("insurance",), "missing"),
    ]
    announced = [path for path, _ in example.demo.DAMAGES]
    assert [str(problem).split(":")[0] for problem in problems] == announced


def error_of_the_damaged_call(example):
    damaged = example.demo.damage(example.demo.first_booking())
    codec = Codec(example.tools.BookReservation, name="book_reservation")
    with pytest.raises(DecodeError) as caught:
        codec.decode(damaged)
    return caught.value


def test_the_demo_leaves_the_real_call_as_it_was(example):
    arguments = example.demo.first_booking()
    example.demo.damage(arguments)
    assert arguments == json.loads(calls_of("book_reservation")[0])


@pytest.mark.needs_process
def test_the_demo_fails_when_a_call_is_broken(tmp_path):
    lines = (DATA / "calls.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1].replace("destination", "destinaton")
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    done = run_demo(path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "1,163 calls read and decoded" in done.stdout
    assert "line 2: search_direct_flight: 1 problem with the arguments\n- destination: missing" in done.stdout
    assert table_line(done.stdout, "search_direct_flight")[-2:] == ["140", "1"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "1", "name": "think", "arguments": "{}"}', "- thought: missing (string, required)"),
        ('{"id": "1", "name": "think", "arguments": "{"}', "think: 1 problem with the arguments"),
        ('{"id": "1", "name": "teleport", "arguments": "{}"}', "the airline has no tool 'teleport'"),
        ('{"id": "1", "name": "think"}', "- arguments: missing (string, required)"),
        ("not JSON", "call: 1 problem with the arguments"),
    ],
)
def test_a_broken_line_is_reported_with_its_number(example, tmp_path, capsys, line, told):
    path = tmp_path / "calls.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert example.demo.main([str(path)]) == 1
    shown = capsys.readouterr().out
    assert "\nline 1: " in shown
    assert told in shown
    assert "0 calls read and decoded" in shown


def test_many_failures_are_counted(example, tmp_path, capsys):
    path = tmp_path / "calls.jsonl"
    path.write_text("{}\n" * 25, encoding="utf-8")
    assert example.demo.main([str(path)]) == 1
    assert "... and 15 more" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_a_usage_error(example, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        example.demo.main([str(tmp_path / "none.jsonl")])
    assert caught.value.code == 2
    assert "there is no file" in capsys.readouterr().err


# --- the README -----------------------------------------------------------------------------------

TABLE_ROW = re.compile(
    r"^\| \[`(?P<name>[^`]+)`\].* \| (?P<size>[\d,]+) \| `(?P<digest>[0-9a-f]{64})` \|$", re.MULTILINE
)


def test_the_data_are_what_the_readme_says():
    rows = {row["name"]: (row["size"], row["digest"]) for row in TABLE_ROW.finditer(README)}
    shipped = {path.name: path.read_bytes() for path in DATA.iterdir()}
    assert rows == {
        name: (f"{len(content):,}", hashlib.sha256(content).hexdigest()) for name, content in shipped.items()
    }
    assert (
        (DATA / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n\nCopyright (c) 2024 Sierra")
    )


def test_the_readme_shows_what_the_demo_prints(example):
    (shown,) = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert str(error_of_the_damaged_call(example)).startswith(shown)
