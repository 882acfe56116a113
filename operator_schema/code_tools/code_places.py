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
    """Finds the declaration, string or comment around a place in a file."""

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
        self._read = 0
        """A place in code, from which on strings and comments are looked for."""
        self._ahead: tuple[int, int] | None = None
        """The next string or comment behind it, once that is found."""
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
        """Return the string or comment around a place; callers must ask for places in ascending order."""
        begin = self._begin(at)
        if at < self._read or (self._ahead is not None and begin > self._ahead[0]):
            self._read, self._ahead = begin, None
        self._read = max(self._read, begin)
        while True:
            if self._ahead is None:
                self._text = self._text or self._source.decode("latin-1")
                found = self._language.hidden.search(self._text, self._read)
                self._ahead = (len(self._text), len(self._text)) if found is None else found.span()
            start, end = self._ahead
            if at < start:
                return None
            if at < end:
                return start, end
            self._read, self._ahead = end, None

    def _begin(self, at: int) -> int:
        """Return the nearest place before `at` that is certainly code, where reading can begin."""
        place = self._before(at)
        if place < 0:
            return 0
        # Declarations begin in code, and after a docstring there is code again.
        start, end = self._declarations[place].whole.start, self._declarations[place].doc.end
        if not start < end <= at:
            return start
        return end + (3 if self._source.startswith((b'"""', b"'''"), end) else 1)
