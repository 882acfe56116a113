"""A database of PostgreSQL for stores and journals."""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..message_text import checked_text, one_line, received
from ..rounds import Database, Store

try:
    import psycopg
    import psycopg.conninfo
    import psycopg.sql
    import psycopg_pool
except ImportError as missing:
    message = "to keep rounds in PostgreSQL, install the extra: pip install 'operator-schema[postgres]'"
    raise ImportError(message, name=missing.name) from missing

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

__all__ = ["PostgresDatabase", "PostgresStore"]

_CONNECT_SECONDS = 10
PATIENCE = 30.0
"""Seconds that a process waits until another one has written, as with SQLite."""

_AWAY = ("08", "57P0")
"""The beginnings of the codes for broken connections, and for a server that ends or starts.

Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""


class PostgresStore(Store):
    """A store of waiting rounds and transcripts in PostgreSQL, for programs on several machines.

    Each process has a pool of connections. It is opened at first use, and reconnects if the server was
    unavailable. Needs the extra `postgres` (psycopg 3).

    Args:
        conninfo: the address of the database, such as `postgresql://user@host/desk`; see
            https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING.
        secret: the secret, as for `Store`.
        schema: the schema of the database for the tables; it is created if necessary.
        connections: the maximum number of connections of a process.
        name: the name, as for `Store`.
        lease: the lease, as for `Store`; measured by the clock of the server.

    Raises:
        StoreError: the database can't be used, or another version of this package made its tables.
        TypeError: an argument has another type.
        ValueError: the secret is shorter than 16 bytes, `conninfo` can't be read, or `connections` isn't an
            integer above 0.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        secret: bytes | Sequence[bytes] | None = None,
        schema: str = "operator_schema",
        connections: int = 10,
        name: str = "",
        lease: float = 30.0,
    ) -> None:
        database = PostgresDatabase(conninfo, schema=schema, connections=connections)
        super().__init__(database, secret=secret, name=name, lease=lease)


class PostgresDatabase(Database):
    """A schema in a PostgreSQL database, for `Store` and `Journal`.

    Args:
        conninfo: as for `PostgresStore`.
        schema: the name of the schema; it is created if necessary.
        connections: the maximum number of connections of a process.
    """

    clock = "extract(epoch from clock_timestamp())"
    errors = (psycopg.Error,)

    def __init__(self, conninfo: str, *, schema: str = "operator_schema", connections: int = 10) -> None:
        self._conninfo = checked_text("the conninfo of a database", conninfo)
        self._schema = checked_text("the schema of a database", schema)
        self._connections: int = connections
        if not _is_count(connections):
            error = f"connections must be an integer above 0, not {received(connections)}"
            raise ValueError(error)
        try:
            self._named = psycopg.conninfo.conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError as wrong:
            form = "write postgresql://user@host/database"
            error = f"the conninfo of a database can't be read: {one_line(str(wrong).strip(), 200)}; {form}"
            raise ValueError(error) from None
        named = psycopg.sql.Identifier(schema)
        self._path = psycopg.sql.SQL("SET search_path TO {}").format(named)
        self.before_tables = (psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(named).as_string(),)
        self._forget()
        _ALL.add(self)

    def _forget(self) -> None:
        """Start without connections, also in the child of a fork: those of its parent don't work there."""
        self._pool: psycopg_pool.ConnectionPool[Any] | None = None
        self._used = 0
        self._lock = Lock()  # another thread of the parent may have held the old one

    @contextmanager
    def transaction(self, *, writes: bool) -> Generator[psycopg.Connection[Any]]:  # noqa: ARG002  # readers never wait
        """Open a transaction on a connection of the pool."""
        pool, connection = self._taken()
        self._count(1)
        try:
            with connection.transaction():
                yield connection
        finally:
            self._count(-1)
            pool.putconn(connection)

    def _taken(self) -> tuple[psycopg_pool.ConnectionPool[Any], psycopg.Connection[Any]]:
        """Take a connection, and return its pool with it."""
        until = monotonic() + PATIENCE
        while True:
            pool = self._opened()
            try:
                return pool, pool.getconn(timeout=max(0.0, until - monotonic()))
            except psycopg_pool.PoolClosed:  # by another thread, after this one had got the pool
                if monotonic() >= until:
                    raise
            except psycopg_pool.PoolTimeout:
                if self._used < self._connections:  # else all of them are busy, and the server isn't away
                    # After an outage the pool tries again ever more rarely; a new one tries at once.
                    self._close(pool, timeout=0)
                    self._connect_alone()
                raise

    def _count(self, number: int) -> None:
        with self._lock:
            self._used += number

    def _connect_alone(self) -> None:
        """Connect without the pool, to get the reason of a failure, which the pool doesn't report."""
        psycopg.connect(self._conninfo, **self._defaults()).close()

    def _opened(self) -> psycopg_pool.ConnectionPool[Any]:
        """Return the pool of this process."""
        with self._lock:
            if self._pool is None:
                self._pool = psycopg_pool.ConnectionPool(
                    self._conninfo,
                    kwargs={"autocommit": True, **self._defaults()},
                    min_size=0,
                    max_size=self._connections,
                    open=True,
                    configure=self._configure,
                    check=psycopg_pool.ConnectionPool.check_connection,
                    name="operator_schema",
                )
            return self._pool

    def _defaults(self) -> dict[str, Any]:
        return {} if "connect_timeout" in self._named else {"connect_timeout": _CONNECT_SECONDS}

    def _configure(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(self._path)
        patience = psycopg.sql.Literal(f"{PATIENCE:.0f}s")
        connection.execute(psycopg.sql.SQL("SET lock_timeout = {}").format(patience))

    def close(self) -> None:
        """Close the connections of this process; the next use opens new ones."""
        pool = self._pool
        if pool is not None:
            self._close(pool, timeout=PATIENCE)

    def _close(self, pool: psycopg_pool.ConnectionPool[Any], *, timeout: float) -> None:
        """Close a pool of this process; connections in use are closed when they are returned."""
        with self._lock:
            if self._pool is pool:
                self._pool = None
        pool.close(timeout=timeout)

    def is_away(self, error: BaseException) -> bool:
        """Return whether the server couldn't be reached, or ended the connection."""
        return isinstance(error, psycopg.OperationalError) and (
            error.sqlstate is None or error.sqlstate.startswith(_AWAY)
        )

    def why_unusable(self, what: str, error: Exception) -> str:
        """Return the text of an error of PostgreSQL, with a remedy."""
        said = f"{what} {self} can't be used: {one_line(str(error).strip(), 200)}"
        remedy = _remedy(error)
        return f"{said}; {remedy}" if remedy else said

    def __str__(self) -> str:
        parts = [str(self._named[name]) for name in ("host", "dbname") if name in self._named]
        return one_line(f"PostgreSQL {'/'.join(parts)}".strip(), 200)

    def __getstate__(self) -> dict[str, Any]:
        return {"conninfo": self._conninfo, "schema": self._schema, "connections": self._connections}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # pickle makes it without


_ALL: WeakSet[PostgresDatabase] = WeakSet()


def _after_fork() -> None:
    for database in list(_ALL):
        database._forget()  # noqa: SLF001  # one thought with it


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given > 0


def _remedy(error: Exception) -> str | None:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return f"another process locked the row for {PATIENCE:.0f} seconds: end that one, or try again"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return "let this user create the schema, and read and write its tables"
    if isinstance(error, psycopg_pool.PoolTimeout):
        return "check that the server runs and takes connections, or give more of them (connections=…)"
    if isinstance(error, psycopg.OperationalError):
        return "check that the server runs, and the conninfo"
    return None
