"""Where does the JSON of an answer begin and end, beside thoughts, code blocks and other words?"""

from __future__ import annotations

import re

from .response_json import is_whole
from .text_calls import THOUGHT, THOUGHTS

# A string in JSON has no line breaks, so a fence after a line break isn't in a string.
_FENCE = re.compile(r"```[\w+-]*[ \t]*\r?\n(?=\s*[{\[])")
_FENCED = re.compile(r"```[\w+-]*[ \t]*\r?\n(?=\s*[{\[])(.*?)```[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_AFTER_THOUGHT = re.compile(
    rf"(?:{'|'.join(map(re.escape, {*THOUGHTS.values()}))})\s*(?:```[\w+-]*[ \t]*\r?\n\s*)?(?=[{{\[])"
)
_LONGEST_MARK = 64


def json_in(text: str) -> str:
    """Return the JSON in a text, without a thought before it and text around its only code block or object.

    Line breaks stay, so that errors have the right line numbers.
    """
    if _is_plain(text):
        return text
    thought = THOUGHT.match(text)
    starts = (0,) if thought is None else (thought.end(), 0)
    for start in starts:
        if _is_plain(text[start:]):
            return _from(text, start, len(text))
        blocks = list(_FENCED.finditer(text, start))
        if len(blocks) == 1:
            return _from(text, *blocks[0].span(1))
    end = text.rfind("}") + 1
    for begin in [text.find("{", start) for start in starts]:
        if is_whole(text[max(begin, 0) : end]):
            return _from(text, begin, end)
    return text


def _from(text: str, start: int, end: int) -> str:
    return "\n" * text.count("\n", 0, start) + text[start:end]


def json_start(text: str, looked: int) -> int | None:
    """Return where the JSON begins in a text that grows; None if it hasn't begun.

    Args:
        text: so far.
        looked: the length of the text at the last call, so that all calls together take linear time.
    """
    if looked < _LONGEST_MARK and _is_plain(text):
        return 0
    marks = [_AFTER_THOUGHT] if _may_think(text) else [_AFTER_THOUGHT, _FENCE]
    found = [mark.search(text, max(looked - _LONGEST_MARK, 0)) for mark in marks]
    return min([match.end() for match in found if match is not None], default=None)


def _is_plain(text: str) -> bool:
    """Return whether a text begins with JSON, if the JSON is an object or a list."""
    return text.lstrip().startswith(("{", "[")) and not _may_think(text)


def _may_think(text: str) -> bool:
    """Return whether a text may begin with a thought."""
    begin = text[:_LONGEST_MARK].lstrip()
    return any(begin.startswith(start) or start.startswith(begin) for start in THOUGHTS)
