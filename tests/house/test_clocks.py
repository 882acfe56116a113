"""No test is bound to the speed of the machine: `patience.py` alone reads clocks and sets waits."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CLOCKS = {
    name + unit
    for name in ("monotonic", "perf_counter", "process_time", "thread_time", "time")
    for unit in ("", "_ns")
}

MAY_READ_CLOCKS = {
    "patience.py": "the one place",
    "adapters/test_opentelemetry.py": "puts another day in place of today",
    "rounds/test_stores.py": "puts another day in place of today",
    "code_mode/test_journals.py": "puts another day in place of today",
    "rounds/test_hooks_around_calls.py": "a round says when it was deferred: between two looks at the clock",
    "workbench/probe/faulty_server.py": "a tool that tells the time",
    "workbench/probe/notes_server.py": "a tool that tells the time",
    "workbench/probe/test_time_limit.py": "gives the probe times that are over, or ten minutes ahead",
    "workbench/inspector/test_in_browser.py": "writes down what a page took, and asserts nothing of it",
}
"""Files of tests, each with the reason why it reads a clock."""

PROGRAMS = ("campaign", "damage", "frameworks/grammars/measure.py", "matrix", "mutation", "tool_search")
"""Folders of programs that report what they took; `make test` runs none of them."""

WAITS = {
    "at_most": 0,
    "communicate": 1,
    "create_connection": 1,
    "fail_after": 0,
    "HTTPConnection": 2,
    "join": 0,
    "wait": 0,
    "wait_for": 1,
    "wait_until": 1,
}
"""Functions that wait, or fail, after so many seconds, with the place of the seconds."""

SHORTEST_WAIT = 120

MAY_WAIT_SHORTER = {
    "workbench/cli/test_cli_terminal.py": "sends a signal up to thirty times",
    "frameworks/conformance/measure.py": "asks again whether a server takes connections",
    "workbench/inspector/test_http.py": "a connection that has to be refused",
}
"""Files of tests that go on after a wait that is over."""


def files() -> list[str]:
    found = [path.relative_to(TESTS).as_posix() for path in sorted(TESTS.rglob("*.py"))]
    return [name for name in found if not name.startswith(PROGRAMS)]


MAY_BE_CLOCK = re.compile(r"\btime\.[a-z]|\bfrom time import")
MAY_BE_WAIT = re.compile(r"timeout=\d|seconds=\d|\b(?:" + "|".join(WAITS) + r")\([^\n]*\d")


def clocks_read(source: str) -> list[int]:
    """Return the lines that name a clock of `time`, or import it."""
    found = []
    for node in ast.walk(ast.parse(source if MAY_BE_CLOCK.search(source) else "")):
        match node:
            case ast.Attribute(ast.Name("time"), name, ast.Load()) if name in CLOCKS:
                found.append(node.lineno)
            case ast.ImportFrom(module="time", names=names) if CLOCKS & {each.name for each in names}:
                found.append(node.lineno)
    return found


def seconds_of(call: ast.Call) -> list[ast.expr]:
    """Return what a call gives as the seconds after which it fails, if it does."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    named = [each.value for each in call.keywords if each.arg == "timeout"]
    if name in WAITS:
        return call.args[WAITS[name] :][:1] + named
    return named if ast.unparse(function) == "subprocess.run" else []


def short_waits(source: str) -> list[int]:
    """Return the lines that wait for less than `SHORTEST_WAIT`; below a second a wait is meant to end."""
    found = []
    for node in ast.walk(ast.parse(source if MAY_BE_WAIT.search(source) else "")):
        for each in seconds_of(node) if isinstance(node, ast.Call) else []:
            match each:
                case ast.Constant(int() | float() as seconds) if 1 <= seconds < SHORTEST_WAIT:
                    found.append(node.lineno)
    return found


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return {name: (TESTS / name).read_text(encoding="utf-8") for name in files()}


def test_only_patience_reads_a_clock(sources):
    found = {name: lines for name, text in sources.items() if (lines := clocks_read(text))}
    assert {name: lines for name, lines in found.items() if name not in MAY_READ_CLOCKS} == {}
    assert set(found) == set(MAY_READ_CLOCKS)


def test_what_fails_after_a_wait_waits_long_enough_for_any_machine(sources):
    found = {name: lines for name, text in sources.items() if (lines := short_waits(text))}
    assert {name: lines for name, lines in found.items() if name not in MAY_WAIT_SHORTER} == {}
    assert set(found) == set(MAY_WAIT_SHORTER)


@pytest.mark.parametrize(
    "source",
    [
        "import time\nassert time.process_time() - started < 1",
        "import time\nclock = time.monotonic",
        "from time import perf_counter_ns as now",
    ],
)
def test_a_clock_is_found(source):
    assert clocks_read(source)


def test_what_is_no_clock_is_left():
    assert clocks_read("import time\ntime.sleep(1)\ntimes.time\ntime.time = None") == []


@pytest.mark.parametrize(
    "source",
    [
        "assert done.wait(10)",
        "thread.join(timeout=5)",
        "subprocess.run(words, timeout=20)",
        "with anyio.fail_after(1): ...",
        "waiting = asyncio.wait_for(run(), 2)",
    ],
)
def test_a_short_wait_is_found(source):
    assert short_waits(source) == [1]


def test_what_is_no_short_wait_is_left():
    assert short_waits("', '.join(names)\nevent.wait()\ndone.wait(LONGEST_WAIT)\nrun(work, 20)") == []
