"""The programs of the page for people who come from another library."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
SECTIONS = dict(
    section.split("\n", 1)
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
)


def run_there(library):
    """Run the program as it is written there, and return its names."""
    return _run(library, "py")


def run_here(library):
    """Run the program as it is written here, and return its names."""
    return _run(library, "python")


def _run(library, language):
    blocks = re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[library], re.MULTILINE | re.DOTALL)
    names = {"__name__": f"coming_from_{language}"}
    program = compile(blocks[0], str(PAGE), "exec", dont_inherit=True)
    exec(program, names)  # noqa: S102  # the page's own code
    return names
