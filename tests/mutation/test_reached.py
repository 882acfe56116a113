"""The measurement of what tests reach, by which the mutants' tests are chosen."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE))

from reached import Reached, lines_of_statement  # noqa: E402  # it is beside this file

CODE = dedent(
    """\
    LIMIT = 2

    def grown(value):
        if (
            value > LIMIT
            and value
        ):
            return (
                value
                + 1
            )
        return value

    class Box:
        side: int = 3

        @property
        def area(self):
            return self.side * self.side
    """
)
TESTS = dedent(
    """\
    import pytest
    from code_under_test import Box, grown

    @pytest.mark.parametrize("value", [1, 5])
    def test_grown(value):
        assert grown(value) >= value

    def test_box():
        assert Box().area == 9

    def test_that_fails():
        assert grown(7) == 7
    """
)
SMALL, LARGE, BOX, FAILS = (
    f"test_it.py::{name}" for name in ("test_grown[1]", "test_grown[5]", "test_box", "test_that_fails")
)


@pytest.fixture(scope="module")
def reached(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "code_under_test.py").write_text(CODE)
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    file = folder / "reached.json"
    pytest_with = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "reached"]
    done = subprocess.run(
        [*pytest_with, f"--reached={file}", f"--reached-code={folder / 'code_under_test.py'}"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": f"{HERE}{os.pathsep}{folder}",
            "COVERAGE_CORE": "ctrace",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to import those of our tests would take most of the time
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return Reached.read(file, folder)


@pytest.mark.needs_process
def test_each_test_has_its_time_and_what_fails_is_known(reached):
    assert list(reached.seconds) == [SMALL, LARGE, BOX, FAILS]
    assert all(0 < seconds < 10 for seconds in reached.seconds.values())
    assert reached.failed == {FAILS}


@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (1, {SMALL, LARGE, BOX}),  # an import runs it, and any test may depend on it
        (3, {SMALL, LARGE, BOX}),
        (5, {SMALL, LARGE}),
        (9, {LARGE}),
        (10, {LARGE}),
        (12, {SMALL}),
        (15, {SMALL, LARGE, BOX}),
        (17, {SMALL, LARGE, BOX}),
        (19, {BOX}),
    ],
)
def test_the_tests_that_reach_a_line_are_known(reached, line, tests):
    assert reached.covering("code_under_test.py", CODE, line) == tests


@pytest.mark.needs_process
def test_no_test_reaches_what_nobody_imported(reached):
    assert reached.covering("other.py", CODE, 5) == set()


@pytest.mark.parametrize(
    ("line", "lines"),
    [(1, None), (3, None), (6, {4, 5, 6, 7}), (10, {8, 9, 10, 11}), (12, {12}), (17, None), (18, None)],
)
def test_the_lines_of_a_statement_belong_together(line, lines):
    assert lines_of_statement(CODE, line) == lines


def test_quick_tests_take_turns():
    seconds = {"t::a[1]": 0.1, "t::a[2]": 0.2, "t::b": 0.5, "t::c": 2.0, "t::a[3]": 0.3}
    reached = Reached(seconds, frozenset(), {})
    assert reached.quick(seconds, 0.7) == ["t::a[1]", "t::b"]
    assert reached.quick(seconds, 2.85) == ["t::a[1]", "t::b", "t::c", "t::a[2]"]
    assert reached.quick(["t::c"], 0.1) == ["t::c"]
    assert reached.quick([], 1) == []
