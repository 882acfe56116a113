"""How many tokens does a text take?"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|\s+|_")
_LETTERS = 10
"""A piece of text counts as one token for each ten characters or part of ten.

Measured with 270 definitions of tools, of 20 to 14,136 characters: the mean error against `o200k_base` is
4 %, and nine in ten estimates are within -10 and +8 %.
"""

_ENCODING = "o200k_base"


def count_tokens(text: str) -> int:
    """Return how many tokens a text takes.

    With `tiktoken` installed, these are tokens of OpenAI's newer models; otherwise, an estimate. Other
    providers count differently.
    """
    encode = _encoder()
    if encode is not None:
        return len(encode(text, disallowed_special=()))
    return sum([1 + (len(piece) - 1) // _LETTERS for piece in _PIECE.findall(text)])


def is_estimate() -> bool:
    """Return whether `count_tokens` only estimates."""
    return _encoder() is None


@cache
def _encoder() -> Callable[..., list[Any]] | None:
    try:
        encode: Callable[..., list[Any]] = import_module("tiktoken").get_encoding(_ENCODING).encode
    except Exception:  # noqa: BLE001  # it isn't installed, or can't download its table
        return None
    return encode
