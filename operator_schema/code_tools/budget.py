"""How is an answer kept short, and how does it say what was left out?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from ..message_text import clip

if TYPE_CHECKING:
    from collections.abc import Iterable

Item = TypeVar("Item")

SMALLEST = 1000
"""Characters that a budget must have: names, places and notes need some."""

_FOR_NOTES = 400
_LONGEST_LINE = 300


class Budget:
    """Limits the characters of a result as JSON, and remembers what was cut.

    Args:
        characters: that the whole result may have.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters - _FOR_NOTES
        self._notes: list[str] = []

    @property
    def note(self) -> str | None:
        """A sentence about what was cut, and how to get it."""
        return " ".join(self._notes)[: _FOR_NOTES - 50] or None

    def line(self, text: str) -> str:
        """Return a text for one line, cut if it is long."""
        cut = clip(text, _LONGEST_LINE)
        self._left -= _size(cut)
        return cut

    def text(self, text: str, share: float, hint: str, *, first: int = 0) -> str:
        """Return as many lines of a text as fit.

        Args:
            text: of any length.
            share: the part of the remaining characters that the text may take.
            hint: how to get the rest; `{line}` is the number of the first line that is missing.
            first: number of the first line.
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
            missing, how = len(lines) - len(kept), hint.format(line=first + len(kept))
            self._notes.append(f"{missing} of {len(lines)} lines are left out: {how}.")
            text = "\n".join(kept)
        self._left -= _size(text)
        return text

    def items(self, items: Iterable[Item], share: float, what: str, hint: str = "", *, of: int) -> list[Item]:
        """Return as many items as fit.

        Args:
            items: JSON values; the iterator is read only as long as they fit.
            share: the part of the remaining characters that the items may take.
            what: the word for the items in the note.
            hint: how to get the rest.
            of: the number of all items, which may be larger than that of `items`.
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


def join_notes(*notes: str | None) -> str:
    """Join notes with spaces, and leave out the empty ones."""
    return " ".join(filter(None, notes))
