"""The commands snapshot and diff."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import stat
import subprocess
import sys
from threading import Thread

import pytest
import warm_processes
from patience import LONGEST_WAIT
from sarif_logs import places_in, read_log

from operator_schema.workbench.cli.compare_commands import _compared
from operator_schema.workbench.cli.output import _CI, Printer
from operator_schema.workbench.compare import read_snapshot
from operator_schema.workbench.compare.codes import CODES

TOOLS = '''
from operator_schema import tool

@tool(confirm=True)
def refund(order: int, amount: float) -> str:
    """Pay back."""
    return "ok"
'''
CHANGED = TOOLS.replace("amount: float", "amount: float, reason: str").replace("(confirm=True)", "")


@pytest.fixture
def desk(tmp_path, monkeypatch, run):
    """Return how to run the command in a folder with a module of its own, imported anew each time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "compare_desk.py").write_text(TOOLS)

    def command(*words):
        for name in ("compare_desk", "compare_new", "compare_bare"):
            sys.modules.pop(name, None)
        return run(*words)

    yield command
    for name in ("compare_desk", "compare_new", "compare_bare"):
        sys.modules.pop(name, None)


def change(tmp_path):
    # Another size, so that no cached module counts for it.
    (tmp_path / "compare_desk.py").write_text(CHANGED)


def test_a_snapshot_is_written_and_compared(desk, tmp_path):
    assert desk("snapshot", "compare_desk", "-o", "desk.json") == (0, "", "desk.json: 1 tool\n")
    text = (tmp_path / "desk.json").read_text()
    assert desk("snapshot", "compare_desk") == (0, text, "")
    assert desk("diff", "--check", "desk.json", "compare_desk") == (0, "nothing changed\n", "")
    change(tmp_path)
    status, out, _ = desk("diff", "desk.json", "compare_desk")
    assert status == 1
    assert out.splitlines() == [
        "breaking: a call that worked is refused now, or a result is possible that wasn't allowed before",
        "  refund: reason: required: not there → required",
        '    call: {"order":0,"amount":0}',
        "meaning: every call still works, but its effect, or what the tool says about it, may differ",
        "  refund: confirm: true → not stated",
        "1 breaking, 1 meaning",
    ]


def test_the_status_follows_the_level(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    (tmp_path / "compare_desk.py").write_text(TOOLS.replace("Pay back.", "Pay money back."))
    statuses = {
        level: desk("diff", "--fail-on", level, "desk.json", "compare_desk")[0]
        for level in ("breaking", "meaning", "text", "never")
    }
    assert statuses == {"breaking": 0, "meaning": 0, "text": 1, "never": 0}
    status, _, err = desk("diff", "--check", "desk.json", "compare_desk")
    assert (status, err) == (
        1,
        "desk.json isn't up to date: operator-schema snapshot compare_desk -o desk.json\n",
    )


def test_the_forms(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    change(tmp_path)
    listed = json.loads(desk("diff", "--format", "json", "desk.json", "compare_desk")[1])
    assert listed[0]["witness"] == {"order": 0, "amount": 0}
    assert json.loads(desk("diff", "--json", "desk.json", "compare_desk")[1]) == listed
    assert desk("diff", "--format", "github", "desk.json", "compare_desk")[1].splitlines() == [
        (
            "::error file=compare_desk.py,line=4,title=refund%3A breaking::"
            'refund: reason: required: not there → required · {"order":0,"amount":0}'
        ),
        "::warning file=compare_desk.py,line=4,title=refund%3A meaning::refund: confirm: true → not stated",
    ]
    log = read_log(desk("diff", "--format", "sarif", "desk.json", "compare_desk")[1])
    assert [(each.rule_id, each.level, *places_in(each)) for each in log.runs[0].results] == [
        ("required", "error", "compare_desk.py", 4, ["refund"]),
        ("confirm", "warning", "compare_desk.py", 4, ["refund"]),
    ]
    page = desk("diff", "--format", "html", "desk.json", "compare_desk")[1]
    assert page.startswith("<!doctype html>")
    assert "desk.json → compare_desk" in page


def test_equal_changes_of_many_tools_are_one_note(desk, tmp_path):
    more = "".join(TOOLS.replace("def refund", f"def refund_{i}").split("tool\n", 1)[1] for i in range(30))
    (tmp_path / "compare_desk.py").write_text(TOOLS + more)
    desk("snapshot", "compare_desk", "-o", "old.json")
    (tmp_path / "compare_desk.py").write_text((TOOLS + more).replace("Pay back", "Return money"))
    desk("snapshot", "compare_desk", "-o", "new.json")
    assert len(desk("diff", "--format", "github", "old.json", "new.json")[1].splitlines()) == 1
    notes = desk("diff", "--format", "github", "old.json", "compare_desk")[1]
    assert notes.startswith(
        "::notice file=compare_desk.py,line=4,title=refund, refund_0, ".replace(", ", "%2C ")
    )
    assert desk("diff", "--format", "html", "old.json", "new.json")[1].count("<tr>") == 2


@pytest.mark.needs_process
def test_two_checkouts_of_one_module_are_compared(desk, tmp_path):
    text = "from compare_bare import Amount\n" + TOOLS.replace("float", "Amount")
    for folder, amount in (("old", "float"), ("new", "int")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "compare_new.py").write_text(text)
        (tmp_path / folder / "compare_bare.py").write_text(f"Amount = {amount}\n")
    status, out, err = desk("diff", "old/compare_new.py", "new/compare_new.py:refund")
    assert (status, out.splitlines()[-1], err) == (1, "1 breaking", "")
    (tmp_path / "old" / "compare_bare.py").write_text("1 / 0\n")
    status, _, err = desk("diff", "old/compare_new.py", "new/compare_new.py")
    assert status == 2
    assert "ZeroDivisionError" in err


def test_a_link_stays_and_modes_are_kept(desk, tmp_path):
    (tmp_path / "desk.json").write_text("")
    (tmp_path / "desk.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to("desk.json")
    assert desk("snapshot", "compare_desk", "-o", "link.json")[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "desk.json").read_text().startswith("{")
    assert (tmp_path / "desk.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes with a name")
@pytest.mark.needs_threads
def test_a_pipe_stays_one(desk, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    assert desk("snapshot", "compare_desk", "-o", "pipe")[0] == 0
    reader.join(LONGEST_WAIT)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert read[0].startswith("{")


def test_a_misspelt_entry_is_told(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    change(tmp_path)
    (tmp_path / "accepted.toml").write_text(
        '[[accept]]\ntool = "refnd"\nreason = "known"\nuntil = 2999-01-01\n'
    )
    assert (
        "did you mean the tool refund?"
        in desk("diff", "--accepted", "accepted.toml", "desk.json", "compare_desk")[2]
    )


def test_a_misspelt_code_is_told_and_the_help_lists_them_all(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    change(tmp_path)
    entry = '[[accept]]\ntool = "refund"\ncode = "requird"\nreason = "known"\nuntil = 2999-01-01\n'
    (tmp_path / "accepted.toml").write_text(entry)
    status, _, err = desk("diff", "--accepted", "accepted.toml", "desk.json", "compare_desk")
    assert status == 1
    assert err == "accepted, and nothing like it changed: refund requird; did you mean the code required?\n"
    shown = desk("diff", "--help")[1]
    assert [code for code in CODES if not re.search(rf"\b{code}\b", shown.partition("codes in")[2])] == []


def test_accepted_changes_dont_count(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    change(tmp_path)
    entry = '[[accept]]\ntool = "refund"\nreason = "known"\nuntil = {}\n'
    (tmp_path / "accepted.toml").write_text(entry.format("2999-01-01") + entry.format("2020-01-01"))
    status, out, err = desk("diff", "--accepted", "accepted.toml", "desk.json", "compare_desk")
    assert (status, out) == (0, "nothing changed, 2 accepted\n")
    assert err == "accepted until 2020-01-01, which is over: refund\n"
    (tmp_path / "accepted.toml").write_text("[[accept]]\n")
    status, _, err = desk("diff", "--accepted", "accepted.toml", "desk.json", "compare_desk")
    assert status == 2
    assert "accepted.toml: 3 problems with the entries\n  - accept[0]." in err


def git(*words):
    settings = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], check=True, capture_output=True)  # noqa: S607  # as a user would


@pytest.mark.needs_process
@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_revision_has_its_sources_where_they_are_today(desk, tmp_path, monkeypatch, is_absolute):
    (tmp_path / "src").mkdir()
    (tmp_path / "compare_desk.py").rename(tmp_path / "src" / "compare_desk.py")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    (tmp_path / "src" / "compare_desk.py").write_text(CHANGED)
    (tmp_path / "src" / "compare_new.py").write_text(TOOLS)
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src") if is_absolute else "src")
    status, out, err = desk("diff", "--git", "HEAD", "compare_desk")
    assert (status, out.splitlines()[-1], err) == (1, "1 breaking, 1 meaning", "")
    # A module that the revision doesn't have is new.
    assert desk("diff", "--git", "HEAD", "compare_new")[:2] == (
        0,
        "wider: everything that worked still works, and more calls work now\n  refund: a new tool\n1 wider\n",
    )
    status, _, err = desk("diff", "--git", "HEAD", "cli_samples")
    assert status == 2
    assert "not from the repository in" in err
    assert "pip install -e" in err


@pytest.mark.needs_process
@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_file_is_compared_with_that_of_a_revision(desk, tmp_path, is_absolute):
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "compare_desk.py"
    (tmp_path / "compare_desk.py").rename(file)
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    file.write_text(CHANGED)
    status, out, err = desk("diff", "--git", "HEAD", str(file) if is_absolute else "src/compare_desk.py")
    assert (status, out.splitlines()[-1], err) == (1, "1 breaking, 1 meaning", "")


@pytest.mark.needs_process
def test_a_revision_of_git_is_compared(desk, tmp_path):
    desk("snapshot", "compare_desk", "-o", "desk.json")
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    change(tmp_path)
    status, out, err = desk("diff", "--git", "HEAD", "compare_desk")
    assert (status, out.splitlines()[-1], err) == (1, "1 breaking, 1 meaning", "")
    desk("snapshot", "compare_desk", "-o", "desk.json")
    assert desk("diff", "--git", "HEAD", "desk.json")[1].endswith("1 breaking, 1 meaning\n")
    for words, said in {
        ("--git", "nowhere", "compare_desk"): "git: fatal: not a valid object name: nowhere",
        ("--git", "HEAD", "mcp:x"): "git knows nothing of mcp:x: give a module or a file",
        ("--git=--all", "compare_desk"): "'--all' isn't a revision of git",
    }.items():
        status, _, err = desk("diff", *words)
        assert (status, said in err) == (2, True), err


MARK = b"\xef\xbb\xbf"
"""A byte order mark, as editors on Windows write it."""

ACCEPT = b"""
[[accept]]
tool = "refund"
reason = "It is known."
until = 2999-01-01
"""


@pytest.mark.needs_process
def test_a_byte_order_mark_in_a_file_makes_no_difference(desk, tmp_path, stdin):
    file = tmp_path / "desk.json"
    desk("snapshot", "compare_desk", "-o", str(file))
    plain = file.read_bytes()
    file.write_bytes(MARK + plain)
    assert desk("diff", "desk.json", "compare_desk")[0] == 0
    stdin(MARK + plain)
    assert desk("diff", "-", "compare_desk")[0] == 0
    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert desk("diff", "--git", "HEAD", "desk.json")[0] == 0
    (tmp_path / "accept.toml").write_bytes(MARK + ACCEPT)
    change(tmp_path)
    assert desk("diff", "--accepted", "accept.toml", "desk.json", "compare_desk")[0] == 0


def test_standard_input_that_is_not_utf_8_is_an_error(desk, stdin):
    stdin(b'{"tools": "\xff"}')
    status, _, err = desk("snapshot", "-")
    assert (status, err) == (2, "operator-schema: error: - can't be read: it isn't UTF-8\n")


@pytest.mark.needs_process
def test_a_server_is_asked(desk):
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    desk("snapshot", "compare_desk", "-o", "desk.json")
    program = warm_processes.command(serves=True)
    server = f"mcp:{shlex.join(program)} serve compare_desk"
    # A process of its own: the server writes to the standard error that it gets from there.
    done = subprocess.run(
        [*program, "diff", server, "desk.json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # The protocol has no word for `confirm`, and describes no results that are texts.
    assert [line for line in done.stdout.splitlines() if line.startswith("  ")] == [
        "  refund: confirm: not stated → true",
        "  refund: decoder: not known → known",
        "  refund: results: not described → described",
    ]
    command = [*program, "snapshot", "mcp:no-such-program-here"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the command no-such-program-here isn't found" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["diff", "compare_desk"], "give two targets, OLD and NEW, or one with --git REVISION"),
        (["diff", "--git", "HEAD", "a", "b"], "give one target with --git"),
        (["diff", "gone.json", "compare_desk"], "gone.json can't be read: No such file or directory"),
        (["diff", "broken.json", "compare_desk"], "broken.json isn't JSON"),
        (["diff", "twice.json", "compare_desk"], "twice.json has tools[0].name more than once: keep one"),
        (["diff", "empty.json", "compare_desk"], "empty.json: it has no tools"),
        (["snapshot", "bytes.json"], "bytes.json can't be read: it isn't UTF-8"),
        (["snapshot", "compare_bare"], "there are no tools in compare_bare"),
        (
            ["snapshot", "./program"],
            "program isn't JSON: Expecting value: line 1 column 1 (char 0); to start this program as an MCP",
        ),
        (["diff", "./program", "compare_desk"], "as an MCP server, write mcp:./program"),
        (["check", "./program"], "as an MCP server, write mcp:./program"),
        (["stubs", "./program"], "as an MCP server, write mcp:./program"),
        pytest.param(
            *(
                ["check", "true"],
                "no module true in this folder or on the path; to start this program as an MCP",
            ),
            marks=pytest.mark.needs_process,
        ),
        (["snapshot", "listed.json"], "there are no tools in listed.json: its list is empty"),
        (["replay", "x.jsonl", "--against", "listed.json"], "there are no tools in listed.json"),
        (["snapshot", "mcp:http://127.0.0.1:1/mcp"], "write the URL without mcp: http://127.0.0.1:1/mcp"),
        (
            ["diff", "later.json", "compare_desk"],
            'later.json: its format is "operator_schema snapshot 9"',
        ),
        pytest.param(
            ["diff", ".", "compare_desk"],
            ". is a folder without __init__.py: give a file in it, such as tools.py",
            marks=pytest.mark.needs_process,
        ),
        pytest.param(
            ["diff", "comparedesk.py", "x"],
            "there is no file comparedesk.py; did you mean compare_desk.py?",
            marks=pytest.mark.needs_process,
        ),
        (["snapshot", "compare_desk", "-o", "."], ". is a folder: give a file, such as tools.json"),
        (["snapshot", "compare_desk", "-o", ""], "the empty name is a folder"),
        (["snapshot", "mcp:a 'b"], "mcp:a 'b isn't a command: No closing quotation"),
        (["snapshot", "mcp:"], 'write the command after "mcp:"'),
        (["snapshot", "compare_desk", "-o", "gone/x.json"], "gone/x.json can't be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_says_what_to_do(desk, tmp_path, words, said):
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "twice.json").write_text('{"tools": [{"name": "a", "name": "b"}]}')
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "listed.json").write_text('{"tools": []}')
    (tmp_path / "compare_bare.py").write_text("")
    (tmp_path / "later.json").write_text('{"format": "operator_schema snapshot 9", "tools": []}')
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    status, _, err = desk(*words)
    assert (status, said in err) == (2, True), err


CALLS = [
    {"name": "refund", "arguments": {"order": 1, "amount": 2}},
    {"name": "refund", "arguments": '{"order": "7", "amount": 2}'},
    {"name": "refund", "arguments": {"order": 1}},
    {"name": "gone", "arguments": {}},
]


@pytest.fixture
def logs(desk, tmp_path):
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in CALLS))
    return desk


def test_recorded_calls_are_replayed(logs):
    status, out, err = logs("replay", "calls.jsonl", "--against", "compare_desk")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["tool", "calls", "fit", "repaired", "fail"],
        ["refund", "3", "1", "1", "1"],
    ]
    assert "refund: amount: missing in 1 call" in lines
    assert "unknown tool gone: 1 call" in lines
    assert lines[-1] == "4 calls: 1 fit, 1 if repaired, 2 fail"
    assert logs("replay", "calls.jsonl", "--against", "compare_desk", "--fail-on", "never")[0] == 0
    report = json.loads(logs("replay", "calls.jsonl", "--against", "compare_desk", "--json")[1])
    assert report["tools"]["refund"]["repaired"] == 1


def test_a_replay_is_a_page_that_loads_and_runs_nothing(logs, tmp_path):
    status, out, err = logs("replay", "calls.jsonl", "--against", "compare_desk", "--html", "report.html")
    assert (status, err, out.splitlines()[-1]) == (1, "", "4 calls: 1 fit, 1 if repaired, 2 fail")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Calls by tool</h2>" in page
    assert "4 calls: 1 fit, 1 fit if repaired, 1 fail, 1 of unknown tools" in page
    assert logs("replay", "calls.jsonl", "--against", "compare_desk", "--html", "gone/x.html")[0] == 2


def test_ignored_keys_unknown_tools_and_repairs_are_in_all_reports(logs, tmp_path):
    more = {"name": "refund", "arguments": {"order": 1, "amount": 2, "colour": "red"}}
    with (tmp_path / "calls.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(more) + "\n")
    _, out, _ = logs("replay", "calls.jsonl", "--against", "compare_desk", "--html", "report.html")
    report = json.loads(logs("replay", "calls.jsonl", "--against", "compare_desk", "--json")[1])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    (kind,) = report["tools"]["refund"]["repairs"]
    assert report["tools"]["refund"]["ignored"] == {"colour": 1}
    assert report["unknown"] == {"gone": 1}
    assert "refund: colour: ignored in 1 call" in out.splitlines()
    assert f"refund: {kind.replace('_', ' ')}: 1 repair" in out.splitlines()
    assert "unknown tool gone: 1 call" in out.splitlines()
    for title, cells in {
        "Ignored keys": "<td>refund</td><td>colour</td>",
        "Repairs": f"<td>refund</td><td>{kind.replace('_', ' ')}</td>",
        "Unknown tools": "<td>gone</td>",
    }.items():
        after = page.partition(f"<h2>{title}</h2>")[2].partition("<h2>")[0]
        assert cells in after


def test_calls_that_a_change_breaks_are_counted(logs, tmp_path):
    logs("snapshot", "compare_desk", "-o", "desk.json")
    change(tmp_path)
    status, out, _ = logs("replay", "calls.jsonl", "--old", "desk.json", "--against", "compare_desk")
    assert (status, out.splitlines()[-1]) == (1, "1 call: 0 fit, 0 if repaired, 1 fail")
    assert "refund: reason: missing in 1 call" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.jsonl", "--against", "compare_desk"], "gone.jsonl can't be read: No such file"),
        (["calls.jsonl", "--against", "gone.json"], "gone.json can't be read: No such file"),
        (["empty.jsonl", "--against", "compare_desk"], "there are no calls in empty.jsonl"),
        (["calls.jsonl"], "replay needs the tools that decode the calls: write --against TARGET"),
        (["calls.jsonl", "compare_desk"], "the tools that decode the calls: write --against compare_desk"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_replay_without_calls_or_tools_is_wrong_use(logs, tmp_path, words, said):
    (tmp_path / "empty.jsonl").write_text("")
    status, _, err = logs("replay", *words)
    assert (status, said in err) == (2, True), err


def test_spans_without_arguments_are_told_from_no_calls(logs, tmp_path):
    span = {"name": "execute_tool refund", "attributes": {"gen_ai.tool.name": "refund"}}
    (tmp_path / "spans.jsonl").write_text(f"{json.dumps(span)}\n" * 2)
    status, _, err = logs("replay", "spans.jsonl", "--against", "compare_desk")
    assert status == 2
    assert "no calls in spans.jsonl, only 2 spans of calls without arguments: record them with spans(" in err
    assert "(record_arguments=True)" in err


def test_lines_that_cant_be_read_are_told(logs, tmp_path):
    (tmp_path / "cut.jsonl").write_text(json.dumps(CALLS[0]) + "\n{\n")
    status, out, _ = logs("replay", "cut.jsonl", "--against", "compare_desk")
    assert status == 1
    assert "unreadable: cut.jsonl:2: it isn't JSON" in out


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.needs_threads
def test_long_comparisons_show_how_far_they_are_on_a_terminal_alone(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", *_CI):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")

    def tools(kind):
        schema = {"type": "object", "properties": {"x": {"type": kind}}}
        return read_snapshot({"tools": [{"name": f"t{n}", "inputSchema": schema} for n in range(30)]})

    terminal, pipe = Terminal(), io.StringIO()
    changes = _compared(tools("integer"), tools("string"), Printer(terminal))
    assert changes == _compared(tools("integer"), tools("string"), Printer(pipe))
    assert "30/30" in terminal.getvalue()
    assert pipe.getvalue() == ""
