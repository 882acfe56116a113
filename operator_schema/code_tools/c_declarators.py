"""What statements of C and C++ declare: names in declarators, and types with bodies."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from .brace_language import Place, Reading, bases_in, declared
from .language import LONGEST_NAME, qualified, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tree_sitter import Node

    from .language import Declaration, Kind

__all__ = ["TYPES", "is_constant", "named", "parts_of", "type_of", "value_or_function"]

TYPES: Mapping[str, Kind] = {
    "class_specifier": "class",
    "enum_specifier": "type",
    "struct_specifier": "struct",
    "union_specifier": "struct",
}
_DECLARATORS = re.compile(r"_declarator$")
_CAST = re.compile(r"(^|::)\s*operator\s+\w")


def named(declarator: Node) -> tuple[Node | None, bool]:
    """Return the node of the name in a declarator, and whether it is that of a function."""
    node: Node | None = declarator
    is_function = False
    while node is not None and _DECLARATORS.search(node.type):
        if node.type in {
            "array_declarator",
            "function_declarator",
            "pointer_declarator",
            "reference_declarator",
        }:
            is_function = node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None or not node.named_children else node.named_children[-1]
    return node, is_function or (node is not None and _CAST.search(text_of(node)) is not None)


def parts_of(name: str) -> list[str]:
    """Return the parts of a name between its `::`, without type arguments."""
    before, operator, sign = name[-LONGEST_NAME:].partition("operator")
    plain, count = before, 1
    while count:
        plain, count = re.subn(r"<[^<>]*>", "", plain)
    parts = ["".join(part.split()) for part in plain.split("::")]
    if operator and not sign[:1].isidentifier():
        bare = "".join(sign.split())
        shown = "()" if bare.startswith("()") else " ".join(sign.partition("(")[0].split())
        return [*filter(None, parts[:-1]), f"operator {shown}" if shown[:1].isalpha() else f"operator{shown}"]
    return [part for part in parts if part] or [name[-LONGEST_NAME:]]


def is_constant(node: Node) -> bool:
    """Return whether what a statement declares is constant."""
    before = takewhile(lambda part: not _DECLARATORS.search(part.type), node.named_children)
    return any(part.type == "type_qualifier" and b"const" in (part.text or b"") for part in before)


def value_or_function(
    node: Node, declarator: Node, place: Place, kind: Kind, *, is_function: bool
) -> Declaration | None:
    """Make the declaration of a declarator of a statement.

    Args:
        node: the statement.
        declarator: of it.
        place: where the statement stands.
        kind: of it, if it is no function.
        is_function: whether it is one.
    """
    name, _ = named(declarator)
    if name is None:
        return None
    *owners, last = parts_of(text_of(name))
    own = place._replace(owner=qualified(place.owner, ".".join(owners)) if owners else place.owner)
    at: Node | None = name
    while at is not None and at.type == "qualified_identifier":
        name, at = at, at.child_by_field_name("name")
    if is_function and kind != "type":
        kind = "method" if place.is_member or owners else "func"
        return declared(node, last, kind, own, at=at or name, end=declarator.end_byte, head=place.start)
    if kind == "type":
        return declared(node, last, kind, own, at=at or name, head=place.start)
    value = declarator.child_by_field_name("value") or node.child_by_field_name("default_value")
    return declared(node, last, kind, own, at=at or name, value=value)


def type_of(node: Node, place: Place, used: Node | None = None, *, is_typedef: bool = False) -> Reading:
    """Return a struct, union, enum or class that has a body, under its name or that of what has this type."""
    body, own_name = node.child_by_field_name("body"), node.child_by_field_name("name")
    at = used if own_name is None else own_name
    if body is None:
        return Reading()
    name = "" if at is None else text_of(at)
    *owners, last = parts_of(name)
    own = place._replace(owner=qualified(place.owner, ".".join(owners)) if owners else place.owner)
    is_open = node.type == "enum_specifier" and not any(
        part.type in {"class", "struct"} for part in node.children
    )
    inside = place.owner if is_open or not name else qualified(own.owner, last)
    bodies = [(body, Place(inside, is_member=True))]
    if not name or (own_name is None and not is_typedef):
        return Reading(bodies=bodies)
    made = declared(node, last, TYPES[node.type], own, at=at, end=body.start_byte, head=place.start)
    extended = [part for part in node.named_children if part.type == "base_class_clause"]
    return Reading([made], bodies=bodies, bases=bases_in(inside, extended, _EXTENDED))


_EXTENDED = frozenset({"access_specifier", "base_class_clause"})
