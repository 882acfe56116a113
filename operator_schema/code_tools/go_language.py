"""What does a file of Go declare?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .go_interfaces import LOCKS, METHODS
from .go_syntax import go_problems
from .language import (
    BRACKETS,
    LONGEST_NAME,
    Base,
    Declaration,
    Import,
    Language,
    Parsed,
    Span,
    TypeField,
    calls_in,
    name_of,
    parse_tree,
    qualified,
    span_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from .language import Context, Kind, SyntaxProblem


_HIDDEN = r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*"? | `[^`]*`? | '(?:\\.|[^'\\\n])+'?"""


_GRAMMAR = "tree_sitter_go"
_KINDS: Mapping[str, Kind] = {"struct_type": "struct", "interface_type": "interface"}
_SPECS = frozenset({"const_spec", "type_alias", "type_spec", "var_spec"})


class GoLanguage(Language):
    """Reads declarations from Go."""

    name = "go"
    grammar = _GRAMMAR
    bodies_inside = False
    package_is_folder = True
    self_names: frozenset[str] = frozenset()
    hidden = re.compile(_HIDDEN, re.DOTALL | re.VERBOSE)
    tokens = re.compile(f"{_HIDDEN} | {BRACKETS}", re.DOTALL | re.VERBOSE)
    spanning = (b"`", b"/*", b"\\\n")

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        root = parse_tree(_GRAMMAR, source)
        declarations: list[Declaration] = []
        imports: list[Import] = []
        bases: list[Base] = []
        for node, doc in _with_docs(root, row_before=-1):
            if node.type == "import_declaration":
                imports += _imports(node)
            elif node.type in {"function_declaration", "method_declaration"}:
                declarations.append(_function(node, doc))
            elif node.type.endswith("_declaration"):
                for spec, own in _specs(node):
                    # `type A struct{}` alone: the declaration has its comment and its text.
                    is_alone = not own.end
                    bases += _bases(spec)
                    declarations += _declared(
                        spec, doc if is_alone else own, node if _is_single(node) else spec
                    )
        return Parsed(tuple(declarations), tuple(imports), root.has_error, tuple(bases))

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one struct; an embedded field has the name of its type."""
        found: list[TypeField] = []
        for node in _all(parse_tree(_GRAMMAR, source), "field_declaration", "struct_type"):
            names = node.children_by_field_name("name")
            kind = node.child_by_field_name("type")
            span = span_of(kind)
            texts = [text_of(name) for name in names] or ([] if kind is None else [_last_part(text_of(kind))])
            found += [TypeField(text, span, Span()) for text in texts]
        return found

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        called = {"identifier", "selector_expression"}
        return calls_in(_GRAMMAR, source, called, {"identifier", "package_identifier"})

    def imports(self, source: bytes) -> tuple[Import, ...]:  # noqa: ARG002  # as it is called
        """Return nothing, because Go has imports only at the top of a file."""
        return ()

    def module_of(self, path: str) -> str:
        """Return the dotted folder of a file."""
        return path.rpartition("/")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:  # noqa: ARG002  # as it is called
        """Return the dotted path of an imported package."""
        return target.replace("/", ".")

    @property
    def names_packages_inside(self) -> bool:
        """Whether the package itself, and not its path, determines the name under which it is imported."""
        return True

    def is_own_library(self, target: str) -> bool:
        """Return whether a package is in Go's own library, whose paths don't begin with a domain."""
        return "." not in target.partition("/")[0]

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the methods of one of the usual types of Go's own library; None for another one."""
        name = ".".join(base.split(".")[-2:])
        return LOCKS.get(name) or METHODS.get(name)

    def value(self, source: bytes, declaration: Declaration) -> str:
        """Return the value of a constant or variable; `iota` is replaced by its number."""
        said = super().value(source, declaration)
        if declaration.kind != "const" or (said and "iota" not in said):
            return said
        start = source.rfind(b"const", 0, declaration.whole.start + len(b"const"))
        group = source[max(start, 0) : declaration.whole.start + _LONGEST_GROUP]
        return _in_group(group, declaration.whole.start - max(start, 0), declaration.name) or said

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        return go_problems(self, code, context)


LANGUAGE = GoLanguage()


def _with_docs(parent: Node, *, row_before: int) -> Iterator[tuple[Node, Span]]:
    """Yield the children of a node, each with the comment that ends on the line above it.

    Args:
        parent: of the children.
        row_before: row in which the text before the first child ends: a comment in it belongs to that text.
            The caller gives it, because the parser needs long to find the parent of a node.
    """
    start = end = row = None
    last = row_before
    for child in parent.named_children:
        if child.type == "comment":
            if child.start_point[0] == last:
                continue
            if row is None or child.start_point[0] != row + 1:
                start = child.start_byte
            end, row = child.end_byte, child.end_point[0]
            continue
        is_above = start is not None and row is not None and row + 1 == child.start_point[0]
        yield child, Span(start or 0, end or 0) if is_above else Span()
        start = end = row = None
        last = child.end_point[0]


def _specs(node: Node) -> Iterator[tuple[Node, Span]]:
    for child, doc in _with_docs(node, row_before=node.start_point[0]):
        if child.type in _SPECS:
            yield child, doc
        elif child.type.endswith("_spec_list"):
            yield from _specs(child)


def _is_single(node: Node) -> bool:
    return not any(child.type == "(" or child.type.endswith("_spec_list") for child in node.children)


def _function(node: Node, doc: Span) -> Declaration:
    name = name_of(node)
    receiver = node.child_by_field_name("receiver")
    owner = "" if receiver is None else _receiver_type(receiver)
    body = node.child_by_field_name("body")
    end = node.end_byte if body is None else body.start_byte
    return Declaration(
        name,
        qualified(owner, name),
        "method" if owner else "func",
        node.start_point[0] + 1,
        node.end_point[0] + 1,
        span_of(node),
        Span(node.start_byte, end),
        doc,
    )


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


def _declared(spec: Node, doc: Span, whole: Node) -> Iterator[Declaration]:
    if spec.type in {"const_spec", "var_spec"}:
        return _values(spec, doc, whole)
    return _type(spec, doc, whole)


def _values(spec: Node, doc: Span, whole: Node) -> Iterator[Declaration]:
    kind: Kind = "const" if spec.type == "const_spec" else "var"
    values = spec.child_by_field_name("value")
    each = [] if values is None else values.named_children
    names = [name for name in spec.children_by_field_name("name") if name.type == "identifier"]
    for place, name in enumerate(names):
        text = text_of(name)
        if text != "_":
            value = each[place] if len(each) == len(names) else values
            line, last = name.start_point[0] + 1, spec.end_point[0] + 1
            yield Declaration(text, text, kind, line, last, span_of(whole), Span(), doc, span_of(value))


_LONGEST_GROUP = 2000
"""Bytes behind the beginning of a constant that belong to it, at most."""


def _in_group(group: bytes, place: int, name: str) -> str:
    """Return the value of a constant in a group with `iota`; empty if it can't be read."""
    kind, values = "", list[str]()
    root = parse_tree(_GRAMMAR, b"package p\n" + group)
    declaration = next((one for one in root.named_children if one.type == "const_declaration"), None)
    specs = (
        [] if declaration is None else [one for one in declaration.named_children if one.type == "const_spec"]
    )
    for number, spec in enumerate(specs):
        given = spec.child_by_field_name("value")
        if given is not None:
            made = spec.child_by_field_name("type")
            kind = "" if made is None else text_of(made)
            values = [text_of(one) for one in given.named_children]
        names = [text_of(one) for one in spec.children_by_field_name("name")]
        if spec.start_byte - len(b"package p\n") >= place and name in names and values:
            value = values[min(names.index(name), len(values) - 1)]
            shown = str(number) if value == "iota" else re.sub(r"\biota\b", str(number), value)
            return f"{kind}({shown})" if kind else shown
    return ""


def _type(spec: Node, doc: Span, whole: Node) -> Iterator[Declaration]:
    name, made = name_of(spec), spec.child_by_field_name("type")
    kind: Kind = "type" if made is None else _KINDS.get(made.type, "type")
    end = spec.end_byte if made is None or kind == "type" else made.start_byte + len(kind)
    line, last = spec.start_point[0] + 1, spec.end_point[0] + 1
    yield Declaration(name, name, kind, line, last, span_of(whole), Span(whole.start_byte, end), doc)
    if made is None or kind != "interface":
        return
    for method, method_doc in _with_docs(made, row_before=made.start_point[0]):
        if method.type == "method_elem":
            own, span = name_of(method), span_of(method)
            first, end = method.start_point[0] + 1, method.end_point[0] + 1
            yield Declaration(own, f"{name}.{own}", "method", first, end, span, span, method_doc)


def _bases(spec: Node) -> Iterator[Base]:
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
            name = (
                ""
                if kind is None
                else "".join(text_of(kind)[:LONGEST_NAME].lstrip("*").partition("[")[0].split())
            )
            if re.fullmatch(r"\w+(\.\w+)?", name):
                yield Base(owner, name)


def _imports(node: Node) -> Iterator[Import]:
    for spec in _all(node, "import_spec"):
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


def _all(root: Node, kind: str, inside: str | None = None) -> Iterator[Node]:
    """Yield the nodes of a kind below a node, but none that is inside two nodes of the kind `inside`."""
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        if node.type == kind and level <= 1:
            yield node
        level += node.type == inside
        waiting += [(child, level) for child in reversed(node.named_children)]
