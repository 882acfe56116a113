"""Where the name is declared that somebody writes, or why it isn't found."""

from __future__ import annotations

import builtins
import os
import re
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..message_text import nearest_names, quote
from .declaration_text import source_of
from .language import language_of, places_of
from .name_patterns import Pattern
from .resolution import Resolver, Way
from .source_files import UNREAD
from .written_names import read_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .environment import Environment
    from .index import Index
    from .results import Reason
    from .written_names import WrittenName

__all__ = ["FUNCTIONS", "Miss", "Sought", "look_up", "path_problem", "unread_note"]

FUNCTIONS = frozenset({"func", "method"})
_MOST_NEAREST = 5
_MOST_COMPARED = 50
_MOST_FILES = 300
_MOST_BASES = 30
_MOST_SHOWN = 100
"""Characters of a name that are shown again."""


_BEFORE_NAME = re.compile(
    rb"\b(?:class|const|def|enum|fn|func|function|static|struct|trait|type|union)[ \t]+\Z"
)
_LONGEST_BEFORE = 40


class Sought(NamedTuple):
    """Declarations of a name.

    Attributes:
        ways: at least one, the likeliest first.
        where: the index that they are from.
        note: where that is, if it isn't below the root.
    """

    ways: list[Way]
    where: Index
    note: str = ""


class Miss(NamedTuple):
    """Why a name isn't found.

    Attributes:
        reason: of a closed list.
        note: the same in words, with what to do.
        nearest: names that are like it.
    """

    reason: Reason
    note: str
    nearest: list[str]


def look_up(
    index: Index, environment: Environment, text: str, *, functions: bool = False, outside: bool = True
) -> Sought | Miss:
    """Find the declarations of a name.

    Args:
        index: of the root.
        environment: sources of what the root uses.
        text: the name, as somebody wrote it.
        functions: whether only functions are wanted.
        outside: whether declarations outside of the root are wanted.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    written = read_name(text)
    path = text.strip().removeprefix("./")
    if index.file(path) is not None:
        return Miss("a file", f"This is a file: search for {path}:* to list what it declares.", [])
    if written.problem:
        return Miss("not understood", written.problem, [])
    if written.line:
        return _at_line(index, written)
    if written.path and not any(True for _ in index.at(written.path)):
        module = written.path.replace("/", ".")
        if not any(True for _ in index.modules.ending(module)):
            return _no_file(index, written)
        written = written._replace(name=f"{module}.{written.name}", path="")
    ways = [Way(found) for found in index.named(written.name, written.path)]
    if index.modules.is_crate(written.name.partition(".")[0]) and not written.path:
        ways = [*Resolver(index).named(written.name), *ways]
        ways = list({(way.found.file.path, way.found.declaration.whole): way for way in ways[::-1]}.values())
        ways.reverse()
    if functions:
        ways = [way for way in ways if way.found.declaration.kind in FUNCTIONS] or ways
    ways = ways or Resolver(index).named(written.name, written.path)
    ways = ways or list(islice(_inside_functions(index, written), _MOST_NEAREST))
    if ways:
        kind = ways[0].found.declaration.kind
        if not functions or kind in FUNCTIONS:
            module = next(iter(index.modules.files(written.name)), "") if not written.path else ""
            return Sought(ways, index, f"{module} is a module of this name." if module else "")
        return Miss("not a function", f"This name is a {kind}, not a function: call inspect.", [])
    if found := environment.look_up(index, written.name):
        note = f"{found[2]} Only names below the root can be asked for here."
        return Sought(*found) if outside else Miss("outside of the root", note, [])
    if not written.path and (inherited := _inherited(index, environment, written.name, outside=outside)):
        return inherited
    return _missed(index, written, environment, functions=functions)


def _inherited(index: Index, environment: Environment, name: str, *, outside: bool) -> Sought | Miss | None:
    """Find what a type inherits from one outside of the root; None if it inherits nothing of this name."""
    owner, _, member = name.rpartition(".")
    unknown = ""
    for found, base in islice(Resolver(index).outer_bases(owner) if owner else (), _MOST_BASES):
        step = f"{found.declaration.qualified} inherits from {base}"
        if sought := environment.look_up(index, f"{base}.{member}"):
            ways, where, note = sought
            if not outside:
                note = f"{step}. {note} Only names below the root can be asked for here."
                return Miss("outside of the root", note, [])
            return Sought([way.after(step) for way in ways], where, note)
        builtin = getattr(builtins, base, None)
        if hasattr(builtin, member):
            return Miss("outside of the root", f"{step}, which is built into Python.", [])
        if builtin is None and environment.look_up(index, base) is None:
            unknown = unknown or f"{step}, whose source isn't here: {quote(_shown(member))} may be there."
    return Miss("outside of the root", unknown, []) if unknown else None


def _at_line(index: Index, written: WrittenName) -> Sought | Miss:
    found = index.at_line(written.path, written.line)
    if found:
        return Sought([Way(one) for one in found], index)
    file = next(index.at(written.path), None)
    if file is None:
        return _no_file(index, written)
    lines = source_of(index, file).count(b"\n") + 1
    note = f"Nothing is declared at this line of {lines}: search for {file.path}:* to list what is."
    return Miss("not declared", note, [])


def _no_file(index: Index, written: WrittenName) -> Miss:
    """Say why there is no file at a path."""
    reason, note = path_problem(index, written.path)
    name = written.path.rpartition("/")[2]
    alike = nearest_names(
        name, _alike(name, {file.path.rpartition("/")[2] for file in index.files()}), _MOST_NEAREST
    )
    others = (
        [f"{found.file.path}:{written.name}" for found in index.named(written.name)] if written.name else []
    )
    return Miss(reason, note, [*others[:_MOST_NEAREST], *alike][:_MOST_NEAREST])


def path_problem(index: Index, path: str) -> tuple[Reason, str]:
    """Say why no file at a path is read: the reason, and the same in words."""
    if why := index.skipped.get(path):
        return "file not read", f"{path} isn't read: {why}."
    rule = index.tree.why_ignored(path)
    where = f"{index.root}/{path}"
    if rule and os.path.lexists(where):
        return "ignored", f"{path} is ignored, by {rule}."
    if any(part == ".." for part in path.split("/")) or os.path.isabs(path):  # noqa: PTH117  # a text of somebody
        return "outside of the root", f"{_shown(path)} is outside of the root."
    language = UNREAD.get(path[path.rfind(".") :])
    if language is not None and language_of(path) is None and os.path.lexists(where):
        return "language not read", f"{path} is {language}, which isn't read: search it as text."
    if os.path.lexists(where):
        return "file not read", f"{path} has no declarations that are read here: search it as text."
    return "no such file", f"There is no file {_shown(path)} below the root."


def unread_note(index: Index) -> str:
    """Say how many files aren't read, and which; empty if all are."""
    notes: list[str] = []
    if languages := index.tree.unread():
        named = ", ".join([f"{number:,} of {name}" for name, number in languages.most_common(4)])
        notes.append(f"Files in other languages aren't read ({named}): search them as text.")
    if index.skipped:
        first = next(iter(index.skipped))
        notes.append(f"{len(index.skipped)} files under the root aren't read, such as {first}.")
    if ignored := index.tree.ignored():
        notes.append(f"Rules of git ignore {len(ignored):,} files and folders, such as {ignored[0]}.")
    return " ".join(notes)


def _inside_functions(index: Index, written: WrittenName) -> Iterator[Way]:
    """Yield what functions declare inside of them under a name."""
    name = written.name.rpartition(".")[2]
    files = index.with_word(name)
    for file in islice(
        (one for one in files if not written.path or one.path.endswith(written.path)), _MOST_FILES
    ):
        source = source_of(index, file)
        for place in places_of(name.encode(), source):
            if _BEFORE_NAME.search(source, max(place - _LONGEST_BEFORE, 0), place) is None:
                continue
            line = source.count(b"\n", 0, place) + 1
            for found in index.at_line(file.path, line)[:1]:
                inner = Resolver(index).inner_at(found, line)
                if inner is not None and f".{inner.declaration.qualified}".endswith(f".{written.name}"):
                    yield Way(inner, (f"inside {found.declaration.qualified}",))


def _missed(index: Index, written: WrittenName, environment: Environment, *, functions: bool) -> Miss:
    """Say why a name isn't found."""
    name = written.name
    nearest = _nearest(index, written, functions=functions)
    for module in islice(index.modules.ending(name), 1):
        files = index.modules.files(module)
        if files and not written.path:
            where = files[0] if len(files) == 1 else files[0].rpartition("/")[0]
            return Miss("a module", f"This is a module: search for {where}:* to list what it declares.", [])
    if where := environment.outside(index, name):
        return Miss("outside of the root", where, nearest)
    if where := Resolver(index).without_source(name):
        return Miss("outside of the root", f"{where}: {quote(_shown(name))} may be there.", nearest)
    note = f"Nothing that is read declares {quote(_shown(name))}."
    if others := _text_note(index, written) or _elsewhere(index, written):
        note += f" {others}"
    if next(index.with_word(name.rpartition(".")[2]), None) is not None:
        return Miss("not declared", note, nearest)
    # No file that is read has the word at all, so it may be in one that isn't.
    return Miss("not declared", f"{note} {unread_note(index)}".strip(), nearest)


def _elsewhere(index: Index, written: WrittenName) -> str:
    """Say where else the last part of a name is declared."""
    *above, last = written.name.split(".")
    if not (above or written.path):
        return ""
    places = [
        f"{one.declaration.qualified} ({one.file.path}:{one.declaration.line})" for one in index.named(last)
    ]
    shown = ", ".join([_shown(place) for place in places[:3]])
    return f"{quote(last)} is declared elsewhere: {shown}." if places else ""


def _text_note(index: Index, written: WrittenName) -> str:
    """Say where a text seems to declare a name, which a macro may do; empty if none does."""
    unknown = (
        part
        for part in written.name.split(".")
        if not index.named(part) and not any(True for _ in index.modules.ending(part))
    )
    name = next(unknown, "").encode()
    for file in islice(index.with_word(name.decode()) if name else (), _MOST_FILES):
        source = source_of(index, file)
        for place in places_of(name, source):
            if _BEFORE_NAME.search(source, max(place - _LONGEST_BEFORE, 0), place) is not None:
                line = source.count(b"\n", 0, place) + 1
                return f"The text of {file.path}:{line} may declare it, such as by a macro: read it there."
    return ""


def _nearest(index: Index, written: WrittenName, *, functions: bool) -> list[str]:
    """List names that are like one that wasn't found: members of its owner first."""
    owner, _, last = written.name.rpartition(".")
    last = last[:200]
    members = {
        one.declaration.name: f"{found.declaration.qualified}.{one.declaration.name}"
        for found in (index.named(owner)[:1] if owner else ())
        for one in index.members(found)
        if not functions or one.declaration.kind in FUNCTIONS
    }
    own = [members[name] for name in nearest_names(last, _alike(last, members), _MOST_NEAREST)]
    words = [word for word in re.findall(r"[A-Z]?[a-z\d]+|[A-Z]+", last) if len(word) > 3]  # noqa: PLR2004  # shorter words are everywhere
    patterns = [f"*{word}*" for word in sorted(words, key=len, reverse=True)[:2]]
    patterns += [f"{last[:3]}*", f"*{last[-4:]}"] if len(last) > 3 else [last]  # noqa: PLR2004  # as above
    known: dict[str, str] = {}
    for pattern in patterns:
        for found in index.matching(Pattern(pattern, any_case=True), 200):
            if not functions or found.declaration.kind in FUNCTIONS:
                known.setdefault(found.declaration.name, found.declaration.qualified)
    others = [known[name] for name in nearest_names(last, _alike(last, known), _MOST_NEAREST)]
    return list(dict.fromkeys([*own, *others]))[:_MOST_NEAREST]


def _alike(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that share the most letters in a row: comparing names as a whole takes long."""
    wanted = _triples(name)
    return nlargest(_MOST_COMPARED, known, key=lambda other: len(wanted & _triples(other)))


def _triples(name: str) -> set[str]:
    folded = name.casefold()
    return {folded[place : place + 3] for place in range(max(len(folded) - 2, 1))}


def _shown(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
