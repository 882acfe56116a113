"""How are conversations kept in a store?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload

from ..message_text import one_line
from .errors import RoundError
from .listed_rounds import number_of_rows
from .own_json import own_json
from .serialization import DEPTH
from .store_rows import LARGEST_INTEGER, ROUNDS, gone, reading, row_of
from .transcript import Turn, check_item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .databases import Tables


class StoredTranscript:
    """A conversation in a store; made by `store.transcript`.

    It contains, in order, messages of the user (a string is one), messages in the form of a provider, and
    turns.
    """

    def __init__(self, tables: Tables, name: str) -> None:
        self._tables = tables
        self._name = name

    @property
    def name(self) -> str:
        """The name of the conversation."""
        return self._name

    def append(self, item: Any, /) -> None:
        """Add a turn or a message.

        Raises:
            RoundError: the turn was added before.
            StoreError: the turn belongs to a round that waits in the store: commit that round.
            TypeError: the item isn't JSON, or nests too deeply; or a transcript in memory refuses it, too.
        """
        if isinstance(item, Turn):
            self.commit_turn(item, None)
            return
        try:
            text = json.dumps(own_json(item, DEPTH))
        except ValueError as error:
            message = f"an item of a transcript is a turn or JSON: {error}"
            raise TypeError(message) from None
        check_item(item)
        with self._tables.transaction() as db:
            db.execute("INSERT INTO items (transcript, item) VALUES (?, ?)", (self._name, text))

    def commit_turn(self, turn: Turn, revision: int | None, /) -> None:
        """Add the turn of a round and delete the round, in one transaction; for `round.commit`.

        Raises:
            RoundError: the turn was added before.
            StoreError: the round is running, or somebody decided something else meanwhile.
        """
        text = json.dumps({"turn": turn.as_dict()})
        with self._tables.transaction() as db:
            values = (self._name, turn.id, text)
            added = db.execute(
                "INSERT INTO items (transcript, turn, item) VALUES (?, ?, ?) ON CONFLICT (turn) DO NOTHING",
                values,
            )
            if added.rowcount != 1:
                message = "this turn is in a transcript already: it was committed before"
                raise RoundError(message)
            row = row_of(db, turn.id)
            is_as_read = (
                (row is None) if revision is None else ROUNDS.delete(db, turn.id, revision, taken=False)
            )
            if not is_as_read:
                raise gone(turn.id, row)

    def _items(self, rest: str = "", *values: int) -> list[Any]:
        """Return items, the oldest first; `rest` is the rest of the query."""
        query = f"SELECT turn, item FROM items WHERE transcript = ? ORDER BY position {rest}"  # noqa: S608  # a text of this class
        with self._tables.transaction(writes=False) as db:
            rows = db.execute(query, (self._name, *values)).fetchall()
        with reading(self._tables.database):
            items = [(turn, json.loads(text)) for turn, text in rows]
            return [item if turn is None else Turn.from_dict(item["turn"]) for turn, item in items]

    def last(self, count: int) -> list[Any]:
        """Return the newest items, the oldest of them first, without reading the others.

        Args:
            count: the maximum number of items.

        Raises:
            TypeError: `count` isn't an integer.
            ValueError: `count` is below 0.
        """
        return self._items("DESC LIMIT ?", number_of_rows("count", count))[::-1]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __len__(self) -> int:
        query = "SELECT count(*) FROM items WHERE transcript = ?"
        with self._tables.transaction(writes=False) as db:
            (count,) = db.execute(query, (self._name,)).fetchone()
        return int(count)

    def __bool__(self) -> bool:
        return bool(self.last(1))

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        """Return one item without reading the others; or the items of a slice."""
        if isinstance(index, slice):
            return self._items()[index]
        order, at = ("", index) if index >= 0 else ("DESC", -1 - index)
        found = self._items(f"{order} LIMIT 1 OFFSET ?", min(at, LARGEST_INTEGER))
        if not found:
            message = f"the transcript has no item {index}"
            raise IndexError(message)
        return found[0]

    def __repr__(self) -> str:
        return f"<StoredTranscript {one_line(self._name, 100)!r} of {len(self)}>"
