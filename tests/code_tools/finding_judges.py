"""Compare what the code tools find with griffe, `go doc`, rustdoc and pyright, and ask them questions.

`make code-judges` runs it after `judges.py`, and writes the tables into the docs. It fails if a name is
denied, a use is wrongly called certain, or more than one question has no right answer.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parent))

import go_judge
import judges
import names_judge
import pyright_judge
import questions_judge
import rust_judge

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "code-tools.md"
BEGIN, END = "<!-- finding -->\n", "<!-- end of finding -->"
INHERITED = 300
NAMES = 40
PACKAGES = ("django", "sqlalchemy")
"""Packages of `judges.PACKAGES` whose names and uses are compared."""

DOCUMENTED = {
    "flask==3.1.3": ("src", "docs"),
    "werkzeug==3.1.9": ("src", "docs"),
    "jinja2==3.1.6": ("src", "docs"),
    "scrapy==2.19.0": ("", "docs"),
    "sphinx==9.0.4": ("", "doc"),
    "trio==0.35.0": ("src", "docs"),
    "tornado==6.6.1": ("", "docs"),
    "urllib3==2.8.0": ("src", "docs"),
    "django==5.2.19": ("", "docs"),
    "sqlalchemy==2.1.9": ("lib", "doc"),
}
"""Packages whose documentation names what they have, with the folders of code and documentation."""

GO_PACKAGES = (
    *("bufio", "context", "crypto/tls", "database/sql", "encoding/json", "go/ast", "html/template", "io"),
    *("math/big", "net/http", "os", "reflect", "strings", "sync/atomic", "text/template", "time"),
)
MOST_NOT_RIGHT = 1
"""Questions that may have another answer than the right one: a setting is made when Django runs."""


def main() -> int:
    """Compare, and write or print the tables; return 1 if something is denied or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    console = Console()
    wrong: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="judges") as made,
        Progress(console=console, transient=True) as bar,
    ):
        folder = Path(made)
        titles = [
            title for title, _ in bar.track(judges.python_sources(folder), total=4, description="fetch")
        ]
        names = [(title, title.partition(" ")[0]) for title in titles]
        packages = [(title, folder / name) for title, name in names if name in PACKAGES]
        tables = {
            "questions": questions_table(folder, wrong),
            "names": names_table(packages, wrong),
            "documented names": documented_rows(folder, wrong),
            "Go": go_rows(wrong),
            "Rust": rust_rows(folder, wrong),
            "uses": uses_table(packages, arguments.seed, wrong, bar),
        }
        lines: list[str] = []
        for name, rows in bar.track(tables.items(), description="judges"):
            lines += ["", *rows] if name in {"names", "uses"} else rows
    table = "\n".join(lines)
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    for one in wrong:
        console.print(one, style="red", markup=False, highlight=False)
    if not arguments.only_print:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{after}", encoding="utf-8")
    return 1 if wrong else 0


def questions_table(folder: Path, wrong: list[str]) -> Iterator[str]:
    """Yield the lines of the table of questions."""
    yield from (
        "| questions about | asked | right | denied | wrong | characters (median) |",
        "|---|---|---|---|---|---|",
    )
    answers: list[questions_judge.Answered] = []
    for name, fetched in questions_judge.ROOTS.items():
        root = fetched(folder)
        if root is None:
            yield f"| {name}: not here | | | | | |"
            continue
        answers += (some := list(questions_judge.answered(name, root)))
        yield f"| {name} | {questions_judge.summary(some)} |"
    yield f"| all | {questions_judge.summary(answers)} |"
    not_right = [f"{one.question}: {one.why}" for one in answers if one.verdict != "right"]
    wrong += not_right if len(not_right) > MOST_NOT_RIGHT else []


def documented_rows(folder: Path, wrong: list[str]) -> Iterator[str]:
    """Yield the rows of the names that the documentation of packages writes, and griffe knows."""
    known = elsewhere = denied = 0
    for package, (code, docs) in DOCUMENTED.items():
        name, place = package.partition("=")[0], questions_judge.sdist(package, folder)
        names = names_judge.documented(place / docs, name)
        placed = [one for one in names_judge.placed(place / code, name, names) if not isinstance(one, str)]
        known += len(placed)
        for one, said in names_judge.denied(place / code, placed):
            if said.startswith("["):
                elsewhere += 1  # one branch of a condition, and griffe has the other one
            else:
                denied += 1
                wrong.append(f"{one.name}: {said}")
    yield f"| {len(DOCUMENTED)} packages, that their documentation writes | {known:,} | {denied} |"
    yield f"| of these, in another place than griffe says | {elsewhere} | |"


def go_rows(wrong: list[str]) -> Iterator[str]:
    """Yield the row of the names that `go doc` writes."""
    if not go_judge.is_there():
        return
    root = questions_judge.ROOTS["go"](Path())
    assert root is not None
    code, number = names_judge.read_once(root), 0
    missed: list[str] = []
    for package in GO_PACKAGES:
        for name, line in go_judge.documented(package):
            number += 1
            path, _, place = code.inspect(name).get("location", ":0").rpartition(":")
            lines = (root / path).read_text(encoding="utf-8").splitlines() if path else []
            if not lines or line.removeprefix("type ") not in lines[int(place) - 1]:
                missed.append(f"{name}: {path}:{place}")
    wrong += missed
    yield f"| Go, that `go doc` writes of {len(GO_PACKAGES)} packages | {number:,} | {len(missed)} |"


def rust_rows(folder: Path, wrong: list[str]) -> Iterator[str]:
    """Yield the rows of the public names of crates, as rustdoc lists them."""
    root = rust_judge.crates(folder) if rust_judge.is_there() else None
    if root is None:
        return
    made = folder / "metadata"
    made.mkdir()
    names = [name for crate in rust_judge.CRATES for name in rust_judge.documented(root, crate, made)]
    names = list(dict.fromkeys(names))
    by_macros = [name for name in names if rust_judge.is_made(root, name)]
    denied = names_judge.denied(root, set(names).difference(by_macros))
    unsaid = [one for one in names_judge.denied(root, by_macros) if rust_judge.SAID not in one[1]]
    wrong += [f"{one.name}: {said}" for one, said in [*denied, *unsaid]]
    number = len(names) - len(by_macros)
    yield f"| {len(rust_judge.CRATES)} crates of Rust, that rustdoc lists | {number:,} | {len(denied)} |"
    yield f"| in these crates, that macros make: a note names the text | {len(by_macros)} | {len(unsaid)} |"


def names_table(packages: list[tuple[str, Path]], wrong: list[str]) -> Iterator[str]:
    """Yield the lines of the table of names."""
    yield from ("| names as users write them | names | denied |", "|---|---|---|")
    for title, folder in packages:
        package = title.partition(" ")[0]
        exported = list(dict.fromkeys(names_judge.exported(folder, package)))
        inherited = list(dict.fromkeys(names_judge.inherited(folder, package)))
        inherited = inherited[:: max(len(inherited) // INHERITED, 1)]
        for what, names in (("that packages export", exported), ("that classes inherit", inherited)):
            denied = names_judge.denied(folder, names)
            wrong += [f"{one.name}: {said}" for one, said in denied]
            yield f"| {title}, {what} | {len(names):,} | {len(denied)} |"


def uses_table(packages: list[tuple[str, Path]], seed: int, wrong: list[str], bar: Progress) -> Iterator[str]:
    """Yield the lines of the table of uses."""
    if not pyright_judge.is_there():
        yield "pyright isn't installed, so no uses were compared."
        return
    heads = ("pyright finds", "certain", "certain, but not pyright's", "likely or certain")
    yield f"| uses of {NAMES} names | {' | '.join(heads)} |"
    yield "|---|---|---|---|---|"
    for title, folder in packages:
        code, server = names_judge.read_once(folder), pyright_judge.Pyright(folder)
        try:
            drawn = pyright_judge.drawn(code, random.Random(seed), NAMES)  # noqa: S311  # the same each time
            asked = bar.track(drawn, description=title)
            compared = [pyright_judge.compare(code, server, one) for one in asked]
        finally:
            server.close()
        theirs, certain = sum(one.theirs for one in compared), sum(one.certain for one in compared)
        missed = sum(len(one.missed) for one in compared)
        wrong += [f"{one.name}: {place}" for one in compared for place in one.wrong]
        unlike = sum(len(one.wrong) for one in compared)
        share = 100 * (1 - missed / max(theirs, 1))
        yield f"| {title} | {theirs:,} | {certain:,} | {unlike} | {share:.1f} % |"


if __name__ == "__main__":
    sys.exit(main())
