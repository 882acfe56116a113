"""Parsed files on disk, so that the next process needn't parse them again."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .declarations import KINDS, Declaration, Import, Parsed, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["IndexCache", "check_cache"]

_FORMAT = 3
_GRAMMARS = ("tree-sitter", "tree-sitter-python", "tree-sitter-go", "tree-sitter-rust")
_WAIT = 2.0
"""Seconds to wait for another process that writes."""

_OURS = 0x6F702E73
"""The number by which a database says that it is a cache of ours: `PRAGMA application_id`."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
"""Bytes of the header of a database. Source: https://www.sqlite.org/fileformat.html"""

_BESIDE = ("-wal", "-shm", "-journal")
"""Files that sqlite3 makes beside a database."""

_SETTLED = 2.0
"""Seconds in which another process has made a cache that it began to make."""

_DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def check_cache(path: Path) -> None:
    """Check that a file may be used as a cache: it isn't there, it is empty, or it is a cache of ours.

    Raises:
        ValueError: it is anything else, such as a text, a link, or the database of another program.
    """
    state = _state(path)
    if state is not None and state.st_size and not _is_ours(path, state):
        message = f"the cache {path} is something else, not a cache of the code tools: name another file"
        raise ValueError(message)
    if state is not None and not stat.S_ISREG(state.st_mode):
        message = f"the cache {path} isn't a plain file: name another one"
        raise ValueError(message)
    if (beside := _foreign_beside(path)) and not _settles(path):
        message = (
            f"the cache {path} can't be made: {beside} is there already; name another file, "
            "or delete that one if no program uses it"
        )
        raise ValueError(message)


def _foreign_beside(path: Path) -> str | None:
    """Return the name of a file that stands where sqlite3 would write, and that no cache of ours has."""
    state = _state(path)
    is_new = state is None or not state.st_size
    for end in _BESIDE:
        beside = _state(Path(f"{path}{end}"))
        if beside is not None and (is_new or not stat.S_ISREG(beside.st_mode)):
            return f"{path.name}{end}"
    return None


def _settles(path: Path) -> bool:
    """Wait a moment, as another process may be making the same cache: its journal comes before the cache."""
    end = time.monotonic() + _SETTLED
    while time.monotonic() < end:
        time.sleep(0.01)
        if _foreign_beside(path) is None:
            return True
    return False


def _state(path: Path) -> os.stat_result | None:
    """Return what a path names itself, without following links; None if there is nothing to be read."""
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_ours(path: Path, state: os.stat_result) -> bool:
    if not stat.S_ISREG(state.st_mode):
        return False
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        header = file.read(_HEADER)
    return header.startswith(_MAGIC) and int.from_bytes(header[68:72], "big") == _OURS


class IndexCache:
    """A file of sqlite3 with what was parsed.

    One that is damaged, or from other versions, is made anew. A file that isn't a cache of ours is never
    touched. A row is found by the path and the content of its file, so a row of an older content does no
    harm. Rows aren't signed: who can write the file can make the tools tell wrong places.

    Args:
        path: of the file; it is made where it isn't there.

    Raises:
        ValueError: the file is something else.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._kept: dict[str, tuple[bytes, str]] = {}
        self._usable = True
        check_cache(self.path)
        try:
            self._kept = self._load()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                self._start_anew()
            else:  # it is locked, or can't be written
                self._usable = False
        except ValueError:
            self._start_anew()
        except OSError:
            self._usable = False

    def find(self, path: str, digest: bytes) -> Parsed | None:
        """Return what is kept of a file with this content; None if there is nothing that fits."""
        kept = self._kept.pop(path, None)
        if kept is None or kept[0] != digest:
            return None
        try:
            return _parsed(json.loads(kept[1]))
        except (ValueError, TypeError, IndexError, RecursionError):
            return None  # it was written by something else

    def keep(self, files: Iterable[tuple[str, bytes, Parsed]]) -> None:
        """Write parsed files; a cache that can't be written is left out.

        Args:
            files: the path, what stands for the content, and what was parsed.
        """
        if not self._usable:
            return
        rows = [(path, digest, json.dumps(parsed)) for path, digest, parsed in files]
        try:
            check_cache(self.path)  # it may have become something else
            with closing(self._connected()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError, ValueError):
            self._usable = False

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
        try:
            # In one step, so that no other process sees a database that doesn't say whose it is.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id={_OURS}")
            connection.execute("CREATE TABLE IF NOT EXISTS about (made_by TEXT)")
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("BEGIN IMMEDIATE")  # which `with connection` ends
        except BaseException:
            connection.close()
            raise
        return connection

    def _load(self) -> dict[str, tuple[bytes, str]]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connected()) as connection, connection:
            made_by = connection.execute("SELECT made_by FROM about").fetchone()
            if made_by is None or made_by[0] != _made_by():
                connection.execute("DROP TABLE IF EXISTS files")
                connection.execute("DELETE FROM about")
                connection.execute("INSERT INTO about VALUES (?)", (_made_by(),))
            connection.execute(
                "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, digest BLOB, parsed TEXT)"
            )
            rows = connection.execute("SELECT path, digest, parsed FROM files").fetchall()
        return {path: (digest, parsed) for path, digest, parsed in rows}

    def _start_anew(self) -> None:
        """Make the cache anew: it said a moment ago that it is ours."""
        try:
            check_cache(self.path)
            for end in ("", *_BESIDE):
                Path(f"{self.path}{end}").unlink(missing_ok=True)
            self._kept = self._load()
        except (sqlite3.Error, OSError, ValueError):
            self._usable = False


def _made_by() -> str:
    versions = [str(_FORMAT)]
    for name in _GRAMMARS:
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return ", ".join(versions)


def _parsed(document: Any) -> Parsed:
    declarations, imports, is_broken = document
    return Parsed(
        tuple([_declaration(row) for row in declarations]),
        tuple([Import(*map(str, row)) for row in imports]),
        bool(is_broken),
    )


def _declaration(row: Any) -> Declaration:
    name, qualified, kind, line, last, *spans = row
    if not (isinstance(name, str) and isinstance(qualified, str) and kind in KINDS):
        raise TypeError
    whole, head, doc, value = [Span(int(start), int(end)) for start, end in spans]
    return Declaration(name, qualified, kind, int(line), int(last), whole, head, doc, value)
