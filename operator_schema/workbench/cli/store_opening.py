"""How are the store and the secret of a command line found and opened?"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from ...message_text import escape
from ...rounds import MAYBE_SIGNED, SqliteDatabase, SqliteStore, StoreError
from .module_loading import WrongUse, extra_needed

if TYPE_CHECKING:
    from ...rounds import Store

_SCHEMES = ("postgresql://", "postgres://")
_VARIABLE = "env:"


def is_address(database: str) -> bool:
    """Return whether a database is one of PostgreSQL, rather than a file."""
    return database.startswith((*_SCHEMES, _VARIABLE))


def open_store(database: str, secret: bytes | None) -> Store:
    """Open an existing store.

    Args:
        database: the file of a `SqliteStore`; the URL of a database of PostgreSQL, without a password; or
            `env:` and the name of a variable that holds such a URL, maybe with its password.
        secret: as for `Store`.

    Raises:
        WrongUse: the store doesn't exist or can't be used, or its URL has a password.
    """
    try:
        return _opened_address(database, secret) if is_address(database) else _opened_file(database, secret)
    except StoreError as error:
        raise WrongUse(str(error)) from None
    except ValueError as error:
        name = database if database.startswith(_VARIABLE) else "the store"
        message = f"{escape(name)} can't be used: {escape(str(error))}"
        raise WrongUse(message) from None


def _opened_file(path: str, secret: bytes | None) -> Store:
    if not Path(path).is_file():
        message = f"there is no file {escape(path)}"
        raise WrongUse(message)
    with closing(SqliteDatabase(path)) as database:  # a store would make its tables in any database
        if Path(path).stat().st_size and not _has_rounds(database):
            message = f"{escape(path)} isn't the file of a SqliteStore: it has no table of rounds"
            raise WrongUse(message)
    return SqliteStore(path, secret=secret)


def _has_rounds(database: SqliteDatabase) -> bool:
    try:
        with database.transaction(writes=False) as db:
            return bool(db.execute(database.columns, ("rounds",)).fetchall())
    except database.errors as error:
        raise WrongUse(database.why_unusable("the store", error)) from None


def _opened_address(given: str, secret: bytes | None) -> Store:
    address = _address_of(given)
    needed = "a store in PostgreSQL needs an extra: pip install 'operator-schema[postgres]'"
    with extra_needed({"psycopg", "psycopg_pool"}, needed):
        try:
            from ...adapters.postgres import PostgresStore
        except ImportError as error:  # the adapter says what to install, too
            raise WrongUse(needed) from error
    return PostgresStore(address, secret=secret)


def _address_of(given: str) -> str:
    """Return the address of a database, from the command line or from a variable.

    Raises:
        WrongUse: an address on the command line has a password, or the variable isn't set.
    """
    if given.startswith(_VARIABLE):
        return _variable(given.removeprefix(_VARIABLE), "the address of the store")
    parts = urlsplit(given)
    if parts.password or "password" in parse_qs(parts.query):
        way = "leave it out and set PGPASSWORD, or put the address into a variable and write env:NAME"
        message = f"others on this machine can read a password on the command line: {way}"
        raise WrongUse(message)
    return given


def _variable(name: str, what: str) -> str:
    """Take the value of a variable out of the environment, which programs that tools start would inherit.

    Raises:
        WrongUse: the variable isn't set.
    """
    value = os.environ.pop(name, None)
    if value is None:
        message = f"the variable {escape(name)}, which should hold {what}, isn't set"
        raise WrongUse(message)
    return value


def secret_of(variable: str | None, file: str | None) -> bytes | None:
    """Return the secret of a store; None if no place is given.

    Args:
        variable: the name of a variable that holds it.
        file: the name of a file that holds it; line breaks at its end don't count.

    Raises:
        WrongUse: both are given, the variable isn't set, or the file can't be read.
    """
    if variable is not None and file is not None:
        message = "give --secret-env or --secret-file, not both"
        raise WrongUse(message)
    if file is not None:
        try:
            return Path(file).read_bytes().rstrip(b"\r\n")
        except OSError as error:
            message = f"{escape(file)} can't be read: {error.strerror}"
            raise WrongUse(message) from None
    return None if variable is None else _variable(variable, "the secret").encode()


def with_secret_option(error: Exception) -> str:
    """Return the text of an exception; for a missing secret, it names the options of the command."""
    return str(error).replace(
        MAYBE_SIGNED, " (or they were signed: say where the secret is, with --secret-env or --secret-file)"
    )
