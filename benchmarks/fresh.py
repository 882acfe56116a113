"""Make new classes and functions from the sources of this folder, so that no cache can know them."""

from __future__ import annotations

import ast
import functools
import itertools
import sys
from collections import deque
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

FOLDER = Path(__file__).parent
KEPT_MODULES = 128

NEEDED = {
    "GeoSearchInput": ("GeoSearchInput", "Coordinate"),
    "ParseURLInput": ("ParseURLInput", "URLComponent"),
    "Event": ("Event", "Attendee", "Coordinate"),
}
"""The classes that each type is made of."""

_numbers = itertools.count()
_kept: deque[str] = deque()


BARE = "bare"
"""The style without descriptions."""


class _Annotate(ast.NodeTransformer):
    """Give every described field `Annotated[…, describe("text")]` in place of `param_descriptions`.

    Without `describe` the descriptions are dropped.
    """

    def __init__(self, describe: str) -> None:
        self.describe = describe

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:  # ast's name
        """Move the descriptions of one class."""
        tables = [
            part for part in node.body if isinstance(part, ast.Assign) and isinstance(part.value, ast.Dict)
        ]
        if not tables:
            return node
        descriptions = ast.literal_eval(tables[0].value) if self.describe else {}
        node.body = [part for part in node.body if part is not tables[0]]
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and (text := descriptions.get(part.target.id)):
                described = f"Annotated[{ast.unparse(part.annotation)}, {self.describe}]".replace(
                    "…", repr(text)
                )
                part.annotation = ast.parse(described, mode="eval").body
        return node


@functools.cache
def _code(file: str, style: str, classes: tuple[str, ...]) -> CodeType:
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    tree.body = [
        part
        for part in tree.body
        if not classes or not isinstance(part, ast.ClassDef) or part.name in classes
    ]
    imported, _, describe = style.partition("; ")
    if style:
        tree = _Annotate(describe).visit(tree)
    if describe:
        tree.body[2:2] = ast.parse(f"from typing import Annotated\n{imported}").body
    return compile(ast.fix_missing_locations(tree), f"<fresh {file}>", "exec")


def fresh_module(*files: str, style: str = "", classes: tuple[str, ...] = ()) -> ModuleType:
    """Run sources in a module of their own.

    Args:
        files: names of files of this folder.
        style: how fields are described: `""` leaves the tables of `param_descriptions` as they are,
            `BARE` drops them, `"import of a name; call of it with … for the text"` writes `Annotated`.
        classes: the classes to define; all by default.

    Returns:
        The module. It stays in `sys.modules`, where annotations are looked up, until many more are made.
    """
    module = _module()
    for file in files:
        exec(_code(file, style, classes), vars(module))
    return module


def fresh_class(name: str, style: str = "") -> type[Any]:
    """Return one of the three types, as a new class."""
    return fresh_classes(name, style)[0]


def fresh_classes(name: str, style: str = "") -> list[type[Any]]:
    """Return one of the three types and the classes that it is made of, the type first."""
    module = fresh_module("types_.py", style=style, classes=NEEDED[name])
    return [getattr(module, each) for each in NEEDED[name]]


def module_of_source(source: str) -> ModuleType:
    """Run a source text in a module of its own."""
    module = _module()
    exec(compile(source, f"<{module.__name__}>", "exec"), vars(module))
    return module


def _module() -> ModuleType:
    name = f"fresh_{next(_numbers)}"
    module = sys.modules[name] = ModuleType(name)
    _kept.append(name)
    if len(_kept) > KEPT_MODULES:
        del sys.modules[_kept.popleft()]
    return module
