"""Rewrites text that is nearly JSON as JSON, if it can be read in only one way.

It fixes a Markdown fence around the text, comments, trailing commas, strings in single quotes, and Python's
`True`, `False` and `None`. It completes and guesses nothing: text that was cut off stays unchanged.
"""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = "```"
_OPENING = re.compile(r"[ \t\n\r]*```[\w+-]*[ \t]*\r?\n")
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\n\r]+ | //[^\r\n]* | \#[^\r\n]* | /\*.*?\*/)
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
_SPACE = " \t\n\r"
_QUOTES = "'\""
_CLOSED_BY = {"{": "}", "[": "]"}
_BEGUN = re.compile(
    r"""["'].* | /(\*.*)? | [Tt](r(ue?)?)? | [Ff](a(l(se?)?)?)? | N(o(ne?)?)? | n(u(ll?)?)?""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|\\.|\"""", re.DOTALL)


def as_json_text(text: str) -> str | None:
    """Rewrite text that is nearly JSON.

    Returns:
        Text that may be JSON now, its values unchanged; None if the text contains something else that isn't
        JSON.
    """
    tokens = _tokens(_without_fence(text))
    if tokens is None:
        return None
    return " ".join([token for index, token in enumerate(tokens) if not _is_trailing(tokens, index)])


def end_of_open(text: str) -> int | None:
    """Find where a text was cut off, even if other things in it need fixing.

    Returns:
        The index after the last character of its JSON, if brackets or a string are still open there; None if
        none are, or if something before can't be fixed.
    """
    start, closing = _fence(text)
    end = len(text) if closing is None else len(text[:closing].rstrip(_SPACE))
    still_open: list[str] = []
    for kind, token in _scan(text[start:end]):
        if kind is None and not _BEGUN.fullmatch(token):
            return None
        if token in _CLOSED_BY or (kind is None and token[0] in _QUOTES):
            still_open.append(token)
        elif token in {"]", "}"} and (not still_open or _CLOSED_BY[still_open.pop()] != token):
            return None
    return end if still_open else None


def _fence(text: str) -> tuple[int, int | None]:
    """Return the indexes of the text in a Markdown fence and of the closing fence."""
    opening, body = _OPENING.match(text), text.rstrip(_SPACE)
    if opening is None:
        return 0, None
    is_closed = body.endswith(_FENCE, opening.end())
    return opening.end(), len(body) - len(_FENCE) if is_closed else None


def without_fence_lines(text: str) -> str:
    """Return the text without a Markdown fence around it, with its line numbers unchanged."""
    start, closing = _fence(text)
    return text if closing is None else "\n" * text.count("\n", 0, start) + text[start:closing]


def _without_fence(text: str) -> str:
    start, closing = _fence(text)
    return text if closing is None else text[start:closing]


def _scan(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield each token with its kind; kind None means that the rest begins with no token."""
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or (match.lastgroup == "word" and match[0] not in _WORDS):
            yield None, text[position:]
            return
        position = match.end()
        if match.lastgroup != "space":
            yield match.lastgroup, match[0]


def _tokens(text: str) -> list[str] | None:
    found = list(_scan(text))
    if found and found[-1][0] is None:
        return None
    # Text written by Python has Python's escapes in double quotes too.
    is_python = any(kind == "single" or token in _PYTHON for kind, token in found)
    texts = {"single", "double"} if is_python else set[str]()
    # JSON reads a slash there, Python a backslash and a slash.
    if any(kind in texts and "\\/" in _ESCAPE.findall(token) for kind, token in found):
        return None
    return [_in_double_quotes(token) if kind in texts else _WORDS.get(token, token) for kind, token in found]


def _in_double_quotes(token: str) -> str:
    return f'"{_ESCAPE.sub(_as_json_escape, token[1:-1])}"'


def _as_json_escape(found: re.Match[str]) -> str:
    """Rewrite an escape of Python, or a double quote inside single quotes, for JSON."""
    escape = found[0]
    if escape in _QUOTED:
        return _QUOTED[escape]
    if len(escape) > len("\\n"):  # a code that Python writes where a character can't be printed
        code = int(escape[2:], 16)  # noqa: FURB166  # int knows no such prefix as `\U`
        # Escapes beyond Unicode stay unchanged, and are refused.
        return json.dumps(chr(code))[1:-1] if code <= sys.maxunicode else escape
    return escape


_QUOTED = {'"': '\\"', "\\'": "'"}


def _is_trailing(tokens: list[str], index: int) -> bool:
    """Return whether a token is a comma that only a closing bracket follows, after some value."""
    if tokens[index] != "," or index == 0 or index + 1 == len(tokens):
        return False
    return tokens[index + 1] in {"]", "}"} and tokens[index - 1] not in {"[", "{", ",", ":"}
