"""A JSON document of which every caller gets a copy of its own, such as the definition of a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .json_values import copy_json

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

__all__ = ["Original"]

_COLD_COPIES = 20
"""Copies that are made part by part, before a function is compiled: it costs as much as 20 copies save."""

_SCALARS = (str, int, float, bool, type(None))


class Original:
    """A document of which copies are made, and which nobody else has.

    After some copies it becomes a function that builds the document: a fifth of the time. Threads may
    share it: each sees the document, or the function. Both may be made twice; then one of two equals stays.

    Args:
        document: a JSON value that nobody else changes.
    """

    __slots__ = ("_document", "_left", "_make")

    def __init__(self, document: Any) -> None:
        self._document = document
        self._left = _COLD_COPIES
        self._make: Callable[[], Any] | None = None

    def copy(self) -> Any:
        """Return a copy, the caller's own."""
        document = self._document  # first: it goes away after the function has come
        make = self._make
        if make is not None:
            return make()
        self._left -= 1
        if self._left == 0:
            self._compile(document)
        return copy_json(document)

    def _compile(self, document: Any) -> None:
        try:
            self._make = _function_of(document)
        except (TypeError, ValueError, RecursionError, MemoryError):
            return  # something else than JSON is in it, or it nests too deep: it is copied part by part
        self._document = None


def _function_of(document: Any) -> Callable[[], Any]:
    """Return a function that builds a document.

    Its syntax tree is made of the values themselves: no text becomes code.
    """
    import ast

    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    body = ast.Lambda(args=empty, body=_expression(ast, document), lineno=1, col_offset=0)
    made: Callable[[], Any] = eval(compile(ast.Expression(body=body), "<copy of JSON>", "eval"), {})  # noqa: S307  # a tree of constants
    return made


def _expression(tree: Any, value: Any) -> ast.expr:
    kind = value.__class__
    if kind is dict:
        keys = [_expression(tree, key) for key in value]
        values = [_expression(tree, inner) for inner in value.values()]
        found: ast.expr = tree.Dict(keys=keys, values=values, lineno=1, col_offset=0)
    elif kind is list:
        items = [_expression(tree, item) for item in value]
        found = tree.List(elts=items, ctx=tree.Load(), lineno=1, col_offset=0)
    elif kind in _SCALARS:
        found = tree.Constant(value=value, lineno=1, col_offset=0)
    else:
        raise TypeError
    return found
