"""The page about frameworks: its table is that of the tests with frameworks."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

TABLE = Path(__file__).parent / "frameworks" / "turn_table.py"


def test_the_table_of_turns_is_that_of_the_tests():
    module = runpy.run_path(str(TABLE))
    remedy = "run python tests/frameworks/turn_table.py"
    assert module["PAGE"].read_text(encoding="utf-8") == module["page_with"](module["written"]()), remedy


def test_the_example_about_schemas_says_what_is_changed():
    module = runpy.run_path(str(TABLE))
    found = module["run_section"]("What a framework makes of a schema")["changes"]
    page = module["PAGE"].read_text(encoding="utf-8")
    assert "```text\n" + "\n".join(found) + "\n```" in page


def test_every_section_is_in_the_list_at_the_top():
    page = runpy.run_path(str(TABLE))["PAGE"].read_text(encoding="utf-8")
    top, *sections = page.split("\n## ")
    titles = [section.partition("\n")[0] for section in sections]
    assert re.findall(r"\[([^]]+)\]\(#", top) == titles
