"""What docs/inspector.md says is true."""

from __future__ import annotations

import re
from pathlib import Path

from operator_schema.workbench.inspector import subject_of
from operator_schema.workbench.inspector.call_logs import read_log, replayed_log

PAGE = (Path(__file__).parents[3] / "docs" / "inspector.md").read_text(encoding="utf-8")
MOST_BYTES = 200_000


def test_the_calls_of_the_page_fail_for_the_reason_that_it_shows(define, tmp_path):
    desk = define(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], "desk_of_the_page")
    log, why = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[1:]
    (tmp_path / "calls.jsonl").write_text(log, encoding="utf-8")
    found = replayed_log(read_log(tmp_path / "calls.jsonl"), subject_of("desk", desk.toolset).tool)
    assert found["counts"] == {
        "calls": 2,
        "fit": 1,
        "repaired": 0,
        "failing": 1,
        "redacted": 0,
        "unreadable": 0,
    }
    assert found["failing"][0]["text"].startswith(why.rstrip("\n"))


def test_its_pictures_are_there_and_small():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)
    assert pictures
    for name in pictures:
        assert (Path(__file__).parents[3] / "docs" / name).stat().st_size < MOST_BYTES
