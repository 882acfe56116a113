"""Which functions of a codec are compiled so far, and when is the next one compiled?"""

from __future__ import annotations

import sys
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal

from .problems import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.nodes import Graph
    from ..introspect.union_plans import UnionPlan
    from .compile.writer import Method, Refusal
    from .interpret import FillerOf

    Decode = Callable[[Any], Any]
    Encode = Callable[[Any], Any]
    GraphOf = Callable[[type], Graph | None]

COLD_CALLS = 100
"""How many values the interpreter decodes, or encodes, before the compiled tier takes over.

Compiling costs as much as 20 (large types) to 120 (small ones) calls save. So whatever the number of
calls, they take at most about twice the least possible time.
"""


_NOTHING: frozenset[str] = frozenset()
"""Shared by all codecs: each empty `frozenset()` is an object of 216 bytes."""


def _unread(text: Any) -> Any:  # noqa: ARG001  # called as a reader is
    return GiveUp


def _give_up(codec: Any, value: object) -> Any:  # noqa: ARG001  # called as a method that decodes
    return GiveUp


class Tiers:
    """The compiled functions of a codec so far.

    Each function is published by one assignment: another thread sees None or the whole function.
    Threads may miss each other's counts, and two may compile at once; then one of two equal functions is
    kept.

    Args:
        graph: the graph of the type.
        max_depth: levels of arrays and objects that are followed.
        graph_of: returns the graph of a class found where the annotation is `Any`, or None.
        exact: whether the interpreter handles values with unused keys.
        is_decoded: whether encoded values are decoded again.

    Attributes:
        compiled: names of the methods of the codec that are compiled.
        decode: works like `Codec.decode`; None until it is compiled, or found to stay interpreted.
        encode: works like `Codec.encode`; None until it is compiled.
        exact: decodes values that need no repair and have no unused key; None until it is compiled.
        read: takes a JSON text and returns its value, or `GiveUp` if it must be read in another way: the
            first one, a faulty one, and each one if numbers keep their digits.
        filler_of: returns compiled code for the items of an array, for values that the compiled decoder gives
            up on; None until that is compiled.
        expects: the last line of reports; None until it is needed.
    """

    __slots__ = (
        "_calls",
        "_decimals",
        "_exact",
        "_graph",
        "_graph_of",
        "_is_decoded",
        "_max_depth",
        "_plans",
        "compiled",
        "decode",
        "encode",
        "exact",
        "expects",
        "filler_of",
        "read",
    )

    def __init__(
        self,
        graph: Graph,
        max_depth: int,
        graph_of: GraphOf,
        *,
        exact: bool = False,
        is_decoded: bool = True,
    ) -> None:
        self._is_decoded = is_decoded
        self._calls: dict[str, int] | None = None
        self._exact = exact
        self._graph = graph
        self._max_depth = max_depth
        self._graph_of = graph_of
        self.compiled = _NOTHING
        self.decode: Decode | None = None
        self.encode: Encode | None = None
        self.exact: Decode | None = None
        self.read: Callable[[Any], Any] = _unread
        self.expects: str | None = None
        self.filler_of: FillerOf | None = None
        self._decimals: bool | None = None
        self._plans: dict[int, UnionPlan] | None = None

    def decimals(self) -> Graph | None:
        """Return the graph if a number in a text may be a `Decimal`, which keeps its digits; else None."""
        found = self._decimals
        if found is None:
            found = self._decimals = "decimal" in sys.modules and _has_decimals(self._graph)
        return self._graph if found else None

    @property
    def plans(self) -> dict[int, UnionPlan]:
        """The plans of the unions that the interpreter has met, by identity of the node."""
        if self._plans is None:  # most types that are registered in a program are never decoded
            self._plans = {}
        return self._plans

    def count(self, call: Literal["decode", "encode", "report"], compile_: Callable[[], None]) -> None:
        """Count a call that the interpreter handles, and compile if there were enough."""
        calls = self._calls
        if calls is None:
            calls = self._calls = {}
        number = calls.get(call, 0) + 1
        is_warm = number >= COLD_CALLS
        calls[call] = 0 if is_warm else number
        if is_warm:
            try:
                compile_()
            except RecursionError:
                return  # the stack is nearly used up: the next calls try again

    def compile_decoder(self, codec: Any, fallback: Method, refusal: Refusal) -> None:
        """Compile and publish the decoder, as a method of a codec.

        Args:
            codec: the first argument of each method.
            fallback: decodes the values that the compiled function gives up on, and all values if the graph
                stays interpreted.
            refusal: returns the error to raise if the class of the root refuses its fields.
        """
        compiled = self._compiled_decoder(fallback, refusal, exact=self._exact)
        if compiled is not None:
            self.compiled |= {"decode"}
        self.decode = MethodType(compiled or fallback, codec)

    def warm_items(self) -> None:
        """Make the decoders of array items compile at first use, not after some interpreted items."""
        from .compile.items import ItemDecoders

        self.filler_of = ItemDecoders(self._max_depth, 0).filler

    def compile_exact(self, codec: Any, refusal: Refusal) -> None:
        """Compile and publish the decoder of values that need no repair and have no unused key.

        It returns `GiveUp` for all other values, and for every value if the graph stays interpreted.

        Args:
            codec: the first argument of each method.
            refusal: returns the error where the class of the root refuses its fields.
        """
        compiled = self._compiled_decoder(_give_up, refusal, exact=True)
        self.exact = MethodType(compiled or _give_up, codec)

    def _compiled_decoder(self, fallback: Method, refusal: Refusal, *, exact: bool) -> Method | None:
        from .compile.decoder import compile_decoder
        from .compile.items import ItemDecoders

        if self.filler_of is None:
            self.filler_of = ItemDecoders(self._max_depth).filler
        return compile_decoder(self._graph, self._max_depth, fallback, refusal, exact=exact)

    def compile_encoder(self, codec: Any, fallback: Method) -> None:
        """Compile and publish the encoder, as a method of a codec.

        Args:
            codec: the first argument of each method.
            fallback: encodes the values that the compiled function gives up on, and all values if the graph
                stays interpreted.
        """
        from .compile.encoder import compile_encoder

        compiled = compile_encoder(
            self._graph, self._max_depth, fallback, self._graph_of, is_decoded=self._is_decoded
        )
        if compiled is not None:
            self.compiled |= {"encode"}
        self.encode = MethodType(compiled or fallback, codec)

    def publish(self, codec: Any, method: Any) -> None:
        """Store a compiled method in its codec, so that calling it skips the method of the class.

        That saves 14 % of a decode of the smallest type. A method that a subclass, a test or the user's code
        has assigned stays.
        """
        name, owner = method.__name__, codec.__class__
        if name not in self.compiled or getattr(owner, name) is not method or name in codec.__dict__:
            return
        compiled: Any = getattr(self, name)
        update_wrapper(compiled.__func__, method)
        codec.__dict__[name] = compiled

    def source(self, decode: Method, encode: Method) -> str:
        """Return the source of decoder and encoder, given their fallbacks."""
        from .compile.decoder import decoder_source
        from .compile.encoder import encoder_source

        decoder = decoder_source(self._graph, self._max_depth, decode, exact=self._exact)
        encoder = encoder_source(
            self._graph, self._max_depth, encode, self._graph_of, is_decoded=self._is_decoded
        )
        return f"# --- decoder\n\n{decoder}\n# --- encoder\n\n{encoder}"


def _has_decimals(graph: Graph) -> bool:
    from .written_digits import has_decimals  # only a program that uses decimals pays for it

    return has_decimals(graph)
