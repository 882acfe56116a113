"""The command stubs."""

from __future__ import annotations

import json
import sys

import pytest

from operator_schema.code_mode import stubs

INVENTORY = """
from operator_schema import tool

@tool
def count_items(shelf: str) -> int:
    "Count what is on a shelf."
    return 3

tools = [count_items]
"""


@pytest.fixture(autouse=True)
def inventory(tmp_path, monkeypatch, here):  # noqa: ARG001  # first the folder of the other modules
    (tmp_path / "inventory.py").write_text(INVENTORY)
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("inventory", None)


def test_stubs_prints_the_declarations_of_a_module(run):
    status, out, err = run("stubs", "inventory.py")
    import inventory

    assert (status, err) == (0, "")
    assert out == stubs(inventory.tools)
    assert "def count_items(shelf: str)->int:" in out


def test_stubs_of_a_file_in_typescript(run, tmp_path):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "weather", "description": "Get the weather.", "inputSchema": schema}]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": tools}))
    status, out, _ = run("stubs", "--language", "typescript", str(file))
    assert status == 0
    assert "weather(arg:{city:string}):P\n" in out


def test_stubs_of_an_unreadable_definition_leave_it_out(run, tmp_path):
    good = {"name": "good", "description": "x", "inputSchema": {"type": "object"}}
    bad = {"name": "bad", "description": "x", "inputSchema": {"type": "array"}}
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": [good, bad]}))
    status, out, err = run("stubs", str(file))
    assert status == 1
    assert "def good()" in out
    assert "bad" in err
    assert "def bad" not in out


def test_stubs_of_nothing_are_wrong_use(run, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text('{"tools": []}')
    status, _, err = run("stubs", str(file))
    assert status == 2
    assert "there are no tools" in err


def test_each_unreadable_definition_is_named_once_behind_the_file(run, tmp_path):
    listed = [{"name": "n", "inputSchema": {"type": "array"}}, {"inputSchema": {"type": "object"}}]
    good = {"name": "good", "description": "x", "inputSchema": {"type": "object"}}
    (tmp_path / "bad.json").write_text(json.dumps({"tools": [good, *listed]}))
    assert run("stubs", "bad.json")[2].splitlines() == [
        (
            'bad.json: n: its JSON Schema can\'t be used: "type" is string "array", and arguments are an'
            " object. Fix it where it is written."
        ),
        "bad.json: tool 3 has no name. Correct the definition.",
    ]
