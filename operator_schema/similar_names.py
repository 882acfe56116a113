"""Finds the names that are similar to a wrong one, so that a message can ask whether they were meant.

A program whose names are right never loads this module.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .message_text import listed, quote

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable


_COMPARED_LENGTH = 64


_COMPARED_NAMES = 500


def nearest(name: str, names: Iterable[str], likeness: float = 0.6) -> str | None:
    """Find the name that was probably meant.

    Args:
        name: the name as written.
        names: the names to choose from.
        likeness: how similar a name must be at least; 1 is the same.

    Returns:
        The name that differs only in case, spaces, `_` or `-`, else one that is a single slip away, else the
        most similar one, else None. Names of more than 64 characters are not compared.
    """
    found = nearest_names(name, names, 1, likeness)
    return found[0] if found else None


def nearest_names(name: str, names: Iterable[str], most: int, likeness: float = 0.6) -> list[str]:
    """Find the names that were probably meant, the nearest first; see `nearest`.

    Args:
        name: the name as written.
        names: the names to choose from.
        most: how many are returned.
        likeness: as for `nearest`.
    """
    if len(name) > _COMPARED_LENGTH:
        return []
    candidates = [other for other in names if len(other) <= _COMPARED_LENGTH][:_COMPARED_NAMES]
    folded = fold(name)
    same = [candidate for candidate in candidates if fold(candidate) == folded]
    near = [candidate for candidate in candidates if is_one_slip_away(folded, fold(candidate), likeness)]
    near.sort(key=lambda candidate: not is_one_slip_away(name, candidate, likeness))
    found = [*same, *near][:most]
    if len(found) == most:
        return found
    # Only a wrong name needs this import.
    from difflib import get_close_matches

    by_fold = {fold(candidate): candidate for candidate in candidates}
    close = [by_fold[other] for other in get_close_matches(folded, by_fold, n=most, cutoff=likeness)]
    return [*found, *[other for other in close if other not in found]][:most]


def is_one_slip_away(name: str, other: str, likeness: float = 0.6) -> bool:
    """Return whether names differ by one letter (missing, extra, wrong, or two swapped) of sufficiently many.

    difflib matches the longest common part first, so it finds little in common between `Edned` and `Ended`.
    """
    longest = max(len(name), len(other), 1)
    if name == other or abs(len(name) - len(other)) > 1 or 1 - 1 / longest < likeness:
        return False
    first = next(
        (at for at, (own, its) in enumerate(zip(name, other, strict=False)) if own != its), longest - 1
    )
    if len(name) != len(other):
        shorter, longer = sorted((name, other), key=len)
        return shorter[first:] == longer[first + 1 :]
    swapped = name[:first] + name[first : first + 2][::-1] + name[first + 2 :]
    return other == swapped or name[first + 1 :] == other[first + 1 :]


def fold(name: str) -> str:
    """Return the form shared by names that differ only in case, spaces, `_` and `-`."""
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def words_of(name: str) -> tuple[str, ...]:
    """List the words of a name in small letters, in any convention: `maxResults` and `max-results`."""
    # Folded as one text, which takes a third of the time: no word has a line break in it.
    found = "\n".join(_word().findall(name))
    return tuple(found.casefold().split("\n")) if found else ()


@cache
def _word() -> re.Pattern[str]:
    import re  # most programs never ask for words

    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def no_such_prefix(prefix: str, names: Iterable[str]) -> str | None:
    """Tell a model that no name begins with a prefix, and how names begin; return None if one does.

    Args:
        prefix: the prefix that the model sent.
        names: names of the tools.
    """
    count: dict[str, int] = {}
    for name in names:
        if name.startswith(prefix):
            return None
        word, line, _ = name.partition("_")
        if word and line:
            count[f"{word}_"] = count.get(f"{word}_", 0) + 1
    known = sorted(count, key=lambda one: (-count[one], one))
    near = nearest(prefix, known)
    meant = f": did you mean {quote(near)}?" if near else "."
    there = f" Names begin with {listed([quote(one) for one in known])}." if known else ""
    return f"No name of a tool begins with {quote(prefix)}{meant}{there} Without a prefix, all are searched."
