"""What changed in real tools from version to version: reports that a person has read."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from operator_schema.workbench.compare import compare, read_snapshot
from operator_schema.workbench.compare.changes import MEANINGS
from operator_schema.workbench.compare.reports import lines_of, summary_of

HISTORIES = Path(__file__).parent / "histories"
PAGE = Path(__file__).parents[3] / "docs" / "changes.md"
BEGIN, END = "<!-- histories: begin -->", "<!-- histories: end -->"
GOLDEN = Path(__file__).parents[2] / "golden" / "histories"
VERSIONS = json.loads((HISTORIES / "versions.json").read_text())


def snapshot(server: str, version: str):
    return read_snapshot(json.loads((HISTORIES / server / f"{version}.json").read_text()))


def report(server: str) -> str:
    """Write what changed from each version to the next."""
    versions = list(VERSIONS[server]["licences"])
    lines: list[str] = []
    for before, after in pairwise(versions):
        changes = compare(snapshot(server, before), snapshot(server, after)).changes
        lines.append(f"{before} → {after}: {summary_of(changes)}")
        for level, told in lines_of(changes):
            lines += [f"  {level}: {MEANINGS[level]}", *(f"    {line}" for line in told)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("server", VERSIONS)
def test_a_report_reads_as_its_golden_file_says(request, server):
    path = GOLDEN / f"{server}.txt"
    if request.config.getoption("--write-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(report(server))
    assert report(server) == path.read_text()


@pytest.mark.parametrize("server", VERSIONS)
def test_nothing_changed_between_a_version_and_itself(server):
    for version in VERSIONS[server]["licences"]:
        assert compare(snapshot(server, version), snapshot(server, version)).changes == ()


def test_every_snapshot_has_its_version_and_licence():
    for server, known in VERSIONS.items():
        kept = {path.stem for path in (HISTORIES / server).glob("*.json")}
        assert kept == set(known["licences"])
        assert all(known["licences"].values())


def table() -> str:
    """Write what changed from each version to the next in the public servers."""
    lines = ["| server | licence | from | to | what changed |", "|---|---|---|---|---|"]
    for server, known in VERSIONS.items():
        versions = list(known["licences"])
        for before, after in pairwise(versions) if server != "airline" else ():
            changes = compare(snapshot(server, before), snapshot(server, after)).changes
            licence = known["licences"][after].removeprefix("SEE LICENSE IN ")
            lines.append(f"| `{known['package']}` | {licence} | {before} | {after} | {summary_of(changes)} |")
    return "\n".join(lines)


def test_the_page_lists_what_changed_in_public_servers(request):
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    wanted = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"
    if request.config.getoption("--write-golden"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted
