"""What docs/changes.md shows of the command line is true, and its workflow runs as it is written."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm_processes

PAGE = (Path(__file__).parents[3] / "docs" / "changes.md").read_text(encoding="utf-8")
BEFORE = '''
from operator_schema import tool

@tool(confirm=True)
def refund(order: int, amount: float) -> str:
    """Pay back."""
    return "ok"
'''
AFTER = BEFORE.replace("amount: float", "amount: float, reason: str").replace("(confirm=True)", "")
RELABELLED = BEFORE.replace("Pay back.", "Pay money back.")

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.skipif(os.name != "posix", reason="the examples are of a POSIX shell"),
]


@pytest.fixture
def folder(tmp_path):
    """Return a folder for the module, and one beside it with `operator-schema` as a program."""
    program = tmp_path / "bin" / "operator-schema"
    program.parent.mkdir()
    words = shlex.join(warm_processes.command())
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    pip = program.with_name("pip")
    # To look for conflicts among all that is installed here takes longer than the rest.
    words = f'{shlex.quote(sys.executable)} -m pip "$@" --no-warn-conflicts'
    pip.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    pip.chmod(0o755)
    made = tmp_path / "work"
    made.mkdir()
    return made


def shell(folder, script, **environment):
    """Run a step as GitHub's runners do."""
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607  # whichever is there
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_INDEX": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def write(folder, text):
    (folder / "tools.py").write_text(text, encoding="utf-8")


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize("command", ["diff", "replay"])
def test_the_examples_of_the_page_are_true(folder, command):
    write(folder, BEFORE)
    assert shell(folder, "operator-schema snapshot tools -o tools.json").returncode == 0
    write(folder, AFTER)
    call = json.dumps({"name": "refund", "arguments": {"order": 1, "amount": 2}})
    (folder / "calls.jsonl.gz").write_bytes(gzip.compress(f"{call}\n".encode() * 12))
    part = PAGE.partition("## A file")[0] if command == "diff" else PAGE.partition("## Recorded calls")[2]
    block = re.search(rf"```text\n\$ (operator-schema {command} .*?)```", part, re.DOTALL)[1]
    line, _, shown = block.partition("\n")
    done = shell(folder, line)
    assert (done.returncode, done.stdout, done.stderr) == (1, shown, "")


@pytest.fixture
def repository(folder):
    """Return a repository whose branch `main` is where a pull request wants to go."""
    write(folder, BEFORE)
    script = """
    operator-schema snapshot tools -o tools.json
    git init -q -b main . && git config user.email a@example.com && git config user.name A
    git add . && git commit -qm "The tools"
    git update-ref refs/remotes/origin/main main
    git checkout -qb change
    """
    done = shell(folder, script)
    assert done.returncode == 0, done.stderr
    return folder


def workflow(folder, *, is_installed=True):
    """Run the steps of the workflow, up to the first that fails; return status and output of each."""
    text = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL).group(1)
    install, *checks = re.findall(r"^ +- run: (.*)$", text, re.MULTILINE)
    found = []
    for step in checks if is_installed else [install, *checks]:
        done = shell(folder, step, GITHUB_BASE_REF="main", GITHUB_ACTIONS="true")
        found.append((done.returncode, done.stdout + done.stderr))
        if done.returncode:
            break
    return found


@pytest.mark.slow("starts processes, git and pip among them")
@pytest.mark.skipif(not (shutil.which("git") and shutil.which("bash")), reason="it takes git and bash")
def test_the_workflow_runs_as_it_is_written(repository):
    pytest.importorskip("pip", reason="the first step is pip's")
    assert [status for status, _ in workflow(repository, is_installed=False)] == [0, 0, 0]

    write(repository, AFTER)
    (*_, (status, said)) = workflow(repository)
    assert status == 1
    assert "tools.json isn't up to date: operator-schema snapshot tools -o tools.json" in said

    assert shell(repository, "operator-schema snapshot tools -o tools.json").returncode == 0
    steps = workflow(repository)
    assert [status for status, _ in steps] == [0, 1]
    assert steps[-1][1].startswith("::error file=tools.py,line=4,title=refund%3A breaking::")

    write(repository, RELABELLED)
    assert shell(repository, "operator-schema snapshot tools -o tools.json").returncode == 0
    steps = workflow(repository)
    assert [status for status, _ in steps] == [0, 0]
    assert steps[-1][1].startswith("::notice ")
