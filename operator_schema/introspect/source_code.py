"""Where is a class written, and which texts stand below its fields? Reads the source code."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..message_text import class_name, one_line
from .node_kinds import visit
from .nodes import ObjectNode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ..findings import Finding
    from .nodes import Graph

_SHOWN_LENGTH = 200


def with_places(complaints: Sequence[Finding], graph: Graph) -> list[Finding]:
    """Add file and line to complaints about the classes inside a registered type.

    Args:
        complaints: complaints about the type.
        graph: the type's graph, with `UNKNOWN` in the places that could not be read.
    """
    root = graph.resolve_root()
    wanted = {complaint.type for complaint in complaints}
    classes: dict[str, set[type]] = {}
    for node in visit([graph.root, *graph.definitions.values()]):
        if isinstance(node, ObjectNode) and node is not root and node.name in wanted:
            classes.setdefault(node.name, set()).add(node.type)
    places = {name: place_of(*several) for name, several in classes.items() if len(several) == 1}
    return [complaint.replace(where=places.get(complaint.type or "")) for complaint in complaints]


def place_of(cls: type) -> str | None:
    """Return file and line of a class; None unless the source has exactly one class of its name."""
    module = sys.modules.get(cls.__module__)
    file: Any = getattr(module, "__dict__", {}).get("__file__")
    if not isinstance(file, str):
        return None
    statement = re.compile(rf"\s*class\s+{re.escape(class_name(cls))}\b")
    lines = [i for i, line in enumerate(linecache.getlines(file), 1) if statement.match(line)]
    return f"{one_line(file, _SHOWN_LENGTH)}:{lines[0]}" if len(lines) == 1 else None


def attribute_docstrings(cls: type, names: Collection[str]) -> dict[str, str]:
    """Return the docstrings below the fields of a class, the nearest class first.

    Args:
        cls: a class; if its source can't be found, the result is empty.
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
