"""What does a file of Java declare?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .brace_language import BraceLanguage, Member, bases_in, declare_members
from .language import Import, lexer
from .nodes import (
    NodePlace,
    NodeReading,
    called_name,
    declare,
    head_before,
    name_of,
    nodes_in,
    qualified,
    text_of,
)
from .snippets import Wrapper, one_item

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tree_sitter import Node

    from .language import Kind
    from .snippets import Context

_KINDS: Mapping[str, Kind] = {
    "annotation_type_declaration": "interface",
    "annotation_type_element_declaration": "method",
    "class_declaration": "class",
    "compact_constructor_declaration": "method",
    "constructor_declaration": "method",
    "enum_declaration": "type",
    "interface_declaration": "interface",
    "method_declaration": "method",
    "record_declaration": "class",
}
_EXTENDED = frozenset({"extends_interfaces", "super_interfaces", "superclass", "type_list"})
_FIELDS = frozenset({"constant_declaration", "field_declaration", "local_variable_declaration"})
_OF_OBJECT = (
    *("clone", "equals", "finalize", "getClass", "hashCode", "notify", "notifyAll", "toString", "wait"),
)
_OF_THROWABLE = (
    *("addSuppressed", "fillInStackTrace", "getCause", "getLocalizedMessage", "getMessage", "getStackTrace"),
    *("getSuppressed", "initCause", "printStackTrace", "setStackTrace"),
)
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("Cloneable", "java.io.Serializable"), ()),
    **dict.fromkeys(("AutoCloseable", "java.io.Closeable"), ("close",)),
    **dict.fromkeys(
        ("Error", "Exception", "RuntimeException", "Throwable", "java.io.IOException"), _OF_THROWABLE
    ),
    **dict.fromkeys(("IllegalArgumentException", "IllegalStateException"), _OF_THROWABLE),
    "Comparable": ("compareTo",),
    "Iterable": ("forEach", "iterator", "spliterator"),
    "Runnable": ("run",),
    "java.util.concurrent.Callable": ("call",),
}
"""The members of usual types of Java's own library. Source: https://docs.oracle.com/en/java/javase/21/docs/api/"""
_INSIDE = Wrapper("void f() {\n", "\n}\n", one_item("method_declaration"))


def _is_expression(root: Node) -> bool:
    parts = root.named_children
    each = parts[0].children_by_field_name("declarator") if len(parts) == 1 else []
    return len(each) == 1 and each[0].child_by_field_name("value") is not None


class JavaLanguage(BraceLanguage):
    """Reads declarations from Java."""

    name = family = "java"
    grammar = "tree_sitter_java"
    package_is_folder = True
    has_plain_members = heads_name_members = True
    name_nodes = frozenset({"identifier", "type_identifier"})
    hidden, tokens = lexer(
        r"""//[^\n]* | /\*.*?(?:\*/|\Z) | \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z) | "(?:\\.|[^"\\\n])*"? |
            '(?:\\.|[^'\\\n])+'?"""
    )
    wrappers: Mapping[Context, Wrapper] = {
        "file": Wrapper(),
        "function_body": _INSIDE,
        "statements": Wrapper("for (;;) {\n", "\n}\n", one_item("for_statement")),
        "expression": Wrapper("Object x =\n", "\n;\n", _is_expression),
    }

    def read(self, node: Node, place: NodePlace) -> NodeReading:
        """Return the declarations, imports and bases in a node."""
        if node.type == "import_declaration":
            return NodeReading(imports=self.imports_in(node))
        if node.type in {"ERROR", "enum_body_declarations"}:
            return NodeReading(bodies=[(node, place)])
        kind = _KINDS.get(node.type)
        if kind is None:
            is_constant = node.type in {"constant_declaration", "enum_constant"} or _is_final(node)
            return NodeReading(
                declare_members(node, self.members_in(node), "const" if is_constant else "var", place)
            )
        name, body = name_of(node), node.child_by_field_name("body")
        at, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        head = head_before(node, body, start=_after_annotations(node))
        found = [declare(node, name, kind, place, at=at, head=head, value=value)]
        own = NodePlace(qualified(place.owner, name), is_member=True)
        if node.type == "record_declaration":
            found += declare_members(node, self._components(node), "var", own)
        bodies = [] if body is None or kind == "method" else [(body, own)]
        extended = [part for part in node.named_children if part.type in _EXTENDED] if bodies else []
        return NodeReading(found, bodies=bodies, bases=bases_in(own.owner, extended, _EXTENDED))

    def members_in(self, node: Node) -> list[Member]:
        """Return the fields and constants that a statement in a class declares."""
        if node.type == "enum_constant":
            return [Member(name_of(node), node, None, node.child_by_field_name("arguments"))]
        kind = node.child_by_field_name("type")
        each = node.children_by_field_name("declarator") if node.type in _FIELDS else []
        return [
            Member(text_of(name), name, kind, one.child_by_field_name("value"))
            for one in each
            if (name := one.child_by_field_name("name")) is not None
        ]

    def _components(self, record: Node) -> list[Member]:
        parameters = record.child_by_field_name("parameters")
        each = [] if parameters is None else parameters.named_children
        named = [(one, one.child_by_field_name("name")) for one in each]
        return [
            Member(text_of(name), name, one.child_by_field_name("type"))
            for one, name in named
            if name is not None
        ]

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        found: list[tuple[str, str]] = []
        for node in nodes_in(self.grammar, source):
            if node.type == "method_invocation":
                found.append(("call", called_name(source, node, node.child_by_field_name("name"))))
            elif node.type in self.name_nodes:
                found.append(("name", text_of(node)))
        return found

    def imports_in(self, node: Node) -> list[Import]:
        """Return the imports in a node."""
        if node.type != "import_declaration":
            return []
        text = " ".join(text_of(node).split()).removesuffix(";").rstrip()
        target = text.removeprefix("import ").removeprefix("static ")
        base, _, last = target.rpartition(".")
        return [Import(last, base if last == "*" else target, text)]

    def module_of(self, path: str) -> str:
        """Return the dotted folder of a file, which ends with its package."""
        return path.rpartition("/")[0].replace("/", ".")

    def import_target(self, target: str, path: str) -> str:  # noqa: ARG002  # as it is called
        """Return the dotted name of the module or item that an import means."""
        return target

    def is_own_library(self, target: str) -> bool:
        """Return whether a name belongs to the packages of the Java platform."""
        return target.startswith("java.")

    def passed_on(self, base: str) -> Collection[str] | None:
        """Return the members of a common type of Java's own library; None for another type."""
        own = _MEMBERS.get(base.removeprefix("java.lang."))
        return None if own is None else (*own, *_OF_OBJECT)

    def package_of(self, path: str) -> str:
        """Return the package of a file, which `src/main/java` and `src/test/java` may share."""
        return f"/{path.rpartition('/')[0]}/".rpartition("/java/")[2]


LANGUAGE = JavaLanguage()


def _modifiers(node: Node) -> list[Node]:
    found = next((child for child in node.named_children[:3] if child.type == "modifiers"), None)
    return [] if found is None else found.children


def _is_final(node: Node) -> bool:
    return {"final", "static"} <= {part.type for part in _modifiers(node)}


def _after_annotations(node: Node) -> int:
    """Return where the signature begins, behind the annotations."""
    each = _modifiers(node)
    end = next((place for place, part in enumerate(each) if not part.type.endswith("annotation")), len(each))
    if end < len(each):
        return each[end].start_byte
    after = each[-1].end_byte if each else node.start_byte
    return next((child.start_byte for child in node.children if child.start_byte >= after), after)
