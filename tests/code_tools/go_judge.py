"""What Go's own parser reads of files, compared with what the index reads; and gofmt as a judge of syntax."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from griffe_judge import Difference, Verdicts

from operator_schema.code_tools.language import Declaration, language_named
from operator_schema.code_tools.source_text import doc_text, span_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

__all__ = [
    "GO_REASONS",
    "SYNTAX_REASONS",
    "compare_go",
    "compare_syntax",
    "damaged",
    "documented",
    "go_reads",
    "is_there",
]

PROGRAM = Path(__file__).with_name("declarations.go")
GO_REASONS = {
    "go can't read": "Go gives up on the file",
    "the grammar can't read": "tree-sitter gives up on a part of the file, which is then not compared",
    "stars": "a block comment whose lines begin with stars, which we leave out",
    "directives": "a comment has lines for programs, such as `//go:noinline`, which Go leaves out",
}
SYNTAX_REASONS = {
    "comments alone": "a file with only comments, or an empty one: gofmt requires a package",
    "import path": "gofmt also checks the path of an import",
    "tree-sitter takes it": "gofmt refuses what the grammar of tree-sitter takes",
    "gofmt takes it": "gofmt takes what the grammar of tree-sitter refuses",
}


def is_there() -> bool:
    """Return whether Go is installed."""
    return shutil.which("go") is not None and shutil.which("gofmt") is not None


def go_reads(files: Sequence[Path], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what Go's parser reads of each file.

    Args:
        files: of Go.
        folder: for the program that reads them.
    """
    program = folder / "declarations"
    if not program.exists():
        environment = {"GOCACHE": str(folder / "cache"), "HOME": str(folder), "GOFLAGS": "-mod=mod"}
        command = ["go", "build", "-o", str(program), str(PROGRAM)]
        subprocess.run(command, check=True, env={**_path(), **environment}, cwd=folder)
    for start in range(0, len(files), 500):
        some = [str(file) for file in files[start : start + 500]]
        done = subprocess.run([str(program), *some], check=True, capture_output=True, text=True)
        yield from [json.loads(line) for line in done.stdout.splitlines()]


def _path() -> dict[str, str]:
    import os

    return {"PATH": os.environ["PATH"]}


def compare_go(theirs: dict[str, Any]) -> Verdicts:
    """Compare the declarations of a file.

    Args:
        theirs: what Go reads of it.
    """
    verdicts = Verdicts(Counter(), [], Counter())
    if theirs["error"]:
        verdicts.explained["go can't read"] += 1
        return verdicts
    source = Path(theirs["path"]).read_bytes()
    parsed = language_named("go").parse(source)
    if parsed.is_broken:
        verdicts.explained["the grammar can't read"] += 1
        return verdicts
    left = list(parsed.declarations)
    for each in theirs["declarations"]:
        name = f"{each['owner']}.{each['name']}" if each["owner"] else each["name"]
        if each["name"] == "_":
            continue
        verdicts.compared[each["kind"]] += 1
        found = next((one for one in left if (one.qualified, one.line) == (name, each["line"])), None)
        if found is None:
            verdicts.differences.append(Difference("missing", name, each["line"], each["kind"], ""))
            continue
        left.remove(found)
        verdicts.differences.extend(_differences(each, found, name, source, verdicts.explained))
    more = [one for one in left if one.name != "_"]
    verdicts.differences.extend([Difference("more", one.qualified, one.line, "", one.kind) for one in more])
    return verdicts


def _differences(
    theirs: dict[str, Any], ours: Declaration, name: str, source: bytes, explained: Counter[str]
) -> Iterator[Difference]:
    if theirs["kind"] != ours.kind:
        yield Difference("kind", name, ours.line, theirs["kind"], ours.kind)
    if theirs["value"] and theirs["value"] != span_text(source, ours.value):
        yield Difference("value", name, ours.line, theirs["value"], span_text(source, ours.value))
    wanted, found = _words(theirs["doc"]), _words(doc_text(source, ours) if ours.doc.end else "")
    if wanted != found:
        if re.search(
            r"^//(go:|line |export |extern |[a-z]+:|nolint)", span_text(source, ours.doc), re.MULTILINE
        ):
            explained["directives"] += 1
        elif wanted.replace("*", "").split() == found.replace("*", "").split():
            explained["stars"] += 1
        else:
            yield Difference("doc", name, ours.line, wanted[:200], found[:200])


def _words(text: str) -> str:
    return " ".join(text.split())


def formatting_error(code: str) -> str:
    """Return the first thing that gofmt says of a file that it can't read; empty if it can."""
    command, sent = [shutil.which("gofmt") or "gofmt", "-e"], code.encode(errors="replace")
    done = subprocess.run(command, input=sent, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.decode().splitlines()[0].partition(" ")[2]


_DOCUMENTED = re.compile(
    r"^(?:func (?:\(\w* ?\*?(?P<owner>\w+)(?:\[.*?\])?\) )?(?P<func>[A-Z]\w*)|type (?P<type>[A-Z]\w*))",
    re.MULTILINE,
)


def documented(package: str) -> Iterator[tuple[str, str]]:
    """Yield the names of a package, as its import path and `go doc` write them, with how their lines begin.

    Args:
        package: such as `net/http`.
    """
    command = [shutil.which("go") or "go", "doc", "-all", package]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for said in _DOCUMENTED.finditer(done.stdout):
        names = [package, said["owner"], said["func"] or said["type"]]
        yield ".".join(filter(None, names)), said[0]


_TOKEN = re.compile(r"\w+|[^\w\s]")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def damaged(file: Path, draw: Random) -> str:
    """Return the text of a file with one token taken away, doubled or replaced, or cut off there.

    Args:
        file: of Go.
        draw: what is done where.
    """
    code = file.read_text(encoding="utf-8", errors="replace")
    tokens = list(_TOKEN.finditer(code))
    if not tokens or draw.random() < 0.1:
        return code
    one, other = draw.choice(tokens), draw.choice(tokens)
    change = draw.choice(["", f"{one.group()} {one.group()}", other.group(), None])
    return code[: one.start()] if change is None else f"{code[: one.start()]}{change}{code[one.end() :]}"


def compare_syntax(code: str) -> Verdicts:
    """Compare what `check_syntax` and gofmt say of a file."""
    refusal = formatting_error(code)
    ours = language_named("go").problems(code, "file")
    verdicts = Verdicts(Counter({"valid" if not refusal else "refused": 1}), [], Counter())
    if bool(refusal) != bool(ours):
        verdicts.explained[_reason(code, refusal)] += 1
    return verdicts


def _reason(code: str, refusal: str) -> str:
    if not _COMMENT.sub("", code).strip():
        return "comments alone"
    if "import path" in refusal:
        return "import path"
    return "tree-sitter takes it" if refusal else "gofmt takes it"
