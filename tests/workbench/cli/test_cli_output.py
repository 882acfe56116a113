"""What the command writes."""

from __future__ import annotations

import io
import json
import os
import re
import sys

import pytest
from cli_samples import process

from operator_schema.workbench.cli.output import Printer, to_json


def test_json_escapes_what_a_terminal_could_obey():
    value = {"a": "\x7f\x9b\u2028\U000e0001é", "b": [1.5, None]}
    for indent in (None, 2):
        text = to_json(value, indent)
        assert json.loads(text) == value
        assert all(line.isprintable() for line in text.split("\n"))
        assert "é" in text
    assert to_json(value, ascii_only=True).isascii()


def test_a_stream_without_encoding_takes_everything():
    stream = io.StringIO()
    output = Printer(stream)
    output.line("é")
    output.report("", "one\ntwo\x1b")
    assert stream.getvalue() == "é\none\ntwo\\u001b\n"


def test_a_narrow_stream_takes_every_line():
    raw = io.BytesIO()
    output = Printer(io.TextIOWrapper(raw, encoding="ascii"))
    output.line("é…")
    output.flush()
    assert raw.getvalue() == b"\\xe9\\u2026" + os.linesep.encode()


@pytest.mark.needs_process
def test_the_package_and_its_command_line_do_not_import_rich(folder):
    code = (
        "import sys, operator_schema.workbench.cli\n"
        "print(*[n for n in sys.modules if n.partition('.')[0] == 'rich'])"
    )
    assert process(["-c", code], folder, program=(sys.executable,)) == (0, "\n", "")


COMMANDS = (
    *("::warning::x", "  ::set-env name=a::b", "::set-output name=a::b"),
    *("##[error]x", "##vso[task.x]y", "a: ##vso[task.x]y", "###[x]", "x ##teamcity[message text='x']"),
)


def is_command(line):
    return re.match(r"\s*::", line) or re.search(r"##(\[|vso\[|teamcity\[)", line)


@pytest.mark.slow("starts processes")
@pytest.mark.needs_process
@pytest.mark.parametrize("variable", ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"])
def test_no_text_of_a_tool_is_a_command_of_a_ci(folder, variable):
    call = ["call", "host:count_named", json.dumps({"table": "\n".join(["a", *COMMANDS, ":: b"])})]
    assert process(call, folder)[1] == "".join([f"{line}\n" for line in ("a", *COMMANDS, ":: b")])
    status, shown, _ = process(call, folder, **{variable: "true"})[:3]
    assert status == 0
    assert [line for line in shown.splitlines() if is_command(line)] == []
    assert shown.count("\\u003a:") == 4
    assert shown.count("\\u0023#") == 5


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_is_written_is_a_command_of_a_ci(monkeypatch, command, coloured):
    monkeypatch.setenv("TF_BUILD", "True")
    monkeypatch.delenv("NO_COLOR", raising=False)
    (monkeypatch.setenv if coloured else monkeypatch.delenv)("FORCE_COLOR", *["1"] if coloured else [False])
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    output = Printer(stream)
    half = len(command) // 2
    output.line(command, "red")
    output.styled((command[:half], "bold"), (command[half:], "red"))
    output.report("", f"wrong\n{command}")
    output.json({"a": command, command: [command]}, 2)
    output.json([command])
    stream.flush()
    written = re.sub(r"\x1b\[[\d;]*m", "", stream.buffer.getvalue().decode())
    assert [line for line in written.splitlines() if is_command(line)] == []
    *_, last = written.splitlines()
    assert json.loads(last) == [command]


def styles(monkeypatch, write, **variables):
    """Return what is written where colours are forced, with the codes of the styles by their names."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    write(Printer(stream))
    stream.flush()
    names = {"0": "", "1": "bold", "2": "dim", "31": "red"}
    return re.sub(r"\x1b\[(\d+)m", lambda code: f"<{names[code[1]]}>", stream.buffer.getvalue().decode())


def test_an_error_is_red_its_place_bold_and_its_explanations_dim(monkeypatch):
    written = styles(monkeypatch, lambda out: out.report("a.py:3: ", "wrong\n- first\n  a hint\n[b]x[/b]"))
    assert written.split("\n") == [
        "<bold>a.py:3: <><red>wrong<>",
        "  - first",
        "<dim>    a hint<>",
        "<dim>  [b]x[/b]<>",
        "",
    ]
    without = styles(monkeypatch, lambda out: out.report("", "wrong\n- first"))
    assert without == "<red>wrong<>\n- first\n"


def test_the_first_column_is_bold_and_the_titles_dim(monkeypatch):
    rows = [["a", "1", "x"], ["long", "22", ""]]
    written = styles(monkeypatch, lambda out: out.table(["name", "n", "note"], rows, frozenset({"n"})))
    assert written.split("\n") == [
        "<bold>name  <><dim> n  note<>",
        "<bold>a     <> 1  x",
        "<bold>long  <>22",
        "",
    ]


@pytest.mark.parametrize(
    ("variables", "is_coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"FORCE_COLOR": ""}, False),
    ],
)
def test_colours_are_forced_or_forbidden_by_variables(monkeypatch, variables, is_coloured):
    written = styles(monkeypatch, lambda out: out.line("x", "red"), **variables)
    assert written == ("<red>x<>\n" if is_coloured else "x\n")


@pytest.mark.parametrize(
    ("variables", "is_coloured"),
    [
        ({}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "a"}, True),
        ({"TERM": ""}, True),
        ({"NO_COLOR": "1"}, False),
    ],
)
def test_a_terminal_gets_colours_unless_it_is_dumb(monkeypatch, variables, is_coloured):
    monkeypatch.setattr(Printer, "is_terminal", True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    written = styles(monkeypatch, lambda out: out.console, **{"FORCE_COLOR": "", **variables})
    assert written == ""
    assert (Printer(sys.__stdout__).console is not None) is is_coloured


def test_a_narrow_stream_gets_no_colours(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    for encoding, has in (("ascii", False), ("latin-1", False), ("utf-16", True), ("utf-8", True)):
        assert (Printer(io.TextIOWrapper(io.BytesIO(), encoding=encoding)).console is not None) is has


@pytest.mark.parametrize("indent", [None, 2])
def test_json_in_colours_is_the_same_text(monkeypatch, indent):
    value = {"a": "[b]:smile:[/b]", "b": [1.5, None, True]}
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    Printer(stream).json(value, indent)
    stream.flush()
    written = stream.buffer.getvalue().decode()
    assert "\x1b[" in written
    assert re.sub(r"\x1b\[[\d;]*m", "", written) == to_json(value, indent) + "\n"
