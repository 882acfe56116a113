"""Parsed files on disk, so that the next process needn't parse them again."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .declarations import KINDS, Declaration, Import, Parsed, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["IndexCache"]

_FORMAT = 2
_GRAMMARS = ("tree-sitter", "tree-sitter-python", "tree-sitter-go", "tree-sitter-rust")
_WAIT = 2.0
"""Seconds to wait for another process that writes."""


class IndexCache:
    """A file of sqlite3 with what was parsed; one that doesn't fit, or is damaged, is thrown away.

    A row is found by the path and the content of its file, so a row of an older content does no harm.

    Args:
        path: of the file; it is made where it isn't there. Keep nothing else in it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._kept: dict[str, tuple[bytes, str]] = {}
        self._usable = True
        try:
            self._kept = self._load()
        except (sqlite3.Error, OSError, ValueError):
            self._start_anew()

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
            with closing(self._connected()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError, ValueError):
            self._usable = False

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_WAIT)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _load(self) -> dict[str, tuple[bytes, str]]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
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
        try:
            for end in ("", "-wal", "-shm"):
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
