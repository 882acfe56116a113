"""Which syntax errors does a snippet of Python have?"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import TYPE_CHECKING, cast

from .brackets import MOST_PROBLEMS, repair, wrong_brackets
from .parsing import parse_tree
from .snippets import SnippetReader, SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .snippets import Context

_NAME = "operator_schema_snippet"
_QUIET = ("ignore", None, Warning, re.compile(_NAME), 0)
_MOST_LEVELS = 150
"""Deeper code than this is refused, before a parser that uses the C stack sees it."""

_REMOVE = "Remove the bracket, or open it first"
_SUGGESTED = (
    ("'(' was never closed", "Add ')'"),
    ("'[' was never closed", "Add ']'"),
    ("'{' was never closed", "Add '}'"),
    ("unmatched", _REMOVE),
    ("expected an indented block", "Write the block, or `pass`"),
    ("unexpected indent", "Give all statements of a block the same indentation"),
    ("unindent does not match", "Give all statements of a block the same indentation"),
    ("unterminated", "Close the string with the quotes that it begins with"),
    ("expected ':'", "End the line with a colon"),
    ("invalid non-printable character", "Remove the invisible character"),
    ("outside function", "Use the context function_body for the inside of a function"),
)


def python_problems(code: str, context: Context, tokens: re.Pattern[str]) -> list[SyntaxProblem]:
    """List the syntax errors of a snippet of Python."""
    if "\0" in code:
        before = code.partition("\0")[0]
        line = before.count("\n") + 1
        return [SyntaxProblem(line, len(before) - before.rfind("\n"), "a null character in the code")]
    found = _list_problems(code, context, tokens)
    return [
        one._replace(suggestion=None)
        if one.suggestion == _REMOVE
        and len(_list_problems(_without_character(code, one), context, tokens)) > len(found)
        else one
        for one in found
    ]


def _list_problems(code: str, context: Context, tokens: re.Pattern[str]) -> list[SyntaxProblem]:
    text = code.strip() if context == "expression" else code if context == "file" else textwrap.dedent(code)
    return list(_each_problem(text, code, context, tokens))


def _without_character(code: str, problem: SyntaxProblem) -> str:
    """Remove the character at the place of a problem."""
    lines = code.split("\n")
    line = lines[problem.line - 1]
    lines[problem.line - 1] = f"{line[: problem.column - 1]} {line[problem.column :]}"
    return "\n".join(lines)


def _each_problem(
    written: str, code: str, context: Context, tokens: re.Pattern[str]
) -> Iterator[SyntaxProblem]:
    """Yield the syntax errors of a text in the order in which Python finds them.

    Python stops at the first one, so what is wrong is put right, and the rest is read again.
    """
    text = written
    seen: set[int] = set()
    for _ in range(2 * MOST_PROBLEMS):
        if _count_levels(text) > _MOST_LEVELS:
            if not seen:
                yield SyntaxProblem(1, 1, f"the code nests deeper than {_MOST_LEVELS} levels")
            return
        try:
            _compile_snippet(text, context)
        except SyntaxError as error:
            problem = _problem_of(error, code, written)
            if problem.line not in seen:
                yield problem
            after = _remove_error(text, error, context, tokens)
            if after == text:
                return
            seen.add(problem.line)
            text = after
        except (ValueError, OverflowError, MemoryError, RecursionError) as error:
            if not seen:
                yield SyntaxProblem(1, 1, f"the parser gives up: {str(error) or type(error).__name__}")
            return
        else:
            return


def _count_levels(text: str) -> int:
    """Return how deeply a snippet is nested, as far as it matters."""
    # A cursor makes no objects of the nodes that it passes, which would take most of the time.
    cursor = parse_tree("tree_sitter_python", text.encode(errors="replace")).walk()
    level = deepest = 1
    while deepest <= _MOST_LEVELS:
        if cursor.goto_first_child():
            level += 1
        else:
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return deepest
                level -= 1
        if level > deepest and cursor.node is not None and cursor.node.is_named:
            deepest = level
    return deepest


def _compile_snippet(text: str, context: Context) -> None:
    _ignore_warnings()
    if context == "expression":
        tree = ast.parse(text, _NAME, "eval")
        _number_functions(tree, text)
        compile(tree, _NAME, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True, optimize=0)
        return
    module = ast.parse(text, _NAME)
    if context != "file":
        module = _inside_a_function(module, text, loops=context == "statements")
    _number_functions(module, text)
    compile(module, _NAME, "exec", dont_inherit=True, optimize=0)  # with docstrings


_ALIKE = re.compile(r"(?:\b(?:class|def|lambda)|for)\b")
"""What any function, class and comprehension has in its text; a number may touch a `for`, as in `[0for`."""


def _number_functions(tree: ast.AST, text: str) -> None:
    """Put a different number into each function, class and comprehension.

    Python 3.11 compares each one with all those before it that differ by their lines alone: 200 kB of
    `lambda:0` take 10 seconds, in which no other thread runs.
    """
    if _ALIKE.search(text) is None:
        return
    for number, node in enumerate(_nodes(tree)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                # As a docstring, which is kept. What was one is a string that does nothing.
                docstring = ast.Constant(str(number), lineno=node.lineno, col_offset=node.col_offset)
                node.body.insert(0, ast.copy_location(ast.Expr(docstring), docstring))
            case ast.Lambda():
                node.body = _add_number(number, node.body)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                node.elt = _add_number(number, node.elt)
            case ast.DictComp():
                node.value = _add_number(number, node.value)
            case _:
                pass


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a tree, each before it is changed, in half of the time of `ast.walk`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [one for one in cast("list[object]", value) if isinstance(one, ast.AST)]
        yield node


def _add_number(number: int, value: ast.expr) -> ast.expr:
    pair = ast.Tuple([ast.copy_location(ast.Constant(number), value), value], ast.Load())
    return ast.copy_location(pair, value)


def _inside_a_function(module: ast.Module, text: str, *, loops: bool) -> ast.Module:
    """Put statements into an async function, so that `return` and `await` are allowed."""
    has_await = ("await" in text or "async" in text) and any(
        isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in _nodes(module)
    )
    body: list[ast.stmt] = module.body or [ast.Pass(lineno=1, col_offset=0)]
    if loops:  # statements may come out of a loop
        forever = ast.Constant(value=True, lineno=1, col_offset=0)
        body = [ast.While(forever, body, [], lineno=1, col_offset=0)]
    source = "async def snippet(self, cls): pass" if has_await else "def snippet(self, cls): pass"
    made = ast.parse(source, _NAME)
    function = made.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))  # noqa: S101  # written above
    function.body = body
    return made


def _ignore_warnings() -> None:
    # Python warns about odd escapes while it parses. `catch_warnings` would change what other threads see.
    if _QUIET not in warnings.filters:
        warnings.filterwarnings("ignore", category=Warning, module=_QUIET[3].pattern)


def _problem_of(error: SyntaxError, code: str, text: str) -> SyntaxProblem:
    """Move a problem from the text without indentation to the code as it was written."""
    message = error.msg or "invalid syntax"
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    suggestion = next((hint for part, hint in _SUGGESTED if part in message), None)
    read = text.split("\n")[line - 1 : line]
    line += code[: code.find(text)].count("\n") if text in code else 0
    written = code.split("\n")[line - 1 : line]
    removed = written[0].find(read[0]) if read and written else 0
    return SyntaxProblem(line, column + max(removed, 0), message, suggestion)


# --- Reading on behind an error -----------------------------------------------------------------------

_BLOCK_ON = re.compile(r"expected an indented block after .* on line (\d+)")
_FIRST_WORD = re.compile(r"(?:async[ \t]+)?([a-z]+)\b")
_HEADS = {
    **dict.fromkeys(("for", "if", "while", "with"), "while 1:"),
    **{word: f"{word}:" for word in ("else", "finally", "try")},
    "case": "case 0:",
    "class": "class _:",
    "def": "def _():",
    "elif": "elif 0:",
    "except": "except Exception:",
    "match": "match 0:",
}
"""What stands for the first line of a compound statement that can't be read."""


def _remove_error(text: str, error: SyntaxError, context: Context, tokens: re.Pattern[str]) -> str:
    """Remove an error from a text without moving any line; if that isn't possible, return the same text."""
    balanced = repair(text, wrong_brackets(text, SnippetReader("tree_sitter_python", tokens)))
    if balanced != text or context == "expression":
        return balanced
    lines = text.split("\n")
    row = min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
    message = error.msg or ""
    empty = _BLOCK_ON.match(message)
    if empty is not None:
        return _replace_statement(
            lines, _continued_rows(text, lines, tokens), int(empty[1]) - 1, is_empty=True
        )
    if "unexpected indent" in message:  # what comes before it becomes the head of a block
        above = _row_above(lines, row)
        return text if above is None else _replace_row(lines, above, f"{_margin(lines[above])}while 1:")
    if "unindent does not match" in message:
        above = _row_above(lines, row)
        return text if above is None else _replace_row(lines, row, f"{_margin(lines[above])}pass")
    return _replace_statement(lines, _continued_rows(text, lines, tokens), row, is_empty=False)


def _replace_statement(lines: list[str], joined: set[int], row: int, *, is_empty: bool) -> str:
    """Replace the statement around a row by one that does nothing.

    Args:
        lines: of the text.
        joined: rows that belong to the statement of the row before.
        row: in the statement.
        is_empty: whether the block that should follow is missing.
    """
    first = last = row
    while first in joined:
        first -= 1
    while last + 1 in joined:
        last += 1
    margin = _margin(lines[first])
    below = next((line for line in lines[last + 1 :] if line.strip()), "")
    has_block = not is_empty and len(_margin(below)) > len(margin)
    word = _FIRST_WORD.match(lines[first].strip())
    head = _HEADS.get(word[1], "") if word is not None else ""
    if has_block:
        stands = head or "while 1:"
    elif head and word is not None and word[1] != "match":
        stands = f"{head} pass"
    else:
        stands = "pass"
    blank = [""] * (last - first)
    return "\n".join([*lines[:first], f"{margin}{stands}", *blank, *lines[last + 1 :]])


def _continued_rows(text: str, lines: list[str], tokens: re.Pattern[str]) -> set[int]:
    """Return the rows that continue the statement of the row before them."""
    joined = {row + 1 for row, line in enumerate(lines) if line.endswith("\\")}
    level = row = first = counted = 0
    for match in tokens.finditer(text):
        row += text.count("\n", counted, match.start())
        counted = match.start()
        token = match.group()
        if token in {"(", "[", "{"}:
            first = first if level else row
            level += 1
        elif token in {")", "]", "}"}:
            level = max(level - 1, 0)
            if not level:
                joined.update(range(first + 1, row + 1))
        else:
            joined.update(range(row + 1, row + 1 + token.count("\n")))
    return joined


def _row_above(lines: list[str], row: int) -> int | None:
    """Return the nearest row above that has code; None if there is none."""
    return next((one for one in range(row - 1, -1, -1) if lines[one].strip()), None)


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _replace_row(lines: list[str], row: int, text: str) -> str:
    return "\n".join([*lines[:row], text, *lines[row + 1 :]])
