"""Whether a round is still open: it is committed once, or discarded."""

from __future__ import annotations

from os import urandom

from .errors import RoundError

__all__ = ["Settlement"]

_ID_BYTES = 12
"""Random bytes in an id: two of 10**12 ids are equal with a chance of 1 in 10**5."""


class Settlement:
    """Which round it is, and how it ended, for all plans of it; the first to settle it wins.

    Args:
        round_id: of a round that was restored; None for a new one, which gets its id when it is asked for.
    """

    __slots__ = ("_ending", "_id")

    def __init__(self, round_id: str | None = None) -> None:
        self._id: dict[None, str] = {} if round_id is None else {None: round_id}
        self._ending: dict[None, _Ending] = {}

    @property
    def round_id(self) -> str:
        """The id of the round, made at random."""
        found = self._id.get(None)
        if found is not None:
            return found
        made = f"round_{urandom(_ID_BYTES).hex()}"
        return self._id.setdefault(None, made)  # one step, for all threads

    @property
    def how(self) -> str | None:
        """How it ended; None as long as it is open."""
        found = self._ending.get(None)
        return None if found is None else found.how

    def settle(self, how: str) -> None:
        """End it.

        Raises:
            RoundError: it has ended.
        """
        own = _Ending(how)
        # In one step, so that each of several threads sees whether it was the first.
        first = self._ending.setdefault(None, own)
        if first is not own:
            message = f"this round was {first.how} already"
            raise RoundError(message)

    def reopen(self) -> None:
        """Take it back, after a commit that failed."""
        self._ending.clear()


class _Ending:
    """How a round ended; each is another object."""

    __slots__ = ("how",)

    def __init__(self, how: str) -> None:
        self.how = how
