"""Who uses a declaration: certainly, by imports, types and `self`; likely, by its name; and in texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from .declaration_text import location, source_of
from .index import Found, is_at
from .language import end_of_head, language_of, lines_with, places_of
from .resolution import Resolver
from .results import PlaceShown, ReferencesFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import Index, SourceFile
    from .language import Declaration, Import, Language
    from .lookup import Sought
    from .resolution import Way
    from .results import Budget, Certainty

__all__ = ["Reference", "Uses", "references_shown", "uses_of"]

_MOST_FILES = 500
_MOST_BYTES = 20_000_000
_MOST_PLACES = 400
"""Places after which no further file is looked into, unless it can use the declaration for certain."""
_TYPES = frozenset({"class", "interface", "protocol", "struct", "type"})
_CHAIN = re.compile(
    rb"(?<![\w\])'\".])([A-Za-z_]\w*(?:\s*(?:\.|::)[A-Za-z_]\w*)*)(?:\s*(?:\.|::)[ \t]*|->)\Z"
)
_DOTTED = re.compile(rb"(?:(?:\.|::)[ \t]*|(?<=[\w)\]])->)\Z")
_CHAIN_SIGNS = re.compile(rb"[\w\s.:>()-]*")
_SUPER = re.compile(rb"\bsuper\(\)\s*\.[ \t]*\Z")
_KEYWORD = re.compile(rb"\s*=(?![=>])")
_BEFORE_KEYWORD = re.compile(rb"[(,]\s*\Z")
_KEY = re.compile(rb"[ \t]*:(?![:=])")
_BEFORE_KEY = re.compile(rb"[{,\n]\s*\Z")
_FIELDS_BEFORE = re.compile(rb"[ \t]*(?:\w+[ \t]*,[ \t]*)*\Z")
_FIELD_AFTER = re.compile(rb"(?:[ \t]*,[ \t]*\w+)*[ \t]+[\w*\[(<]")
_TYPE_TEXT = re.compile(rb"['\"][\w.\[\], |]+['\"]")
_BEFORE_TYPE = re.compile(rb"(?::|->|\w\[|\|)[ \t]*\Z")
_IMPORT = re.compile(
    rb"(?:^|[;:{])[ \t]*(?:pub(?:\([^()\n]*\))?[ \t]+)?(?:export|from|import|use)\b", re.MULTILINE
)
_EXPORTED = re.compile(rb"__all__\s*(?:\+?=|\.\w+\()\s*[\[(][^\])]*\Z")
_LONGEST_LIST = 20_000
_LONGEST_CODE = 2000
_LONGEST_CHAIN = 200
_MOST_BEFORE = 3000
"""Declarations before a place among which the one around it is looked for."""


class Reference(NamedTuple):
    """A place where a declaration is used, or seems to be.

    Attributes:
        file: that has it.
        line: from 1.
        inside: the qualified name of the declaration around it; empty at the top of a file.
        certainty: how sure it is.
        text: of the line.
    """

    file: SourceFile
    line: int
    inside: str
    certainty: Certainty
    text: str


class Uses(NamedTuple):
    """The uses of a declaration.

    Attributes:
        references: in the order of the files.
        unread: how many files with the word weren't looked into.
        others: places of the same name that certainly mean something else.
    """

    references: list[Reference]
    unread: int
    others: int


_SURE: dict[Certainty, int] = {"certain": 0, "likely": 1, "text": 2}
_LONGEST_LINE = 120
_LONGEST_NOTE = 390
_MOST_FILES_SHOWN = 40


def references_shown(sought: Sought, path: str, budget: Budget) -> ReferencesFound:
    """Describe the uses of the first of some declarations.

    Args:
        sought: the declarations.
        path: of a file or folder where uses are wanted; empty for all.
        budget: of the result.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    ways = sorted(sought.ways, key=lambda way: bool(path) and not is_at(way.found.file.path, path))
    target = ways[0].found
    uses = uses_of(sought.where, target, path)
    counts = Counter([one.certainty for one in uses.references])
    result = ReferencesFound(
        found=True,
        name=budget.line(target.declaration.qualified),
        location=budget.line(location(target)),
        certain=counts["certain"],
        likely=counts["likely"],
        text=counts["text"],
    )
    counted = list(_by_file(uses.references))
    result["files"] = budget.items(counted[:_MOST_FILES_SHOWN], 0.3, "files", "give a path", of=len(counted))
    best = sorted(uses.references, key=lambda one: _SURE[one.certainty])
    result["places"] = budget.items(map(_place, best), 1, "places", "give a path", of=len(best))
    notes = [sought.note, budget.note]
    if uses.others:
        notes.append(f"{uses.others} more places of this name certainly mean something else.")
    if uses.unread:
        notes.append(f"{uses.unread} more files have the word, and weren't looked into: give a path.")
    if len(ways) > 1:
        others = ", ".join([location(way.found) for way in ways[1:4]])
        notes.append(f"Other declarations of this name: {others}.")
    if languages := sought.where.tree.unread():
        notes.append(f"Not read: files of {', '.join(list(languages)[:4])}.")
    if note := " ".join(filter(None, notes)):
        result["note"] = note[:_LONGEST_NOTE]
    return result


def _by_file(references: list[Reference]) -> Iterator[str]:
    """Yield a line for each file with its numbers, the one with the most certain places first."""
    files: dict[str, Counter[Certainty]] = {}
    for one in references:
        files.setdefault(one.file.path, Counter())[one.certainty] += 1
    for path in sorted(files, key=lambda path: [-files[path][kind] for kind in _SURE]):
        yield f"{path}: {', '.join([f'{files[path][kind]} {kind}' for kind in _SURE if files[path][kind]])}"


def _place(one: Reference) -> PlaceShown:
    where = f"{one.file.path}:{one.line}"
    shown = PlaceShown(location=where, sure=one.certainty, line=one.text[:_LONGEST_LINE])
    if one.inside:
        shown["inside"] = one.inside
    return shown


def uses_of(index: Index, target: Found, path: str = "") -> Uses:
    """List the uses of a declaration, without its own place.

    Args:
        index: to look in.
        target: the declaration.
        path: of a file or folder where uses are wanted; empty for all.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    name = target.declaration.name
    language = _language(target.file).name
    at = None if not path else {file.path for file in index.at(path)}
    known: dict[str, bool] = {}
    files: list[SourceFile] = []
    for file in index.with_word(name):
        ending = file.path[file.path.rfind(".") :]
        if ending not in known:
            known[ending] = _language(file).name == language
        if known[ending] and (at is None or file.path in at):
            files.append(file)
    near = _near(index, target, files)
    files.sort(key=lambda file: (file is not target.file, file.path not in near))
    seeker = _Seeker(index, target)
    found: list[Reference] = []
    left = _MOST_BYTES
    done = 0
    for file in files[:_MOST_FILES]:
        left -= file.key[0]
        is_enough = len(found) + seeker.others > _MOST_PLACES and file.path not in near
        if done and (left < 0 or is_enough):
            break
        done += 1
        found += seeker.in_file(file)
    order = {file.path: place for place, file in enumerate(files)}
    found.sort(key=lambda one: (order[one.file.path], one.line))
    return Uses(found, len(files) - done, seeker.others)


def _near(index: Index, target: Found, files: list[SourceFile]) -> set[str]:
    """Return the paths of the files that may use a declaration for certain.

    They have the name of its type; if it isn't a member, they import it or its module, or are of its package.
    """
    owner, name = target.declaration.owner.rpartition(".")[2], target.declaration.name
    if owner:
        return {file.path for file in files if index.has_word(file, owner)}
    module = _language(target.file).module_of(target.file.path).rpartition(".")[2].rpartition("/")[2]
    near = {file.path for file in index.beside(target.file)}
    return near.union(*[index.importing(one) for one in (name, module, "*")])


def _language(file: SourceFile) -> Language:
    language = language_of(file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    return language


class _Seeker:
    """Finds the uses of one declaration in files."""

    def __init__(self, index: Index, target: Found) -> None:
        self._index = index
        self._target = target
        self._name = target.declaration.name
        self._resolver = Resolver(index, with_steps=False)
        self._owner = self._owner_of(target)
        self._related: dict[tuple[str, str], bool] = {}
        self._function: _Function | None = None
        """The function that was looked at last."""
        self.others = 0

    def _owner_of(self, found: Found) -> Found | None:
        owner = found.declaration.owner
        if not owner:
            return None
        alike = [one for file in self._index.beside(found.file) for one in self._index.declared(file, owner)]
        return alike[0] if alike else None

    def in_file(self, file: SourceFile) -> Iterator[Reference]:
        """Yield the uses in a file."""
        source = source_of(self._index, file)
        places = _Places(file, source)
        word = self._name.encode()
        for at in places_of(word, source):
            end = at + len(word)
            around = places.around(at)
            if self._is_declaration(file, around, at, places):
                continue
            certainty: Certainty | None = "text"
            if places.is_code(at):
                certainty = self._certainty(file, source, around, at, end)
            elif places.is_type(at) or places.is_exported(at):
                certainty = "likely" if self._certainty(file, source, around, at, end) else "text"
            if certainty is None:
                self.others += 1
                continue
            inside = around[-1].qualified if around else ""
            yield Reference(file, places.line(at), inside, certainty, places.text(at))

    def _is_declaration(self, file: SourceFile, around: list[Declaration], at: int, places: _Places) -> bool:
        """Return whether a place is the name in a declaration of this name: the target, or another one."""
        for one in reversed(around):
            if one.name != self._name or at >= (one.head.end or one.whole.end):
                continue
            if one.line == places.line(at):
                self.others += not self._is_target(Found(file, one))
                return True
        return False

    def _certainty(
        self, file: SourceFile, source: bytes, around: list[Declaration], at: int, end: int
    ) -> Certainty | None:
        """Return how sure it is that a place means the target; None if it means something else."""
        before = _end_of_chain(source[max(at - _LONGEST_CHAIN, 0) : at])
        function = next((one for one in reversed(around) if one.kind in {"func", "method"}), None)
        if _DOTTED.search(before):
            sure = self._of_member(file, source, before, function)
            is_import = sure is None and _IMPORT.match(source, source.rfind(b"\n", 0, at) + 1)
            return self._of_import(file, around) if is_import else sure
        if _KEYWORD.match(source, end) and _BEFORE_KEYWORD.search(before):
            return "likely" if self._owner and self._target.declaration.kind == "var" else None
        if not file.path.endswith((".py", ".pyi")):
            if _KEY.match(source, end) and _BEFORE_KEY.search(before):
                return "likely"  # of a map, or a field in a literal
            if around and around[-1].kind == "struct" and _names_field(source, at, end):
                return None
        return self._of_name(file, source, around, function)

    def _inside(self, file: SourceFile, source: bytes, function: Declaration) -> _Function:
        """Return a function, with what is known about its text."""
        if self._function is None or self._function.declaration is not function:
            text = source[function.head.start : function.whole.end]
            self._function = _Function(function, _language(file), text)
        return self._function

    def _of_name(
        self, file: SourceFile, source: bytes, around: list[Declaration], function: Declaration | None
    ) -> Certainty | None:
        """Return how sure a name alone is."""
        kind = next((one for one in reversed(around) if one.kind not in {"const", "var"}), None)
        if kind is not None and kind.kind in _TYPES:
            own = self._index.declared(file, f"{kind.qualified}.{self._name}")
            if own:
                return "certain" if self._is_target(own[0]) else None
        inside: list[Import] = []
        if function is not None:
            text = self._inside(file, source, function)
            inside = text.imports(self._name)
            if text.binds(self._name):
                way = self._resolver.meant(file, self._name)
                return "likely" if way is not None and self._is_target(way.found) else None
        way = (
            self._resolver.called(Found(file, function), self._name, inside)
            if function is not None
            else self._resolver.meant(file, self._name)
        )
        if way is None:
            return self._of_import(file, around)
        return self._said(way)

    def _of_import(self, file: SourceFile, around: list[Declaration]) -> Certainty | None:
        """Return how sure a name is that stands in an import at the top of a file."""
        if around:
            return None
        for one in file.parsed.imports:
            if one.target.endswith(self._name) and re.split(r"[./:]", one.target)[-1] == self._name:
                way = self._resolver.meant(file, one.name)
                if way is not None and self._is_target(way.found):
                    return "certain" if way.is_certain else "likely"
        return None

    def _of_member(
        self, file: SourceFile, source: bytes, before: bytes, function: Declaration | None
    ) -> Certainty | None:
        """Return how sure a name is behind a dot."""
        unsure: Certainty | None = "likely" if self._owner is not None else None
        found = None if function is None else Found(file, function)
        chain = _CHAIN.search(before)
        if found is not None and _SUPER.search(before):
            way = self._resolver.called(found, f"super().{self._name}")
            return self._said(way) if way is not None else unsure
        if chain is None:
            return unsure
        head = re.sub(
            r"\s+|::", lambda part: "." if ":" in part[0] else "", chain[1].decode(errors="replace")
        )
        first, _, rest = head.partition(".")
        text = None if function is None else self._inside(file, source, function)
        is_method = found is not None and found.declaration.owner and not rest
        if found is not None and text is not None and is_method and first in self._resolver.own_names(found):
            way = self._resolver.method(file, found.declaration.owner, self._name)
            sure = self._said(way) if way is not None else unsure
            return sure and "likely" if text.takes_again(first) else sure
        if text is not None and text.binds(first):
            kind = text.type_of(first)
            way = (
                self._resolver.meant(file, ".".join(filter(None, [kind, rest, self._name]))) if kind else None
            )
            return self._said(way) if way is not None else unsure
        full = f"{head}.{self._name}"
        way = (
            self._resolver.meant(file, full)
            if found is None or text is None
            else self._resolver.called(found, full, text.imports(first))
        )
        return self._said(way) if way is not None else unsure

    def _said(self, way: Way) -> Certainty | None:
        """Return how sure a place is that means a known declaration."""
        if self._is_target(way.found):
            return "certain" if way.is_certain else "likely"
        return "likely" if self._is_related(way.found) else None

    def _is_target(self, found: Found) -> bool:
        one, other = found.declaration, self._target.declaration
        return found.file.path == self._target.file.path and one.qualified == other.qualified

    def _is_related(self, found: Found) -> bool:
        """Return whether one of two methods replaces the other."""
        key = found.file.path, found.declaration.qualified
        if key not in self._related:
            mro, owner = self._resolver.mro, self._owner_of(found)
            self._related[key] = (
                owner is not None
                and self._owner is not None
                and (_has(mro(owner), self._owner) or _has(mro(self._owner), owner))
            )
        return self._related[key]


def _names_field(source: bytes, at: int, end: int) -> bool:
    """Return whether a name in the text of a struct of Go is one of a field, with its type behind it."""
    start = source.rfind(b"\n", 0, at) + 1
    return _FIELDS_BEFORE.match(source[start:at]) is not None and _FIELD_AFTER.match(source, end) is not None


def _end_of_chain(before: bytes) -> bytes:
    """Return the end of a text that names with dots between them may take, and what stands before them."""
    backwards = _CHAIN_SIGNS.match(before[::-1])
    return before if backwards is None else before[max(len(before) - backwards.end() - 1, 0) :]


def _has(types: list[Found | None], wanted: Found) -> bool:
    whole = wanted.declaration.whole
    return any(
        one is not None and one.file is wanted.file and one.declaration.whole == whole for one in types
    )


_BINDING = re.compile(
    rb"^[ \t]*(?:(?:let|var|const|mut)[ \t]+)*(\(?[^=\n#'\"\[{(:]*)(?::[^=\n]*)?(?<![!<>])=(?!=)"
    rb"|\bfor\b([^:\n{]*?)\b(?:in|range)\b|\bas[ \t]+(\w+)|\b(?:def|class)[ \t]+(\w+)"
    rb"|\b(\w+)[ \t]*:=|\blambda\b([^:\n]*):|[(,|][ \t\n]*(\w+)[ \t]*:(?!:)[^=]",
    re.MULTILINE,
)
"""Where a text binds names: in one of its groups."""
_IS_SET = re.compile(rb"[ \t]*=(?!=)")
_NO_NAMES = frozenset({b"let", b"var", b"const", b"mut"})
_IN_NAMES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NOT_BOUND = frozenset(b".(")
_LINE_END, _DOT = b"\n."
_NAMED = re.compile(rb"\b(?:as|def|class)[ \t]+\Z")
_SET_AS = re.compile(rb"[ \t]*:=")


def _is_plainly_bound(name: bytes, lines: bytes) -> bool | None:
    """Return what `_BINDING` and `_NAME` would say about a name, where that can be told without them.

    Args:
        name: to look for.
        lines: all that have it.

    Returns:
        True if a line begins by setting it, False if each place calls it, or looks up what is in it or
        what it is in; None if it has to be read.
    """
    if not _IN_NAMES.issuperset(name):
        return None
    is_bound: bool | None = False
    at = lines.find(name)
    while at >= 0:
        end = at + len(name)
        before = lines[at - 1] if at else _LINE_END
        after = lines[end] if end < len(lines) else _LINE_END
        if before not in _IN_NAMES and after not in _IN_NAMES:
            start = lines.rfind(b"\n", 0, at) + 1
            if name not in _NO_NAMES and not lines[start:at].strip(b" \t") and _IS_SET.match(lines, end):
                return True
            if before == _DOT:
                is_read = _SET_AS.match(lines, end) is None
            else:
                is_read = after in _NOT_BOUND and _NAMED.search(lines, start, at) is None
            if not is_read:
                is_bound = None
        at = lines.find(name, end)
    return is_bound


_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"')
_PARAMETER = re.compile(rb"[(,|][ \t\n]*[*&]*(?:mut )?(\w+)(?=[ \t]*[:,)=| ])")
_NAME = re.compile(rb"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")


_IMPORTED = re.compile(rb"[^#\n]*?\bimport\b[ \t]*(?:\([^)]*\)?|[^\n]*(?:\\\n[^\n]*)*)")
"""From the beginning of its line on, what seems to be an import of Python, with the names in it."""


class _Function:
    """What is known about the text of one function.

    Args:
        declaration: of the function.
        language: of its file.
        text: from its head to its end.
    """

    def __init__(self, declaration: Declaration, language: Language, text: bytes) -> None:
        self.declaration = declaration
        self._language = language
        self._text = text
        self._imports: tuple[Import, ...] | None = None
        self._parameters: set[bytes] | None = None
        self._bound: dict[str, bool] = {}
        self._types: dict[str, str] = {}
        self._taken: dict[str, bool] = {}
        self._imported: bytes | None = None

    def imports(self, name: str) -> list[Import]:
        """List the imports inside of it that bring a name."""
        if self._imports is None:
            if self._imported is None:
                self._imported = self._texts_of_imports()
            if next(places_of(name.encode(), self._imported), None) is None:
                return []
            self._imports = self._language.imports(self._text)  # parses all of it
        return [one for one in self._imports if one.name == name]

    def _texts_of_imports(self) -> bytes:
        """Return a text that has each name that it imports; nothing if it imports nothing."""
        text = self._text
        if self._language.name != "python":
            return text if _IMPORT.search(text) else b""
        found: list[bytes] = []
        at = text.find(b"import")
        while at >= 0:
            start = text.rfind(b"\n", 0, at) + 1
            whole = _IMPORTED.match(text, start)
            end = whole.end() if whole is not None else at + len(b"import")
            found.append(text[start:end])
            at = text.find(b"import", max(end, at + 1))
        return b"\n".join(found)

    def binds(self, name: str) -> bool:
        """Return whether it seems to bind a name otherwise than by an import."""
        if name not in self._bound:
            self._bound[name] = not self.imports(name) and self._is_bound(name.encode())
        return self._bound[name]

    def _is_bound(self, name: bytes) -> bool:
        """Return whether it seems to bind a name, as a parameter or variable."""
        if self._parameters is None:
            self._parameters = set(_PARAMETER.findall(self._text[: end_of_head(self._text)]))
        if name in self._parameters:
            return True
        lines = lines_with(self._text, name)
        without = _STRING.sub(b'""', lines) if len(lines) > _LONGEST_CODE else b""
        if any(len(line) > _LONGEST_CODE for line in without.split(b"\n")):
            return True  # nobody wrote this by hand
        is_bound = _is_plainly_bound(name, lines)
        if is_bound is not None:
            return is_bound
        lines = without or _STRING.sub(b'""', lines)
        return any(
            group is not None and name in _NAME.findall(group)
            for place in _BINDING.finditer(lines)
            for group in place.groups()
        )

    def type_of(self, name: str) -> str:
        """Return the type that a name has everywhere in it; empty if unsure."""
        if name not in self._types:
            self._types[name] = self._language.type_of(self._text, name)
        return self._types[name]

    def takes_again(self, name: str) -> bool:
        """Return whether more than one function in it seems to take a name as a parameter."""
        if name not in self._taken:
            places = re.findall(rb"[(,]\s*%b\s*[,)]" % re.escape(name.encode()), self._text)
            self._taken[name] = len(places) > 1
        return self._taken[name]


_START = attrgetter("whole.start")


class _Places:
    """Says of places in a file what they are in."""

    def __init__(self, file: SourceFile, source: bytes) -> None:
        self._source = source
        self._text = ""
        """The source with a character for each byte, where it is needed."""
        self._declarations = file.parsed.declarations
        self._language = _language(file)
        self._is_python = file.path.endswith((".py", ".pyi"))
        self._exports: bool | None = None
        """Whether it has a list of the names that it exports; None until that is asked."""
        self._nearest: tuple[int, int] = (-1, -1)
        """A place, and the number of the last declaration that begins before it."""
        self._begun = -1
        self._read = 0
        """A place in code, up to which is read what began at another one."""
        self._ahead: tuple[int, int] | None = None
        """The next string or comment behind it, once that is found."""
        self._signs: list[tuple[int, bool]] = []
        """For each text of `Language.spanning` a place, and whether it is there; else it isn't before it."""
        self._line_of: tuple[int, int] = (-1, 0)
        """A place, and where its line begins."""
        self._lines: tuple[int, int] = (0, 1)

    def line(self, at: int) -> int:
        """Return the number of a line; places are asked for in their order."""
        place, line = self._lines
        if at < place:
            place, line = 0, 1
        if self._is_python:  # the line of a function is the one where its head begins
            number = self._before(at)
            near = self._declarations[number] if number >= 0 else None
            if near is not None and near.head.end and place < near.head.start <= at:
                place, line = near.head.start, near.line
        line += self._source.count(b"\n", place, at)
        self._lines = at, line
        return line

    def text(self, at: int) -> str:
        """Return the line around a place."""
        begin = self._source.rfind(b"\n", 0, at) + 1
        end = self._source.find(b"\n", at)
        return self._source[begin : len(self._source) if end < 0 else end].decode(errors="replace").strip()

    def around(self, at: int) -> list[Declaration]:
        """Return the declarations around a place, the outermost first."""
        last = self._before(at)
        found: list[Declaration] = []
        for number in range(last, max(last + 1 - _MOST_BEFORE, 0) - 1, -1):
            one = self._declarations[number]
            if one.whole.end > at:
                found.append(one)
                if "." not in one.qualified:
                    break
            elif "." not in one.qualified and one.whole.start < at:
                break
        return found[::-1]

    def is_code(self, at: int) -> bool:
        """Return whether a place is outside of strings and comments, or in the code inside of a string."""
        token = self._token(at)
        if token is None:
            return True
        start, _ = token
        prefix = self._source[max(start - 2, 0) : start].lower()
        if not self._is_python or b"f" not in prefix:
            return False
        return self._source.rfind(b"{", start, at) > self._source.rfind(b"}", start, at)

    def is_type(self, at: int) -> bool:
        """Return whether a place is in a type that is written as a string."""
        token = self._token(at)
        if token is None or not self._is_python:
            return False
        start, end = token
        before = _BEFORE_TYPE.search(self._source, max(start - 20, 0), start)
        return before is not None and _TYPE_TEXT.fullmatch(self._source, start, end) is not None

    def is_exported(self, at: int) -> bool:
        """Return whether a place is in the names that a module of Python exports."""
        if self._exports is None:
            self._exports = self._is_python and b"__all__" in self._source
        if not self._exports:
            return False
        start = self._source.rfind(b"__all__", max(at - _LONGEST_LIST, 0), at)
        return start >= 0 and _EXPORTED.match(self._source, start, at) is not None

    def _before(self, at: int) -> int:
        """Return the number of the last declaration that begins before a place; -1 if there is none."""
        if self._nearest[0] != at:
            self._nearest = at, bisect_right(self._declarations, at, key=_START) - 1
        return self._nearest[1]

    def _token(self, at: int) -> tuple[int, int] | None:
        """Return the string or comment that a place is in; places are asked for in their order.

        Before the line of the place, only lines are read with something that may go on behind their end.
        """
        begin = self._begin(at)
        if begin != self._begun or at < self._read:
            self._begun, self._read, self._ahead, self._signs = begin, begin, None, []
            self._line_of = -1, 0
        while True:
            if self._ahead is None:
                self._text = self._text or self._source.decode("latin-1")
                found = self._language.hidden.search(self._text, self._line_to_read(at))
                self._ahead = (len(self._text), len(self._text)) if found is None else found.span()
            start, end = self._ahead
            if at < start:
                return None
            if at < end:
                return start, end
            self._read, self._ahead = end, None

    def _line_to_read(self, at: int) -> int:
        """Return a place in code, from which on everything is read that a place may be in."""
        sign = self._next_sign(at)
        if self._line_of[0] != sign:
            last = sign
            start = self._text.rfind("\n", self._read, last) + 1
            while sign < at and start > self._read and not self._text[start:last].strip():
                last = start - 1  # what the sign belongs to may begin in the line before
                start = self._text.rfind("\n", self._read, last) + 1
            self._line_of = sign, start
        return max(self._line_of[1], self._read)

    def _next_sign(self, at: int) -> int:
        """Return where the first text is by which something may go on behind its line; else the place."""
        signs = self._language.spanning
        if not self._signs:
            self._signs = [(self._read, False)] * len(signs)
        nearest = at
        for number, sign in enumerate(signs):
            place, is_there = self._signs[number]
            if place < self._read or (place < at and not is_there):
                # One of its letters may be before the place.
                place = self._source.find(
                    sign, self._read if is_there else max(self._read, place - len(sign)), at
                )
                is_there = place >= 0
                self._signs[number] = (place, True) if is_there else (at, False)
            if is_there:
                nearest = min(nearest, place)
        return nearest

    def _begin(self, at: int) -> int:
        """Return a place in code, before another one, to read from."""
        place = self._before(at)
        if place < 0:
            return 0
        # Declarations begin in code, and after a docstring there is code again.
        start, end = self._declarations[place].whole.start, self._declarations[place].doc.end
        if not start < end <= at:
            return start
        return end + (3 if self._source.startswith((b'"""', b"'''"), end) else 1)
