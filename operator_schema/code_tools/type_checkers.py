"""What do a project's type checkers say about a snippet, within a time limit?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ..processes import kill_group
from .language import LANGUAGES
from .snippets import SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .snippets import Snippet

_LINE = re.compile(r"^.*?:(\d+):(?:(\d+):)? *(?:error(?:\[[\w-]+\])?:? *)?(.*)$")
_MOST_OUTPUT = 100_000
_CHUNK = 1 << 16


class TypeCheck(NamedTuple):
    """The report of a type checker.

    Attributes:
        problems: in the snippet.
        checked_with: the name of the checker, and what went wrong; or why there is none.
        unknown: names that the snippet uses but doesn't define.
        elsewhere: problems in the rest of the file, with their places there.
    """

    problems: list[SyntaxProblem]
    checked_with: str
    unknown: Sequence[str] = ()
    elsewhere: Sequence[SyntaxProblem] = ()


class _Target(NamedTuple):
    """The files on which a checker is run.

    Attributes:
        file: the file with the snippet.
        folder: the folder in which the checker runs: the root, a mirror of it, or that of the package.
        overlay: a file that names the file of the root that the snippet replaces.
    """

    file: Path
    folder: Path
    overlay: Path | None = None


class _Checker(NamedTuple):
    """A program that checks types.

    Attributes:
        program: its name.
        command: its arguments.
        read: reads its output about a file; returns None if that isn't a report.
    """

    program: str
    command: Callable[[_Target], Sequence[str]]
    read: Callable[[str, Path], list[SyntaxProblem] | None]


def check_types(root: Path, snippet: Snippet, language: str, seconds: float) -> TypeCheck:
    """Check the types of a snippet with a checker of the project.

    Args:
        root: of the project.
        snippet: without errors of syntax.
        language: of the snippet.
        seconds: the time limit of the checker; errors that it prints before are kept.
    """
    checkers = _CHECKERS.get(language, ())
    found = _find_checker(root, checkers)
    if found is not None:
        problems, checked_with = _run_checker(root, *found, snippet, language, seconds)
        inside = [one for problem in problems if (one := snippet.position(problem)) is not None]
        if not snippet.is_part:
            elsewhere = [problem for problem in problems if snippet.position(problem) is None]
            return TypeCheck(inside, checked_with, elsewhere=elsewhere)
        unknown = {
            one: match[match.lastindex or 0] for one in inside if (match := _UNKNOWN.search(one.message))
        }
        names = list(dict.fromkeys(unknown.values()))
        return TypeCheck([one for one in inside if one not in unknown], checked_with, names)
    names = [checker.program for checker in checkers]
    advice = f"no type checker was found: install {', '.join(names)}"
    return TypeCheck([], advice if names else f"no type checker for {language} is known")


_UNKNOWN = re.compile(
    r"""(?:undefined|undeclared\ name):\ ([\w.]+) |
        (?:[Nn]ame\ )?["`'](\w+)["`']\ (?:is\ not|used\ when\ not)\ defined""",
    re.VERBOSE,
)


def _find_checker(root: Path, checkers: Sequence[_Checker]) -> tuple[_Checker, str] | None:
    """Find the first checker in the project's environment, or otherwise on the machine, and its path."""
    folders = [root / folder / place for folder in (".venv", "venv") for place in ("bin", "Scripts")]
    for path in (os.pathsep.join(map(str, folders)), None):
        for checker in checkers:
            program = shutil.which(checker.program, path=path)
            if program is not None:
                return checker, program
    return None


def _run_checker(
    root: Path, checker: _Checker, program: str, snippet: Snippet, language: str, seconds: float
) -> tuple[list[SyntaxProblem], str]:
    """Run a checker; return its report about the file of a snippet, and how the run ended."""
    with tempfile.TemporaryDirectory(prefix="check_syntax") as folder:
        try:
            target = _write_snippet(root, Path(folder), snippet, language)
            # A module of the project could stand in for one of the checker's own.
            inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            command = (program, *checker.command(target))
            ended = _run_program(
                command, target.folder, {**inherited, "MYPYPATH": str(target.folder)}, seconds
            )
        except OSError as error:
            return [], f"{checker.program} can't be run: {error.strerror}"
        output = ended.output.decode(errors="replace")
        found = checker.read(output, target.file)
    problems = found or []
    if ended.status is None:
        too_much = f"took more than {seconds:g} seconds" if ended.is_late else "printed too much"
        return problems, f"{checker.program} {too_much}, and was stopped"
    # 1 stands for errors, which may all be in other files.
    if (ended.status and found is None) or (ended.status not in {0, 1} and not problems):
        reason = output.strip()[:200] or f"its exit code is {ended.status}"
        return [], f"{checker.program} failed: {reason}"
    return problems, checker.program


def _write_snippet(root: Path, folder: Path, snippet: Snippet, language: str) -> _Target:
    """Write a snippet into a temporary folder, so that a checker sees it where it belongs.

    Raises:
        OSError: the system has no links, or they aren't allowed.
    """
    suffix = LANGUAGES[language][0]
    if snippet.path is None:
        target = _Target(folder / f"snippet_{os.getpid()}{suffix}", root)
    elif language == "go":
        own = root / snippet.path
        target = _Target(folder / own.name, own.parent, folder / "overlay.json")
        replaced = {"Replace": {str(own): str(target.file)}}
        (folder / "overlay.json").write_text(json.dumps(replaced), encoding="utf-8")
    else:
        target = _Target(_link_root(root, folder / "root", snippet.path), folder / "root")
    target.file.write_text(snippet.text, encoding="utf-8", errors="replace", newline="")
    return target


def _link_root(root: Path, copy: Path, path: str) -> Path:
    """Make a folder that mirrors the root by links, except for one file, and return the path of that file."""
    *folders, name = path.split("/")
    here, there = root, copy
    for own in (*folders, name):
        there.mkdir()
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.name != own:
                    (there / entry.name).symlink_to(here / entry.name)
        here, there = here / own, there / own
    return there


class _Ended(NamedTuple):
    """The end of a program: its exit status and its output.

    Attributes:
        status: its exit status; None if it was stopped.
        output: the text that it printed.
        is_late: whether it exceeded its time.
    """

    status: int | None
    output: bytes = b""
    is_late: bool = False


def _run_program(
    command: Sequence[str], root: Path, environment: Mapping[str, str], seconds: float
) -> _Ended:
    """Run a program with limits for its time and output; processes that it started are stopped too.

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
    printed, is_too_much, readers = _start_readers(process)
    end = monotonic() + seconds
    try:
        status = process.wait(seconds)
        for reader in readers:  # what it started may still hold its output
            reader.join(max(0.0, end - monotonic()))
        is_late = any(reader.is_alive() for reader in readers)
    except subprocess.TimeoutExpired:
        status, is_late = 0, True
    finally:
        kill_group(process)
        process.wait()
    output = (printed[0] + b"\n" + printed[1])[:_MOST_OUTPUT]
    if is_late or is_too_much.is_set():
        return _Ended(None, output, is_late=not is_too_much.is_set())
    return _Ended(status, output)


def _start_readers(process: subprocess.Popen[bytes]) -> tuple[list[bytes], Event, list[Thread]]:
    """Read the output of a program until it is too long."""
    printed: list[bytes] = [b"", b""]
    is_too_much = Event()

    def read(place: int, stream: IO[bytes]) -> None:
        with stream, suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), _CHUNK):
                printed[place] += chunk
                if len(printed[place]) > _MOST_OUTPUT:
                    is_too_much.set()
                    kill_group(process)
                    return

    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    readers = [Thread(target=read, args=(place, stream), daemon=True) for place, stream in enumerate(streams)]
    for reader in readers:
        reader.start()
    return printed, is_too_much, readers


def _read_lines(output: str, path: Path) -> list[SyntaxProblem] | None:
    """Read lines of the form `file:line:column: error: message`."""
    matches = [match for line in output.splitlines() if (match := _LINE.match(line))]
    found = [
        SyntaxProblem(int(match[1]), int(match[2] or 1), match[3].strip())
        for match in matches
        if path.name in match[0] and "note:" not in match[0]
    ]
    return found if matches else None


def _read_pyright(output: str, path: Path) -> list[SyntaxProblem] | None:
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


def _for_ty(target: _Target) -> Sequence[str]:
    return "check", "--output-format", "concise", str(target.file)


def _for_pyright(target: _Target) -> Sequence[str]:
    return "--outputjson", str(target.file)


def _for_mypy(target: _Target) -> Sequence[str]:
    shape = ("--show-column-numbers", "--no-error-summary", "--no-pretty", "--check-untyped-defs")
    return *shape, "--cache-dir", os.devnull, str(target.file)


def _for_go(target: _Target) -> Sequence[str]:
    if target.overlay is None:
        return "vet", str(target.file)
    # `go vet` reads the file itself, and not what the overlay puts in its place.
    command = ("test", "-c") if target.file.name.endswith("_test.go") else ("build",)
    return *command, "-o", os.devnull, f"-overlay={target.overlay}", "."


_CHECKERS: dict[str, tuple[_Checker, ...]] = {
    "python": (
        _Checker("ty", _for_ty, _read_lines),
        _Checker("pyright", _for_pyright, _read_pyright),
        _Checker("mypy", _for_mypy, _read_lines),
    ),
    "go": (_Checker("go", _for_go, _read_lines),),
}
