"""Garbage of one test, found without walking through all that the process of the tests holds."""

import gc
import sys


def pass_over_what_is_there():
    """Let the collector pass over all objects that exist by now: there are millions, for each collection.

    They are freed when nothing refers to them, but no longer if they refer to each other.
    """
    if sys.version_info < (3, 14):  # there Hypothesis asks the collector who refers to an object
        gc.freeze()
