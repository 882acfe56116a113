"""What does a file of Rust declare?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .language import Base, Declaration, Import, Language, Parsed, Span, TypeField, lexer
from .nodes import (
    LONGEST_NAME,
    NodePlace,
    NodeReading,
    calls_in,
    declare,
    head_before,
    name_of,
    nodes_in,
    read_tree,
    span_of,
    text_of,
)
from .parsing import parse_tree
from .rust_traits import PRELUDE, PROVIDED
from .snippets import Wrapper, one_item

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from .language import Kind
    from .snippets import Context

_GRAMMAR = "tree_sitter_rust"
_KINDS: Mapping[str, Kind] = {
    "const_item": "const",
    "enum_item": "type",
    "function_item": "func",
    "function_signature_item": "func",
    "macro_definition": "func",
    "static_item": "var",
    "struct_item": "struct",
    "trait_item": "interface",
    "type_item": "type",
    "union_item": "struct",
}
_AROUND_TYPES = {
    "dynamic_type": "trait",
    "generic_type": "type",
    "pointer_type": "type",
    "reference_type": "type",
}
"""What may stand around the name of a type, with the field that holds the rest."""
_CALLED = frozenset({"field_expression", "identifier", "scoped_identifier"})
_COMMENT = re.compile(r"//[^\n]*")
_USE_PARTS = re.compile(r"[{},]|[^{},]+")
_DOC = re.compile(r"///(?!/)|/\*\*(?![*/])")
"""Source: https://doc.rust-lang.org/reference/comments.html#doc-comments"""

_INSIDE = Wrapper("fn f() {\n", "\n}\n", one_item("function_item"))
_WRAPPERS: Mapping[Context, Wrapper] = {
    "file": Wrapper(),
    "function_body": _INSIDE,
    "statements": _INSIDE,
    "expression": Wrapper("const X: T =\n", "\n;\n", one_item()),
}


class RustLanguage(Language):
    """Reads declarations from Rust."""

    name = family = "rust"
    grammar = _GRAMMAR
    self_names = frozenset({"self", "Self"})
    hidden, tokens = lexer(
        r"""//[^\n]* | /\*.*?(?:\*/|\Z) | r(\#*)".*?(?:"\1|\Z) | "(?:\\.|[^"\\])*(?:"|\\?\Z) |
            '(?:\\.|[^'\\\n])'"""
    )
    wrappers = _WRAPPERS

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        return read_tree(parse_tree(_GRAMMAR, source), _read_node, _children_with_docs)

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one struct."""
        found: list[TypeField] = []
        for node in nodes_in(_GRAMMAR, source):
            name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
            if node.type == "field_declaration" and name is not None and kind is not None:
                found.append(TypeField(text_of(name), name.start_byte, span_of(kind)))
        return found

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        return calls_in(_GRAMMAR, source, _CALLED, {"identifier", "type_identifier"})

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function."""
        uses = (node for node in nodes_in(_GRAMMAR, source) if node.type == "use_declaration")
        return tuple([found for node in uses for found in _read_imports(text_of(node))])

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module in a file."""
        return re.sub(r"(^|/)(mod|lib|main)\.rs$", "", path).removesuffix(".rs").replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of the module or item that an import means."""
        folder = re.match(r"(?:.*/)?src(?=/)", path)
        if folder is not None and target.startswith("crate::"):
            target = f"{folder[0]}/{target.removeprefix('crate::')}"
        elif target.startswith("self::"):
            here = re.sub(r"(^|/)(mod|lib|main)\.rs$|\.rs$", "", path)
            target = f"{here}/{target.removeprefix('self::')}".strip("/")
        return re.sub(r"^(crate|self|super)::", "", target).replace("::", ".").replace("/", ".")

    def is_own_library(self, target: str) -> bool:
        """Return whether a path leads into the standard library."""
        return target.partition("::")[0] in {"alloc", "core", "std"}

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the methods that a trait of Rust's own library provides; None for another trait."""
        head, _, name = base.rpartition(".")
        if name in {"Deref", "DerefMut"} or not (
            self.is_own_library(head.partition(".")[0]) or name in PRELUDE
        ):
            return None  # a type has all methods of the one that it derefs to
        return PROVIDED.get(name, ())


LANGUAGE = RustLanguage()


def _read_node(node: Node, place: NodePlace) -> NodeReading:
    """Return the declarations, imports and bases in a node."""
    if node.type == "use_declaration":
        return NodeReading(imports=list(_read_imports(text_of(node))))
    if node.type == "macro_invocation":
        return NodeReading(
            imports=[one for text in _USES.findall(text_of(node)) for one in _read_imports(text)]
        )
    body = node.child_by_field_name("body")
    if node.type == "impl_item":
        owner = _path_of(node.child_by_field_name("type")).rpartition(".")[2]
        trait = _path_of(node.child_by_field_name("trait"))
        inside = [] if body is None else [(body, NodePlace(owner))]
        return NodeReading(bases=[Base(owner, trait)] if trait else [], bodies=inside)
    if node.type == "mod_item" and body is not None:
        return NodeReading(bodies=[(body, place)])
    if node.type not in _KINDS:
        return NodeReading()
    made = _read_item(node, place)
    if body is not None and node.type == "enum_item":
        return NodeReading([made, *_read_variants(body, made.qualified)])
    inside = [(body, NodePlace(made.name))] if body is not None and node.type == "trait_item" else []
    return NodeReading([made], bodies=inside, bases=list(_read_supertraits(node)))


def _children_with_docs(
    parent: Node, place: NodePlace, row_before: int = -1
) -> Iterator[tuple[Node, NodePlace]]:
    """Yield the children of a node, each with its doc comment and the byte where its attributes begin."""
    del row_before  # a doc comment is marked
    own = NodePlace(place.owner)
    for child in parent.named_children:
        if child.type in {"line_comment", "block_comment"}:
            is_doc = _DOC.match(text_of(child)) is not None
            start = own.doc.start if own.doc.end else child.start_byte
            own = own._replace(doc=Span(start, child.end_byte) if is_doc else Span())
        elif child.type == "attribute_item":
            own = own._replace(start=min(own.start, child.start_byte))
        else:
            yield child, own
            own = NodePlace(place.owner)


def _path_of(kind: Node | None) -> str:
    """Return the name of a type with dots, without references and type arguments; empty if it has none."""
    while kind is not None and kind.type in _AROUND_TYPES:
        kind = kind.child_by_field_name(_AROUND_TYPES[kind.type])
    if kind is None or kind.end_byte - kind.start_byte > LONGEST_NAME:
        return ""
    return "".join(text_of(kind).split()).partition("<")[0].replace("::", ".")


def _read_supertraits(node: Node) -> Iterator[Base]:
    bounds = node.child_by_field_name("bounds")
    if node.type == "trait_item" and bounds is not None:
        names = map(_path_of, bounds.named_children)
        yield from (Base(name_of(node), name) for name in names if re.fullmatch(r"[\w.]+", name))


def _read_item(node: Node, place: NodePlace) -> Declaration:
    kind = _KINDS[node.type]
    head = head_before(node, node.child_by_field_name("body"))
    value = node.child_by_field_name("value")
    own: Kind = "method" if place.owner and kind == "func" else kind
    return declare(node, name_of(node), own, place, head=head, value=value)


def _read_variants(body: Node, owner: str) -> Iterator[Declaration]:
    """Yield the variants of an enum, which count as its constants."""
    for node, place in _children_with_docs(body, NodePlace(owner)):
        if node.type == "enum_variant":
            yield declare(node, name_of(node), "const", place, value=node.child_by_field_name("value"))


_USES = re.compile(r"\buse [^;]*;")
"""Imports in the text of a macro around declarations, such as `cfg_if!`."""


def _read_imports(text: str) -> Iterator[Import]:
    """Yield the names that a `use` makes known, also those in nested groups."""
    text = " ".join(_COMMENT.sub("", text).split()).removesuffix(";").partition("use ")[2]
    bases, part = [""], ""
    for each in [*_USE_PARTS.findall(text), ","]:
        if each == "{":
            bases.append(f"{bases[-1]}{part}")
            part = ""
            if len(bases[-1]) > LONGEST_NAME:  # each name would have it once more
                return
        elif each in {",", "}"}:
            yield from _read_use(bases[-1], part)
            part = ""
            if each == "}" and len(bases) > 1:
                bases.pop()
        else:
            part = each.strip()


def _read_use(base: str, part: str) -> Iterator[Import]:
    target, _, alias = part.partition(" as ")
    if not target:
        return
    # `use a::b::{self}` is `use a::b`, and `use a::b::*` imports all names of `a::b`.
    written = base.removesuffix("::") if base and target == "self" else f"{base}{target}"
    full = written.removesuffix("::*")
    name = "*" if full != written else alias or full.rpartition("::")[2]
    yield Import(name, full, f"use {written} as {alias}" if alias else f"use {written}")
