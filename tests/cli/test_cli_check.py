"""The command check."""

from __future__ import annotations

import re


def test_check_registers_every_dataclass_that_the_module_defines(run):
    status, out, err = run("check", "clitools")
    assert (status, err) == (0, "")
    names = ["Search", "Search.Option", "Plain.Inside", "_Private", "Strict", "Changes", "Later"]
    *lines, summary = out.splitlines()
    assert [line.split()[1] for line in lines] == names
    assert summary == "7 types: 7 ok, 0 with complaints"


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
        "2 types: 1 ok, 1 with complaints",
    ]


def test_check_says_that_there_is_nothing_to_check(run):
    assert run("check", "empty") == (0, "empty defines no dataclasses\n", "")


def test_check_takes_several_modules(run):
    status, out, _ = run("check", "shared", "empty", "faulty")
    assert status == 1
    lines = out.splitlines()
    assert lines[0] == "shared:"
    assert lines[1].startswith("ok  Imported  (1 field, ")
    assert lines[2:4] == ["empty defines no dataclasses", "faulty:"]
    assert lines[-1] == "3 types: 2 ok, 1 with complaints"


def test_check_checks_nothing_when_a_module_is_not_found(run):
    status, out, err = run("check", "shared", "nowhere_at_all")
    assert (status, out) == (2, "")
    assert err == "operator-schema: error: no module nowhere_at_all\n"
