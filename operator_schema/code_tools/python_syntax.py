"""Syntax of Python snippets, judged by the running interpreter's own parser; nothing is run."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import TYPE_CHECKING

from .language import SyntaxProblem, parse_tree

if TYPE_CHECKING:
    from tree_sitter import Node

    from .language import Context

__all__ = ["python_problems"]

_NAME = "operator_schema_snippet"
_QUIET = ("ignore", None, Warning, re.compile(_NAME), 0)
_MOST_LEVELS = 150
"""Deeper code than this is refused, before a parser that uses the C stack sees it."""

_SUGGESTED = (
    ("'(' was never closed", "Add ')'"),
    ("'[' was never closed", "Add ']'"),
    ("'{' was never closed", "Add '}'"),
    ("unmatched", "Remove the bracket, or open it first"),
    ("expected an indented block", "Write the block, or `pass`"),
    ("unexpected indent", "Give all statements of a block the same indentation"),
    ("unindent does not match", "Give all statements of a block the same indentation"),
    ("unterminated", "Close the string with the quotes that it begins with"),
    ("expected ':'", "End the line with a colon"),
    ("invalid non-printable character", "Remove the invisible character"),
    ("outside function", "Use the context function_body for the inside of a function"),
)


def python_problems(code: str, context: Context) -> list[SyntaxProblem]:
    """List what is wrong with a snippet of Python.

    Args:
        code: the snippet.
        context: what it is a part of.
    """
    if "\0" in code:
        before = code.partition("\0")[0]
        line = before.count("\n") + 1
        return [SyntaxProblem(line, len(before) - before.rfind("\n"), "a null character in the code")]
    text = textwrap.dedent(code) if context in {"function_body", "statements"} else code
    removed = len(code.partition("\n")[0]) - len(text.partition("\n")[0])
    if _levels(text) > _MOST_LEVELS:
        return [SyntaxProblem(1, 1, f"the code nests deeper than {_MOST_LEVELS} levels")]
    try:
        _compiled(text, context)
    except SyntaxError as error:
        return [_problem(error, removed)]
    except (ValueError, OverflowError, MemoryError, RecursionError) as error:
        return [SyntaxProblem(1, 1, f"the parser gives up: {str(error) or type(error).__name__}")]
    return []


def _levels(text: str) -> int:
    """Return how deep the tree of a snippet is, as far as it matters."""
    source = text.encode(errors="replace")
    waiting: list[tuple[Node, int]] = [(parse_tree("tree_sitter_python", source), 1)]
    deepest = 0
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        if level > _MOST_LEVELS:
            break
        waiting += [(child, level + 1) for child in node.named_children]
    return deepest


def _compiled(text: str, context: Context) -> None:
    _be_quiet()
    if context == "expression":
        tree = ast.parse(text.strip(), _NAME, "eval")
        compile(tree, _NAME, "eval", dont_inherit=True, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        return
    module = ast.parse(text, _NAME)
    if context != "file":
        module = _inside_a_function(module, loops=context == "statements")
    compile(module, _NAME, "exec", dont_inherit=True)


def _inside_a_function(module: ast.Module, *, loops: bool) -> ast.Module:
    """Return a module with a function that has the statements, so that `return` and `await` have a place."""
    has_await = any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in ast.walk(module))
    body: list[ast.stmt] = module.body or [ast.Pass(lineno=1, col_offset=0)]
    if loops:  # statements may come out of a loop
        body = [ast.While(ast.Constant(value=True), body, [])]
    source = "async def snippet(self, cls): pass" if has_await else "def snippet(self, cls): pass"
    made = ast.parse(source, _NAME)
    function = made.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))  # noqa: S101  # written above
    function.body = body
    return ast.fix_missing_locations(made)


def _be_quiet() -> None:
    # Python warns about odd escapes while it parses. `catch_warnings` would change what other threads see.
    if _QUIET not in warnings.filters:
        warnings.filterwarnings("ignore", category=Warning, module=_QUIET[3].pattern)


def _problem(error: SyntaxError, removed: int) -> SyntaxProblem:
    message = error.msg or "invalid syntax"
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    suggestion = next((hint for said, hint in _SUGGESTED if said in message), None)
    return SyntaxProblem(line, column + removed, message, suggestion)
