"""How much of a result a model is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Budget", "SMALLEST"]

Item = TypeVar("Item")

SMALLEST = 1000
"""Characters that a budget must have: names, places and notes need some."""

_FOR_NOTES = 400
_LONGEST_LINE = 300


class Budget:
    """Counts the characters of a result as JSON, and notes what was cut.

    Args:
        characters: that the whole result may have.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters - _FOR_NOTES
        self._notes: list[str] = []

    @property
    def note(self) -> str | None:
        """What was cut, and how to get it."""
        return " ".join(self._notes)[: _FOR_NOTES - 50] or None

    def line(self, text: str) -> str:
        """Return a text that belongs on one line, cut if it is long."""
        cut = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}…"
        self._left -= _size(cut)
        return cut

    def text(self, text: str, share: float, hint: str) -> str:
        """Return as many lines of a text as fit.

        Args:
            text: of any length.
            share: of what is left that it may take.
            hint: how to get the rest; `{line}` is the number of the first line that is missing, from 0.
        """
        room = max(int(self._left * share), 0)
        if _size(text) > room:
            lines = text.split("\n")
            kept: list[str] = []
            used = 2
            for line in lines:
                used += _size(line)
                if used > room:
                    break
                kept.append(line)
            self._notes.append(
                f"{len(lines) - len(kept)} of {len(lines)} lines are left out: {hint.format(line=len(kept))}."
            )
            text = "\n".join(kept)
        self._left -= _size(text)
        return text

    def items(self, items: Iterable[Item], share: float, what: str, hint: str = "", *, of: int) -> list[Item]:
        """Return as many items as fit.

        Args:
            items: JSON values; no more are made than fit.
            share: of what is left that they may take.
            what: what they are.
            hint: how to get the rest.
            of: how many there are of them, which may be more than `items`.
        """
        room = max(int(self._left * share), 0)
        kept: list[Item] = []
        for item in items:
            room -= _size(item) + 2
            if room < 0:
                break
            kept.append(item)
        if len(kept) < of:
            rest = f": {hint}." if hint else "."
            self._notes.append(f"{of - len(kept)} of {of} {what} are left out{rest}")
        self._left -= _size(kept)
        return kept


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))
