"""Compare the code tools with griffe, Go's parser and gofmt, and write what came of it into the docs.

`make code-judges` runs it for two minutes. Differences without a reason are listed, and make it fail.
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parent))

from go_judge import GO_REASONS, SYNTAX_REASONS, compare_go, compare_syntax, damaged, go_reads, is_there
from griffe_judge import REASONS, Verdicts, compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "code-tools.md"
BEGIN, END = "<!-- judges -->\n", "<!-- end of judges -->"
PACKAGES = ("django==5.2.19", "sqlalchemy==2.1.9", "sympy==1.14.0")
GO = shutil.which("go") or "go"
SHOWN = 20


def main() -> int:
    """Compare, and write or print the tables; return 1 if there are differences without a reason."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    parser.add_argument("--snippets", type=int, default=5000, help="damaged files for gofmt (default: 5000)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of the files that are parsed
    logging.disable(logging.CRITICAL)  # griffe tells what it can't follow
    console = Console()
    rows: list[tuple[str, int, Verdicts]] = []
    with (
        tempfile.TemporaryDirectory(prefix="judges") as folder,
        Progress(console=console, transient=True) as bar,
    ):
        for name, files in python_sources(Path(folder)):
            rows.append((name, len(files), total(map(compare, bar.track(files, description=name)))))
        if is_there():
            files = go_sources()
            read = bar.track(go_reads(files, Path(folder)), total=len(files), description="Go")
            rows.append((f"Go's own library, {go_version()}", len(files), total(map(compare_go, read))))
            draw = random.Random(arguments.seed)  # noqa: S311  # the same damage each time
            codes = [damaged(draw.choice(files), draw) for _ in range(arguments.snippets)]
            checked = total(map(compare_syntax, bar.track(codes, description="gofmt")))
            rows.append(("check_syntax and gofmt, damaged files", len(codes), checked))
        else:
            console.print(
                "Go isn't installed: only Python is compared (Debian: apt install golang-go)", style="yellow"
            )
    table = "\n".join(page(rows))
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    left = [(name, one) for name, _, verdicts in rows for one in verdicts.differences]
    for name, one in left[:SHOWN]:
        console.print(f"{name}: {one}", style="red", markup=False, highlight=False)
    if not arguments.only_print and is_there():
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{after}", encoding="utf-8")
    return 1 if left else 0


def python_sources(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield names of libraries with their files; those that aren't here are fetched from PyPI."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [file for file in sorted(library.rglob("*.py")) if "site-packages" not in file.parts]
    yield f"CPython {sys.version.split()[0]}", files
    for package in PACKAGES:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(folder), package], check=True, stderr=subprocess.DEVNULL)
        name = package.partition("=")[0]
        (wheel,) = folder.glob(f"{name}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / name)
        yield package.replace("==", " "), sorted((folder / name).rglob("*.py"))


def go_sources() -> list[Path]:
    """List the files of Go's own library, without those that its tests read: some are wrong on purpose."""
    root = subprocess.run([GO, "env", "GOROOT"], check=True, capture_output=True, text=True).stdout.strip()
    library = (Path(root) / "src").resolve()
    return [file for file in sorted(library.rglob("*.go")) if "testdata" not in file.parts and file.is_file()]


def go_version() -> str:
    """Return the version of Go."""
    done = subprocess.run([GO, "env", "GOVERSION"], check=True, capture_output=True, text=True)
    return done.stdout.strip().removeprefix("go")


def total(verdicts: Iterable[Verdicts]) -> Verdicts:
    """Add up what came of many files."""
    compared, explained = Counter[str](), Counter[str]()
    differences = []
    for one in verdicts:
        compared += one.compared
        explained += one.explained
        differences += one.differences
    return Verdicts(compared, differences, explained)


def page(rows: list[tuple[str, int, Verdicts]]) -> Iterator[str]:
    """Yield the lines of the tables."""
    yield from ("| what | files | compared | explained | left |", "|---|---|---|---|---|")
    for name, files, verdicts in rows:
        compared, explained = verdicts.compared.total(), verdicts.explained.total()
        yield f"| {name} | {files:,} | {compared:,} | {explained:,} | {len(verdicts.differences):,} |"
    yield from ("", "What explains a difference:", "")
    reasons = {**REASONS, **GO_REASONS, **SYNTAX_REASONS}
    for reason, about in reasons.items():
        number = sum(verdicts.explained[reason] for _, _, verdicts in rows)
        if number:
            yield f"- {number:,} times: {about}."


if __name__ == "__main__":
    sys.exit(main())
