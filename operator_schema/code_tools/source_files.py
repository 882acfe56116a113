"""Which source files are below a root that git doesn't ignore, and how are they read?"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections import Counter
from contextlib import contextmanager
from errno import ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .ignore_rules import RuleFile
from .language import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from .ignore_rules import IgnoreRule

MOST_BYTES = 10_000_000
"""A larger file is named, and not read."""

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
_NEVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
_MANIFESTS = frozenset({"Cargo.toml", "go.mod", "go.work", "package.json"})
"""Files that name packages."""
_CONFIGURATIONS = ("jsconfig.", "tsconfig.")
"""How files begin that name modules for the files below them."""
_BYTES_MORE = 1 << 16
"""Bytes that are read at once of a file that has grown since it was opened."""

_RACY = 50_000_000
"""Nanoseconds in which a file can change again without another time stamp."""

_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_BY_STEPS = (
    hasattr(os, "O_NOFOLLOW") and {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
)
"""Whether a folder can be opened from the one that it is in, which Windows can't."""

FileKey = tuple[int, int, int, int]
"""Size, times of change and the inode of a file: another content has another key, unless it is too young."""


class Skipped(NamedTuple):
    """A file that isn't in the index, and the reason."""

    path: str
    reason: str


class Content(NamedTuple):
    """The text of a file, with the key that it had when it was read.

    Attributes:
        source: in UTF-8, with one byte at the ends of lines.
        key: of the file.
        is_young: whether it may change again without another key.
        is_plain: whether the file contains exactly these bytes.
    """

    source: bytes
    key: FileKey
    is_young: bool
    is_plain: bool = True


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

    def about(self, path: str, *, is_folder: bool) -> IgnoreRule | None:
        """Return the rule that decides about a path below the root; None if no rule matches it."""
        return self.patterns.about(os.fsencode(f"{self.before}{path[self.cut :]}"), is_folder=is_folder)


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


def key_of(status: os.stat_result) -> FileKey:
    """Return a key that changes whenever the file changes."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def is_young(key: FileKey) -> bool:
    """Return whether a file changed so recently that another change might not change its key."""
    return time.time_ns() - max(key[1], key[2]) < _RACY


@contextmanager
def _folder(root: str, path: str) -> Generator[int | str]:
    """Open a folder below the root step by step, so that no link is followed on the way.

    Only the root is found by its path: who can write in it may put a link in place of a folder at any moment.

    Args:
        root: absolute path.
        path: below it; empty for the root.

    Yields:
        A descriptor; on a system without descriptors of folders, a path that had no links just before.

    Raises:
        OSError: it isn't there, it can't be read, or a link is on the way.
    """
    if not _BY_STEPS:
        yield _without_links(root, path)
        return
    here = _step_into(root, path)
    try:
        yield here
    finally:
        os.close(here)


def _step_into(root: str, path: str) -> int:
    """Return a descriptor of a folder below the root; see `_folder`."""
    here = os.open(root, _FOLDER_FLAGS)
    for name in path.split("/") if path else ():
        try:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def _without_links(root: str, path: str) -> str:
    """Return the path of a folder below the root after checking it for links; see `_folder`."""
    where = _joined(root, path)
    if os.path.realpath(where, strict=True) != str(Path(where)):
        raise NotADirectoryError(ENOTDIR, "a link is on the way")
    return where


class _Place(NamedTuple):
    """The arguments by which functions of `os` find an entry of an open folder."""

    path: str
    dir_fd: int | None


def _in(folder: int | str, name: str) -> _Place:
    return _Place(name, folder) if isinstance(folder, int) else _Place(f"{folder}/{name}", None)


def _open(root: str, path: str) -> int:
    """Open a file below the root for reading.

    Raises:
        OSError: it isn't there, it can't be read, or it or a folder on the way is a link.
    """
    outer, _, name = path.rpartition("/")
    if not _BY_STEPS:
        return os.open(f"{_without_links(root, outer)}/{name}", _FLAGS)
    folder = _step_into(root, outer)
    try:
        return os.open(name, _FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def read_source(root: str, path: str) -> Content | Skipped | None:
    """Read a file below the root; links aren't followed.

    Args:
        root: absolute path.
        path: below it.

    Returns:
        Its content, why it is skipped, or None if it isn't there any more.
    """
    try:
        descriptor = _open(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Skipped(path, error.strerror or "it can't be opened")
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Skipped(path, "it isn't a plain file")
        if status.st_size > MOST_BYTES:
            return Skipped(path, f"it has {status.st_size:,} bytes, more than {MOST_BYTES:,}")
        source = _read_all(descriptor, status.st_size)
    except OSError as error:
        return Skipped(path, error.strerror or "it can't be read")
    finally:
        os.close(descriptor)
    if len(source) > MOST_BYTES:
        return Skipped(path, f"it has more than {MOST_BYTES:,} bytes")
    if b"\0" in source[:8192]:
        return Skipped(path, "it is a binary file")
    key, text = key_of(status), _as_utf8(source, path)
    return Content(text, key, is_young(key), text is source)


def _read_all(descriptor: int, size: int) -> bytes:
    """Read an open file of about a known size, up to one byte more than allowed.

    `read` of a file object would get memory for all that may be read, for each file.
    """
    parts = [os.read(descriptor, size + 1)]
    left = MOST_BYTES + 1 - len(parts[0])
    while parts[-1] and left > 0:
        parts.append(os.read(descriptor, min(left, _BYTES_MORE)))
        left -= len(parts[-1])
    return b"".join([part for part in parts if part])  # one part alone isn't copied


_CODING = re.compile(rb"(?:[ \t\f]*+(?:#[^\n]*+)?+\n)?[ \t\f]*+#[^\n]*?coding[:=][ \t]*([-\w.]+)")
"""Where a file of Python names its encoding. Source: https://peps.python.org/pep-0263/"""


def _as_utf8(source: bytes, path: str) -> bytes:
    """Convert a text to UTF-8 with line feeds; a text that is like this already isn't copied."""
    if b"\r\n" in source:
        source = source.replace(b"\r\n", b"\n")
    said = _CODING.match(source) if path.endswith((".py", ".pyi")) else None
    name = b"utf-8" if said is None else said[1].lower().replace(b"_", b"-")
    if name in {b"utf-8", b"utf8", b"ascii"} or source.startswith(b"\xef\xbb\xbf"):
        return source
    try:
        return source.decode(name.decode()).encode(errors="replace")
    except (LookupError, ValueError):
        return source  # it isn't an encoding of texts, or not the one of this text


def read_part(root: str, path: str, key: FileKey, start: int, end: int) -> bytes | None:
    """Read a part of a file, provided that its key hasn't changed.

    Args:
        root: absolute path.
        path: below it.
        key: of the file.
        start: of the part, in bytes.
        end: of the part.

    Returns:
        None if the file has another key or a young one, or can't be read so.
    """
    if is_young(key) or not hasattr(os, "pread"):
        return None
    try:
        descriptor = _open(root, path)
    except OSError:
        return None
    try:
        part = os.pread(descriptor, end - start, start)
        return part if key_of(os.fstat(descriptor)) == key and len(part) == end - start else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


class Tree:
    """The folders and source files below a root; changed folders are listed again.

    Args:
        root: absolute path.
    """

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
                with os.scandir(_joined(self._root, path)) as listing:
                    names = [each.name for each in listing if each.is_file(follow_symlinks=False)]
            except OSError:
                continue
            inner = (_joined(path, name) for name in names)
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
            is_folder = depth < len(parts) or os.path.isdir(_joined(self._root, path))  # noqa: PTH112  # of any text
            deciding = _deciding("/".join(parts[:depth]), folder.rules, is_folder=is_folder)
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
                or (folder.rules_key is not None and _key_if_there(f"{where}/.gitignore") != folder.rules_key)
            ):
                found.append(path)
        return found

    def _list_again(self, path: str) -> None:
        before = self._folders[path]
        now = self._listed(path, before.outer, before)
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
            folder = self._listed(here, rules)
            if folder is None:
                self._unlisted[here] = rules
            else:
                self._unlisted.pop(here, None)
                self._folders[here] = folder
                waiting += [(inner, folder.rules) for inner in folder.folders]

    def _listed(
        self, path: str, outer: tuple[IgnorePatterns, ...], before: Folder | None = None
    ) -> Folder | None:
        try:
            with _folder(self._root, path) as folder:
                key = key_of(os.stat(folder))  # noqa: PTH116  # it may be a descriptor
                with os.scandir(folder) as listing:
                    # Whether an entry is a folder may be asked of the system only while this one is open.
                    entries = sorted(
                        [
                            (each.name, each.is_dir(follow_symlinks=False), _is_source(each))
                            for each in listing
                        ]
                    )
                rules_file = _in(folder, ".gitignore")
                rules_key = _key_if_there(*rules_file)
                if before is not None and before.rules_key == rules_key and not before.is_young:
                    rules = before.rules
                else:
                    patterns = None if rules_key is None else _patterns_in(*rules_file)
                    cut = len(path) + 1 if path else 0
                    own = IgnorePatterns(_joined(path, ".gitignore"), cut, "", patterns) if patterns else None
                    rules = outer if own is None else (*outer, own)
        except OSError:
            return None
        found = _FolderEntries([], [], [], [], [])
        for name, is_folder, is_source in entries:
            found.add(_joined(path, name), name, rules, is_folder=is_folder, is_source=is_source)
        return Folder(
            key,
            is_young(key),
            tuple(found.folders),
            tuple(found.files),
            outer,
            rules,
            rules_key,
            tuple(map(sys.intern, found.unread)),
            tuple(found.ignored),
            tuple(found.manifests),
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


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _key_if_there(path: str, dir_fd: int | None = None) -> FileKey | None:
    try:
        return key_of(os.lstat(path, dir_fd=dir_fd))
    except OSError:
        return None


def _is_ignored(path: str, rules: Sequence[IgnorePatterns], *, is_folder: bool) -> bool:
    deciding = _deciding(path, rules, is_folder=is_folder)
    return deciding is not None and not deciding[1].is_negative


def _deciding(
    path: str, rules: Sequence[IgnorePatterns], *, is_folder: bool
) -> tuple[IgnorePatterns, IgnoreRule] | None:
    """Return the rule that decides about a path, and its file; None if there is none."""
    for one in reversed(rules):
        rule = one.about(path, is_folder=is_folder)
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
    # The first two are of the user, who may keep them behind links.
    rules = [
        IgnorePatterns(str(file), 0, "".join(f"{part}/" for part in rest), patterns)
        for place, (file, rest) in enumerate(files)
        if (patterns := _patterns_in(str(file), follow=place < 2)) is not None  # noqa: PLR2004  # as above
    ]
    # Who names an ignored folder, such as one of installed packages, wants what is in it.
    is_inside = any(_ignores(rules, below, depth) for depth in range(1, len(below) + 1))
    return () if is_inside else tuple(rules)


def _ignores(rules: Sequence[IgnorePatterns], below: Sequence[str], depth: int) -> bool:
    """Return whether rules from above the root ignore a folder between them and the root."""
    for one in reversed(rules):
        above = len(below) - one.before.count("/")
        rule = None
        if above < depth:
            rule = one.patterns.about(os.fsencode("/".join(below[above:depth])), is_folder=True)
        if rule is not None:
            return not rule.is_negative
    return False


def _patterns_in(file: str, dir_fd: int | None = None, *, follow: bool = False) -> RuleFile | None:
    """Return the patterns in a file; None if it isn't a plain file, because git ignores links too."""
    flags = _FLAGS & ~getattr(os, "O_NOFOLLOW", 0) if follow else _FLAGS
    try:
        descriptor = os.open(file, flags, dir_fd=dir_fd)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as opened:
        try:
            return RuleFile(opened.read(MOST_BYTES))
        except OSError:
            return None
