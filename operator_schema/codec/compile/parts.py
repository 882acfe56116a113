"""Compile each part of a graph to a function of its own: for values with few mistakes.

The interpreter walks the values that the compiled decoder gives up on. It calls these functions
first, and walks only into the parts that they give up on too. Without them the report of one mistake
in the benchmarks' `Event` takes 69 µs instead of 43.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...introspect.node_kinds import parts_of, visit
from ...introspect.nodes import ArrayNode
from ..interpret import DECODERS, DecodeRun, DecodeState, follow
from ..problems import INVALID, GiveUp, Problems
from .decoder import Decoder, why_interpreted
from .writer import PARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...introspect.node_kinds import UnionPlan
    from ...introspect.nodes import Graph, Node
    from ...message_text import Path

    Part = Callable[[Any, int], Any]
    Fill = Callable[[Iterator[Any], list[Any], int], Any]

__all__ = ["compile_parts", "interpret_wrong_parts"]


class PartFunctions:
    """The compiled functions of the parts of a graph.

    Args:
        decoders: by identity of the node, a function that takes a value and its depth, and returns
            what it decodes to, or `GiveUp`.
        fillers: by identity of an array's node, a function that takes an iterator over its items, the
            list of what the items before became, and the depth of an item. It adds to the list until
            no item is left, or returns `GiveUp` at the first that isn't right.

    Attributes:
        decoder_of: takes the identity of a node, returns its decoder or None.
        filler_of: takes the identity of an array's node, returns its filler or None.
    """

    __slots__ = ("__weakref__", "decoder_of", "filler_of")

    def __init__(self, decoders: Mapping[int, Part], fillers: Mapping[int, Fill]) -> None:
        self.decoder_of = decoders.get
        self.filler_of = fillers.get


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
        super().__init__(graph, max_depth, None, exact=True)
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


def interpret_wrong_parts(
    graph: Graph, parts: PartFunctions, max_depth: int, plans: dict[int, UnionPlan], value: object
) -> tuple[Any, Problems]:
    """Decode a JSON value as `interpret` does, faster where little of it is wrong.

    Args:
        graph: of the type.
        parts: the compiled functions of the graph, which give up where a key names no field.
        max_depth: levels of arrays and objects that are followed.
        plans: as `interpret` takes them.
        value: as `interpret` takes it.

    Returns:
        The instance and no problems, or `INVALID` and at least one.
    """
    shared = DecodeState(graph.definitions, max_depth, plans)
    return follow(_PartsRun(shared, Problems(graph.definitions, graph.root), parts), graph.root, value)


class _PartsRun(DecodeRun):
    """A decode that walks only into the parts that their compiled functions give up on."""

    __slots__ = ("_decoder_of", "_filler_of")

    def __init__(self, shared: DecodeState, problems: Problems, parts: PartFunctions) -> None:
        super().__init__(shared, problems)
        self._decoder_of = parts.decoder_of
        self._filler_of = parts.filler_of

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        part = self._decoder_of(id(node))
        if part is not None:
            try:
                decoded = part(value, depth)
            except RecursionError:  # the interpreter finds out whether it is the user's
                decoded = GiveUp
            if decoded is not GiveUp:
                return decoded
        return DECODERS[node.__class__](self, node, value, path, depth)

    def decode_items(self, node: ArrayNode, value: list[Any], path: Path, depth: int) -> list[Any] | None:
        fill = self._filler_of(id(node))
        if fill is None or value.__class__ is not list:
            return DecodeRun.decode_items(self, node, value, path, depth)
        valid = True
        decoded: list[Any] = []
        items = iter(value)
        while _gives_up(fill, items, decoded, depth):
            index = len(decoded)
            result = DecodeRun.decode(self, node.items, value[index], (path, index), depth)
            valid = valid and result is not INVALID
            decoded.append(result)
        return decoded if valid else None


def _gives_up(fill: Fill, items: Iterator[Any], decoded: list[Any], depth: int) -> bool:
    try:
        return fill(items, decoded, depth) is GiveUp
    except RecursionError:  # the interpreter finds out whether it is the user's
        return True
