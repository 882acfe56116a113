"""When is the text of a stream shown that may turn out to consist of calls?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .growing_text import GrowingText
from .response_json import checked_text
from .text_calls import THOUGHTS, may_become_calls

if TYPE_CHECKING:
    from collections.abc import Collection

_END_ALONE = "</think>"
"""The end mark of a thought whose start the template wrote, so that the answer doesn't have it."""

_SHORT = 50
"""The length up to which a text is checked after each piece."""


class HeldText(GrowingText):
    """A text that may turn out to consist of calls: it isn't shown until that is decided.

    A thought of the model at the beginning is shown at once.

    Args:
        offered: the names on the wire of the tools that the model may call.

    Attributes:
        is_held: whether the decision is still open.
    """

    __slots__ = (
        *("is_held", "_has_thought", "_length_held", "_next_look"),
        *("_offered", "_thought_end", "_waiting"),
    )

    def __init__(self, offered: Collection[str]) -> None:
        super().__init__(between="\n")
        self.is_held = True
        self._offered = offered
        self._waiting: list[tuple[str, Any]] = []
        self._length_held = self._next_look = 0
        self._has_thought = False
        # None while a thought may begin the text; empty if none does, and after its end.
        self._thought_end: str | None = None

    def add(self, text: Any, part: Any = None) -> None:
        """Append the next piece, and show the text as soon as it can't be a call any more."""
        if not self.is_held:
            super().add(text, part)
            return
        self._waiting.append((checked_text(text), part))
        self._length_held += len(text)
        if self._length_held >= self._next_look:
            self._decide()

    def release(self) -> None:
        """Show the text that was held back, since it isn't a call."""
        if self.is_held:
            self.is_held = False
            self._show_first(self._length_held)

    def drop(self) -> None:
        """Never show the text, since it consists of calls; a thought before them is shown."""
        self._decide()
        self.is_held = False
        self._waiting.clear()

    def _decide(self) -> None:
        """Show as much of the text as can't belong to a call any more."""
        text = "".join([piece for piece, _ in self._waiting])
        if self._thought_end is None:
            self._thought_end = _end_of_thought(text)
        if self._thought_end:
            text = self._show_thought(text, self._thought_end)
        if self._thought_end != "":
            return
        # A long text is checked only a few times, so that all checks together take linear time.
        self._next_look = max(len(text) + 1, len(text) * 3 // 2 - _SHORT)
        if may_become_calls(text, self._offered):
            return
        if self._has_thought:
            self.release()
        else:  # the model's template may have written the beginning of a thought
            self._thought_end, self._next_look = _END_ALONE, 0
            self._decide()

    def _show_thought(self, text: str, end: str) -> str:
        """Show a thought, and return the text after it; hold back a possible beginning of its end mark."""
        before, found, after = text.partition(end)
        if found:
            self._has_thought, self._thought_end = True, ""
            self._show_first(len(before) + len(found))
        else:
            sizes = range(len(end) - 1, -1, -1)
            self._show_first(len(before) - next(size for size in sizes if text.endswith(end[:size])))
        return after

    def _show_first(self, length: int) -> None:
        """Show the first characters of the text that waits."""
        self._length_held -= length
        waiting, self._waiting = self._waiting, []
        for piece, part in waiting:
            super().add(piece[:length], part)
            if piece[length:]:
                self._waiting.append((piece[length:], part))
            length = max(length - len(piece), 0)


def _end_of_thought(text: str) -> str | None:
    """Return the mark that ends the thought at the beginning of a text.

    Returns:
        An empty text if it doesn't begin with a thought; None if that isn't known yet.
    """
    begin = text.lstrip()
    for start, end in THOUGHTS.items():
        if begin.startswith(start):
            return end
    return None if any(start.startswith(begin) for start in THOUGHTS) else ""
