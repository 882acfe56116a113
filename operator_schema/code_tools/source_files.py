"""How is a file below a root read, if no link on the way is followed?"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import contextmanager
from errno import ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator

MOST_BYTES = 10_000_000
"""A larger file is named, and not read."""

_BYTES_MORE = 1 << 16
"""Bytes that are read at once of a file that has grown since it was opened."""

_RACY = 50_000_000
"""Nanoseconds in which a file can change again without another time stamp."""

FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER_FLAGS = FLAGS | getattr(os, "O_DIRECTORY", 0)
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
    """

    source: bytes
    key: FileKey
    is_young: bool


def key_of(status: os.stat_result) -> FileKey:
    """Return a key that changes whenever the file changes."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def is_young(key: FileKey) -> bool:
    """Return whether a file changed so recently that another change might not change its key."""
    return time.time_ns() - max(key[1], key[2]) < _RACY


@contextmanager
def opened_folder(root: str, path: str) -> Generator[int | str]:
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
    here = os.open(root, _FOLDER_FLAGS)
    try:
        for name in path.split("/") if path else ():
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=here)
            os.close(here)
            here = inner
        yield here
    finally:
        os.close(here)


def _without_links(root: str, path: str) -> str:
    """Return the path of a folder below the root after checking it for links; see `opened_folder`."""
    where = f"{root}/{path}" if path else root
    if os.path.realpath(where, strict=True) != str(Path(where)):
        raise NotADirectoryError(ENOTDIR, "a link is on the way")
    return where


def open_file(root: str, path: str) -> int:
    """Open a file below the root for reading.

    Raises:
        OSError: it isn't there, it can't be read, or it or a folder on the way is a link.
    """
    outer, _, name = path.rpartition("/")
    with opened_folder(root, outer) as folder:
        if isinstance(folder, str):
            return os.open(f"{folder}/{name}", FLAGS)
        return os.open(name, FLAGS, dir_fd=folder)


def read_source(root: str, path: str) -> Content | Skipped | None:
    """Read a file below the root; links aren't followed.

    Returns:
        Its content, why it is skipped, or None if it isn't there any more.
    """
    try:
        descriptor = open_file(root, path)
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
        source = read_all(descriptor, status.st_size)
    except OSError as error:
        return Skipped(path, error.strerror or "it can't be read")
    finally:
        os.close(descriptor)
    if len(source) > MOST_BYTES:
        return Skipped(path, f"it has more than {MOST_BYTES:,} bytes")
    if b"\0" in source[:8192]:
        return Skipped(path, "it is a binary file")
    key = key_of(status)
    return Content(_as_utf8(source, path), key, is_young(key))


def read_all(descriptor: int, size: int) -> bytes:
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
    coding = _CODING.match(source) if path.endswith((".py", ".pyi")) else None
    name = b"utf-8" if coding is None else coding[1].lower().replace(b"_", b"-")
    if name in {b"utf-8", b"utf8", b"ascii"} or source.startswith(b"\xef\xbb\xbf"):
        return source
    try:
        return source.decode(name.decode()).encode(errors="replace")
    except (LookupError, ValueError):
        return source  # it isn't an encoding of texts, or not the one of this text
