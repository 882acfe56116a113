"""Run the tests in several processes, each of which takes one file after another.

pytest-xdist lets each process collect all tests, and sends each result to one more process: with so many
small tests, that is a sixth of all the work. Here a process collects a file when it takes it, which no other
does, and says itself what failed.

    this file as a program  ->  pytest, as often as --processes says, with `TakenFiles` as a plugin
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import operator_schema

NO_TESTS = int(pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--taken-in", type=Path, help="run files that no process with the same folder has taken")


def pytest_configure(config: pytest.Config) -> None:
    if folder := config.getoption("taken_in"):
        config.pluginmanager.register(TakenFiles(folder))


class TakenFiles:
    """A plugin that runs only files which no other process with the same folder has taken.

    Attributes:
        folder: holds an empty file for each file that is taken.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[pytest.File] | None = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Put a file aside until it is taken: to collect it means to import it."""
        if (
            self._files is None
            or not isinstance(collector, pytest.File)
            or isinstance(collector, pytest.Package)
        ):
            return None
        self._files.append(collector)
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take files as long as there are some, and run their tests."""
        files, self._files = sorted(self._files or (), key=_quickness), None
        if "hypothesis" in sys.modules and session.config.getoption("part", default=None) != "engine":
            _import_package()
        item = None
        for following in self._items(session, files):
            if item:
                _run(item, following)
            item = following
        if item:
            _run(item, None)
        return True

    def _items(self, session: pytest.Session, files: Sequence[pytest.File]) -> Iterator[pytest.Item]:
        hook = session.config.hook
        for file in files:
            if not self._takes(file):
                continue
            items = session.items = list(session.genitems(file))
            hook.pytest_collection_modifyitems(session=session, config=session.config, items=items)
            hook.pytest_collection_finish(session=session)
            session.testscollected += len(session.items)
            yield from list(session.items)

    def _takes(self, file: pytest.File) -> bool:
        name = file.path.relative_to(file.config.rootpath).as_posix().replace("/", "+")
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def _import_package() -> None:
    """Import the package: laws draw constants of what is imported, whatever files were taken before."""
    for module in pkgutil.walk_packages(operator_schema.__path__, "operator_schema."):
        if "adapters." not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _quickness(file: pytest.File) -> tuple[int, str]:
    """Return a key that puts slow tests first, so that no process ends long after the others."""
    return -file.path.read_bytes().count(b"mark.slow"), file.nodeid


def _run(item: pytest.Item, following: pytest.Item | None) -> None:
    session = item.session
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


# The program.

QUIETLY = ("--quiet", "--override-ini=console_output_style=classic", "-p", "no:cacheprovider")
ENDED = re.compile(rb"^\d+ \w+.* in [\d.]+s( \([\d:]+\))?$", re.MULTILINE)
DIED = 70
printing = threading.Lock()


def run_pytest(words: Sequence[str], folder: Path, data_file: Path) -> int:
    """Run pytest on the files that it can take; return its exit status.

    Its dots are printed at once, and what it says at the end all together.

    Args:
        words: for pytest.
        folder: holds what is taken.
        data_file: for coverage, where it is measured.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *QUIETLY, *words, f"--taken-in={folder}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "COVERAGE_FILE": str(data_file)},
        bufsize=0,
    )
    said = b""
    while part := process.stdout.read(4096):
        dots, newline, rest = (b"", b"", part) if said else part.partition(b"\n")
        said += newline + rest
        if dots:
            show(dots)
    status = process.wait()
    if status == NO_TESTS:  # the others took all files
        return status
    show(said.lstrip(b"\n"))
    if ENDED.search(said):
        return status
    show(f"a process of pytest died with status {status}: the tests after that are missing\n".encode())
    return status or DIED


def show(text: bytes) -> None:
    with printing:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def words_for(part: str) -> list[str]:
    return [f"--part={part}", *(("--cov", "--cov-report=", "tests") if part == "engine" else ())]


def main() -> int:
    """Run the tests, or some parts of them one after the other, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument("--parts", nargs="*", default=[], help="engine, under coverage, and rest")
    parser.add_argument("words", nargs="*", help="for pytest, after --")
    arguments = parser.parse_args()
    parts = [words_for(part) for part in arguments.parts] or [[]]
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(arguments.processes) as pool:
        folders = [Path(name, str(number)) for number in range(len(parts))]
        for folder in folders:
            folder.mkdir()

        # A process goes on with the next part as soon as nothing is left of the one before.
        def run_parts(number: int) -> list[int]:
            return [
                run_pytest([*part, *arguments.words], folder, Path(f".coverage.{number}"))
                for part, folder in zip(parts, folders, strict=True)
            ]

        statuses = [status for some in pool.map(run_parts, range(arguments.processes)) for status in some]
    if min(statuses) == NO_TESTS:
        show(b"no test was chosen\n")
    failed = [status for status in statuses if status not in {0, NO_TESTS}]
    return max(failed) if failed else min(statuses)


if __name__ == "__main__":
    sys.exit(main())
