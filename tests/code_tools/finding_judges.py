"""Compare the names and uses that the code tools find with griffe and pyright, and write it into the docs.

`make code-judges` runs it after `judges.py`. A name that is denied, or a use that is wrongly called certain,
makes it fail.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent))

import judges
import names_judge
import pyright_judge

from operator_schema.code_tools import CodeBase

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[2] / "docs" / "code-tools.md"
BEGIN, END = "<!-- finding -->\n", "<!-- end of finding -->"
INHERITED = 300
NAMES = 40


def main() -> int:
    """Compare, and write or print the tables; return 1 if something is denied or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    console = Console()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="judges") as folder:
        sources = [(name, Path(folder)) for name, _ in judges.python_sources(Path(folder))][1:]
        packages = [(title, where / title.partition(" ")[0]) for title, where in sources]
        lines = [*names_table(packages, wrong), "", *uses_table(packages, arguments.seed, wrong)]
    table = "\n".join(lines)
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    for one in wrong:
        console.print(one, style="red", markup=False, highlight=False)
    if not arguments.only_print:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{after}", encoding="utf-8")
    return 1 if wrong else 0


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


def uses_table(packages: list[tuple[str, Path]], seed: int, wrong: list[str]) -> Iterator[str]:
    """Yield the lines of the table of uses."""
    if not pyright_judge.is_there():
        yield "pyright isn't installed, so no uses were compared."
        return
    heads = ("pyright finds", "certain", "certain, but not pyright's", "likely or certain")
    yield f"| uses of {NAMES} names | {' | '.join(heads)} |"
    yield "|---|---|---|---|---|"
    for title, folder in packages:
        code, server = CodeBase(folder), pyright_judge.Pyright(folder)
        try:
            drawn = pyright_judge.drawn(code, random.Random(seed), NAMES)  # noqa: S311  # the same each time
            compared = [pyright_judge.compare(code, server, one) for one in drawn]
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
