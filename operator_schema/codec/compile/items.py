"""When does the interpreter leave the items of an array to compiled code?

The compiled decoder gives up on a value with a mistake, and the interpreter walks the value to find all
mistakes. Most of a large value are items of arrays, and nearly all of these are valid: compiled code decodes
them, and the interpreter walks only into the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...introspect.node_kinds import visit
from ...introspect.nodes import ArrayNode, Graph, RefNode, ScalarNode
from .decoder import Decoder, why_interpreted

if TYPE_CHECKING:
    from ...introspect.nodes import Node
    from ..interpret import Fill

COLD_ITEMS = 300
"""How many items of an array the interpreter decodes before they are compiled, which takes as long as 200."""


class ItemDecoders:
    """The compiled decoders for the items of arrays, each compiled after enough items were interpreted.

    Args:
        max_depth: levels of arrays and objects that are followed.
        cold: how many items of an array are interpreted before.
    """

    __slots__ = ("_cold", "_known", "_max_depth")

    def __init__(self, max_depth: int, cold: int = COLD_ITEMS) -> None:
        self._max_depth = max_depth
        self._cold = cold
        self._known: dict[int, _Items] = {}

    def filler(self, node: ArrayNode, number: int, depth: int) -> Fill | None:
        """Return the compiled function that decodes items of an array; None if the interpreter decodes them.

        Args:
            node: the array.
            number: of the items that are to be decoded.
            depth: of the items in the whole value.

        Returns:
            A function that takes a list and an iterator of items. It adds the decoded items to the list, and
            returns `GiveUp` after it has taken one that isn't valid.
        """
        if type(node.items) is ScalarNode:  # interpreted as fast as compiled code is called
            return None
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = _Items(node, self._cold)
        known.left -= number
        if known.left > 0:
            return None
        if not known.is_compiled:
            known.compile(self._max_depth)
        return known.fill if depth < known.deepest else None


class _Items:
    """The items of one array.

    Args:
        node: the array; kept, so that no other one gets its identity.
        left: how many items are to be interpreted before.

    Attributes:
        left: as given, less those that were met.
        is_compiled: whether compiling was tried.
        fill: the compiled function; None before, and if the items stay interpreted.
        deepest: the depth from which items may nest deeper than is followed.
    """

    __slots__ = ("_node", "deepest", "fill", "is_compiled", "left")

    def __init__(self, node: ArrayNode, left: int) -> None:
        self._node = node
        self.left = left
        self.is_compiled = False
        self.fill: Fill | None = None
        self.deepest = 0

    def compile(self, max_depth: int) -> None:
        """Compile the function, unless the items are recursive: these would be tried again at each level."""
        graph = Graph(ArrayNode(self._node.items), {})
        nodes = list(visit([graph.root]))
        if not any(isinstance(node, RefNode) for node in nodes) and why_interpreted(graph) is None:
            self.deepest = max_depth - len(nodes)
            writer = _Filler(graph, max_depth, None, exact=True)
            self.fill = writer.source.link(writer.main(graph.root))
        self.is_compiled = True


class _Filler(Decoder):
    """Writes the function that decodes the items of one array."""

    verb = "fill"
    receiver = "made"
    subject = "items"

    def root(self, root: Node) -> str:
        item = self.source.name("item")
        with self.at.block(f"for {item} in {self.subject}:"):
            self.at.line(f"{self.receiver}.append({self.value(cast('ArrayNode', root).items, item, 1)})")
        return self.receiver
