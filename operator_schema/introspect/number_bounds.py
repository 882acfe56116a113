"""Which numbers are within limits?"""

from __future__ import annotations

from math import inf, nextafter
from sys import float_info
from typing import TYPE_CHECKING, NamedTuple

from ..schema.keywords import NUMBERS

if TYPE_CHECKING:
    from fractions import Fraction

    from ..schema.keywords import Constraints


class Bound(NamedTuple):
    """One end of a range of numbers.

    Attributes:
        limit: the end of the range.
        is_open: whether the limit itself is outside.
    """

    limit: float
    is_open: bool


class Bounds(NamedTuple):
    """A range of numbers; None for an end that is open to infinity."""

    low: Bound | None
    high: Bound | None

    def multiples(self, step: float | Fraction = 1) -> tuple[int | None, int | None]:
        """Return the factors of the least and the greatest multiple of a step in the range."""
        least = most = None
        if self.low is not None:
            over, under = _quotient(self.low.limit, step)
            least = over // under + 1 if self.low.is_open else -(-over // under)
        if self.high is not None:
            over, under = _quotient(self.high.limit, step)
            most = -(-over // under) - 1 if self.high.is_open else over // under
        return least, most

    def floats(self) -> tuple[float, float]:
        """Return the least and the greatest float in the range."""
        least = most = None
        if self.low is not None:
            least = nearest_float(self.low.limit, inf, strict=self.low.is_open)
        if self.high is not None:
            most = nearest_float(self.high.limit, -inf, strict=self.high.is_open)
        greatest = float_info.max
        least = -greatest if least is None else max(least, -greatest)
        most = greatest if most is None else min(most, greatest)
        # -0.0 as the least and 0.0 as the greatest float, so that both zeros are within.
        return least or -0.0, most or 0.0


def bounds_of(constraints: Constraints) -> Bounds:
    """Return the range within the limits on numbers; the tighter one counts if a side has two."""
    lows: list[Bound] = []
    highs: list[Bound] = []
    for row in NUMBERS:
        limit = getattr(constraints, row.slot)
        if limit is not None and row.tighter is not None:
            bound = Bound(limit, row.breaks(limit, limit))
            (lows if row.tighter is max else highs).append(bound)
    low = max(lows, default=None)
    high = min(highs, key=lambda bound: (bound.limit, not bound.is_open), default=None)
    return Bounds(low, high)


def _quotient(limit: float, step: float | Fraction) -> tuple[int, int]:
    numerator, denominator = limit.as_integer_ratio()
    divisor, unit = step.as_integer_ratio()
    return numerator * unit, denominator * divisor


def nearest_float(limit: float, towards: float, *, strict: bool) -> float:
    """Return the float nearest to a limit on one of its sides.

    Args:
        limit: any finite number.
        towards: plus or minus infinity: the side of the limit.
        strict: whether the limit itself is excluded.
    """
    try:
        number = float(limit)
    except OverflowError:
        return inf if limit > 0 else -inf
    is_outside = number < limit if towards > 0 else number > limit
    return nextafter(number, towards) if is_outside or (strict and number == limit) else number
