"""Bounds on what is decoded and reported, each a documented default."""

from __future__ import annotations

import sys

__all__ = [
    "MAX_COLLISIONS",
    "MAX_DEPTH",
    "MAX_INTEGER_DIGITS",
    "MAX_KEY_DIGITS",
    "MAX_LENIENT_VALUES",
    "MAX_PROBLEMS",
    "MAX_TEXT_DEPTH",
    "HashCounter",
    "most_digits",
]

MAX_DEPTH = 100
"""Levels of arrays and objects that a value may nest, the root being the first."""

MAX_TEXT_DEPTH = 500
"""Levels of arrays and objects that JSON text may nest, under `Any` too: less than what any supported
interpreter's own parser follows."""

MAX_INTEGER_DIGITS = 4300
"""Decimal digits of an integer: what `int(text)` itself takes by default (CVE-2020-10735)."""

MAX_KEY_DIGITS = 64
"""Characters of an integer that is written as a key of an object."""

MAX_COLLISIONS = 100
"""Different items of a set, or keys of a map, that may share one hash: `2**61 - 1` divides their
difference, as far as they are integers."""

MAX_LENIENT_VALUES = 1_000_000
"""Values that a lenient encode writes, where one iterator may never end."""

MAX_PROBLEMS = 100
"""Problems that one error carries; those past it are counted."""


def most_digits() -> int:
    """Return how many digits of an integer are read: the fewer of ours and what the interpreter takes."""
    return min(MAX_INTEGER_DIGITS, sys.get_int_max_str_digits() or MAX_INTEGER_DIGITS)


class HashCounter:
    """Counts the hashes of the items of a set, or keys of a map, so that too many equal ones are refused.

    Values that share one hash are compared with each other: a few thousand integers chosen for that
    would keep a set busy for minutes.

    Args:
        size: of the whole.
    """

    __slots__ = ("_counts", "_is_needed")

    def __init__(self, size: int) -> None:
        self._is_needed = size > MAX_COLLISIONS
        self._counts: dict[int, int] = {}

    def admits(self, value: object) -> bool:
        """Return whether a value may be looked up among those that were added."""
        return not self._is_needed or self._counts.get(hash(value), 0) < MAX_COLLISIONS

    def add(self, value: object) -> None:
        """Count a value that was added."""
        if self._is_needed:
            code = hash(value)
            self._counts[code] = self._counts.get(code, 0) + 1
