"""Modules of TypeScript: their names, and what a file imports from others."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from .language import LONGEST_NAME, Import, name_of, qualified, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

__all__ = ["import_target", "imports_in", "module_of"]

_SUFFIX = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")


def module_of(path: str) -> str:
    """Return the dotted name of the module in a file."""
    return re.sub(r"(^|/)index$", "", _SUFFIX.sub("", path)).replace("/", ".")


def import_target(target: str, path: str) -> str:
    """Return the dotted name that an import in a file means; see `imports_in`."""
    module, _, name = target.partition("#")
    if module.startswith("."):
        module = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
    return qualified(module_of(module), name) if name else module_of(module)


def imports_in(node: Node) -> list[Import]:
    """Return what a node imports, or exports from another file; a target is `module#name`."""
    if node.type not in {"export_statement", "import_statement"}:
        return []
    source = node.child_by_field_name("source")
    if source is None and node.type == "import_statement" and node.named_children:  # import a = require("b")
        source = node.named_children[0].child_by_field_name("source")
    if source is None or source.end_byte - source.start_byte > LONGEST_NAME:
        return []
    return list(_imports(node, text_of(source)[1:-1]))


def _imports(node: Node, source: str) -> Iterator[Import]:
    word = node.type.partition("_")[0]
    waiting = [child for child in node.named_children if child.type != "string"][::-1] or [node]
    while waiting:
        part = waiting.pop()
        if part.type == "identifier":  # the default one
            shown = text_of(part)
            yield Import(shown, f"{source}#{shown}", f'{word} {shown} from "{source}"')
        elif part.type in {"import_specifier", "export_specifier"}:
            alias = part.child_by_field_name("alias")
            name = name_of(part)
            known = name if alias is None else text_of(alias)
            shown = name if alias is None else f"{name} as {known}"
            yield Import(known, f"{source}#{name}", f'{word} {{ {shown} }} from "{source}"')
        elif part.type in {"import_require_clause", "namespace_export", "namespace_import"}:
            known = text_of(part.named_children[0]) if part.named_children else ""
            yield Import(known, source, f'{word} * as {known} from "{source}"')
        elif part.type == "export_statement":
            yield Import("*", source, f'export * from "{source}"')
        elif part.type in {"export_clause", "import_clause", "named_imports"}:
            waiting += reversed(part.named_children)
