"""Type checkers of a project, run on snippets: real ones, and programs that behave as badly as some do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of a shell"),
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project without a checker, on a machine without one."""
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "shop.py").write_text("def price(of: str) -> int: ...\n")
    return tmp_path


def install(project, name, script):
    program = project / ".venv" / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def check(project, code, context="function_body", *, seconds=30.0, language="python"):
    base = CodeBase(project, type_check_seconds=seconds, type_checks=True)
    found = base.check_syntax(code, context, type_check=True, language=language)
    assert found.pop("checked_as").startswith(language)
    return found


@pytest.mark.slow("starts a type checker")
@pytest.mark.parametrize("name", ["mypy", "pyright"])
def test_a_real_checker_of_the_project(project, tmp_path_factory, name):
    installed = Path(sys.executable).parent / name
    if not installed.exists():
        pytest.skip(f"{name} isn't installed here")
    # A link keeps the environment that the program runs in.
    # With a cache it reads the types of the standard library once.
    cached = f"--cache-dir {tmp_path_factory.mktemp('cache')}" if name == "mypy" else ""
    install(project, name, f'exec {installed} "$@" {cached}')
    (project / "difflib.py").write_text("raise SystemExit('a module of the project was run')\n")
    found = check(project, 'import shop\nx: int = "a"\nreturn shop.price(5)')
    assert found["checked_with"] == name
    assert [one["position"] for one in found["errors"]] == ["2:10", "3:19"]
    if name == "pyright":  # it starts slowly
        return
    assert check(project, "import shop\nreturn shop.price('a')") == {
        "valid": True,
        "errors": [],
        "checked_with": name,
    }
    assert check(project, "len(5)", "expression")["errors"][0]["position"] == "1:5"


def test_what_the_project_has_comes_before_what_the_machine_has(project, tmp_path_factory, monkeypatch):
    machine = tmp_path_factory.mktemp("machine")
    (machine / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(install(machine, "ty", "exit 0").parent), prepend=os.pathsep)
    assert check(project, "x = 1")["checked_with"] == "ty"
    install(project, "mypy", "exit 0")
    assert check(project, "x = 1")["checked_with"] == "mypy"


def test_what_ty_says(project):
    install(project, "ty", 'echo "$4:2:9: error[invalid-assignment] Object of type str"; exit 1')
    assert check(project, "x = 1")["errors"] == [
        {"position": "1:5", "message": "Object of type str"},
    ]


def test_go_vet(project):
    install(project, "go", 'echo "# command-line-arguments"; echo "vet: $2:3:2: undefined: user"; exit 1')
    found = check(project, "return user", language="go")
    assert (found["valid"], found["errors"], found["checked_with"]) == (True, [], "go")
    assert "doesn't define them: user." in found["note"]
    assert "Give `inside`" in found["note"]
    install(project, "go", 'echo "vet: $2:3:2: cannot use user as int"; exit 1')
    assert check(project, "return user", language="go")["errors"] == [
        {"position": "1:2", "message": "cannot use user as int"}
    ]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exec sleep 20", "mypy took more than 0.2 seconds, and was stopped"),
        ("sleep 20 & sleep 20 & echo done", "mypy took more than 0.2 seconds, and was stopped"),
        ("exec yes", "mypy printed too much, and was stopped"),
        ("exec yes >&2", "mypy printed too much, and was stopped"),
        ("echo broken settings >&2; exit 2", "mypy failed: broken settings"),
        ("echo no module named mypy; exit 1", "mypy failed: no module named mypy"),
        ("echo shop.py:1:2: error: in another file; exit 1", "mypy"),
        ("#", "mypy"),
    ],
    ids=[
        "slow",
        "leaves others behind",
        "endless",
        "endless errors",
        "failing",
        "not a report",
        "elsewhere",
        "silent",
    ],
)
def test_a_checker_that_fails_leaves_the_syntax_valid(project, script, said):
    install(project, "mypy", script)
    found = check(project, "x = 1", seconds=0.2 if "sleep" in script else 30)
    assert found == {"valid": True, "errors": [], "checked_with": said}


def test_a_program_that_cannot_be_run(project):
    install(project, "mypy", "").write_text("#!/nothing/here\n")
    assert "mypy can't be run: No such file" in check(project, "x = 1")["checked_with"]


@pytest.mark.parametrize(
    "printed", ["", "no document", "{}", '{"generalDiagnostics": 5}', '{"generalDiagnostics": [5]}']
)
def test_what_pyright_prints_may_be_anything(project, printed):
    install(project, "pyright", f"echo '{printed}'; exit 1")
    found = check(project, "x = 1")
    assert found == {
        "valid": True,
        "errors": [],
        "checked_with": f"pyright failed: {printed or 'its exit code is 1'}",
    }


def test_without_a_checker_it_is_said(project):
    if any(map(shutil.which, ("ty", "pyright", "mypy"))):
        pytest.skip("this machine has one")
    assert check(project, "x = 1")["checked_with"] == "no type checker was found: install ty, pyright, mypy"


def test_no_checker_runs_unless_the_host_says_so(tmp_path):
    marker = tmp_path / "was-run"
    checker = tmp_path / ".venv" / "bin" / "mypy"
    checker.parent.mkdir(parents=True)
    checker.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    checker.chmod(0o755)
    base = CodeBase(tmp_path)
    found = base.check_syntax("x: int = 'a'\n", type_check=True, language="python")
    assert (found["valid"], found["checked_with"]) == (True, "type checks are switched off here")
    assert not marker.exists()


def test_the_tool_may_take_longer_than_its_checker(project):
    install(project, "mypy", "exec sleep 20")
    tools = code_tools(project, type_check_seconds=0.2, type_checks=True)
    call = RawCall("1", "check_syntax", {"code": "x = 1", "type_check": True, "language": "python"})
    result = Executor(tools, timeout=0.1).run_sync(call)
    assert result.value["checked_with"] == "mypy took more than 0.2 seconds, and was stopped"


FINDS = """
for file; do :; done
place=$(grep -n -b -o wrong "$file" | head -n 1)
line=$(echo "$place" | cut -d: -f1)
column=$(sed -n "${line}p" "$file" | sed 's/wrong.*//' | wc -c)
echo "$file:$line:$column: error: in a file of ${file##*.}"
exit 1
"""


@pytest.mark.parametrize(
    ("language", "program", "context", "code", "place"),
    [
        ("python", "mypy", "file", "x = 1\ny = wrong\n", "2:5"),
        ("python", "mypy", "statements", "x = 1\ny = wrong", "2:5"),
        ("python", "mypy", "statements", "\n  x = 1\n  y = wrong\n", "3:7"),
        ("python", "mypy", "function_body", "return wrong", "1:8"),
        ("python", "mypy", "expression", "wrong", "1:1"),
        ("python", "mypy", "expression", "\n  f(1,\n    wrong)  # a comment", "3:5"),
        ("python", "mypy", "expression", "  wrong + 1\n", "1:3"),
        ("go", "go", "file", "package p\n\nvar x = wrong\n", "3:9"),
        ("go", "go", "statements", "x := 1\nf(x, wrong)", "2:6"),
        ("go", "go", "function_body", "  return wrong", "1:10"),
        ("go", "go", "expression", "f(1, wrong)", "1:6"),
    ],
)
def test_what_a_checker_finds_is_where_the_snippet_has_it(project, language, program, context, code, place):
    install(project, program, FINDS)
    found = check(project, code, context, language=language)
    message = f"in a file of {'go' if language == 'go' else 'py'}"
    assert found["errors"] == [{"position": place, "message": message}]
