"""Syntax of Go snippets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .wrapped import Wrapper, wrapped_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from .language import Context, SyntaxProblem

__all__ = ["GO_TOKENS", "go_problems", "go_wrapper"]

GO_TOKENS = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*" | `[^`]*` | '(?:\\.|[^'\\\n])+' | [\[\](){}]""",
    re.DOTALL | re.VERBOSE,
)
"""Strings, characters and comments as a whole, and brackets."""


def _is_function_body(root: Node) -> bool:
    """Say whether a file holds one function after its package clause: `}` in a snippet could end it early."""
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
    return wrapped_problems(code, "tree_sitter_go", _WRAPPERS[context], GO_TOKENS, context)
