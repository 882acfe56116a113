"""Numbers and texts near the limits of scalars, among which witnesses are looked for."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from ..codec.repair import Fitting
from ..introspect.constraints import Bound, bounds_of
from ..introspect.nodes import Constraints, ScalarNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Node, Target

__all__ = ["NO_LIMITS", "is_inside", "is_value", "numbers_near", "range_of", "samples", "size_of", "step_of"]

NO_LIMITS: Final = Constraints()
_MAX_DEPTH = 50


def is_value(node: Node, definitions: Mapping[Target, Node], value: Any) -> bool:
    """Return whether a JSON value is one of a node."""
    try:
        return Fitting(definitions, _MAX_DEPTH).fits(node, value, 1)
    except RecursionError:
        return False


def step_of(node: ScalarNode) -> Fraction | None:
    """Return the number of which all values are multiples."""
    step = (node.constraints or NO_LIMITS).multiple_of
    if node.type == "number":
        return None if step is None else Fraction(repr(step))
    # A multiple of p/q is an integer where it is one of p.
    return Fraction(Fraction(repr(step or 1)).numerator)


def range_of(node: ScalarNode) -> tuple[Bound | None, Bound | None]:
    """Return the least and the greatest value, as far as they are known; tighter than the bounds say."""
    bounds = bounds_of(node.constraints or NO_LIMITS)
    step = step_of(node)
    if step is None:
        return bounds.low, bounds.high
    least, greatest = bounds.multiples(step)
    ends = [
        None if count is None else Bound(_plain(step * count), is_open=False) for count in (least, greatest)
    ]
    return ends[0], ends[1]


def is_inside(end: Bound, limit: Bound, sign: int) -> bool:
    """Return whether an end of a range isn't beyond a limit.

    Args:
        end: the least value of a range, or what every value is above.
        limit: the same of another range.
        sign: 1, or -1 for greatest values.
    """
    distance = (Fraction(end.limit) - Fraction(limit.limit)) * sign
    return distance > 0 or (distance == 0 and (end.is_open or not limit.is_open))


def numbers_near(*nodes: ScalarNode) -> set[float]:
    """Return numbers at and around the limits of some nodes."""
    found: set[Fraction] = {Fraction(0), Fraction(1), Fraction(1, 2)}
    for node in nodes:
        step = step_of(node) or Fraction(1, 2)
        bounds = bounds_of(node.constraints or NO_LIMITS)
        ends = [bound.limit for bound in (*bounds, *range_of(node)) if bound is not None]
        for end in [*map(Fraction, ends), Fraction(0)]:
            found.update(
                end + way * each for way in (-1, 0, 1) for each in (step, Fraction(1), Fraction(1, 2))
            )
            found.update((end // each + way) * each for way in (-1, 0, 1) for each in (step,))
    return set(map(_plain, found))


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def size_of(number: float) -> tuple[bool, float, bool]:
    """Order numbers so that the simplest come first."""
    return (number != int(number), abs(number), number < 0)


def samples(node: Node, *others: ScalarNode) -> list[Any]:
    """Return values of a scalar beside its example, also near the limits of others.

    Args:
        node: a scalar, or a leaf that is a text.
        others: numbers, if the node is one.
    """
    if not isinstance(node, ScalarNode) or node.type == "string":
        limits = (node.constraints or NO_LIMITS) if isinstance(node, ScalarNode) else NO_LIMITS
        texts = ["", "a", "other", "A1", "x" * max(limits.min_length or 0, 1)]
        return [text for text in texts if is_value(node, {}, text)]
    near = sorted(numbers_near(node, *others), key=size_of)
    return [number for number in near if is_value(node, {}, number)]
