"""Random patches, applied here and by `git apply`."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from operator_schema.code_tools.diffs import PatchError, applied, patches_in

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

__all__ = ["Case", "disagreement", "is_there", "random_case"]

GIT = shutil.which("git") or "git"
WORDS = [
    b"a",
    b"b",
    b"",
    b"\t}",
    b"x = 1",
    b"\xc3\xa9",
    b"--- a",
    b"+++ b",
    b"@@ -1 +1 @@",
    b"\\ no",
    b" ",
    b"end",
]


def is_there() -> bool:
    """Return whether git is installed."""
    return shutil.which("git") is not None


class Case(NamedTuple):
    """A file and a patch that may fit it."""

    source: bytes
    patch: bytes


def random_case(draw: Random, folder: Path) -> Case:
    """Make two random texts, the patch between them, and perhaps change the first text or the patch."""
    before = _text(draw)
    after = _changed(before, draw, draw.randint(1, 5))
    if draw.random() < 0.05:
        after = []
    (folder / "old").write_bytes(b"".join(before))
    (folder / "new").write_bytes(b"".join(after))
    options = [f"-U{draw.choice([0, 1, 2, 3, 3, 3, 5])}", "--no-color", *draw.choice([[], ["--patience"]])]
    done = subprocess.run(
        [GIT, "diff", "--no-index", "--text", *options, "old", "new"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    body = done.stdout[done.stdout.find(b"@@") :] if b"@@" in done.stdout else b""
    header = b"--- a/file\n+++ b/file\n"
    patch = header + body if body else b""
    if draw.random() < 0.4:
        before = _changed(before, draw, draw.randint(1, 3))
    if draw.random() < 0.3 and patch:
        patch = _damaged(patch, draw)
    return Case(b"".join(before), patch)


def _text(draw: Random) -> list[bytes]:
    end = b"\r\n" if draw.random() < 0.2 else b"\n"
    few = WORDS[: draw.choice([2, 4, len(WORDS)])]
    lines = [
        draw.choice(few) + (draw.choice([end, b"\n"]) if draw.random() < 0.1 else end)
        for _ in range(draw.randint(0, 25))
    ]
    if lines and draw.random() < 0.3:
        lines[-1] = lines[-1].rstrip(b"\r\n")
    return lines


def _changed(lines: list[bytes], draw: Random, times: int) -> list[bytes]:
    lines = list(lines)
    for _ in range(times):
        place = draw.randint(0, len(lines))
        what = draw.random()
        if what < 0.4:
            lines[place:place] = [draw.choice(WORDS) + b"\n" for _ in range(draw.randint(1, 3))]
        elif what < 0.7:
            del lines[place : place + draw.randint(1, 3)]
        elif place < len(lines):
            lines[place] = draw.choice(WORDS) + draw.choice([b"\n", b"\n", b"\r\n"])
    # Only the last line may lack its end.
    return [
        line if line.endswith(b"\n") or place == len(lines) - 1 else line + b"\n"
        for place, line in enumerate(lines)
    ]


def _damaged(patch: bytes, draw: Random) -> bytes:
    lines = patch.splitlines(keepends=True)
    place = draw.randrange(2, len(lines)) if len(lines) > 2 else 0
    change = draw.choice(["drop", "double", "mark", "number", "cut"])
    if change == "drop":
        del lines[place]
    elif change == "double":
        lines.insert(place, lines[place])
    elif change == "mark":
        lines[place] = draw.choice([b"+", b"-", b" "]) + lines[place][1:]
    elif change == "cut":
        del lines[place:]
    else:
        header = next(at for at, line in enumerate(lines) if line.startswith(b"@@")) if b"@@" in patch else 0
        lines[header] = lines[header].replace(b"1", str(draw.randint(0, 9)).encode(), 1)
    return b"".join(lines)


def disagreement(case: Case, folder: Path) -> tuple[str | None, bool]:
    """Apply a patch twice; return what differs, or None, and whether git applied it."""
    (folder / "file").write_bytes(case.source)
    done = subprocess.run(
        [GIT, "apply", "--whitespace=nowarn", "-"],
        cwd=folder,
        input=case.patch,
        capture_output=True,
        check=False,
    )
    path = folder / "file"
    theirs = None if done.returncode else path.read_bytes() if path.exists() else b""
    try:
        ours: bytes | None = case.source
        for one in patches_in(case.patch.decode(errors="surrogateescape")):
            ours = applied(ours or b"", one).text
    except PatchError as error:
        ours, said = None, str(error)
    else:
        said = ""
    # git passes over lines that a hunk has too many, and joins lines where "No newline" isn't true.
    joins = b"\\ No newline" in case.patch and case.source.endswith(b"\n")
    is_stricter = ours is None and ("more lines than it says" in said or joins)
    if ours == theirs or is_stricter:
        return None, theirs is not None
    said = f"git: {theirs!r} {done.stderr.decode(errors='replace')}\nours: {ours!r} {said}\n{case}"
    return said, theirs is not None
