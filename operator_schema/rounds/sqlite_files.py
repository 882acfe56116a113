"""How is a SQLite database changed completely or not at all, and why can't its file be used?"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..message_text import one_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator

PATIENCE = 30.0
"""Seconds that one process waits until another one has written to a database."""


@contextmanager
def transaction(db: sqlite3.Connection, *, writes: bool = True) -> Generator[None]:
    """Make all changes to a database in the context, or none of them.

    Args:
        db: the database.
        writes: whether the context writes, and so waits for other writers. Without it, a database that this
            process may only read works too.
    """
    db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:  # an interrupt too: the transaction must not stay open
        if db.in_transaction:  # SQLite itself ends it when the disk is full
            db.execute("ROLLBACK")
        raise


_OTHER_FILE = "give the path of another file, or of one that isn't there yet"
_REMEDIES = {
    "SQLITE_NOTADB": _OTHER_FILE,
    "SQLITE_CORRUPT": "restore it from a backup, or move it away to begin a new one",
    "SQLITE_CANTOPEN": "create its folder, and check that this process may use both",
    "SQLITE_READONLY": "let this process write to the file and to its folder",
    "SQLITE_BUSY": f"another process locked it for {PATIENCE:.0f} seconds: end that one, or try again",
    "SQLITE_FULL": "make room on the disk",
    "SQLITE_IOERR": "check the disk",
    "SQLITE_ERROR": "it was deleted, or belongs to another program: create it again or elsewhere",
}
"""The remedies for errors of SQLite, by the name of their kind (https://sqlite.org/rescode.html)."""

_IN_WAL_MODE = (
    "it is in WAL mode, in which SQLite makes files beside it even to read it: let this process write to its "
    "folder, or let one that may write end the mode with PRAGMA journal_mode=DELETE"
)


def unusable_database(what: str, path: str | os.PathLike[str] | None, error: sqlite3.Error) -> str:
    """Return the reason why the file of a database can't be used, and a remedy.

    Args:
        what: the content of the database, such as `the store`.
        path: the path of the file; None for a database in memory.
        error: the error of SQLite.
    """
    if path is None:
        return f"{what} can't be used: {one_line(str(error), 200)}"
    name = getattr(error, "sqlite_errorname", "")
    remedy = _REMEDIES.get("_".join(name.split("_")[:2]))
    if Path(path).is_dir():
        remedy = "it is a folder: give the path of a file in it"
    elif name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY_")) and is_in_wal_mode(path):
        remedy = _IN_WAL_MODE
    said = f"{what} {one_line(os.fspath(path), 200)} can't be used: {one_line(str(error), 200)}"
    return f"{said}; {remedy}" if remedy else said


def is_in_wal_mode(path: str | os.PathLike[str]) -> bool:
    """Return whether a database's header sets WAL mode (https://sqlite.org/fileformat.html, 1.3.3)."""
    try:
        with Path(path).open("rb") as file:
            return file.read(20)[18:] == b"\2\2"
    except OSError:
        return False
