"""How sure a count is: intervals of shares, and a test for pairs."""

from __future__ import annotations

from math import comb, sqrt
from typing import NamedTuple

_Z = 1.959963984540054
"""The normal deviate of intervals of 95 %."""


def wilson(right: int, number: int) -> tuple[float, float]:
    """Return the interval in which the true share is with a confidence of 95 %: Wilson's score interval.

    Args:
        right: how many of them.
        number: how many there are; of none, everything is possible.
    """
    if not number:
        return 0.0, 1.0
    share, spread = right / number, _Z * _Z / number
    middle = share + spread / 2
    half = _Z * sqrt(share * (1 - share) / number + spread / (4 * number))
    low, high = (middle - half) / (1 + spread), (middle + half) / (1 + spread)
    return max(low, 0.0) if right else 0.0, high if right < number else 1.0


class Pairs(NamedTuple):
    """The same questions asked in two ways.

    Attributes:
        gained: only the first way was right.
        lost: only the second was.
        number: all of them.
    """

    gained: int
    lost: int
    number: int

    @property
    def p(self) -> float:
        """The exact two-sided test of McNemar: how likely such a difference is if the ways are the same."""
        differing = self.gained + self.lost
        tail = sum(comb(differing, one) for one in range(min(self.gained, self.lost) + 1))
        return min(1.0, 2 * tail / 2**differing)


def pairs(first: list[bool], second: list[bool]) -> Pairs:
    """Compare what two ways gave for the same questions, in the same order."""
    both = list(zip(first, second, strict=True))
    return Pairs(both.count((True, False)), both.count((False, True)), len(both))


def share(right: int, number: int) -> str:
    """Return a share with its interval, as it stands in a table: `32/84 = 38 % [28..49]`."""
    if not number:
        return "-"
    low, high = wilson(right, number)
    return f"{right}/{number} = {100 * right / number:.0f} % [{100 * low:.0f}..{100 * high:.0f}]"
