"""Attribute docstrings: strings below the fields in the source of a class (PEP 257)."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["attribute_docstrings"]


def attribute_docstrings(cls: type, names: Collection[str]) -> dict[str, str]:
    """Return the docstrings below the fields of a class, the nearest class first.

    Args:
        cls: a class; if its source can't be found, there are none.
        names: the fields.
    """
    found: dict[str, str] = {}
    for base in cls.__mro__[:-1]:
        for name, text in _own_docstrings(base):
            if name in names:
                found.setdefault(name, text)
    return found


def _own_docstrings(cls: type) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return
    body = [statement for node in tree.body if isinstance(node, ast.ClassDef) for statement in node.body]
    for statement, following in pairwise(body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            yield statement.target.id, inspect.cleandoc(following.value.value)
