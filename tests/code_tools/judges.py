"""Compare the code tools with other readers of the same code, and write what came of it into the docs.

They are griffe, Go's parser, gofmt, the compiler of TypeScript, universal-ctags and `git apply`.
`make code-judges` runs it for some minutes. Differences without a reason are listed, and make it fail.
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parent))

import ctags_judge
import patch_judge
import typescript_judge
from go_judge import GO_REASONS, SYNTAX_REASONS, compare_go, compare_syntax, damaged, go_reads, is_there
from griffe_judge import REASONS, Difference, Verdicts, compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "code-tools.md"
BEGIN, END = "<!-- judges -->\n", "<!-- end of judges -->"
PACKAGES = ("django==5.2.19", "sqlalchemy==2.1.9", "sympy==1.14.0")
TYPESCRIPT = ("typescript@5.4.5", "rxjs@7.8.2", "zod@4.6.7", "@types/node@26.6.6")
"""Packages of npm; the first one is the compiler as well."""

TAGGED = {
    "java": ("react-native@0.72.17",),
    "c": ("better-sqlite3@12.11.1",),
    "cpp": ("re2@1.24.0", "leveldown@6.1.1", "react-native@0.72.17"),
}
"""Languages that ctags is asked about, and packages of npm that have sources in them."""

SUFFIXES = {"java": (".java",), "c": (".c", ".h"), "cpp": (".cc", ".cpp", ".h")}
GO = shutil.which("go") or "go"
SHOWN = 20


def main() -> int:
    """Compare, and write or print the tables; return 1 if there are differences without a reason."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    parser.add_argument("--snippets", type=int, default=5000, help="damaged files for gofmt (default: 5000)")
    parser.add_argument("--patches", type=int, default=2000, help="random patches for git (default: 2000)")
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
        rows += go_rows(Path(folder), arguments.snippets, arguments.seed, bar)
        rows += typescript_rows(Path(folder), bar)
        rows += ctags_rows(Path(folder), bar)
        rows += patch_rows(Path(folder), arguments.patches, arguments.seed, bar)
    missing = [name for name, is_missing in MISSING.items() if is_missing()]
    if missing:
        console.print(
            f"Not compared, and the page stays as it is: there is no {', '.join(missing)}", style="yellow"
        )
    table = "\n".join(page(rows))
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    left = [(name, one) for name, _, verdicts in rows for one in verdicts.differences]
    for name, one in left[:SHOWN]:
        console.print(f"{name}: {one}", style="red", markup=False, highlight=False)
    if not arguments.only_print and not missing:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{after}", encoding="utf-8")
    return 1 if left else 0


MISSING = {
    "Go (Debian: apt install golang-go)": lambda: not is_there(),
    "Node.js": lambda: not typescript_judge.is_there() or shutil.which("npm") is None,
    "universal-ctags": lambda: not ctags_judge.is_there(),
    "git": lambda: not patch_judge.is_there(),
}
"""Programs, and what says whether one isn't here."""


def go_rows(folder: Path, snippets: int, seed: int, bar: Progress) -> Iterator[tuple[str, int, Verdicts]]:
    """Yield what Go's own parser and gofmt say."""
    if not is_there():
        return
    files = go_sources()
    read = bar.track(go_reads(files, folder), total=len(files), description="Go")
    yield f"Go's own library, {go_version()}", len(files), total(map(compare_go, read))
    draw = random.Random(seed)  # noqa: S311  # the same damage each time
    codes = [damaged(draw.choice(files), draw) for _ in range(snippets)]
    checked = total(map(compare_syntax, bar.track(codes, description="gofmt")))
    yield "check_syntax and gofmt, damaged files", len(codes), checked


def typescript_rows(folder: Path, bar: Progress) -> Iterator[tuple[str, int, Verdicts]]:
    """Yield what the compiler of TypeScript says."""
    if not typescript_judge.is_there() or shutil.which("npm") is None:
        return
    compiler, *_ = places = [from_npm(package, folder) for package in TYPESCRIPT]
    for package, place in zip(TYPESCRIPT, places, strict=True):
        files = sorted(place.rglob("*.ts"))
        read = typescript_judge.typescript_reads(compiler, files)
        verdicts = map(
            typescript_judge.compare_typescript, bar.track(read, total=len(files), description=package)
        )
        yield f"TypeScript: {package.replace('@', ' ').strip()}", len(files), total(verdicts)


def ctags_rows(folder: Path, bar: Progress) -> Iterator[tuple[str, int, Verdicts]]:
    """Yield what universal-ctags says."""
    if not ctags_judge.is_there() or shutil.which("npm") is None:
        return
    for language, packages in TAGGED.items():
        for package in packages:
            place = from_npm(package, folder)
            files = sorted(file for file in place.rglob("*") if file.suffix in SUFFIXES[language])
            files = [file for file in files if "abseil-cpp" not in file.parts]
            tags = bar.track(ctags_judge.tags_of(language, files), total=len(files), description=package)
            verdicts = (ctags_judge.compare_tags(language, file, each) for file, each in tags)
            name = {"c": "C", "cpp": "C++", "java": "Java"}[language]
            yield f"{name}: {package.replace('@', ' ')}", len(files), total(verdicts)


def patch_rows(folder: Path, number: int, seed: int, bar: Progress) -> Iterator[tuple[str, int, Verdicts]]:
    """Yield what `git apply` says of random patches."""
    if not patch_judge.is_there():
        return
    place = folder / "patches"
    place.mkdir()
    verdicts = Verdicts(Counter(), [], Counter())
    for count in bar.track(range(number), description="git apply"):
        draw = random.Random(f"{seed} {count}")  # noqa: S311  # the same cases each time
        said, fits = patch_judge.disagreement(patch_judge.random_case(draw, place), place)
        verdicts.compared["applied" if fits else "refused"] += 1
        if said is not None:
            verdicts.differences.append(Difference("patch", str(count), 0, said, ""))
    yield "check_patch and git apply, random patches", number, verdicts


def from_npm(package: str, folder: Path) -> Path:
    """Return the folder of a package of npm, which is fetched if it isn't there yet."""
    place = folder / "npm" / package
    if not place.exists():
        place.mkdir(parents=True)
        command = [shutil.which("npm") or "npm", "pack", "--silent", package]
        done = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
        with tarfile.open(place / done.stdout.split()[-1]) as archive:
            archive.extractall(place, filter="data")  # the filter lets nothing out of the folder
    return next(child for child in place.iterdir() if child.is_dir())


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
            archive.extractall(folder / name)  # noqa: S202  # a wheel of PyPI, whose names are checked
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
    reasons = {
        **REASONS,
        **GO_REASONS,
        **SYNTAX_REASONS,
        **typescript_judge.TYPESCRIPT_REASONS,
        **ctags_judge.CTAGS_REASONS,
    }
    for reason, about in reasons.items():
        number = sum(verdicts.explained[reason] for _, _, verdicts in rows)
        if number:
            yield f"- {number:,} times: {about}."


if __name__ == "__main__":
    sys.exit(main())
