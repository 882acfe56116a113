"""Find out which branches of the engine the tests reach: `pytest -p tests.reached_branches`.

On Python 3.11, coverage.py traces each line each time it runs, which doubles the time of a test. SlipCover
puts probes into the code of a module when it is imported, and takes those out that were hit. What it finds
becomes data of coverage.py, which says what must be covered (`pyproject.toml`), and reports what isn't. The
run fails if anything is missing.
"""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import Coverage, CoverageData

SENT = "reached_branches"
NEVER = 2**31 - 1
ALL = 100
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Reached(NamedTuple):
    """What ran of a file."""

    lines: set[int]
    branches: set[tuple[int, int]]
    """Line of a statement, and of what ran next: 0 is the function's end. A case has its `match`'s line."""


def arcs(source: str, reached: Reached) -> set[tuple[int, int]]:
    """Return what ran as coverage.py writes it: pairs of lines. An end is minus the function's first line."""
    nodes = list(ast.walk(ast.parse(source)))
    matches = {node.lineno: node for node in nodes if isinstance(node, ast.Match)}
    bodies = [node.body for node in nodes if isinstance(getattr(node, "body", None), list)]
    skipped = {
        before.lineno: after.lineno
        for body in bodies
        for before, after in pairwise(body)
        if isinstance(before, ast.Global | ast.Nonlocal)
    }
    scopes = [node for node in nodes if isinstance(node, SCOPES)]
    found = {(line, line) for line in reached.lines}
    for start, to in reached.branches:
        end = skipped.get(to, to) or -_first_line_around(start, scopes)
        if start in matches:
            found |= _through_cases(matches[start], end)
        else:
            found.add((start, end))
    return found


def write(reached: dict[str, Reached], data: CoverageData) -> None:
    """Let data say what ran of each file, and nothing else."""
    data.erase()
    data.add_arcs({name: arcs(Path(name).read_text(encoding="utf-8"), one) for name, one in reached.items()})
    data.close()


def _first_line_around(line: int, scopes: list) -> int:
    around = [scope for scope in scopes if scope.lineno <= line <= scope.end_lineno]
    if not around:
        return 1
    inner = max(around, key=lambda scope: scope.lineno)
    return min([inner.lineno, *(decorator.lineno for decorator in inner.decorator_list)])


def _through_cases(match: ast.Match, end: int) -> set[tuple[int, int]]:
    """Return the way from the first case down to the one that fits, or to what follows if none does."""
    cases = [case.pattern.lineno for case in match.cases]
    bodies = [case.body[0].lineno for case in match.cases]
    tried = cases[: bodies.index(end) + 1] if end in bodies else cases
    return {*pairwise(tried), (tried[-1], end)}


class Probes:
    """Probes in the modules that `pyproject.toml` names, from now on."""

    def __init__(self, folders: list[str]) -> None:
        import slipcover  # not before pytest has loaded its plugins: SlipCover has one

        # Probes stay: to take them out, SlipCover compares the globals and locals of all frames.
        self.found = slipcover.Slipcover(branch=True, exclude_lines=[], d_miss_threshold=NEVER)
        slipcover.ImportManager(self.found, slipcover.FileMatcher(sources=folders)).__enter__()

    def reached(self) -> dict[str, Reached]:
        return {
            str(Path(name).resolve()): Reached(set(one["executed_lines"]), set(one["executed_branches"]))
            for name, one in self.found.get_coverage()["files"].items()
        }


class Measurement:
    """Probes in each process that runs tests, and one that collects what these found."""

    def __init__(self, probes: Probes | None) -> None:
        self.probes = probes
        self.together: dict[str, Reached] = defaultdict(lambda: Reached(set(), set()))
        self.report = StringIO()

    def add(self, found: dict) -> None:
        for name, (lines, branches) in found.items():
            self.together[name].lines.update(lines)
            self.together[name].branches.update(branches)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error) -> None:  # noqa: ARG002  # pytest passes them by name
        # A process that ended before its time has found nothing: what only its tests reach is reported.
        self.add(getattr(node, "workeroutput", {}).get(SENT, {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session) -> None:
        found = self.probes.reached() if self.probes else {}
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[SENT] = {name: tuple(one) for name, one in found.items()}
            return
        self.add(found)
        measured = Coverage()
        write(self.together, CoverageData(measured.get_option("run:data_file")))
        measured.load()
        share = measured.report(file=self.report, show_missing=True, skip_covered=True)
        if share < ALL:
            self.report.write("\nEach line and branch of the engine must be reached.\n")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        terminalreporter.write_line(self.report.getvalue())


@pytest.hookimpl(tryfirst=True)  # before a conftest.py imports the package
def pytest_load_initial_conftests(early_config) -> None:
    runs_tests = "PYTEST_XDIST_WORKER" in os.environ or not early_config.known_args_namespace.numprocesses
    patterns = Coverage().get_option("run:include")
    folders = [str(early_config.rootpath / pattern.removesuffix("/*")) for pattern in patterns]
    early_config.pluginmanager.register(Measurement(Probes(folders) if runs_tests else None))
