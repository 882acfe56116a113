"""A snippet as a file, and what is wrong with it by the grammar of its language and by its brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .language import SyntaxProblem, parse_tree

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

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
    root = parse_tree(grammar, f"{wrapper.before}{code}{wrapper.after}".encode(errors="replace"))
    found: dict[tuple[int, int], SyntaxProblem] = {}
    for node in broken_places(root):
        problem = _problem(node, code, wrapper)
        found.setdefault((problem.line, problem.column), problem)
        if len(found) == _MOST_PROBLEMS:
            break
    if not found and wrapper.holds(root):
        return []
    # Only of code that can't be read: the pattern of the tokens is simpler than the grammar.
    unbalanced = bracket_problem(code, tokens)
    if unbalanced is not None:
        return [unbalanced]
    return list(found.values()) or [
        SyntaxProblem(1, 1, f"this isn't {_EXPECTED[context]}", "Give the context that the code is from")
    ]


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


def bracket_problem(code: str, tokens: re.Pattern[str]) -> SyntaxProblem | None:
    """Return what is wrong with the brackets of a snippet; None if each is closed.

    Args:
        code: the snippet.
        tokens: matches strings, characters and comments as a whole, and single brackets.
    """
    opened: list[tuple[str, int]] = []
    for match in tokens.finditer(code):
        token = match.group()
        if token in _CLOSING:
            opened.append((token, match.start()))
        elif token in _PAIRS:
            if not opened:
                message = f"'{token}' closes what was never opened"
                return SyntaxProblem(
                    *position_in(code, match.start()), message, f"Remove '{token}', or open it"
                )
            before, place = opened.pop()
            if before != _PAIRS[token]:
                line, column = position_in(code, place)
                message = f"'{token}' does not close '{before}' of line {line}, column {column}"
                hint = f"Write '{_CLOSING[before]}' first"
                return SyntaxProblem(*position_in(code, match.start()), message, hint)
    if not opened:
        return None
    before, place = opened[-1]
    closing = _CLOSING[before]
    message = f"missing closing {_WORDS[closing]}: '{before}' is never closed"
    return SyntaxProblem(*position_in(code, place), message, f"Add '{closing}'")


_WORDS = {")": "parenthesis", "]": "bracket", "}": "brace"}


def position_in(code: str, offset: int) -> tuple[int, int]:
    """Return line and column of a character, both from 1."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)
