"""`make test` draws the same examples each time, `make laws` others, and says which and how many."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from patience import LONGEST_WAIT

LAWS = """
from pathlib import Path
import pytest
from hypothesis import given, settings, strategies as st

drawn = []

@pytest.mark.parametrize("case", [1, 2])
@given(st.integers())
@settings(max_examples=20, database=None, derandomize=False)  # also where CI=true
def test_a_law_of_two_cases(case, number):
    drawn.append(number)

@given(st.integers())
@settings(max_examples=30, database=None, derandomize=False)
def test_a_law(number):
    drawn.append(number)

def test_no_law():
    assert len(drawn) == 70
    Path("drawn").write_text(str(drawn))
"""


@pytest.mark.parametrize("name", ["default", "matrix"])
def test_the_same_commit_has_the_same_result_each_time(name):
    profile = settings.get_profile(name)
    assert (profile.derandomize, profile.database) == (True, None)


def test_make_laws_draws_at_random():
    profile = settings.get_profile("thorough")
    assert (profile.derandomize, profile.print_blob) == (False, True)


TESTS = Path(__file__).parents[1]


def test_what_make_laws_tries_whole_is_a_law():
    """It runs what draws examples, and what has the mark."""
    found = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        names = set(
            re.findall(
                r"\b(?:share|seeds)\b", "".join(re.findall("^from shares import .*", text, re.MULTILINE))
            )
        )
        for node in ast.parse(text).body if names else []:
            used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} & names
            if used and isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marks = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
                found[f"{path.name}: {node.name}"] = bool(marks & {"given", "pytest.mark.hypothesis"})
    assert len(found) > 4
    assert [name for name, is_law in found.items() if not is_law] == []


def run(folder, seed, *options):
    """Run laws by a seed; return what they drew, and the line that counts it."""
    plugins = ["_hypothesis_pytestplugin", "drawn_laws", "xdist"]
    done = subprocess.run(
        [
            *[sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--hypothesis-seed={seed}"],
            *[word for plugin in plugins for word in ("-p", plugin)],
            *options,
        ],
        cwd=folder,
        env={
            **{name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")},
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "LAWS_SEED": str(seed),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_WAIT,
    )
    assert done.returncode == 0, done.stdout
    (line,) = re.findall(".*laws with.*", done.stdout)
    return (folder / "drawn").read_text(), line


@pytest.mark.needs_process
@pytest.mark.slow("starts pytest three times")
def test_a_seed_draws_the_same_and_another_one_does_not(tmp_path):
    (tmp_path / "test_laws.py").write_text(LAWS)
    said = "3 laws with 70 examples; `make laws SEED=1` draws the same again"
    drawn = run(tmp_path, 1)
    assert drawn[1] == said
    assert run(tmp_path, 1, "-n", "2", "--dist", "loadfile") == drawn
    assert run(tmp_path, 2)[0] != drawn[0]
