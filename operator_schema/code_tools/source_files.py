"""The source files under a root that git would not ignore, and how they are read."""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import contextmanager
from errno import ENOTDIR
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .language import LANGUAGES, missing_package

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from pathspec import GitIgnoreSpec

__all__ = [
    "MOST_BYTES",
    "Content",
    "FileKey",
    "Folder",
    "Skipped",
    "Tree",
    "key_of",
    "read_part",
    "read_source",
]

MOST_BYTES = 10_000_000
"""A larger file is named, and not read."""

_SUFFIXES = tuple(suffix for suffixes in LANGUAGES.values() for suffix in suffixes)
_NEVER = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
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
    """A file that isn't in the index, and why."""

    path: str
    reason: str


class Content(NamedTuple):
    """The bytes of a file, with the key that it had when they were read."""

    source: bytes
    key: FileKey
    is_young: bool


class Rules(NamedTuple):
    """The patterns of one file such as `.gitignore`.

    Attributes:
        cut: characters at the beginning of a path below the root that lead to the file's folder.
        before: what leads from the file's folder to the root, where the file is above it.
        patterns: of the file.
    """

    cut: int
    before: str
    patterns: GitIgnoreSpec

    def says(self, path: str) -> bool | None:
        """Return whether a path is ignored; None if no pattern is about it."""
        return self.patterns.check_file(f"{self.before}{path[self.cut :]}").include


class Folder(NamedTuple):
    """What a folder held when it was listed.

    Attributes:
        key: of the folder.
        is_young: whether it may change again without another key.
        folders: paths of those in it.
        files: paths of the source files in it.
        outer: the rules above it, the outermost first.
        rules: these, and its own.
        rules_key: of its own file of rules; None if there is none.
    """

    key: FileKey
    is_young: bool
    folders: tuple[str, ...]
    files: tuple[str, ...]
    outer: tuple[Rules, ...]
    rules: tuple[Rules, ...]
    rules_key: FileKey | None


def key_of(status: os.stat_result) -> FileKey:
    """Return what changes whenever a file does."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def is_young(key: FileKey) -> bool:
    """Return whether a file changed so lately that its next change might leave the key as it is."""
    return time.time_ns() - max(key[1], key[2]) < _RACY


@contextmanager
def _folder(root: str, path: str) -> Generator[int | str]:
    """Open a folder below the root, from one folder to the next, so that no link is followed on the way.

    Only the root is found by its path: who can write in it may put a link in place of a folder at any moment.

    Args:
        root: absolute path.
        path: below it; empty for the root.

    Yields:
        A descriptor. Where there is none for folders, a path that has no links in it: it is looked at before
        and after, which is no help against who puts a link there for a moment.

    Raises:
        OSError: it isn't there, it can't be read, or a link is on the way.
    """
    if not _BY_STEPS:
        where = _joined(root, path)
        _check_no_link(where)
        yield where
        _check_no_link(where)
        return
    here = os.open(root, _FOLDER_FLAGS)
    try:
        for name in path.split("/") if path else ():
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=here)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


def _check_no_link(where: str) -> None:
    path = Path(where)
    if path.resolve(strict=True) != path:
        raise NotADirectoryError(ENOTDIR, "a link is on the way")


class _Place(NamedTuple):
    """What the functions of `os` need to find an entry of an open folder."""

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
    descriptor = -1
    try:
        with _folder(root, outer) as folder:
            place = _in(folder, name)
            descriptor = os.open(place.path, _FLAGS, dir_fd=place.dir_fd)
    except BaseException:
        if descriptor >= 0:
            os.close(descriptor)
        raise
    return descriptor


def read_source(root: str, path: str) -> Content | Skipped | None:
    """Read a file; nothing outside of the root is read by a link.

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
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):  # a folder can't even be opened as a file object
        os.close(descriptor)
        return Skipped(path, "it isn't a plain file")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > MOST_BYTES:
            return Skipped(path, f"it has {status.st_size:,} bytes, more than {MOST_BYTES:,}")
        try:
            source = file.read(MOST_BYTES + 1)
        except OSError as error:
            return Skipped(path, error.strerror or "it can't be read")
    if len(source) > MOST_BYTES:
        return Skipped(path, f"it has more than {MOST_BYTES:,} bytes")
    if b"\0" in source[:8192]:
        return Skipped(path, "it is a binary file")
    key = key_of(status)
    return Content(source, key, is_young(key))


def read_part(root: str, path: str, key: FileKey, start: int, end: int) -> bytes | None:
    """Read a part of a file that still has the key that it had.

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
    """The folders and source files under a root, listed again where they have changed.

    Args:
        root: absolute path.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, Folder] = {}
        self._unlisted: dict[str, tuple[Rules, ...]] = {}
        """Folders that couldn't be listed, with the rules above them: their own change tells nobody of it."""

    def refresh(self) -> bool:
        """List again what has changed.

        Returns:
            Whether a folder was listed.
        """
        if not self._folders:
            self._list_all("", _rules_above(self._root))
            return True
        changed = [path for path, folder in self._folders.items() if self._has_changed(path, folder)]
        for path in changed:
            if path in self._folders:  # it didn't go with one above it
                self._list_again(path)
        for path, outer in list(self._unlisted.items()):
            self._list_all(path, outer)
            if path in self._folders:
                changed.append(path)
        return bool(changed)

    def files(self) -> Iterator[str]:
        """Yield the paths of all source files, with `/` in them."""
        for folder in self._folders.values():
            yield from folder.files

    def _has_changed(self, path: str, folder: Folder) -> bool:
        where = _joined(self._root, path)
        if folder.is_young or _key_if_there(where) != folder.key:
            return True
        return folder.rules_key is not None and _key_if_there(f"{where}/.gitignore") != folder.rules_key

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

    def _list_all(self, path: str, outer: tuple[Rules, ...]) -> None:
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

    def _listed(self, path: str, outer: tuple[Rules, ...], before: Folder | None = None) -> Folder | None:
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
                    rules = outer if patterns is None else (*outer, Rules(cut, "", patterns))
        except OSError:
            return None
        folders: list[str] = []
        files: list[str] = []
        for name, is_folder, is_source in entries:
            inner = _joined(path, name)
            if is_folder:
                if name not in _NEVER and not _is_ignored(f"{inner}/", rules):
                    folders.append(inner)
            elif is_source and not _is_ignored(inner, rules):
                files.append(inner)
        return Folder(key, is_young(key), tuple(folders), tuple(files), outer, rules, rules_key)


def _is_source(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(_SUFFIXES) and entry.is_file(follow_symlinks=False)


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _key_if_there(path: str, dir_fd: int | None = None) -> FileKey | None:
    try:
        return key_of(os.lstat(path, dir_fd=dir_fd))
    except OSError:
        return None


def _is_ignored(path: str, rules: Sequence[Rules]) -> bool:
    said = (one.says(path) for one in reversed(rules))
    return next((answer for answer in said if answer is not None), False)


def _rules_above(root: str) -> tuple[Rules, ...]:
    """Return the rules of the repository that the root is in, from above it, and those of its user."""
    here = Path(root)
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    below = here.relative_to(top).parts
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    files = [(home / "git" / "ignore", below), (top / ".git" / "info" / "exclude", below)]
    files += [(top.joinpath(*below[:depth], ".gitignore"), below[depth:]) for depth in range(len(below))]
    # The first two are of the user, who may keep them behind links.
    found = [(rest, _patterns_in(str(file), follow=place < 2)) for place, (file, rest) in enumerate(files)]  # noqa: PLR2004  # as above
    rules = [
        Rules(0, "".join(f"{part}/" for part in rest), patterns)
        for rest, patterns in found
        if patterns is not None
    ]
    # Who names an ignored folder, such as one of installed packages, wants what is in it.
    if any(one.patterns.match_file(before) for one in rules for before in accumulate(_split(one.before))):
        return ()
    return tuple(rules)


def _split(path: str) -> list[str]:
    return [f"{part}/" for part in path.split("/") if part]


def _patterns_in(file: str, dir_fd: int | None = None, *, follow: bool = False) -> GitIgnoreSpec | None:
    """Return the patterns of a file; None if it isn't a plain file, as links aren't for git either."""
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
            text = opened.read(MOST_BYTES).decode(errors="replace")
        except OSError:
            return None
    try:
        from pathspec import GitIgnoreSpec
    except ModuleNotFoundError as error:
        raise missing_package(error, "pathspec") from None
    lines = [_as_git_reads(line) for line in text.splitlines()]
    return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(GitIgnoreSpec, line)])


def _as_git_reads(line: str) -> str:
    """Return a pattern that means here what it means to git: `a/**` is all in `a`, but not `a` itself."""
    bare = line.rstrip(" ")
    return f"{bare}/*" if bare.endswith("/**") else line


def _is_pattern(kind: type[GitIgnoreSpec], line: str) -> bool:
    """Return whether a line is a valid pattern: git ignores the others."""
    try:
        kind.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
