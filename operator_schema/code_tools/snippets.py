"""A snippet as a file, and what is wrong with it by the grammar of its language and by its brackets."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .language import SyntaxProblem, parse_tree

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tree_sitter import Node

    from .language import Context

__all__ = [
    "Snippet",
    "Wrapper",
    "bracket_problem",
    "broken_places",
    "one_item",
    "position_in",
    "wrapped_problems",
]


class Snippet(NamedTuple):
    """A snippet as a file.

    Attributes:
        text: of the file, with what was put around the snippet.
        first: line of the file in which the snippet begins, from 1.
        last: line in which it ends.
        columns: that each of its lines was moved to the right.
        path: below the root, of the file that it stands in place of; None if it is a file of its own.
        is_part: whether names may be defined elsewhere, where the checker can't look.
    """

    text: str
    first: int
    last: int
    columns: int = 0
    path: str | None = None
    is_part: bool = False

    def position(self, problem: SyntaxProblem) -> SyntaxProblem | None:
        """Return a problem of the file as one of the snippet; None if it is elsewhere."""
        if self.first <= problem.line <= self.last:
            line, column = problem.line - self.first + 1, max(problem.column - self.columns, 1)
            return problem._replace(line=line, column=column)
        is_beside = self.first - 1 <= problem.line <= self.last + 1
        if not is_beside or "return" not in problem.message:
            return None
        # That a body lacks its `return` is said of the line before or after it.
        return problem._replace(line=self.last - self.first + 1, column=1)


def broken_places(root: Node) -> Iterator[Node]:
    """Yield the nodes that couldn't be read, or that are missing, in the order of the text."""
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
_MOST_PROBLEMS = 10
_SHOWN = 40


class Wrapper(NamedTuple):
    """What makes a file of a snippet.

    Attributes:
        before: what goes before it; it ends with a line break.
        after: what goes behind it; it begins with one.
        holds: says whether a tree, whose root is given, has the snippet where it belongs and nothing else.
    """

    before: str = ""
    after: str = ""
    holds: Callable[[Node], bool] = lambda _: True


def one_item(kind: str = "") -> Callable[[Node], bool]:
    """Return what says whether a file holds one item and nothing else.

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
    """List what is wrong with a snippet.

    Args:
        code: the snippet.
        grammar: package of the grammar.
        wrapper: that makes a file of it.
        tokens: as `bracket_problem` takes them.
        context: what the snippet is a part of.
    """
    root = _tree(code, grammar, wrapper)
    found = _places_that_break(root, code, wrapper)
    if not found and wrapper.holds(root):
        return []
    # Only of code that can't be read: the pattern of the tokens is simpler than the grammar.
    brackets = _brackets(code, tokens)
    if not brackets:
        return found or [
            SyntaxProblem(1, 1, f"this isn't {_EXPECTED[context]}", "Give the context that the code is from")
        ]
    # What a wrong bracket makes unreadable says nothing: the rest is read with the brackets put right.
    brackets = _best_placed(brackets, code, grammar, wrapper)
    repaired = "".join(_repaired(code, brackets))
    rest = _places_that_break(_tree(repaired, grammar, wrapper), repaired, wrapper)
    lines = {line for one in brackets for line in (one.problem.line, one.opened)}
    told = [one.problem._replace(suggestion=_remedy(one, code, grammar, wrapper, tokens)) for one in brackets]
    told += [one for one in rest if one.line not in lines and one.line <= code.count("\n") + 1]
    return sorted(told, key=lambda one: (one.line, one.column))[:_MOST_PROBLEMS]


def _tree(code: str, grammar: str, wrapper: Wrapper) -> Node:
    return parse_tree(grammar, f"{wrapper.before}{code}{wrapper.after}".encode(errors="replace"))


def _places_that_break(root: Node, code: str, wrapper: Wrapper) -> list[SyntaxProblem]:
    """List what the grammar can't read, each place once."""
    found: dict[tuple[int, int], SyntaxProblem] = {}
    for node in broken_places(root):
        problem = _problem(node, code, wrapper)
        found.setdefault((problem.line, problem.column), problem)
        if len(found) == _MOST_PROBLEMS:
            break
    return list(found.values())


def _best_placed(brackets: list[_Bracket], code: str, grammar: str, wrapper: Wrapper) -> list[_Bracket]:
    """Return brackets, the one that is never closed with the place where closing it breaks the least.

    That is the end of the snippet, or the end of what is indented deeper than its line.
    """
    *others, last = brackets
    if last.place < len(code):
        return brackets
    lines = code.split("\n")
    row = last.problem.line - 1
    level = _indentation(lines[row])
    ends = (place for place in range(row + 1, len(lines)) if _indentation(lines[place]) <= level)
    places = [len(code), *[len("\n".join(lines[:end])) for end in islice(ends, 1)]]
    tried = [
        [*others, last._replace(place=place)] for place in places if all(one.place < place for one in others)
    ]
    return min(
        tried or [brackets],
        key=lambda each: _broken_bytes(_tree("".join(_repaired(code, each)), grammar, wrapper)),
    )


def _indentation(line: str) -> float:
    return len(line) - len(line.lstrip()) if line.strip() else math.inf


def _remedy(one: _Bracket, code: str, grammar: str, wrapper: Wrapper, tokens: re.Pattern[str]) -> str | None:
    """Return what to do about a bracket; None if less could be read of the code after that."""
    after = "".join(_repaired(code, [one]))
    tree = _tree(after, grammar, wrapper)
    is_better = len(_brackets(after, tokens)) < len(_brackets(code, tokens))
    is_read = all(each.line != one.problem.line for each in _places_that_break(tree, after, wrapper))
    breaks_less = is_read or _broken_bytes(tree) <= _broken_bytes(_tree(code, grammar, wrapper))
    return one.problem.suggestion if is_better and breaks_less else None


def _broken_bytes(root: Node) -> int:
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
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return SyntaxProblem(
        row + 1, characters + 1, f"can't be read from here: {shown}" if shown else "can't be read"
    )


def _missing(node: Node) -> tuple[str, str | None]:
    """Return what is said about a node that is missing, and what to do: words of the grammar aren't code."""
    if not node.is_named:
        return f"'{node.type}' is missing", f"Add '{node.type}'"
    words = node.type.replace("_", " ").strip()
    return ("a name is missing" if words.endswith("identifier") else f"something is missing: {words}"), None


_PAIRS = {")": "(", "]": "[", "}": "{"}
_CLOSING = {opening: closing for closing, opening in _PAIRS.items()}


class _Bracket(NamedTuple):
    """A bracket that is wrong.

    Attributes:
        problem: what is said about it.
        place: of the character before which something is put, or that is taken away.
        added: closing brackets to be put there; empty to take the character away.
        opened: line of the bracket that should be closed first; 0 if there is none.
    """

    problem: SyntaxProblem
    place: int
    added: str = ""
    opened: int = 0


def bracket_problem(code: str, tokens: re.Pattern[str]) -> SyntaxProblem | None:
    """Return the first thing that is wrong with the brackets of a snippet; None if each is closed.

    Args:
        code: the snippet.
        tokens: matches strings, characters and comments as a whole, and single brackets.
    """
    return next((one.problem for one in _brackets(code, tokens)), None)


def _brackets(code: str, tokens: re.Pattern[str]) -> list[_Bracket]:
    """List the brackets that are wrong: those that are never opened, closed by another, or never closed."""
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
        if len(found) >= _MOST_PROBLEMS:
            return found
    if opened:
        before, place = opened[-1]
        closing = _CLOSING[before]
        message = f"missing closing {_WORDS[closing]}: '{before}' is never closed"
        added = "".join(_CLOSING[each] for each, _ in reversed(opened))
        problem = SyntaxProblem(*position_in(code, place), message, f"Add '{closing}'")
        found.append(_Bracket(problem, len(code), added))
    return found


def _closed_by_another(code: str, match: re.Match[str], opened: list[tuple[str, int]]) -> Iterator[_Bracket]:
    """Take what a closing bracket closes from the list of the opened; yield what should be closed first."""
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
    """Yield the parts of a snippet with its brackets put right; no line gets another number."""
    start = 0
    for one in brackets:
        yield code[start : one.place]
        yield one.added or " "
        start = one.place + (not one.added)
    yield code[start:]


_WORDS = {")": "parenthesis", "]": "bracket", "}": "brace"}


def position_in(code: str, offset: int) -> tuple[int, int]:
    """Return line and column of a character, both from 1."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)
