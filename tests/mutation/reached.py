"""Write down which tests reach which lines and how long each test takes, as a plugin of pytest.

`pytest -p reached --reached FILE --reached-code FOLDER` writes one JSON object, which `Reached` reads.
What runs in another process isn't seen, and a line of a cached function counts only for the test that ran it
first.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest
from coverage import Coverage

NO_TEST = "(no test)"


class Reached(NamedTuple):
    """What the tests of a room reach.

    Attributes:
        seconds: that each test takes, by its node id, in the order of the run.
        failed: tests that fail without any change, which say nothing about a mutant.
        lines: for each file, below the root of the project, and each line: the tests that run it.
    """

    seconds: dict[str, float]
    failed: frozenset[str]
    lines: dict[str, dict[int, frozenset[str]]]

    @classmethod
    def read(cls, file: Path, root: Path) -> Self:
        """Read what the plugin wrote for a project."""
        written = json.loads(file.read_text(encoding="utf-8"))
        tests = list(written["seconds"])
        lines = {
            str(Path(name).relative_to(root)): {
                int(line): frozenset(tests[number] for number in numbers) for line, numbers in found.items()
            }
            for name, found in written["lines"].items()
        }
        return cls(written["seconds"], frozenset(written["failed"]), lines)

    def covering(self, file: str, source: str, line: int) -> set[str]:
        """Return the tests that reach a line, or all that reach its file if an import runs the line."""
        lines = self.lines.get(file, {})
        statement = lines_of_statement(source, line)
        found = lines.values() if statement is None else [lines.get(part, frozenset()) for part in statement]
        return set().union(*found) - self.failed

    def quick(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return the quickest cases of many test functions, that take so many seconds together.

        There is at least one, and each function has its turn before any has its second.
        """
        met: Counter[str] = Counter()
        ranked = []
        for test in sorted(tests, key=self.seconds.__getitem__):
            function = test.partition("[")[0]
            ranked.append((met[function], self.seconds[test], test))
            met[function] += 1
        return self.within([test for _, _, test in sorted(ranked)], seconds)

    def within(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return the first of some tests, that take so many seconds together; at least one."""
        chosen: list[str] = []
        for test in tests:
            seconds -= self.seconds[test]
            if seconds < 0 and chosen:
                break
            chosen.append(test)
        return chosen


def lines_of_statement(source: str, line: int) -> set[int] | None:
    """Return the lines of the statement around a line, or `None` if it runs when the module is imported.

    Of a statement with a body only the head counts. The head of a function also runs only once.
    """
    path = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and first_line(node) <= line <= (node.end_lineno or line)
    ]
    inner = max(path, key=first_line, default=None)
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    if inner is None or isinstance(inner, kinds) or not any(isinstance(node, kinds) for node in path):
        return None
    body = getattr(inner, "body", None)
    last = body[0].lineno - 1 if body else inner.end_lineno or line
    return {line, *range(inner.lineno, last + 1)}


def first_line(node: ast.stmt) -> int:
    """Return the line of a statement, with its decorators."""
    return min([node.lineno, *[one.lineno for one in getattr(node, "decorator_list", [])]])


class Recorder:
    """Trace the code under test, with the name of the test that runs as the context.

    Args:
        file: to write.
        code: folders and files to trace.
    """

    def __init__(self, file: Path, code: list[str]) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        parts = [part if part.endswith(".py") else f"{part}/*" for part in code]
        self.coverage = Coverage(data_file=None, config_file=False, include=parts)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.seconds[item.nodeid] = 0.0
        self.coverage.switch_context(item.nodeid)
        done = yield
        self.coverage.switch_context(NO_TEST)
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        number = {name: index for index, name in enumerate(self.seconds)}
        lines: dict[str, Any] = {
            name: {
                line: sorted(number[context] for context in contexts if context in number)
                for line, contexts in data.contexts_by_lineno(name).items()
            }
            for name in data.measured_files()
        }
        written = {"seconds": self.seconds, "failed": sorted(self.failed), "lines": lines}
        self.file.write_text(json.dumps(written), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reached", type=Path, help="write here which tests reach which lines")
    parser.addoption("--reached-code", action="append", default=[], help="trace this file or folder")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--reached") is not None:
        config.pluginmanager.register(
            Recorder(config.getoption("--reached"), config.getoption("--reached-code")), "recorder"
        )
