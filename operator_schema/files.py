"""Where does a path lead, and how is a file or a database changed as a whole, or not at all?"""

from __future__ import annotations

import os
from contextlib import contextmanager
from errno import ELOOP
from pathlib import Path
from typing import TYPE_CHECKING

from .message_text import one_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator

__all__ = ["PATIENCE", "has_tables", "replacement", "resolved", "transaction", "why_unusable"]

PATIENCE = 30.0
"""Seconds that one process waits until another one has written into a database."""

_EVERYBODY = 0o666
"""The mode of a new file, of which the process leaves out what its umask says."""


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path to which all links on the way lead; its end needn't be there.

    `Path.resolve` raises a `RuntimeError` for a link that leads to itself, up to Python 3.12, and returns the
    link later.

    Raises:
        OSError: it is a link that leads to itself.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(ELOOP, "it is a link that leads to itself", os.fspath(path))
    return found


@contextmanager
def replacement(path: Path, *, is_private: bool = False) -> Generator[Path]:
    """Give a new file beside another one, and put it in its place at the end: readers see the old or the new.

    The new file has a name that nobody can guess, and is readable for nobody who can't read the old one: it
    may hold secrets. If an exception ends the context, the new file is gone and the old one is as it was.

    Args:
        path: the file to replace, which needn't be there; no link.
        is_private: whether only the owner may read it, whoever could read the old one.

    Yields:
        The path of the new file, which is empty.

    Raises:
        OSError: it can't be made or put into its place.
    """
    before = path.stat().st_mode & 0o777 if path.exists() else None
    # Not writable for others in place of an old one either, until it is whole.
    mode = 0o600 if is_private else _EVERYBODY if before is None else before & 0o644 | 0o600
    # As short as its place: a name may have 255 bytes. `secrets` takes longer to import than all of this.
    made = path.with_name(f".{os.urandom(8).hex()}.new")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield made
        if before is not None and not is_private:
            made.chmod(before)
        made.replace(path)
    except BaseException:  # an interrupt too: no half-written file stays
        made.unlink(missing_ok=True)
        raise


@contextmanager
def transaction(db: sqlite3.Connection, *, writes: bool = True) -> Generator[None]:
    """Do all of something in a database, or nothing of it.

    Args:
        db: the database.
        writes: whether something is written: then it waits for other writers. What only reads also reads a
            file that this process may not write to.
    """
    db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:  # an interrupt too: the transaction must not stay open
        if db.in_transaction:  # SQLite itself ends it when the disk is full
            db.execute("ROLLBACK")
        raise


def has_tables(db: sqlite3.Connection, *names: str) -> bool:
    """Return whether a database has all of some tables."""
    found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return set(names) <= {name for (name,) in found}


def why_unusable(what: str, path: str, error: sqlite3.Error) -> str:
    """Return why a database can't be used, and what to do about it.

    Args:
        what: the database is for a user, such as `the store`.
        path: of its file.
        error: of SQLite. Source of the codes: https://www.sqlite.org/rescode.html
    """
    import sqlite3

    remedies = {
        sqlite3.SQLITE_NOTADB: "give the path of another file, or of one that isn't there yet",
        sqlite3.SQLITE_CORRUPT: "restore it from a backup, or move it away to begin a new one",
        sqlite3.SQLITE_CANTOPEN: "create its folder, and check that this process may use both",
        sqlite3.SQLITE_READONLY: "let this process write to the file and to its folder",
        sqlite3.SQLITE_BUSY: (
            f"another process locked it for {PATIENCE:.0f} seconds: end that one, or try again"
        ),
        sqlite3.SQLITE_FULL: "make room on the disk",
        sqlite3.SQLITE_IOERR: "check the disk",
        sqlite3.SQLITE_ERROR: "it was deleted, or belongs to another program: create it again or elsewhere",
    }
    remedy = remedies.get(getattr(error, "sqlite_errorcode", 0) & _PRIMARY)
    if Path(path).is_dir():
        remedy = "it is a folder: give the path of a file in it"
    said = f"{what} {one_line(path, 200)} can't be used: {one_line(str(error), 200)}"
    return f"{said}; {remedy}" if remedy else said


_PRIMARY = 0xFF
"""The bits of an error code of SQLite that name its kind."""
