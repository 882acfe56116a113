"""How are the lines of a log read? By orjson where it is installed, with the refusals of our own reader."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..codec.json_text import read_faultless
from ..codec.problems import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Read = Callable[[bytes], tuple[Sequence[bytes | str], list[Any]]]

_LONGEST_NUMBER = 18
"""Digits of any integer that fits into 64 bits: orjson makes floats of larger ones."""

_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_TOO_LONG = b"0" * (_LONGEST_NUMBER + 1)

_WRITTEN_COLON = b"\\u003"
"""How an escape begins that may be a colon."""


@cache
def line_reader() -> Read:
    """Return a function that reads whole lines.

    It takes the bytes of some lines, and returns the lines and their values. The value of a line that isn't
    JSON is `GiveUp`, as from `read_faultless`; also of a few that orjson may read as other values.
    """
    try:
        orjson: Any = import_module("orjson")
    except ImportError:
        return _read_lines
    return _orjson_reader(orjson.loads, orjson.dumps)


def _read_lines(block: bytes) -> tuple[Sequence[bytes | str], list[Any]]:
    # Decoding all lines at once takes a fifth of the time.
    lines = block.decode().split("\n") if block.isascii() else block.split(b"\n")
    return lines, [read_faultless(line) for line in lines]


def _orjson_reader(loads: Callable[[bytes], Any], dumps: Callable[[Any], bytes]) -> Read:
    def read_line(line: bytes) -> Any:
        try:
            return loads(line)
        except ValueError:
            return GiveUp

    def is_whole(text: bytes, values: Any) -> bool:
        """Return whether values are certainly those of a text."""
        try:
            colons = dumps(values).count(b":")
        except TypeError:  # they nest deeper than what `dumps` writes, or one is `GiveUp`
            return False
        # Of equal keys orjson keeps the last one: then the value has fewer members, and so fewer colons.
        is_whole = colons == text.count(b":") and _WRITTEN_COLON not in text
        return is_whole and _TOO_LONG not in text.translate(_ZEROS)

    def read(block: bytes) -> tuple[Sequence[bytes | str], list[Any]]:
        lines = block.split(b"\n")
        try:
            values = [loads(line) for line in lines]
        except ValueError:  # most blocks have no line like this, and asking about each line costs more
            values = [read_line(line) for line in lines]
        if not is_whole(block, values):
            pairs = zip(lines, values, strict=True)
            values = [value if is_whole(line, value) else GiveUp for line, value in pairs]
        return lines, values

    return read
