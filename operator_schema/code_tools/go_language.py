"""What does a file of Go declare, and which errors does a snippet have?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .language import (
    BRACKETS,
    LONGEST_NAME,
    Base,
    Declaration,
    Import,
    Language,
    Parsed,
    Span,
    SyntaxProblem,
    TypeField,
    calls_in,
    name_of,
    parse_tree,
    qualified,
    span_of,
    text_of,
)
from .snippets import Wrapper, wrapped_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from .language import Context, Kind

__all__ = ["GoLanguage", "LANGUAGE", "go_problems", "go_wrapper"]


_HIDDEN = r"""//[^\n]* | /\*.*?(?:\*/|\Z) | "(?:\\.|[^"\\\n])*"? | `[^`]*`? | '(?:\\.|[^'\\\n])+'?"""


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


def go_wrapper(context: Context) -> Wrapper:
    """Return what makes a file of a snippet."""
    return _WRAPPERS[context]


def go_problems(code: str, context: Context) -> list[SyntaxProblem]:
    """List what is wrong with a snippet of Go.

    Args:
        code: the snippet.
        context: what it is a part of.
    """
    found = wrapped_problems(code, _GRAMMAR, _WRAPPERS[context], GoLanguage.tokens, context)
    return found or (_stray_statements(code) if context == "file" else [])


def _stray_statements(code: str) -> list[SyntaxProblem]:
    """Return the first statement of a whole file outside of a function: the grammar takes it there."""
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


_GRAMMAR = "tree_sitter_go"
_KINDS: Mapping[str, Kind] = {"struct_type": "struct", "interface_type": "interface"}
_SPECS = frozenset({"const_spec", "type_alias", "type_spec", "var_spec"})


class GoLanguage(Language):
    """How declarations are read from Go."""

    name = "go"
    grammar = _GRAMMAR
    bodies_inside = False
    package_is_folder = True
    self_names: frozenset[str] = frozenset()
    hidden = re.compile(_HIDDEN, re.DOTALL | re.VERBOSE)
    tokens = re.compile(f"{_HIDDEN} | {BRACKETS}", re.DOTALL | re.VERBOSE)
    spanning = (b"`", b"/*", b"\\\n")

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file, as far as it can be read."""
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
        """Read the fields out of the text of one struct; one that is embedded has the name of its type."""
        found: list[TypeField] = []
        for node in _all(parse_tree(_GRAMMAR, source), "field_declaration", "struct_type"):
            names = node.children_by_field_name("name")
            kind = node.child_by_field_name("type")
            span = span_of(kind)
            texts = [text_of(name) for name in names] or ([] if kind is None else [_last_part(text_of(kind))])
            found += [TypeField(text, span, Span()) for text in texts]
        return found

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List what the text of one function calls, and the names that it uses."""
        called = {"identifier", "selector_expression"}
        return calls_in(_GRAMMAR, source, called, {"identifier", "package_identifier"})

    def imports(self, source: bytes) -> tuple[Import, ...]:  # noqa: ARG002  # as it is called
        """Return nothing: imports are only at the top of a file."""
        return ()

    def module_of(self, path: str) -> str:
        """Return the dotted folder of a file."""
        return path.rpartition("/")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:  # noqa: ARG002  # as it is called
        """Return the dotted path of an imported package."""
        return target.replace("/", ".")

    @property
    def names_packages_inside(self) -> bool:
        """Whether an import is known by the name that the files of the package give it."""
        return True

    def is_own_library(self, target: str) -> bool:
        """Return whether a package comes with Go: only the others begin with a domain."""
        return "." not in target.partition("/")[0]

    def value(self, source: bytes, declaration: Declaration) -> str:
        """Return the value of a constant or variable; of a group with `iota` what it comes to."""
        said = super().value(source, declaration)
        if declaration.kind != "const" or (said and "iota" not in said):
            return said
        start = source.rfind(b"const", 0, declaration.whole.start + len(b"const"))
        group = source[max(start, 0) : declaration.whole.start + _LONGEST_GROUP]
        return _in_group(group, declaration.whole.start - max(start, 0), declaration.name) or said

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List what is wrong with a snippet; nothing of it is run."""
        return go_problems(code, context)


LANGUAGE = GoLanguage()


def _with_docs(parent: Node, *, row_before: int) -> Iterator[tuple[Node, Span]]:
    """Yield the children, each with the comment that ends on the line above it.

    Args:
        parent: of the children.
        row_before: in which what stands before the first one ends: a comment behind it is about that.
            It is given, as the parser looks for the parent of a node through all nodes before it.
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
    """Return the value of a constant of a group that counts; empty if it doesn't."""
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
    """Yield the nodes of a kind below a node, without those that two nodes of another kind surround."""
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        if node.type == kind and level <= 1:
            yield node
        level += node.type == inside
        waiting += [(child, level) for child in reversed(node.named_children)]
