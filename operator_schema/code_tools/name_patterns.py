"""How are the names that match a pattern found quickly?"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NEWLINE = "\n"
_END = re.escape(_NEWLINE)
_USEFUL = 3
"""Letters that a text needs so that looking for it first saves time."""


def lines_of(names: Iterable[str], *, any_case: bool) -> str:
    """Join names into one text with a line for each, as `NameTable` needs it."""
    text = "".join([f"{name.replace(_NEWLINE, ' ')}\n" for name in names])
    return text.casefold() if any_case else text


class NameTable:
    """Finds the names that match a pattern in many files at once, without looking at each name.

    Args:
        texts: what `lines_of` returns for each file.
    """

    __slots__ = ("_starts", "_text")

    def __init__(self, texts: Sequence[str]) -> None:
        self._text = "\n" + "".join(texts)
        self._starts = list(accumulate(map(len, texts), initial=1))

    def matches(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        """Yield each match: the number of its file, and its number in that file, both from 0."""
        text, starts = self._text, self._starts
        end, counted, file, line = 0, 0, 0, 0
        for begin in pattern.begins(text):
            if begin >= end:
                file, line = bisect_right(starts, begin) - 1, 0
                counted, end = starts[file], starts[file + 1]
            line += text.count("\n", counted, begin)
            counted = begin
            yield file, line


class Pattern:
    """A pattern of names: `*` stands for any characters, `?` for one.

    Args:
        text: the pattern.
        any_case: whether upper and lower case are ignored.
    """

    __slots__ = ("_checked", "_literal", "any_case")

    def __init__(self, text: str, *, any_case: bool = False) -> None:
        # As in the names: the end of a line is only between them.
        text = text.replace(_NEWLINE, " ")
        folded = text.casefold() if any_case else text
        parts = re.sub(r"\*+", "*", f"\n{folded}\n").split("*")
        self.any_case = any_case
        # A line end is no help, because each line has one.
        literals = [literal for part in parts for literal in part.split("?")]
        self._literal = max(literals, key=lambda literal: len(literal.strip(_NEWLINE)))
        # With a single literal, each place that has it fits.
        is_simple = "?" not in text and len([part for part in parts if part != "\n"]) == 1
        self._checked = None if is_simple else re.compile(_expression(parts))

    def begins(self, text: str) -> Iterator[int]:
        """Yield where each matching line of a text begins; the text begins with an empty line."""
        literal, checked = self._literal, self._checked
        if checked is not None and len(literal) < _USEFUL:
            yield from (found.start() + 1 for found in checked.finditer(text))
            return
        place = text.find(literal)
        while 0 <= place < len(text) - 1:
            begin = text.rfind("\n", 0, place + 1) + 1
            if checked is None or checked.match(text, begin - 1):
                yield begin
            # The end of one line is in front of the next one.
            place = text.find(literal, text.find("\n", begin))


def _expression(parts: list[str]) -> str:
    """Join the parts of a pattern between its stars into an expression that never backtracks."""
    escaped = [re.escape(part).replace(r"\?", ".") for part in parts]
    escaped[-1] = f"{escaped[-1].removesuffix(_END)}(?=\n)"
    if len(parts) == 1:
        return escaped[0]
    middle = "".join([f"(?>.*?{part})" for part in escaped[1:-1]])
    return f"{escaped[0]}{middle}.*{escaped[-1]}"
