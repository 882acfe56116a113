"""Syntax of Go snippets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .language import SyntaxProblem, parse_tree
from .wrapped import Wrapper, wrapped_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from .language import Context

__all__ = ["GO_TOKENS", "go_problems", "go_wrapper"]

_GRAMMAR = "tree_sitter_go"
GO_TOKENS = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*"? | `[^`]*`? | '(?:\\.|[^'\\\n])+'? | [\[\](){}]""",
    re.DOTALL | re.VERBOSE,
)
"""Strings, characters and comments as a whole, and brackets."""


def _is_function_body(root: Node) -> bool:
    """Return whether a file is one function after its package clause: a `}` could end it early."""
    parts = [child for child in root.named_children if child.type != "comment"]
    return [part.type for part in parts] == ["package_clause", "function_declaration"]


def _is_expression(root: Node) -> bool:
    parts = [child for child in root.named_children if child.type != "comment"]
    if [part.type for part in parts] != ["package_clause", "var_declaration"]:
        return False
    specs = [child for child in parts[1].named_children if child.type == "var_spec"]
    values = specs[0].child_by_field_name("value") if len(specs) == 1 else None
    return values is not None and values.named_child_count == 1


_INSIDE = Wrapper("package p\nfunc _() {\n", "\n}\n", _is_function_body)
_WRAPPERS: Mapping[Context, Wrapper] = {
    "file": Wrapper(),
    "function_body": _INSIDE,
    "statements": _INSIDE,
    "expression": Wrapper("package p\nvar _ =\n", "\n", _is_expression),
}


def go_wrapper(context: Context) -> Wrapper:
    """Return what makes a file of a snippet."""
    return _WRAPPERS[context]


def go_problems(code: str, context: Context) -> list[SyntaxProblem]:
    """List what is wrong with a snippet of Go.

    Args:
        code: the snippet.
        context: what it is a part of.
    """
    found = wrapped_problems(code, _GRAMMAR, _WRAPPERS[context], GO_TOKENS, context)
    return found or (_stray_statements(code) if context == "file" else [])


def _stray_statements(code: str) -> list[SyntaxProblem]:
    """Return the first statement of a whole file outside of a function: the grammar takes it there."""
    source = code.encode(errors="replace")
    top = [node for node in parse_tree(_GRAMMAR, source).named_children if node.type != "comment"]
    if not top or top[0].type != "package_clause":
        return []
    for node in top[1:]:
        if not node.type.endswith("_declaration") or node.type == "short_var_declaration":
            row = node.start_point[0]
            before = source.split(b"\n")[row][: node.start_point[1]].decode(errors="replace")
            message = "a statement stands outside of a function"
            return [SyntaxProblem(row + 1, len(before) + 1, message, "Put it into a function")]
    return []
