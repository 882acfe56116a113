"""The two tiers of a codec: what has been compiled, and when to compile the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .problems import GIVE_UP

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.graph import Graph
    from ..introspect.unions import UnionPlan
    from .problems import Problems

    GraphOf = Callable[[type], Graph | None]

__all__ = ["COLD_CALLS", "Tiers"]

COLD_CALLS = 100
"""Values that the interpreter decodes, or encodes, before the compiled tier takes over.

Compiling costs as much as 20 (large types) to 120 (small ones) calls save, so whatever number of
calls comes, no more than about twice the least time is spent.
"""


class Tiers:
    """What a codec has compiled so far.

    Each function is published by one assignment: another thread sees None or the whole of it.
    Threads may count past each other, and may both compile; then one of two equal functions stays.

    Args:
        graph: of the type.
        max_depth: levels of arrays and objects that are followed.
        graph_of: gives the graph of a class found where the annotation is `Any`, or None.
        exact: whether a key that is not used is left to the interpreter.

    Attributes:
        decode: takes a JSON value; None while it is not compiled.
        encode: takes an instance; likewise.
        interpret: takes a JSON value that is not all right, walks only into the parts that are not;
            likewise.
        expects: the line that reports end with; None until it was asked for.
        plans: of the unions that the interpreter has met, by identity of the node.
    """

    __slots__ = (
        "_decodes",
        "_encodes",
        "_exact",
        "_given_up",
        "_graph",
        "_graph_of",
        "_max_depth",
        "decode",
        "encode",
        "expects",
        "interpret",
        "plans",
    )

    def __init__(self, graph: Graph, max_depth: int, graph_of: GraphOf, *, exact: bool = False) -> None:
        self._exact = exact
        self._graph = graph
        self._max_depth = max_depth
        self._graph_of = graph_of
        self._decodes = 0
        self._encodes = 0
        self._given_up = 0
        self.decode: Callable[[Any], Any] | None = None
        self.encode: Callable[[Any], Any] | None = None
        self.interpret: Callable[[Any], tuple[Any, Problems]] | None = None
        self.expects: str | None = None
        self.plans: dict[int, UnionPlan] = {}

    def count_decode(self) -> None:
        """Count a decode that the interpreter did, and compile after enough of them."""
        self._decodes += 1
        if self._decodes >= COLD_CALLS:
            self._decodes = 0
            try:
                self.compile_decoder()
            except RecursionError:
                return  # the caller stands deep; later then

    def count_encode(self) -> None:
        """Count an encode that the interpreter did, and compile after enough of them."""
        self._encodes += 1
        if self._encodes >= COLD_CALLS:
            self._encodes = 0
            try:
                self.compile_encoder()
            except RecursionError:
                return  # likewise

    def count_given_up(self) -> None:
        """Count a value that the compiled decoder left to the interpreter; after enough, help that one."""
        if self.decode is _give_up:
            return  # what stays interpreted has no parts to compile, however often it is asked
        self._given_up += 1
        if self._given_up >= COLD_CALLS:
            self._given_up = 0
            try:
                self.compile_parts()
            except RecursionError:
                return  # likewise

    def compile_decoder(self) -> None:
        """Compile and publish the decoder."""
        from .compile.decoder import compile_decoder  # noqa: PLC0415  # most programs never compile

        self.decode = compile_decoder(self._graph, self._max_depth, exact=self._exact) or _give_up

    def compile_parts(self) -> None:
        """Compile and publish the decoders of the parts."""
        from .compile.parts import compile_parts  # noqa: PLC0415  # likewise
        from .compile.quick import interpret_quickly  # noqa: PLC0415  # likewise

        parts = compile_parts(self._graph, self._max_depth)
        if parts is not None:
            self.interpret = partial(interpret_quickly, self._graph, parts, self._max_depth, self.plans)

    def compile_encoder(self) -> None:
        """Compile and publish the encoder."""
        from .compile.encoder import compile_encoder  # noqa: PLC0415  # likewise

        self.encode = compile_encoder(self._graph, self._max_depth, self._graph_of) or _give_up

    def source(self) -> str:
        """Return the source of both."""
        from .compile.decoder import decoder_source  # noqa: PLC0415  # likewise
        from .compile.encoder import encoder_source  # noqa: PLC0415  # likewise

        decoder = decoder_source(self._graph, self._max_depth, exact=self._exact)
        encoder = encoder_source(self._graph, self._max_depth, self._graph_of)
        return f"# --- decoder\n\n{decoder}\n# --- encoder\n\n{encoder}"


def _give_up(_value: object) -> Any:
    """Stand for the function of a graph that stays interpreted."""
    return GIVE_UP
