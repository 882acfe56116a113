"""What is around a place in a file: which declarations, and is it in a string or a comment?"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .language import Declaration, Language

_TYPE_TEXT = re.compile(rb"['\"][\w.\[\], |]+['\"]")
_BEFORE_TYPE = re.compile(rb"(?::|->|\w\[|\|)[ \t]*\Z")
_EXPORTED = re.compile(rb"__all__\s*(?:\+?=|\.\w+\()\s*[\[(][^\])]*\Z")
_LONGEST_LIST = 20_000
_MOST_BEFORE = 3000
"""Declarations before a place among which the one around it is looked for."""
_START = attrgetter("whole.start")


class Places:
    """Finds the declaration, string or comment around a place in a file.

    Args:
        declarations: of the file.
        language: of the file.
        source: its text.
    """

    def __init__(self, declarations: Sequence[Declaration], language: Language, source: bytes) -> None:
        self._source = source
        self._text = ""
        """The source with a character for each byte, where it is needed."""
        self._declarations = declarations
        self._language = language
        self._is_python = language.name == "python"
        self._exports: bool | None = None
        """Whether it has a list of the names that it exports; None until that is asked."""
        self._nearest: tuple[int, int] = (-1, -1)
        """The place that was last looked up, and the index of the last declaration before it."""
        self._begun = -1
        self._read = 0
        """A place in code, up to which is read what began at another one."""
        self._ahead: tuple[int, int] | None = None
        """The next string or comment behind it, once that is found."""
        self._signs: list[tuple[int, bool]] = []
        """For each text of `Language.spanning` a place, and whether it is there; else it isn't before it."""
        self._line_of: tuple[int, int] = (-1, 0)
        """A place, and where its line begins."""
        self._lines: tuple[int, int] = (0, 1)

    def line(self, at: int) -> int:
        """Return the line number of a place; callers must ask for places in ascending order."""
        place, line = self._lines
        if at < place:
            place, line = 0, 1
        if self._is_python:  # the line of a function is the one where its head begins
            number = self._before(at)
            near = self._declarations[number] if number >= 0 else None
            if near is not None and near.head.end and place < near.head.start <= at:
                place, line = near.head.start, near.line
        line += self._source.count(b"\n", place, at)
        self._lines = at, line
        return line

    def text(self, at: int) -> str:
        """Return the text of the line around a place."""
        begin = self._source.rfind(b"\n", 0, at) + 1
        end = self._source.find(b"\n", at)
        return self._source[begin : len(self._source) if end < 0 else end].decode(errors="replace").strip()

    def around(self, at: int) -> list[Declaration]:
        """Return the declarations around a place, the outermost first."""
        last = self._before(at)
        found: list[Declaration] = []
        for number in range(last, max(last + 1 - _MOST_BEFORE, 0) - 1, -1):
            one = self._declarations[number]
            if one.whole.end > at:
                found.append(one)
                if "." not in one.qualified:
                    break
            elif "." not in one.qualified and one.whole.start < at:
                break
        return found[::-1]

    def is_code(self, at: int) -> bool:
        """Return whether a place is code: not in a comment or string, or in the code inside of a string."""
        token = self._token(at)
        if token is None:
            return True
        start, _ = token
        prefix = self._source[max(start - 2, 0) : start].lower()
        if not self._is_python or b"f" not in prefix:
            return False
        return self._source.rfind(b"{", start, at) > self._source.rfind(b"}", start, at)

    def is_type(self, at: int) -> bool:
        """Return whether a place is in a type that is written as a string."""
        token = self._token(at)
        if token is None or not self._is_python:
            return False
        start, end = token
        before = _BEFORE_TYPE.search(self._source, max(start - 20, 0), start)
        return before is not None and _TYPE_TEXT.fullmatch(self._source, start, end) is not None

    def is_exported(self, at: int) -> bool:
        """Return whether a place is in `__all__` of a module of Python."""
        if self._exports is None:
            self._exports = self._is_python and b"__all__" in self._source
        if not self._exports:
            return False
        start = self._source.rfind(b"__all__", max(at - _LONGEST_LIST, 0), at)
        return start >= 0 and _EXPORTED.match(self._source, start, at) is not None

    def _before(self, at: int) -> int:
        """Return the index of the last declaration that begins before a place; -1 if there is none."""
        if self._nearest[0] != at:
            self._nearest = at, bisect_right(self._declarations, at, key=_START) - 1
        return self._nearest[1]

    def _token(self, at: int) -> tuple[int, int] | None:
        """Return the string or comment around a place; callers must ask for places in ascending order.

        Before the line of the place, only lines are read with something that may go on behind their end.
        """
        begin = self._begin(at)
        if begin != self._begun or at < self._read:
            self._begun, self._read, self._ahead, self._signs = begin, begin, None, []
            self._line_of = -1, 0
        while True:
            if self._ahead is None:
                self._text = self._text or self._source.decode("latin-1")
                found = self._language.hidden.search(self._text, self._line_to_read(at))
                self._ahead = (len(self._text), len(self._text)) if found is None else found.span()
            start, end = self._ahead
            if at < start:
                return None
            if at < end:
                return start, end
            self._read, self._ahead = end, None

    def _line_to_read(self, at: int) -> int:
        """Return a place in code before which no string or comment can reach a given place."""
        sign = self._next_sign(at)
        if self._line_of[0] != sign:
            last = sign
            start = self._text.rfind("\n", self._read, last) + 1
            while sign < at and start > self._read and not self._text[start:last].strip():
                last = start - 1  # what the sign belongs to may begin in the line before
                start = self._text.rfind("\n", self._read, last) + 1
            self._line_of = sign, start
        return max(self._line_of[1], self._read)

    def _next_sign(self, at: int) -> int:
        """Find the first sign, such as a quote, of a string or comment that may continue on the next line."""
        signs = self._language.spanning
        if not self._signs:
            self._signs = [(self._read, False)] * len(signs)
        nearest = at
        for number, sign in enumerate(signs):
            place, is_there = self._signs[number]
            if place < self._read or (place < at and not is_there):
                # One of its letters may be before the place.
                place = self._source.find(
                    sign, self._read if is_there else max(self._read, place - len(sign)), at
                )
                is_there = place >= 0
                self._signs[number] = (place, True) if is_there else (at, False)
            if is_there:
                nearest = min(nearest, place)
        return nearest

    def _begin(self, at: int) -> int:
        """Return where to begin reading in order to know whether `at` is in a string."""
        place = self._before(at)
        if place < 0:
            return 0
        # Declarations begin in code, and after a docstring there is code again.
        start, end = self._declarations[place].whole.start, self._declarations[place].doc.end
        if not start < end <= at:
            return start
        return end + (3 if self._source.startswith((b'"""', b"'''"), end) else 1)
