"""Text that arrives in pieces."""

from __future__ import annotations

from typing import Any

from .response_json import checked_text, joined


class GrowingText:
    """A text that arrives in pieces; reading it takes time only for new pieces.

    Args:
        between: text between the pieces of two parts.

    Attributes:
        new: the pieces since this was last emptied; half of a character is held back until the rest comes.
        is_held: whether the pieces so far aren't shown yet; only a `HeldText` does that.
    """

    __slots__ = ("new", "_between", "_half", "_joined", "_length", "_part", "_pieces", "_text")

    is_held = False

    def __init__(self, between: str = "") -> None:
        self.new: list[str] = []
        self._between = between
        self._part: Any = None
        self._half = ""
        self._length = 0
        self._pieces: list[str] = []
        self._joined = 0  # the number of pieces that are in `_text`
        self._text = ""

    def add(self, text: Any, part: Any = None) -> None:
        """Append the next piece.

        Args:
            text: the piece.
            part: the part of the whole text that the piece belongs to.

        Raises:
            TypeError: the piece isn't text.
        """
        text = checked_text(text)
        if not text:
            return
        if self._pieces and part != self._part:
            text = self._between + text
        self._part = part
        if self._half or not text.isascii():
            # The two surrogates of a character beyond U+FFFF may be in two pieces.
            text = joined([self._half, text])
            self._half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
            text = text.removesuffix(self._half)
        self._length += len(text)
        self._pieces.append(text)
        self.new.append(text)

    def __len__(self) -> int:
        return self._length + len(self._half)

    @property
    def text(self) -> str:
        """The text so far."""
        if self._joined < len(self._pieces):
            text, self._text = self._text, ""  # without another reference, Python appends in place
            for piece in self._pieces[self._joined :]:
                text += piece
            self._joined, self._text = len(self._pieces), text
        return f"{self._text}{self._half}" if self._half else self._text

    def since(self, number: int) -> tuple[int, str]:
        """Return the number of pieces so far, and the text of the pieces after a given number."""
        return len(self._pieces), "".join(self._pieces[number:])

    def release(self) -> None:
        """Show the pieces that are held back, if any."""

    def drop(self) -> None:
        """Never show the pieces that are held back, if any."""
