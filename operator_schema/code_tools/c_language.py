"""How are declarations read from a file of C or C++ without running the preprocessor?"""

from __future__ import annotations

import posixpath
import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from .brace_language import BraceLanguage, Member, bases_in, declare_members
from .language import Import, Parsed, Span, language_named, lexer
from .nodes import LONGEST_NAME, NodePlace, NodeReading, declare, head_before, name_of, qualified, text_of
from .snippets import Wrapper, one_item

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from .language import Declaration, Kind
    from .snippets import Context

_STATEMENTS = frozenset({"declaration", "field_declaration", "function_definition", "type_definition"})
_GROUPS = frozenset({"declaration_list", "linkage_specification", "ERROR"})
_LARGE = 1 << 16
"""Bytes of a file that is read in pieces at once: one of these is nearly always broken somewhere."""


class CLanguage(BraceLanguage):
    """Reads declarations from C; a header that looks like C++ is read as C++."""

    name = family = "c"  # C and C++ share their headers
    grammar = "tree_sitter_c"
    called_nodes = frozenset({"field_expression", "identifier", "qualified_identifier"})
    name_nodes = frozenset({"identifier", "type_identifier"})
    has_plain_members = heads_name_members = True
    module_is_namespace = False
    hidden, tokens = lexer(
        r"""//[^\n]* | /\*.*?(?:\*/|\Z) | \bR"(\w*)\(.*?(?:\)\1"|\Z) | "(?:\\.|[^"\\\n])*"? |
            (?<![\da-fA-F])'(?:\\.|[^'\\\n])+'?"""
    )
    wrappers: Mapping[Context, Wrapper] = {
        "file": Wrapper(),
        "function_body": Wrapper("void f(void) {\n", "\n}\n", one_item("function_definition")),
        "statements": Wrapper("void f(void) { for (;;) {\n", "\n} }\n", one_item("function_definition")),
        "expression": Wrapper("int x = (\n", "\n);\n", one_item("declaration")),
    }

    def grammar_of(self, source: bytes) -> str:
        """Return the grammar with which a text is parsed."""
        return "tree_sitter_cpp" if _looks_like_cpp(source) else self.grammar

    def prepared(self, source: bytes) -> bytes:
        """Replace macros that the grammar can't read with spaces, so that the length stays the same."""
        return _without_macros(source)

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; a large or broken C file is read in pieces."""
        grammar, text = self.grammar_of(source), self.prepared(source)
        if self.grammar != grammar:
            return language_named("cpp").parse(source)
        if self.name != "c":
            return self.parse_prepared(grammar, text)
        whole = None if len(source) > _LARGE else self.parse_prepared(grammar, text)
        if whole is not None and not whole.is_broken:
            return whole
        parts = [(place, self.parse_prepared(grammar, piece)) for place, piece in _pieces(text)]
        found = tuple([_move_declaration(one, place) for place, part in parts for one in part.declarations])
        if whole is not None and len(found) < len(whole.declarations):
            return whole
        imports = tuple([one for _, part in parts for one in part.imports])
        return Parsed(found, imports, any(part.is_broken for _, part in parts))

    def read(self, node: Node, place: NodePlace) -> NodeReading:
        """Return the declarations, imports and bases in a node."""
        kind = node.type
        if kind.startswith("preproc_"):
            return self._read_directive(node, place)
        if kind in _GROUPS:
            body = node.child_by_field_name("body")
            is_list = body is not None and body.type == "declaration_list"
            return NodeReading(bodies=[(body if body is not None and is_list else node, place)])
        if kind == "enumerator":
            return NodeReading(declare_members(node, self.members_in(node), "const", place))
        if kind in _TYPES:
            return _read_type(node, place)
        declarators = node.children_by_field_name("declarator") if kind in _STATEMENTS else []
        found = [(one, *_name_in_declarator(one)) for one in declarators]
        made, first = node.child_by_field_name("type"), next((name for _, name, _ in found if name), None)
        inner = (
            NodeReading()
            if made is None or made.type not in _TYPES
            else _read_type(made, place, first, is_typedef=kind == "type_definition")
        )
        known = {one.name for one in inner.declarations}
        value: Kind = "type" if kind == "type_definition" else "const" if _is_constant(node) else "var"
        # Once for all: the parser goes through all parts of the statement to find it.
        default = node.child_by_field_name("default_value")
        each = [
            _value_or_function(node, one, place, value, default, is_function=is_function)
            for one, name, is_function in found
            if name is not None and text_of(name) not in known
        ]
        declarations = [*inner.declarations, *[one for one in each if one is not None]]
        return NodeReading(declarations, bodies=inner.bodies, bases=inner.bases)

    def _read_directive(self, node: Node, place: NodePlace) -> NodeReading:
        if node.type == "preproc_include":
            return NodeReading(imports=self.imports_in(node))
        if node.type not in {"preproc_def", "preproc_function_def"}:  # a condition
            return NodeReading(bodies=[(node, place)])
        at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        kind: Kind = "const" if node.type == "preproc_def" else "func"
        own = place._replace(owner="")
        head = head_before(node, value)
        return NodeReading([declare(node, name_of(node), kind, own, at=at, head=head, value=value)])

    def members_in(self, node: Node) -> list[Member]:
        """Return the fields that a statement in a struct declares."""
        if node.type == "enumerator":
            return [Member(name_of(node), node, None, node.child_by_field_name("value"))]
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("default_value")
        each = node.children_by_field_name("declarator") if node.type == "field_declaration" else []
        found = [_name_in_declarator(one) for one in each]
        return [
            Member(text_of(name), name, kind, value)
            for name, is_function in found
            if name and not is_function
        ]

    def bindings_in(self, node: Node) -> list[Member]:
        """Return the parameters and variables that a node in a function declares."""
        kind = (
            node.child_by_field_name("type")
            if node.type.endswith(("declaration", "for_range_loop"))
            else None
        )
        each = (
            []
            if kind is None
            else [_name_in_declarator(one)[0] for one in node.children_by_field_name("declarator")]
        )
        return [Member(text_of(name), name, kind) for name in each if name is not None]

    def imports_in(self, node: Node) -> list[Import]:
        """Return the files that a node includes."""
        path = node.child_by_field_name("path") if node.type == "preproc_include" else None
        text = "" if path is None else text_of(path)
        return [Import("*", text.strip("<>"), f"#include {text}")] if text else []

    def module_of(self, path: str) -> str:
        """Return the dotted path of a file without its ending: a header and its source file share it."""
        return path.rpartition(".")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of an included file; one in quotes is in the folder of the file."""
        name = target.strip('"')
        beside = posixpath.dirname(path) if name != target and "/" not in name else ""
        return self.module_of(posixpath.join(beside, name))


class CppLanguage(CLanguage):
    """Reads declarations from C++."""

    name = "cpp"
    grammar = "tree_sitter_cpp"

    def read(self, node: Node, place: NodePlace) -> NodeReading:
        """Return the declarations, imports and bases in a node."""
        while node.type == "template_declaration":
            inner = [child for child in node.named_children if child.type not in _BEFORE_TEMPLATE]
            if not inner:
                return NodeReading()
            node = inner[-1]
        if node.type == "friend_declaration":
            functions = [child for child in node.named_children if child.type == "function_definition"]
            return super().read(functions[0], place) if functions else NodeReading()
        at = node.child_by_field_name("name")
        if node.type == "namespace_definition":
            body = node.child_by_field_name("body")
            owners = [place.owner, *(parts_of(name_of(node)) if at is not None else ())]
            return NodeReading(
                bodies=[] if body is None else [(body, NodePlace(".".join(filter(None, owners))))]
            )
        if node.type in {"alias_declaration", "concept_definition"}:
            head = Span(place.start, node.end_byte)
            return NodeReading([declare(node, name_of(node), "type", place, at=at, head=head)])
        return super().read(node, place)


LANGUAGE, CPP = CLanguage(), CppLanguage()
_BEFORE_TEMPLATE = frozenset({"comment", "requires_clause", "template_parameter_list"})


_TYPES: Mapping[str, Kind] = {
    "class_specifier": "class",
    "enum_specifier": "type",
    "struct_specifier": "struct",
    "union_specifier": "struct",
}
_DECLARATORS = re.compile(r"_declarator$")
_CAST = re.compile(r"(^|::)\s*operator\s+\w")


def _name_in_declarator(declarator: Node) -> tuple[Node | None, bool]:
    """Return the node of the name in a declarator, and whether it is the name of a function."""
    node: Node | None = declarator
    is_function = False
    while node is not None and _DECLARATORS.search(node.type):
        if node.type in {
            "array_declarator",
            "function_declarator",
            "pointer_declarator",
            "reference_declarator",
        }:
            is_function = node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None or not node.named_children else node.named_children[-1]
    return node, is_function or (node is not None and _CAST.search(text_of(node)) is not None)


def parts_of(name: str) -> list[str]:
    """Split a name at its `::`, and leave out the type arguments."""
    before, operator, sign = name[-LONGEST_NAME:].partition("operator")
    plain, count = before, 1
    while count:
        plain, count = re.subn(r"<[^<>]*>", "", plain)
    parts = ["".join(part.split()) for part in plain.split("::")]
    if operator and not sign[:1].isidentifier():
        bare = "".join(sign.split())
        shown = "()" if bare.startswith("()") else " ".join(sign.partition("(")[0].split())
        return [*filter(None, parts[:-1]), f"operator {shown}" if shown[:1].isalpha() else f"operator{shown}"]
    return [part for part in parts if part] or [name[-LONGEST_NAME:]]


def _is_constant(node: Node) -> bool:
    """Return whether a statement declares constants."""
    before = takewhile(lambda part: not _DECLARATORS.search(part.type), node.named_children)
    return any(part.type == "type_qualifier" and b"const" in (part.text or b"") for part in before)


def _value_or_function(
    node: Node, declarator: Node, place: NodePlace, kind: Kind, default: Node | None, *, is_function: bool
) -> Declaration | None:
    """Make the declaration of one name in a statement: a function, a variable, a constant or a type."""
    name, _ = _name_in_declarator(declarator)
    if name is None:
        return None
    *owners, last = parts_of(text_of(name))
    own = place._replace(owner=qualified(place.owner, ".".join(owners)) if owners else place.owner)
    at: Node | None = name
    while at is not None and at.type == "qualified_identifier":
        name, at = at, at.child_by_field_name("name")
    if is_function and kind != "type":
        kind = "method" if place.is_member or owners else "func"
        return declare(node, last, kind, own, at=at or name, head=Span(place.start, declarator.end_byte))
    if kind == "type":
        return declare(node, last, kind, own, at=at or name, head=Span(place.start, node.end_byte))
    value = declarator.child_by_field_name("value") or default
    return declare(node, last, kind, own, at=at or name, value=value)


def _read_type(
    node: Node, place: NodePlace, used: Node | None = None, *, is_typedef: bool = False
) -> NodeReading:
    """Read a struct, union, enum or class with a body; a nameless one gets the name of its variable."""
    body, own_name = node.child_by_field_name("body"), node.child_by_field_name("name")
    at = used if own_name is None else own_name
    if body is None:
        return NodeReading()
    name = "" if at is None else text_of(at)
    *owners, last = parts_of(name)
    own = place._replace(owner=qualified(place.owner, ".".join(owners)) if owners else place.owner)
    is_open = node.type == "enum_specifier" and not any(
        part.type in {"class", "struct"} for part in node.children
    )
    inside = place.owner if is_open or not name else qualified(own.owner, last)
    bodies = [(body, NodePlace(inside, is_member=True))]
    if not name or (own_name is None and not is_typedef):
        return NodeReading(bodies=bodies)
    head = Span(place.start, body.start_byte)
    made = declare(node, last, _TYPES[node.type], own, at=at, head=head)
    extended = [part for part in node.named_children if part.type == "base_class_clause"]
    return NodeReading([made], bodies=bodies, bases=bases_in(inside, extended, _EXTENDED))


_EXTENDED = frozenset({"access_specifier", "base_class_clause"})


_MACROS = re.compile(
    rb"""^[ \t]*\w*(?:BEGIN|END)_\w*(?:DECLS?|EXTERN|NAMESPACE)\w*[ \t]*$ |
        ^(?:(?:extern|static)[ \t]+)?(?:[A-Z][A-Z\d_]*|\w+_API)[ \t]+(?=(?:\w+[ \t*]+)+\w+[ \t]*[(;=\[]) |
        \b(?P<word>(?:class|struct|union)[ \t]+)[A-Z][A-Z\d_]+[ \t]+(?=\w+\s*(?:final\s*)?[:{]) |
        \b(?:PyAPI|[A-Z][A-Z\d_]*)_(?:API|DATA|EXPORT|EXTERN|FUNC)\((?P<type>[\w \t*]+)\)(?=\s+\w) |
        (?<=\))(?:\s*__\w+(?:[ \t]*\(\([^;{}()]*\)\)|[ \t]*\([^;{}()]*\))?)+(?=\s*;)""",
    re.MULTILINE | re.VERBOSE,
)
"""What the preprocessor would take away from declarations, as far as its name or place tells."""
_CPP = re.compile(
    rb"""^[ \t]*(?:class\s+\w[^;()\n]*(?:\{|$) | (?:inline[ ])?namespace\b[\s\w:]*\{ | template\s*< |
        using\s+(?:namespace\b|\w+\s*=) | (?:public|private|protected)[ \t]*:) |
        ^[^/*"\n]*\w::\w""",
    re.MULTILINE | re.VERBOSE,
)
_NOT_SPACE = re.compile(rb"\S")
_CONDITION = re.compile(
    rb"^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL
)
_END = re.compile(rb"^\}[^\n]*\n", re.MULTILINE)
_SMALLEST = 1 << 9
"""Bytes of a piece: one for each function would take long."""


def _looks_like_cpp(source: bytes) -> bool:
    """Return whether a header seems to be one of C++."""
    return _CPP.search(source) is not None


def _without_macros(source: bytes) -> bytes:
    """Return a text with spaces in place of macros around declarations."""
    return _blank(_MACROS, source)


def _blank(pattern: re.Pattern[bytes], source: bytes) -> bytes:
    """Replace the matches of a pattern by spaces, but keep the part in its named group."""

    def spaces(found: re.Match[bytes]) -> bytes:
        start, end = found.span(found.lastgroup) if found.lastgroup else (found.start(), found.start())
        before, after = source[found.start() : start], source[end : found.end()]
        return _NOT_SPACE.sub(b" ", before) + source[start:end] + _NOT_SPACE.sub(b" ", after)

    return pattern.sub(spaces, source)


class Offset(NamedTuple):
    """The position in the file at which a piece begins."""

    bytes: int
    lines: int


def _pieces(source: bytes) -> Iterator[tuple[Offset, bytes]]:
    """Split a file after each closing brace at the beginning of a line; blank out lines such as `#if`.

    Both branches of a condition are kept. What can't be read of one piece leaves the others alone.
    """
    text = _blank(_CONDITION, source)
    start = lines = 0
    for found in [*_END.finditer(text), None]:
        end = len(text) if found is None else found.end()
        if found is None or end - start > _SMALLEST:
            yield Offset(start, lines), text[start:end]
            lines += text.count(b"\n", start, end)
            start = end


def _move_declaration(declaration: Declaration, by: Offset) -> Declaration:
    """Move a declaration from its position in a piece to its position in the file."""

    def moved(span: Span) -> Span:
        return span._replace(start=span.start + by.bytes, end=span.end + by.bytes) if span.end else span

    return declaration._replace(
        line=declaration.line + by.lines,
        last_line=declaration.last_line + by.lines,
        whole=moved(declaration.whole),
        head=moved(declaration.head),
        doc=moved(declaration.doc),
        value=moved(declaration.value),
    )
