"""What does a file of Python declare?"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING

from .function_text import end_of_head
from .language import BRACKETS, NOWHERE, Base, Declaration, Import, Language, Parsed, Span, TypeField
from .nodes import (
    LONGEST_NAME,
    NodePlace,
    called_name,
    declare,
    nodes_in,
    span_of,
    text_in,
    text_of,
)
from .parsing import parse_tree
from .words import lines_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from .language import Kind
    from .snippets import Context, SyntaxProblem

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

_HIDDEN = r"""(?<=\#) [^\n]*
    | (?<=") (?: "" (?:[^"\\]++ | \\. | "(?!""))*+ (?:"{3}|\Z) | (?:[^"\\\n]++ | \\.)*+ "? )
    | (?<=') (?: '' (?:[^'\\]++ | \\. | '(?!''))*+ (?:'{3}|\Z) | (?:[^'\\\n]++ | \\.)*+ '? )"""
"""What follows the first sign of a string or comment: with its signs first, the search is twice as fast."""

_LONGEST_LINE = 2000
_BOUND = re.compile(
    r"""(?<![\w.])(\w+)[ \t]*(?::[ \t]*(["']?[A-Za-z_][\w.]*["']?)[ \t]*(?=[=,)\n]|$)
        | (:=|[-+|&*/]?=(?!=))[ \t]*((?:\w+\.)*[A-Z]\w*(?=\())?)""",
    re.MULTILINE | re.VERBOSE,
)
"""A name with its type, without arguments, or with what sets it: a new object of a type, or anything else."""
_BOUND_OTHERWISE = re.compile(
    r"\b(?:for|as|del|global|nonlocal|import)\b[^:\n]*|^[\w, \t]*,[\w, \t]*=(?!=)", re.MULTILINE
)
_UNTYPED = re.compile(r"[(,]\s*\**(\w+)\s*(?=[,=)])")

_TYPE_MAKERS = frozenset({"NewType", "ParamSpec", "TypeVar", "TypeVarTuple", "TypeAliasType"})


class PythonLanguage(Language):
    """Reads declarations from Python."""

    name = family = "python"
    grammar = _GRAMMAR
    bodies_inside = True
    heads_name_members = True
    self_names = frozenset({"self", "cls"})
    hidden = re.compile(rf"""[\#"'] (?: {_HIDDEN} )""", re.DOTALL | re.VERBOSE)
    tokens = re.compile(rf"""[\#"'\[\](){{}}] (?: {_HIDDEN} | (?<={BRACKETS}) )""", re.DOTALL | re.VERBOSE)

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        root = parse_tree(_GRAMMAR, source)
        declarations: list[Declaration] = []
        imports: list[Import] = []
        bases: list[Base] = []
        waiting: list[tuple[Node, str]] = [(child, "") for child in reversed(root.named_children)]
        while waiting:
            node, owner = waiting.pop()
            kind = node.type
            if kind in {"import_statement", "import_from_statement"}:
                imports += _read_imports(source, node)
                continue
            whole = node
            if kind == "decorated_definition":
                node = node.child_by_field_name("definition") or node
                kind = node.type
            if kind == "class_definition":
                declaration = _read_class(source, node, whole, owner)
                declarations.append(declaration)
                bases += _read_bases(source, node, declaration.qualified)
                body = node.child_by_field_name("body")
                if body is not None:
                    waiting += [(child, declaration.qualified) for child in reversed(body.named_children)]
            elif kind == "function_definition":
                declarations.append(_read_function(source, node, whole, owner))
            elif kind == "expression_statement":
                declarations += _read_assignment(source, node, owner)
            elif kind == "type_alias_statement":
                declarations += _read_alias(source, node, owner)
            elif kind in _OPEN:
                waiting += [(child, owner) for child in reversed(node.named_children)]
        return Parsed(tuple(declarations), tuple(imports), root.has_error, tuple(bases))

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one class, including those that `__init__` sets."""
        root = parse_tree(_GRAMMAR, source)
        found: dict[str, TypeField] = {}
        for node, is_inside in _statements_of_class(root):
            if node.type != "expression_statement":
                continue
            assignments = _assignments(node)
            value = _value_of(assignments)
            for assignment in assignments:
                kind = span_of(assignment.child_by_field_name("type"))
                for target in _targets_of(assignment):
                    name = text_of(target)
                    if target.type == "attribute":
                        head, _, name = name.partition(".")
                        if head != "self" or "." in name:
                            continue
                    elif is_inside or target.type != "identifier":
                        continue
                    found.setdefault(
                        name, TypeField(name, target.end_byte - len(name.encode()), kind, span_of(value))
                    )
        return list(found.values())

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        found: list[tuple[str, str]] = []
        for node in nodes_in(_GRAMMAR, source):
            if node.type == "call":
                function = node.child_by_field_name("function")
                if function is not None and function.type in {"identifier", "attribute"}:
                    found.append(("call", called_name(source, function)))
            elif node.type == "identifier":
                found.append(("name", text_of(node)))
        return found

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function."""
        kinds = {"import_statement", "import_from_statement"}
        found = [
            one
            for node in nodes_in(_GRAMMAR, source)
            if node.type in kinds
            for one in _read_imports(source, node)
        ]
        return tuple(found)

    def inner(self, source: bytes) -> list[Declaration]:
        """List the functions and classes inside of one function."""
        found: list[Declaration] = []
        waiting: list[tuple[Node, str]] = [(parse_tree(_GRAMMAR, source), "")]
        while waiting:
            node, owner = waiting.pop()
            whole = node
            if node.type == "decorated_definition":
                node = node.child_by_field_name("definition") or node
            if node.type in {"class_definition", "function_definition"}:
                make = _read_class if node.type == "class_definition" else _read_function
                found.append(make(source, node, whole, owner))
                owner = found[-1].qualified
            waiting += [(child, owner) for child in reversed(node.named_children)]
        return found[1:]

    def type_of(self, source: bytes, name: str) -> str:
        """Return the type of an annotated parameter that is never set, or of a variable that is set once."""
        lines = lines_with(source, name.encode()).decode("latin-1")
        if max(map(len, lines.split("\n"))) > _LONGEST_LINE:
            return ""
        bound = [each for each in _BOUND.finditer(lines) if each[1] == name]
        if len(bound) != 1 or not (bound[0][2] or bound[0][4]):
            return ""
        if any(name in re.findall(r"\w+", found[0]) for found in _BOUND_OTHERWISE.finditer(lines)):
            return ""
        is_untyped = name in _UNTYPED.findall(source[: end_of_head(source)].decode("latin-1"))
        return "" if is_untyped else (bound[0][2] or bound[0][4]).strip("\"'")

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module in a file."""
        return path.rpartition(".")[0].removesuffix("__init__").strip("/").replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of the module that an import in a file means."""
        rest = target.lstrip(".")
        up = len(target) - len(rest)
        if up == 0:
            return target
        folder = path.split("/")[:-1]
        return ".".join([*folder[: len(folder) - up + 1], *filter(None, [rest])])

    def is_own_library(self, target: str) -> bool:
        """Return whether a module is in the standard library."""
        return target.partition(".")[0] in sys.stdlib_module_names

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        from .newer_python import with_newer_syntax
        from .python_syntax import python_problems

        return with_newer_syntax(partial(python_problems, tokens=self.tokens), code, context)


LANGUAGE = PythonLanguage()


def _read_class(source: bytes, node: Node, whole: Node, owner: str) -> Declaration:
    bases = node.child_by_field_name("superclasses")
    kind: Kind = "class"
    if bases is not None and any(_last_part(source, base) == "Protocol" for base in bases.named_children):
        kind = "protocol"
    return _declare_node(source, node, whole, owner, kind)


def _read_bases(source: bytes, node: Node, owner: str) -> Iterator[Base]:
    given = node.child_by_field_name("superclasses")
    for base in () if given is None else given.named_children:
        if base.type == "subscript":
            base = base.child_by_field_name("value") or base  # noqa: PLW2901  # what is subscripted
        if base.type in {"identifier", "attribute"} and base.end_byte - base.start_byte <= LONGEST_NAME:
            yield Base(owner, "".join(text_in(source, base).split()))


def _read_function(source: bytes, node: Node, whole: Node, owner: str) -> Declaration:
    return _declare_node(source, node, whole, owner, "method" if owner else "func")


def _declare_node(source: bytes, node: Node, whole: Node, owner: str, kind: Kind) -> Declaration:
    field = node.child_by_field_name
    name, body = field("name"), field("body")
    text = "" if name is None else text_in(source, name)
    last = field("return_type") or field("parameters") or field("superclasses") or field("type_parameters")
    head = Span(node.start_byte, (last or name or node).end_byte)
    place = NodePlace(owner, doc=NOWHERE if body is None else _find_docstring(body), start=whole.start_byte)
    return declare(node, text, kind, place, head=head)


def _last_part(source: bytes, node: Node) -> str:
    if node.type == "subscript":
        node = node.child_by_field_name("value") or node
    return text_in(source, node).rpartition(".")[2]


def _find_docstring(body: Node) -> Span:
    first = body.named_child(0) if body.named_child_count else None
    if first is not None and first.type == "comment":  # rare, and a list of all children takes long
        first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement" or first.named_child_count != 1:
        return NOWHERE
    text = first.named_children[0]
    if text.type == "concatenated_string":
        text = text.named_children[0]
    if text.type != "string" or text.child_count < 2:  # noqa: PLR2004  # its quotes
        return NOWHERE
    parts = text.children
    return Span(parts[0].end_byte, parts[-1].start_byte)


def _assignments(statement: Node) -> list[Node]:
    """List the assignments of a statement from left to right; `a = b = 1` has two."""
    found: list[Node] = []
    node: Node | None = statement.named_children[0] if statement.named_child_count else None
    while node is not None and node.type == "assignment":
        found.append(node)
        node = node.child_by_field_name("right")
    return found


def _value_of(assignments: list[Node]) -> Node | None:
    """Return the value at the end of an assignment such as `a = b = 1`."""
    return assignments[-1].child_by_field_name("right") if assignments else None


def _targets_of(assignment: Node) -> list[Node]:
    """List the targets on the left of one `=`."""
    left = assignment.child_by_field_name("left")
    if left is None:
        return []
    return left.named_children if left.type in {"pattern_list", "tuple_pattern"} else [left]


def _read_assignment(source: bytes, statement: Node, owner: str) -> Iterator[Declaration]:
    assignments = _assignments(statement)
    if not assignments:
        return
    value = _value_of(assignments)
    makes_type = _makes_type(source, value)
    for assignment in assignments:
        kind = "type" if makes_type else _annotated_kind(source, assignment)
        for target, own in _pair_with_values(_targets_of(assignment), value):
            if target.type == "identifier":
                name = text_in(source, target)
                own_kind = kind or ("const" if name.isupper() else "var")
                yield declare(statement, name, own_kind, NodePlace(owner), at=target, head=NOWHERE, value=own)


def _pair_with_values(targets: list[Node], value: Node | None) -> Iterator[tuple[Node, Node | None]]:
    """Yield each target with its value; `a, b = 1, 2` sets `b` to 2."""
    each = value.named_children if value is not None and value.type in {"expression_list", "tuple"} else []
    is_paired = (
        len(targets) > 1
        and len(each) == len(targets)
        and not any(one.type in {"list_splat", "list_splat_pattern", "comment"} for one in [*each, *targets])
    )
    yield from zip(targets, each if is_paired else [value] * len(targets), strict=True)


def _makes_type(source: bytes, value: Node | None) -> bool:
    function = value.child_by_field_name("function") if value is not None and value.type == "call" else None
    return function is not None and _last_part(source, function) in _TYPE_MAKERS


def _annotated_kind(source: bytes, assignment: Node) -> Kind | None:
    """Return the kind of a name by its annotation; None if its upper or lower case decides."""
    annotation = assignment.child_by_field_name("type")
    text = "" if annotation is None else text_in(source, annotation)
    if text.endswith("TypeAlias"):
        return "type"
    return "const" if text.partition("[")[0].rpartition(".")[2] == "Final" else None


def _read_alias(source: bytes, node: Node, owner: str) -> Iterator[Declaration]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return
    name = text_in(source, left).partition("[")[0].strip()
    yield declare(node, name, "type", NodePlace(owner), at=left, head=NOWHERE, value=right)


def _read_imports(source: bytes, node: Node) -> Iterator[Import]:
    origin = node.child_by_field_name("module_name")
    base = "" if origin is None else text_in(source, origin)
    if len(base) > LONGEST_NAME:  # each name would have it once more
        return
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
        text = text_in(source, name)
        known = text if alias is None else text_in(source, alias)
        shown = text if alias is None else f"{text} as {known}"
        if origin is None:
            # `import a.b` makes `a` known.
            yield Import(
                known if alias else text.partition(".")[0],
                text if alias else text.partition(".")[0],
                f"import {shown}",
            )
        else:
            joined = f"{base}{text}" if base.endswith(".") else f"{base}.{text}"
            yield Import(known, joined, f"from {base} import {shown}")


def _statements_of_class(root: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the statements of the first class in a text, each with whether it is in `__init__`."""
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
