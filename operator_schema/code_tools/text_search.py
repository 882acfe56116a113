"""Which lines of the files below a root, in any language, contain a text or match an expression?"""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..message_text import clip
from ..schema.linear_regex import linear_pattern
from .budget import join_notes
from .index import is_at
from .misses import path_missing
from .results import LineFound, TextFound
from .source_files import Content, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .budget import Budget
    from .index import Index

_SECONDS = 5.0
"""Processor time after which no further file is read."""
_MOST_BYTES = 200_000_000
_LONGEST_LINE = 10_000
"""Characters of a line that are looked at: longer ones are of files that were made by programs."""
_LONGEST_SHOWN = 200
_SIGNS = re.compile(r"[\\^$.?*+()\[\]{}]")
_WORD = re.compile(r"(?<![\\\w])\w{2,}(?![\w?*{])")


class _Condition(NamedTuple):
    """The condition that a line must meet to be found.

    Attributes:
        fits: tests whether a line meets the condition.
        part: a text that each matching line contains; empty if none is known.
        note: how the pattern was understood; empty if there was no choice.
    """

    fits: Callable[[str], bool]
    part: str
    note: str = ""


def search_lines(index: Index, pattern: str, path: str, limit: int, budget: Budget) -> TextFound:
    """Find the lines that match a pattern, each with the declaration around it.

    Args:
        index: of the root: its rules say which files aren't read.
        pattern: a regular expression, or a plain text.
        path: of a file, a folder or a pattern of them; empty for all.
        limit: how many lines are returned.
        budget: for the characters of the result.
    """
    wanted = _read_pattern(pattern)
    until = time.process_time() + _SECONDS
    found: list[tuple[str, int, str]] = []
    left, unread, count = _MOST_BYTES, 0, 0
    there = [each for each in index.tree.all_files() if not path or is_at(each, path)]
    for each in sorted(there):
        if left < 0 or time.process_time() > until:
            unread += 1
            continue
        content = read_source(index.root, each)
        if not isinstance(content, Content):
            continue
        left -= len(content.source)
        for number, line in _matching_lines(content.source, wanted, until):
            count += 1
            if len(found) < limit:
                found.append((each, number, line))
    lines = (_describe_line(index, *one) for one in found)
    result = TextFound(lines=budget.items(lines, 0.9, "lines", "give a path", of=len(found)))
    if count > len(found):
        result["more"] = count - len(found)
    notes = [wanted.note, budget.note]
    if unread:
        notes.append(f"{unread} more files weren't searched, as it took too long: give a path.")
    if not found:
        missing = path and not there and path_missing(index, path)
        notes.append(missing or "No line of a file that git doesn't ignore has this.")
    if note := join_notes(*notes):
        result["note"] = note
    return result


def _read_pattern(pattern: str) -> _Condition:
    texts = pattern.split("|")
    if all(texts) and not any(map(_SIGNS.search, texts)):
        return _Condition(partial(_has_any, texts), pattern if len(texts) == 1 else "")
    expression = linear_pattern(pattern)
    if expression is None:
        note = "This isn't a regular expression that can be searched for, so the text itself was."
        return _Condition(partial(_has_any, [pattern]), pattern, note)
    # In a group or a choice, a word may be left out.
    words = [] if set(pattern) & set("|()[") else _WORD.findall(pattern)
    return _Condition(expression.search, max(words, key=len, default=""))


def _has_any(texts: Sequence[str], line: str) -> bool:
    return any(text in line for text in texts)


def _matching_lines(source: bytes, wanted: _Condition, until: float) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that fits."""
    if wanted.part and wanted.part.encode(errors="replace") not in source:
        return
    for number, line in enumerate(source.decode(errors="replace").split("\n"), 1):
        if wanted.part in line and wanted.fits(line[:_LONGEST_LINE].removesuffix("\r")):
            yield number, line
        if not number % 1000 and time.process_time() > until:
            return


def _describe_line(index: Index, path: str, number: int, line: str) -> LineFound:
    shown = LineFound(location=f"{path}:{number}", line=clip(line.strip(), _LONGEST_SHOWN))
    if index.file(path) is not None and (around := index.at_line(path, number)):
        shown["inside"] = around[0].declaration.qualified
    return shown
