"""Help, and the page of the command line."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
import warm_processes
from cli_samples import ROOT, on_posix, process

from operator_schema.workbench.cli import app as app_module
from operator_schema.workbench.cli.app import app, commands

PAGE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


COMMANDS = [[], *[[name] for name in commands() if name != "help"]]


def test_the_table_of_commands_names_each_of_them():
    folder = Path(app_module.__file__).parent
    for file in folder.glob("*.py"):
        module = import_module(f"operator_schema.workbench.cli.{file.stem}")
        found = {one.name for one in vars(module).values() if isinstance(one, click.Command)}
        assert found - {app.name} <= set(commands())


LOOK = """
import sys
from operator_schema.workbench.cli.app import app
print({"asyncio", "hashlib", "random", "secrets"} & {*sys.modules})
app.get_command(None, "decode")
print(sorted(name for name in sys.modules if name.endswith(("_command", "_commands", "serve"))))
"""


@pytest.mark.needs_process
def test_the_command_line_starts_without_what_few_commands_need_and_loads_one_of_them(folder):
    out = process((), folder, program=(sys.executable, "-c", LOOK))[1]
    assert out == "set()\n['operator_schema.workbench.cli.decode_command']\n"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_help_fits_the_terminal(run, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for command in COMMANDS:
        text = run(*command, "--help")[1].partition("\n  examples:")[0]
        assert max(map(len, text.splitlines())) <= min(width, 100)


def test_help_is_also_a_command(run):
    assert run("help") == run("--help")
    assert run("help", "decode") == run("decode", "-h")
    status, out, err = run()
    assert (status, out) == (2, "")
    assert err == run("--help")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_page_and_has_examples(run, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    status, out, err = run(*command, "--help")
    assert (status, err) == (0, "")
    assert "  examples:\n    operator-schema " in out
    assert max(map(len, out.splitlines())) <= 100


def test_the_examples_in_the_help_parse(run):
    shown = "".join(run(*command, "--help")[1] for command in COMMANDS)
    examples = re.findall(r"^    .*?operator-schema ([^>\n]+)", shown, re.MULTILINE)
    assert len(examples) >= 10
    for example in examples:
        name, *words = shlex.split(example.partition(" < ")[0])
        if "operator_schema.code_tools" in example and sys.platform == "emscripten":
            continue  # its options are those of a module that needs tree-sitter
        command = commands()[name]
        assert command.make_context(name, words, resilient_parsing=False).params


def test_the_page_has_the_options_and_exit_statuses_of_the_help(run):
    shown = "".join(run(*command, "--help")[1] for command in COMMANDS)
    table = PAGE.partition("## Options")[2].partition("\n## ")[0]
    assert set(re.findall(r"--[a-z][a-z-]+", table)) == set(re.findall(r"--[a-z][a-z-]+", shown))
    statuses = re.findall(r"^    (\d)  (.*)$", run("--help")[1], re.MULTILINE)
    assert len(statuses) == 3
    for status, meaning in statuses:
        assert f"| {status} | {meaning} |" in PAGE
    for status in (130, 141):
        assert f"| {status} | " in PAGE


@pytest.mark.slow("starts a process for each example")
@on_posix
@pytest.mark.needs_process
def test_the_examples_of_the_page_are_true(tmp_path):
    for name, text in re.findall(r"`([\w.]+)`:\n\n```(?:python|text)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = tmp_path / "bin" / "operator-schema"
    program.parent.mkdir()
    words = shlex.join(warm_processes.command())
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        shown, status = "", 0
        for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            script = f"(exit {status})\n{{ {command}\n}} 2>&1"
            status, out, _ = process(["-c", script], tmp_path, program=("/bin/sh",), PATH=path)
            shown += f"$ {command}\n{out}"
        assert shown == block


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    ("redirection", "status", "said"),
    [(">/dev/full", 2, "can't read or write"), (">&-", 0, ""), ("<&-", 1, "not valid JSON")],
)
@pytest.mark.needs_process
def test_streams_that_are_closed_or_full(tmp_path, redirection, status, said):
    (tmp_path / "closed_tools.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n", encoding="utf-8"
    )
    command = "decode" if redirection.startswith("<") else "schema"
    line = f'"{sys.executable}" -m operator_schema {command} closed_tools:Point {redirection}'
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        ["sh", "-c", line],  # noqa: S607  # any shell will do
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert said in done.stderr
