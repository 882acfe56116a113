"""Which texts fit a query best: by their words (BM25), by vectors, or by both."""

from __future__ import annotations

import re
from math import log, sqrt
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Scores = Mapping[str, float]

__all__ = ["Ranking", "all_terms", "best", "fused", "similarities", "terms"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can could do find for from get have how i if in is it like me my need of "
        "on or please that the this to use using want what which will with would you your",
    )
)
"""Common words, which say little about what a tool does: they count in names, and in a query of no others."""

_ENDINGS = (
    *("ization", "ations", "ation", "ating", "ators", "ator", "ated", "ates", "ate", "ities", "ies"),
    *("ings", "ing", "ions", "ion", "ments", "ment", "ers", "er", "ors", "or", "ed", "es", "s", "ly", "al"),
    *("e", "y"),
)
_OF_FORMS = frozenset({"ings", "ing", "ed", "es", "s", "e", "y"})
"""Endings of forms of a word, which may have another ending before: `ordering` is a form of `order`."""

_SHORTEST = 3
"""Letters that a word keeps."""

_K1, _B = 1.2, 0.75
"""How fast repetition of a word stops counting, and how much long texts are held back.

Those of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

_FUSION = 60
"""Of reciprocal rank fusion, as in Cormack, Clarke and Büttcher (SIGIR 2009)."""


def terms(text: str) -> list[str]:
    """List the words of a text, but for common ones, without their endings."""
    return [_stem(word) for word in _words(text) if word not in _SKIPPED]


def all_terms(text: str) -> list[str]:
    """List all words of a text, without their endings: `getOrders` and `get_order` have the same."""
    return [_stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= _SHORTEST), "")
    word = word.removesuffix(ending)
    if len(word) > _SHORTEST and word[-1] in "eiy":
        word = word[:-1]
    if len(word) > _SHORTEST and word[-1] == word[-2] != "s":
        word = word[:-1]
    return _stem(word) if ending in _OF_FORMS else word


class Ranking:
    """An index of texts, made once, that scores them by the words of a query (Okapi BM25).

    Args:
        documents: name to how much each term of its text counts.
    """

    __slots__ = ("_weights",)

    def __init__(self, documents: Mapping[str, Mapping[str, float]]) -> None:
        lengths = {name: sum(counts.values()) for name, counts in documents.items()}
        mean = sum(lengths.values()) / len(lengths) if lengths else 0.0
        having: dict[str, list[str]] = {}
        for name, counts in documents.items():
            for term in counts:
                having.setdefault(term, []).append(name)
        self._weights: dict[str, list[tuple[str, float]]] = {}
        for term, names in having.items():
            rarity = log(1 + (len(documents) - len(names) + 0.5) / (len(names) + 0.5)) * (_K1 + 1)
            self._weights[term] = [
                (name, rarity * count / (count + _K1 * (1 - _B + _B * lengths[name] / mean)))
                for name in names
                for count in (documents[name][term],)
            ]

    def scores(self, query: str) -> dict[str, float]:
        """Return name to score for the texts that have a term of the query.

        Common words count in a query that has no others.
        """
        found: dict[str, float] = {}
        for term in dict.fromkeys(terms(query) or all_terms(query)):
            for name, weight in self._weights.get(term, ()):
                found[name] = found.get(name, 0.0) + weight
        return found


def similarities(query: Sequence[float], vectors: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return name to the cosine between a vector, shape (n,), and each of some, of the same shape."""

    def length(vector: Sequence[float]) -> float:
        return sqrt(sum(map(mul, vector, vector))) or 1.0

    own = length(query)
    return {name: sum(map(mul, query, each)) / (own * length(each)) for name, each in vectors.items()}


def best(scores: Scores) -> list[str]:
    """List the names by score, the best first; equal ones by name, so that the order is always the same."""
    return sorted(scores, key=lambda name: (-scores[name], name))


def fused(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """Return name to score by the ranks in several lists, the best first in each."""
    found: dict[str, float] = {}
    for names in rankings:
        for rank, name in enumerate(names, 1):
            found[name] = found.get(name, 0.0) + 1 / (_FUSION + rank)
    return found
