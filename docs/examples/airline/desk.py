"""One conversation in SQLite: its turns, the round that waits for a person, and the airline itself."""

from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airline import Airline, Flight, Reservation, User, sample_airline
from policy import TOOLSET

from operator_schema import Codec

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from operator_schema import Round, Turn

SECRET = os.environ.get("AIRLINE_SECRET", "only good enough for an example").encode()
"""The key by which rounds are signed; people who can write to the database must not know it."""

_TABLES = """
    CREATE TABLE rounds (id TEXT PRIMARY KEY, state TEXT NOT NULL, round TEXT NOT NULL);
    CREATE TABLE turns (id TEXT PRIMARY KEY, turn TEXT NOT NULL);
    CREATE TABLE airlines (id INTEGER PRIMARY KEY, airline TEXT NOT NULL);
"""


@dataclass
class SavedAirline:
    """The parts of an airline that change, and so have to be saved."""

    users: dict[str, User]
    flights: dict[str, Flight]
    reservations: dict[str, Reservation]


_AIRLINES = Codec(SavedAirline)


class Desk:
    """A conversation, and its airline.

    Each method that writes does so in one transaction.

    Attributes:
        airline: the airline when the round was claimed; only the process with the round changes it.

    Args:
        path: path of the database.
        airline: the airline of a new database; None to open an existing one.
    """

    def __init__(self, path: Path, airline: Airline | None = None) -> None:
        self._db = sqlite3.connect(path)
        self.airline = airline or sample_airline()
        if airline is not None:
            self._db.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def save(self, work: Round[Any]) -> None:
        """Save a waiting round."""
        text = json.dumps(work.as_dict(secret=SECRET))
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO rounds VALUES (?, 'waiting', ?)", (work.id, text))
            self._write_airline()

    def claim(self) -> Round[Any] | None:
        """Take the waiting round; None if there is none, or if another process has just taken it."""
        query = "UPDATE rounds SET state = 'claimed' WHERE state = 'waiting' RETURNING round"
        with self._db:
            rows = self._db.execute(query).fetchall()
            if rows:
                self._read_airline()
        return TOOLSET.restore_round(json.loads(rows[0][0]), secret=SECRET) if rows else None

    def append(self, turn: Turn) -> None:
        """Add a turn to the conversation, and delete its round."""
        with self._db:
            self._db.execute("INSERT INTO turns VALUES (?, ?)", (turn.id, json.dumps(turn.as_dict())))
            self._db.execute("DELETE FROM rounds WHERE id = ?", (turn.id,))
            self._write_airline()

    def turns(self) -> list[dict[str, Any]]:
        """Read the conversation."""
        rows = self._db.execute("SELECT turn FROM turns ORDER BY rowid").fetchall()
        return [json.loads(text) for (text,) in rows]

    def _write_airline(self) -> None:
        saved = SavedAirline(self.airline.users, self.airline.flights, self.airline.reservations)
        self._db.execute("INSERT OR REPLACE INTO airlines VALUES (1, ?)", (_AIRLINES.encode_json(saved),))

    def _read_airline(self) -> None:
        ((text,),) = self._db.execute("SELECT airline FROM airlines").fetchall()
        saved = _AIRLINES.decode_json(text)
        self.airline.users, self.airline.flights = saved.users, saved.flights
        self.airline.reservations = saved.reservations
