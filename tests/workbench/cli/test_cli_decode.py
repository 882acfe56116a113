"""The command decode, with one value."""

from __future__ import annotations

import pytest


def test_decode_reads_one_value_over_several_lines(run, tmp_path):
    file = tmp_path / "value.json"
    file.write_text('\n{\n  "query": "é",\n  "unknown": 1\n}\n', encoding="utf-8")
    assert run("decode", "clitools:Search", str(file)) == (0, '{"query":"é","mode":"fast"}\n', "")


@pytest.mark.parametrize("argv", [("clitools:Strict",), ("clitools:Strict", "-")])
def test_decode_reads_standard_input(run, stdin, argv):
    stdin(b'{"x": 3.0}')
    assert run("decode", *argv) == (0, '{"x":3}\n', "")


def test_decode_names_the_file_of_a_problem(run, stdin):
    stdin(b'{"mode": "fsat"}')
    status, out, err = run("decode", "clitools:Search")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "<stdin>: Search: 2 problems with the arguments",
        "  - query: missing (string, required)",
        '  - mode: "fsat" is not one of "fast", "deep"; did you mean "fast"?',
        '  Search expects: query (string, required), mode ("fast" | "deep")',
    ]


def test_decode_calls_an_alias_by_its_name(run, stdin):
    stdin(b"5")
    _, _, err = run("decode", "clitools:Searches")
    assert err.startswith("<stdin>: Searches: 1 problem")


def test_decode_quiet_prints_no_value(run, stdin):
    stdin(b'{"x": 1}')
    assert run("decode", "--quiet", "clitools:Strict") == (0, "", "")


def test_decode_can_reject_unknown_fields(run, stdin):
    stdin(b'{"x": 1, "z": 2}')
    status, _, err = run("decode", "--unknown-fields", "reject", "clitools:Strict")
    assert status == 1
    assert "- z: unknown" in err


def test_decode_without_lines_knows_json_lines_when_it_sees_them(run, stdin):
    stdin(b'{"x": 1}\n{"x": 2}\n')
    status, _, err = run("decode", "clitools:Strict")
    assert status == 1
    assert "line 2 column 1" in err
    assert err.endswith("\nfor one value a line give --lines\n")


@pytest.mark.parametrize("data", [b"", b"{", b'{"x":\n"\xff"}', '{"x": 1}'.encode("utf-16")])
def test_decode_reports_what_is_no_json(run, stdin, data):
    stdin(data)
    status, out, err = run("decode", "clitools:Strict")
    assert (status, out) == (1, "")
    assert "not valid JSON" in err
    assert "--lines" not in err


def test_a_users_own_check_is_a_problem(run, stdin):
    stdin(b'{"x": -1}')
    status, _, err = run("decode", "clitools:Strict")
    assert status == 1
    assert "negative" in err


def test_a_bug_in_a_users_class_is_not_hidden_and_says_where(run, stdin):
    stdin(b'{"x": 1}\n{"x": 13}\n')
    with pytest.raises(KeyError, match="a bug") as caught:
        run("decode", "--lines", "clitools:Strict")
    assert caught.value.__notes__ == ["while decoding <stdin>:2"]


def test_a_value_that_cannot_be_encoded_again_fails_unless_quiet(run, stdin):
    stdin(b'{"x": 1}')
    status, out, err = run("decode", "clitools:Changes")
    assert (status, out) == (1, "")
    assert "- x: " in err
    stdin(b'{"x": 1}')
    assert run("decode", "--quiet", "clitools:Changes") == (0, "", "")
