"""How is the same document copied many times, faster than part by part?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from .json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Callable

_COLD_COPIES = 20
"""How many copies are made part by part before a function is compiled, which costs what 20 copies save."""

_SCALARS = (str, int, float, bool, type(None))


class Original:
    """A document that makes copies of itself; the original belongs to nobody else.

    After some copies it is turned into a function that builds the document, in a fifth of the time. Threads
    may share it: each sees the document or the function. If two threads make the function, one of the two is
    kept.

    Args:
        document: a JSON value that nobody else changes.
    """

    __slots__ = ("_document", "_left", "_make")

    def __init__(self, document: Any) -> None:
        self._document = document
        self._left = _COLD_COPIES
        self._make: Callable[[], Any] | None = None

    def copy(self) -> Any:
        """Return a copy that the caller may change."""
        document = self._document  # read first, because it is removed after the function is set
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
            return  # not only JSON, or nested too deeply: it is copied part by part
        self._document = None


def _function_of(document: Any) -> Callable[[], Any]:
    """Return a function that builds a document.

    Its syntax tree holds the values themselves, so that no text is ever compiled.
    """
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    body = ast.Lambda(args=empty, body=_expression(document), lineno=1, col_offset=0)
    made: Callable[[], Any] = eval(compile(ast.Expression(body=body), "<copy of JSON>", "eval"), {})  # noqa: S307  # a tree of constants
    return made


def _expression(value: Any) -> ast.expr:
    kind = value.__class__
    if kind is dict:
        keys = [_expression(key) for key in value]
        values = [_expression(inner) for inner in value.values()]
        return ast.Dict(keys=[*keys], values=values, lineno=1, col_offset=0)
    if kind is list:
        items = [_expression(item) for item in value]
        return ast.List(elts=items, ctx=ast.Load(), lineno=1, col_offset=0)
    if kind in _SCALARS:
        return ast.Constant(value=value, lineno=1, col_offset=0)
    raise TypeError
