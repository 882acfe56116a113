"""Which values of a scalar are near its limits, where it may differ from another scalar?"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from ...engine import Bound, Constraints, Fitting, ScalarNode, bounds_of
from ...json_values import plain_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...engine import ArrayNode, MapNode, Node, Target

_NO_LIMITS: Final = Constraints()
_MAX_DEPTH = 50


def limits_on(node: ScalarNode | ArrayNode | MapNode) -> Constraints:
    """Return the constraints of a node, which may be none."""
    return node.constraints or _NO_LIMITS


def is_value(node: Node, definitions: Mapping[Target, Node], value: Any) -> bool:
    """Return whether a JSON value is a value of a node."""
    try:
        return Fitting(definitions, _MAX_DEPTH).fits(node, value, 1)
    except RecursionError:
        return False


def step_of(node: ScalarNode) -> Fraction | None:
    """Return the number of which all values are multiples."""
    step = limits_on(node).multiple_of
    if node.type == "number":
        return None if step is None else Fraction(repr(step))
    # A multiple of p/q that is an integer is also a multiple of p.
    return Fraction(Fraction(repr(step or 1)).numerator)


def range_of(node: ScalarNode) -> tuple[Bound | None, Bound | None]:
    """Return the least and the greatest value, if known; they may be tighter than the bounds."""
    bounds = bounds_of(limits_on(node))
    step = step_of(node)
    if step is None:
        return bounds.low, bounds.high
    least, greatest = bounds.multiples(step)
    ends = [
        None if count is None else Bound(plain_number(step * count), is_open=False)
        for count in (least, greatest)
    ]
    return ends[0], ends[1]


def is_inside(end: Bound, limit: Bound, sign: int) -> bool:
    """Return whether an end of a range isn't beyond a limit.

    Args:
        end: the least value of a range, or an exclusive lower bound.
        limit: the same for another range.
        sign: 1, or -1 for greatest values.
    """
    distance = (Fraction(end.limit) - Fraction(limit.limit)) * sign
    return distance > 0 or (distance == 0 and (end.is_open or not limit.is_open))


def numbers_near(*nodes: ScalarNode) -> list[float]:
    """Return numbers at and around the limits of some nodes, the simplest first."""
    found: set[Fraction] = {Fraction(0), Fraction(1), Fraction(1, 2)}
    for node in nodes:
        step = step_of(node) or Fraction(1, 2)
        ends = [bound.limit for bound in (*bounds_of(limits_on(node)), *range_of(node)) if bound is not None]
        for end in [*map(Fraction, ends), Fraction(0)]:
            for way in (-1, 0, 1):
                found |= {end + way * each for each in (step, Fraction(1), Fraction(1, 2))}
                found.add((end // step + way) * step)
    return sorted(map(plain_number, found), key=lambda each: (each != int(each), abs(each), each < 0))


def samples(node: Node, *others: ScalarNode) -> list[Any]:
    """Return values of a scalar besides its example, also near the limits of other scalars.

    Args:
        node: a scalar, or a leaf that is a text.
        others: other numbers, if the node is a number.
    """
    if not isinstance(node, ScalarNode) or node.type == "string":
        least = (limits_on(node).min_length or 1) if isinstance(node, ScalarNode) else 1
        candidates: list[Any] = ["", "a", "other", "A1", "x" * least]
    else:
        candidates = [*numbers_near(node, *others)]
    return [value for value in candidates if is_value(node, {}, value)]
