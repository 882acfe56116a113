"""Which types and functions of a folder do other files use most?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..message_text import clip
from .index import FoundDeclaration, is_private
from .misses import path_problem
from .results import Overview
from .source_text import head_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import Index, SourceFile

_CHARACTERS_A_TOKEN = 4
_SHORTEST_NAME = 3
_LONGEST_MAP_LINE = 110
_MOST_FOLDERS = 12
_MOST_OF_A_FILE = 8
_FOR_NOTE = 120


def map_folder(index: Index, path: str, tokens: int) -> Overview:
    """Return a map of a folder or file: its types and functions, the most used first.

    A token counts as four characters.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    files = list(index.at(path) if path else index.files())
    if not files:
        reason, note = path_problem(index, path)
        return Overview(files=0, map="", reason=reason, note=note)
    ranked = _rank_declarations(index, files)
    lines = list(_folder_lines(files, path.strip("/")))
    left = tokens * _CHARACTERS_A_TOKEN - _FOR_NOTE - sum(len(line) + 1 for line in lines)
    chosen: dict[str, list[tuple[int, str]]] = {}
    for found in ranked:
        own = chosen.get(found.file.path, [])
        if len(own) >= _MOST_OF_A_FILE:
            continue
        line = f"  {_map_line(index, found)}"
        left -= len(line) + 1 + (0 if own else len(found.file.path) + 1)
        if left < 0:
            break
        chosen.setdefault(found.file.path, []).append((found.declaration.line, line))
    for where, declarations in chosen.items():
        lines += [where, *[line for _, line in sorted(declarations)]]
    result = Overview(files=len(files), map="\n".join(lines))
    missing = len(ranked) - sum(map(len, chosen.values()))
    if missing:
        result["note"] = (
            f"{missing:,} of {len(ranked):,} types and functions are left out: "
            "give a path in it, or more tokens."
        )
    return result


def _folder_lines(files: list[SourceFile], path: str) -> Iterator[str]:
    """Yield a line for each folder directly below a path, with the number of its files."""
    counts: Counter[str] = Counter()
    for file in files:
        before, found, rest = f"/{file.path}".partition(f"/{path}/" if path else "/")
        inner = rest if found else before
        if "/" in inner:
            counts[inner.partition("/")[0]] += 1
    if len(counts) == 1 and not path:  # a package alone in its root
        yield from _folder_lines(files, next(iter(counts)))
        return
    for name, number in counts.most_common(_MOST_FOLDERS):
        yield f"{name}/ {number:,} files"
    if len(counts) > _MOST_FOLDERS:
        yield f"… {len(counts) - _MOST_FOLDERS} more folders"


def _rank_declarations(index: Index, files: list[SourceFile]) -> list[FoundDeclaration]:
    """Sort the types and functions of some files, the most used first."""
    found = [
        FoundDeclaration(file, declaration)
        for file in files
        for declaration in file.parsed.declarations
        if not declaration.owner
        and declaration.kind not in {"const", "var"}
        and len(declaration.name) >= _SHORTEST_NAME
    ]
    declared = Counter([one.declaration.name for one in found])
    used = Counter({name: len(index.importers(name)) for name in declared})
    # Words such as `first` stand in many files that don't mean the function.
    telling = {name for name in declared if "_" in name or name.lower() != name}
    for file in index.files():
        if not file.is_aside:
            used.update(telling.intersection(file.parsed.words.split("\n")))

    def rank(one: FoundDeclaration) -> tuple[bool, bool, float, str, int]:
        name = one.declaration.name
        # A name that many files declare says little about each of them.
        score = (used[name] + index.popularity(one.file)) / declared[name] ** 2
        return one.file.is_aside, is_private(one), -score, one.file.path, one.declaration.line

    return sorted(found, key=rank)


def _map_line(index: Index, found: FoundDeclaration) -> str:
    declaration = found.declaration
    text = head_of(index, found) if declaration.head.end else f"{declaration.kind} {declaration.name}"
    return clip(text, _LONGEST_MAP_LINE)
