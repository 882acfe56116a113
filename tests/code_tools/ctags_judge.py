"""What universal-ctags reads of C, C++ and Java, compared with what the index reads."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

from griffe_judge import Difference, Verdicts

from operator_schema.code_tools.language import Declaration, language_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["CTAGS_REASONS", "compare_tags", "is_there", "tags_of"]

CTAGS_REASONS = {
    "macros": "a file of C or C++ has macros or conditions that the grammar can't read",
    "call of a macro": "ctags mistakes the call of a macro for a declaration",
    "inside of a function": "ctags lists what is inside of a function, which we leave out",
    "another branch": "ctags leaves out what is in a branch of a condition",
    "annotation": "ctags reads the default of an element of an annotation as a field",
    "passed over": "ctags skips a declaration, such as `~A() override`, or one with a value in braces",
    "pointer to a function": "the grammar mistakes a prototype with a pointer to a function for a variable",
    "owner of a template": "ctags gives a definition outside of its class template no class",
    "next line": "ctags leaves out a constant whose value is on the next line",
}
"""Why the two may differ."""

_NAMES = {"c": "C", "cpp": "C++", "java": "Java"}
_KINDS = {"c": "+px", "cpp": "+px", "java": ""}
_ALIKE = {
    "annotation": {"interface"},
    "class": {"class"},
    "enum": {"type"},
    "enumConstant": {"const"},
    "enumerator": {"const"},
    "externvar": {"var", "const"},
    "field": {"var", "const"},
    "function": {"func", "method"},
    "interface": {"interface"},
    "macro": {"const", "func"},
    "member": {"var", "const"},
    "method": {"method"},
    "prototype": {"func", "method"},
    "struct": {"struct"},
    "typedef": {"type", "struct"},
    "union": {"struct"},
    "variable": {"var", "const"},
}
"""What ctags calls a thing, to what it is here. Records are classes for it too."""


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
    shape = ["--output-format=json", "--fields=+nKSZ", f"--language-force={name}", "--sort=no"]
    done = subprocess.run(
        [shutil.which("ctags") or "ctags", *kinds, *shape, "-L", "-", "-o", "-"],
        input="".join(f"{file}\n" for file in files).encode(),
        capture_output=True,
        check=True,
    )
    found: dict[str, list[dict[str, Any]]] = {str(file): [] for file in files}
    for line in done.stdout.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag" and tag["kind"] not in {"namespace", "package"}:
            found[tag["path"]].append(tag)
    for file in files:
        yield file, found[str(file)]


def compare_tags(language: str, file: Path, tags: list[dict[str, Any]]) -> Verdicts:
    """Compare the declarations of a file: names with their lines, kinds, and the classes that they are in."""
    parsed = language_named(language).parse(file.read_bytes())
    ours: dict[tuple[str, int], list[Declaration]] = {}
    for one in parsed.declarations:
        ours.setdefault((_plain(one.name), one.line), []).append(one)
    verdicts = Verdicts(Counter(), [], Counter())
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    functions = [(one.line, one.last_line) for one in parsed.declarations if one.kind in {"func", "method"}]
    theirs = {(_plain(tag["name"]), tag["line"]): tag for tag in tags if not tag["name"].startswith("__anon")}
    found: list[Difference] = []
    for place, tag in theirs.items():
        verdicts.compared[tag["kind"]] += 1
        found += _differences(place, tag, ours.get(place, []))
    for (name, line), each in ours.items():
        if (name, line) not in theirs:
            found.append(Difference("more", name, line, "", each[0].kind))
    for difference in found:
        is_inside = any(first < difference.line <= last for first, last in functions)
        reason = "macros" if parsed.is_broken else _reason(difference, lines, is_inside=is_inside)
        if reason is None:
            verdicts.differences.append(difference)
        else:
            verdicts.explained[reason] += 1
    return verdicts


def _reason(difference: Difference, lines: list[str], *, is_inside: bool) -> str | None:
    """Return why ctags differs; None if that isn't known."""
    line = lines[difference.line - 1].strip()
    if difference.what == "missing":
        if re.match(r"[A-Z]\w*\s*\(", line):
            return "call of a macro"
        if " default " in line:
            return "annotation"
        return "inside of a function" if is_inside else None
    if difference.what == "more":
        if line.endswith("="):
            return "next line"
        before = [
            text.split("#")[1].split()
            for text in lines[: difference.line - 1]
            if re.match(r"\s*#\s*\w", text)
        ]
        if any(words[0] in {"else", "elif", "if"} for words in before):
            return "another branch"
        return "passed over" if difference.name.lstrip("~") in "".join(line.split()) else None
    if difference.what == "kind" and re.search(r"\(.*\(\*", line):
        return "pointer to a function"
    return "owner of a template" if difference.what == "owner" and "<" in line else None


def _differences(
    place: tuple[str, int], tag: dict[str, Any], ours: list[Declaration]
) -> Iterator[Difference]:
    name, line = place
    if not ours:
        yield Difference("missing", name, line, tag["kind"], "")
    elif all(one.kind not in _ALIKE[tag["kind"]] for one in ours):
        yield Difference("kind", name, line, tag["kind"], ours[0].kind)
    scope = tag.get("scope", "")
    if ours and scope and tag["scopeKind"] not in {"enum", "namespace", "package"} and "__anon" not in scope:
        owner = scope.replace("::", ".").rpartition(".")[2]
        if all(owner not in one.owner.split(".") for one in ours):
            yield Difference("owner", name, line, scope, ours[0].owner)


def _plain(name: str) -> str:
    """Return a name as both write it: ctags puts spaces into `operator ==`."""
    return "".join(name.split()).rpartition("::")[2]
