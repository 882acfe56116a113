"""Which files git would not ignore, and random files of rules to ask about."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from operator_schema.code_tools.source_tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Case", "cases", "differences", "is_there"]

NAMES = ("a", "b", "ab", "abc", "build", "x y", "é", "[a]", "a*b", "#a", "!a", "-", "a]b")
FILES = tuple(f"{name}.py" for name in NAMES)
PLACES = ("", "a", "b", "ab", "a/b", "build", "a/b/ab")
PIECES = (
    *("*", "*", "**", "**/", "/**", "/", "/", "?", "a", "b", "ab", "abc", "build", ".py", ".py", "*.py"),
    *(
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]a]",
        "[a",
        "[[:alpha:]]",
        "[[:nope:]]",
        "[[:space:]x]",
        "[a-",
        "[--]",
    ),
    *("\\", "\\*", "\\ ", " ", "#", "!", "\\!", "\\#", "x y", "é", "\t", "-", "]", "[\\]]", "[b-\\c]", "[/]"),
)
WHOLE = (
    "*",
    "!*/",
    "!*.py",
    "*/",
    "!a",
    "!a/",
    "!/a/b",
    "!a/b/*.py",
    "a/*",
    "a/**",
    "**",
    "/*",
    "!/*/",
    "!build/",
)


class Case(NamedTuple):
    """Paths of files, and the lines of files of rules by their folders."""

    paths: tuple[str, ...]
    rules: dict[str, str]


def is_there() -> bool:
    """Return whether git is installed."""
    return shutil.which("git") is not None


def cases(draw: random.Random, number: int) -> Iterator[Case]:
    """Yield random cases."""
    for _ in range(number):
        paths = tuple(
            "/".join([*draw.choices(NAMES[:6], k=draw.randrange(4)), draw.choice(FILES)]) for _ in range(10)
        )
        places = {"", *draw.sample(PLACES, k=draw.randrange(3))}
        yield Case(paths, {place: _lines(draw) for place in sorted(places)})


def _lines(draw: random.Random) -> str:
    lines: list[str] = []
    for _ in range(draw.randrange(6)):
        if draw.random() < 0.3:
            lines.append(draw.choice(WHOLE))
            continue
        line = "".join(draw.choices(PIECES, k=draw.randrange(1, 6)))
        lines.append(f"{'!' if draw.random() < 0.25 else ''}{line}{'/' if draw.random() < 0.2 else ''}")
    end = "\r\n" if draw.random() < 0.1 else "\n"
    return end.join([*lines, ""])


def differences(many: Sequence[Case]) -> list[tuple[Case, list[str], list[str]]]:
    """Compare the files that we read with the ones that git lists.

    Returns:
        The cases that differ, with the files that only we read, and those that only git lists.
    """
    found: list[tuple[Case, list[str], list[str]]] = []
    with tempfile.TemporaryDirectory(prefix="ignored") as folder:
        top = Path(folder).resolve()
        _git(top, "init", "-q")
        for number, case in enumerate(many):
            _write(top / str(number), case)
        listed: dict[str, set[str]] = {}
        for path in _git(top, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0"):
            number, _, rest = os.fsdecode(path).partition("/")
            listed.setdefault(number, set()).add(rest)
        for number, case in enumerate(many):
            # The root is inside of the repository, whose own rules say nothing.
            tree = Tree(str(top / str(number)))
            tree.refresh()
            ours, theirs = (
                set(tree.files()),
                {path for path in listed.get(str(number), set()) if path.endswith(".py")},
            )
            if ours != theirs:
                found.append((case, sorted(ours - theirs), sorted(theirs - ours)))
    return found


def _git(top: Path, *words: str) -> bytes:
    command = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(top), *words]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _write(folder: Path, case: Case) -> None:
    folder.mkdir()
    for path in case.paths:
        file = folder / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x = 1\n", encoding="utf-8")
        except OSError:  # a file where a folder should be
            continue
    for place, lines in case.rules.items():
        if (folder / place).is_dir():
            (folder / place / ".gitignore").write_bytes(lines.encode())


def main() -> int:
    """Compare many cases; return 1 if files differ."""
    number, seed = map(int, (*sys.argv[1:], "10000", "0")[:2])
    draw = random.Random(seed)  # noqa: S311  # the same cases each time
    console, left = Console(), number
    found = 0
    while left > 0:
        for case, ours, theirs in differences(list(cases(draw, min(left, _AT_ONCE)))):
            found += 1
            console.print(case.rules, "only we read", ours, "only git lists", theirs)
        left -= _AT_ONCE
    console.print(f"{number:,} folders with rules: {found} differ from git")
    return 1 if found else 0


_AT_ONCE = 500

if __name__ == "__main__":
    sys.exit(main())
