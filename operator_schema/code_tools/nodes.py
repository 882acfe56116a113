"""How are declarations made from the nodes of a tree?"""

from __future__ import annotations

from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple

from .language import NOWHERE, Declaration, Parsed, Span
from .parsing import parse_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from tree_sitter import Node

    from .language import Base, Import, Kind

LONGEST_NAME = 300
"""Bytes of a dotted name that matter: without a limit, the calls of a chain take the square of its text."""


def nodes_in(package: str, source: bytes) -> Iterator[Node]:
    """Yield all named nodes of a text, each before those inside it; see `parse_tree`."""
    waiting = [parse_tree(package, source)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children)


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode(errors="replace")


def text_in(source: bytes, node: Node) -> str:
    """Return the text of a node from its source, which is several times faster than `text_of`."""
    return source[node.start_byte : node.end_byte].decode(errors="replace")


def span_of(node: Node | None) -> Span:
    """Return the place of a node; an empty one if there is none."""
    return NOWHERE if node is None else Span(node.start_byte, node.end_byte)


def name_of(node: Node) -> str:
    """Return the name in the field `name` of a node; empty if there is none."""
    name = node.child_by_field_name("name")
    return "" if name is None else text_of(name)


def qualified(owner: str, name: str) -> str:
    """Return the name of a member, with the name of its owner if it has one."""
    return f"{owner}.{name}" if owner else name


def called_name(source: bytes, function: Node, last: Node | None = None) -> str:
    """Return the name of a called function without white space; the beginning of a long name is cut off.

    Args:
        source: the text.
        function: the node of what is called.
        last: where its name ends; the end of the node unless given.
    """
    end = (last or function).end_byte
    start = max(function.start_byte, end - LONGEST_NAME)
    text = "".join(source[start:end].decode(errors="replace").split())
    return text if start == function.start_byte else f"…{text}"


def calls_in(
    package: str, source: bytes, called: Collection[str], names: Collection[str]
) -> list[tuple[str, str]]:
    """List the calls and names in the text of one function, as `Language.called` does.

    Args:
        package: of the grammar.
        source: the text.
        called: types of nodes that can stand for the called function; calls of others have no name.
        names: types of the nodes that are names.
    """
    found: list[tuple[str, str]] = []
    for node in nodes_in(package, source):
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is not None and function.type in called:
            found.append(("call", called_name(source, function).replace("::", ".")))
        elif node.type in names:
            found.append(("name", text_of(node)))
    return found


class NodePlace(NamedTuple):
    """The surroundings of a node: its owner, its comment, and its beginning.

    Attributes:
        owner: qualified name of the declaration around it.
        is_member: whether the owner is a class.
        doc: the comment above it.
        start: where it begins, with the decorators before it; where the node itself begins unless given.
    """

    owner: str = ""
    is_member: bool = False
    doc: Span = NOWHERE
    start: int = maxsize


def declare(
    node: Node,
    name: str,
    kind: Kind,
    place: NodePlace,
    *,
    at: Node | None = None,
    head: Span | None = None,
    value: Node | None = None,
) -> Declaration:
    """Make a declaration.

    Args:
        node: the whole declaration, without decorators.
        name: its name.
        kind: the kind of the declaration. A constant or variable has no signature.
        place: its surroundings.
        at: the node of the name; the declaration itself unless given.
        head: the place of its signature; all of the node unless given.
        value: the node of its value.
    """
    is_value = kind in {"const", "var"}
    return Declaration(
        name,
        qualified(place.owner, name),
        kind,
        (node if at is None else at).start_point[0] + 1,
        node.end_point[0] + 1,
        Span(min(place.start, node.start_byte), node.end_byte),
        NOWHERE if is_value else span_of(node) if head is None else head,
        place.doc,
        span_of(value),
    )


def head_before(node: Node, body: Node | None, *, start: int | None = None) -> Span:
    """Return the place of a signature: a node up to its body, or all of it if it has none.

    Args:
        node: the declaration.
        body: of it; None if it has none.
        start: byte where the signature begins; the beginning of the node unless given.
    """
    return Span(
        node.start_byte if start is None else start, node.end_byte if body is None else body.start_byte
    )


def children_of(
    parent: Node, place: NodePlace, row_before: int, prefixes: frozenset[str] = frozenset()
) -> Iterator[tuple[Node, NodePlace]]:
    """Yield the children of a node, each with the comment right before it and the byte where it begins.

    Args:
        parent: of the children.
        place: the owner of the children.
        row_before: row in which the text before the first child ends: a comment in it belongs to that text.
        prefixes: types of nodes, such as decorators, that belong to the node after them.
    """
    doc, row, last, start = NOWHERE, -1, row_before, -1
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
            doc = doc if doc.end and row + 1 >= first else NOWHERE
            start = child.start_byte
        if child.type in prefixes:
            row, last = end, end
            continue
        yield child, NodePlace(place.owner, place.is_member, doc, start)
        doc, row, last, start = NOWHERE, -1, end, -1


class NodeReading(NamedTuple):
    """The declarations, imports and bases that were read from a node.

    Attributes:
        declarations: in the order of the text.
        imports: the imports that it adds to the file.
        bodies: nodes whose children have to be read next, each with their surroundings.
        bases: the types that its type extends.
    """

    declarations: Sequence[Declaration] = ()
    imports: Sequence[Import] = ()
    bodies: Sequence[tuple[Node, NodePlace]] = ()
    bases: Sequence[Base] = ()


def read_tree(
    root: Node,
    read: Callable[[Node, NodePlace], NodeReading],
    children: Callable[[Node, NodePlace, int], Iterable[tuple[Node, NodePlace]]],
) -> Parsed:
    """Read the declarations, imports and bases of a file, node by node.

    Args:
        root: of the tree.
        read: returns what a node declares, and which nodes in it are to be read next.
        children: yields the children of a node; see `children_of`.
    """
    declarations: list[Declaration] = []
    imports: list[Import] = []
    bases: list[Base] = []
    waiting = [*children(root, NodePlace(), -1)][::-1]
    while waiting:
        reading = read(*waiting.pop())
        declarations += reading.declarations
        imports += reading.imports
        bases += reading.bases
        for body, place in reversed(reading.bodies):
            waiting += [*children(body, place, body.start_point[0])][::-1]
    return Parsed(tuple(declarations), tuple(imports), root.has_error, tuple(bases))
