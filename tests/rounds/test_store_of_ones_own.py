"""The store for a third database that `docs/stores.md` shows keeps what stores promise."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from operator_schema.rounds import Store
from operator_schema.testing import check_store, store_checks

pytest.importorskip("duckdb", reason="duckdb isn't installed here")

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"
(SHOWN,) = [
    code
    for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if "class DuckDatabase" in code
]
exec(compile(SHOWN, str(PAGE), "exec"), globals())  # noqa: S102  # of our own page

SLOW = {"_in_order", "_one_runs", "_items", "_killed", "_lists", "_results_are_kept", "_clocks"}
"""Many transactions, each of which opens the file; or what the two stores that ship try with processes."""


def opened(path):
    return Store(DuckDatabase(path))  # noqa: F821  # of the page


def test_the_shown_database_is_short():
    assert len([line for line in SHOWN.splitlines() if line.strip()]) <= 40


@pytest.mark.needs_process
@pytest.mark.needs_threads
@pytest.mark.slow("each transaction opens the file")
def test_it_keeps_the_promises(tmp_path, monkeypatch):
    quick = tuple(check for check in store_checks.CHECKS if check.__name__ not in SLOW)
    monkeypatch.setattr(store_checks, "CHECKS", quick)
    check_store(partial(opened, str(tmp_path / "desk.duckdb")))
