"""Type checkers that a project has, run on a snippet with a time limit."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .language import SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .language import Context

__all__ = ["type_checked"]

_LINE = re.compile(r"^.*?:(\d+):(?:(\d+):)? *(?:error(?:\[[\w-]+\])?:? *)?(.*)$")
_MOST_OUTPUT = 100_000
_CHUNK = 1 << 16


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
        from .go_language import go_wrapper

        wrapper = go_wrapper(context)
        return _Snippet(f"{wrapper.before}{code}{wrapper.after}", wrapper.before.count("\n"))
    if context == "expression":
        return _Snippet(f"(\n{code}\n)", 1)
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
            ended = _ended(command, root, environment, seconds)
        except OSError as error:
            return [], f"{checker.program} can't be run: {error.strerror}"
        if ended.status is None:
            too_much = f"took more than {seconds:g} seconds" if ended.is_late else "printed too much"
            return [], f"{checker.program} {too_much}, and was stopped"
        output = ended.output.decode(errors="replace")
        found = checker.read(output, path)
    problems = [
        problem._replace(
            line=max(problem.line - snippet.lines, 1), column=max(problem.column - snippet.columns, 1)
        )
        for problem in found or ()
    ]
    # 1 stands for errors, which may all be in other files.
    if (ended.status and found is None) or (ended.status not in {0, 1} and not problems):
        said = output.strip()[:200] or f"its exit code is {ended.status}"
        return [], f"{checker.program} failed: {said}"
    return problems, checker.program


class _Ended(NamedTuple):
    """How a program ended.

    Attributes:
        status: its exit status; None if it was stopped.
        output: what it printed.
        is_late: whether its time was over.
    """

    status: int | None
    output: bytes = b""
    is_late: bool = False


def _ended(command: Sequence[str], root: Path, environment: Mapping[str, str], seconds: float) -> _Ended:
    """Run a program within its time, and with bounded output; all that it started ends with it.

    Raises:
        OSError: it can't be run.
    """
    process = subprocess.Popen(  # noqa: S603  # a program of the project, which the host allowed
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    printed: list[bytes] = [b"", b""]
    is_too_much = Event()

    def read(place: int, stream: IO[bytes]) -> None:
        with stream, suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), _CHUNK):
                printed[place] += chunk
                if len(printed[place]) > _MOST_OUTPUT:
                    is_too_much.set()
                    _stop(process)
                    return

    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    readers = [Thread(target=read, args=(place, stream), daemon=True) for place, stream in enumerate(streams)]
    for reader in readers:
        reader.start()
    end = monotonic() + seconds
    try:
        status = process.wait(seconds)
        for reader in readers:  # what it started may still hold its output
            reader.join(max(0.0, end - monotonic()))
        is_late = any(reader.is_alive() for reader in readers)
    except subprocess.TimeoutExpired:
        status, is_late = 0, True
    finally:
        _stop(process)
        process.wait()
    if is_late or is_too_much.is_set():
        return _Ended(None, is_late=not is_too_much.is_set())
    return _Ended(status, (printed[0] + b"\n" + printed[1])[:_MOST_OUTPUT])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started, which is in the same session."""
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


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
