"""Connections to a SQLite file that a process keeps open."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..immutable import Value
from .sqlite_files import PATIENCE, is_in_wal_mode

if TYPE_CHECKING:
    from collections.abc import Generator

_MOST_IDLE = 16
"""How many unused connections to one file stay open; further ones are closed after use."""


class _Kept(Value):
    """A connection that stays open.

    Attributes:
        db: the connection, which one thread uses at a time.
        file: the identity of the opened file; None in memory, or if the next use must open the file again.
        may_write: whether the file was brought into WAL mode, as far as that is possible.
    """

    db: sqlite3.Connection
    file: tuple[int, int] | None
    may_write: bool


class KeptConnections:
    """Connections that stay open, because opening a file takes ten times as long as a transaction.

    While the process forks, no connection is open. SQLite keeps a list per process of the locks that it holds
    on a file. A child would rely on locks that only its parent holds, so its writes could get lost.

    Args:
        path: the path of the file; None for a database in memory, which has one connection.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._idle: list[_Kept] = (
            [] if path is not None else [_Kept(_connect(":memory:"), None, may_write=True)]
        )
        self._used = 0
        self._may_take = True
        self._changed = Condition()
        _ALL.add(self)

    @contextmanager
    def taken(self, *, writes: bool) -> Generator[sqlite3.Connection]:
        """Reserve a connection for one use.

        Args:
            writes: whether the use writes something. Then the file is brought into WAL mode.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._may_take and (self._idle or self._path is not None))
            found = self._idle.pop() if self._idle else None
            self._used += 1
        kept = None
        try:
            kept = self._usable(found)
            if writes and not kept.may_write:
                with suppress(
                    sqlite3.Error
                ):  # another process is doing it, or the transaction will report the problem
                    kept.db.execute("PRAGMA journal_mode=WAL")
                kept = kept.replace(may_write=True)
            yield kept.db
        finally:
            self._give_back(kept)

    def _usable(self, found: _Kept | None) -> _Kept:
        """Return a connection to the file that is now at the path."""
        if found is None:
            return _open_file(str(self._path))
        if self._path is None or found.file == _file_at(self._path):
            return found
        found.db.close()
        return _open_file(self._path)

    def _give_back(self, kept: _Kept | None) -> None:
        with self._changed:
            self._used -= 1
            stays = self._path is None or len(self._idle) < _MOST_IDLE
            if kept is not None and stays and (self._path is None or kept.file is not None):
                self._idle.append(kept)
                kept = None
            self._changed.notify_all()
        if kept is not None:
            kept.db.close()

    def close(self) -> None:
        """Close the unused connections; a database in memory stays open."""
        if self._path is not None:
            self.end()

    def end(self) -> None:
        """Close the unused connections, also the one in memory."""
        with self._changed:
            idle, self._idle = self._idle, []
        for kept in idle:
            kept.db.close()

    # --- around a fork ---------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Wait until no connection is in use, close all of them, and open none until `after_fork`."""
        self._changed.acquire()
        self._may_take = False  # otherwise, threads that take turns could delay a fork forever
        self._changed.wait_for(lambda: not self._used, PATIENCE)
        if self._path is not None:
            for kept in self._idle:
                kept.db.close()
            self._idle.clear()

    def after_fork(self) -> None:
        """Allow new connections again."""
        self._may_take = True
        self._changed.notify_all()
        self._changed.release()

    def after_fork_in_child(self) -> None:
        """Forget the threads of the parent, which don't run in this process."""
        self._used, self._may_take = 0, True
        self._changed = Condition()


def _connect(name: str, **options: Any) -> sqlite3.Connection:
    # Threads take turns; SQLite itself doesn't care which of them closes the connection.
    made: sqlite3.Connection = sqlite3.connect(
        name, timeout=PATIENCE, isolation_level=None, check_same_thread=False, **options
    )
    return made


def _open_file(path: str) -> _Kept:
    """Open a file."""
    db = _connect(path)
    try:
        db.execute("PRAGMA schema_version").fetchone()  # opening a file doesn't read anything yet
    except sqlite3.Error as error:
        db.close()
        name = getattr(error, "sqlite_errorname", "")
        if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")) or not _is_closed(path):
            raise
        # Nobody has the file open, and this process may not make the files that WAL mode needs.
        uri = f"{Path(path).absolute().as_uri()}?immutable=1"
        return _Kept(_connect(uri, uri=True), None, may_write=True)
    except BaseException:  # an interrupt too
        db.close()
        raise
    return _Kept(db, _file_at(path), may_write=False)


def _is_closed(path: str) -> bool:
    """Return whether a file in WAL mode contains all writes, because nobody has it open."""
    return is_in_wal_mode(path) and not Path(f"{path}-wal").exists()


def _file_at(path: str) -> tuple[int, int] | None:
    """Return the identity of the file at a path: the file may have been moved away and replaced."""
    try:
        found = os.stat(path)  # noqa: PTH116  # `Path` takes three times as long
    except OSError:
        return None
    return found.st_dev, found.st_ino


# --- forks -----------------------------------------------------------------------------------------

_ALL: WeakSet[KeptConnections] = WeakSet()
_forking: list[KeptConnections] = []


def _before_fork() -> None:
    for kept in list(_ALL):
        _forking.append(kept)  # first: an interrupt ends the wait, and the fork goes on
        kept.before_fork()


def _after_fork() -> None:
    while _forking:
        _forking.pop().after_fork()


def _after_fork_in_child() -> None:
    while _forking:
        _forking.pop().after_fork_in_child()


if hasattr(os, "register_at_fork"):  # pragma: no branch  # Windows has no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
