"""What the compiler of TypeScript reads of files, compared with what the index reads."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from griffe_judge import Difference, Verdicts

from operator_schema.code_tools.language import Declaration, language_of
from operator_schema.code_tools.source_text import span_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["TYPESCRIPT_REASONS", "compare_typescript", "is_there", "typescript_reads"]

PROGRAM = Path(__file__).with_name("declarations.js")
TYPESCRIPT_REASONS = {
    "the compiler can't read": "the compiler of TypeScript gives up on a part of the file",
    "not above": "the compiler takes a comment above a blank line, or inside a statement, as documentation",
    "more comments": "we take further comments right above, or after the doc, as a part of it",
    "TypeScript that the grammar can't read": (
        "tree-sitter gives up on a part of a file of TypeScript, which is then not compared"
    ),
}


def is_there() -> bool:
    """Return whether Node.js is installed."""
    return shutil.which("node") is not None


def typescript_reads(compiler: Path, files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Yield what the compiler reads of each file.

    Args:
        compiler: the folder of the package `typescript`.
        files: of TypeScript.
    """
    program = shutil.which("node") or "node"
    for start in range(0, len(files), 200):
        some = [str(file) for file in files[start : start + 200]]
        command = [program, str(PROGRAM), str(compiler), *some]
        done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
        yield from [json.loads(line) for line in done.stdout.split("\n") if line]


def compare_typescript(theirs: dict[str, Any]) -> Verdicts:
    """Compare the declarations of a file.

    Args:
        theirs: what the compiler reads of it.
    """
    verdicts = Verdicts(Counter(), [], Counter())
    language = language_of(theirs["path"])
    assert language is not None
    source = Path(theirs["path"]).read_bytes()
    parsed = language.parse(source)
    if theirs["error"]:
        verdicts.explained["the compiler can't read"] += 1
        return verdicts
    if parsed.is_broken:
        verdicts.explained["TypeScript that the grammar can't read"] += 1
        return verdicts
    left = list(parsed.declarations)
    for each in theirs["declarations"]:
        name = f"{each['owner']}.{each['name']}" if each["owner"] else each["name"]
        verdicts.compared[each["kind"]] += 1
        found = next((one for one in left if (one.qualified, one.line) == (name, each["line"])), None)
        if found is None:
            verdicts.differences.append(Difference("missing", name, each["line"], each["kind"], ""))
            continue
        left.remove(found)
        for difference in _differences(each, found, source):
            reason = _reason(difference)
            if reason is None:
                verdicts.differences.append(difference)
            else:
                verdicts.explained[reason] += 1
    verdicts.differences.extend([Difference("more", one.qualified, one.line, "", one.kind) for one in left])
    return verdicts


def _differences(theirs: dict[str, Any], ours: Declaration, source: bytes) -> Iterator[Difference]:
    for what, wanted, found in [
        ("kind", theirs["kind"], ours.kind),
        ("value", theirs["value"], span_text(source, ours.value)),
        ("doc", theirs["doc"], span_text(source, ours.doc)),
    ]:
        if wanted != found and (what != "doc" or wanted):
            yield Difference(what, ours.qualified, ours.line, wanted, found)


def _reason(difference: Difference) -> str | None:
    """Return why the two differ; None if that isn't known."""
    if difference.what != "doc":
        return None
    wanted, found = difference.griffe, difference.ours
    if not found:
        return "not above"
    return "more comments" if wanted in found or found.endswith(wanted[-20:]) else None
