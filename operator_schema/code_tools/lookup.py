"""Where is a name declared, below the root or outside of it, and if it isn't found, why?"""

from __future__ import annotations

import builtins
import os
import re
import sys
import sysconfig
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..message_text import quote
from ..similar_names import nearest_names
from .index import Index
from .language import FUNCTIONS, LANGUAGES, places_of
from .module_names import Modules
from .name_patterns import Pattern
from .resolution import Resolver, Way
from .source_files import UNREAD
from .source_text import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .index import FoundDeclaration, SourceFile
    from .results import Reason


class WrittenName(NamedTuple):
    """A name as a caller wrote it, split into its parts.

    Attributes:
        name: written with dots, such as `Server.ListenAndServe`; empty if a line is given instead.
        path: of the file in front of it; empty if there is none.
        line: of the file, from 1; 0 if a name is given instead.
        problem: why this can't be a name, and what to write instead; empty if it can.
    """

    name: str
    path: str = ""
    line: int = 0
    problem: str = ""


_ENDINGS = "|".join(ending.lstrip(".") for endings in LANGUAGES.values() for ending in endings)
_LOCATION = re.compile(r"(?P<path>[^*?\n]+?\.\w+)(?::|#L)(?P<line>\d{1,9})(?:[:-]L?\d*)*:?")
_FILE_FIRST = re.compile(rf"(?P<path>[^:\n]+\.(?:{_ENDINGS}))::?(?P<name>.*)", re.DOTALL)
_PATH_FIRST = re.compile(r"(?P<path>[^:(\[<\n]*):(?P<name>[^:].*|)", re.DOTALL)
_KEYWORDS = (
    r"async|abstract|class|const|def|enum|export|extern|final|fn|func|function|impl|import|interface|let|"
    r"macro_rules!|mod|namespace|private|protected|pub|public|static|struct|trait|type|union|unsafe|use|var"
)
_KEYWORD = re.compile(rf"(?:(?:{_KEYWORDS})\s+)+(?=\S)")
_SELF = re.compile(r"(?:(?:crate|self|super|Self|this)(?:\.))+")
_AS_TRAIT = re.compile(r"^<\s*([\w:]+)(?:<[^<>]*>)?\s+as\s+[^<>]*(?:<[^<>]*>)?\s*>")
_RECEIVER = re.compile(r"(?<![\w\])>])\(\s*(?:\w+\s+)?[*&]?\s*([\w.]+)(?:\[[^\[\]]*\])?\s*\)\s*\.?(?=\w)")
_INSIDE = re.compile(r"(?<=[\w>\])!])(?:\([^()]*\)|\[[^\[\]]*\]|(?:::)?<[^<>]*>)")
_PATTERN = re.compile(r"(?<!operator)[*?|^]")


def read_name(text: str) -> WrittenName:
    """Read a name in any notation that a language's users write.

    Args:
        text: such as `Codec.decode`, `Type::method`, `(*Server).Close`, `net/http.Client`, `f()`,
            `codec.py:Codec`, `codec.py::Codec` or `codec.py:81`.
    """
    text = text.strip().strip("`'\"").strip()
    if not text:
        return WrittenName("", problem="No name was given: write one such as Codec or Codec.decode.")
    if location := _LOCATION.fullmatch(text):
        return WrittenName("", location["path"].removeprefix("./"), int(location["line"]))
    path = ""
    if split := _FILE_FIRST.fullmatch(text) or _PATH_FIRST.fullmatch(text):
        path, text = split["path"].strip().removeprefix("./"), split["name"].strip()
    name = _dotted(text)
    if not name:
        return WrittenName("", path, problem=f"A name is missing after {path or text}.")
    if _PATTERN.search(name):
        return WrittenName(name, path, problem="This is a pattern, not a name: call search.")
    if re.search(r"\s", name):
        return WrittenName(name, path, problem="A name has no spaces in it: write one such as Codec.decode.")
    return WrittenName(name, path)


def _dotted(text: str) -> str:
    """Write a name with dots between its parts, and remove keywords, brackets and the like."""
    text = _KEYWORD.sub("", text, count=1) if _KEYWORD.match(text) else text
    text = _AS_TRAIT.sub(r"\1", text).lstrip("@&")
    text = text.removeprefix("*") if re.match(r"\*\w", text) else text
    text = _RECEIVER.sub(r"\1.", text)
    before = ""
    while before != text:  # brackets may have brackets in them
        before, text = text, _INSIDE.sub("", text)
    text = re.sub(r"(?<=\w)!", "", text).rstrip(":;,{( ")
    text = re.sub(r"::|->|(?<=\w)#(?=\w)|/|\\", ".", text)
    return _SELF.sub("", f"{text}.", count=1).strip(". ") if _SELF.match(text) else text.strip(". ")


def read_pattern(text: str) -> tuple[str, str]:
    """Split a pattern into the path in front of it, and the pattern of names with dots."""
    text = text.strip()
    path = ""
    if split := _FILE_FIRST.fullmatch(text) or _PATH_FIRST.fullmatch(text):
        path, text = split["path"].strip().removeprefix("./"), split["name"].strip()
    text = _KEYWORD.sub("", text, count=1) if _KEYWORD.match(text) else text
    return path, text.replace("::", ".").replace("()", "")


def pattern_hint(text: str) -> str:
    """Return what to write instead of a regular expression; empty if the pattern is valid."""
    odd = list(dict.fromkeys(re.findall(r"[|^$\[\]{}\\+]|\.\*(?=[\w|$])|\s", text.strip())))
    if not odd:
        return ""
    named = ", ".join(["a space" if one.isspace() else one for one in odd])
    return f"Patterns have only * and ?, so {named} can't be a part of one: search once for each name."


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
_MOST_LINES = 400
"""Lines that may declare a name inside of a function, of which each is looked up for one question."""


class Sought(NamedTuple):
    """The declarations that were found for a name.

    Attributes:
        ways: at least one, the likeliest first.
        where: the index that contains them.
        note: where they are, if they aren't below the root.
    """

    ways: list[Way]
    where: Index
    note: str = ""


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


def look_up(
    index: Index, environment: Environment, text: str, *, functions: bool = False, outside: bool = True
) -> Sought | Miss:
    """Find the declarations of a name.

    Args:
        index: of the root.
        environment: the packages that the code below the root uses.
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
    """Find a member that a type inherits from a base outside of the root; None if there is none."""
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
        passed_on = found.file.language.passed_on(base)
        if passed_on is not None and member not in passed_on:
            continue
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
    """Explain why there is no file at a path."""
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
    """Return why the tools don't read a file at a path: the reason, and a sentence about it."""
    if why := index.skipped.get(path):
        return "file not read", f"{path} isn't read: {why}."
    rule = index.tree.why_ignored(path)
    where = f"{index.root}/{path}"
    if rule and os.path.lexists(where):
        return "ignored", f"{path} is ignored, by {rule}."
    if any(part == ".." for part in path.split("/")) or os.path.isabs(path):  # noqa: PTH117  # a text of somebody
        return "outside of the root", f"{_shown(path)} is outside of the root."
    language = UNREAD.get(path[path.rfind(".") :])
    if language is not None and os.path.lexists(where):
        return "language not read", f"{path} is {language}, which isn't read: call search_text."
    if os.path.lexists(where):
        return "file not read", f"{path} has no declarations that are read here: call search_text."
    return "no such file", f"There is no file {_shown(path)} below the root."


def path_missing(index: Index, path: str) -> str:
    """Return why a search at a path can't find anything; empty if it can."""
    reason, note = path_problem(index, path)
    return note if reason in {"ignored", "outside of the root", "no such file"} else ""


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


def _inside_functions(index: Index, written: WrittenName) -> Iterator[Way]:
    """Yield the declarations of a name that are inside functions."""
    resolver = Resolver(index)
    parsed: dict[tuple[str, int], Mapping[int, FoundDeclaration]] = {}
    for file, line in islice(_declaring_lines(index, written), _MOST_LINES):
        for found in index.at_line(file.path, line)[:1]:
            key = file.path, found.declaration.head.start
            if key not in parsed:  # a text may say on each of its lines that it declares the name
                parsed[key] = resolver.inner_by_line(found)
            inner = parsed[key].get(line)
            if inner is not None and f".{inner.declaration.qualified}".endswith(f".{written.name}"):
                yield Way(inner, (f"inside {found.declaration.qualified}",))


def _declaring_lines(index: Index, written: WrittenName) -> Iterator[tuple[SourceFile, int]]:
    """Yield each line that seems to declare the last part of a name."""
    name = written.name.rpartition(".")[2]
    files = (one for one in index.with_word(name) if not written.path or one.path.endswith(written.path))
    for file in islice(files, _MOST_FILES):
        source = source_of(index, file)
        line, counted, last = 1, 0, 0
        for place in places_of(name.encode(), source):
            if _BEFORE_NAME.search(source, max(place - _LONGEST_BEFORE, 0), place) is None:
                continue
            line, counted = line + source.count(b"\n", counted, place), place
            if line != last:
                last = line
                yield file, line


def _missed(index: Index, written: WrittenName, environment: Environment, *, functions: bool) -> Miss:
    """Explain why a name isn't found."""
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
    """Return where the last part of a name is declared with other parts before it."""
    *above, last = written.name.split(".")
    if not (above or written.path):
        return ""
    places = [
        f"{one.declaration.qualified} ({one.file.path}:{one.declaration.line})" for one in index.named(last)
    ]
    shown = ", ".join([_shown(place) for place in places[:3]])
    return f"{quote(last)} is declared elsewhere: {shown}." if places else ""


def _text_note(index: Index, written: WrittenName) -> str:
    """Return a line that may declare a name, for example by a macro; empty if there is none."""
    unknown = (
        part
        for part in written.name.split(".")
        if not index.named(part) and not any(True for _ in index.modules.ending(part))
    )
    name = next(unknown, "").encode(errors="replace")  # a path that isn't UTF-8 may be in it
    for file in islice(index.with_word(name.decode()) if name else (), _MOST_FILES):
        source = source_of(index, file)
        for place in places_of(name, source):
            if _BEFORE_NAME.search(source, max(place - _LONGEST_BEFORE, 0), place) is not None:
                line = source.count(b"\n", 0, place) + 1
                return f"The text of {file.path}:{line} may declare it, such as by a macro: read it there."
    return ""


def _nearest(index: Index, written: WrittenName, *, functions: bool) -> list[str]:
    """List names similar to one that wasn't found, with the members of its owner first."""
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
    """Preselect names that share the most letters in a row: comparing all names takes too long."""
    wanted = _triples(name)
    return nlargest(_MOST_COMPARED, known, key=lambda other: len(wanted & _triples(other)))


def _triples(name: str) -> set[str]:
    folded = name.casefold()
    return {folded[place : place + 3] for place in range(max(len(folded) - 2, 1))}


def _shown(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


_MOST_FILES_READ = 400
"""Files that are parsed for one question."""
_ENVIRONMENTS = (".venv", "venv", "env")


class Environment:
    """The installed packages that the code imports; only files that a name leads to are read.

    Args:
        root: absolute path of the code base.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._libraries: list[_Library] | None = None

    def look_up(self, index: Index, name: str) -> tuple[list[Way], Index, str] | None:
        """Find the declaration of a name outside of the root.

        Args:
            index: of the root.
            name: with dots.

        Returns:
            The ways, the index that contains them, and a sentence about where; None if there are none.
        """
        for full in self._full_names(index, name):
            for library in self._all():
                way = library.find(full)
                if way is not None:
                    return [way], library, f"Outside of the root, in {library.root}."
        return None

    def outside(self, index: Index, name: str) -> str:
        """Describe a name that comes from outside of the root and has no source here; empty if unknown."""
        head = name.partition(".")[0]
        if "." not in name and hasattr(builtins, name) and self._has_python(index):
            return f"{name} is built into Python."
        for full in self._full_names(index, name):
            head = full.partition(".")[0]
            if any(True for _ in index.modules.ending(head)) or not self._has_python(index):
                continue
            if head in sys.stdlib_module_names and "." in full:
                return f"{full} may be of Python's standard library; there is no source of it here."
            if full != name or any(head in _heads(file) for file in index.importers(head)[:5]):
                return f"{full} is imported from outside of the root, and its source isn't here."
        return next(_imported_from_outside(index, name), "")

    def _full_names(self, index: Index, name: str) -> Iterator[str]:
        """Yield the full names that a name may stand for, by the files that import its first part."""
        yield name
        head, dot, rest = name.partition(".")
        seen = {name}
        for file in index.importers(head)[:4]:
            language = file.language
            for one in file.parsed.imports:
                if one.name == head:
                    full = f"{language.import_target(one.target, file.path)}{dot}{rest}"
                    if full not in seen:
                        seen.add(full)
                        yield full

    @staticmethod
    def _has_python(index: Index) -> bool:
        return any(file.path.endswith((".py", ".pyi")) for file in index.files())

    def _all(self) -> list[_Library]:
        if self._libraries is None:
            folders = [
                folder for folder in dict.fromkeys(_folders(self._root)) if not _is_in(folder, self._root)
            ]
            self._libraries = [_Library(folder) for folder in folders]
        for library in self._libraries:
            library.look_again()
        return self._libraries


_FROM_HERE = (".", "crate::", "self::", "super::")
"""How the target of an import begins that is below the root, even if nothing there declares it."""


def _imported_from_outside(index: Index, name: str) -> Iterator[str]:
    """Yield a sentence for each import that brings a name from outside of the root."""
    head, dot, rest = name.partition(".")
    for file in index.files():
        language = file.language
        for one in file.parsed.imports:
            target = language.import_target(one.target, file.path)
            # All names of a header or module don't make its own name known.
            is_named = head == one.name or (one.name != "*" and head == target.rpartition(".")[2])
            if not is_named and not f"{name}.".startswith(f"{target}."):
                continue
            full = f"{target}{dot}{rest}" if is_named else name
            if one.target.startswith(_FROM_HERE) or index.modules.is_crate(full.partition(".")[0]):
                continue
            modules = (target, target.rpartition(".")[0])
            is_bare = language.is_bare(one.target)
            if any(
                next(index.modules.imported(each, file.path, is_bare=is_bare), None)
                for each in modules
                if each
            ):
                continue
            if language.is_own_library(one.target):
                yield f"{full} may be of {language.name}'s own library; there is no source of it here."
            else:
                yield f"{full} is imported from outside of the root, and its source isn't here."


def _heads(file: SourceFile) -> set[str]:
    return {one.target.partition(".")[0] for one in file.parsed.imports}


def _is_in(folder: str, root: str) -> bool:
    """Return whether the index of the root contains a folder."""
    return folder == root or (
        folder.startswith(f"{root}{os.sep}")
        and not any(f"{os.sep}{one}{os.sep}" in folder for one in _ENVIRONMENTS)
    )


def _folders(root: str) -> Iterator[str]:
    """Yield the folders with installed packages: the project's own, Python's, and Go's."""
    for name in _ENVIRONMENTS:
        for pattern in ("lib/python3*/site-packages", "Lib/site-packages"):
            yield from map(str, sorted(Path(root, name).glob(pattern)))
    paths = sysconfig.get_paths()
    yield from (paths["stdlib"], paths["purelib"], paths["platlib"])
    for go in (os.environ.get("GOROOT"), "/usr/local/go", "/usr/lib/go"):
        if go and Path(go, "src").is_dir():
            yield str(Path(go, "src").resolve())


class _Library(Index):
    """An index of a folder with packages, which reads a file when its module is first needed."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._left = _MOST_FILES_READ

    def look_again(self) -> None:
        """Drop files that have changed, before a new question."""
        self._left = _MOST_FILES_READ
        young = [path for path, file in self._files.items() if file.is_young]
        for path in {*young, *self._changed()}:
            self._replace(path, None)

    def find(self, name: str) -> Way | None:
        """Find the declaration of a full name; None if this library doesn't have it."""
        parts = name.split(".")
        for place in range(min(len(parts) - 1, 8), 0, -1):
            files = self.of_module(".".join(parts[:place]))
            if files:
                return Resolver(self).in_module(files, parts[place:])
        return None

    @property
    def modules(self) -> Modules:
        return _OnDisk(self.root)

    def of_module(self, module: str) -> list[SourceFile]:
        return [file for path in self.modules.files(module) if (file := self.file(path))]

    def file(self, path: str) -> SourceFile | None:
        if path not in self._files and path not in self.skipped and self._left:
            self._left -= 1
            self._read(path, None, [])
            self._order = list(self._files)
        return self._files.get(path)

    def beside(self, file: SourceFile) -> list[SourceFile]:
        if not file.path.endswith(".go"):
            return [file]
        others = self.of_module(file.path.rpartition("/")[0].replace("/", "."))
        return [file, *[one for one in others if one is not file]]


class _OnDisk(Modules):
    """The modules of a folder, which are looked up on disk when they are needed."""

    def __init__(self, root: str) -> None:
        super().__init__(root, ())

    def files(self, module: str) -> list[str]:
        if not module or not all(part.isidentifier() or part.isalnum() for part in module.split(".")):
            return []
        try:
            return self._looked_for(module.replace(".", "/"))
        except OSError:  # no file can have a name that long
            return []

    def _looked_for(self, path: str) -> list[str]:
        where = f"{self._root}/{path}"
        for ending in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
            if os.path.isfile(f"{where}{ending}"):  # noqa: PTH113  # several times as fast, and mostly it isn't there
                return [f"{path}{ending}"]
        if not os.path.isdir(where):  # noqa: PTH112
            return []
        names = [one.name for one in Path(where).glob("*.go")]
        return sorted(f"{path}/{name}" for name in names if not name.endswith("_test.go"))

    def ending(self, name: str) -> Iterator[str]:
        if self.files(name):
            yield name

    def imported(self, name: str, path: str, *, is_bare: bool = False) -> Iterator[tuple[str, bool]]:
        del path, is_bare
        if self.files(name):
            yield name, True
