"""Declarations of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .declarations import Declaration, Import, Parsed, Span
from .language import Field, name_of, nodes_in, parse_tree, qualified, span_of, text_of
from .python_syntax import python_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from .declarations import Kind
    from .language import Context, SyntaxProblem

__all__ = ["LANGUAGE", "PythonLanguage"]

_GRAMMAR = "tree_sitter_python"
_OPEN = frozenset(
    {
        "block",
        "case_clause",
        "elif_clause",
        "else_clause",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "for_statement",
        "if_statement",
        "match_statement",
        "try_statement",
        "while_statement",
        "with_statement",
        "ERROR",
    }
)
"""What a module or class may wrap around a declaration."""

_TYPE_MAKERS = frozenset({"NewType", "ParamSpec", "TypeVar", "TypeVarTuple", "TypeAliasType"})


class PythonLanguage:
    """How declarations are read from Python."""

    name = "python"
    bodies_inside = True
    package_is_folder = False
    self_names = frozenset({"self", "cls"})

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file, as far as it can be read."""
        root = parse_tree(_GRAMMAR, source)
        declarations: list[Declaration] = []
        imports: list[Import] = []
        waiting: list[tuple[Node, str]] = [(child, "") for child in reversed(root.named_children)]
        while waiting:
            node, owner = waiting.pop()
            kind = node.type
            if kind in {"import_statement", "import_from_statement"}:
                imports += _imports(node)
                continue
            whole = node
            if kind == "decorated_definition":
                node = node.child_by_field_name("definition") or node
                kind = node.type
            if kind == "class_definition":
                declaration = _class(node, whole, owner)
                declarations.append(declaration)
                body = node.child_by_field_name("body")
                if body is not None:
                    waiting += [(child, declaration.qualified) for child in reversed(body.named_children)]
            elif kind == "function_definition":
                declarations.append(_function(node, whole, owner))
            elif kind == "expression_statement":
                declarations += _assigned(node, owner)
            elif kind == "type_alias_statement":
                declarations += _alias(node, owner)
            elif kind in _OPEN:
                waiting += [(child, owner) for child in reversed(node.named_children)]
        return Parsed(tuple(declarations), tuple(imports), root.has_error)

    def fields(self, source: bytes) -> list[Field]:
        """Read the fields out of the text of one class: its own, and those that `__init__` sets."""
        root = parse_tree(_GRAMMAR, source)
        found: dict[str, Field] = {}
        for node, is_inside in _statements_of_class(root):
            if node.type != "expression_statement":
                continue
            for target, value in _targets(node):
                name = text_of(target)
                if target.type == "attribute":
                    head, _, name = name.partition(".")
                    if head != "self" or "." in name:
                        continue
                elif is_inside or target.type != "identifier":
                    continue
                type_node = value.child_by_field_name("type")
                right = value.child_by_field_name("right")
                found.setdefault(name, Field(name, span_of(type_node), span_of(right)))
        return list(found.values())

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List what the text of one function calls, and the names that it uses."""
        found: list[tuple[str, str]] = []
        for node in nodes_in(_GRAMMAR, source):
            if node.type == "call":
                function = node.child_by_field_name("function")
                if function is not None and function.type in {"identifier", "attribute"}:
                    found.append(("call", "".join(text_of(function).split())))
            elif node.type == "identifier":
                found.append(("name", text_of(node)))
        return found

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function."""
        kinds = {"import_statement", "import_from_statement"}
        found = [one for node in nodes_in(_GRAMMAR, source) if node.type in kinds for one in _imports(node)]
        return tuple(found)

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module in a file."""
        return path.rpartition(".")[0].removesuffix("__init__").strip("/").replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name that an import in a file means."""
        rest = target.lstrip(".")
        up = len(target) - len(rest)
        if up == 0:
            return target
        folder = path.split("/")[:-1]
        return ".".join([*folder[: len(folder) - up + 1], *filter(None, [rest])])

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List what is wrong with a snippet; nothing of it is run."""
        return python_problems(code, context)


LANGUAGE = PythonLanguage()


def _class(node: Node, whole: Node, owner: str) -> Declaration:
    name, bases = name_of(node), node.child_by_field_name("superclasses")
    kind: Kind = "class"
    if bases is not None and any(_last_part(base) == "Protocol" for base in bases.named_children):
        kind = "protocol"
    return _made(node, whole, name, qualified(owner, name), kind)


def _function(node: Node, whole: Node, owner: str) -> Declaration:
    name = name_of(node)
    return _made(node, whole, name, qualified(owner, name), "method" if owner else "func")


def _made(node: Node, whole: Node, name: str, qualified: str, kind: Kind) -> Declaration:
    last = next(
        (
            part
            for part in map(
                node.child_by_field_name,
                ("return_type", "parameters", "superclasses", "type_parameters", "name"),
            )
            if part is not None
        ),
        node,
    )
    body = node.child_by_field_name("body")
    return Declaration(
        name,
        qualified,
        kind,
        node.start_point[0] + 1,
        node.end_point[0] + 1,
        span_of(whole),
        Span(node.start_byte, last.end_byte),
        Span() if body is None else _doc(body),
    )


def _last_part(node: Node) -> str:
    if node.type == "subscript":
        node = node.child_by_field_name("value") or node
    return text_of(node).rpartition(".")[2]


def _doc(body: Node) -> Span:
    first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement" or first.named_child_count != 1:
        return Span()
    text = first.named_children[0]
    if text.type == "concatenated_string":
        text = text.named_children[0]
    if text.type != "string" or text.child_count < 2:  # noqa: PLR2004  # its quotes
        return Span()
    return Span(text.children[0].end_byte, text.children[-1].start_byte)


def _targets(statement: Node) -> Iterator[tuple[Node, Node]]:
    """Yield each target of an assignment, with the assignment that is next to its value."""
    node: Node | None = statement.named_children[0] if statement.named_child_count else None
    while node is not None and node.type == "assignment":
        left = node.child_by_field_name("left")
        if left is not None:
            names = left.named_children if left.type in {"pattern_list", "tuple_pattern"} else [left]
            for name in names:
                yield name, node
        node = node.child_by_field_name("right")


def _assigned(statement: Node, owner: str) -> Iterator[Declaration]:
    for target, assignment in _targets(statement):
        if target.type == "identifier":
            name = text_of(target)
            value = assignment.child_by_field_name("right")
            while value is not None and value.type == "assignment":
                value = value.child_by_field_name("right")
            yield Declaration(
                name,
                qualified(owner, name),
                _kind_of_value(name, assignment, value),
                target.start_point[0] + 1,
                statement.end_point[0] + 1,
                span_of(statement),
                Span(),
                Span(),
                span_of(value),
            )


def _kind_of_value(name: str, assignment: Node, value: Node | None) -> Kind:
    annotation = assignment.child_by_field_name("type")
    said = "" if annotation is None else text_of(annotation)
    if said.endswith("TypeAlias"):
        return "type"
    if value is not None and value.type == "call":
        function = value.child_by_field_name("function")
        if function is not None and _last_part(function) in _TYPE_MAKERS:
            return "type"
    is_final = said.partition("[")[0].rpartition(".")[2] == "Final"
    return "const" if is_final or name.isupper() else "var"


def _alias(node: Node, owner: str) -> Iterator[Declaration]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return
    name = text_of(left).partition("[")[0].strip()
    line = left.start_point[0] + 1
    whole = span_of(node)
    yield Declaration(
        name,
        qualified(owner, name),
        "type",
        line,
        node.end_point[0] + 1,
        whole,
        Span(),
        Span(),
        span_of(right),
    )


def _imports(node: Node) -> Iterator[Import]:
    origin = node.child_by_field_name("module_name")
    base = "" if origin is None else text_of(origin)
    for part in node.named_children:
        if origin is not None and part.start_byte == origin.start_byte:
            continue
        if part.type == "wildcard_import":
            yield Import("*", base, f"from {base} import *")
            continue
        name, alias = part, None
        if part.type == "aliased_import":
            name, alias = part.child_by_field_name("name") or part, part.child_by_field_name("alias")
        elif part.type != "dotted_name":
            continue
        said = text_of(name)
        known = said if alias is None else text_of(alias)
        shown = said if alias is None else f"{said} as {known}"
        if origin is None:
            # `import a.b` makes `a` known.
            yield Import(
                known if alias else said.partition(".")[0],
                said if alias else said.partition(".")[0],
                f"import {shown}",
            )
        else:
            joined = f"{base}{said}" if base.endswith(".") else f"{base}.{said}"
            yield Import(known, joined, f"from {base} import {shown}")


def _statements_of_class(root: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the statements of the first class in a text and of its `__init__`; say which are of that."""
    node = next((child for child in root.named_children if child.type.endswith("_definition")), None)
    if node is not None and node.type == "decorated_definition":
        node = node.child_by_field_name("definition")
    body = None if node is None else node.child_by_field_name("body")
    waiting = [] if body is None else [(child, False) for child in reversed(body.named_children)]
    while waiting:
        node, is_inside = waiting.pop()
        if node.type == "decorated_definition":
            node = node.child_by_field_name("definition") or node
        if node.type == "function_definition":
            name, inner = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and inner is not None and text_of(name) == "__init__":
                waiting += [(child, True) for child in reversed(inner.named_children)]
        elif node.type in _OPEN:
            waiting += [(child, is_inside) for child in reversed(node.named_children)]
        else:
            yield node, is_inside
