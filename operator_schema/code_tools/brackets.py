"""Brackets that are open, or closed twice, in languages with braces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .language import SyntaxProblem

if TYPE_CHECKING:
    import re

__all__ = ["bracket_problem", "position_in"]

_PAIRS = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _PAIRS.items()}


def bracket_problem(code: str, tokens: re.Pattern[str]) -> SyntaxProblem | None:
    """Return what is wrong with the brackets of a snippet; None if each is closed.

    Args:
        code: the snippet.
        tokens: matches strings, characters and comments as a whole, and single brackets.
    """
    opened: list[tuple[str, int]] = []
    for match in tokens.finditer(code):
        token = match.group()
        if token in _CLOSING:
            opened.append((token, match.start()))
        elif token in _PAIRS:
            if not opened:
                message = f"'{token}' closes what was never opened"
                return SyntaxProblem(
                    *position_in(code, match.start()), message, f"Remove '{token}', or open it"
                )
            before, place = opened.pop()
            if before != _PAIRS[token]:
                line, column = position_in(code, place)
                message = f"'{token}' does not close '{before}' of line {line}, column {column}"
                hint = f"Write '{_CLOSING[before]}' first"
                return SyntaxProblem(*position_in(code, match.start()), message, hint)
    if not opened:
        return None
    before, place = opened[-1]
    closing = _CLOSING[before]
    message = f"missing closing {_WORDS[closing]}: '{before}' is never closed"
    return SyntaxProblem(*position_in(code, place), message, f"Add '{closing}'")


_WORDS = {")": "parenthesis", "]": "bracket", "}": "brace"}


def position_in(code: str, offset: int) -> tuple[int, int]:
    """Return line and column of a character, both from 1."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)
