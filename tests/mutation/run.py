"""Change the code in one place at a time, and count the changes that the tests notice.

A mutant is the package with one small change: a comparison turned round, a number off by one, a loop that
doesn't run. The tests are good where they fail for it. Places are drawn at random, each with the same
chance; cosmic-ray knows what can be changed at each. Annotations and what only type checkers read are
left out, as a change there does nothing.

First the tests of each room run once, and `reached` writes down which of them reach which lines.
A mutant's tests begin with a few quick ones that reach the changed line, go on with all that reach it, then
with the others of its room, and end at the first failure. Few mutants need more than the first stage. With
`--near` the tests of other rooms don't run, which measures a room in minutes instead of hours.

The tests of frameworks (`tests/frameworks`) never run, as each needs an environment of its own, nor do those
in `SLOW`: of the adapters of frameworks, a mutant that only they notice counts as one that nobody does.

Each worker has a copy of the project of its own, so that the checkout is never touched.
"""

# ruff: noqa: T201  # what it prints is what it is for

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from reached import Reached
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "operator_schema"
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
TESTS = ("tests", "docs", "README.md")
SLOW = (
    "tests/workbench/cli",
    "tests/matrix",
    "tests/mutation",
    "tests/typing",
    "tests/house/test_benchmarks.py",
)
"""Tests that say nothing about the mutated modules, or start a process for each question."""
QUICK = 3.0
"""Seconds of tests in the first stage of a mutant."""
TIMEOUT = 600.0
"""Seconds for tests whose usual time isn't known; a mutant that takes longer counts as noticed."""
PATIENCE = 10
"""How many times longer than usual a short stage may take: the change may have made a loop endless."""
START = 30.0
"""Seconds to start Python and collect the tests, on a busy machine."""
MEMORY = 8 * 1024 * 1024
"""KiB of addresses for the tests of a mutant: the change may have removed a bound."""


class Room(NamedTuple):
    """A part of the package, and the tests that specify it.

    Attributes:
        code: files and folders below the package.
        tests: files and folders below `tests/`, those that fail soonest first.
    """

    code: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "introspect": Room(("introspect",), ("introspect", "pitfalls")),
    "codec": Room(("codec",), ("codec", "pitfalls")),
    "schema": Room(
        ("schema",),
        ("schema", "tools/test_document_tool.py", "tools/test_schemas_by_hand.py"),
    ),
    "documents": Room(
        (
            *("schema/document_reader.py", "schema/document.py"),
            *("schema/validator.py", "schema/references.py"),
            *("schema/value_check.py", "schema/written.py"),
        ),
        ("schema", "tools/test_document_tool.py", "tools/test_schemas_by_hand.py"),
    ),
    "errors": Room(
        ("errors.py", "findings.py", "message_text.py", "similar_names.py"),
        ("test_errors.py", "laws/test_error_laws.py", "test_message_text.py"),
    ),
    "values": Room(
        ("immutable.py", "json_copies.py", "json_values.py", "lazy.py"),
        (
            *("test_value.py", "test_json_copies.py", "test_sameness.py", "house/test_import.py"),
            "pages/test_misnamed_imports.py",
        ),
    ),
    "tools": Room(("tools",), ("tools",)),
    "execution": Room(("execution",), ("execution",)),
    "rounds": Room(("rounds",), ("rounds",)),
    "providers": Room(("providers",), ("providers",)),
    "adapters": Room(("adapters",), ("adapters",)),
    "mcp": Room(
        ("adapters/mcp", "adapters/mcp_client.py", "workbench/cli/serve.py", "workbench/cli/contexts.py"),
        ("adapters/mcp", "workbench/cli/test_cli_serve.py", "workbench/cli/test_cli_contexts.py"),
    ),
    "code_tools": Room(("code_tools",), ("code_tools",)),
    "lint": Room(
        ("workbench/lint",),
        ("workbench/test_lint_meanings.py", "workbench/test_lint.py", "workbench/cli/test_cli_check.py"),
    ),
    "cli": Room(
        ("workbench/cli/[!s]*.py", "workbench/cli/sources.py", "workbench/cli/schema_command.py"),
        ("workbench/cli",),
    ),
    "testing": Room(("testing",), ("testing",)),
    "code_mode": Room(("code_mode",), ("code_mode",)),
    "recordings": Room(("recordings",), ("recordings", "testing")),
    "compare": Room(("workbench/compare",), ("workbench/compare",)),
    "bulk": Room(("workbench/bulk",), ("workbench/bulk",)),
    "inspector": Room(("workbench/inspector",), ("workbench/inspector",)),
}
"""Every room that is mutated. Some files are in two of them; `serve.py` belongs to `mcp` alone."""

ENGINE = ("introspect", "codec", "tools", "schema", "errors")


class Mutant(NamedTuple):
    """One change.

    Attributes:
        room: that it belongs to.
        file: below the root of the project.
        line: where it is.
        operator: what cosmic-ray calls the change.
        source: the whole file with the change.
    """

    room: str
    file: str
    line: int
    operator: str
    source: str


class Stage(NamedTuple):
    """Tests of a mutant that run together, and the seconds that they may take."""

    tests: tuple[str, ...]
    seconds: float


class Outcome(NamedTuple):
    """What became of a mutant.

    Attributes:
        mutant: the change.
        verdict: `killed`, `timeout` or `survived`.
        killer: the test that failed, or empty.
        seconds: that its tests took.
    """

    mutant: Mutant
    verdict: str
    killer: str
    seconds: float


def unread_lines(source: str) -> set[tuple[int, int]]:
    """Return the lines and columns where a change does nothing: annotations, protocols, `TYPE_CHECKING`."""
    found: set[tuple[int, int]] = set()
    for node in ast.walk(ast.parse(source)):
        spans: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            spans.append(node.returns)
            if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
                spans += [node, *node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            spans.append(node.annotation)
        elif isinstance(node, ast.If):
            spans += [node] if "TYPE_CHECKING" in ast.unparse(node.test) else []
        elif isinstance(node, ast.ClassDef):
            spans += [node for base in node.bases if "Protocol" in ast.unparse(base)]
        for span in spans:
            if span is not None:
                found.update(places_of(span))
    return found


def places_of(node: Any) -> set[tuple[int, int]]:
    """Return every line and column that a node covers."""
    places = set()
    for line in range(node.lineno, node.end_lineno + 1):
        first = node.col_offset if line == node.lineno else 0
        last = node.end_col_offset if line == node.end_lineno else 200
        places.update((line, column) for column in range(first, last + 1))
    return places


def changes_in(file: Path) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return what can be changed in a file: for each place, operators and their occurrences."""
    source = file.read_text(encoding="utf-8")
    tree, unread = get_ast(source), unread_lines(source)
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for name in operator_names():
        kind = get_operator(name)
        try:
            operator = kind()
        except TypeError:  # it wants to be given the variables to replace
            continue
        places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(places):
            if start not in unread:
                found.setdefault(start, []).append((name, occurrence))
    return found


def files_of(room: Room, only: str) -> list[Path]:
    """Return the modules of a room whose path contains a text."""
    found = [
        file
        for part in room.code
        for file in sorted((ROOT / PACKAGE).glob(part if part.endswith(".py") else f"{part}/**/*.py"))
    ]
    return [file for file in found if only in str(file)]


def draw(rooms: list[str], number: int, seed: int, only: str) -> list[Mutant]:
    """Draw mutants of some rooms at random, all places together."""
    named = [(name, file) for name in rooms for file in files_of(ROOMS[name], only)]
    places = [
        (name, file, place, changes)
        for name, file in named
        for place, changes in sorted(changes_in(file).items())
    ]
    chance = random.Random(seed)  # noqa: S311  # a sample that can be drawn again
    chance.shuffle(places)
    mutants: list[Mutant] = []
    for room, file, (line, _), changes in places:
        if len(mutants) == number:
            break
        name, occurrence = chance.choice(changes)
        before = file.read_text(encoding="utf-8")
        after = changed(before, name, occurrence)
        if after is not None and after != before and compiles(after):
            path = str(file.relative_to(ROOT))
            mutants.append(Mutant(room, path, line, name.removeprefix("core/"), after))
    what = ", ".join(rooms)
    print(f"{what}: {len(places):,} places in {len(named)} files; {len(mutants)} mutants drawn, seed {seed}")
    return mutants


def changed(source: str, name: str, occurrence: int) -> str | None:
    """Return a source with one change, or `None` if cosmic-ray can't make it."""
    try:
        found: str | None = mutate_code(source, get_operator(name)(), occurrence)
    except AttributeError:  # an exception with a dotted name in a tuple
        return None
    return found


def compiles(source: str) -> bool:
    """Return whether Python takes a source without a warning, such as of `is` with a literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "mutant", "exec")
        except (SyntaxError, SyntaxWarning):
            return False
    return True


def copy_project(folder: Path) -> None:
    """Copy what git knows into a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607  # as on any machine
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def measure(room: str, file: Path) -> Reached:
    """Run the tests of a room once and write down what they reach, unless that is already in the file."""
    if not file.exists():
        print(f"{room}: measuring which tests reach which lines", flush=True)
        code = [f"--reached-code={ROOT / PACKAGE / part}" for part in ROOMS[room].code]
        tests = [f"tests/{name}" for name in ROOMS[room].tests if (ROOT / "tests" / name).exists()]
        command = [*PYTEST, "-p", "reached", f"--reached={file}", *code, *tests]
        environment = environment_for(ROOT) | {"COVERAGE_CORE": "ctrace"}  # newer cores know no contexts
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in {0, 1}:
            sys.exit(f"{room}: the tests can't be run: {' '.join(command)}")
    reached = Reached.read(file, ROOT)
    failed = frozenset(test for test in reached.failed if fails(test))
    if failed:
        print(f"{room}: left out, as they fail without a mutant: {', '.join(sorted(failed))}")
    return reached._replace(failed=failed)


def fails(test: str) -> bool:
    """Return whether a test fails that isn't traced: tracing breaks limits of time."""
    command = [*PYTEST, test]
    environment = environment_for(ROOT)
    return (
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode != 0
    )


def environment_for(folder: Path) -> dict[str, str]:
    """Return the environment in which the tests of a copy of the project run."""
    path = os.pathsep.join([str(folder), str(ROOT / "tests" / "mutation")])
    return {**os.environ, "PYTHONPATH": path}


def stages_of(mutant: Mutant, source: str, reached: Reached, options: Namespace) -> list[Stage]:
    """Return the tests to run, stage by stage.

    Args:
        mutant: what they have to notice.
        source: the file without the change.
        reached: what the tests of its room reach.
        options: of the command line.
    """
    covering = reached.covering(mutant.file, source, mutant.line)
    quick = reached.quick(covering, QUICK)
    known = set(reached.seconds) - reached.failed
    if options.most is not None:
        quickest = sorted(covering or known, key=reached.seconds.__getitem__)
        covering = known = set(reached.within(quickest, options.most))
    stages = []
    for tests in (quick, covering.difference(quick), known - covering):
        if tests:
            order = [test for test in reached.seconds if test in tests]
            seconds = sum(reached.seconds[test] for test in order)
            longest = max(2 * seconds, min(TIMEOUT, PATIENCE * seconds))
            stages.append(Stage(tuple(order), START + longest))
    if not options.near and options.most is None:
        ran = [f"tests/{name}" for name in ROOMS[mutant.room].tests]
        stages.append(Stage((*TESTS, *[f"--ignore={name}" for name in (*ran, *SLOW)]), TIMEOUT))
    return stages


def run_stage(folder: Path, tests: tuple[str, ...], seconds: float) -> tuple[int, str]:
    """Run tests until one fails, and return the exit status and the output.

    Raises:
        subprocess.TimeoutExpired: after so many seconds; all processes of the tests are ended.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        listed, output = Path(name, "tests"), Path(name, "output")
        listed.write_text("\n".join(tests), encoding="utf-8")
        limited = f'ulimit -v {MEMORY} 2>/dev/null; exec "$@"'
        with output.open("wb") as stream:
            process = subprocess.Popen(
                ["/bin/sh", "-c", limited, "sh", *PYTEST, "-x", f"@{listed}"],
                cwd=folder,
                env=environment_for(folder),
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                process_group=0,  # not a new session: Linux would take it out of the niceness of this one
            )
            try:
                process.wait(seconds)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode, output.read_text(encoding="utf-8", errors="replace")


def run_tests(folder: Path, stages: list[Stage]) -> tuple[str, str]:
    """Run the tests of one copy until one fails, and return the verdict and the test that failed."""
    for tests, seconds in stages:
        try:
            status, output = run_stage(folder, tests, seconds)
            if status == pytest.ExitCode.USAGE_ERROR:  # cases that are made from the code have other names
                files = tuple(dict.fromkeys(test.partition("::")[0] for test in tests))
                status, output = run_stage(folder, files, TIMEOUT)
        except subprocess.TimeoutExpired:
            return "timeout", ""
        if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)
            return "killed", failed[1] if failed else output[-200:]
    return "survived", ""


def judge(folder: Path, mutant: Mutant, reached: Reached, options: Namespace) -> Outcome:
    """Apply a mutant to a copy, run its tests, and take it back."""
    file = folder / mutant.file
    before = file.read_text(encoding="utf-8")
    started = time.monotonic()
    file.write_text(mutant.source, encoding="utf-8")
    try:
        verdict, killer = run_tests(folder, stages_of(mutant, before, reached, options))
    finally:
        file.write_text(before, encoding="utf-8")
    return Outcome(mutant, verdict, killer, time.monotonic() - started)


def difference(mutant: Mutant) -> str:
    """Return a mutant as a diff of one line of context."""
    before = (ROOT / mutant.file).read_text(encoding="utf-8").splitlines()
    lines = difflib.unified_diff(before, mutant.source.splitlines(), mutant.file, mutant.file, "", "", 1, "")
    return "\n".join(lines)


def run(mutants: list[Mutant], reached: dict[str, Reached], options: Namespace) -> list[Outcome]:
    """Judge every mutant, some side by side."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)
    outcomes: list[Outcome] = []
    lock = threading.Lock()

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="mutants-") as name:
            copy_project(Path(name))
            while True:
                try:
                    mutant = waiting.get_nowait()
                except queue.Empty:
                    return
                outcome = judge(Path(name), mutant, reached[mutant.room], options)
                with lock:
                    outcomes.append(outcome)
                    bar.advance(task)
                    note(outcome, options.log)

    with Progress() as bar:
        task = bar.add_task("mutants", total=len(mutants))
        threads = [threading.Thread(target=work) for _ in range(options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcomes


def note(outcome: Outcome, log: Path | None) -> None:
    """Write an outcome to the log at once: a long run may be interrupted."""
    if log is None:
        return
    mutant = outcome.mutant
    entry = {
        "verdict": outcome.verdict,
        "killer": outcome.killer,
        "seconds": round(outcome.seconds, 1),
        "room": mutant.room,
        "file": mutant.file,
        "line": mutant.line,
        "operator": mutant.operator,
        "diff": difference(mutant) if outcome.verdict == "survived" else None,
    }
    with log.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def report(outcomes: list[Outcome], at_least: float) -> int:
    """Print the survivors and the score of each room, and return the exit status.

    Args:
        outcomes: of all mutants.
        at_least: percentage of the mutants of each room that has to be noticed.
    """
    for outcome in sorted(outcomes, key=lambda outcome: outcome.mutant[:3]):
        if outcome.verdict == "survived":
            print(f"\nsurvived: {outcome.mutant.operator}\n{difference(outcome.mutant)}")
    table = Table("room", *[Column(name, justify="right") for name in ("mutants", "noticed", "by time", "%")])
    missed: list[str] = []
    for room in dict.fromkeys(outcome.mutant.room for outcome in outcomes):
        counts = Counter(outcome.verdict for outcome in outcomes if outcome.mutant.room == room)
        tried, noticed = counts.total(), counts["killed"] + counts["timeout"]
        share = 100 * noticed / tried
        table.add_row(room, f"{tried}", f"{noticed}", f"{counts['timeout']}", f"{share:.1f}")
        if share < at_least:
            missed.append(room)
    Console().print(table)
    print("Read each survivor: it is equivalent to the code, or a test is missing.")
    if missed:
        print(f"below {at_least:g} %: {', '.join(missed)}")
    return 1 if missed else 0


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "rooms",
        nargs="*",
        metavar="ROOM",
        help=f"{', '.join(ROOMS)}, or all: MUTANTS of each. Without one, MUTANTS of the whole engine "
        f"({', '.join(ENGINE)})",
    )
    parser.add_argument("--mutants", type=int, default=300, help="how many to draw (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="draws the same mutants again (default: 0)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="side by side (default: all)"
    )
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--log", type=Path, help="write each outcome to this file, one JSON object a line")
    parser.add_argument(
        "--reached", type=Path, metavar="FOLDER", help="keep here what the tests reach, and take it from here"
    )
    parser.add_argument("--near", action="store_true", help="run only the tests of the room")
    parser.add_argument(
        "--most",
        type=float,
        metavar="SECONDS",
        help="run only tests that reach the line, the quickest first, for so long: slow laws may notice more",
    )
    parser.add_argument(
        "--at-least", type=float, default=0, metavar="PERCENT", help="fail if a room's score is lower"
    )
    options = parser.parse_args()
    unknown = [name for name in options.rooms if name not in (*ROOMS, "all")]
    if unknown:
        parser.error(f"no such room: {', '.join(unknown)}; the rooms are {', '.join(ROOMS)}, or all")
    rooms = list(ROOMS) if "all" in options.rooms else list(dict.fromkeys(options.rooms))
    groups = [[name] for name in rooms] or [list(ENGINE)]
    mutants = [one for group in groups for one in draw(group, options.mutants, options.seed, options.only)]
    with tempfile.TemporaryDirectory(prefix="reached-") as temporary:
        kept = options.reached or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        met = dict.fromkeys(mutant.room for mutant in mutants)
        reached = {room: measure(room, kept / f"{room}.json") for room in met}
    outcomes = run(mutants, reached, options)
    return report(outcomes, options.at_least)


if __name__ == "__main__":
    sys.exit(main())
