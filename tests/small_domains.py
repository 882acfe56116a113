"""All values of a small domain: where trying each is quick, nothing is left to chance."""

from __future__ import annotations

from itertools import product


def sequences_of(items, most):
    """Return all sequences of some items, the shortest first.

    Args:
        items: what may stand in each place.
        most: the length of the longest ones.
    """
    return [each for size in range(most + 1) for each in product(items, repeat=size)]


def texts_of(letters, most):
    """Return all texts of some letters, the empty one first."""
    return list(map("".join, sequences_of(letters, most)))
