"""What does a file of Go declare?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .go_interfaces import LOCKS, METHODS
from .language import Base, Declaration, Import, Language, Parsed, Span, TypeField, lexer
from .nodes import (
    LONGEST_NAME,
    NodePlace,
    calls_in,
    children_of,
    declare,
    head_before,
    name_of,
    span_of,
    text_of,
)
from .parsing import parse_tree
from .snippets import SyntaxProblem, Wrapper

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from .language import Kind
    from .snippets import Context

_GRAMMAR = "tree_sitter_go"
_KINDS: Mapping[str, Kind] = {"struct_type": "struct", "interface_type": "interface"}
_SPECS = frozenset({"const_spec", "type_alias", "type_spec", "var_spec"})
_LONGEST_GROUP = 2000
"""Bytes behind the beginning of a constant that belong to it, at most."""
_PACKAGE = b"package p\n"


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


class GoLanguage(Language):
    """Reads declarations from Go."""

    name = family = "go"
    grammar = _GRAMMAR
    package_is_folder = True
    names_packages_inside = True
    hidden, tokens = lexer(
        r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*"? | `[^`]*`? | '(?:\\.|[^'\\\n])+'?"""
    )
    wrappers = _WRAPPERS

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        root = parse_tree(_GRAMMAR, source)
        declarations: list[Declaration] = []
        imports: list[Import] = []
        bases: list[Base] = []
        for node, place in children_of(root, NodePlace(), -1):
            if node.type == "import_declaration":
                imports += _read_imports(node)
            elif node.type in {"function_declaration", "method_declaration"}:
                declarations.append(_read_function(node, place))
            elif node.type.endswith("_declaration"):
                for spec, own in _specs_in(node, place):
                    bases += _read_bases(spec)
                    declarations += _read_spec(spec, own, node if _is_single(node) else spec)
        return Parsed(tuple(declarations), tuple(imports), root.has_error, tuple(bases))

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one struct; an embedded field has the name of its type."""
        found: list[TypeField] = []
        for node in _nodes_of_kind(parse_tree(_GRAMMAR, source), "field_declaration", "struct_type"):
            kind = node.child_by_field_name("type")
            names = [(text_of(name), name) for name in node.children_by_field_name("name")]
            if not names and kind is not None:
                names = [(_last_part(text_of(kind)), kind)]
            found += [TypeField(name, at.start_byte, span_of(kind)) for name, at in names]
        return found

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        called = {"identifier", "selector_expression"}
        return calls_in(_GRAMMAR, source, called, {"identifier", "package_identifier"})

    def module_of(self, path: str) -> str:
        """Return the dotted folder of a file."""
        return path.rpartition("/")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:  # noqa: ARG002  # as it is called
        """Return the dotted path of an imported package."""
        return target.replace("/", ".")

    def is_own_library(self, target: str) -> bool:
        """Return whether a package is in Go's own library, whose paths don't begin with a domain."""
        return "." not in target.partition("/")[0]

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the methods of a common type of Go's own library; None for another type."""
        name = ".".join(base.split(".")[-2:])
        return LOCKS.get(name) or METHODS.get(name)

    def value(self, source: bytes, declaration: Declaration) -> str:
        """Return the value of a constant or variable; `iota` is replaced by its number."""
        value = super().value(source, declaration)
        if declaration.kind != "const" or (value and "iota" not in value):
            return value
        start = source.rfind(b"const", 0, declaration.whole.start + len(b"const"))
        group = source[max(start, 0) : declaration.whole.start + _LONGEST_GROUP]
        return _value_in_group(group, declaration.whole.start - max(start, 0), declaration.name) or value

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        found = super().problems(code, context)
        return found or (_stray_statements(code) if context == "file" else [])


LANGUAGE = GoLanguage()


def _specs_in(node: Node, place: NodePlace) -> Iterator[tuple[Node, NodePlace]]:
    """Yield the specs in a statement; a spec without a comment gets that of the statement."""
    for child, own in children_of(node, place, node.start_point[0]):
        if child.type in _SPECS:
            yield child, own if own.doc.end else own._replace(doc=place.doc)
        elif child.type.endswith("_spec_list"):
            yield from _specs_in(child, place)


def _is_single(node: Node) -> bool:
    return not any(child.type == "(" or child.type.endswith("_spec_list") for child in node.children)


def _read_function(node: Node, place: NodePlace) -> Declaration:
    receiver = node.child_by_field_name("receiver")
    owner = "" if receiver is None else _receiver_type(receiver)
    head = head_before(node, node.child_by_field_name("body"))
    kind: Kind = "method" if owner else "func"
    return declare(node, name_of(node), kind, place._replace(owner=owner), head=head)


def _receiver_type(receiver: Node) -> str:
    waiting = [receiver]
    while waiting:
        node = waiting.pop()
        if node.type == "type_identifier":
            return text_of(node)
        waiting += reversed(node.named_children)
    return ""


def _last_part(text: str) -> str:
    return text.lstrip("* (").partition("[")[0].rpartition(".")[2].strip(") ")


def _read_spec(spec: Node, place: NodePlace, whole: Node) -> Iterator[Declaration]:
    if spec.type in {"const_spec", "var_spec"}:
        return _read_values(spec, place, whole)
    return _read_type(spec, place, whole)


def _read_values(spec: Node, place: NodePlace, whole: Node) -> Iterator[Declaration]:
    kind: Kind = "const" if spec.type == "const_spec" else "var"
    values = spec.child_by_field_name("value")
    each = [] if values is None else values.named_children
    names = [name for name in spec.children_by_field_name("name") if name.type == "identifier"]
    for number, name in enumerate(names):
        if text_of(name) != "_":
            value = each[number] if len(each) == len(names) else values
            yield declare(whole, text_of(name), kind, place, at=name, value=value)


def _value_in_group(group: bytes, place: int, name: str) -> str:
    """Return the value of a constant in a group with `iota`; empty if it can't be read."""
    kind, values = "", list[str]()
    root = parse_tree(_GRAMMAR, _PACKAGE + group)
    declaration = next((one for one in root.named_children if one.type == "const_declaration"), root)
    specs = [one for one in declaration.named_children if one.type == "const_spec"]
    for number, spec in enumerate(specs):
        given = spec.child_by_field_name("value")
        if given is not None:
            made = spec.child_by_field_name("type")
            kind = "" if made is None else text_of(made)
            values = [text_of(one) for one in given.named_children]
        names = [text_of(one) for one in spec.children_by_field_name("name")]
        if spec.start_byte - len(_PACKAGE) >= place and name in names and values:
            value = values[min(names.index(name), len(values) - 1)]
            shown = str(number) if value == "iota" else re.sub(r"\biota\b", str(number), value)
            return f"{kind}({shown})" if kind else shown
    return ""


def _read_type(spec: Node, place: NodePlace, whole: Node) -> Iterator[Declaration]:
    name, made = name_of(spec), spec.child_by_field_name("type")
    kind: Kind = "type" if made is None else _KINDS.get(made.type, "type")
    end = spec.end_byte if made is None or kind == "type" else made.start_byte + len(kind)
    yield declare(whole, name, kind, place, at=spec, head=Span(whole.start_byte, end))
    if made is not None and kind == "interface":
        for method, own in children_of(made, NodePlace(name), made.start_point[0]):
            if method.type == "method_elem":
                yield declare(method, name_of(method), "method", own)


def _read_bases(spec: Node) -> Iterator[Base]:
    """Yield the types that a struct or an interface embeds."""
    made, owner = spec.child_by_field_name("type"), name_of(spec)
    for node in () if made is None else made.named_children:
        fields = node.named_children if node.type == "field_declaration_list" else [node]
        for field in fields:
            if field.type == "field_declaration" and field.child_by_field_name("name") is None:
                kind = field.child_by_field_name("type")
            elif field.type == "type_elem" and field.named_child_count == 1:
                kind = field.named_children[0]
            else:
                continue
            text = "" if kind is None else text_of(kind)[:LONGEST_NAME]
            name = "".join(text.lstrip("*").partition("[")[0].split())
            if re.fullmatch(r"\w+(\.\w+)?", name):
                yield Base(owner, name)


def _read_imports(node: Node) -> Iterator[Import]:
    for spec in _nodes_of_kind(node, "import_spec"):
        path, alias = spec.child_by_field_name("path"), spec.child_by_field_name("name")
        if path is None:
            continue
        target = text_of(path).strip('"`')
        parts = [part for part in target.split("/") if not re.fullmatch(r"v\d+", part)]
        # gopkg.in/yaml.v3 is known as yaml, and go-chi as chi: no name has a hyphen.
        last = re.sub(r"\.v\d+$|^go-|[-.]go$", "", parts[-1] if parts else target)
        known = last if alias is None else text_of(alias)
        text = f'"{target}"' if alias is None else f'{known} "{target}"'
        yield Import("*" if known == "." else known, target, text)


def _nodes_of_kind(root: Node, kind: str, inside: str | None = None) -> Iterator[Node]:
    """Yield the nodes of a kind below a node, but not those nested in a second node of the kind `inside`."""
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        if node.type == kind and level <= 1:
            yield node
        level += node.type == inside
        waiting += [(child, level) for child in reversed(node.named_children)]


def _stray_statements(code: str) -> list[SyntaxProblem]:
    """Return an error for the first statement outside of a function, which the grammar accepts."""
    source = code.encode(errors="replace")
    top = [node for node in parse_tree(_GRAMMAR, source).named_children if node.type != "comment"]
    if not top or top[0].type != "package_clause":
        return []
    for node in top[1:]:
        if not node.type.endswith("_declaration") or node.type == "short_var_declaration":
            row = node.start_point[0]
            before = source.split(b"\n")[row][: node.start_point[1]].decode(errors="replace")
            message = "a statement is outside of a function"
            return [SyntaxProblem(row + 1, len(before) + 1, message, "Put it into a function")]
    return []
