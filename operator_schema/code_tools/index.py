"""Which declarations do the files below a folder have, now and after each change?"""

from __future__ import annotations

import os
import time
from collections import Counter
from fnmatch import fnmatchcase
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .. import CallError
from .language import Declaration, Parsed, known_language, same_kinds
from .module_names import Modules
from .name_patterns import NameTable, Pattern, lines_of
from .parsing import SlowParseError
from .source_files import Content, FileKey, Skipped, key_of, read_source
from .source_tree import Tree
from .undecodable_paths import paths_shown_as
from .words import words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, KeysView, Sequence

    from .index_cache import IndexCache
    from .language import Kind, Language, Span


_BATCH = 100
"""Files that are written to the cache at once."""

MOST_COUNTED = 1000
"""Further results than these aren't counted."""

_VARIABLES = frozenset({"const", "var"})
_ASIDE = frozenset(
    {
        *("test", "tests", "testing", "testdata"),
        *("bench", "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example", "examples"),
        *("vendor", "_vendor", "vendored", "third_party", "dist"),
    }
)
"""Folders that hold something other than the code itself."""


class SourceFile(NamedTuple):
    """A source file that was read, with its declarations.

    Attributes:
        path: below the root.
        key: of the content that was read.
        is_young: whether it may have changed since, with the same key.
        digest: of its content.
        parsed: what it declares.
        is_aside: whether it seems to be a test, a benchmark, an example, built, or a copy of other code.
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

    @property
    def language(self) -> Language:
        """The language of the file."""
        return known_language(self.path)

    def is_same(self, source: bytes) -> bool:
        """Return whether a content is the one that was parsed."""
        return digest_of(source) == self.digest


class UnfinishedError(CallError):
    """Not all files are read yet; the message is written for the model."""

    def __init__(self, left: int) -> None:
        super().__init__(f"{left:,} files still have to be read: try again, it continues where it stopped")


class FoundDeclaration(NamedTuple):
    """A declaration together with its file."""

    file: SourceFile
    declaration: Declaration

    @property
    def location(self) -> str:
        """Its file and line, such as `codec/codec.py:12`."""
        return f"{self.file.path}:{self.declaration.line}"

    @property
    def key(self) -> tuple[str, Span]:
        """The path and place that tell it from every other declaration."""
        return self.file.path, self.declaration.whole


_MOST_RECENT = 8_000_000


class Recent:
    """Keeps the texts of recently read files, up to a number of bytes.

    A text is that of a file as the index knows it: what has changed is another `SourceFile`.
    """

    def __init__(self) -> None:
        self._texts: dict[str, tuple[SourceFile, bytes]] = {}
        self._size = 0

    def text(self, file: SourceFile) -> bytes | None:
        """Return the text of a file; None if it isn't kept."""
        known = self._texts.get(file.path)
        return known[1] if known is not None and known[0] is file else None

    def keep(self, file: SourceFile, text: bytes) -> None:
        """Keep the text of a file, and drop the oldest texts if there are too many bytes."""
        before = self._texts.pop(file.path, None)
        self._size += len(text) - (0 if before is None else len(before[1]))
        self._texts[file.path] = file, text
        while self._size > _MOST_RECENT and len(self._texts) > 1:
            self._size -= len(self._texts.pop(next(iter(self._texts)))[1])


def _is_prototype(found: FoundDeclaration) -> bool:
    """Return whether a declaration is only a prototype in a header."""
    file, declaration = found
    has_body = declaration.whole.end > declaration.head.end + 1
    return not has_body and declaration.head.end > 0 and file.path.endswith((".h", ".hh", ".hpp", ".hxx"))


class Index:
    """An index of the declarations below a folder.

    Args:
        root: absolute path of a folder.
        cache: keeps parsed files for the next process.
    """

    def __init__(self, root: str, cache: IndexCache | None = None) -> None:
        self.root = root
        self._name = root.replace(os.sep, "/").rpartition("/")[2]
        self.skipped: dict[str, str] = {}
        self.recent = Recent()
        """The texts of files that were read lately for an answer."""
        self.tree = Tree(root)
        """What is below the root, and what of it isn't read."""
        self._cache = cache
        self._files: dict[str, SourceFile] = {}
        self._skipped_keys: dict[str, FileKey] = {}
        self._by_name: dict[str, dict[str, tuple[Declaration, ...]]] = {}
        self._by_import: dict[str, dict[str, None]] = {}
        """Names that files import, with the paths of these files."""
        self._order: list[str] = []
        self.shown_as: dict[str, str | None] = {}
        """How paths that no text can hold are shown: that to the path; None if it may be several."""
        # These are made when they are needed, and anew when a file is another one.
        self._watched: list[tuple[str, FileKey | None]] | None = None
        self._tables: dict[tuple[bool, bool], tuple[NameTable, list[SourceFile]]] = {}
        self._modules: Modules | None = None
        self._manifests: dict[str, FileKey | None] = {}
        """What the names of packages were read from."""
        self._folders: dict[str, list[str]] = {}
        self._imported: Counter[str] | None = None

    def refresh(self, progress: Callable[[int, int], None] | None = None, until: float | None = None) -> int:
        """Read new and changed files, and drop deleted ones.

        Args:
            progress: called with the number of files read so far, and the number of files to read.
            until: time of `time.monotonic` at which it stops; None to read all.

        Returns:
            How many files were parsed.

        Raises:
            UnfinishedError: the time is over; the files read so far are kept.
        """
        if self.tree.refresh() or not self._order:
            self._follow_paths(list(self.tree.files()))
        elif self._modules is not None and self._manifests != self.tree.manifests():
            self._modules = None
        parsed = 0
        fresh: list[SourceFile] = []
        changed = self._changed()
        for number, path in enumerate(changed):
            if until is not None and number and time.monotonic() > until:
                self._write_to_cache(fresh)
                raise UnfinishedError(len(changed) - number)
            parsed += self._read_file(path, self._files.get(path), fresh)
            if len(fresh) >= _BATCH:
                self._write_to_cache(fresh)
            if progress is not None:
                progress(number + 1, len(changed))
        self._write_to_cache(fresh)
        return parsed

    def _write_to_cache(self, fresh: list[SourceFile]) -> None:
        """Write parsed files to the cache, so that the work isn't lost if the process is stopped."""
        if self._cache is not None and fresh:
            self._cache.keep([(file.path, file.digest, file.parsed) for file in fresh])
        fresh.clear()

    def file(self, path: str) -> SourceFile | None:
        """Return a file by its path."""
        return self._files.get(path)

    def files(self) -> Iterator[SourceFile]:
        """Yield all files; tests and examples come last."""
        files = self._files
        return (files[path] for path in self._order if path in files)

    @property
    def modules(self) -> Modules:
        """The modules of all files."""
        if self._modules is None:
            self._manifests = self.tree.manifests()
            self._modules = Modules(self.root, self._order, self._manifests)
        return self._modules

    def of_module(self, module: str) -> list[SourceFile]:
        """Return the files of a module; an empty list if there is no such module."""
        return [file for path in self.modules.files(module) if (file := self._files.get(path))]

    def at(self, path: str) -> Iterator[SourceFile]:
        """Yield the files at a path, which may be a file, a folder, or a pattern with `*` and `?`."""
        return (file for file in self.files() if is_at(file.path, path))

    def importers(self, name: str) -> list[SourceFile]:
        """List the files that import something under a name, the likeliest first."""
        found = [file for path in self._by_import.get(name, ()) if (file := self._files.get(path))]
        return sorted(found, key=lambda file: (file.is_aside, file.path.count("/"), file.path))

    def importing(self, name: str) -> KeysView[str]:
        """Return the paths of the files that import something under a name."""
        return self._by_import.get(name, {}).keys()

    def beside(self, file: SourceFile) -> list[SourceFile]:
        """List the files that share their declarations with a file, as in a package of Go; itself first."""
        if not file.language.package_is_folder:
            return [file]
        if not self._folders:
            for path in self._order:
                self._folders.setdefault(known_language(path).package_of(path), []).append(path)
        paths = self._folders.get(file.language.package_of(file.path), [])
        others = [self._files[path] for path in paths if path != file.path and path in self._files]
        others.sort(key=lambda one: not one.path.startswith(f"{file.path.rpartition('/')[0]}/"))
        return [file, *others]

    def declared(self, file: SourceFile, name: str) -> list[FoundDeclaration]:
        """List what a file declares under a qualified name."""
        declarations = self._by_name.get(name.rpartition(".")[2], {}).get(file.path, ())
        return [FoundDeclaration(file, one) for one in declarations if one.qualified == name]

    def has_word(self, file: SourceFile, word: str) -> bool:
        """Return whether a file contains a word, in code or comments."""
        return f"\n{word}\n" in file.parsed.words

    def with_word(self, word: str) -> Iterator[SourceFile]:
        """Yield the files that contain a word, in code or comments; tests and examples come last."""
        line = f"\n{word}\n"
        return (file for file in self.files() if line in file.parsed.words)

    def members(self, found: FoundDeclaration) -> Iterator[FoundDeclaration]:
        """Yield the members of a type, in the order of its files."""
        owner = found.declaration.qualified
        for file in self.beside(found.file):
            for declaration in file.parsed.declarations:
                if declaration.owner == owner:
                    yield FoundDeclaration(file, declaration)

    def owner_of(self, found: FoundDeclaration) -> FoundDeclaration | None:
        """Return the type of a member; None if it isn't a member, or its type isn't known."""
        name = found.declaration.owner
        each = [one for file in self.beside(found.file) for one in self.declared(file, name)] if name else []
        return each[0] if each else None

    def popularity(self, file: SourceFile) -> int:
        """Return how many files import the module of a file, or a name from it."""
        return self._count_imports()[file.language.module_of(file.path)]

    def _count_imports(self) -> Counter[str]:
        """Return how many files import each module, and each declaration by its name."""
        if self._imported is None:
            self._imported = Counter()
            for other in self._files.values():
                self._imported.update(_imported_modules(other))
        return self._imported

    def named(self, name: str, path: str = "") -> list[FoundDeclaration]:
        """List the declarations of a name; a dotted name must be the end of a qualified name.

        Args:
            name: such as `decode`, `Codec.decode` or `codec.Codec.decode`.
            path: of the file, or the end of it; empty for all files.

        Returns:
            The likeliest first: those not aside, those outside of classes, public ones, types and
            functions before variables, the most imported names, the most imported modules, the
            shortest path.
        """
        found = [
            FoundDeclaration(self._files[where], declaration)
            for where, declarations in self._by_name.get(name.rpartition(".")[2], {}).items()
            if not path or is_at(where, path)
            for declaration in declarations
            if _has_name(where, declaration, name, self._name)
        ]
        return found if len(found) < 2 else sorted(found, key=self._likelihood)  # noqa: PLR2004  # one is sorted

    def _likelihood(
        self, found: FoundDeclaration
    ) -> tuple[bool, int, bool, bool, bool, int, int, int, str, int]:
        file, declaration = found
        return (
            file.is_aside,
            declaration.qualified.count("."),
            _is_prototype(found),
            is_private(found),
            declaration.kind in _VARIABLES,
            -self._count_imports()[full_name(file.path, declaration)],
            -self.popularity(file),
            file.path.count("/"),
            file.path,
            declaration.line,
        )

    def at_line(self, path: str, line: int) -> list[FoundDeclaration]:
        """List the declarations around a line: first those whose names are on it, then the innermost."""
        file = self._files.get(path) or next(self.at(path), None)
        if file is None:
            return []
        found = [
            FoundDeclaration(file, declaration)
            for declaration in file.parsed.declarations
            if declaration.line <= line <= declaration.last_line
        ]
        return sorted(
            found,
            key=lambda one: (one.declaration.line != line, one.declaration.last_line - one.declaration.line),
        )

    def search(
        self, path: str, names: str, kind: Kind | None, limit: int
    ) -> tuple[list[FoundDeclaration], int]:
        """Find declarations by a pattern of their names.

        Args:
            path: of a file, a folder or a pattern of them, whose declarations come in their order; empty for
                all files.
            names: with `*` and `?`; with a dot in it, of the qualified name.
            kind: of the declarations; None for all.
            limit: how many are returned.

        Returns:
            The declarations, and how many more there are; counting stops at `MOST_COUNTED`.
        """
        for any_case in (False, True):
            # Files come in a fixed order, so the same files always answer the same.
            matching = self.matching(Pattern(names, any_case=any_case), kind, path, is_qualified="." in names)
            found = list(islice(matching, limit + MOST_COUNTED))
            if found:
                is_file = path and found[0].file is found[-1].file
                best = found if is_file else sorted(found, key=lambda one: self._rank(one, names))
                return best[:limit], len(found) - len(best[:limit])
        return [], 0

    def in_another_case(
        self, path: str, names: str, kind: Kind | None, known: Sequence[FoundDeclaration]
    ) -> list[str]:
        """List the names that match a pattern only if upper and lower case are ignored; see `search`.

        Args:
            path: of a file, a folder or a pattern of them; empty for all files.
            names: the pattern.
            kind: of the declarations; None for all.
            known: the names that match as they are written.
        """
        if not known or names.casefold() == names.upper():  # it has no letters
            return []
        matching = self.matching(Pattern(names, any_case=True), kind, path, is_qualified="." in names)
        names_known = {one.declaration.qualified for one in known}
        others = {one.declaration.qualified: one for one in islice(matching, MOST_COUNTED)}
        return sorted(others.keys() - names_known, key=lambda name: self._rank(others[name], names))

    def _rank(
        self, found: FoundDeclaration, pattern: str
    ) -> tuple[bool, bool, bool, bool, int, int, str, str, int]:
        path, declaration = found.file.path, found.declaration
        return (
            pattern not in (declaration.name, declaration.qualified),
            found.file.is_aside,
            is_private(found),
            declaration.kind in _VARIABLES,
            len(declaration.name),
            -self.popularity(found.file),
            declaration.name,
            path,
            declaration.line,
        )

    def names(self) -> Iterator[str]:
        """Yield the name of each declaration."""
        return iter(self._by_name)

    def matching(
        self, pattern: Pattern, kind: Kind | None = None, path: str = "", *, is_qualified: bool = False
    ) -> Iterator[FoundDeclaration]:
        """Yield the declarations whose names match a pattern, in the order of the index.

        Args:
            pattern: of the names.
            kind: of the declarations; None for all.
            path: of a file, a folder or a pattern of them; empty for all files.
            is_qualified: whether the pattern is of qualified names.
        """
        kinds = None if kind is None else same_kinds(kind)
        table, files = self._table((is_qualified, pattern.any_case), path)
        for number, place in table.matches(pattern):
            declaration = files[number].parsed.declarations[place]
            if kinds is None or declaration.kind in kinds:
                yield FoundDeclaration(files[number], declaration)

    def _table(self, key: tuple[bool, bool], path: str) -> tuple[NameTable, list[SourceFile]]:
        """Return a table of the names in the files at a path, and these files."""
        made = None if path else self._tables.get(key)
        if made is None:
            files = [file for file in self.files() if not path or is_at(file.path, path)]
            made = NameTable([_lines_of_names(file, *key) for file in files]), files
            if not path:
                self._tables[key] = made
        return made

    def _changed(self) -> list[str]:
        """List the files that may have changed; most of the time of a query is spent in this loop."""
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
        """Return the key that a file has while it is unchanged; None if its key can't prove that."""
        file = self._files.get(path)
        if file is None:
            return self._skipped_keys.get(path)
        return None if file.is_young else file.key

    def _follow_paths(self, paths: list[str]) -> None:
        self._watched = None
        self._modules = None
        self._folders = {}
        self._tables.clear()
        for gone in self._files.keys() - set(paths):
            self._replace_file(gone, None)
        for gone in self.skipped.keys() - set(paths):
            del self.skipped[gone]
            self._skipped_keys.pop(gone, None)
        self._order = sorted(paths, key=lambda path: (is_aside(path), path.count("/"), path))
        self.shown_as = paths_shown_as(paths)

    def _read_file(self, path: str, before: SourceFile | None, fresh: list[SourceFile]) -> int:
        content = read_source(self.root, path)
        if not isinstance(content, Content):
            self._replace_file(path, None)
            self._skip_file(path, content)
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
            self._replace_file(path, None)
            self._skip_file(path, Skipped(path, "it takes too long to parse"))
            return 0
        file = _source_file(path, content, digest, parsed, before)
        if is_parsed:
            fresh.append(file)
        self._replace_file(path, file)
        return is_parsed

    @staticmethod
    def _parse(path: str, source: bytes) -> Parsed | None:
        try:
            return known_language(path).parse(source)._replace(words=words_in(source))
        except SlowParseError:
            return None

    def _skip_file(self, path: str, why: Skipped | None) -> None:
        if why is None:
            return
        self.skipped[path] = why.reason
        self._watched = None
        try:
            self._skipped_keys[path] = key_of(os.lstat(f"{self.root}/{path}"))
        except OSError:
            self._skipped_keys.pop(path, None)

    def _replace_file(self, path: str, file: SourceFile | None) -> None:
        before = self._files.pop(path, None)
        self._watched = None
        if before is None or file is None or file.parsed is not before.parsed:
            self._tables.clear()
        if before is not None and (file is None or file.parsed is not before.parsed):
            for declaration in before.parsed.declarations:
                places = self._by_name.get(declaration.name)
                if places is not None and places.pop(path, None) is not None and not places:
                    del self._by_name[declaration.name]
            self._forget_imports(before)
        if file is None:
            return
        self._files[path] = file
        if before is None or file.parsed is not before.parsed:
            by_name: dict[str, list[Declaration]] = {}
            for declaration in file.parsed.declarations:
                by_name.setdefault(declaration.name, []).append(declaration)
            for name, declarations in by_name.items():
                self._by_name.setdefault(name, {})[path] = tuple(declarations)
            for one in file.parsed.imports:
                self._by_import.setdefault(one.name, {})[path] = None
            if self._imported is not None:
                self._imported.update(_imported_modules(file))

    def _forget_imports(self, file: SourceFile) -> None:
        for one in file.parsed.imports:
            places = self._by_import.get(one.name, {})
            if places.pop(file.path, file) is None and not places:
                del self._by_import[one.name]
        if self._imported is not None:
            self._imported.subtract(_imported_modules(file))


def digest_of(source: bytes) -> bytes:
    """Return a digest of the content of a file."""
    return blake2b(source, digest_size=16).digest()


def is_aside(path: str) -> bool:
    """Return whether a file seems to be a test, a benchmark, an example, or a copy of other code."""
    *folders, name = path.lower().split("/")
    stem = name.rpartition(".")[0]
    return stem.startswith("test_") or stem.endswith("_test") or any(part in _ASIDE for part in folders)


def _source_file(
    path: str, content: Content, digest: bytes, parsed: Parsed, before: SourceFile | None
) -> SourceFile:
    if before is not None and before.parsed is parsed:
        return before._replace(key=content.key, is_young=content.is_young)
    return SourceFile(path, content.key, content.is_young, digest, parsed, is_aside(path), {})


def _lines_of_names(file: SourceFile, is_qualified: bool, any_case: bool) -> str:  # noqa: FBT001  # private
    """Return the names of a file's declarations as lines; the file keeps them."""
    lines = file.lines.get((is_qualified, any_case))
    if lines is None:
        declarations = file.parsed.declarations
        names = [one.qualified if is_qualified else one.name for one in declarations]
        lines = file.lines[is_qualified, any_case] = lines_of(names, any_case=any_case)
    return lines


def full_name(path: str, declaration: Declaration) -> str:
    """Return the name of a declaration with its module or package in front."""
    module = known_language(path).module_of(path)
    return f"{module}.{declaration.qualified}" if module else declaration.qualified


def _has_name(path: str, declaration: Declaration, wanted: str, root: str) -> bool:
    if "." not in wanted or declaration.qualified == wanted:
        return True
    # The root may be a package itself.
    return f".{root}.{full_name(path, declaration)}".endswith(f".{wanted}")


def is_at(where: str, path: str) -> bool:
    """Return whether a path matches what a caller wrote: its end, a folder above it, or a pattern."""
    if "*" in path or "?" in path:
        return fnmatchcase(where, path) or fnmatchcase(where, f"*/{path}")
    return where == path or where.endswith(f"/{path}") or f"/{path.rstrip('/')}/" in f"/{where}"


def is_private(found: FoundDeclaration) -> bool:
    """Return whether a declaration, or a module above it, is private by its name."""
    if found.file.path.endswith(".go") and found.declaration.name[:1].islower():
        return True
    parts = [*found.file.path.split("/"), *found.declaration.qualified.split(".")]
    return any((part.startswith("_") and not part.startswith("__")) or part == "internal" for part in parts)


def _imported_modules(file: SourceFile) -> set[str]:
    """Return the modules that a file imports, or from which it imports names."""
    language = file.language
    found: set[str] = set()
    for one in file.parsed.imports:
        target = language.import_target(one.target, file.path)
        found |= {target, target.rpartition(".")[0]}
    return found
