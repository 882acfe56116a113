"""How are declarations read from a language with braces, such as Java or TypeScript?"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .grammar_errors import grammar_errors
from .language import Base, Language, TypeField
from .nodes import LONGEST_NAME, calls_in, children_of, declare, nodes_in, read_tree, span_of, text_of
from .parsing import parse_tree
from .snippets import SnippetReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from .language import Declaration, Import, Kind, Parsed
    from .nodes import NodePlace, NodeReading
    from .snippets import Context, SyntaxProblem


class Member(NamedTuple):
    """A field, variable or constant of a class or file."""

    name: str
    at: Node
    type: Node | None = None
    value: Node | None = None


def declare_members(node: Node, found: Sequence[Member], kind: Kind, place: NodePlace) -> list[Declaration]:
    """Make the declarations of all names in one statement."""
    return [declare(node, one.name, kind, place, at=one.at, value=one.value) for one in found]


def bases_in(owner: str, parts: Sequence[Node | None], around: frozenset[str]) -> list[Base]:
    """List the types that are named in some parts of a declaration, such as its `extends` clause.

    Args:
        owner: qualified name of the type that has them.
        parts: nodes that may contain names; None stands for a missing node.
        around: types of nodes in which names are looked for.
    """
    waiting = [part for part in parts if part is not None][::-1]
    found: list[str] = []
    while waiting:
        node = waiting.pop()
        if node.type in around:
            waiting += reversed(node.named_children)
        else:
            found.append(type_name(node))
    return [Base(owner, name) for name in found if name]


def type_name(node: Node | None) -> str:
    """Return the name of a type, with dots and without type arguments; empty if it has none."""
    if node is None or node.end_byte - node.start_byte > LONGEST_NAME:
        return ""
    name = re.sub(r"<.*|^:?\s*|[\s*&]", "", text_of(node), flags=re.DOTALL).replace("::", ".")
    return name if re.fullmatch(r"[\w.$]+", name) and name not in _NO_TYPES else ""


_NO_TYPES = frozenset({"auto", "var"})


class BraceLanguage(Language):
    """Reads declarations from a language with braces; a subclass interprets the nodes of its grammar.

    Attributes:
        prefixes: types of nodes that belong to the node after them.
        called_nodes: types of nodes that can stand for the called function in a call.
        name_nodes: types of nodes that are names.
    """

    bodies_inside = True
    self_names = frozenset({"this"})
    prefixes: frozenset[str] = frozenset()
    called_nodes: frozenset[str]
    name_nodes: frozenset[str]

    def read(self, node: Node, place: NodePlace) -> NodeReading:
        """Return the declarations, imports and bases in a node."""
        raise NotImplementedError

    def members_in(self, node: Node) -> list[Member]:
        """Return the fields and constants that a statement in a class declares."""
        raise NotImplementedError

    def parse(self, source: bytes) -> Parsed:
        """Read the declarations and imports of a file; parts with syntax errors are left out."""
        return self.parse_prepared(self.grammar_of(source), self.prepared(source))

    def parse_prepared(self, grammar: str, source: bytes) -> Parsed:
        """Read the declarations and imports of a text that `prepared` has returned."""
        children = partial(children_of, prefixes=self.prefixes)
        return read_tree(parse_tree(grammar, source), self.read, children)

    def grammar_of(self, source: bytes) -> str:  # noqa: ARG002  # what decides in some languages
        """Return the grammar with which a text is parsed."""
        return self.grammar

    def prepared(self, source: bytes) -> bytes:
        """Replace text that the grammar can't read with spaces, so that its length stays the same."""
        return source

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one class."""
        waiting = [parse_tree(self.grammar_of(source), source)]
        while waiting:  # the class is not always at the top
            node = waiting.pop(0)
            body = node.child_by_field_name("body")
            if body is not None:
                found = [one for child in body.named_children for one in self.members_in(child)]
                return [
                    TypeField(one.name, one.at.start_byte, span_of(one.type), span_of(one.value))
                    for one in found
                ]
            waiting += node.named_children[:4]
        return []

    def called(self, source: bytes) -> list[tuple[str, str]]:
        """List the calls in the text of one function, and the names that it uses."""
        found = calls_in(self.grammar_of(source), source, self.called_nodes, self.name_nodes)
        return [(how, name.replace("->", ".").replace("?.", ".")) for how, name in found]

    def type_of(self, source: bytes, name: str) -> str:
        """Return the type of a parameter or variable of a function; empty if it isn't the same everywhere."""
        nodes = nodes_in(self.grammar_of(source), source)
        found = {type_name(one.type) for node in nodes for one in self.bindings_in(node) if one.name == name}
        return found.pop() if len(found) == 1 else ""

    def bindings_in(self, node: Node) -> list[Member]:
        """Return the parameters and variables that a node in a function declares."""
        lone = node.child_by_field_name("parameter") or node.child_by_field_name("parameters")
        if lone is not None and lone.type == "identifier":  # of a lambda
            return [Member(text_of(lone), lone)]
        if not node.type.endswith(("parameter", "enhanced_for_statement")):
            return self.members_in(node)
        name = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        return [] if name is None else [Member(text_of(name), name, node.child_by_field_name("type"))]

    def imports(self, source: bytes) -> tuple[Import, ...]:
        """List the imports inside the text of one function."""
        nodes = nodes_in(self.grammar_of(source), source)
        return tuple([one for node in nodes for one in self.imports_in(node)])

    def imports_in(self, node: Node) -> list[Import]:
        """Return the imports in a node."""
        raise NotImplementedError

    def problems(self, code: str, context: Context) -> list[SyntaxProblem]:
        """List the syntax errors of a snippet without running it."""
        source = code.encode(errors="replace")
        text = self.prepared(source).decode(errors="replace")
        reader = SnippetReader(self.grammar_of(source), self.tokens, self.wrappers[context])
        return grammar_errors(text, reader, context)
