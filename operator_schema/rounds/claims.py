"""How does one process at a time take a row of a table?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..message_text import received, writable_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .databases import Statements


def as_key(what: str, text: str) -> str:
    """Replace the characters that databases refuse, so that a query can contain the text."""
    return writable_text(what, text).replace("\0", "\ufffd")


class Claims:
    """Rows of a table that one process takes at a time.

    The table has the columns `id`, `revision` and `since`. A row waits while its `since` is null. While a
    process has taken it, `since` is the time in seconds since 1970. If the process dies, the row is stuck
    until a person takes it back. Each change increases the revision, and only takes effect if the row still
    has the revision that the writer has read: so nobody overwrites a change that somebody else made
    meanwhile.

    Args:
        table: the name of the table.
        what: a word for a row in messages: `a round`.
    """

    def __init__(self, table: str, what: str) -> None:
        self._table = table
        self._what = what

    def read(self, db: Statements, row_id: str, columns: str) -> Any:
        """Return some columns of a row; None if there is no such row."""
        what = f"the id of {self._what}"
        if not isinstance(row_id, str) and hasattr(row_id, "id"):
            message = f"{what} must be a string, not {received(row_id)}: give its id"
            raise TypeError(message)
        wanted = as_key(what, row_id)
        return db.execute(f"SELECT {columns} FROM {self._table} WHERE id = ?", (wanted,)).fetchone()  # noqa: S608  # names of this package

    def add(self, db: Statements, row_id: str, **columns: Any) -> bool:
        """Add a row with its `since` and other columns; return whether the id was free."""
        values = {"id": row_id, "revision": 1, **columns}
        marks = ", ".join("?" * len(values))
        query = (
            f"INSERT INTO {self._table} ({', '.join(values)}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING"  # noqa: S608  # as above
        )
        return db.execute(query, (*values.values(),)).rowcount == 1

    def change(
        self, db: Statements, row_id: str, revision: int | None, *, taken: bool, step: int = 1, **columns: Any
    ) -> bool:
        """Change a row; return whether it exists and nobody has changed it since it was read.

        Args:
            db: the transaction.
            row_id: the id of the row.
            revision: the revision that the row must have; None for any.
            taken: whether a process must have taken the row.
            step: the number that is added to the revision.
            columns: the new values of columns, such as `since`.
        """
        changes = "".join([f", {name} = ?" for name in columns])
        query = f"UPDATE {self._table} SET revision = revision + ?{changes} WHERE {_STATE[taken]} AND id = ?"  # noqa: S608  # as above
        return self._changes_one_row(db, query, (step, *columns.values(), row_id), revision)

    def delete(self, db: Statements, row_id: str, revision: int, *, taken: bool) -> bool:
        """Delete a row; return whether it existed and nobody had changed it since it was read."""
        query = f"DELETE FROM {self._table} WHERE {_STATE[taken]} AND id = ?"  # noqa: S608  # as above
        return self._changes_one_row(db, query, (row_id,), revision)

    def waiting(
        self, db: Statements, columns: str, where: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> list[Any]:
        """List the rows that nobody has taken, the oldest first.

        Args:
            db: the transaction.
            columns: the names of the columns.
            where: the value for each condition with a `?`.
            limit: the maximum number of rows; None for all.
        """
        values = [*(where or {}).values()]
        conditions = "".join([f" AND {condition}" for condition in where or ()])
        query = f"SELECT {columns} FROM {self._table} WHERE since IS NULL{conditions} ORDER BY position"  # noqa: S608  # names of this package
        if limit is not None:
            query, values = f"{query} LIMIT ?", [*values, limit]
        return db.execute(query, values).fetchall()

    def stuck(self, db: Statements, now: float, seconds: float, columns: str) -> list[Any]:
        """List the rows taken at least so many seconds ago, or in the future if a clock was set back."""
        query = f"SELECT {columns} FROM {self._table} WHERE abs(? - since) >= ? ORDER BY since, position"  # noqa: S608  # as above
        return db.execute(
            query, (now, float(seconds))
        ).fetchall()  # a database takes no integer beyond 64 bits

    def _changes_one_row(
        self, db: Statements, query: str, values: tuple[Any, ...], revision: int | None
    ) -> bool:
        if revision is not None:
            query, values = f"{query} AND revision = ?", (*values, revision)
        return db.execute(query, values).rowcount == 1


_STATE = {False: "since IS NULL", True: "since IS NOT NULL"}
"""The condition for rows that are taken, and for rows that wait."""
