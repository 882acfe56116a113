"""What changed in real tools from version to version: reports that a person has read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from operator_schema.compare import compare, read_snapshot
from operator_schema.compare.reports import MEANINGS, lines_of, summary_of

HISTORIES = Path(__file__).parent / "histories"
GOLDEN = Path(__file__).parents[1] / "golden" / "histories"
VERSIONS = json.loads((HISTORIES / "versions.json").read_text())


def snapshot(server: str, version: str):
    return read_snapshot(json.loads((HISTORIES / server / f"{version}.json").read_text()))


def report(server: str) -> str:
    """Write what changed from each version to the next."""
    versions = list(VERSIONS[server]["licences"])
    lines: list[str] = []
    for before, after in zip(versions, versions[1:], strict=False):
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
