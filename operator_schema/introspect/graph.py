"""The graph of nodes: a type's root, its recursive definitions and its aliases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value
from .traits import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .nodes import Node, Target

__all__ = ["Graph"]


NO_ALIASES: Mapping[Target, Node] = {}


class Graph(Value):
    """What a type means.

    Attributes:
        root: the node of the type itself.
        definitions: the nodes of its recursive types, by what `RefNode.target` says.
        aliases: the nodes of its type aliases, which are the same objects wherever they are used.
    """

    root: Node
    definitions: Mapping[Target, Node]
    aliases: Mapping[Target, Node] = NO_ALIASES

    if not TYPE_CHECKING:

        def __new__(cls, root, definitions, aliases):
            self = cls._draft()
            self.root = root
            self.definitions = definitions
            self.aliases = aliases
            self.__class__ = cls
            return self

    def resolve_root(self) -> Node:
        """Return the node of the type itself, never a reference."""
        return resolve(self.root, self.definitions)

    def resolve(self, node: Node) -> Node:
        """Follow a reference to its node; return any other node as it is."""
        return resolve(node, self.definitions)
