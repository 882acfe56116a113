"""The page about stability: each name that a module exports is on it once."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import operator_schema

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
HEADER = "| module | stable | provisional | for the package only |"
LEVELS = ("stable", "provisional", "own")


def rows():
    """Return the names of each level, by module."""
    lines = PAGE.split(HEADER)[1].split("\n\n")[0].strip().split("\n")[1:]
    for line in lines:
        module, *cells = line.strip("|").split("|")
        names = [re.findall(r"`(\w+)`", cell) for cell in cells]
        yield module.strip().strip("`"), dict(zip(LEVELS, names, strict=True))


TABLE = dict(rows())
FRAMEWORKS = {
    f"operator_schema.adapters.{path.stem}" for path in (ROOT / "operator_schema" / "adapters").glob("*.py")
} - set(TABLE)


def rooms():
    """List the modules that export names to programs: the package, and what stands directly below it."""
    folder = ROOT / "operator_schema"
    patterns = ("*.py", "*/__init__.py")
    files = [path for room in (folder, folder / "workbench") for each in patterns for path in room.glob(each)]
    places = {path.parent if path.stem == "__init__" else path.with_suffix("") for path in files}
    return sorted(".".join(place.relative_to(folder.parent).parts) for place in places)


def exported(module):
    try:
        return list(getattr(importlib.import_module(module), "__all__", []))
    except ImportError as error:
        pytest.skip(f"{module} needs {error.name}")


@pytest.mark.parametrize("module", TABLE)
def test_the_row_of_a_module_has_what_it_exports(module):
    names = [name for level in LEVELS for name in TABLE[module][level]]
    assert sorted(names) == sorted(exported(module))


BELOW = {
    "engine",
    "files",
    "findings",
    "immutable",
    "json_copies",
    "json_reading",
    "json_values",
    "lazy",
    "message_text",
    "similar_names",
    "processes",
    "sameness",
    "token_counts",
    "schema",
    "introspect",
    "recordings",
    "report_pages",
    "workbench",
    "cli",
    "tool_definitions",
}
"""The page says of these as a whole that they are for the package alone."""


@pytest.mark.parametrize("module", [room for room in rooms() if room.rpartition(".")[2] not in BELOW])
def test_every_room_has_a_row(module):
    assert module in TABLE or not exported(module)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.stem
)
def test_the_docs_import_nothing_that_is_for_the_package_alone(page):
    found = re.findall(
        r"^(?:>>> |\.\.\. )?\s*from (operator_schema[\w.]*) import ([\w, ]+)$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    for module, names in found:
        if module in FRAMEWORKS:
            continue
        row = TABLE.get(module, {"stable": (), "provisional": ()})
        public = {*row["stable"], *row["provisional"]}
        below = {name.rpartition(".")[2] for name in {*TABLE, *FRAMEWORKS} if name.startswith(f"{module}.")}
        assert {name.strip() for name in names.split(",")} <= public | below, module


def test_what_the_package_exports_is_stable():
    assert set(TABLE["operator_schema"]["stable"]) == set(operator_schema.__all__)
