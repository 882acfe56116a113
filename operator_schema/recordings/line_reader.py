"""What reads the lines of a log? orjson where it is installed, with the refusals of our own reader."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..codec.json_text import read_faultless
from ..codec.problems import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[bytes], Any]

__all__ = ["line_reader"]

_LONGEST_NUMBER = 18
"""Digits of any integer that fits into 64 bits: orjson makes floats of larger ones."""

_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_TOO_LONG = b"0" * (_LONGEST_NUMBER + 1)

_WRITTEN_COLON = b"\\u003"
"""How an escape begins that may be a colon."""


@cache
def line_reader() -> Read:
    """Return a function that reads a text without faults, as `read_faultless` does.

    It returns `GiveUp` for any other text, and for a few that orjson may read as other values.
    """
    try:
        orjson: Any = import_module("orjson")
    except ImportError:
        return read_faultless
    loads, dumps = orjson.loads, orjson.dumps

    def read(text: bytes) -> Any:
        try:
            value = loads(text)
            colons = dumps(value).count(b":")
        except (ValueError, TypeError):  # it has a fault, or nests deeper than what `dumps` writes
            return GiveUp
        # Of equal keys orjson keeps the last one: then the value has fewer members, and so fewer colons.
        is_whole = colons == text.count(b":") and _WRITTEN_COLON not in text
        return value if is_whole and _TOO_LONG not in text.translate(_ZEROS) else GiveUp

    return read
