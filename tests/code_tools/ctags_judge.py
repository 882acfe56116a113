"""What universal-ctags reads of C, C++, Java and TypeScript, compared with what the index reads."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


__all__ = ["CTAGS_REASONS", "compare_tags", "is_there", "tags_of"]

CTAGS_REASONS: dict[str, str] = {}
_NAMES = {"c": "C", "cpp": "C++", "java": "Java", "typescript": "TypeScript"}
_KINDS = {
    "c": "+px",
    "cpp": "+px",
    "java": "",
    "typescript": "",
}


def is_there() -> bool:
    """Return whether universal-ctags is installed, with its output as JSON."""
    program = shutil.which("ctags")
    if program is None:
        return False
    said = subprocess.run([program, "--list-features"], check=False, capture_output=True, text=True).stdout
    return "json" in said


def tags_of(language: str, files: Sequence[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """Yield what ctags reads of each file."""
    name = _NAMES[language]
    kinds = [f"--kinds-{name}={_KINDS[language]}"] if _KINDS[language] else []
    shape = [
        "--output-format=json",
        "--fields=+nKSZe",
        f"--language-force={name}",
        "--sort=no",
        "-L",
        "-",
        "-o",
        "-",
    ]
    sent = "".join(f"{file}\n" for file in files)
    done = subprocess.run(
        [shutil.which("ctags") or "ctags", *kinds, *shape],
        input=sent.encode(),
        capture_output=True,
        check=True,
    )
    found: dict[str, list[dict[str, Any]]] = {str(file): [] for file in files}
    for line in done.stdout.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag":
            found[tag["path"]].append(tag)
    for file in files:
        yield file, found[str(file)]
