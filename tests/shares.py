"""How many examples a law draws that is asked of many cases."""

import os

from hypothesis import settings

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
