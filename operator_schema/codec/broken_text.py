"""What is wrong with a text that isn't valid JSON, where, and what should be sent instead?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..findings import Finding
from ..message_text import quote

if TYPE_CHECKING:
    from json import JSONDecodeError

_SHOWN = 20
_FENCE = "```"
_CLOSING_FENCE = re.compile(r"\n[ \t]*```")
_BEGUN = re.compile(r"[-.]|[eE][+-]?|t(r(ue?)?)?|f(a(lse?)?)?|n(u(ll?)?)?|\\(u[0-9a-fA-F]{0,4})?")
_TRAILING_COMMA = re.compile(r",\s*[\]}]?", re.ASCII)
_WORD = re.compile(r"None|True|False|undefined")
_JSON_WORDS = {"None": "null", "True": "true", "False": "false", "undefined": "null"}
_BY_START = {
    "'": "strings and keys need double quotes, not single quotes",
    "/": "JSON has no comments",
    "#": "JSON has no comments",
    "\ufeff": "remove the byte order mark at the beginning",
}
_BY_MESSAGE = {
    "Expecting property name": "expected a key in double quotes here",
    "Expecting ','": "expected a comma or a closing bracket here",
    "Expecting ':'": "expected a colon here",
    "Extra data": "there is more text after the JSON value; send only one JSON value",
    "Invalid control": "a string contains a line break or control character; escape it, such as \\n",
    "Invalid \\": "a backslash in a string starts an escape; write \\\\ for the backslash itself",
}


def invalid(message: str, received: str | None = None) -> Finding:
    """Make the problem of a text that isn't valid JSON."""
    return Finding((), "invalid_json", f"not valid JSON{message}", "one JSON value", received)


def position_of(text: str, position: int) -> str:
    """Return the words for a position: ` at line 2 column 5`."""
    line, start = text.count("\n", 0, position) + 1, text.rfind("\n", 0, position)
    return f" at line {line} column {position - start}"


def describe_broken(error: JSONDecodeError) -> Finding:
    """Return the problem of a broken text, with its position and a remedy."""
    text = error.doc
    if not text.strip():
        return invalid(f"{position_of(text, len(text))}: the text is empty")
    if _ends_early(error):
        return ends_early(text, len(text))
    if text.lstrip().startswith(_FENCE):
        around = "" if text.rstrip().endswith(_FENCE) else " with text around it"
        shown = quote(text[:_SHOWN])
        return invalid(f": it is inside a Markdown fence{around}; send only the JSON", shown)
    what, position = _what(error)
    near = quote(text[max(position - _SHOWN, 0) : position + _SHOWN])
    return invalid(f"{position_of(text, position)}: {what}, near {near}", near)


def ends_early(text: str, end: int) -> Finding:
    """Make the problem of a text that was cut off.

    Args:
        text: the received text.
        end: index after the last character of its JSON.
    """
    shown = quote(text[max(end - _SHOWN, 0) : end])
    where = position_of(text, end)
    return invalid(f": the text ends early{where}, after {shown}; send the complete JSON again", shown)


def _what(error: JSONDecodeError) -> tuple[str, int]:
    text, position = error.doc, error.pos
    comma = len(text[:position].rstrip()) - 1
    for start in (position, comma):
        if _is_trailing_comma(text, start):
            return "remove the comma before the closing bracket", start
    word = _WORD.match(text, position)
    if word is not None:
        return f"{word[0]} isn't a JSON value; write {_JSON_WORDS[word[0]]}", position
    said = [words for start, words in _BY_START.items() if text.startswith(start, position)]
    said += [words for start, words in _BY_MESSAGE.items() if error.msg.startswith(start)]
    if not said and not text[:position].strip():
        said = ["it does not begin with a JSON value; send only the JSON"]
    return (said or ["expected a JSON value here"])[0], position


def _is_trailing_comma(text: str, start: int) -> bool:
    match = _TRAILING_COMMA.match(text, start) if start >= 0 else None
    return match is not None and match[0][-1] in "]}"


def _ends_early(error: JSONDecodeError) -> bool:
    """Return whether the text is the beginning of valid JSON that was cut off."""
    text = error.doc.rstrip()
    if text.lstrip().startswith(_FENCE):
        return text.lstrip() == _FENCE or not (text.endswith(_FENCE) or _CLOSING_FENCE.search(text.lstrip()))
    rest = text[error.pos :]
    return (
        not rest.strip(", \t\r\n")
        or error.msg.startswith("Unterminated string")
        or bool(_BEGUN.fullmatch(rest))
    )
