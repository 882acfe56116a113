"""List the modules of the package, each with the question that it answers: `make modules`."""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "operator_schema"
FILLERS = {"the", "and", "for", "are", "with", "from", "command"}
FEWEST_WORDS = 3


def modules() -> list[str]:
    """Return the modules, those of a room together."""
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    return [path.as_posix() for path in sorted(paths, key=lambda path: (path.parent, path.name))]


def question_of(source: str) -> str:
    """Return the first paragraph of a module's docstring; empty if there is none."""
    found = re.match(r'"""(.*?)(?:\n\n|""")', source, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def says_something(question: str, module: str) -> bool:
    """Return whether a question says more than the path of its module."""
    return len(words_of(question) - words_of(module) - FILLERS) >= FEWEST_WORDS


def words_of(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in re.findall(r"\w{3,}", text.replace("_", " "))}


def main() -> None:
    for folder, names in groupby(modules(), lambda name: name.rpartition("/")[0]):
        sys.stdout.write(f"\n{folder or PACKAGE.name}/\n")
        for name in names:
            question = question_of((PACKAGE / name).read_text(encoding="utf-8"))
            sys.stdout.write(f"  {name.rpartition('/')[2]:<28} {question}\n")


if __name__ == "__main__":
    main()
