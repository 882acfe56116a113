"""Which decoder does compiled code call for an object that is recognized by its keys alone?"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...introspect.node_kinds import shape_of
from ...introspect.nodes import ObjectNode
from ..interpret import are_plain
from ..problems import GiveUp

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...introspect.nodes import Node
    from ...introspect.overlaps import Objects

    Decode = Callable[..., Any]


def _keys(node: Node) -> set[str]:
    shape = shape_of(node)
    return set() if shape is None else {field.key for field in shape.fields}


def _required_keys(node: Node) -> set[str]:
    fields = node.fields if isinstance(node, ObjectNode) else ()
    return {field.key for field in fields if field.required}


def chooser_of(objects: Objects, *rows: tuple[Node, Decode]) -> Callable[[dict[Any, Any]], Decode | None]:
    """Return a function that finds the decoder for an object that has no discriminator.

    Of the members that fit, the interpreter takes the one that leaves the fewest keys unused. A member
    doesn't fit if a required key is missing. If the nearest of the others decodes, it is the right one. The
    required keys of a leaf aren't known, because it may have several names for a key. Several members that
    are equally near are tried in turn if no value fits two of them; otherwise the interpreter decides.
    """
    known = [(_keys(node), _required_keys(node)) for node, _ in rows]
    functions = [function for _, function in rows]
    is_plain = are_plain([node for node, _ in rows])
    excluded: dict[tuple[int, int], bool] = {}

    def exclude(one: int, other: int) -> bool:
        if (one, other) not in excluded:
            excluded[one, other] = objects.exclude(one, other)
        return excluded[one, other]

    def choose(value: dict[Any, Any]) -> Decode | None:
        given = value.keys()
        least, nearest = len(given), list[int]()
        for number, (keys, required) in enumerate(known):
            if required <= given:
                unused = len(given - keys)
                if unused < least:
                    least, nearest = unused, []
                if unused == least:
                    nearest.append(number)
        if len(nearest) == 1 or (nearest and is_plain):
            return functions[nearest[0]]
        if not nearest or len(nearest) > _MOST_TRIED:
            return None
        are_exclusive = all(exclude(one, other) for one, other in combinations(nearest, 2))
        return _first_of([functions[number] for number in nearest]) if are_exclusive else None

    return choose


_MOST_TRIED = 8
"""How many members are tried for one value; the number of pairs to compare grows with its square."""


def _first_of(functions: list[Decode]) -> Decode:
    def decode(value: Any, *depth: int) -> Any:
        for function in functions:
            made = function(value, *depth)
            if made is not GiveUp:
                return made
        return GiveUp

    return decode
