"""How are parsed files kept on disk for the next process?"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .language import KINDS, Base, Declaration, Import, Parsed, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FORMAT = 7
_GRAMMARS = (
    "tree-sitter",
    "tree-sitter-c",
    "tree-sitter-cpp",
    "tree-sitter-go",
    "tree-sitter-java",
    "tree-sitter-python",
    "tree-sitter-rust",
    "tree-sitter-typescript",
)
_WAIT = 2.0
"""Seconds to wait for another process that writes."""

_OURS = 0x6F702E73
"""The number by which a database says that it is a cache of ours: `PRAGMA application_id`."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
"""Bytes of the header of a database. Source: https://www.sqlite.org/fileformat.html"""

_BESIDE: Mapping[str, tuple[bytes, ...]] = {
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": ((3_007_000).to_bytes(4, sys.byteorder), bytes(4)),
    "-journal": (b"\xd9\xd5\x05\xf9", bytes(4)),
}
"""Files that sqlite3 makes beside a database, with what they begin with unless they are empty.

Sources: https://www.sqlite.org/fileformat.html, https://www.sqlite.org/walformat.html
"""

_DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def check_cache(path: Path) -> None:
    """Check that a file may be used as a cache: either it doesn't exist, or an `IndexCache` made it.

    Raises:
        ValueError: it is anything else, such as a text, a link, or the database of another program.
    """
    # Another process may have made it between two looks: it wasn't there, and then files beside it were.
    if _refusal(path) is not None and (message := _refusal(path)) is not None:
        raise ValueError(message)


def _refusal(path: Path) -> str | None:
    """Explain why a file may not be used as a cache; None if it may."""
    state = _state(path)
    if state is not None and not stat.S_ISREG(state.st_mode) and not state.st_size:
        return f"the cache {path} isn't a plain file: name another one"
    if state is not None and not _is_ours(path, state):
        return f"the cache {path} is something else, not a cache of the code tools: name another file"
    if beside := _foreign_beside(path, is_new=state is None):
        return (
            f"the cache {path} can't be made: {beside} is there already; name another file, "
            "or delete that one if no program uses it"
        )
    return None


def _foreign_beside(path: Path, *, is_new: bool) -> str | None:
    """Return the name of another program's file where sqlite3 would write; None if there is none."""
    for end, beginnings in _BESIDE.items():
        beside = Path(f"{path}{end}")
        state = _state(beside)
        if state is None:
            continue
        is_sqlite = stat.S_ISREG(state.st_mode) and state.st_nlink <= 1
        if is_new or not is_sqlite or not _begins_with(beside, beginnings):
            return beside.name
    return None


def _begins_with(path: Path, beginnings: Sequence[bytes]) -> bool:
    """Return whether a file begins with some bytes, is shorter than them, or is gone."""
    head = _head(path, max(map(len, beginnings)))
    return any(beginning.startswith(head) for beginning in beginnings)


def _state(path: Path) -> os.stat_result | None:
    """Return the state of a file without following links; None if it can't be read."""
    try:
        return os.lstat(path)
    except OSError:
        return None


def _is_ours(path: Path, state: os.stat_result) -> bool:
    if not stat.S_ISREG(state.st_mode):
        return False
    header = _head(path, _HEADER)
    return header.startswith(_MAGIC) and int.from_bytes(header[68:72], "big") == _OURS


def _head(path: Path, size: int) -> bytes:
    """Read the first bytes of a plain file; nothing if it can't be read."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(size) or b""


def _make(path: Path) -> None:
    """Create an empty cache, unless there is a file: all of it at once, so that nobody sees a part of it."""
    if os.path.lexists(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent) as folder, suppress(FileExistsError):
        new = Path(folder, "new")
        with closing(sqlite3.connect(new)) as connection, connection:
            connection.execute(f"PRAGMA application_id={_OURS}")
            connection.execute("CREATE TABLE about (made_by TEXT)")
        os.link(new, path)


class IndexCache:
    """A database of sqlite3 that keeps parsed files.

    One that is damaged, or from other versions, is made anew. A file that isn't a cache of ours is never
    touched. A row is found by the path and the content of its file, so a row of an older content does no
    harm. Rows aren't signed: who can write the file can make the tools tell wrong places.

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
        """Return the parsed file for a path and content; None if it isn't kept."""
        kept = self._kept.pop(path, None)
        if kept is None or kept[0] != digest:
            return None
        try:
            return _parsed(json.loads(kept[1]))
        except (ValueError, TypeError, IndexError, RecursionError):
            return None  # it was written by something else

    def keep(self, files: Iterable[tuple[str, bytes, Parsed]]) -> None:
        """Write parsed files; if the cache can't be written, nothing happens."""
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
        # Never made here: sqlite3 follows links, and takes any empty file for a database.
        where = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(where, uri=True, timeout=_WAIT, isolation_level=None)
        try:
            # Asked of the file that is open, as the path may name another one by now.
            connection.execute("BEGIN IMMEDIATE")
            _check_number(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("BEGIN IMMEDIATE")  # which `with connection` ends
        except BaseException:
            connection.close()
            raise
        return connection

    def _load(self) -> dict[str, tuple[bytes, str]]:
        _make(self.path)
        with closing(self._connected()) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS about (made_by TEXT)")
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
        """Make the file again as an empty cache; it was checked a moment ago."""
        try:
            check_cache(self.path)
            for end in ("", *_BESIDE):
                Path(f"{self.path}{end}").unlink(missing_ok=True)
            self._kept = self._load()
        except (sqlite3.Error, OSError, ValueError):
            self._usable = False


def _check_number(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone() != (_OURS,):
        message = "the cache has become something else"
        raise OSError(message)


def _made_by() -> str:
    versions = [str(_FORMAT)]
    for name in _GRAMMARS:
        with suppress(PackageNotFoundError):
            versions.append(f"{name} {version(name)}")
    return ", ".join(versions)


def _parsed(document: Any) -> Parsed:
    declarations, imports, is_broken, bases, words = document
    return Parsed(
        tuple([_declaration(row) for row in declarations]),
        tuple([Import(*map(str, row)) for row in imports]),
        bool(is_broken),
        tuple([Base(*map(str, row)) for row in bases]),
        str(words),
    )


def _declaration(row: Any) -> Declaration:
    name, qualified, kind, line, last, *spans = row
    if not (isinstance(name, str) and isinstance(qualified, str) and kind in KINDS):
        raise TypeError
    whole, head, doc, value = [Span(int(start), int(end)) for start, end in spans]
    return Declaration(name, qualified, kind, int(line), int(last), whole, head, doc, value)
