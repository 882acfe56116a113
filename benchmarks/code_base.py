"""Measure the code tools on CPython's library and on this one, and write the table into docs/code-tools.md.

Run it by `make bench-code`. Times are those of the processor, so that a busy machine changes them little.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress

from operator_schema.code_tools import CodeBase

from .machine import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "code-tools.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end of measured -->"
LINES = 1_000_000
NAMES = 300
EDITS = 30
UNCHANGED = 50
STARTS = 3
SETTLED = 0.2
"""Seconds after which a file that changed is known by its time stamp."""


def main() -> int:
    """Measure, and write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    arguments = parser.parse_args()
    console = Console()
    with (
        tempfile.TemporaryDirectory(prefix="code_base") as folder,
        Progress(console=console, transient=True) as bar,
    ):
        table = "\n".join(measured(Path(folder), bar))
    console.print(table, markup=False, highlight=False, soft_wrap=True)
    if not arguments.only_print:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}{table}\n{END}{after}", encoding="utf-8")
    return 0


def measured(folder: Path, bar: Progress) -> Iterator[str]:
    """Yield the lines of the table.

    Args:
        folder: for copies of the library.
        bar: that shows what is done.
    """
    task = bar.add_task("code tools", total=5)
    library = folder / "library"
    files = copied(library)
    lines = sum(files.values())
    at = machine()
    where = f"{at['date']}, {at['processor']}, {at['cores']} cores, load before {at['load before']}"
    what = f"{len(files):,} files of CPython {sys.version.split()[0]} with {lines:,} lines"
    yield from (f"{what}, in processor time ({where}):", "")
    yield from ("| | once, or median and 99th percentile |", "|---|---|")
    code = CodeBase(library)
    seconds = timed(code.refresh)
    yield f"| first index | {seconds:.1f} s: {lines / seconds:,.0f} lines a second |"
    if (tags := ctags(library, folder / "tags")) is not None:
        yield f"| `ctags` for the same, which reads names and lines alone | {tags:.1f} s |"
    bar.advance(task)
    cache = folder / "index.db"
    CodeBase(library, cache=cache).refresh()
    starts = [timed(CodeBase(library, cache=cache).refresh) for _ in range(STARTS)]
    yield f"| start from a cache | {min(starts):.1f} s |"
    time.sleep(SETTLED)
    code.refresh()
    yield f"| look at every file, where none has changed | {spread(code.refresh, [()] * UNCHANGED)} |"
    yield f"| `inspect` after one file was edited | {spread(edit_and_ask(code), numbers(EDITS))} |"
    bar.advance(task)
    more = LINES - lines
    for name, count in files.items():
        if more > 0:
            more -= count
            (library / "more" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library / name, library / "more" / name)
    code.refresh()
    time.sleep(SETTLED)
    code.refresh()
    yield from ("", f"With {LINES - more:,} lines in {sum(1 for _ in library.rglob('*.py')):,} files:", "")
    yield from ("| | median, 99th percentile |", "|---|---|")
    bar.advance(task)
    yield f"| look at every file | {spread(code.refresh, [()] * UNCHANGED)} |"
    texts = [(library / name).read_text(encoding="utf-8", errors="replace") for name in files]
    names = sorted({name for text in texts for name in declared(text)})
    random.Random(0).shuffle(names)  # noqa: S311  # the same names each time
    # Functions inside of others aren't declarations.
    drawn = list(islice((name for name in names if code.inspect(name)["found"]), NAMES))
    functions = list(islice((name for name in names if code.read_func(name)["found"]), NAMES))
    for label, call, asked in [
        ("`inspect`", code.inspect, drawn),
        ("`inspect` of a name that isn't there", code.inspect, [f"{name}zq" for name in drawn]),
        ("`read_func`", code.read_func, functions),
        ("`search` for a name", code.search, drawn),
        ("`search` for `abcd*`", code.search, [f"{name[:4]}*" for name in drawn]),
        ("`search` for `*abcd*`", code.search, [f"*{name[1:5]}*" for name in drawn]),
    ]:
        yield f"| {label} | {spread(call, [(name,) for name in asked])} |"
    bar.advance(task)
    yield from ("", *of_this_library())
    bar.advance(task)


def of_this_library() -> Iterator[str]:
    """Yield the lines of the table about `references`."""
    code = CodeBase(ROOT)
    code.refresh()
    time.sleep(SETTLED)
    code.refresh()
    files = sorted((ROOT / "operator_schema").rglob("*.py"))
    names = sorted({name for path in files for name in declared(path.read_text(encoding="utf-8"))})
    random.Random(0).shuffle(names)  # noqa: S311  # the same names each time
    drawn = list(islice((name for name in names if code.inspect(name)["found"]), NAMES))
    yield from (f"`references` of {len(drawn)} functions and classes of this library:", "")
    yield from ("| | median, 99th percentile |", "|---|---|")
    yield f"| look at every file | {spread(code.refresh, [()] * UNCHANGED)} |"
    yield f"| `references` | {spread(code.references, [(name,) for name in drawn])} |"


def declared(text: str) -> list[str]:
    """Return the names that lines of a Python file declare."""
    return re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE)


def copied(library: Path) -> dict[str, int]:
    """Copy the standard library; return the number of lines of each file."""
    source = Path(sysconfig.get_paths()["stdlib"])
    found: dict[str, int] = {}
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if name not in {"__pycache__", "site-packages"})
        for name in sorted(names):
            if name.endswith(".py"):
                path = (Path(folder) / name).relative_to(source)
                (library / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / path, library / path)
                found[str(path)] = (library / path).read_bytes().count(b"\n")
    return found


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that a call takes."""
    began = time.process_time()
    call()
    return time.process_time() - began


def spread(call: Callable[..., object], arguments: list[Any]) -> str:
    """Return median and 99th percentile of the milliseconds of a call with each of some arguments."""
    taken = sorted(timed(lambda given=given: call(*given)) * 1000 for given in arguments)
    return f"{statistics.median(taken):.1f} ms, {taken[int(len(taken) * 0.99)]:.1f} ms"


def numbers(count: int) -> list[tuple[int]]:
    """Return arguments for `count` calls."""
    return [(number,) for number in range(count)]


def edit_and_ask(code: CodeBase) -> Callable[[int], None]:
    """Return what adds a function to a file, and asks for it."""
    file = code.root / "json" / "decoder.py"

    def ask(number: int) -> None:
        with file.open("a", encoding="utf-8") as text:
            text.write(f"\n\ndef added_{number}():\n    pass\n")
        if not code.inspect(f"added_{number}")["found"]:
            message = "the edit wasn't seen"
            raise RuntimeError(message)

    return ask


def ctags(library: Path, tags: Path) -> float | None:
    """Return the seconds of the processor that universal-ctags takes; None if it isn't there."""
    program = shutil.which("ctags")
    if program is None:
        return None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "--languages=Python", "-R", "-f", str(tags), str(library)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
