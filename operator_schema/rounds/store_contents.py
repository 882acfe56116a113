"""Which calls and messages does the file of a store hold, for a reader of logs?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..message_text import checked_path
from .databases import SqliteDatabase
from .errors import StoreError
from .serialization import without_texts
from .sqlite_files import unusable_database
from .store_rows import reading
from .stored_rounds import record_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from .databases import Database


def stored_records(path: str | PathLike[str]) -> Iterator[Any]:
    """Yield the content of a store, in the order in which it was stored; the file is only read.

    The content is read in pages, with no lock while the caller uses an item, so writers never wait. A turn
    that is committed meanwhile is yielded as a turn or as its round.

    Args:
        path: the path of the file of a `SqliteStore`.

    Yields:
        A list of calls, each an object with `name` and `arguments`, for each turn of a transcript and then
        for each round that waits or runs; and each message of a transcript unchanged.

    Raises:
        StoreError: the file can't be read, or isn't a store.
        TypeError: the path isn't a path.
    """
    name = checked_path("the path of a store", path)
    if not Path(name).is_file():
        error = sqlite3.OperationalError("unable to open database file")
        raise StoreError(unusable_database("the store", name, error), code="unavailable") from error
    database = SqliteDatabase(name)
    try:
        with reading(name), closing(database):
            newest = 0
            for position, turn, text in _rows_in_pages(database, "turn, item", "items", 0):
                item, newest = json.loads(text), position
                yield item if turn is None else calls_sent(item["turn"])
            seen: set[str] = set()
            for _, found, text in _rows_in_pages(database, "id, round", "rounds", 0):
                seen.add(found)
                yield calls_sent(json.loads(text))
            for _, turn, text in _rows_in_pages(database, "turn, item", "items", newest):
                if turn is not None and turn not in seen:  # committed between the pages
                    yield calls_sent(json.loads(text)["turn"])
    except sqlite3.Error as error:
        raise StoreError(unusable_database("the store", name, error), code="unavailable") from error


_PAGE = 100
"""The number of rows that are read at once."""


def _rows_in_pages(database: Database, columns: str, table: str, after: int) -> Iterator[Any]:
    """Yield the rows of a table after a position, with their positions; each page has its own transaction."""
    query = f"SELECT position, {columns} FROM {table} WHERE position > ? ORDER BY position LIMIT {_PAGE}"  # noqa: S608  # names of this module
    rows: list[Any] = [None]
    while rows:
        with database.transaction(writes=False) as db:
            rows = db.execute(query, (after,)).fetchall()
        yield from rows
        after = rows[-1][0] if rows else after


def calls_sent(saved: Any) -> list[dict[str, Any]]:
    """Return the calls of a turn or a round as the model sent them; if others ran, these too."""
    calls = [without_texts(call, call.keys()) for call in saved["calls"]]
    results = saved.get("results", [call.get("result") or {} for call in calls])
    return [record_of(call, result.get("changed")) for call, result in zip(calls, results, strict=True)]
