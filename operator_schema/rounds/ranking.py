"""Which texts fit a query best: words and their forms, slips, BM25, vectors, and rankings that are fused."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import zip_longest
from math import hypot, log
from operator import mul
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..message_text import is_one_slip_away

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    Scores: TypeAlias = Mapping[str, float]

__all__ = [
    "Ranking",
    "all_terms",
    "best",
    "fused",
    "in_turn",
    "is_from",
    "similarities",
    "term_of",
    "terms",
    "words_in",
]

# --- words ----------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can could do find for from get have how i if in is it like me my need of "
        "on or please that the this to use using want what which will with would you your",
    )
)
"""Common words, which say little about what a tool does: they count in names, and in a query with only such
words."""

_LONGEST_WORD = 64
"""How many letters of a word are read; scripts without spaces make long ones."""

_AMERICAN = (
    (r"(?<=[a-z]{3})our(?=s?$|ed$|ing$|ite|al|able|ful|less|hood|ist)", "or"),  # colour
    (r"(?<=[a-z]{3})is(?=(?:e|es|ed|er|ers|ing|ation|ations|able)$)", "iz"),  # organise
    (r"(?<=[a-z]l)ys(?=(?:e|es|ed|er|ers|ing)$)", "yz"),  # analyse
    (r"(?<=[a-z][bt])re(?=s?$)", "er"),  # centre
    (r"(?<=[a-z]{2}og)ue(?=s?$)", ""),  # catalogue
    (r"(?<=[a-z]{2}en)ce(?=s?$)", "se"),  # licence
    (r"(?<=[a-z])ae(?=[a-z]{2})", "e"),  # anaemia
    (r"(?<=^program)me(?=s?$)", ""),
    (r"(?<=^che)que(?=s?$)", "ck"),
    (r"(?<=^t)y(?=res?$)", "i"),
    (r"(?<=^gr)e(?=y$)", "a"),
)
"""What British and American spelling write differently, and the American way.

A word that has no other spelling may become one that isn't a word (`promise`): in the texts and in a query,
it is the same.
"""

_ENDINGS = (
    *("ization", "ations", "ation", "ating", "ators", "ator", "ated", "ates", "ate", "ities", "ies"),
    *("izing", "ized", "izes", "izers", "izer", "ize", "ings", "ing", "ions", "ion", "ments", "ment"),
    *("ers", "er", "ors", "or", "ed", "es", "s", "ly", "al", "e", "y"),
)
_OF_FORMS = frozenset({"ings", "ing", "ed", "es", "s", "e", "y"})
"""Endings of forms of a word, which may have another ending before: `ordering` is a form of `order`."""

_SHORTEST = 3
"""Letters that a word keeps."""


def terms(text: str) -> list[str]:
    """List the words of a text without their endings, and without common words."""
    return [term_of(word) for word in words_in(text) if word not in _SKIPPED]


def all_terms(text: str) -> list[str]:
    """List all words of a text, without their endings: `getOrders` and `get_order` have the same."""
    return [term_of(word) for word in words_in(text)]


def words_in(text: str) -> list[str]:
    """List all words of a text in small letters: `getOrders` has two."""
    return [word[:_LONGEST_WORD].lower() for word in _WORD.findall(text)]


@lru_cache(maxsize=1 << 14)
def term_of(word: str) -> str:
    """Return a word, in small letters, without its ending and in the American spelling."""
    for pattern, written in _british():
        word = pattern.sub(written, word)
    return _stem(word)


@cache
def _british() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), written) for pattern, written in _AMERICAN]  # a program may never search


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


# --- slips ----------------------------------------------------------------------------------------

_LEAST_LETTERS = 5
"""Of a word that may be a slip for another one: shorter words are too near to each other."""

_SLIP_WEIGHT = 0.5
"""How much a word counts for which a slip may stand; several words that are as near share it."""


class _Spellings:
    """Finds the words that are a single slip away from another one.

    A slip (a letter too many, missing or wrong, or two swapped) leaves the beginning or the end of a word as
    it is, so words are looked up by these.

    Args:
        words: word to its term.
    """

    __slots__ = ("_alike", "_words")

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self._alike: dict[tuple[int, str, str], list[str]] = {}
        for word in words:
            for key in _places(word, len(word)):
                self._alike.setdefault(key, []).append(word)

    def near(self, word: str) -> set[str]:
        """Return the terms of the words that are a single slip away from a word."""
        keys = [key for length in (-1, 0, 1) for key in _places(word, len(word) + length)]
        alike = {other for key in keys for other in self._alike.get(key, ())}
        return {self._words[other] for other in alike if is_one_slip_away(word, other, 0.0)}


def _places(word: str, length: int) -> tuple[tuple[int, str, str], ...]:
    """Return where a word is looked up among words of a length: by its beginning, and by its end."""
    kept = (length - 1) // 2  # so that one slip can't change both
    return (length, word[:kept], ""), (length, "", word[-kept:])


# --- texts and a query ----------------------------------------------------------------------------

_K1, _B = 2.0, 0.75
"""How quickly repeated words stop adding to the score, and how much less words of long texts count.

The usual values are in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
(2009). Chosen on one half of the questions of `tests/tool_search`, where 1.2 finds fewer of them.
"""

_MESSAGE_WORDS = 12
"""How many words of a message count as much as those of a query; if it has more, they share this."""

_FROM_MESSAGE = 0.5
"""Share of the words of a query that are in the message, if the query is taken from it."""

_FUSION = 60
"""Of reciprocal rank fusion, as in Cormack, Clarke and Büttcher (SIGIR 2009)."""


class Ranking:
    """An index of texts, made once, that scores them by the words of a query (Okapi BM25).

    Lengths are compared with the median, so that one endless text doesn't make all others look short.

    Args:
        documents: name to how much each term of its text counts.
        spellings: word of the texts, in small letters, to its term.
    """

    __slots__ = ("_near", "_spellings", "_weights")

    def __init__(
        self, documents: Mapping[str, Mapping[str, float]], spellings: Mapping[str, str] | None = None
    ) -> None:
        lengths = {name: sum(counts.values()) for name, counts in documents.items()}
        usual = (sorted(lengths.values())[len(lengths) // 2] if lengths else 0) or 1
        having: dict[str, list[str]] = {}
        for name, counts in documents.items():
            for term in counts:
                having.setdefault(term, []).append(name)
        self._weights: dict[str, list[tuple[str, float]]] = {}
        for term, names in having.items():
            rarity = log(1 + (len(documents) - len(names) + 0.5) / (len(names) + 0.5)) * (_K1 + 1)
            self._weights[term] = [
                (name, rarity * count / (count + _K1 * (1 - _B + _B * lengths[name] / usual)))
                for name in names
                for count in (documents[name][term],)
            ]
        self._spellings = spellings or {}
        self._near: _Spellings | None = None

    def scores(self, query: str, message: str = "") -> dict[str, float]:
        """Return name to score for the texts that have a term of the query, or of the message beside it.

        Common words count only if the query has no others. A longer word that no text has stands for those
        that are a single slip away. The more words a message has, the less each of them counts.
        """
        asked = self._asked(words_in(query))
        said = [word for word in words_in(message) if word not in _SKIPPED and term_of(word) not in asked]
        share = min(1.0, _MESSAGE_WORDS / len(set(said))) if said else 0.0
        beside = {term: share * counts for term, counts in self._asked(said).items()}
        found: dict[str, float] = {}
        for term, counts in {**beside, **asked}.items():
            for name, weight in self._weights.get(term, ()):
                found[name] = found.get(name, 0.0) + counts * weight
        return found

    def _asked(self, words: list[str]) -> dict[str, float]:
        """Return how much each term of the index counts for these words."""
        found: dict[str, float] = {}
        for word in dict.fromkeys([word for word in words if word not in _SKIPPED] or words):
            term = term_of(word)
            meant = [term] if term in self._weights else sorted(self._meant(word))
            for one in meant:
                counts = 1.0 if one == term else _SLIP_WEIGHT / len(meant)
                found[one] = max(found.get(one, 0.0), counts)
        return found

    def _meant(self, word: str) -> set[str]:
        """Return the terms of the index for which a word that it doesn't have may stand."""
        if len(word) < _LEAST_LETTERS or not word.isalpha():
            return set()
        if self._near is None:
            known = {**{term: term for term in self._weights}, **self._spellings}
            self._near = _Spellings({one: term for one, term in known.items() if term in self._weights})
        term = term_of(word)
        found = self._near.near(word)
        return found | self._near.near(term) if len(term) >= _LEAST_LETTERS else found


def is_from(query: str, message: str) -> bool:
    """Return whether a query is taken from a message: whether at least half of its words are there."""
    asked, said = set(terms(query)), set(terms(message))
    return len(asked & said) >= _FROM_MESSAGE * len(asked)


def similarities(query: Sequence[float], vectors: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return name to the cosine between one vector and each of several, all of shape (n,)."""
    own = hypot(*query) or 1.0
    products = {name: sum(map(mul, query, each)) for name, each in vectors.items()}
    return {name: product / (own * (hypot(*vectors[name]) or 1.0)) for name, product in products.items()}


def best(scores: Scores, others: Scores = MappingProxyType({})) -> list[str]:
    """List the names by score, the best first; where scores are equal, by other scores, then by name."""
    return sorted(scores, key=lambda name: (-scores[name], -others.get(name, 0.0), name))


def fused(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """Return name to score by the ranks in several lists, the best first in each."""
    found: dict[str, float] = {}
    for names in rankings:
        for rank, name in enumerate(names, 1):
            found[name] = found.get(name, 0.0) + 1 / (_FUSION + rank)
    return found


def in_turn(*rankings: Sequence[str]) -> list[str]:
    """List the names of several rankings: the first of each, the second of each, and so on, each once."""
    return list(
        dict.fromkeys([name for place in zip_longest(*rankings) for name in place if name is not None])
    )
