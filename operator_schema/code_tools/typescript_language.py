"""What does a file of TypeScript or JavaScript declare?"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from .brace_language import BraceLanguage, Member, bases_in
from .language import Import, lexer
from .nodes import LONGEST_NAME, NodePlace, NodeReading, declare, head_before, name_of, qualified, text_of
from .parsing import parse_tree
from .snippets import Wrapper, one_item

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tree_sitter import Node

    from .language import Declaration, Kind
    from .snippets import Context

_KINDS: Mapping[str, Kind] = {
    "abstract_class_declaration": "class",
    "abstract_method_signature": "method",
    "class": "class",
    "class_declaration": "class",
    "enum_declaration": "type",
    "function_declaration": "func",
    "function_signature": "func",
    "generator_function_declaration": "func",
    "interface_declaration": "interface",
    "method_definition": "method",
    "method_signature": "method",
    "type_alias_declaration": "type",
}
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_EXTENDED = frozenset({"class_heritage", "extends_clause", "extends_type_clause", "implements_clause"})
_AROUND = frozenset({"ambient_declaration", "export_statement", "expression_statement"})
_INSIDE = Wrapper("async function* f() {\n", "\n}\n", one_item("generator_function_declaration"))


class TypeScriptLanguage(BraceLanguage):
    """Reads declarations from TypeScript and JavaScript.

    Args:
        name: of the language.
        dialect: function of the grammar's package: JSX and `<T>x` exclude each other.
    """

    family = "typescript"
    prefixes = frozenset({"decorator"})
    called_nodes = frozenset({"identifier", "member_expression"})
    name_nodes = frozenset({"identifier", "shorthand_property_identifier", "type_identifier"})
    hidden, tokens = lexer(
        r"""//[^\n]* | /\*.*?(?:\*/|\Z) | `(?:\\.|[^`\\])*`? | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'? |
            [=(,:;!&|?+*%<>~^]\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"""
    )
    wrappers: Mapping[Context, Wrapper] = {
        "file": Wrapper(),
        "function_body": _INSIDE,
        "statements": Wrapper("for (;;) {\n", "\n}\n", one_item("for_statement")),
        "expression": Wrapper("(\n", "\n);\n", one_item("expression_statement")),
    }

    def __init__(self, name: str, dialect: str) -> None:
        self.name = name
        self.grammar = f"tree_sitter_typescript:{dialect}"

    def read(self, node: Node, place: NodePlace) -> NodeReading:
        """Return the declarations, imports and bases in a node."""
        imports = self.imports_in(node)
        if imports:
            return NodeReading(imports=imports)
        inner = _without_export(node)
        if inner is None:
            return NodeReading()
        if inner is not node:
            return self.read(inner, place)
        kind = _KINDS.get(node.type)
        body = node.child_by_field_name("body")
        if kind is not None:
            return _read_declaration(node, kind, place, body)
        if node.type in {"internal_module", "module"} and body is not None:
            name = "" if (name_of(node) or '"')[0] in "\"'" else name_of(node)
            return NodeReading(
                bodies=[(body, NodePlace(qualified(place.owner, name) if name else place.owner))]
            )
        if node.type in {"ERROR", "statement_block"}:
            return NodeReading(bodies=[(node, place)])
        kind = "const" if _is_constant(node, place) else "var"
        return _read_values(node, self.members_in(node), kind, place)

    def members_in(self, node: Node) -> list[Member]:
        """Return the variables and fields that a statement declares."""
        return list(_read_members(node))

    def bindings_in(self, node: Node) -> list[Member]:
        """Return the parameters and variables that a node in a function declares."""
        return [] if node.type in {"property_identifier", "string"} else super().bindings_in(node)

    def imports_in(self, node: Node) -> list[Import]:
        """Return the imports in a node, and the exports from other files; a target is `module#name`."""
        if node.type in {"lexical_declaration", "variable_declaration"}:
            return [one for part in node.named_children for one in _required_imports(part)]
        if node.type not in {"export_statement", "import_statement"}:
            return []
        source = node.child_by_field_name("source")
        if (
            source is None and node.type == "import_statement" and node.named_children
        ):  # import a = require("b")
            source = node.named_children[0].child_by_field_name("source")
        if source is None or source.end_byte - source.start_byte > LONGEST_NAME:
            return []
        return list(_read_imports(node, text_of(source)[1:-1]))

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        method = b"class _ {\n%b\n}" % source  # alone, it would be a call with a block after it
        return super().called(source if parse_tree(self.grammar, method).has_error else method)

    def module_of(self, path: str) -> str:
        """Return the dotted name of the module in a file."""
        return re.sub(r"(^|/)index$", "", _SUFFIX.sub("", path)).replace("/", ".")

    def import_target(self, target: str, path: str) -> str:
        """Return the dotted name of the module or item that an import means."""
        module, name = _parts_of_target(target)
        if module.startswith("."):
            module = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        module = self.module_of(module)
        return qualified(module, name) if name else module

    def is_bare(self, target: str) -> bool:
        """Return whether an import names a package, and not a path."""
        return not target.startswith((".", "/"))

    def is_own_library(self, target: str) -> bool:
        """Return whether a module is a part of Node."""
        module = _parts_of_target(target)[0]
        return module.startswith("node:") or module.partition("/")[0] in _OF_NODE

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the members that subclasses get from an error of JavaScript; None for another type."""
        return _OF_ERRORS if base in _ERRORS else None


LANGUAGE = TypeScriptLanguage("typescript", "language_typescript")
TSX = TypeScriptLanguage("tsx", "language_tsx")
JAVASCRIPT = TypeScriptLanguage("javascript", "language_tsx")


def _without_export(node: Node | None) -> Node | None:
    """Return the declaration behind words such as `export` and `declare`; None if there is none."""
    while node is not None and node.type in _AROUND:
        inner = [child for child in node.named_children if child.type not in {"comment", "decorator"}]
        is_namespace = node.type != "expression_statement" or (inner and inner[0].type == "internal_module")
        node = inner[0] if inner and is_namespace else None
    return node


def _read_declaration(node: Node, kind: Kind, place: NodePlace, body: Node | None) -> NodeReading:
    name = _plain_name(node)
    if not name:
        return NodeReading()
    value = node.child_by_field_name("value") if kind == "type" else None
    at, head = node.child_by_field_name("name"), head_before(node, body)
    found = [declare(node, name, kind, place, at=at, head=head, value=value)]
    own = NodePlace(found[0].qualified, is_member=True)
    if name == "constructor":
        found += [declare(one.at, one.name, "var", NodePlace(place.owner)) for one in _parameter_fields(node)]
    bodies = [] if body is None or kind in {"func", "method"} else [(body, own)]
    extended = [part for part in node.named_children if part.type in _EXTENDED] if bodies else []
    return NodeReading(found, bodies=bodies, bases=bases_in(own.owner, extended, _EXTENDED))


def _read_values(node: Node, found: list[Member], kind: Kind, place: NodePlace) -> NodeReading:
    """Return the declarations of a statement; a name whose value is a function or class counts as that."""
    declarations: list[Declaration] = []
    bodies: list[tuple[Node, NodePlace]] = []
    for one in found:
        body = None if one.value is None else one.value.child_by_field_name("body")
        if one.value is not None and body is not None and one.value.type in _FUNCTIONS | {"class"}:
            made: Kind = "class" if one.value.type == "class" else "method" if place.is_member else "func"
            start = None if len(found) == 1 else one.at.start_byte
            head = head_before(node, body, start=start)
            declarations.append(declare(node, one.name, made, place, at=one.at, head=head))
            own = NodePlace(declarations[-1].qualified, is_member=True)
            bodies += [(body, own)] if made == "class" else []
        else:
            declarations.append(declare(node, one.name, kind, place, at=one.at, value=one.value))
    return NodeReading(declarations, bodies=bodies)


def _plain_name(node: Node) -> str:
    """Return the name in the field `name` of a node, without quotes."""
    return _unquoted(name_of(node))


def _unquoted(name: str) -> str:
    is_quoted = len(name) > 1 and name[0] in "\"'" and name[0] == name[-1]
    return name[1:-1] if is_quoted else name


def _read_members(node: Node) -> Iterator[Member]:
    """Yield the variables and fields that a statement declares."""
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    name = node.child_by_field_name("name")
    if node.type in {"lexical_declaration", "variable_declaration"}:
        for one in node.named_children:
            if one.type == "variable_declarator":
                yield from _read_members(one)
    elif node.type in {"property_identifier", "string"}:  # of an enum
        yield Member(_unquoted(text_of(node)), node)
    elif name is not None and name.type.endswith("_pattern"):
        yield from [Member(text_of(one), one, None, value) for one in _bound_names(name)]
    elif name is not None and node.type in _NAMED:
        yield Member(_plain_name(node), name, kind, value)


_NAMED = frozenset(
    {"enum_assignment", "property_signature", "public_field_definition", "variable_declarator"}
)


def _bound_names(pattern: Node) -> Iterator[Node]:
    """Yield the names that `[a, {b, c: d}] = …` binds."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
            yield node
        elif node.type.endswith("_pattern"):
            inner = [node.child_by_field_name(field) for field in ("left", "value")]
            waiting += [one for one in inner if one is not None][:1] or reversed(node.named_children)


def _parameter_fields(node: Node) -> Iterator[Member]:
    """Yield the parameters of a constructor that are fields as well: `private x: number`."""
    parameters = node.child_by_field_name("parameters")
    for one in [] if parameters is None else parameters.named_children:
        pattern = one.child_by_field_name("pattern")
        if pattern is not None and any(
            part.type in {"accessibility_modifier", "readonly"} for part in one.children
        ):
            yield Member(text_of(pattern), pattern, one.child_by_field_name("type"))


def _is_constant(node: Node, place: NodePlace) -> bool:
    """Return whether a statement declares constants."""
    kind = node.child_by_field_name("kind")
    is_item = place.is_member and node.type in {"enum_assignment", "property_identifier", "string"}
    return is_item or (kind is not None and text_of(kind) == "const")


_OF_NODE = frozenset(
    {
        *("assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https"),
        *("net", "os", "path", "process", "stream", "url", "util", "zlib"),
    }
)
"""Modules of Node that are often imported without `node:`. Source: https://nodejs.org/api/modules.html"""
_ERRORS = frozenset(
    {"Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"}
)
_OF_ERRORS = frozenset(
    {
        *("captureStackTrace", "cause", "isError", "message", "name", "prepareStackTrace", "stack"),
        *("stackTraceLimit", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
        *("toLocaleString", "toString", "valueOf"),
    }
)
"""Members of errors, with those of all objects. Source: https://tc39.es/ecma262/#sec-error-objects"""
_SUFFIX = re.compile(r"(\.d)?\.[cm]?[jt]sx?$")


def _parts_of_target(target: str) -> tuple[str, str]:
    """Split a target into module and name; a module such as `#lib/a` begins with the same sign."""
    place = target.find("#", 1)
    return (target, "") if place < 0 else (target[:place], target[place + 1 :])


def _required_imports(node: Node) -> Iterator[Import]:
    """Yield the imports of a variable whose value is `require("a")` or `await import("a")`."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if value is not None and value.type == "await_expression":
        value = value.named_children[0]
    function = None if value is None else value.child_by_field_name("function")
    arguments = None if value is None else value.child_by_field_name("arguments")
    if name is None or function is None or function.type not in {"identifier", "import"} or arguments is None:
        return
    each = arguments.named_children
    if text_of(function) not in {"import", "require"} or len(each) != 1 or each[0].type != "string":
        return
    source, shown = text_of(each[0])[1:-1], " ".join(text_of(node).split())
    if name.type == "identifier":
        yield Import(text_of(name), source, shown)
    for part in name.named_children if name.type == "object_pattern" else ():
        key = part.child_by_field_name("key") or part
        bound = part.child_by_field_name("value") or part
        if {key.type, bound.type} <= {
            "identifier",
            "property_identifier",
            "shorthand_property_identifier_pattern",
        }:
            yield Import(text_of(bound), f"{source}#{text_of(key)}", shown)


def _read_imports(node: Node, source: str) -> Iterator[Import]:
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
