"""Functions that compiled decoders call, because writing them into each would only make it longer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...introspect.nodes import ObjectNode
from ...schema.keywords import INTEGER_KEY
from ..interpret import distance
from ..limits import MAX_KEY_DIGITS
from ..problems import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...introspect.nodes import Node

    Decode = Callable[[Any], Any]
    Method = Callable[[Any, Any], Any]
    """Takes the codec that it is a method of, and a value."""
    Refusal = Callable[[Any, Exception, Any], Exception]
    """Takes the codec, what making the instance raised, and the value; returns the exception to raise."""
    Part = Callable[[Any, int], Any]
    Fill = Callable[[Iterator[Any], list[Any], int], Any]

__all__ = ["JSON_SCALARS", "PartFunctions", "building", "chooser_of", "integer_of_key"]

JSON_SCALARS = frozenset({str, int, float, bool, type(None)})
_INTEGER_KEY = re.compile(INTEGER_KEY)


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


def building(cls: Any, gather: Method, fallback: Method, refusal: Refusal) -> Method:
    """Return a decoder that makes an instance by a call, which may run the user's code: it comes last.

    Args:
        cls: the class that is called.
        gather: returns its arguments, or `GiveUp`.
        fallback: decodes the value where `gather` gives up.
        refusal: returns the error for what the class raised.
    """

    def decode(codec: Any, value: Any) -> Any:
        arguments = gather(codec, value)
        if arguments is GiveUp:
            return fallback(codec, value)
        try:
            return cls(**arguments)
        except (ValueError, TypeError) as error:
            refused = error
        raise refusal(codec, refused, value)

    return decode


def integer_of_key(key: str) -> int | None:
    """Return the integer that a key is the text of, None if it is another text."""
    is_bad = len(key) > MAX_KEY_DIGITS or not _INTEGER_KEY.fullmatch(key) or key.endswith("\n")
    return None if is_bad else int(key)


def _required_keys(node: Node) -> set[str]:
    fields = node.fields if isinstance(node, ObjectNode) else ()
    return {field.key for field in fields if field.required}


def chooser_of(*rows: tuple[Node, Decode]) -> Callable[[dict[Any, Any]], Decode | None]:
    """Return a function that finds the decoder for an object that has no discriminator.

    The interpreter takes the nearest of the members that fit. A member doesn't fit if a required key
    is missing; if the nearest of the others decodes, it is the nearest of those that fit. What a leaf
    requires isn't known: it may have several names for a key.
    """
    known = [(node, _required_keys(node), function) for node, function in rows]

    def choose(value: dict[Any, Any]) -> Decode | None:
        possible = [
            (distance(node, value), function)
            for node, required, function in known
            if required <= value.keys()
        ]
        return min(possible, key=lambda row: row[0])[1] if possible else None

    return choose
