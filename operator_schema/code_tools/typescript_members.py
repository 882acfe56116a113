"""Names that statements of TypeScript have for values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .brace_language import Member
from .language import name_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from .brace_language import Place

__all__ = ["is_constant", "members_of", "parameter_fields", "plain_name"]


def plain_name(node: Node) -> str:
    """Return the name of what a node declares, without quotes."""
    return _unquoted(name_of(node))


def _unquoted(name: str) -> str:
    is_quoted = len(name) > 1 and name[0] in "\"'" and name[0] == name[-1]
    return name[1:-1] if is_quoted else name


def members_of(node: Node) -> Iterator[Member]:
    """Yield the names that a statement has for values."""
    kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    name = node.child_by_field_name("name")
    if node.type in {"lexical_declaration", "variable_declaration"}:
        for one in node.named_children:
            if one.type == "variable_declarator":
                yield from members_of(one)
    elif node.type in {"property_identifier", "string"}:  # of an enum
        yield Member(_unquoted(text_of(node)), node)
    elif name is not None and name.type.endswith("_pattern"):
        yield from [Member(text_of(one), one, None, value) for one in _bound(name)]
    elif name is not None and node.type in _NAMED:
        yield Member(plain_name(node), name, kind, value)


_NAMED = frozenset(
    {"enum_assignment", "property_signature", "public_field_definition", "variable_declarator"}
)


def _bound(pattern: Node) -> Iterator[Node]:
    """Yield the names that `[a, {b, c: d}] = …` binds."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
            yield node
        elif node.type.endswith("_pattern"):
            inner = [node.child_by_field_name(field) for field in ("left", "value")]
            waiting += [one for one in inner if one is not None][:1] or reversed(node.named_children)


def parameter_fields(node: Node) -> Iterator[Member]:
    """Yield the parameters of a constructor that are fields as well: `private x: number`."""
    parameters = node.child_by_field_name("parameters")
    for one in [] if parameters is None else parameters.named_children:
        pattern = one.child_by_field_name("pattern")
        if pattern is not None and any(
            part.type in {"accessibility_modifier", "readonly"} for part in one.children
        ):
            yield Member(text_of(pattern), pattern, one.child_by_field_name("type"))


def is_constant(node: Node, place: Place) -> bool:
    """Return whether what a statement declares is constant."""
    kind = node.child_by_field_name("kind")
    is_item = place.is_member and node.type in {"enum_assignment", "property_identifier", "string"}
    return is_item or (kind is not None and text_of(kind) == "const")
