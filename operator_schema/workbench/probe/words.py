"""What does the text of an answer say by itself, without the values that were sent, in any language?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from ...json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_TEXT: Final = 4000
_MOST_VALUES: Final = 60
_TOKENS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_QUOTED: Final = re.compile(
    r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|«[^»\n]{0,200}»|„[^“\n]{0,200}“"
)
_DIGITS: Final = re.compile(r"[-+]?\d[\d.,:]*")


def without_values(text: str, arguments: Any) -> str:
    """Return a text without the values of a call, since each may be a word with another meaning.

    Args:
        text: the text of an answer.
        arguments: the arguments of the call.
    """
    text = text[:_MOST_TEXT]
    forms = {form for value in _values(arguments) for form in _forms(value)}
    for form in sorted(forms, key=len, reverse=True):
        before = r"(?<!\w)" if form[:1].isalnum() else ""
        after = r"(?!\w)" if form[-1:].isalnum() else ""
        text = re.sub(f"{before}{re.escape(form)}{after}", " ", text)
    return text


def _values(value: Any) -> list[Any]:
    """Return the texts, numbers and other single values inside arguments."""
    found: list[Any] = []
    waiting = [value]
    while waiting and len(found) < _MOST_VALUES:
        each = waiting.pop()
        if is_object(each):
            waiting += each.values()
        elif is_array(each):
            waiting += each
        else:
            found.append(each)
    return found


def _forms(value: Any) -> Iterable[str]:
    """Return the ways to write a value in a text."""
    if isinstance(value, str):
        short = value[:_MOST_TEXT]
        written = {short, short.strip(), json.dumps(short)[1:-1], repr(short)[1:-1]}
        return {each for each in written if each}
    return {repr(value), json.dumps(value)}


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that a text contains, as they are or as their words.

    Args:
        text: a text without the values of the call.
        names: names of parameters, such as `note_id`, which "the id of the note" says, too.
    """
    low = text.casefold()
    words = {word.casefold() for word in _TOKENS.findall(text)}
    found: list[str] = []
    for name in names:
        tokens = [token.casefold() for token in _TOKENS.findall(name)]
        forms = [form.casefold() for form in _forms(name)]
        is_there = any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", low) for form in forms)
        if is_there or (len(tokens) > 1 and all(token in words for token in tokens)):
            found.append(name)
    return found


def pattern_of(text: str, arguments: Any, names: Iterable[str] = ()) -> str:
    """Return a text without values, quotations and numbers, to compare it with texts about other values.

    Args:
        text: the text of an answer.
        arguments: the arguments of the call.
        names: names of parameters, which are removed, too.
    """
    bare = without_values(text, arguments)
    for name in sorted(names, key=len, reverse=True):
        bare = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "'", bare)
    bare = _DIGITS.sub("#", _QUOTED.sub("'", bare))
    return " ".join(bare.casefold().split())[:300]
