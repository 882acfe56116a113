"""Why isn't a name, a file or a pattern found?"""

from __future__ import annotations

import os
import re
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..message_text import clip, quote
from ..similar_names import nearest_names
from .language import FUNCTIONS
from .name_patterns import Pattern
from .resolution import Resolver
from .source_text import declaring_lines
from .source_tree import UNREAD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .index import Index
    from .installed_packages import Environment
    from .results import Reason
    from .written_names import WrittenName

MOST_NEAREST = 5
_MOST_COMPARED = 50
MOST_SHOWN = 100
"""Characters of a name that are shown again."""


class Miss(NamedTuple):
    """The reason why a name isn't found.

    Attributes:
        reason: one of a closed list.
        note: a sentence about it that says what to do.
        nearest: similar names.
    """

    reason: Reason
    note: str
    nearest: list[str]


def explain_miss(index: Index, written: WrittenName, environment: Environment, *, functions: bool) -> Miss:
    """Explain why a name isn't found."""
    name = written.name
    nearest = _nearest_names(index, written, functions=functions)
    for module in islice(index.modules.ending(name), 1):
        files = index.modules.files(module)
        if files and not written.path:
            where = files[0] if len(files) == 1 else files[0].rpartition("/")[0]
            return Miss("a module", f"This is a module: search for {where}:* to list what it declares.", [])
    if where := environment.outside(index, name):
        return Miss("outside of the root", where, nearest)
    if where := Resolver(index).without_source(name):
        return Miss("outside of the root", f"{where}: {quote(name, MOST_SHOWN)} may be there.", nearest)
    note = f"No file that is read declares {quote(name, MOST_SHOWN)}."
    if others := _note_of_text(index, written) or _note_elsewhere(index, written):
        note += f" {others}"
    if next(index.with_word(name.rpartition(".")[2]), None) is not None:
        return Miss("not declared", note, nearest)
    # No file that is read has the word at all, so it may be in one that isn't.
    return Miss("not declared", f"{note} {unread_note(index)}".strip(), nearest)


def _note_elsewhere(index: Index, written: WrittenName) -> str:
    """Return where the last part of a name is declared with other parts before it."""
    *above, last = written.name.split(".")
    if not (above or written.path):
        return ""
    places = [f"{one.declaration.qualified} ({one.location})" for one in index.named(last)]
    shown = ", ".join([clip(place, MOST_SHOWN) for place in places[:3]])
    return f"{quote(last)} is declared elsewhere: {shown}." if places else ""


def _note_of_text(index: Index, written: WrittenName) -> str:
    """Return a note about a line that may declare a name, for example by a macro; empty if there is none."""
    unknown = (
        part
        for part in written.name.split(".")
        if not index.named(part) and next(index.modules.ending(part), None) is None
    )
    found = next(declaring_lines(index, next(unknown, "")), None)
    if found is None:
        return ""
    return f"The text of {found[0].path}:{found[1]} may declare it, such as by a macro: read it there."


def _nearest_names(index: Index, written: WrittenName, *, functions: bool) -> list[str]:
    """List names similar to one that wasn't found, with the members of its owner first."""
    owner, _, last = written.name.rpartition(".")
    last = last[:200]
    members = {
        one.declaration.name: f"{found.declaration.qualified}.{one.declaration.name}"
        for found in (index.named(owner)[:1] if owner else ())
        for one in index.members(found)
        if not functions or one.declaration.kind in FUNCTIONS
    }
    own = [members[name] for name in nearest_names(last, _most_alike(last, members), MOST_NEAREST)]
    words = [word for word in re.findall(r"[A-Z]?[a-z\d]+|[A-Z]+", last) if len(word) > 3]  # noqa: PLR2004  # shorter words are everywhere
    patterns = [f"*{word}*" for word in sorted(words, key=len, reverse=True)[:2]]
    patterns += [f"{last[:3]}*", f"*{last[-4:]}"] if len(last) > 3 else [last]  # noqa: PLR2004  # as above
    known: dict[str, str] = {}
    for pattern in patterns:
        for found in islice(index.matching(Pattern(pattern, any_case=True)), 200):
            if not functions or found.declaration.kind in FUNCTIONS:
                known.setdefault(found.declaration.name, found.declaration.qualified)
    others = [known[name] for name in nearest_names(last, _most_alike(last, known), MOST_NEAREST)]
    return list(dict.fromkeys([*own, *others]))[:MOST_NEAREST]


def explain_missing_file(index: Index, written: WrittenName) -> Miss:
    """Explain why there is no file at a path."""
    reason, note = path_problem(index, written.path)
    name = written.path.rpartition("/")[2]
    alike = nearest_names(
        name, _most_alike(name, {file.path.rpartition("/")[2] for file in index.files()}), MOST_NEAREST
    )
    others = (
        [f"{found.file.path}:{written.name}" for found in index.named(written.name)] if written.name else []
    )
    return Miss(reason, note, [*others[:MOST_NEAREST], *alike][:MOST_NEAREST])


def _most_alike(name: str, known: Iterable[str]) -> list[str]:
    """Preselect names that share the most letters in a row: comparing all names takes too long."""
    wanted = _triples(name)
    return nlargest(_MOST_COMPARED, known, key=lambda other: len(wanted & _triples(other)))


def _triples(name: str) -> set[str]:
    folded = name.casefold()
    return {folded[place : place + 3] for place in range(max(len(folded) - 2, 1))}


def path_problem(index: Index, path: str) -> tuple[Reason, str]:
    """Return why the tools don't read a file at a path: the reason, and a sentence about it."""
    if why := index.skipped.get(path):
        return "file not read", f"{path} isn't read: {why}."
    rule = index.tree.why_ignored(path)
    where = f"{index.root}/{path}"
    if rule and os.path.lexists(where):
        return "ignored", f"{path} is ignored, by {rule}."
    if any(part == ".." for part in path.split("/")) or os.path.isabs(path):  # noqa: PTH117  # a text of somebody
        return "outside of the root", f"{clip(path, MOST_SHOWN)} is outside of the root."
    language = UNREAD.get(path[path.rfind(".") :])
    if language is not None and os.path.lexists(where):
        return "language not read", f"{path} is {language}, which isn't read: call search_text."
    if os.path.lexists(where):
        return "file not read", f"{path} has no declarations that are read here: call search_text."
    return "no such file", f"There is no file {clip(path, MOST_SHOWN)} below the root."


def path_missing(index: Index, path: str) -> str:
    """Return why a search at a path can't find anything; empty if it can."""
    reason, note = path_problem(index, path)
    return note if reason in {"ignored", "outside of the root", "no such file"} else ""


def languages_note(index: Index) -> str:
    """Return in which languages there are files that the tools don't read; empty if there are none."""
    languages = list(index.tree.unread())[:4]
    return f"Not read: files of {', '.join(languages)}." if languages else ""


def unread_note(index: Index) -> str:
    """Return how many files the tools don't read, and which; empty if they read all."""
    notes: list[str] = []
    if languages := index.tree.unread():
        named = ", ".join([f"{number:,} of {name}" for name, number in languages.most_common(4)])
        notes.append(f"Files in other languages aren't read ({named}): call search_text.")
    if index.skipped:
        first = next(iter(index.skipped))
        notes.append(f"{len(index.skipped)} files under the root aren't read, such as {first}.")
    if ignored := index.tree.ignored():
        notes.append(f"Rules of git ignore {len(ignored):,} files and folders, such as {ignored[0]}.")
    return " ".join(notes)
