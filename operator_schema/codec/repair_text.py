"""Text that is nearly JSON, made JSON: only where one reading is left.

What is mended: a Markdown fence around the text, comments, trailing commas, strings in single quotes,
Python's `True`, `False` and `None`. Nothing is completed: text that was cut off stays as it is, and so
does all that would have to be guessed.
"""

from __future__ import annotations

import json
import re
import sys

__all__ = ["as_json_text"]

_FENCE = re.compile(r"\s*```[\w+-]*[ \t]*\r?\n(.*?)\s*```\s*", re.DOTALL)
_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | //[^\r\n]* | \#[^\r\n]* | /\*.*?\*/)
    | (?P<double>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<single>'[^'\\]*(?:\\.[^'\\]*)*')
    | (?P<mark>[\[\]{}:,])
    | (?P<number>[-+.0-9eE]+)
    | (?P<word>[A-Za-z]+)
    """,
    re.DOTALL | re.VERBOSE,
)
_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_ESCAPE = re.compile(r"""\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|\\.|\"""", re.DOTALL)


def as_json_text(text: str) -> str | None:
    """Rewrite text that is nearly JSON.

    Args:
        text: what is no JSON as it stands.

    Returns:
        What may be JSON now, its values unchanged; None where the text holds something that is
        neither JSON nor one of the things that are mended.
    """
    fence = _FENCE.fullmatch(text)
    tokens = _tokens(fence[1] if fence else text)
    if tokens is None:
        return None
    return " ".join([token for index, token in enumerate(tokens) if not _is_trailing(tokens, index)])


def _tokens(text: str) -> list[str] | None:
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        token = match[0]
        if match.lastgroup == "space":
            continue
        if match.lastgroup == "single":
            token = _in_double_quotes(token)
        elif match.lastgroup == "word":
            token = _WORDS.get(token, "")
        if not token:
            return None
        tokens.append(token)
    return tokens


def _in_double_quotes(token: str) -> str:
    return f'"{_ESCAPE.sub(_as_json_escape, token[1:-1])}"'


def _as_json_escape(found: re.Match[str]) -> str:
    """Write an escape, or a double quote, of a string in single quotes as JSON does."""
    escape = found[0]
    if escape in _QUOTED:
        return _QUOTED[escape]
    if len(escape) > len("\\n"):  # a code that Python writes where a character can't be printed
        code = int(escape[2:], base=16)
        # What is beyond Unicode stays as it is, and is refused.
        return json.dumps(chr(code))[1:-1] if code <= sys.maxunicode else escape
    return escape


_QUOTED = {'"': '\\"', "\\'": "'"}


def _is_trailing(tokens: list[str], index: int) -> bool:
    """Say whether a token is a comma that only a closing bracket follows, after some value."""
    if tokens[index] != "," or index == 0 or index + 1 == len(tokens):
        return False
    return tokens[index + 1] in {"]", "}"} and tokens[index - 1] not in {"[", "{", ",", ":"}
