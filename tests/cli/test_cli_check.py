"""The command check."""

from __future__ import annotations

import json
import re
import sys

import pytest


def test_check_registers_every_dataclass_that_the_module_defines(run):
    status, out, err = run("check", "clitools")
    assert (status, err) == (0, "")
    names = [
        "Search",
        "Search.Option",
        "Plain.Inside",
        "_Private",
        "warning:",
        "Strict",
        "Changes",
        "Later",
    ]
    *lines, summary = out.splitlines()
    assert [line.split()[line[:2] != "  "] for line in lines] == names
    assert summary == "7 checked: 7 ok, 0 with complaints, 1 warning"


def test_check_counts_the_bytes_of_the_compact_schema(run):
    _, schema, _ = run("schema", "--compact", "clitools:Search")
    _, out, _ = run("check", "clitools")
    assert out.splitlines()[0] == f"ok  Search  (2 fields, {len(schema.encode()) - 1} bytes)"


def test_check_prints_all_complaints(run):
    status, out, err = run("check", "faulty")
    assert (status, err) == (1, "")
    assert re.sub(r"(- [xy] \(in Faulty\): \w+).*", r"\1", out).splitlines()[1:] == [
        "bad Faulty  (2 complaints)",
        "    - x (in Faulty): complex",
        "    - y (in Faulty): the",
        "2 checked: 1 ok, 1 with complaints",
    ]


@pytest.mark.parametrize(
    ("target", "what"),
    [("empty", "dataclasses or tools"), ("empty_registry:no_tools", "tools")],
)
@pytest.mark.parametrize("command", ["check", "lint"])
def test_where_nothing_can_be_checked_nothing_is_green(run, command, target, what):
    status, out, err = run(command, target)
    assert (status, out) == (2, "")
    assert f"there are no {what if command == 'check' else 'tools'} in {target}" in err


@pytest.mark.parametrize("command", ["check", "lint", "tools"])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("host:nonsense", "the module host has no nonsense"),
        ("host:regstry", "did you mean registry?"),
        ("clitools:Search", "Search is a type, not an Executor, a Registry or a Toolset"),
    ],
)
def test_a_registry_that_is_not_there_is_an_error(run, command, target, message):
    status, out, err = run(command, target)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("target", ["host:registry", "host:toolset"])
def test_check_takes_what_the_list_of_tools_takes(run, target):
    _, listed, _ = run("tools", target)
    status, out, _ = run("check", target)
    assert status == 0
    names = [line.split()[0] for line in listed.splitlines()[1:-1]]
    assert [line.split()[1] for line in out.splitlines() if line.startswith("ok")] == names


def test_check_takes_several_modules(run):
    status, out, _ = run("check", "shared", "faulty")
    assert status == 1
    lines = out.splitlines()
    assert lines[0] == "shared:"
    assert lines[1].startswith("ok  Imported  (1 field, ")
    assert lines[2] == "faulty:"
    assert lines[-1] == "3 checked: 2 ok, 1 with complaints"


def test_check_checks_nothing_when_a_module_is_not_found(run):
    status, out, err = run("check", "shared", "nowhere_at_all")
    assert (status, out) == (2, "")
    assert err == "operator-schema: error: no module nowhere_at_all in this folder or on the path\n"


def test_check_reports_a_bad_tool_with_the_users_file_and_line(run):
    status, out, err = run("check", "bad_tool")
    assert (status, err) == (1, "")
    head, *complaints, ended, summary = out.splitlines()
    assert ended == "    the import ended here, so the rest of the module wasn't checked"
    assert head == "bad search  (2 complaints) bad_tool.py, line 6"
    assert complaints[0].startswith("    - query (in search): it has no annotation")
    assert complaints[1].startswith("    - wait (in search): complex")
    assert summary == "1 checked: 0 ok, 1 with complaints"


def test_other_commands_report_a_bad_tool_readably(run):
    status, out, err = run("tools", "bad_tool")
    assert (status, out) == (1, "")
    assert err.splitlines()[0].startswith("search: 2 complaints about the ")
    assert err.splitlines()[-1] == "(bad_tool.py, line 6)"


def test_check_goes_into_the_modules_of_a_package(run):
    status, out, _ = run("check", "clipkg2")
    assert status == 1
    heads = [line for line in out.splitlines() if not line.startswith(" ")]
    assert heads[0] == "clipkg2 defines no dataclasses or tools"
    assert heads[1] == "clipkg2.bad:"
    assert heads[2].startswith("bad search  (2 complaints) clipkg2")
    assert heads[3] == "clipkg2.sub defines no dataclasses or tools"
    assert heads[4] == "clipkg2.sub.good:"
    assert heads[5].startswith("ok  Good")


def test_check_warns_about_what_tells_a_model_too_little(run):
    status, out, _ = run("check", "weak")
    assert status == 0
    assert [line.strip() for line in out.splitlines() if "warning: " in line] == [
        "warning: it has no docstring, so a model knows only its name",
        "warning: no description: level, note",
        "warning: level: Level shows a model numbers; give its members text",
        "warning: note: Any says nothing about the value",
    ]
    assert run("check", "--strict", "weak")[0] == 1
    assert run("check", "--strict", "shared")[0] == 0


def test_check_prints_json_for_other_programs(run):
    status, out, _ = run("check", "--json", "bad_tool", "shared")
    assert status == 1
    found = json.loads(out)
    assert found["bad_tool"][0]["place"] == "bad_tool.py, line 6"
    assert len(found["bad_tool"][0]["complaints"]) == 2
    assert found["shared"][0]["name"] == "Imported"
    assert found["shared"][0]["complaints"] == []


@pytest.mark.parametrize("order", [("Asked", "Told"), ("Told", "Asked")])
def test_a_class_that_is_the_input_of_a_tool_is_judged_with_its_tool(run, tmp_path, monkeypatch, order):
    classes = [f'@dataclass\nclass {name}:\n    """Say."""\n\n    a: int\n\n\n' for name in order]
    (tmp_path / "inputs_of_tools.py").write_text(
        "from dataclasses import dataclass\n\nfrom operator_schema import tool_input\n\n\n"
        f'{"".join(classes)}ask = tool_input(Asked, name="ask")\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    status, out, _ = run("check", "inputs_of_tools")
    sys.modules.pop("inputs_of_tools")
    assert status == 0
    assert {"ask", "Asked", "Told"} & {*out.split()} == {"ask", "Told"}
