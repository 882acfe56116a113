"""Files, and tools inside of registries, as targets of the commands."""

from __future__ import annotations

import json
import os
import sys

import pytest
from cli_samples import process

DESK = """
from dataclasses import dataclass
from operator_schema import Executor, Registry, Toolset, tool
import beside

@dataclass
class Order:
    "An order."
    number: int

@tool
def vat(net: float) -> float:
    "Compute the value added tax."
    return net * beside.RATE

@tool(name="pay-out", enabled=False)
def pay(amount: float) -> str:
    "Pay it."
    return "paid"

registry = Registry(Toolset(vat, pay).prefix("desk_"))
executor = Executor(registry)

def make_tools(most: int = 3) -> Registry:
    return registry

def make_context() -> dict:
    return {}
"""


@pytest.fixture
def shop(tmp_path, monkeypatch, run):
    """Return how to run the command in a folder that has `desk/desk.py`, and packages with modules."""
    for name, text in {
        "desk/desk.py": DESK,
        "desk/beside.py": "RATE = 0.2\n",
        "desk/empty.py": "",
        "desk/two.words.py": "",
        "desk/json.py": "",
        "other/desk.py": "",
        "notes.txt": "",
        "pack/__init__.py": "from .part import look\n__all__ = ['look']\n",
        "pack/part/__init__.py": "from .inner import look\n",
        "pack/part/inner.py": "from operator_schema import tool\n\n\n@tool\ndef look(at: str) -> str:\n"
        '    "Look at it."\n    return at\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield run
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"desk", "beside", "empty", "pack"}:
            del sys.modules[name]


@pytest.mark.needs_threads
def test_every_command_takes_the_file_of_a_module(shop, tmp_path):
    before = list(sys.path)
    file = os.path.join("desk", "desk.py")  # noqa: PTH118  # as text
    assert [one["name"] for one in json.loads(shop("tools", "--json", file)[1])] == ["vat", "pay-out"]
    assert shop("call", f"{file}:vat", "net=10")[:2] == (0, "2.0\n")
    assert shop("call", "--context", f"{file}:make_context", f"{file}:vat", "net=10")[:2] == (0, "2.0\n")
    assert "value added tax" in shop("describe", str(tmp_path / file) + ":vat")[1]
    assert '"number"' in shop("schema", f"{file}:Order")[1]
    assert shop("check", file)[1].startswith(f"{file}:11: warning: vat.net: ")
    assert shop("snapshot", file, "-o", "desk.json")[2] == "desk.json: 2 tools\n"
    assert shop("diff", "desk.json", file) == (0, "nothing changed\n", "")
    (tmp_path / "calls.jsonl").write_text('{"name": "vat", "arguments": {"net": 1}}\n')
    assert shop("replay", "calls.jsonl", "--against", f"{file}:vat")[0] == 0
    assert sys.path == before


@pytest.mark.parametrize("path", ["registry.desk_vat", "executor.desk_vat", "make_tools.desk_vat"])
def test_every_command_takes_one_tool_of_a_registry(shop, path):
    target = f"desk/desk.py:{path}"
    assert [one["name"] for one in json.loads(shop("tools", "--json", target)[1])] == ["desk_vat"]
    assert shop("check", "-v", target)[1].splitlines()[0].startswith("checked desk_vat (tool, 1 parameter")
    assert shop("snapshot", target, "-o", "vat.json")[2] == "vat.json: 1 tool\n"
    assert '"net"' in shop("schema", target)[1]
    assert shop("describe", target)[0] == 0


def test_a_tool_is_found_by_its_own_name_too(shop):
    assert shop("tools", "desk/desk.py:pay-out")[1].splitlines()[1].startswith("pay-out ")
    # What is off in a registry stays off.
    rows = shop("tools", "desk/desk.py:registry.desk_pay-out")[1].splitlines()
    assert rows[1].split()[:3] == ["desk_pay-out", "sync,", "off"]
    assert "has no desk_vta; did you mean desk_vat?" in shop("tools", "desk/desk.py:registry.desk_vta")[2]


@pytest.mark.parametrize("file", ["pack/part/inner.py", "pack/part/__init__.py", "pack", "./pack/part"])
def test_a_file_of_a_package_is_imported_as_its_part(shop, monkeypatch, file):
    status, out, err = shop("tools", file)
    assert (status, out.splitlines()[1].split()[0]) == (0, "look"), err
    monkeypatch.chdir("pack")
    assert shop("tools", os.path.relpath(os.path.join("..", file)))[0] == 0  # noqa: PTH118  # as text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tools", "desk/dsk.py"], "there is no file desk/dsk.py; did you mean desk/desk.py?"),
        (["tools", "desk/desk"], "there is no file desk/desk; did you mean desk/desk.py?"),
        (["tools", "nowhere/desk.py"], "there is no file nowhere/desk.py"),
        (["tools", "./desk"], "./desk is a folder without __init__.py: give a file in it, such as tools.py"),
        (["tools", "."], ". is a folder without __init__.py: give a file in it, such as tools.py"),
        (["tools", "./notes.txt"], "./notes.txt isn't a Python file: its name doesn't end in .py"),
        (["tools", "desk/two.words.py"], "the name of a module can't have a dot, so rename it"),
        (["tools", "desk/empty.py"], "there are no tools in empty: decorate functions with @tool"),
        (["check", "desk/empty.py"], "there are no dataclasses or tools in empty: decorate functions with"),
        (["call", "desk/desk.py:vta", "net=1"], "the module desk has no vta; its tools are vat, pay-out"),
    ],
)
def test_a_file_that_cant_be_used_says_why(shop, words, said):
    status, out, err = shop(*words)
    assert (status, out) == (2, "")
    assert err.startswith("operator-schema: error: ")
    assert said in err


def test_two_files_of_one_name_are_not_taken_for_each_other(shop):
    status, out, err = shop("tools", "desk/desk.py", "other/desk.py")
    assert (status, out) == (2, "")
    assert "are both the module desk: give one at a time" in err
    status, out, err = shop("tools", "desk/json.py")
    assert (status, out) == (2, "")
    assert err.endswith(", so rename the file\n")
    assert "json.py can't be imported: json is already the module in " in err


@pytest.mark.needs_process
@pytest.mark.usefixtures("shop")
def test_a_configuration_has_the_whole_path_of_a_file(tmp_path):
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    status, out, err = process(["serve", "--print-config", "cursor", "desk/desk.py:registry"], tmp_path)
    assert status == 0, err
    config = json.loads(out)["mcpServers"]
    assert config["desk"]["args"][2:] == ["serve", f"{tmp_path / 'desk' / 'desk.py'}:registry"]
