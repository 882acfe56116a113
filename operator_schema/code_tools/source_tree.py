"""Which source files are below a root that git doesn't ignore?"""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .ignore_rules import RuleFile
from .language import LANGUAGES
from .source_files import FLAGS, FileKey, is_young, key_of, open_file, opened_folder, read_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .ignore_rules import IgnoreRule

_SUFFIXES = tuple(suffix for suffixes in LANGUAGES.values() for suffix in suffixes)
UNREAD: Mapping[str, str] = {
    **dict.fromkeys((".kt", ".kts"), "Kotlin"),
    **dict.fromkeys((".ex", ".exs"), "Elixir"),
    **dict.fromkeys((".sh", ".bash"), "shell"),
    **dict.fromkeys((".pyx", ".pxd"), "Cython"),
    **dict.fromkeys((".m", ".mm"), "Objective-C"),
    ".clj": "Clojure",
    ".cs": "C#",
    ".dart": "Dart",
    ".erl": "Erlang",
    ".fs": "F#",
    ".hs": "Haskell",
    ".jl": "Julia",
    ".lua": "Lua",
    ".ml": "OCaml",
    ".nim": "Nim",
    ".php": "PHP",
    ".pl": "Perl",
    ".proto": "protobuf",
    ".r": "R",
    ".rb": "Ruby",
    ".scala": "Scala",
    ".sql": "SQL",
    ".svelte": "Svelte",
    ".swift": "Swift",
    ".vue": "Vue",
    ".zig": "Zig",
}
"""Endings of files in languages that aren't read; such files are counted."""

_UNREAD_SUFFIXES = tuple(UNREAD)
_RULES = ".gitignore"
_NEVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
_MANIFESTS = frozenset({"Cargo.toml", "go.mod", "go.work", "package.json"})
"""Files that name packages."""
_CONFIGURATIONS = ("jsconfig.", "tsconfig.")
"""How files begin that name modules for the files below them."""


class IgnorePatterns(NamedTuple):
    """The patterns of one file such as `.gitignore`.

    Attributes:
        name: of the file, to show.
        cut: length of the beginning of a path below the root that leads to the file's folder.
        before: the path from the file's folder to the root, if the file is above the root.
        patterns: of the file.
    """

    name: str
    cut: int
    before: str
    patterns: RuleFile

    def rule_for(self, path: str, *, is_folder: bool) -> IgnoreRule | None:
        """Return the rule that decides about a path below the root; None if no rule matches it."""
        return self.patterns.rule_for(os.fsencode(f"{self.before}{path[self.cut :]}"), is_folder=is_folder)


class Folder(NamedTuple):
    """The content of a folder when it was listed.

    Attributes:
        key: of the folder.
        is_young: whether it may change again without another key.
        folders: paths of those in it.
        files: paths of the source files in it.
        outer: the rules above it, the outermost first.
        rules: the outer rules, followed by its own.
        rules_key: key of its own file of rules; None if there is no such file.
        unread: names of languages of other files in it, one for each file.
        ignored: paths of folders and source files in it that rules ignore.
        manifests: paths of the files in it that name packages.
    """

    key: FileKey
    is_young: bool
    folders: tuple[str, ...]
    files: tuple[str, ...]
    outer: tuple[IgnorePatterns, ...]
    rules: tuple[IgnorePatterns, ...]
    rules_key: FileKey | None
    unread: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()


class Tree:
    """The folders and source files below a root; changed folders are listed again."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, Folder] = {}
        self._unlisted: dict[str, tuple[IgnorePatterns, ...]] = {}
        """Folders that couldn't be listed, with the rules above them: their own change tells nobody of it."""

    def refresh(self) -> bool:
        """List the changed folders again.

        Returns:
            Whether a folder was listed.
        """
        if not self._folders:
            self._list_all("", _rules_above(self._root))
            return True
        changed = self._changed()
        for path in changed:
            if path in self._folders:  # it didn't go with one above it
                self._list_again(path)
        for path, outer in list(self._unlisted.items()):
            self._list_all(path, outer)
            if path in self._folders:
                changed.append(path)
        return bool(changed)

    def files(self) -> Iterator[str]:
        """Yield the paths of all source files, written with `/`."""
        for folder in self._folders.values():
            yield from folder.files

    def all_files(self) -> Iterator[str]:
        """Yield the paths of all plain files that no rule ignores, in any language."""
        for path, folder in self._folders.items():
            try:
                with os.scandir(_join_path(self._root, path)) as listing:
                    names = [each.name for each in listing if each.is_file(follow_symlinks=False)]
            except OSError:
                continue
            inner = (_join_path(path, name) for name in names)
            yield from (each for each in inner if not _is_ignored(each, folder.rules, is_folder=False))

    def manifests(self) -> dict[str, FileKey | None]:
        """Return the paths and keys of the files that name packages; the key is None if it can't be read."""
        paths = [path for folder in self._folders.values() for path in folder.manifests]
        return {path: _key_if_there(f"{self._root}/{path}") for path in paths}

    def unread(self) -> Counter[str]:
        """Count the files in languages that aren't read, by the name of the language."""
        return Counter([language for folder in self._folders.values() for language in folder.unread])

    def ignored(self) -> list[str]:
        """List the ignored source files and folders; a folder ends with `/`."""
        return [path for folder in self._folders.values() for path in folder.ignored]

    def why_ignored(self, path: str) -> str:
        """Return the rule that ignores a path below the root, and where it is; empty if none does."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            folder = self._folders.get("/".join(parts[: depth - 1]))
            if folder is None:
                return ""
            if parts[depth - 1] in _NEVER:
                return f"{parts[depth - 1]} is never read"
            is_folder = depth < len(parts) or os.path.isdir(_join_path(self._root, path))  # noqa: PTH112  # of any text
            deciding = _deciding_rule("/".join(parts[:depth]), folder.rules, is_folder=is_folder)
            if deciding is not None and not deciding[1].is_negative:
                return f"{deciding[0].name}:{deciding[1].line} {deciding[1].text}"
        return ""

    def _changed(self) -> list[str]:
        """List the folders whose content or rules may have changed."""
        lstat, found = os.lstat, list[str]()
        for path, folder in self._folders.items():
            where = f"{self._root}/{path}" if path else self._root
            try:
                status = lstat(where)
            except OSError:
                found.append(path)
                continue
            # `key_of`, written out: as for files, a call for each would take a quarter longer
            key = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            if (
                folder.is_young
                or key != folder.key
                or (folder.rules_key is not None and _key_if_there(f"{where}/{_RULES}") != folder.rules_key)
            ):
                found.append(path)
        return found

    def _list_again(self, path: str) -> None:
        before = self._folders[path]
        now = self._list_folder(path, before.outer)
        if now is None or now.rules_key != before.rules_key:
            self._forget(path)
            self._list_all(path, before.outer)
            return
        self._folders[path] = now
        for gone in set(before.folders).difference(now.folders):
            self._forget(gone)
        for new in set(now.folders).difference(before.folders):
            self._list_all(new, now.rules)

    def _forget(self, path: str) -> None:
        waiting = [path]
        while waiting:
            path = waiting.pop()
            self._unlisted.pop(path, None)
            folder = self._folders.pop(path, None)
            if folder is not None:
                waiting += folder.folders

    def _list_all(self, path: str, outer: tuple[IgnorePatterns, ...]) -> None:
        waiting = [(path, outer)]
        while waiting:
            here, rules = waiting.pop()
            folder = self._list_folder(here, rules)
            if folder is None:
                self._unlisted[here] = rules
            else:
                self._unlisted.pop(here, None)
                self._folders[here] = folder
                waiting += [(inner, folder.rules) for inner in folder.folders]

    def _list_folder(self, path: str, outer: tuple[IgnorePatterns, ...]) -> Folder | None:
        """List a folder; None if it can't be read."""
        try:
            with opened_folder(self._root, path) as folder, os.scandir(folder) as listing:
                key = key_of(os.stat(folder))  # noqa: PTH116  # it may be a descriptor
                # Whether an entry is a folder may be asked of the system only while this one is open.
                entries = sorted(
                    [(each.name, each.is_dir(follow_symlinks=False), _is_source(each)) for each in listing]
                )
        except OSError:
            return None
        rules, rules_key, file = outer, None, _join_path(path, _RULES)
        has_rules = any(name == _RULES for name, *_ in entries)
        if has_rules and (found := _read_rules(partial(open_file, self._root, file))):
            rules_key = found[1]
            rules = *outer, IgnorePatterns(file, len(path) + 1 if path else 0, "", found[0])
        sorted_out = _FolderEntries([], [], [], [], [])
        for name, is_folder, is_source in entries:
            sorted_out.add(_join_path(path, name), name, rules, is_folder=is_folder, is_source=is_source)
        return Folder(
            key,
            is_young(key),
            tuple(sorted_out.folders),
            tuple(sorted_out.files),
            outer,
            rules,
            rules_key,
            tuple(map(sys.intern, sorted_out.unread)),
            tuple(sorted_out.ignored),
            tuple(sorted_out.manifests),
        )


class _FolderEntries(NamedTuple):
    """Collects the entries of a folder; see `Folder`."""

    folders: list[str]
    files: list[str]
    unread: list[str]
    ignored: list[str]
    manifests: list[str]

    def add(
        self, inner: str, name: str, rules: tuple[IgnorePatterns, ...], *, is_folder: bool, is_source: bool
    ) -> None:
        """Add an entry to the list that it belongs to; most entries belong to none."""
        if not (is_folder or is_source):
            if name.endswith(_UNREAD_SUFFIXES) and not _is_ignored(inner, rules, is_folder=False):
                self.unread.append(UNREAD[name[name.rfind(".") :]])
            elif (name in _MANIFESTS or _is_configuration(name)) and not _is_ignored(
                inner, rules, is_folder=False
            ):
                self.manifests.append(inner)
        elif name not in _NEVER and _is_ignored(inner, rules, is_folder=is_folder):
            self.ignored.append(f"{inner}/" if is_folder else inner)
        elif is_source:
            self.files.append(inner)
        elif name not in _NEVER:
            self.folders.append(inner)


def _is_configuration(name: str) -> bool:
    return name.endswith(".json") and name.startswith(_CONFIGURATIONS)


def _is_source(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False)


def _join_path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _key_if_there(path: str) -> FileKey | None:
    try:
        return key_of(os.lstat(path))
    except OSError:
        return None


def _is_ignored(path: str, rules: Sequence[IgnorePatterns], *, is_folder: bool) -> bool:
    deciding = _deciding_rule(path, rules, is_folder=is_folder)
    return deciding is not None and not deciding[1].is_negative


def _deciding_rule(
    path: str, rules: Sequence[IgnorePatterns], *, is_folder: bool
) -> tuple[IgnorePatterns, IgnoreRule] | None:
    """Return the rule that decides about a path, and its file; None if there is none."""
    for one in reversed(rules):
        rule = one.rule_for(path, is_folder=is_folder)
        if rule is not None:
            return one, rule
    return None


def _rules_above(root: str) -> tuple[IgnorePatterns, ...]:
    """Return the rules from above the root: those of the repository around it, and those of the user."""
    here = Path(root)
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    below = here.relative_to(top).parts
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = [(home / "git" / "ignore", below), (top / ".git" / "info" / "exclude", below)]
    files += [(top.joinpath(*below[:depth], ".gitignore"), below[depth:]) for depth in range(len(below))]
    rules = [
        IgnorePatterns(str(file), 0, "".join(f"{part}/" for part in rest), found[0])
        for place, (file, rest) in enumerate(files)
        # The first two are of the user, who may keep them behind links.
        if (found := _read_rules(partial(os.open, file, FLAGS if place > 1 else os.O_RDONLY)))
    ]
    # Who names an ignored folder, such as one of installed packages, wants what is in it.
    is_inside = any(_is_ignored_above(rules, below, depth) for depth in range(1, len(below) + 1))
    return () if is_inside else tuple(rules)


def _is_ignored_above(rules: Sequence[IgnorePatterns], below: Sequence[str], depth: int) -> bool:
    """Return whether rules from above the root ignore a folder between them and the root."""
    for one in reversed(rules):
        above = len(below) - one.before.count("/")
        rule = None
        if above < depth:
            rule = one.patterns.rule_for(os.fsencode("/".join(below[above:depth])), is_folder=True)
        if rule is not None:
            return not rule.is_negative
    return False


def _read_rules(opened: Callable[[], int]) -> tuple[RuleFile, FileKey] | None:
    """Read the rules of a file, and its key; None if it isn't a plain file, because git ignores links too.

    Args:
        opened: opens the file, and returns its descriptor.
    """
    try:
        descriptor = opened()
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        return RuleFile(read_all(descriptor, status.st_size)), key_of(status)
    except OSError:
        return None
    finally:
        os.close(descriptor)
