"""What is a snippet of code, and how is it completed to a file that a grammar can read?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from .parsing import parse_tree

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

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
        # Checkers report a missing `return` at the line before or after the body.
        return problem._replace(line=self.last - self.first + 1, column=1)


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


class SnippetReader(NamedTuple):
    """Reads snippets of one kind.

    Attributes:
        grammar: package of the grammar.
        tokens: matches strings, characters and comments as a whole, and single brackets.
        wrapper: the text to put around a snippet.
    """

    grammar: str
    tokens: re.Pattern[str]
    wrapper: Wrapper = Wrapper()

    def tree(self, code: str) -> Node:
        """Return the root of the tree of a snippet with the text around it."""
        text = f"{self.wrapper.before}{code}{self.wrapper.after}"
        return parse_tree(self.grammar, text.encode(errors="replace"))

    def count_broken(self, code: str) -> int:
        """Return how many bytes of a snippet the grammar can't read."""
        return sum([max(node.end_byte - node.start_byte, 1) for node in broken_places(self.tree(code))])


def broken_places(root: Node) -> Iterator[Node]:
    """Yield the nodes with errors, and the missing ones, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            waiting += reversed(node.children)


def position_in(code: str, offset: int) -> tuple[int, int]:
    """Return the line and column of a character, both from 1."""
    return code.count("\n", 0, offset) + 1, offset - code.rfind("\n", 0, offset)
