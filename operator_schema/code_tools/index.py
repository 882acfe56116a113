"""The declarations of a folder of source files, which follows the files."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from hashlib import blake2b
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from .language import Declaration, Parsed, TooHardError, language_of, same_kinds
from .source_files import Content, FileKey, Skipped, Tree, key_of, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .index_cache import IndexCache
    from .language import Kind

__all__ = ["Found", "Index", "NameTable", "Pattern", "SourceFile", "lines_of"]


MOST_COUNTED = 1000
"""Further results than these aren't counted."""

_ASIDE = frozenset(
    {
        *("test", "tests", "testing", "testdata"),
        *("bench", "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example", "examples"),
        *("vendor", "_vendor", "vendored", "third_party"),
    }
)
"""Folders that hold something other than the code itself."""


class SourceFile(NamedTuple):
    """A file in the index.

    Attributes:
        path: below the root.
        key: of the content that was read.
        is_young: whether it may have changed since, with the same key.
        digest: of its content.
        parsed: what it declares.
        is_aside: whether it seems to be a test, a benchmark, an example, or somebody else's code.
        lines: of the names of its declarations, for a `NameTable`: whether they are qualified, and whether
            case makes no difference, to the text.
    """

    path: str
    key: FileKey
    is_young: bool
    digest: bytes
    parsed: Parsed
    is_aside: bool
    lines: dict[tuple[bool, bool], str]

    def is_same(self, source: bytes) -> bool:
        """Return whether a content is the one that was parsed."""
        return digest_of(source) == self.digest


class Found(NamedTuple):
    """A declaration, and the file that it is in."""

    file: SourceFile
    declaration: Declaration


class Index:
    """What is declared where.

    Args:
        root: absolute path of a folder.
        cache: what keeps parsed files for the next process.
    """

    def __init__(self, root: str, cache: IndexCache | None = None) -> None:
        self.root = root
        self._name = root.replace(os.sep, "/").rpartition("/")[2]
        self.skipped: dict[str, str] = {}
        self.last: tuple[SourceFile, bytes] | None = None
        """The file that was read last for an answer, and its content."""
        self._tree = Tree(root)
        self._cache = cache
        self._files: dict[str, SourceFile] = {}
        self._skipped_keys: dict[str, FileKey] = {}
        self._by_name: dict[str, dict[str, tuple[Declaration, ...]]] = {}
        self._order: list[str] = []
        # Both are made when they are needed, and anew when a file is another one.
        self._watched: list[tuple[str, FileKey | None]] | None = None
        self._tables: dict[tuple[bool, bool], tuple[NameTable, list[SourceFile]]] = {}

    def refresh(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Read what is new or has changed, and forget what is gone.

        Args:
            progress: called with the number of files that were read, and of all to be read.

        Returns:
            How many files were parsed.
        """
        self.last = None
        if self._tree.refresh() or not self._order:
            self._follow(list(self._tree.files()))
        parsed = 0
        fresh: list[SourceFile] = []
        changed = self._changed()
        for number, path in enumerate(changed):
            parsed += self._read(path, self._files.get(path), fresh)
            if progress is not None:
                progress(number + 1, len(changed))
        if self._cache is not None and fresh:
            self._cache.keep([(file.path, file.digest, file.parsed) for file in fresh])
        return parsed

    def file(self, path: str) -> SourceFile | None:
        """Return a file by its path."""
        return self._files.get(path)

    def files(self) -> Iterator[SourceFile]:
        """Yield all files; tests and examples come last."""
        files = self._files
        return (files[path] for path in self._order if path in files)

    def named(self, name: str) -> list[Found]:
        """List the declarations of a name; with dots or a path in it, those whose qualified name ends so.

        Args:
            name: such as `decode`, `Codec.decode`, `codec.Codec.decode` or `codec/codec.py:Codec.decode`.

        Returns:
            The likeliest first: what isn't aside, what isn't inside a class, the shortest path.
        """
        path, _, wanted = name.rpartition(":")
        wanted = wanted.strip(". ")
        found = [
            Found(self._files[where], declaration)
            for where, declarations in self._by_name.get(wanted.rpartition(".")[2], {}).items()
            if not path or _is_at(where, path)
            for declaration in declarations
            if _is_called(where, declaration, wanted, self._name)
        ]
        return sorted(found, key=_likelihood)

    def search(self, pattern: str, kind: Kind | None, limit: int) -> tuple[list[Found], int]:
        """Find declarations by a pattern of their names.

        Args:
            pattern: with `*` and `?`; with a dot in it, of the qualified name. With a path and `:` in front,
                of the declarations in this file, which come in its order.
            kind: of the declarations; None for all.
            limit: how many are returned.

        Returns:
            These, and how many more there are; no more than `MOST_COUNTED` of them are counted.
        """
        path, _, names = pattern.rpartition(":")
        for any_case in (False, True):
            # Files come in a fixed order, so the same files always answer the same.
            matching = self._matching(Pattern(names, any_case=any_case), "." in names, kind, path)
            found = list(islice(matching, limit + MOST_COUNTED))
            if found:
                best = found if path else sorted(found, key=lambda one: _rank(one, names))
                return best[:limit], len(found) - len(best[:limit])
        return [], 0

    def in_another_case(self, pattern: str, kind: Kind | None, known: Sequence[Found]) -> list[str]:
        """List names that fit a pattern only if the case of letters makes no difference; see `search`.

        Args:
            pattern: of the names.
            kind: of the declarations; None for all.
            known: what fits in this case.
        """
        path, _, names = pattern.rpartition(":")
        if not known or names.casefold() == names.upper():  # it has no letters
            return []
        matching = self._matching(Pattern(names, any_case=True), "." in names, kind, path)
        told = {one.declaration.qualified for one in known}
        others = {one.declaration.qualified: one for one in islice(matching, MOST_COUNTED)}
        return sorted(others.keys() - told, key=lambda name: _rank(others[name], names))

    def names(self) -> Iterator[str]:
        """Yield every name that is declared."""
        return iter(self._by_name)

    def matching(self, pattern: Pattern, limit: int) -> Iterator[Found]:
        """Yield declarations of any kind whose names fit, as they come."""
        return islice(self._matching(pattern, False, None), limit)  # noqa: FBT003  # private

    def _matching(
        self,
        pattern: Pattern,
        is_qualified: bool,  # noqa: FBT001  # private
        kind: Kind | None,
        path: str = "",
    ) -> Iterator[Found]:
        kinds = None if kind is None else same_kinds(kind)
        table, files = self._table((is_qualified, pattern.any_case), path)
        for number, place in table.matches(pattern):
            declaration = files[number].parsed.declarations[place]
            if kinds is None or declaration.kind in kinds:
                yield Found(files[number], declaration)

    def _table(self, key: tuple[bool, bool], path: str) -> tuple[NameTable, list[SourceFile]]:
        """Return the names of all files, or of those at a path, and these files."""
        made = None if path else self._tables.get(key)
        if made is None:
            files = [file for file in self.files() if not path or _is_at(file.path, path)]
            made = NameTable([_lines(file, *key) for file in files]), files
            if not path:
                self._tables[key] = made
        return made

    def _changed(self) -> list[str]:
        """List the files whose content may be another one; this loop is most of the time of a query."""
        if self._watched is None:
            self._watched = [(f"{self.root}/{path}", self._expected(path)) for path in self._order]
        lstat, found, cut = os.lstat, list[str](), len(self.root) + 1
        for where, key in self._watched:
            try:
                status = lstat(where)
            except OSError:
                found.append(where[cut:])
                continue
            # `key_of`, written out: a call for each file would take a quarter longer
            if (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) != key:
                found.append(where[cut:])
        return found

    def _expected(self, path: str) -> FileKey | None:
        """Return the key that a file has as long as it is the same; None if that can't be told by its key."""
        file = self._files.get(path)
        if file is None:
            return self._skipped_keys.get(path)
        return None if file.is_young else file.key

    def _follow(self, paths: list[str]) -> None:
        self._watched = None
        self._tables.clear()
        for gone in self._files.keys() - set(paths):
            self._replace(gone, None)
        for gone in self.skipped.keys() - set(paths):
            del self.skipped[gone]
            self._skipped_keys.pop(gone, None)
        self._order = sorted(paths, key=lambda path: (is_aside(path), path.count("/"), path))

    def _read(self, path: str, before: SourceFile | None, fresh: list[SourceFile]) -> int:
        content = read_source(self.root, path)
        if not isinstance(content, Content):
            self._replace(path, None)
            self._skip(path, content)
            return 0
        self.skipped.pop(path, None)
        self._skipped_keys.pop(path, None)
        digest = digest_of(content.source)
        is_parsed = 0
        parsed: Parsed | None
        if before is not None and before.digest == digest:
            parsed = before.parsed
        else:
            kept = None if self._cache is None else self._cache.find(path, digest)
            is_parsed = kept is None
            parsed = self._parse(path, content.source) if kept is None else kept
        if parsed is None:
            self._replace(path, None)
            self._skip(path, Skipped(path, "it takes too long to parse"))
            return 0
        file = _source_file(path, content, digest, parsed, before)
        if is_parsed:
            fresh.append(file)
        self._replace(path, file)
        return is_parsed

    @staticmethod
    def _parse(path: str, source: bytes) -> Parsed | None:
        language = language_of(path)
        assert language is not None  # noqa: S101  # only files of known languages are listed
        try:
            return language.parse(source)
        except TooHardError:
            return None

    def _skip(self, path: str, why: Skipped | None) -> None:
        if why is None:
            return
        self.skipped[path] = why.reason
        self._watched = None
        try:
            self._skipped_keys[path] = key_of(os.lstat(f"{self.root}/{path}"))
        except OSError:
            self._skipped_keys.pop(path, None)

    def _replace(self, path: str, file: SourceFile | None) -> None:
        before = self._files.pop(path, None)
        self._watched = None
        if before is None or file is None or file.parsed is not before.parsed:
            self._tables.clear()
        if before is not None and (file is None or file.parsed is not before.parsed):
            for declaration in before.parsed.declarations:
                places = self._by_name.get(declaration.name)
                if places is not None and places.pop(path, None) is not None and not places:
                    del self._by_name[declaration.name]
        if file is None:
            return
        self._files[path] = file
        if before is None or file.parsed is not before.parsed:
            by_name: dict[str, list[Declaration]] = {}
            for declaration in file.parsed.declarations:
                by_name.setdefault(declaration.name, []).append(declaration)
            for name, declarations in by_name.items():
                self._by_name.setdefault(name, {})[path] = tuple(declarations)


def digest_of(source: bytes) -> bytes:
    """Return a digest of a content."""
    return blake2b(source, digest_size=16).digest()


def is_aside(path: str) -> bool:
    """Return whether a file seems to be a test, a benchmark, an example, or somebody else's code."""
    *folders, name = path.lower().split("/")
    stem = name.rpartition(".")[0]
    return stem.startswith("test_") or stem.endswith("_test") or any(part in _ASIDE for part in folders)


def _source_file(
    path: str, content: Content, digest: bytes, parsed: Parsed, before: SourceFile | None
) -> SourceFile:
    if before is not None and before.parsed is parsed:
        return before._replace(key=content.key, is_young=content.is_young)
    return SourceFile(path, content.key, content.is_young, digest, parsed, is_aside(path), {})


def _lines(file: SourceFile, is_qualified: bool, any_case: bool) -> str:  # noqa: FBT001  # private
    """Return the names of a file's declarations, which it keeps."""
    lines = file.lines.get((is_qualified, any_case))
    if lines is None:
        declarations = file.parsed.declarations
        names = [one.qualified if is_qualified else one.name for one in declarations]
        lines = file.lines[is_qualified, any_case] = lines_of(names, any_case=any_case)
    return lines


def full_name(path: str, declaration: Declaration) -> str:
    """Return the name of a declaration with its module or package in front."""
    language = language_of(path)
    module = "" if language is None else language.module_of(path)
    return f"{module}.{declaration.qualified}" if module else declaration.qualified


def _is_called(path: str, declaration: Declaration, wanted: str, root: str) -> bool:
    if "." not in wanted or declaration.qualified == wanted:
        return True
    # The root may be a package itself.
    return f".{root}.{full_name(path, declaration)}".endswith(f".{wanted}")


def _is_at(where: str, path: str) -> bool:
    return where == path or where.endswith(f"/{path}")


def _likelihood(found: Found) -> tuple[bool, int, int, str, int]:
    path, declaration = found.file.path, found.declaration
    return found.file.is_aside, declaration.qualified.count("."), path.count("/"), path, declaration.line


def _rank(found: Found, pattern: str) -> tuple[bool, bool, bool, int, str, str, int]:
    path, declaration = found.file.path, found.declaration
    exact = pattern in (declaration.name, declaration.qualified)
    is_private = declaration.name.startswith("_")
    return (
        not exact,
        found.file.is_aside,
        is_private,
        len(declaration.name),
        declaration.name,
        path,
        declaration.line,
    )


_NEWLINE = "\n"
_END = re.escape(_NEWLINE)
_USEFUL = 3
"""Letters that a text needs so that looking for it first saves time."""


def lines_of(names: Iterable[str], *, any_case: bool) -> str:
    """Return names in one text, a line for each, for a `NameTable`.

    Args:
        names: in their order.
        any_case: whether the case of letters makes no difference.
    """
    text = "".join([f"{name.replace(_NEWLINE, ' ')}\n" for name in names])
    return text.casefold() if any_case else text


class NameTable:
    """The names of many files in one text, where a pattern finds them without looking at each.

    Args:
        texts: what `lines_of` returns for each file.
    """

    __slots__ = ("_starts", "_text")

    def __init__(self, texts: Sequence[str]) -> None:
        self._text = "\n" + "".join(texts)
        self._starts = list(accumulate(map(len, texts), initial=1))

    def matches(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        """Yield the names that fit: the number of the file, and the number of the name in it, each from 0."""
        text, starts = self._text, self._starts
        end, counted, file, line = 0, 0, 0, 0
        for begin in pattern.begins(text):
            if begin >= end:
                file, line = bisect_right(starts, begin) - 1, 0
                counted, end = starts[file], starts[file + 1]
            line += text.count("\n", counted, begin)
            counted = begin
            yield file, line


class Pattern:
    """A pattern: `*` stands for any characters, `?` for one.

    Args:
        text: the pattern.
        any_case: whether the case of letters makes no difference.
    """

    __slots__ = ("_checked", "_literal", "any_case")

    def __init__(self, text: str, *, any_case: bool = False) -> None:
        # As in the names: the end of a line is only between them.
        text = text.replace(_NEWLINE, " ")
        folded = text.casefold() if any_case else text
        parts = re.sub(r"\*+", "*", f"\n{folded}\n").split("*")
        self.any_case = any_case
        self._literal = max([literal for part in parts for literal in part.split("?")], key=len)
        # With a single literal, each place that has it fits.
        is_simple = "?" not in text and len([part for part in parts if part != "\n"]) == 1
        self._checked = None if is_simple else re.compile(_expression(parts))

    def begins(self, text: str) -> Iterator[int]:
        """Yield where the lines of a text begin that fit; there is an empty line before the first one."""
        literal, checked = self._literal, self._checked
        if checked is not None and len(literal) < _USEFUL:
            yield from (found.start() + 1 for found in checked.finditer(text))
            return
        place = text.find(literal)
        while 0 <= place < len(text) - 1:
            begin = text.rfind("\n", 0, place + 1) + 1
            if checked is None or checked.match(text, begin - 1):
                yield begin
            # The end of one line is in front of the next one.
            place = text.find(literal, text.find("\n", begin))


def _expression(parts: list[str]) -> str:
    """Join what stands between stars: each part is taken where it comes first, which is never taken back."""
    escaped = [re.escape(part).replace(r"\?", ".") for part in parts]
    escaped[-1] = f"{escaped[-1].removesuffix(_END)}(?=\n)"
    if len(parts) == 1:
        return escaped[0]
    middle = "".join([f"(?>.*?{part})" for part in escaped[1:-1]])
    return f"{escaped[0]}{middle}.*{escaped[-1]}"
