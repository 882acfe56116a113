"""Compile each part of a graph to a function of its own: for values with few mistakes.

The interpreter walks the values that the compiled decoder gives up on. It calls these functions
first, and walks only into the parts that they give up on too. Without them the report of one mistake
in the benchmarks' `Event` takes 69 µs instead of 43.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...introspect.nodes import ArrayNode
from ...introspect.traits import parts_of, visit
from .decoder import Decoder, why_interpreted
from .helpers import PartFunctions
from .writer import PARTED

if TYPE_CHECKING:
    from ...introspect.nodes import Graph, Node

__all__ = ["compile_parts"]


def compile_parts(graph: Graph, max_depth: int) -> PartFunctions | None:
    """Compile the parts of a graph.

    Args:
        graph: of the type.
        max_depth: levels of arrays and objects that are followed.

    Returns:
        Their functions; None where the graph stays interpreted.
    """
    if why_interpreted(graph) is not None:
        return None
    writer = _PartsWriter(graph, max_depth)
    made: Any = writer.source.link(writer.tables())
    return made  # type: ignore[no-any-return]  # what the last line of the source makes


class _Wanted(NamedTuple):
    """The nodes that get a function.

    Attributes:
        arrays: one function takes the items of each, one after the other.
        others: the others that have parts.
    """

    arrays: list[ArrayNode]
    others: list[Node]


def _wanted_in(root: Node) -> _Wanted:
    """Find the nodes that get a function.

    Recursive ones get none: they would be tried again at each of their levels.
    """
    arrays: dict[int, ArrayNode] = {}
    others: dict[int, Node] = {}
    for node in visit([root]):
        if isinstance(node, ArrayNode):
            arrays[id(node)] = node
        else:
            inside = [inner for _, inner in parts_of(node) if isinstance(inner, PARTED)]
            others.update({id(inner): inner for inner in inside if not isinstance(inner, ArrayNode)})
    return _Wanted(list(arrays.values()), list(others.values()))


class _PartsWriter(Decoder):
    """Writes the functions of the parts of one graph."""

    def __init__(self, graph: Graph, max_depth: int) -> None:
        super().__init__(graph, max_depth, None, exact=False)
        self._wanted = _wanted_in(graph.root)
        self._repeated |= {id(node) for node in self._wanted.others}
        # These are called from anywhere: depth is not known when they are written.
        self._counts_depth = True
        self._in_main = False

    def tables(self) -> str:
        """Write all functions, and the tables that they are found by; return the name of these."""
        decoders = ", ".join([f"{id(node)}: {self.function(node)}" for node in self._wanted.others])
        fillers = ", ".join([f"{id(node)}: {self._filler(node)}" for node in self._wanted.arrays])
        self.write_pending()
        name = self.source.name("parts")
        self.source.close_with(
            f"{name} = {self.source.bind(PartFunctions, 'PartFunctions')}({{{decoders}}}, {{{fillers}}})"
        )
        return name

    def _filler(self, node: ArrayNode) -> str:
        items, made, item = [self.source.name(hint) for hint in ("items", "made", "item")]
        self.at = self.source.function("fill", items, made, "depth")
        with self.at.block(f"for {item} in {items}:"):
            self.at.line(f"{made}.append({self.value(node.items, item, 0)})")
        return self.at.name
