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

_FENCE = "```"
_OPENING = re.compile(r"\s*```[\w+-]*[ \t]*\r?\n")
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
_PYTHON = frozenset({"True", "False", "None"})
_ESCAPE = re.compile(r"""\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|\\.|\"""", re.DOTALL)


def as_json_text(text: str) -> str | None:
    """Rewrite text that is nearly JSON.

    Args:
        text: what is no JSON as it stands.

    Returns:
        What may be JSON now, its values unchanged; None where the text holds something that is
        neither JSON nor one of the things that are mended.
    """
    tokens = _tokens(_without_fence(text))
    if tokens is None:
        return None
    return " ".join([token for index, token in enumerate(tokens) if not _is_trailing(tokens, index)])


def _without_fence(text: str) -> str:
    opening, body = _OPENING.match(text), text.rstrip()
    if opening is None or not body.endswith(_FENCE, opening.end()):
        return text
    return body[opening.end() : -len(_FENCE)]


def _tokens(text: str) -> list[str] | None:
    found: list[tuple[str | None, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or (match.lastgroup == "word" and match[0] not in _WORDS):
            return None
        position = match.end()
        if match.lastgroup != "space":
            found.append((match.lastgroup, match[0]))
    # In text that is Python's, its escapes stand in double quotes too.
    is_python = any(kind == "single" or token in _PYTHON for kind, token in found)
    texts = {"single", "double"} if is_python else set[str]()
    return [_in_double_quotes(token) if kind in texts else _WORDS.get(token, token) for kind, token in found]


def _in_double_quotes(token: str) -> str:
    return f'"{_ESCAPE.sub(_as_json_escape, token[1:-1])}"'


def _as_json_escape(found: re.Match[str]) -> str:
    """Write an escape of Python's, or a double quote that is none there, as JSON does."""
    escape = found[0]
    if escape in _QUOTED:
        return _QUOTED[escape]
    if len(escape) > len("\\n"):  # a code that Python writes where a character can't be printed
        code = int(escape[2:], 16)  # noqa: FURB166  # int knows no such prefix as `\U`
        # What is beyond Unicode stays as it is, and is refused.
        return json.dumps(chr(code))[1:-1] if code <= sys.maxunicode else escape
    return escape


_QUOTED = {'"': '\\"', "\\'": "'"}


def _is_trailing(tokens: list[str], index: int) -> bool:
    """Say whether a token is a comma that only a closing bracket follows, after some value."""
    if tokens[index] != "," or index == 0 or index + 1 == len(tokens):
        return False
    return tokens[index + 1] in {"]", "}"} and tokens[index - 1] not in {"[", "{", ",", ":"}
