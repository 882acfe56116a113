"""What does a regular expression of ECMA 262 mean, with the flag `u`, as JSON Schema requires?

See https://tc39.es/ecma262/#sec-patterns. Expressions that engines read in different ways are refused.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    Ranges: TypeAlias = tuple[tuple[int, int], ...]

MAX_PLACES: Final = 5000
"""The most places of an expression where a character is read, with its repetitions written out."""

_MOST_NESTED = 50


NOT_SHARED: Final = "it isn't an expression of ECMA 262, or engines read it in different ways"
TOO_LARGE: Final = "it is too large"
LOOKS_AHEAD: Final = "it looks at the text ahead, which is only possible right after a leading ^"
_LOOKS_BEHIND = "it looks at the text behind"
_REFERS = "it refers to a group"


class TooHardError(Exception):
    """An expression that no automaton can run, with the reason; it never leaves `linear_regex`."""

    def __init__(self, reason: str = NOT_SHARED) -> None:
        super().__init__(reason)


# --- expressions as trees ----------------------------------------------------------------------------

# The sides of a position in the text, before and after it: an end of the text, a word character, or another.
# Each pair of them is a bit, so that an assertion is a set of pairs in one number.
EDGE, WORD, OTHER = range(3)
SIDES = (EDGE, WORD, OTHER)


def side_bit(before: int, after: int) -> int:
    """Return the bit for a position between two sides."""
    return 1 << (before * 3 + after)


ALWAYS: Final = (1 << 9) - 1
_AT_START: Final = sum([side_bit(EDGE, after) for after in SIDES])
_AT_END: Final = sum([side_bit(before, EDGE) for before in SIDES])
_AT_BOUNDARY: Final = sum([side_bit(WORD, side) + side_bit(side, WORD) for side in (EDGE, OTHER)])


class Characters(NamedTuple):
    """A part that matches one character out of sorted ranges of code points."""

    ranges: Ranges


class Assertion(NamedTuple):
    """A part that matches the empty text, but only between certain pairs of sides."""

    sides: int


class Sequence(NamedTuple):
    """A part that matches its items one after the other."""

    items: tuple[Expression, ...]


class Choice(NamedTuple):
    """A part that matches one of several branches."""

    branches: tuple[Expression, ...]


class Repeat(NamedTuple):
    """A part that matches its body repeatedly, without an upper limit if `most` is None."""

    body: Expression
    least: int
    most: int | None


class Look(NamedTuple):
    """A lookahead: its body must match here, or must not."""

    body: Expression
    is_negated: bool


if TYPE_CHECKING:
    Expression: TypeAlias = Characters | Assertion | Sequence | Choice | Repeat | Look

START = Assertion(_AT_START)
END = Assertion(_AT_END)


def _size(node: Expression) -> int:
    """Return the number of places of an expression; parts without a place count as one."""
    match node:
        case Sequence(items) | Choice(items):
            return 1 + sum(map(_size, items))
        case Repeat(body, least, most):
            return _size(body) * max(least, 1 if most is None else most)
        case _:
            return 1


# --- reading -----------------------------------------------------------------------------------------

LAST_CODE = sys.maxunicode


def _ranges(text: str) -> Ranges:
    """Return the ranges in a text of pairs of characters, the first and last of each range."""
    return _merged([(ord(low), ord(high)) for low, high in zip(text[::2], text[1::2], strict=True)])


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def _without(ranges: Ranges) -> Ranges:
    """Return the ranges of all other characters."""
    edges = [-1, *[edge for pair in ranges for edge in pair], LAST_CODE + 1]
    gaps = [(edges[i] + 1, edges[i + 1] - 1) for i in range(0, len(edges), 2)]
    return tuple([(low, high) for low, high in gaps if low <= high])


_DIGITS = _ranges("09")
WORDS = _ranges("09AZ__az")
_SPACES = _ranges(
    "\t\r  \xa0\xa0\u1680\u1680\u2000\u200a\u2028\u2029\u202f\u202f\u205f\u205f\u3000\u3000\ufeff\ufeff"
)
_LINE_ENDS = _ranges("\n\n\r\r\u2028\u2029")
_CLASSES: Final[Mapping[str, Ranges]] = {
    "d": _DIGITS,
    "D": _without(_DIGITS),
    "w": WORDS,
    "W": _without(WORDS),
    "s": _SPACES,
    "S": _without(_SPACES),
}
_CONTROLS: Final[Mapping[str, str]] = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_HEX = {"x": 2, "u": 4}
_HIGH_SURROGATES, _LOW_SURROGATES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_ANY = Characters(_without(_LINE_ENDS))


def _category(name: str) -> Ranges:
    """Return the characters of a general category of Unicode such as `Lu`, or of a group of them such as `L`.

    Raises:
        LookupError: there is no such category.
    """
    if not name:
        raise LookupError
    short = _LONG_NAMES.get(name, name)
    found = [ranges for category, ranges in _categories().items() if category.startswith(short)]
    if not found:
        raise LookupError
    return _merged([pair for ranges in found for pair in ranges])


_LONG_NAMES: Final[Mapping[str, str]] = {
    "Decimal_Number": "Nd",
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Mark": "M",
    "Number": "N",
    "Punctuation": "P",
    "Separator": "Z",
    "Symbol": "S",
    "Uppercase_Letter": "Lu",
    "digit": "Nd",
    "punct": "P",
}


@cache
def _categories() -> Mapping[str, Ranges]:
    from unicodedata import category

    found: dict[str, list[tuple[int, int]]] = {}
    start, last = 0, category("\0")
    for code in range(1, LAST_CODE + 1):
        this = category(chr(code))
        if this != last:
            found.setdefault(last, []).append((start, code - 1))
            start, last = code, this
    found.setdefault(last, []).append((start, LAST_CODE))
    return {name: tuple(ranges) for name, ranges in found.items()}


def read_expression(text: str) -> Expression:
    """Read an expression.

    Raises:
        TooHardError: the expression isn't ECMA 262 in the spelling that all engines share, or is too large.
    """
    try:
        return _Parser(text).whole()
    except (LookupError, ValueError):
        raise TooHardError from None


_REFERENCES = frozenset("123456789k")
"""Characters that make a reference to a group after a backslash."""


class _Parser:
    """Reads the text of an expression once, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> Expression:
        tree = self._choice()
        if self.at < len(self.text):
            raise TooHardError
        if _size(tree) > MAX_PLACES:
            raise TooHardError(TOO_LARGE)
        return tree

    def _next(self) -> str:
        """Consume the next character and return it; raise LookupError at the end."""
        character = self.text[self.at]
        self.at += 1
        return character

    def _takes(self, text: str) -> bool:
        """Consume a text if it comes next; return whether it did."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _while(self, allowed: str) -> str:
        start = self.at
        while self.text[self.at : self.at + 1] and self.text[self.at] in allowed:
            self.at += 1
        return self.text[start : self.at]

    def _choice(self) -> Expression:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise TooHardError(TOO_LARGE)
        branches = [self._sequence()]
        while self._takes("|"):
            branches.append(self._sequence())
        self.depth -= 1
        return Choice(tuple(branches)) if len(branches) > 1 else branches[0]

    def _sequence(self) -> Expression:
        items: list[Expression] = []
        while self.text[self.at : self.at + 1] not in {"", "|", ")"}:
            items.append(self._quantified(self._one()))
        return Sequence(tuple(items))

    def _one(self) -> Expression:
        match self._next():
            case "^":
                return START
            case "$":
                return END
            case "(":
                return self._group()
            case ".":
                return _ANY
            case "[":
                return self._class()
            case "\\" if self._takes("b"):
                return Assertion(_AT_BOUNDARY)
            case "\\" if self._takes("B"):
                return Assertion(ALWAYS & ~_AT_BOUNDARY)
            case "\\":
                return Characters(self._escape())
            case "*" | "+" | "?":
                raise TooHardError
            case "{" if self.text[self.at : self.at + 1] in {*"0123456789,"}:  # engines differ
                raise TooHardError
            case character:
                return Characters(((ord(character), ord(character)),))

    def _group(self) -> Expression:
        if self._takes("?:"):
            body = self._choice()
        elif self._takes("?="):
            body = Look(self._choice(), is_negated=False)
        elif self._takes("?!"):
            body = Look(self._choice(), is_negated=True)
        else:
            if self._takes("?<=") or self._takes("?<!"):
                raise TooHardError(_LOOKS_BEHIND)
            if self._takes("?<"):
                name = self.text[self.at : self.text.index(">", self.at)]
                if not name.isidentifier():
                    raise TooHardError
                self.at += len(name) + 1
            elif self._takes("?"):
                raise TooHardError
            body = self._choice()
        self._next()  # the parenthesis: at the end of the text there is none
        return body

    def _quantified(self, body: Expression) -> Expression:
        least, most = self._counts()
        if (least, most) == (1, 1):
            return body
        if isinstance(body, (Assertion, Look)):
            raise TooHardError
        self._takes("?")  # a lazy quantifier: it affects which match is found, not whether there is one
        if self.text[self.at : self.at + 1] in {*"*+?"}:
            raise TooHardError
        return Repeat(body, least, most)

    def _counts(self) -> tuple[int, int | None]:
        if self._takes("*"):
            return 0, None
        if self._takes("+"):
            return 1, None
        if self._takes("?"):
            return 0, 1
        if not self._takes("{"):
            return 1, 1
        if self.text[self.at : self.at + 1] not in {*"0123456789,"}:  # a brace
            self.at -= 1
            return 1, 1
        least = int(self._while("0123456789"))
        most: int | None = least
        if self._takes(","):
            digits = self._while("0123456789")
            most = int(digits) if digits else None
        if not self._takes("}") or (most is not None and most < least):
            raise TooHardError
        if (least, most) == (1, 1):
            self._takes("?")
        return least, most

    # --- sets of characters ----------------------------------------------------------------------

    def _escape(self) -> Ranges:
        """Read an escape sequence after its backslash; return the characters that it stands for."""
        character = self._next()
        if character in _CLASSES:
            return _CLASSES[character]
        if character in "pP":
            if self._next() != "{":
                raise TooHardError
            name = self.text[self.at : self.text.index("}", self.at)]
            self.at += len(name) + 1
            found = _category(name.removeprefix("gc=").removeprefix("General_Category="))
            return found if character == "p" else _without(found)
        code = ord(self._escaped(character))
        return ((code, code),)

    def _escaped(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "c":
            letter = self._next()
            if not (letter.isascii() and letter.isalpha()):
                raise TooHardError
            return chr(ord(letter) % 32)
        if character == "0" and not self._while("0123456789"):
            return "\0"
        if character in _HEX:
            return self._hexadecimal(character)
        if character in _REFERENCES:
            raise TooHardError(_REFERS)
        if character.isascii() and (character.isalnum() or character == "_"):
            raise TooHardError
        return character

    def _hexadecimal(self, kind: str) -> str:
        if kind == "u" and self._takes("{"):
            digits = self._while("0123456789abcdefABCDEF")
            if not self._takes("}"):
                raise TooHardError
            return chr(int(digits, 16))
        code = self._code(_HEX[kind])
        if code in _HIGH_SURROGATES and self._takes("\\u"):
            low = self._code(4)
            if low not in _LOW_SURROGATES:
                raise TooHardError
            return chr(0x10000 + (code - _HIGH_SURROGATES.start) * 0x400 + low - _LOW_SURROGATES.start)
        return chr(code)

    def _code(self, length: int) -> int:
        digits = self.text[self.at : self.at + length]
        if len(digits) < length or not digits.isalnum():
            raise TooHardError
        self.at += length
        return int(digits, 16)

    def _class(self) -> Expression:
        is_negated = self._takes("^")
        if self._takes("]"):  # `[]` and `[^]` match nothing or everything here; other engines read a bracket
            raise TooHardError
        found: list[tuple[int, int]] = []
        while not self._takes("]"):
            low = self._member()
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                found += _span(low, self._member())
            else:
                found += low
        ranges = _merged(found)
        return Characters(_without(ranges) if is_negated else ranges)

    def _member(self) -> Ranges:
        character = self._next()
        if character != "\\":
            return ((ord(character), ord(character)),)
        return _ranges("\b\b") if self._takes("b") else self._escape()


def _span(low: Ranges, high: Ranges) -> Ranges:
    """Return the characters of a range such as `a-z` in a class, given its two ends."""
    if not _is_one(low) or not _is_one(high):  # as in `[\\w-.]`, where a hyphen can only be itself
        return (*low, (ord("-"), ord("-")), *high)
    if low[0][0] > high[0][0]:
        raise TooHardError
    return ((low[0][0], high[0][0]),)


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
