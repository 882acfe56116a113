"""In a JSON text that arrives in pieces, where do keys and values end?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from ..json_values import MAX_TEXT_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    MemberPart = Literal["key", "value"]
    _State = Callable[["GrowingJson", str, int], int]


_SPACE = re.compile(r"[ \t\n\r]*+")
# Characters that the parser takes inside a string at once: no control characters, no lone surrogates,
# only whole escapes.
_PLAIN = r'[^"\\\x00-\x1f\ud800-\udfff]*+'
_INSIDE_STRING = re.compile(rf'{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*+')
_ESCAPED = frozenset('"\\/bfnrt')
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_UNICODE_DIGITS = 4
_LITERALS = {"t": "rue", "f": "alse", "n": "ull"}

_DIGITS = "0123456789"
_NUMBER_PARTS: Mapping[str, Mapping[str, str]] = {
    "sign": {"0": "zero", **dict.fromkeys("123456789", "integer")},
    "zero": {".": "point", "e": "e", "E": "e"},
    "integer": {**dict.fromkeys(_DIGITS, "integer"), ".": "point", "e": "e", "E": "e"},
    "point": dict.fromkeys(_DIGITS, "fraction"),
    "fraction": {**dict.fromkeys(_DIGITS, "fraction"), "e": "e", "E": "e"},
    "e": {"+": "e_sign", "-": "e_sign", **dict.fromkeys(_DIGITS, "exponent")},
    "e_sign": dict.fromkeys(_DIGITS, "exponent"),
    "exponent": dict.fromkeys(_DIGITS, "exponent"),
}
"""Part of a number to the parts that each next character begins or continues."""

_NUMBER_BEGINS = {"-": "sign", **_NUMBER_PARTS["sign"]}
_NUMBER_MAY_END = frozenset({"zero", "integer", "fraction", "exponent"})


class GrowingJson:
    """A JSON text that arrives in pieces; each piece is read once.

    Args:
        within: the open brackets between which the parts lie that `read` gives: `{` for the members of the
            root, `{[` for the items of lists in it.

    Attributes:
        index: index of the first unread character of the piece; if the text is broken, of the character that
            broke it.
        broken: whether no further text can make it valid JSON.
        ended: whether the root has ended.
    """

    def __init__(self, within: str = "{") -> None:
        self._within = [*within]
        self.index = 0
        self.broken = False
        self.ended = False
        self._state: _State = GrowingJson._value
        self._brackets: list[str] = []
        self._part: MemberPart | None = None  # the part that is being read …
        self._start = 0  # … where it starts in this piece …
        self._pieces: list[str] = []  # … and what earlier pieces had of it
        self._finished = False
        self._is_key = False
        self._is_escaped = False
        self._hex_digits = 0
        self._literal = ""
        self._number = ""

    def read(self, piece: str) -> Iterator[tuple[MemberPart, str]]:
        """Read the next piece of the text; yield each key and value that ends in it.

        A yielded part has been read: a caller that stops in between can continue at `index`, with the rest of
        the piece.

        Yields:
            The kind of part that ended, with its JSON text.
        """
        self.index = self._start = 0
        while self.index < len(piece) and not self.broken:
            self.index = self._state(self, piece, self.index)
            if self._finished:
                yield self._take(piece)
        if self._part is not None:
            self._pieces.append(piece[self._start :])

    def _take(self, piece: str) -> tuple[MemberPart, str]:
        assert self._part is not None  # noqa: S101  # what is finished has begun
        part, text = self._part, "".join([*self._pieces, piece[self._start : self.index]])
        self._part, self._finished = None, False
        self._pieces.clear()
        return part, text

    def _begin(self, part: MemberPart, index: int) -> None:
        if self._brackets == self._within:
            self._part, self._start = part, index

    def _break(self, index: int) -> int:
        self.broken = True
        return index

    # --- what may come next ----------------------------------------------------------------------

    def _value(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        return self._begin_value(text, index) if index < len(text) else index

    def _first_item(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        if index == len(text):
            return index
        return self._close(index) if text[index] == "]" else self._begin_value(text, index)

    def _begin_value(self, text: str, index: int) -> int:
        self._begin("value", index)
        character = text[index]
        if character == '"':
            self._is_key = False
            self._state = GrowingJson._string
        elif character in "{[":
            return self._open(character, index)
        elif character in _NUMBER_BEGINS:
            self._number = _NUMBER_BEGINS[character]
            self._state = GrowingJson._inside_number
        elif character in _LITERALS:
            self._literal = _LITERALS[character]
            self._state = GrowingJson._inside_literal
        else:
            return self._break(index)
        return index + 1

    def _open(self, bracket: str, index: int) -> int:
        if len(self._brackets) == MAX_TEXT_DEPTH:
            return self._break(index)
        self._brackets.append(bracket)
        self._state = GrowingJson._first_key if bracket == "{" else GrowingJson._first_item
        return index + 1

    def _first_key(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        if index == len(text):
            return index
        return self._close(index) if text[index] == "}" else self._key(text, index)

    def _key(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        if index == len(text):
            return index
        if text[index] != '"':
            return self._break(index)
        self._begin("key", index)
        self._is_key = True
        self._state = GrowingJson._string
        return index + 1

    def _colon(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        if index == len(text):
            return index
        if text[index] != ":":
            return self._break(index)
        self._state = GrowingJson._value
        return index + 1

    def _after_value(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        if index == len(text):
            return index
        is_object = self._brackets[-1] == "{"
        if text[index] == ",":
            self._state = GrowingJson._key if is_object else GrowingJson._value
            return index + 1
        return self._close(index) if text[index] == ("}" if is_object else "]") else self._break(index)

    def _after_root(self, text: str, index: int) -> int:
        index = _skip_space(text, index)
        return index if index == len(text) else self._break(index)

    # --- what ends -------------------------------------------------------------------------------

    def _close(self, index: int) -> int:
        self._brackets.pop()
        self._end_value()
        return index + 1

    def _end_value(self) -> None:
        if self._brackets:
            self._finished = self._part is not None and len(self._brackets) == len(self._within)
            self._state = GrowingJson._after_value
        else:
            self.ended = True
            self._state = GrowingJson._after_root

    # --- inside a token --------------------------------------------------------------------------

    def _string(self, text: str, index: int) -> int:
        if self._is_escaped:
            return self._escape(text, index)
        index = _end_of(_INSIDE_STRING, text, index)
        if index == len(text):
            return index
        if text[index] == "\\":
            self._is_escaped = True
        elif text[index] != '"':
            return self._break(index)
        elif self._is_key:
            self._finished = self._part == "key"
            self._state = GrowingJson._colon
        else:
            self._end_value()
        return index + 1

    def _escape(self, text: str, index: int) -> int:
        character = text[index]
        if self._hex_digits:
            if character not in _HEX_DIGITS:
                return self._break(index)
            self._hex_digits -= 1
            self._is_escaped = self._hex_digits > 0
        elif character == "u":
            self._hex_digits = _UNICODE_DIGITS
        elif character in _ESCAPED:
            self._is_escaped = False
        else:
            return self._break(index)
        return index + 1

    def _inside_literal(self, text: str, index: int) -> int:
        if text[index] != self._literal[0]:
            return self._break(index)
        self._literal = self._literal[1:]
        if not self._literal:
            self._end_value()
        return index + 1

    def _inside_number(self, text: str, index: int) -> int:
        number = self._number
        while index < len(text):
            continued = _NUMBER_PARTS[number].get(text[index])
            if continued is None:
                break
            number = continued
            index += 1
        self._number = number
        if index == len(text):
            return index
        if number not in _NUMBER_MAY_END:
            return self._break(index)
        self._end_value()
        return index


def _skip_space(text: str, index: int) -> int:
    return _end_of(_SPACE, text, index)


def _end_of(pattern: re.Pattern[str], text: str, index: int) -> int:
    found = pattern.match(text, index)
    assert found is not None  # noqa: S101  # both patterns match the empty text
    return found.end()
