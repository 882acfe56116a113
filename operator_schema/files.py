"""Where does a path lead, and how is a file or a database changed as a whole, or not at all?"""

from __future__ import annotations

import os
from contextlib import contextmanager
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path
from typing import TYPE_CHECKING

from .message_text import one_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator

__all__ = [
    "PATIENCE",
    "check_can_be_made",
    "is_in_wal_mode",
    "replacement",
    "resolved",
    "transaction",
    "unusable_database",
]

PATIENCE = 30.0
"""Seconds that one process waits until another one has written to a database."""


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


def check_can_be_made(path: str | os.PathLike[str]) -> None:
    """Check that a file can be made where a path leads, by making one beside it that is gone afterwards.

    Use it where the file itself is written much later, so that somebody learns at once what is wrong.

    Args:
        path: the path, which may be a link to a file that isn't there yet.

    Raises:
        OSError: it is a link that leads to itself, its folder isn't there, or no file can be made in it.
    """
    place = resolved(path)
    folder = place.parent
    if not folder.is_dir():
        is_there = folder.exists()
        reason = f"{folder} isn't a folder" if is_there else f"there is no folder {folder}"
        raise OSError(ENOTDIR if is_there else ENOENT, reason, os.fspath(path))
    _made_beside(place, 0o600).unlink()


def _made_beside(path: Path, mode: int) -> Path:
    """Make an empty file with a name that nobody can guess beside another one."""
    # As short as its place: a name may have 255 bytes. `secrets` takes longer to import than all of this.
    made = path.with_name(f".{os.urandom(8).hex()}.new")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    return made


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
    made = _made_beside(path, mode)
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
"""What to do about an error of SQLite, by the name of its kind (https://sqlite.org/rescode.html)."""

_IN_WAL_MODE = (
    "it is in WAL mode, in which SQLite makes files beside it even to read it: let this process write to its "
    "folder, or let one that may write end the mode with PRAGMA journal_mode=DELETE"
)


def unusable_database(what: str, path: str | os.PathLike[str] | None, error: sqlite3.Error) -> str:
    """Return why the file of a database can't be used, and what to do.

    Args:
        what: its content, such as `the store`.
        path: of the file; None for a database in memory.
        error: of SQLite.
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
    """Return whether the header of a database says so (https://sqlite.org/fileformat.html, section 1.3.3)."""
    try:
        with Path(path).open("rb") as file:
            return file.read(20)[18:] == b"\2\2"
    except OSError:
        return False
