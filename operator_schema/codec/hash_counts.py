"""When do too many items of a set, or keys of a map, share one hash?"""

from __future__ import annotations

from ..json_values import MAX_COLLISIONS


class HashCounter:
    """Counts equal hashes of items of a set or keys of a map, so that too many of them are refused.

    Values that share one hash are compared with each other: a few thousand integers chosen for that
    would keep a set busy for minutes. Up to `MAX_COLLISIONS` values need no counter.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def admits(self, value: object) -> bool:
        """Return whether a value may be looked up among the added ones: few enough of them share its hash."""
        return self._counts.get(hash(value), 0) < MAX_COLLISIONS

    def add(self, value: object) -> None:
        """Count a value that was added."""
        code = hash(value)
        self._counts[code] = self._counts.get(code, 0) + 1
