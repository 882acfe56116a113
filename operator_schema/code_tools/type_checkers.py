"""Type checkers that a project has, run on a snippet with a time limit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .language import SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .language import Context

__all__ = ["type_checked"]

_LINE = re.compile(r"^.*?:(\d+):(?:(\d+):)? *(?:error(?:\[[\w-]+\])?:? *)?(.*)$")
_MOST_OUTPUT = 100_000


class _Snippet(NamedTuple):
    """A snippet as a file: lines and columns that were put in front of it are taken off again."""

    text: str
    lines: int = 0
    columns: int = 0


class _Checker(NamedTuple):
    """A program that checks types.

    Attributes:
        program: its name.
        command: what follows it, for the path of a file.
        read: reads what it prints about a file; returns None if that isn't a report.
    """

    program: str
    command: Callable[[Path], Sequence[str]]
    read: Callable[[str, Path], list[SyntaxProblem] | None]


def type_checked(
    root: Path, code: str, context: Context, language: str, seconds: float
) -> tuple[list[SyntaxProblem], str]:
    """Check the types of a snippet with what the project has.

    Args:
        root: of the project.
        code: without errors of syntax.
        context: what it is a part of.
        language: of the snippet.
        seconds: that a checker may take.

    Returns:
        What it found, and which one it was; or nothing, and why there is none.
    """
    checkers = _CHECKERS.get(language, ())
    found = _found(root, checkers)
    if found is not None:
        return _run(root, *found, _as_file(code, context, language), language, seconds)
    names = ", ".join(checker.program for checker in checkers)
    return (
        [],
        f"no type checker was found: install {names}"
        if names
        else f"no type checker for {language} is known",
    )


def _found(root: Path, checkers: Sequence[_Checker]) -> tuple[_Checker, str] | None:
    """Return the first checker of the project's environment, else of the machine, and its path."""
    folders = [root / folder / place for folder in (".venv", "venv") for place in ("bin", "Scripts")]
    for path in (os.pathsep.join(map(str, folders)), None):
        for checker in checkers:
            program = shutil.which(checker.program, path=path)
            if program is not None:
                return checker, program
    return None


def _as_file(code: str, context: Context, language: str) -> _Snippet:
    if context == "file":
        return _Snippet(code)
    if language == "go":
        from .go_syntax import go_wrapper

        wrapper = go_wrapper(context)
        return _Snippet(f"{wrapper.before}{code}{wrapper.after}", wrapper.before.count("\n"))
    if context == "expression":
        return _Snippet(code.strip())
    body = "".join(f"    {line}" for line in code.splitlines(keepends=True)) or "    pass"
    return _Snippet(f"def snippet():\n{body}\n", 1, 4)


def _run(
    root: Path, checker: _Checker, program: str, snippet: _Snippet, language: str, seconds: float
) -> tuple[list[SyntaxProblem], str]:
    with tempfile.TemporaryDirectory(prefix="operator_schema_") as folder:
        path = Path(folder, f"snippet.{'go' if language == 'go' else 'py'}")
        path.write_text(snippet.text, encoding="utf-8", errors="replace")
        command = [program, *checker.command(path)]
        # PYTHONPATH would let a checker that is written in Python import modules of the project as its own.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment = {**inherited, "MYPYPATH": str(root)}
        try:
            done = subprocess.run(  # noqa: S603  # a program of the project, which the host allowed
                command,
                cwd=root,
                capture_output=True,
                timeout=seconds,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return [], f"{checker.program} took more than {seconds:g} seconds, and was stopped"
        except OSError as error:
            return [], f"{checker.program} can't be run: {error.strerror}"
        output = (done.stdout + b"\n" + done.stderr)[:_MOST_OUTPUT].decode(errors="replace")
        found = checker.read(output, path)
    problems = [
        problem._replace(
            line=max(problem.line - snippet.lines, 1), column=max(problem.column - snippet.columns, 1)
        )
        for problem in found or ()
    ]
    # 1 stands for errors, which may all be in other files.
    if (done.returncode and found is None) or (done.returncode not in {0, 1} and not problems):
        said = output.strip()[:200] or f"its exit code is {done.returncode}"
        return [], f"{checker.program} failed: {said}"
    return problems, checker.program


def _lines(output: str, path: Path) -> list[SyntaxProblem] | None:
    """Read `file:line:column: error: message`."""
    matches = [match for line in output.splitlines() if (match := _LINE.match(line))]
    found = [
        SyntaxProblem(int(match[1]), int(match[2] or 1), match[3].strip())
        for match in matches
        if path.name in match[0] and "note:" not in match[0]
    ]
    return found if matches else None


def _pyright(output: str, path: Path) -> list[SyntaxProblem] | None:
    try:
        document: Any = json.loads(output[: output.rindex("}") + 1])
        return [
            SyntaxProblem(
                one["range"]["start"]["line"] + 1, one["range"]["start"]["character"] + 1, one["message"]
            )
            for one in document["generalDiagnostics"]
            if one["severity"] == "error" and Path(one["file"]).name == path.name
        ]
    except (ValueError, TypeError, LookupError):
        return None


def _for_ty(path: Path) -> Sequence[str]:
    return "check", "--output-format", "concise", str(path)


def _for_pyright(path: Path) -> Sequence[str]:
    return "--outputjson", str(path)


def _for_mypy(path: Path) -> Sequence[str]:
    shape = ("--show-column-numbers", "--no-error-summary", "--no-pretty", "--check-untyped-defs")
    return *shape, "--cache-dir", os.devnull, str(path)


def _for_go(path: Path) -> Sequence[str]:
    return "vet", str(path)


_CHECKERS: dict[str, tuple[_Checker, ...]] = {
    "python": (
        _Checker("ty", _for_ty, _lines),
        _Checker("pyright", _for_pyright, _pyright),
        _Checker("mypy", _for_mypy, _lines),
    ),
    "go": (_Checker("go", _for_go, _lines),),
}
