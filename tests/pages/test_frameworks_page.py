"""The page about frameworks: its tables are those of the tests with frameworks."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "frameworks" / "turn_table.py"


def test_the_tables_are_those_of_the_tests():
    module = runpy.run_path(str(TABLE))
    remedy = "run python tests/frameworks/turn_table.py"
    assert module["PAGE"].read_text(encoding="utf-8") == module["page_with_tables"](), remedy


@pytest.mark.parametrize("adapter", runpy.run_path(str(TABLE))["constants"]())
def test_what_the_table_says_of_schemas_is_checked_on_what_is_sent(adapter):
    (file,) = TABLE.parent.glob(f"*/test_adapter_{adapter}.py")
    assert "check_schemas(SCHEMA, " in file.read_text(encoding="utf-8")


def test_the_example_about_schemas_says_what_is_changed():
    module = runpy.run_path(str(TABLE))
    found = module["run_section"]("What a framework makes of a schema")["changes"]
    page = module["PAGE"].read_text(encoding="utf-8")
    assert "```text\n" + "\n".join(found) + "\n```" in page


def test_the_top_leads_to_every_section():
    page = runpy.run_path(str(TABLE))["PAGE"].read_text(encoding="utf-8")
    top, *sections = page.split("\n## ")
    titles = [section.partition("\n")[0] for section in sections]
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", top)) == anchors
