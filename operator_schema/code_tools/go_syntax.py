"""Which syntax errors does a snippet of Go have?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .language import SyntaxProblem, parse_tree
from .snippets import Wrapper, wrapped_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from .language import Context, Language


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
    """Return the text to put around a snippet so that it becomes a file."""
    return _WRAPPERS[context]


def go_problems(language: Language, code: str, context: Context) -> list[SyntaxProblem]:
    """List the syntax errors of a snippet of Go.

    Args:
        language: Go.
        code: the snippet.
        context: the kind of text that it is.
    """
    found = wrapped_problems(code, language.grammar, go_wrapper(context), language.tokens, context)
    return found or (_stray_statements(code, language.grammar) if context == "file" else [])


def _stray_statements(code: str, grammar: str) -> list[SyntaxProblem]:
    """Return the first statement of a file that is outside of a function, which the grammar accepts."""
    source = code.encode(errors="replace")
    top = [node for node in parse_tree(grammar, source).named_children if node.type != "comment"]
    if not top or top[0].type != "package_clause":
        return []
    for node in top[1:]:
        if not node.type.endswith("_declaration") or node.type == "short_var_declaration":
            row = node.start_point[0]
            before = source.split(b"\n")[row][: node.start_point[1]].decode(errors="replace")
            message = "a statement is outside of a function"
            return [SyntaxProblem(row + 1, len(before) + 1, message, "Put it into a function")]
    return []
