"""Texts that fit a terminal of 80 columns."""

from __future__ import annotations

import re

WIDTH = 79
"""The longest line that is printed."""

SHOWN = 200
"""The longest text that is shown whole."""


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Break the lines of a text after spaces and commas where they would be too long.

    Args:
        text: one or more lines.
        first: prefix of each line of the text.
        rest: prefix of the lines that continue a line.
    """
    return "\n".join([_wrapped_line(line, first, rest) for line in text.splitlines()])


def shortened(text: str) -> str:
    """Return the beginning of a long text, up to the end of a word, and its length."""
    if len(text) <= SHOWN:
        return text
    shown = ""
    for piece in _pieces(text):
        if len(shown) + len(piece) > SHOWN:
            break
        shown += piece
    return f"{shown.rstrip()} ... ({len(text):,} characters)"


def _wrapped_line(line: str, first: str, rest: str) -> str:
    lines = [first]
    for piece in _pieces(line):
        if len(lines[-1]) + len(piece.rstrip()) > WIDTH:
            lines.append(rest)
        lines[-1] += piece
    return "\n".join([filled.rstrip() for filled in lines])


def _pieces(text: str) -> list[str]:
    return re.findall(r"[^\s,]*[\s,]+|[^\s,]+$", text)
