"""How are declarations read from a language with braces, such as Java or TypeScript?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .language import (
    LONGEST_NAME,
    Base,
    Declaration,
    Language,
    Parsed,
    Span,
    TypeField,
    calls_in,
    nodes_in,
    parse_tree,
    qualified,
    span_of,
    text_of,
)
from .snippets import wrapped_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from .language import Context, Import, Kind, SyntaxProblem
    from .snippets import Wrapper


class NodePlace(NamedTuple):
    """The surroundings of a node: its owner, its comment, and its beginning.

    Attributes:
        owner: qualified name of the declaration around it.
        is_member: whether the owner is a class.
        doc: the comment above it.
        start: where it begins, with the decorators before it.
    """

    owner: str = ""
    is_member: bool = False
    doc: Span = Span()
    start: int = 0


class NodeReading(NamedTuple):
    """The declarations, imports and bases that were read from a node.

    Attributes:
        declarations: in the order of the text.
        imports: the imports that it adds to the file.
        bases: the types that its type extends.
        bodies: nodes whose children have to be read next, each with their surroundings.
    """

    declarations: Sequence[Declaration] = ()
    imports: Sequence[Import] = ()
    bodies: Sequence[tuple[Node, NodePlace]] = ()
    bases: Sequence[Base] = ()


class Member(NamedTuple):
    """A field, variable or constant of a class or file."""

    name: str
    at: Node
    type: Node | None = None
    value: Node | None = None


def declared(
    node: Node,
    name: str,
    kind: Kind,
    place: NodePlace,
    *,
    at: Node | None = None,
    end: int | None = None,
    value: Node | None = None,
    head: int | None = None,
) -> Declaration:
    """Make a declaration.

    Args:
        node: the whole declaration, without decorators.
        name: its name.
        kind: the kind of the declaration. A constant or variable has no signature.
        place: its surroundings.
        at: the node of the name; the declaration itself unless given.
        end: byte where its signature ends; the end of the node unless given.
        value: the node of its value.
        head: byte where the signature begins; the beginning of the node unless given.
    """
    is_value = kind in {"const", "var"}
    return Declaration(
        name,
        qualified(place.owner, name),
        kind,
        (node if at is None else at).start_point[0] + 1,
        node.end_point[0] + 1,
        Span(min(place.start, node.start_byte), node.end_byte),
        Span() if is_value else Span(_or(head, node.start_byte), _or(end, node.end_byte)),
        place.doc,
        span_of(value),
    )


def _or(given: int | None, otherwise: int) -> int:
    return otherwise if given is None else given


def start_of(node: Node | None) -> int | None:
    """Return where a node begins; None if there is none."""
    return None if node is None else node.start_byte


def members(node: Node, found: Sequence[Member], kind: Kind, place: NodePlace) -> list[Declaration]:
    """Make the declarations of all names in one statement."""
    return [declared(node, one.name, kind, place, at=one.at, value=one.value) for one in found]


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


def with_docs(
    parent: Node, prefixes: frozenset[str], *, row_before: int = -1
) -> Iterator[tuple[Node, Span, int]]:
    """Yield the children of a node, each with the comment right before it and the byte where it begins.

    Args:
        parent: of the children.
        prefixes: types of nodes, such as decorators, that belong to the node after them.
        row_before: row in which the text before the first child ends: a comment in it belongs to that text.
    """
    doc, row, last, start = Span(), -1, row_before, -1
    for child in parent.named_children:
        first, end = child.start_point[0], child.end_point[0]
        if child.type.endswith("comment"):
            if first != last:
                # A comment of two stars says that it is one about what follows.
                is_next = doc.end and first == row + 1 and not (child.text or b"").startswith(b"/**")
                doc, row = Span(doc.start if is_next else child.start_byte, child.end_byte), end
                # The node of a comment may hold the line break after it.
                row -= child.end_point[1] == 0
            continue
        if start < 0:
            doc = doc if doc.end and row + 1 >= first else Span()
            start = child.start_byte
        if child.type in prefixes:
            row, last = end, end
            continue
        yield child, doc, start
        doc, row, last, start = Span(), -1, end, -1


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
        wrappers: for each kind of snippet, the text to put around it.
    """

    bodies_inside = True
    package_is_folder = False
    self_names: frozenset[str] = frozenset({"this"})
    prefixes: frozenset[str] = frozenset()
    called_nodes: frozenset[str]
    name_nodes: frozenset[str]
    wrappers: Mapping[Context, Wrapper]

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
        root = parse_tree(grammar, source)
        declarations: list[Declaration] = []
        imports: list[Import] = []
        bases: list[Base] = []
        waiting = self._children(root, NodePlace(), -1)
        while waiting:
            reading = self.read(*waiting.pop())
            declarations += reading.declarations
            imports += reading.imports
            bases += reading.bases
            for body, place in reversed(reading.bodies):
                waiting += self._children(body, place, body.start_point[0])
        return Parsed(tuple(declarations), tuple(imports), root.has_error, tuple(bases))

    def _children(self, node: Node, place: NodePlace, row: int) -> list[tuple[Node, NodePlace]]:
        """Return the children of a node, the last one first."""
        each = with_docs(node, self.prefixes, row_before=row)
        return [(child, NodePlace(place.owner, place.is_member, doc, start)) for child, doc, start in each][
            ::-1
        ]

    def grammar_of(self, source: bytes) -> str:  # noqa: ARG002  # what decides in some languages
        """Return the grammar with which a text is parsed."""
        return self.grammar

    def prepared(self, source: bytes) -> bytes:
        """Replace what the grammar can't read by spaces; the text keeps its length."""
        return source

    def fields(self, source: bytes) -> list[TypeField]:
        """Read the fields from the text of one class."""
        waiting = [parse_tree(self.grammar_of(source), source)]
        while waiting:  # the class is not always at the top
            node = waiting.pop(0)
            body = node.child_by_field_name("body")
            if body is not None:
                found = [one for child in body.named_children for one in self.members_in(child)]
                return [TypeField(one.name, span_of(one.type), span_of(one.value)) for one in found]
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
        return wrapped_problems(text, self.grammar_of(source), self.wrappers[context], self.tokens, context)
