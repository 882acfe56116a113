"""The counts in docs/provider-judges.md: each judge runs elsewhere, what it gets is counted here."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pytest
from provider_traffic import exchanges

from operator_schema import providers

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "provider-judges.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip(" `") for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
COUNTED = [row for row in ROWS if not row[1].endswith("HTTP")]


@pytest.fixture(scope="module")
def cases():
    sys.path.append(str(ROOT / "tests" / "frameworks"))
    import judge_cases

    yield judge_cases
    sys.path.remove(str(ROOT / "tests" / "frameworks"))


@cache
def recorded(cases, name):
    return tuple(cases.recorded(name))


@cache
def counted(cases, name, what):
    provider = getattr(providers, name)
    if what == "results":
        return len(list(cases.results()))
    if what == "turns":
        return len(list(cases.turns(provider)))
    if what == "moves":
        return len([turn for turn in cases.said() if turn.provider != provider.name])
    return len(list(filter(None, cases.requests(provider, strict=what == "strict requests"))))


@pytest.mark.parametrize(("name", "judge", "what", "number", "passed"), COUNTED)
def test_the_page_counts_what_a_judge_gets(name, judge, what, number, passed, cases):
    if judge == "recordings":
        counts = {kind: count for kind, count, _ in recorded(cases, name)}
        assert counts[what] == int(number)
    else:
        assert counted(cases, name, what) == int(number)
    assert passed == number


def test_the_page_has_a_row_for_all_recordings(cases):
    found = {row[0] for row in ROWS if row[1] == "recordings"}
    assert found == {name for name in cases.FOLDERS if any(count for _, count, _ in recorded(cases, name))}


def test_the_page_counts_recordings_and_annotations(cases):
    number, of_providers = re.findall(r"(\d+) exchanges with (\d+) providers", PAGE)[0]
    assert int(number) == len(exchanges())
    assert int(of_providers) == len({exchange["provider"] for exchange in exchanges()})
    assert re.findall(r"Tools with (\d+) annotations", PAGE) == [str(len(cases.ANNOTATIONS))]
