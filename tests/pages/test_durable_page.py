"""The programs on the page about durable engines are those that its tests run with the real engines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "durable.md").read_text(encoding="utf-8")
PROGRAMS = ROOT / "tests" / "frameworks" / "durable"
SHOWN = dict(re.findall(r"^## (\w+)\n\n```py\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))


def statements(text):
    return [ast.dump(statement) for statement in ast.parse(text).body]


@pytest.mark.parametrize("engine", ["DBOS", "Prefect", "Restate"])
def test_the_program_of_an_engine_is_the_one_that_is_tested(engine):
    tested = statements((PROGRAMS / f"{engine.lower()}_desk.py").read_text(encoding="utf-8"))
    assert [statement for statement in statements(SHOWN[engine]) if statement not in tested] == []


def test_each_engine_with_a_program_is_on_the_page():
    tested = {path.name.removesuffix("_desk.py") for path in PROGRAMS.glob("*_desk.py")}
    assert tested == {engine.lower() for engine in SHOWN}
