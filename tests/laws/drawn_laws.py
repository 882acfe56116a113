"""Count what `make laws` draws, and say how to draw it again: `-p tests.laws.drawn_laws -m hypothesis`."""

from __future__ import annotations

import os
from collections import Counter
from functools import wraps

import pytest

COUNTED = "examples of a law"
_drawn: Counter[str] = Counter()
"""How often each law was asked so far, in this process."""


def counted(law, name):
    """Return a law that counts its examples, also those that it leaves early."""

    @wraps(law)
    def count(*args, **values):
        _drawn[name] += 1
        return law(*args, **values)

    return count


def pytest_report_header() -> str:
    """Say it at once, too: a run that is stopped has no end."""
    return f"`make laws SEED={os.environ['LAWS_SEED']}` draws the same again"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    laws = {}
    for item in items:
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is not None:
            laws[id(handle)] = (handle, f"{item.path}::{getattr(item, 'originalname', item.name)}")
    for handle, name in laws.values():
        handle.inner_test = counted(handle.inner_test, name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    before = _drawn.total()
    try:
        return (yield)
    finally:
        if item.get_closest_marker("hypothesis"):
            # This reaches the process that shows the end, if there are several. A seed is one example.
            item.user_properties.append((COUNTED, _drawn.total() - before or 1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    drawn = [
        number
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, number in report.user_properties
        if name == COUNTED
    ]
    seed = os.environ["LAWS_SEED"]
    terminalreporter.write_line(
        f"{len(drawn):,} laws with {sum(drawn):,} examples; `make laws SEED={seed}` draws the same again"
    )
