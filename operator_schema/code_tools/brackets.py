"""Which brackets of a snippet are wrong, and where do they belong?"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from .snippets import SyntaxProblem, position_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .snippets import SnippetReader

MOST_PROBLEMS = 10
"""Problems of one snippet that are shown."""
_MOST_EXTRA = 3
"""Closing brackets without an opening one for which the best correction is looked for."""
_MOST_TRIED = 8
"""Places that are tried for one bracket."""
_OPENING = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_WORDS = {")": "parenthesis", "]": "bracket", "}": "brace"}


class WrongBracket(NamedTuple):
    """A correction of one missing or extra bracket, with the message about it.

    Attributes:
        problem: the message about it.
        place: of the character before which something is inserted, or that is removed.
        added: brackets to be inserted there; empty to remove the character.
        opened: line of the bracket that should be closed first; 0 if there is none.
    """

    problem: SyntaxProblem
    place: int
    added: str = ""
    opened: int = 0


def wrong_brackets(code: str, reader: SnippetReader) -> list[WrongBracket]:
    """List the wrong brackets, each at the place where correcting it lets the grammar read most."""
    extra: list[WrongBracket] = []
    rest = code
    while len(extra) < _MOST_EXTRA:
        found = _correct_unopened(rest, reader)
        if found is None:
            break
        bracket, closing = found
        extra.append(bracket)
        rest = _blank_out(rest, closing)
    unclosed = _place_closings(unpaired_brackets(rest, reader.tokens), rest, reader)
    return sorted([*extra, *unclosed], key=lambda one: one.place)


def repair(code: str, brackets: Sequence[WrongBracket]) -> str:
    """Return a snippet with its brackets corrected; no line gets another number."""
    parts: list[str] = []
    start = 0
    for one in brackets:
        parts += [code[start : one.place], one.added or " "]
        start = one.place + (not one.added)
    return "".join([*parts, code[start:]])


def unpaired_brackets(code: str, tokens: re.Pattern[str]) -> list[WrongBracket]:
    """List the brackets that are never opened, never closed, or closed by one of another kind.

    Args:
        code: the snippet.
        tokens: matches strings, characters and comments as a whole, and single brackets.
    """
    found: list[WrongBracket] = []
    opened: list[tuple[str, int]] = []
    for match in tokens.finditer(code):
        token = match.group()
        if token in _CLOSING:
            opened.append((token, match.start()))
        elif token in _OPENING:
            if all(before != _OPENING[token] for before, _ in opened):
                found.append(_never_opened(code, match.start()))
            else:
                found += _closed_by_another(code, match, opened)
        if len(found) >= MOST_PROBLEMS:
            return found
    found += _never_closed(code, opened)
    return found


def _never_opened(code: str, place: int, *, is_early: bool = False) -> WrongBracket:
    token = code[place]
    or_early = ", or closes too early" if is_early else ""
    message = f"'{token}' closes what was never opened{or_early}"
    return _bracket_at(code, place, message, f"Remove '{token}', or open it")


def _closed_by_another(
    code: str, match: re.Match[str], opened: list[tuple[str, int]]
) -> Iterator[WrongBracket]:
    """Close the bracket that matches a closing one, and yield the brackets inside it that are still open."""
    token = match.group()
    before, place = opened.pop()
    if before == _OPENING[token]:
        return
    added = _CLOSING[before]
    while (inner := opened.pop()[0]) != _OPENING[token]:
        added += _CLOSING[inner]
    line, column = position_in(code, place)
    message = f"'{token}' does not close '{before}' of line {line}, column {column}"
    found = _bracket_at(code, match.start(), message, f"Write '{_CLOSING[before]}' first", added)
    yield found._replace(opened=line)


def _never_closed(code: str, opened: list[tuple[str, int]]) -> Iterator[WrongBracket]:
    """Yield the brackets that are still open at the end, the inner ones first."""
    for number, (before, place) in enumerate(reversed(opened), 1):
        closing = _CLOSING[before]
        message = f"missing closing {_WORDS[closing]}: '{before}' is never closed"
        problem = SyntaxProblem(*position_in(code, place), message, f"Add '{closing}'")
        if number == MOST_PROBLEMS:
            rest = "".join(_CLOSING[each] for each, _ in opened[: len(opened) - number + 1][::-1])
            yield WrongBracket(problem, len(code), rest)
            return
        yield WrongBracket(problem, len(code), closing)


def _bracket_at(code: str, place: int, message: str, hint: str, added: str = "") -> WrongBracket:
    return WrongBracket(SyntaxProblem(*position_in(code, place), message, hint), place, added)


# --- closing brackets that were never opened ----------------------------------------------------------


def _correct_unopened(code: str, reader: SnippetReader) -> tuple[WrongBracket, int] | None:
    """Return the correction for the first closing bracket that was never opened; None if there is none.

    It is removed, an earlier one is removed, or it is opened: whatever lets the grammar read most.

    Returns:
        The correction, and the place of the closing bracket that is then dealt with.
    """
    wrong = unpaired_brackets(code, reader.tokens)
    first = next((one for one in wrong if code[one.place : one.place + 1] in _OPENING), None)
    if first is None:
        return None

    def count_broken(text: str) -> tuple[int, int]:
        brackets = unpaired_brackets(text, reader.tokens)
        return len(brackets), reader.count_broken(repair(text, brackets))

    tried: list[tuple[str, tuple[WrongBracket, int] | None]] = [
        (_blank_out(code, place), (_never_opened(code, place, is_early=place != first.place), place))
        for place in [*_odd_closings(code, reader.tokens, first.place), first.place]
    ]
    if first.added:
        tried.append((code, None))
    else:
        for place in _lost_openings(code, first.place):
            lost = _lost_opening(code, place, first.place)
            tried.append((repair(code, [lost]), (lost, first.place)))
    return min(tried, key=lambda each: count_broken(each[0]))[1]


def _blank_out(code: str, place: int) -> str:
    return f"{code[:place]} {code[place + 1 :]}"


def _odd_closings(code: str, tokens: re.Pattern[str], end: int) -> list[int]:
    """List the closing braces before a place whose indentation differs from that of their opening line."""
    opened: list[int] = []
    odd: list[int] = []
    for match in tokens.finditer(code, 0, end):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            line, head = _line_around(code, match.start()), _line_around(code, opened.pop())
            if line.start == head.start:
                below = _line_around(code, min(line.stop + 1, len(code)))
                margin = _indentation(code[below])
                is_odd = below.start > line.start and math.inf > margin > _indentation(code[line])
            else:
                is_alone = not code[line.start : match.start()].strip("\t )]}")
                is_odd = not is_alone or _indentation(code[line]) != _indentation(code[head])
            if is_odd:
                odd.append(match.start())
    return odd[-_MOST_TRIED:]


def _lost_openings(code: str, closing: int) -> list[int]:
    """List the places where an opening bracket may be missing: behind words, or at the end of a line."""
    line = _line_around(code, closing)
    if code[line.start : closing].strip():
        if code[closing] == "}":
            return []  # a block ends in the line of its last statement: it may begin anywhere
        words = [match.end() for match in re.finditer(r"\w\b|[=:(,]", code[line.start : closing])]
        return [line.start + end for end in words[-_MOST_TRIED:]]
    level = _indentation(code[line])
    while line.start > 0:
        line = _line_around(code, line.start - 1)
        if _indentation(code[line]) <= level:
            return [line.start + len(code[line].rstrip())]
    return []


def _lost_opening(code: str, place: int, closing: int) -> WrongBracket:
    """Describe an opening bracket that is missing at a place."""
    token = code[closing]
    line = position_in(code, closing)[0]
    message = f"missing opening {_WORDS[token]}: '{token}' of line {line} closes what was never opened"
    return _bracket_at(code, place, message, f"Add '{_OPENING[token]}'", _OPENING[token])


def _line_around(code: str, place: int) -> slice:
    end = code.find("\n", place)
    return slice(code.rfind("\n", 0, place) + 1, len(code) if end < 0 else end)


def _indentation(line: str) -> float:
    return len(line) - len(line.lstrip()) if line.strip() else math.inf


# --- opening brackets that are never closed -----------------------------------------------------------


def _place_closings(brackets: list[WrongBracket], code: str, reader: SnippetReader) -> list[WrongBracket]:
    """Choose for each open bracket the place where closing it causes the fewest errors.

    That is where it was noticed, the end of what is indented deeper than its line, or in its own line.
    """
    best = brackets
    for one in brackets:
        if len(one.added) != 1:
            continue
        moved = [
            [_close_at(one, code, place) if each is one else each for each in best]
            for place in _closing_places(code, one.opened or one.problem.line)
            if place < one.place
        ]
        for each in moved:
            each.sort(key=lambda bracket: bracket.place)
        best = min([best, *moved], key=lambda each: reader.count_broken(repair(code, each)))
    return best


def _close_at(one: WrongBracket, code: str, place: int) -> WrongBracket:
    """Return an open bracket with another place to close it."""
    if not one.opened:
        return one._replace(place=place)
    opening = _OPENING[one.added]
    message = f"missing closing {_WORDS[one.added]}: '{opening}' of line {one.opened} is never closed"
    return _bracket_at(code, place, message, f"Add '{one.added}'", one.added)._replace(opened=one.opened)


def _closing_places(code: str, line: int) -> list[int]:
    """List the places where a bracket may be closed: at the end of its line, and of deeper lines below it."""
    lines = code.split("\n")
    written = lines[line - 1]
    start = sum(len(each) + 1 for each in lines[: line - 1])
    level = _indentation(written)
    block = next((row for row in range(line, len(lines)) if _indentation(lines[row]) <= level), None)
    ends = [start + len(written.rstrip(" \t;,:{")), start + len(written.rstrip())]
    return ends if block is None else [*ends, len("\n".join(lines[:block]))]
