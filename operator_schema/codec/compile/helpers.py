"""What compiled decoders call: the few things that are no straight line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...schema import INTEGER_KEY
from ..interpret import distance
from ..limits import MAX_KEY_DIGITS
from ..problems import GIVE_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...introspect.nodes import ObjectNode

    Decode = Callable[[Any], Any]
    Method = Callable[[Any, Any], Any]
    Part = Callable[[Any, int], Any]
    Fill = Callable[[Iterator[Any], list[Any], int], Any]

__all__ = ["SCALAR_CLASSES", "Parts", "building", "chooser_of", "integer_of_key"]

SCALAR_CLASSES = frozenset({str, int, float, bool, type(None)})
_INTEGER_KEY = re.compile(INTEGER_KEY)


class Parts:
    """The compiled functions of the parts of a graph.

    Args:
        decoders: takes a value and its depth, returns what it decodes to, or `GIVE_UP`; by identity
            of the node.
        fillers: takes the items of an array that are left, the list of what was made of those before
            and the depth of an item. It adds to the list until no item is left, or returns `GIVE_UP`
            at the first that is not right; by identity of the array's node.

    Attributes:
        decoder_of: takes the identity of a node, returns its function or None.
        filler_of: likewise.
    """

    __slots__ = ("__weakref__", "decoder_of", "filler_of")

    def __init__(self, decoders: Mapping[int, Part], fillers: Mapping[int, Fill]) -> None:
        self.decoder_of = decoders.get
        self.filler_of = fillers.get


def building(cls: Any, gather: Method) -> Method:
    """Return a decoder that makes an instance by a call, which may run code of the user's: it comes last.

    Args:
        cls: what is called.
        gather: returns its arguments, or `GIVE_UP`.
    """

    def decode(codec: Any, value: Any) -> Any:
        arguments = gather(codec, value)
        if arguments is GIVE_UP:
            return codec._decode_interpreted(value)  # noqa: SLF001  # as a method of its would
        try:
            return cls(**arguments)
        except (ValueError, TypeError) as error:
            refused = error
        raise codec._refusal(refused)  # noqa: SLF001  # likewise

    return decode


def integer_of_key(key: str) -> int | None:
    """Return the integer that a key stands for, None if it is none."""
    is_bad = len(key) > MAX_KEY_DIGITS or not _INTEGER_KEY.fullmatch(key) or key.endswith("\n")
    return None if is_bad else int(key)


def chooser_of(*rows: tuple[ObjectNode, Decode]) -> Callable[[dict[Any, Any]], Decode | None]:
    """Return what finds the function for an object that no tag tells apart.

    The interpreter takes the nearest of the members that fit. A member whose required keys are not
    all there does not; if the nearest of the others decodes, it is the nearest of those that fit.
    """
    known = [
        (node, {field.key for field in node.fields if field.required}, function) for node, function in rows
    ]

    def choose(value: dict[Any, Any]) -> Decode | None:
        possible = [
            (distance(node, value), function)
            for node, required, function in known
            if required <= value.keys()
        ]
        return min(possible, key=lambda row: row[0])[1] if possible else None

    return choose
