"""Declarations of C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .brace_language import Place, Reading, declared
from .c_language import CLanguage, parts_of
from .language import name_of

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["CppLanguage", "LANGUAGE"]


class CppLanguage(CLanguage):
    """How declarations are read from C++: as C, and what C hasn't."""

    name = "cpp"
    grammar = "tree_sitter_cpp"

    def read(self, node: Node, place: Place) -> Reading:
        """Return what a node declares."""
        while node.type == "template_declaration":
            inner = [child for child in node.named_children if child.type not in _BEFORE]
            if not inner:
                return Reading()
            node = inner[-1]
        if node.type == "friend_declaration":
            functions = [child for child in node.named_children if child.type == "function_definition"]
            return super().read(functions[0], place) if functions else Reading()
        at = node.child_by_field_name("name")
        if node.type == "namespace_definition":
            body = node.child_by_field_name("body")
            owners = [place.owner, *(parts_of(name_of(node)) if at is not None else ())]
            return Reading(bodies=[] if body is None else [(body, Place(".".join(filter(None, owners))))])
        if node.type in {"alias_declaration", "concept_definition"}:
            return Reading([declared(node, name_of(node), "type", place, at=at, head=place.start)])
        return super().read(node, place)


LANGUAGE = CppLanguage()
_BEFORE = frozenset({"comment", "requires_clause", "template_parameter_list"})
