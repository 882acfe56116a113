"""The two tiers of a codec: what has been compiled, and when to compile the rest."""

from __future__ import annotations

from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.graph import Graph
    from ..introspect.unions import UnionPlan
    from .problems import Problems

    Decode = Callable[[Any], Any]
    Encode = Callable[[Any], Any]
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
        decode: takes a JSON value, and answers as `Codec.decode` does; None while it is not compiled.
        encode: takes an instance, and answers as `Codec.encode` does; likewise.
        interpret: takes a JSON value that is not all right, walks only into the parts that are not;
            likewise.
        expects: the line that reports end with; None until it was asked for.
        plans: of the unions that the interpreter has met, by identity of the node.
    """

    __slots__ = (
        "_decodes",
        "_encodes",
        "_exact",
        "_graph",
        "_graph_of",
        "_left",
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
        self._left: int | None = None  # until there is a compiled decoder
        self.decode: Decode | None = None
        self.encode: Encode | None = None
        self.interpret: Callable[[Any], tuple[Any, Problems]] | None = None
        self.expects: str | None = None
        self.plans: dict[int, UnionPlan] = {}

    def count_decode(self) -> bool:
        """Count a decode that the interpreter did; say whether it is time to compile."""
        self._decodes += 1
        if self._decodes < COLD_CALLS:
            return False
        self._decodes = 0
        return True

    def count_encode(self) -> bool:
        """Count an encode that the interpreter did; say whether it is time to compile."""
        self._encodes += 1
        if self._encodes < COLD_CALLS:
            return False
        self._encodes = 0
        return True

    def count_left(self) -> bool:
        """Count a value that a compiled decoder left to the interpreter; say whether to help that one."""
        if self._left is None or self.interpret is not None:
            return False
        self._left += 1
        if self._left < COLD_CALLS:
            return False
        self._left = 0
        return True

    def compile_decoder(self, codec: Any, interpret: Decode) -> bool:
        """Compile and publish the decoder, as a method of a codec.

        Args:
            codec: is asked for what it gives up on.
            interpret: decodes without it, where the graph stays interpreted.

        Returns:
            Whether it was compiled.
        """
        from .compile.decoder import compile_decoder  # noqa: PLC0415  # most programs never compile

        compiled = compile_decoder(self._graph, self._max_depth, exact=self._exact)
        if compiled is None:
            self.decode = interpret
            return False
        self._left = 0
        self.decode = MethodType(compiled, codec)
        return True

    def compile_parts(self) -> None:
        """Compile and publish the decoders of the parts."""
        from .compile.parts import compile_parts  # noqa: PLC0415  # likewise
        from .compile.quick import interpret_quickly  # noqa: PLC0415  # likewise

        parts = compile_parts(self._graph, self._max_depth)
        if parts is not None:
            self.interpret = partial(interpret_quickly, self._graph, parts, self._max_depth, self.plans)

    def compile_encoder(self, codec: Any, interpret: Encode) -> bool:
        """Compile and publish the encoder, as a method of a codec.

        Args:
            codec: is asked for what it gives up on.
            interpret: encodes without it, where the graph stays interpreted.

        Returns:
            Whether it was compiled.
        """
        from .compile.encoder import compile_encoder  # noqa: PLC0415  # likewise

        compiled = compile_encoder(self._graph, self._max_depth, self._graph_of)
        self.encode = interpret if compiled is None else MethodType(compiled, codec)
        return compiled is not None

    def source(self) -> str:
        """Return the source of both."""
        from .compile.decoder import decoder_source  # noqa: PLC0415  # likewise
        from .compile.encoder import encoder_source  # noqa: PLC0415  # likewise

        decoder = decoder_source(self._graph, self._max_depth, exact=self._exact)
        encoder = encoder_source(self._graph, self._max_depth, self._graph_of)
        return f"# --- decoder\n\n{decoder}\n# --- encoder\n\n{encoder}"
