"""Declarations of C."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from .brace_language import BraceLanguage, Member, Place, Reading, declared, members, start_of
from .c_declarators import TYPES, is_constant, named, type_of, value_or_function
from .c_preprocessor import TOKENS, looks_like_cpp, pieces, shifted, without_macros
from .language import Import, Parsed, Wrapper, language_named, name_of, one_item, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from .language import Context, Kind

__all__ = ["CLanguage", "LANGUAGE"]

_STATEMENTS = frozenset({"declaration", "field_declaration", "function_definition", "type_definition"})
_GROUPS = frozenset({"declaration_list", "linkage_specification", "ERROR"})
_LARGE = 1 << 16
"""Bytes of a file that is read in pieces at once: one of these is nearly always broken somewhere."""


class CLanguage(BraceLanguage):
    """How declarations are read from C; a header that looks like C++ is read as that."""

    name = "c"
    grammar = "tree_sitter_c"
    called_nodes = frozenset({"field_expression", "identifier", "qualified_identifier"})
    name_nodes = frozenset({"identifier", "type_identifier"})
    tokens = TOKENS
    wrappers: Mapping[Context, Wrapper] = {
        "file": Wrapper(),
        "function_body": Wrapper("void f(void) {\n", "\n}\n", one_item("function_definition")),
        "statements": Wrapper("void f(void) { for (;;) {\n", "\n} }\n", one_item("function_definition")),
        "expression": Wrapper("int x = (\n", "\n);\n", one_item("declaration")),
    }

    def grammar_of(self, source: bytes) -> str:
        """Return the grammar of a text."""
        return "tree_sitter_cpp" if looks_like_cpp(source) else self.grammar

    def prepared(self, source: bytes) -> bytes:
        """Return a text of the same length without macros that the grammar can't read."""
        return without_macros(source)

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; a large or broken one of C in pieces."""
        grammar, text = self.grammar_of(source), self.prepared(source)
        if self.grammar != grammar:
            return language_named("cpp").parse(source)
        if self.name != "c":
            return self.parse_prepared(grammar, text)
        whole = None if len(source) > _LARGE else self.parse_prepared(grammar, text)
        if whole is not None and not whole.is_broken:
            return whole
        parts = [(place, self.parse_prepared(grammar, piece)) for place, piece in pieces(text)]
        found = tuple([shifted(one, place) for place, part in parts for one in part.declarations])
        if whole is not None and len(found) < len(whole.declarations):
            return whole
        imports = tuple([one for _, part in parts for one in part.imports])
        return Parsed(found, imports, any(part.is_broken for _, part in parts))

    def read(self, node: Node, place: Place) -> Reading:
        """Return what a node declares."""
        kind = node.type
        if kind.startswith("preproc_"):
            return self._directive(node, place)
        if kind in _GROUPS:
            body = node.child_by_field_name("body")
            is_list = body is not None and body.type == "declaration_list"
            return Reading(bodies=[(body if body is not None and is_list else node, place)])
        if kind == "enumerator":
            return Reading(members(node, self.members_in(node), "const", place))
        if kind in TYPES:
            return type_of(node, place)
        declarators = node.children_by_field_name("declarator") if kind in _STATEMENTS else []
        found = [(one, *named(one)) for one in declarators]
        made, first = node.child_by_field_name("type"), next((name for _, name, _ in found if name), None)
        inner = (
            Reading()
            if made is None or made.type not in TYPES
            else type_of(made, place, first, is_typedef=kind == "type_definition")
        )
        known = {one.name for one in inner.declarations}
        value: Kind = "type" if kind == "type_definition" else "const" if is_constant(node) else "var"
        each = [
            value_or_function(node, one, place, value, is_function=is_function)
            for one, name, is_function in found
            if name is not None and text_of(name) not in known
        ]
        declarations = [*inner.declarations, *[one for one in each if one is not None]]
        return Reading(declarations, bodies=inner.bodies, bases=inner.bases)

    def _directive(self, node: Node, place: Place) -> Reading:
        if node.type == "preproc_include":
            return Reading(imports=self.imports_in(node))
        if node.type not in {"preproc_def", "preproc_function_def"}:  # a condition
            return Reading(bodies=[(node, place)])
        at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        kind: Kind = "const" if node.type == "preproc_def" else "func"
        own = place._replace(owner="")
        return Reading([declared(node, name_of(node), kind, own, at=at, end=start_of(value), value=value)])

    def members_in(self, node: Node) -> list[Member]:
        """Return the names that a statement of a struct has for values."""
        if node.type == "enumerator":
            return [Member(name_of(node), node, None, node.child_by_field_name("value"))]
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("default_value")
        each = node.children_by_field_name("declarator") if node.type == "field_declaration" else []
        found = [named(one) for one in each]
        return [
            Member(text_of(name), name, kind, value)
            for name, is_function in found
            if name and not is_function
        ]

    def bindings_in(self, node: Node) -> list[Member]:
        """Return the parameters and variables that a node of a function brings."""
        kind = (
            node.child_by_field_name("type")
            if node.type.endswith(("declaration", "for_range_loop"))
            else None
        )
        each = [] if kind is None else [named(one)[0] for one in node.children_by_field_name("declarator")]
        return [Member(text_of(name), name, kind) for name in each if name is not None]

    def imports_in(self, node: Node) -> list[Import]:
        """Return what a node includes."""
        path = node.child_by_field_name("path") if node.type == "preproc_include" else None
        text = "" if path is None else text_of(path)
        return [Import("*", text.strip("<>"), f"#include {text}")] if text else []

    def module_of(self, path: str) -> str:
        """Return the dotted path of a file: a header and the file that implements it share it."""
        return path.rpartition(".")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name that an included file means: in quotes, without a folder, one beside it."""
        name = target.strip('"')
        beside = posixpath.dirname(path) if name != target and "/" not in name else ""
        return self.module_of(posixpath.join(beside, name))


LANGUAGE = CLanguage()
