"""Which errors does the grammar of a language find in a snippet?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..message_text import clip
from .brackets import MOST_PROBLEMS, repair, unpaired_brackets, wrong_brackets
from .snippets import SyntaxProblem, broken_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from .brackets import WrongBracket
    from .snippets import Context, SnippetReader, Wrapper

_EXPECTED: Mapping[Context, str] = {
    "file": "a file",
    "function_body": "the inside of one function",
    "statements": "a list of statements",
    "expression": "one expression",
}
_SHOWN = 40


def grammar_errors(code: str, reader: SnippetReader, context: Context) -> list[SyntaxProblem]:
    """List the syntax errors of a snippet."""
    found = _list_broken(code, reader)
    if not found and reader.wrapper.holds(reader.tree(code)):
        return []
    # Only of code that can't be read: the pattern of the tokens is simpler than the grammar.
    brackets = wrong_brackets(code, reader)
    if not brackets:
        message = f"this isn't {_EXPECTED[context]}"
        return found or [SyntaxProblem(1, 1, message, "Give the context that the code is from")]
    # What a wrong bracket makes unreadable says nothing: the rest is read with the brackets put right.
    rest = _list_broken(repair(code, brackets), reader)
    lines = {line for one in brackets for line in (one.problem.line, one.opened)}
    last = code.count("\n") + 1
    # What is missing in the repaired code may be there in what was written, so only its place is shown.
    errors = [one._replace(suggestion=None) for one in rest if one.line not in lines and one.line <= last]
    errors += _bracket_errors(brackets, len(errors), code, reader)
    return sorted(errors, key=lambda one: (one.line, one.column))[:MOST_PROBLEMS]


def _list_broken(code: str, reader: SnippetReader) -> list[SyntaxProblem]:
    """List the places that the grammar can't read, each once."""
    found: dict[tuple[int, int], SyntaxProblem] = {}
    for node in broken_places(reader.tree(code)):
        problem = _problem_at(node, code, reader.wrapper)
        found.setdefault((problem.line, problem.column), problem)
        if len(found) == MOST_PROBLEMS:
            break
    return list(found.values())


def _problem_at(node: Node, code: str, wrapper: Wrapper) -> SyntaxProblem:
    lines = code.split("\n")
    row, column = node.start_point[0] - wrapper.before.count("\n"), node.start_point[1]
    if row < 0:
        row, column = 0, 0
    elif row >= len(lines):
        row, column = len(lines) - 1, len(lines[-1].encode(errors="replace"))
    characters = len(lines[row].encode(errors="replace")[:column].decode(errors="replace"))
    if node.is_missing:
        return SyntaxProblem(row + 1, characters + 1, *_missing_node(node))
    # A broken place may begin before the snippet, and end behind it.
    start = max(len(wrapper.before.encode()) - node.start_byte, 0)
    end = len(wrapper.before.encode()) + len(code.encode(errors="replace")) - node.start_byte
    text = " ".join((node.text or b"")[start : max(end, 0)].decode(errors="replace").split())
    shown = clip(text, _SHOWN)
    return SyntaxProblem(
        row + 1, characters + 1, f"can't be read from here: {shown}" if shown else "can't be read"
    )


def _missing_node(node: Node) -> tuple[str, str | None]:
    """Return the message about a missing node, and a suggestion if the node is code."""
    if not node.is_named:
        return f"'{node.type}' is missing", f"Add '{node.type}'"
    words = node.type.replace("_", " ").strip()
    return ("a name is missing" if words.endswith("identifier") else f"something is missing: {words}"), None


def _bracket_errors(
    brackets: Sequence[WrongBracket], others: int, code: str, reader: SnippetReader
) -> Iterator[SyntaxProblem]:
    """Yield the problems of brackets; each has a suggestion only if following it leaves fewer problems."""
    wrong, broken = len(unpaired_brackets(code, reader.tokens)), reader.count_broken(code)
    for one in brackets:
        after = repair(code, [one])
        left = len(unpaired_brackets(after, reader.tokens))
        if left:
            helps = left < wrong and reader.count_broken(after) <= broken
        else:
            helps = len(_list_broken(after, reader)) < len(brackets) + others
        yield one.problem if helps else one.problem._replace(suggestion=None)
