"""Which errors do the grammar and the brackets show in a snippet of code?"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ..message_text import clip
from .parsing import parse_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tree_sitter import Node


Context: TypeAlias = Literal["file", "function_body", "expression", "statements"]
"""The kinds of text that a snippet can be."""


class SyntaxProblem(NamedTuple):
    """A syntax error, or a note about the syntax of a snippet.

    Attributes:
        line: in the snippet, from 1.
        column: in characters, from 1.
        message: a description of the error.
        suggestion: how to correct it, if that is known.
        severity: an error, or a note about something that is valid only in some places.
    """

    line: int
    column: int
    message: str
    suggestion: str | None = None
    severity: Literal["error", "note"] = "error"


class Snippet(NamedTuple):
    """A snippet, completed to a whole file.

    Attributes:
        text: of the file: the snippet and the text around it.
        first: line of the file in which the snippet begins, from 1.
        last: line in which it ends.
        columns: number of columns by which each of its lines was indented.
        path: of the file below the root that it replaces; None if it is a separate file.
        is_part: whether names may be defined where the checker can't see them.
    """

    text: str
    first: int
    last: int
    columns: int = 0
    path: str | None = None
    is_part: bool = False

    def position(self, problem: SyntaxProblem) -> SyntaxProblem | None:
        """Move a problem from its place in the file to its place in the snippet; None if it is outside."""
        if self.first <= problem.line <= self.last:
            line, column = problem.line - self.first + 1, max(problem.column - self.columns, 1)
            return problem._replace(line=line, column=column)
        is_beside = self.first - 1 <= problem.line <= self.last + 1
        if not is_beside or "return" not in problem.message:
            return None
        # That a body lacks its `return` is said of the line before or after it.
        return problem._replace(line=self.last - self.first + 1, column=1)


def broken_places(root: Node) -> Iterator[Node]:
    """Yield the nodes with errors, and the missing ones, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            waiting += reversed(node.children)


_EXPECTED: Mapping[Context, str] = {
    "file": "a file",
    "function_body": "the inside of one function",
    "statements": "a list of statements",
    "expression": "one expression",
}
MOST_PROBLEMS = 10
"""Problems of one snippet that are told."""
_SHOWN = 40


class Wrapper(NamedTuple):
    """The text to put around a snippet so that it becomes a file.

    Attributes:
        before: the text before it, which ends with a line break.
        after: the text behind it, which begins with a line break.
        holds: tests a tree by its root: whether it has the snippet in its place, and nothing else.
    """

    before: str = ""
    after: str = ""
    holds: Callable[[Node], bool] = lambda _: True


def one_item(kind: str = "") -> Callable[[Node], bool]:
    """Return a function that tests whether a file consists of one item.

    Args:
        kind: type of its node; empty for any.
    """

    def holds(root: Node) -> bool:
        items = root.named_children
        return len(items) == 1 and kind in {"", items[0].type}

    return holds


def wrapped_problems(
    code: str, grammar: str, wrapper: Wrapper, tokens: re.Pattern[str], context: Context
) -> list[SyntaxProblem]:
    """List the syntax errors of a snippet.

    Args:
        code: the snippet.
        grammar: package of the grammar.
        wrapper: the text to put around it.
        tokens: as `bracket_problem` takes them.
        context: the kind of text that the snippet is.
    """
    root = _tree(code, grammar, wrapper)
    found = _places_that_break(root, code, wrapper)
    if not found and wrapper.holds(root):
        return []
    # Only of code that can't be read: the pattern of the tokens is simpler than the grammar.
    brackets = _wrong_brackets(code, tokens, grammar, wrapper)
    if not brackets:
        return found or [
            SyntaxProblem(1, 1, f"this isn't {_EXPECTED[context]}", "Give the context that the code is from")
        ]
    # What a wrong bracket makes unreadable says nothing: the rest is read with the brackets put right.
    repaired = "".join(_repaired(code, brackets))
    rest = _places_that_break(_tree(repaired, grammar, wrapper), repaired, wrapper)
    lines = {line for one in brackets for line in (one.problem.line, one.opened)}
    last = code.count("\n") + 1
    # What is missing in the repaired code may be there in what was written, so only its place is told.
    told = [one._replace(suggestion=None) for one in rest if one.line not in lines and one.line <= last]
    told += _remedies(brackets, len(told), code, grammar, wrapper, tokens)
    return sorted(told, key=lambda one: (one.line, one.column))[:MOST_PROBLEMS]


def _tree(code: str, grammar: str, wrapper: Wrapper) -> Node:
    return parse_tree(grammar, f"{wrapper.before}{code}{wrapper.after}".encode(errors="replace"))


def _places_that_break(root: Node, code: str, wrapper: Wrapper) -> list[SyntaxProblem]:
    """List the places that the grammar can't read, each once."""
    found: dict[tuple[int, int], SyntaxProblem] = {}
    for node in broken_places(root):
        problem = _problem(node, code, wrapper)
        found.setdefault((problem.line, problem.column), problem)
        if len(found) == MOST_PROBLEMS:
            break
    return list(found.values())


def brackets_put_right(code: str, tokens: re.Pattern[str], grammar: str) -> str:
    """Close the open brackets of a file where that causes the fewest errors; no line moves."""
    return "".join(_repaired(code, _wrong_brackets(code, tokens, grammar, Wrapper())))


def _wrong_brackets(code: str, tokens: re.Pattern[str], grammar: str, wrapper: Wrapper) -> list[_Bracket]:
    """List the wrong brackets, each at the place that lets the grammar read most."""
    extra: list[_Bracket] = []
    rest = code
    while len(extra) < _MOST_EXTRA:
        found = _without_opening(rest, tokens, grammar, wrapper)
        if found is None:
            break
        extra.append(found[0])
        rest = _without(rest, found[1])
    others = _best_placed(_brackets(rest, tokens), rest, grammar, wrapper)
    return sorted([*extra, *others], key=lambda one: one.place)


def _without_opening(
    code: str, tokens: re.Pattern[str], grammar: str, wrapper: Wrapper
) -> tuple[_Bracket, int] | None:
    """Return the first closing bracket without an opening one, and its place; None if there is none.

    It is taken away or opened, whatever lets the grammar read more.
    """
    wrong = _brackets(code, tokens)
    first = next((one for one in wrong if code[one.place : one.place + 1] in _PAIRS), None)
    if first is None:
        return None

    def broken(text: str) -> tuple[int, int]:
        brackets = _brackets(text, tokens)
        return len(brackets), _broken_when(brackets, text, grammar, wrapper)

    tried: list[tuple[str, tuple[_Bracket, int] | None]] = [
        (_without(code, place), (_extra(code, place, first.place), place))
        for place in [*_odd_closings(code, tokens, first.place), first.place]
    ]
    if first.added:
        tried.append((code, None))
    else:
        opening = _PAIRS[code[first.place]]
        for place in _lost_openings(code, first.place):
            text = f"{code[:place]}{opening}{code[place:]}"
            tried.append((text, (_lost(code, place, first.place), first.place)))
    return min(tried, key=lambda each: broken(each[0]))[1]


def _extra(code: str, place: int, noticed: int) -> _Bracket:
    """Describe a closing bracket that is one too many."""
    token = code[place]
    or_early = "" if place == noticed else ", or closes too early"
    message = f"'{token}' closes what was never opened{or_early}"
    return _bracket(code, place, message, f"Remove '{token}', or open it")


def _lost(code: str, place: int, closing: int) -> _Bracket:
    """Describe an opening bracket that is missing at a place."""
    token = code[closing]
    line = position_in(code, closing)[0]
    message = f"missing opening {_WORDS[token]}: '{token}' of line {line} closes what was never opened"
    return _bracket(code, place, message, f"Add '{_PAIRS[token]}'", _PAIRS[token])


def _lost_openings(code: str, closing: int) -> list[int]:
    """List the places where an opening bracket may be missing: behind words, or at the end of a line."""
    line = _line_around(code, closing)
    if code[line.start : closing].strip():
        if code[closing] == "}":
            return []  # a block ends in the line of its last statement: it may begin anywhere
        words = [match.end() for match in re.finditer(r"\w\b|[=:(,]", code[line.start : closing])]
        return [line.start + end for end in words[-_MOST_TRIED:]]
    level = _margin_of(code, line)
    while line.start > 0:
        line = _line_around(code, line.start - 1)
        if _margin_of(code, line) <= level:
            return [line.start + len(code[line].rstrip())]
    return []


def _odd_closings(code: str, tokens: re.Pattern[str], end: int) -> list[int]:
    """List the closing braces before a place whose indentation differs from that of their opening line."""
    opened: list[int] = []
    odd: list[int] = []
    for match in tokens.finditer(code, 0, end):
        if match.group() == "{":
            opened.append(match.start())
        elif match.group() == "}" and opened:
            line, start = _line_around(code, match.start()), opened.pop()
            head = _line_around(code, start)
            if line.start == head.start:
                below = _line_around(code, min(line.stop + 1, len(code)))
                is_odd = below.start > line.start and _deeper(code, below, line)
            else:
                is_odd = bool(code[line.start : match.start()].strip("\t )]}")) or _margin_of(
                    code, line
                ) != _margin_of(code, head)
            if is_odd:
                odd.append(match.start())
    return odd[-_MOST_TRIED:]


def _line_around(code: str, place: int) -> slice:
    end = code.find("\n", place)
    return slice(code.rfind("\n", 0, place) + 1, len(code) if end < 0 else end)


def _margin_of(code: str, line: slice) -> float:
    return _indentation(code[line])


def _deeper(code: str, line: slice, than: slice) -> bool:
    return math.inf > _indentation(code[line]) > _indentation(code[than])


def _without(code: str, place: int) -> str:
    return f"{code[:place]} {code[place + 1 :]}"


_MOST_EXTRA = 3
_MOST_TRIED = 8


def _best_placed(brackets: list[_Bracket], code: str, grammar: str, wrapper: Wrapper) -> list[_Bracket]:
    """Choose for each open bracket the place where closing it causes the fewest errors.

    That is where this was noticed, the end of what is indented deeper than its line, or in its own line.
    """
    best = brackets
    for one in brackets:
        if len(one.added) != 1:
            continue
        line = one.opened or one.problem.line
        moved = [
            sorted(
                [_moved(one, code, place) if each is one else each for each in best],
                key=lambda each: each.place,
            )
            for place in _ends(code, line)
            if place < one.place
        ]
        best = min([best, *moved], key=lambda each: _broken_when(each, code, grammar, wrapper))
    return best


def _moved(one: _Bracket, code: str, place: int) -> _Bracket:
    """Return an open bracket with another place to close it."""
    if not one.opened:
        return one._replace(place=place)
    opening = _PAIRS[one.added]
    message = f"missing closing {_WORDS[one.added]}: '{opening}' of line {one.opened} is never closed"
    line, column = position_in(code, place)
    problem = SyntaxProblem(line, column, message, f"Add '{one.added}'")
    return one._replace(place=place, problem=problem)


def _broken_when(brackets: list[_Bracket], code: str, grammar: str, wrapper: Wrapper) -> int:
    return broken_bytes(_tree("".join(_repaired(code, brackets)), grammar, wrapper))


def _ends(code: str, line: int) -> list[int]:
    """List the places where a bracket may be closed: at the end of its line, and of deeper lines below it."""
    lines = code.split("\n")
    written = lines[line - 1]
    start = sum(len(each) + 1 for each in lines[: line - 1])
    level = _indentation(written)
    block = next((row for row in range(line, len(lines)) if _indentation(lines[row]) <= level), None)
    ends = [start + len(written.rstrip(" \t;,:{")), start + len(written.rstrip())]
    return ends if block is None else [*ends, len("\n".join(lines[:block]))]


def _indentation(line: str) -> float:
    return len(line) - len(line.lstrip()) if line.strip() else math.inf


def _remedies(
    brackets: Sequence[_Bracket],
    others: int,
    code: str,
    grammar: str,
    wrapper: Wrapper,
    tokens: re.Pattern[str],
) -> Iterator[SyntaxProblem]:
    """Yield the problems of brackets; a problem has a suggestion only if following it leaves fewer problems.

    Args:
        brackets: the wrong ones.
        others: number of the other problems of the snippet.
        code: the snippet.
        grammar: package of the grammar.
        wrapper: the text to put around it.
        tokens: as `bracket_problem` takes them.
    """
    wrong = len(_brackets(code, tokens))
    broken = broken_bytes(_tree(code, grammar, wrapper))
    for one in brackets:
        after = "".join(_repaired(code, [one]))
        left, tree = len(_brackets(after, tokens)), _tree(after, grammar, wrapper)
        if left:
            helps = left < wrong and broken_bytes(tree) <= broken
        else:
            helps = len(_places_that_break(tree, after, wrapper)) < len(brackets) + others
        yield one.problem._replace(suggestion=one.problem.suggestion if helps else None)


def broken_bytes(root: Node) -> int:
    """Return how many bytes of a text the grammar can't read."""
    return sum(max(node.end_byte - node.start_byte, 1) for node in broken_places(root))


def _problem(node: Node, code: str, wrapper: Wrapper) -> SyntaxProblem:
    lines = code.split("\n")
    row, column = node.start_point[0] - wrapper.before.count("\n"), node.start_point[1]
    if row < 0:
        row, column = 0, 0
    elif row >= len(lines):
        row, column = len(lines) - 1, len(lines[-1].encode(errors="replace"))
    characters = len(lines[row].encode(errors="replace")[:column].decode(errors="replace"))
    if node.is_missing:
        return SyntaxProblem(row + 1, characters + 1, *_missing(node))
    # A broken place may begin before the snippet, and end behind it.
    start = max(len(wrapper.before.encode()) - node.start_byte, 0)
    end = len(wrapper.before.encode()) + len(code.encode(errors="replace")) - node.start_byte
    text = " ".join((node.text or b"")[start : max(end, 0)].decode(errors="replace").split())
    shown = clip(text, _SHOWN)
    return SyntaxProblem(
        row + 1, characters + 1, f"can't be read from here: {shown}" if shown else "can't be read"
    )


def _missing(node: Node) -> tuple[str, str | None]:
    """Return the message about a missing node, and a suggestion if the node is code."""
    if not node.is_named:
        return f"'{node.type}' is missing", f"Add '{node.type}'"
    words = node.type.replace("_", " ").strip()
    return ("a name is missing" if words.endswith("identifier") else f"something is missing: {words}"), None


_PAIRS = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _PAIRS.items()}


class _Bracket(NamedTuple):
    """A bracket that is wrong.

    Attributes:
        problem: the message about it.
        place: of the character before which something is inserted, or that is removed.
        added: closing brackets to be inserted there; empty to remove the character.
        opened: line of the bracket that should be closed first; 0 if there is none.
    """

    problem: SyntaxProblem
    place: int
    added: str = ""
    opened: int = 0


def bracket_problem(code: str, tokens: re.Pattern[str]) -> SyntaxProblem | None:
    """Return the first problem of the brackets of a snippet; None if each is closed.

    Args:
        code: the snippet.
        tokens: matches strings, characters and comments as a whole, and single brackets.
    """
    return next((one.problem for one in _brackets(code, tokens)), None)


def _brackets(code: str, tokens: re.Pattern[str]) -> list[_Bracket]:
    """List the wrong brackets: never opened, never closed, or closed by one of another kind."""
    found: list[_Bracket] = []
    opened: list[tuple[str, int]] = []
    for match in tokens.finditer(code):
        token = match.group()
        if token in _CLOSING:
            opened.append((token, match.start()))
        elif token in _PAIRS:
            if all(before != _PAIRS[token] for before, _ in opened):
                message = f"'{token}' closes what was never opened"
                found.append(_bracket(code, match.start(), message, f"Remove '{token}', or open it"))
            else:
                found += _closed_by_another(code, match, opened)
        if len(found) >= MOST_PROBLEMS:
            return found
    found += _never_closed(code, opened)
    return found


def _never_closed(code: str, opened: list[tuple[str, int]]) -> Iterator[_Bracket]:
    """Yield the brackets that are still open at the end, the inner ones first."""
    for number, (before, place) in enumerate(reversed(opened), 1):
        closing = _CLOSING[before]
        message = f"missing closing {_WORDS[closing]}: '{before}' is never closed"
        problem = SyntaxProblem(*position_in(code, place), message, f"Add '{closing}'")
        if number == MOST_PROBLEMS:
            rest = "".join(_CLOSING[each] for each, _ in opened[: len(opened) - number + 1][::-1])
            yield _Bracket(problem, len(code), rest)
            return
        yield _Bracket(problem, len(code), closing)


def _closed_by_another(code: str, match: re.Match[str], opened: list[tuple[str, int]]) -> Iterator[_Bracket]:
    """Close the bracket that matches a closing one, and yield the brackets inside it that are still open."""
    token = match.group()
    before, place = opened.pop()
    if before == _PAIRS[token]:
        return
    added = _CLOSING[before]
    while (inner := opened.pop()[0]) != _PAIRS[token]:
        added += _CLOSING[inner]
    line, column = position_in(code, place)
    message = f"'{token}' does not close '{before}' of line {line}, column {column}"
    found = _bracket(code, match.start(), message, f"Write '{_CLOSING[before]}' first", added)
    yield found._replace(opened=line)


def _bracket(code: str, place: int, message: str, hint: str, added: str = "") -> _Bracket:
    return _Bracket(SyntaxProblem(*position_in(code, place), message, hint), place, added)


def _repaired(code: str, brackets: Sequence[_Bracket]) -> Iterator[str]:
    """Yield the parts of a snippet with its brackets corrected; no line gets another number."""
    start = 0
    for one in brackets:
        yield code[start : one.place]
        yield one.added or " "
        start = one.place + (not one.added)
    yield code[start:]


_WORDS = {")": "parenthesis", "]": "bracket", "}": "brace"}


def position_in(code: str, offset: int) -> tuple[int, int]:
    """Return the line and column of a character, both from 1."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)
