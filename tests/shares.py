"""How many examples a law draws that is asked of many cases, or that makes its own random choices."""

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

TOGETHER = 4
"""So many laws' examples are shared by the cases of one law."""

AT_LEAST = 15


def shared(cases: int) -> settings:
    """Return settings for each case of a law, so that a law of 20 cases doesn't take as long as 20 laws.

    `make laws` draws all examples for each case.
    """
    each = settings().max_examples
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        return settings(max_examples=each)
    return settings(max_examples=min(each, max(AT_LEAST, TOGETHER * each // cases)))


def share(cases: Iterable[T], one_of: int, begin: int = 0) -> list[T]:
    """Return one of so many cases, the first being at an index; `make laws` tries all of them."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        return list(cases)
    return list(cases)[begin::one_of]


def seeds(each: int) -> range:
    """Return seeds for a law that makes its own random choices: others each time, if `make laws` runs it.

    Args:
        each: as many examples of other laws take as long as the choices of one seed.
    """
    first = int(os.environ.get("LAWS_SEED", "0"))
    return range(first, first + max(2, settings().max_examples // each))
