"""Processes that share the files of tests run each test once, and lose no failure."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from side_by_side import pytest_addoption, pytest_configure
"""
NOTED = """
from pathlib import Path
def note(name):
    with Path({ran!r}).open("a") as file:
        file.write(name + "\\n")
"""

pytestmark = [pytest.mark.needs_process, pytest.mark.slow("starts processes of pytest")]


def run_all(folder, processes, **files):
    """Run pytest on files in some processes; return status, output, and how often each test ran."""
    ran = folder / "ran.txt"
    ran.touch()
    (folder / "conftest.py").write_text(CONFTEST)
    for name, source in files.items():
        (folder / f"{name}.py").write_text(NOTED.format(ran=str(ran)) + source)
    program = [sys.executable, str(TESTS / "side_by_side.py"), f"--processes={processes}"]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr, Counter(ran.read_text().split())


def test_each_test_runs_once_and_every_failure_is_told(tmp_path):
    status, output, ran = run_all(
        tmp_path,
        2,
        test_one="import pytest\n@pytest.mark.parametrize('n', range(5))\ndef test_1(n): note(f'one{n}')\n",
        test_two="def test_2(): note('two')\ndef test_3(): note('three'); assert 0, 'wrong'\n",
        test_three="import not_there\n",
        test_four="def test_4(): note('four')\n",
    )
    assert status == 1
    assert ran == Counter([*(f"one{n}" for n in range(5)), "two", "three", "four"])
    assert "FAILED test_two.py::test_3 - AssertionError: wrong" in output
    assert "ERROR test_three.py" in output


def test_without_a_failure_the_status_is_0_though_a_process_found_nothing_to_do(tmp_path):
    status, _, ran = run_all(tmp_path, 2, test_one="def test_1(): note('one')\n")
    assert (status, ran) == (0, Counter(["one"]))


def test_without_a_test_it_says_so(tmp_path):
    assert run_all(tmp_path, 1) == (5, "no test was chosen\n", Counter())


def test_a_process_that_dies_is_a_failure(tmp_path):
    status, output, _ = run_all(tmp_path, 1, test_one="import os\ndef test_1(): os._exit(0)\n")
    assert status == 70
    assert "a process of pytest died with status 0" in output
