"""Rank texts by a query: words and their forms, slips, BM25, vectors, and fusion of rankings."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from heapq import heapify, heappop
from itertools import chain, zip_longest
from math import hypot, log
from operator import mul
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..similar_names import is_one_slip_away, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    Scores: TypeAlias = Mapping[str, float]

# --- words ----------------------------------------------------------------------------------------

_SKIPPED = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can could do find for from get have how i if in is it like me my need of "
        "on or please that the this to use using want what which will with would you your",
    )
)
"""Common words, which say little about the task of a tool: they only count in names, and in a query that has
no other words."""

_LONGEST_WORD = 64
"""The number of letters of a word that are read; scripts without spaces make long words."""

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
"""Letter groups that British and American spelling write differently, with the American form.

Even if a word becomes one that doesn't exist (`promise`), it becomes the same in the texts and in a query.
"""

_ENDINGS = (
    *("ization", "ations", "ation", "ating", "ators", "ator", "ated", "ates", "ate", "ities", "ies"),
    *("izing", "ized", "izes", "izers", "izer", "ize", "ings", "ing", "ions", "ion", "ments", "ment"),
    *("ers", "er", "ors", "or", "ed", "es", "s", "ly", "al", "e", "y"),
)
_OF_FORMS = frozenset({"ings", "ing", "ed", "es", "s", "e", "y"})
"""Endings of forms of a word, which may follow another ending: `ordering` is a form of `order`."""

_ENDINGS_BY_LETTER = {
    letter: tuple([ending for ending in _ENDINGS if ending[-1] == letter])
    for letter in {ending[-1] for ending in _ENDINGS}
}

_SHORTEST = 3
"""The number of letters that always remain of a word."""


class TermReader:
    """A reader of the terms of many texts, which reads each piece of text between spaces once.

    Texts of tools repeat most of their words. Terms are returned as one text, because the garbage collector
    would look at each of thousands of lists again and again.
    """

    __slots__ = ("_all", "_meaningful")

    def __init__(self) -> None:
        self._all = _Known(frozenset())
        self._meaningful = _Known(_SKIPPED)

    def terms(self, text: str) -> str:
        """Return the words of a text without their endings, and without common words."""
        return " ".join(filter(None, map(self._meaningful.__getitem__, pieces_of(text))))

    def all_terms(self, text: str) -> str:
        """Return the words of a text without their endings, also the common ones."""
        return " ".join(filter(None, map(self._all.__getitem__, pieces_of(text))))


class _Known(dict[str, str]):
    """The terms of pieces of text; those of a new piece are added when they are looked up.

    Args:
        skipped: the words that are left out.
    """

    def __init__(self, skipped: Collection[str]) -> None:
        super().__init__()
        self._skipped = skipped

    def __missing__(self, piece: str) -> str:
        made = [term_of(word) for word in words_in(piece) if word not in self._skipped]
        found = self[piece] = " ".join(made)
        return found


def pieces_of(text: str) -> list[str]:
    """Cut a text where no word continues: at spaces and at `_`."""
    return text.replace("_", " ").split()


def terms(text: str) -> list[str]:
    """List the words of a text without their endings, and without common words."""
    return [term_of(word) for word in words_in(text) if word not in _SKIPPED]


def words_in(text: str) -> list[str]:
    """List the beginnings of all words of a text, in lower case: `getOrders` has two words."""
    return [word[:_LONGEST_WORD] for word in words_of(text)]


@lru_cache(maxsize=1 << 14)
def term_of(word: str) -> str:
    """Return a lower-case word without its ending and in the American spelling."""
    if _british().search(word) is not None:
        for pattern, written in _AMERICAN:
            word = re.sub(pattern, written, word)
    return _stem(word)


@cache
def _british() -> re.Pattern[str]:
    return re.compile("|".join([pattern for pattern, _ in _AMERICAN]))  # a program may never search


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    ending = ""
    for one in _ENDINGS_BY_LETTER.get(word[-1:], ()):
        if word.endswith(one) and len(word) - len(one) >= _SHORTEST:
            ending, word = one, word.removesuffix(one)
            break
    if len(word) > _SHORTEST and word[-1] in "eiy":
        word = word[:-1]
    if len(word) > _SHORTEST and word[-1] == word[-2] != "s":
        word = word[:-1]
    return _stem(word) if ending in _OF_FORMS else word


# --- slips ----------------------------------------------------------------------------------------

_LEAST_LETTERS = 5
"""The shortest word that may be a slip: shorter words are too similar to each other."""

_LEAST_SPELLED = 4
"""The shortest word that a slip may stand for."""

_SLIP_WEIGHT = 0.5
"""The weight of a word that a slip may stand for; several equally similar words share it."""


class _Spellings:
    """An index that finds the words that differ from another word by a single slip.

    A slip (a letter too many, missing or wrong, or two swapped) leaves the beginning or the end of a word as
    it is, so words are looked up by these.

    Args:
        words: the term of each word.
    """

    __slots__ = ("_alike", "_words")

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self._alike: dict[tuple[int, str, str], list[str]] = {}
        for word in words:
            for key in _keys_of_ends(word, len(word)):
                self._alike.setdefault(key, []).append(word)

    def near(self, word: str) -> set[str]:
        """Return the terms of the words that differ from a word by a single slip."""
        keys = [key for length in (-1, 0, 1) for key in _keys_of_ends(word, len(word) + length)]
        alike = {other for key in keys for other in self._alike.get(key, ())}
        return {self._words[other] for other in alike if is_one_slip_away(word, other, 0.0)}


def _keys_of_ends(word: str, length: int) -> tuple[tuple[int, str, str], ...]:
    """Return the two keys under which a word is looked up: its beginning and its end."""
    kept = (length - 1) // 2  # a single slip can't change both ends
    return (length, word[:kept], ""), (length, "", word[-kept:])


# --- texts and a query ----------------------------------------------------------------------------

_K1, _B = 2.0, 0.75
"""The saturation of repeated words, and the penalty for words of long texts.

The usual values are in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
(2009). Chosen on one half of the questions of `tests/tool_search`, where 1.2 finds fewer of them.
"""

_MESSAGE_WORDS = 12
"""The number of words of a message that count as much as those of a query; in a longer message, all words
share this weight."""

_FROM_MESSAGE = 0.5
"""If at least this share of the words of a query is in the message, the query counts as taken from it."""

_FUSION = 60
"""The constant of reciprocal rank fusion, as in Cormack, Clarke and Büttcher (SIGIR 2009)."""


class Ranking:
    """An index of texts, made once, that scores them by the words of a query (Okapi BM25).

    Lengths are compared with the median, so that one endless text doesn't make all others look short.

    Args:
        documents: for each weight, the terms with this weight of each text, by name, with spaces between.
        texts: the texts with the words in which slips are looked for.
    """

    __slots__ = ("_having", "_lengths", "_near", "_texts")

    def __init__(self, documents: Mapping[int, Mapping[str, str]], texts: Sequence[str] = ()) -> None:
        lengths = dict[str, int]()
        # Counts and weights are computed only for the terms of a query: most terms are never needed.
        self._having = [
            (weight, _texts_by_term(found, weight, lengths)) for weight, found in documents.items()
        ]
        usual = (sorted(lengths.values())[len(lengths) // 2] if lengths else 0) or 1
        self._lengths = {name: _K1 * (1 - _B + _B * length / usual) for name, length in lengths.items()}
        self._texts = texts
        self._near: _Spellings | None = None

    def knows(self, term: str) -> bool:
        """Return whether a text has a term."""
        return any(term in having for _, having in self._having)

    def _counts(self, term: str) -> dict[str, int]:
        """Return how often each text that has a term has it, by name, with weights."""
        counts: dict[str, int] = {}
        for weight, having in self._having:
            for name in having.get(term, ()):
                counts[name] = counts.get(name, 0) + weight
        return counts

    def scores(self, query: str, message: str = "") -> dict[str, float]:
        """Return the scores, by name, of the texts that have a term of the query or of the message.

        Common words count only if the query has no others. A long word that is in no text stands for the
        words that differ from it by a single slip. The more words a message has, the less each of them
        counts.
        """
        asked = self.asked_terms(words_in(query))
        said = [word for word in words_in(message) if word not in _SKIPPED and term_of(word) not in asked]
        share = min(1.0, _MESSAGE_WORDS / len(set(said))) if said else 0.0
        beside = {term: share * counts for term, counts in self.asked_terms(said).items()}
        found: dict[str, float] = {}
        lengths = self._lengths
        for term, counts in {**beside, **asked}.items():
            having = self._counts(term)
            rarity = log(1 + (len(lengths) - len(having) + 0.5) / (len(having) + 0.5)) * (_K1 + 1) * counts
            for name, count in having.items():
                found[name] = found.get(name, 0.0) + rarity * count / (count + lengths[name])
        return found

    def asked_terms(self, words: list[str]) -> dict[str, float]:
        """Return the terms that these words stand for, with their weights."""
        found: dict[str, float] = {}
        for word in dict.fromkeys([word for word in words if word not in _SKIPPED] or words):
            term = term_of(word)
            meant = [term] if self.knows(term) else sorted(self._meant_terms(word))
            for one in meant:
                counts = 1.0 if one == term else _SLIP_WEIGHT / len(meant)
                found[one] = max(found.get(one, 0.0), counts)
        return found

    def _meant_terms(self, word: str) -> set[str]:
        """Return the terms that a word may stand for if no text has it."""
        if len(word) < _LEAST_LETTERS or not word.isalpha():
            return set()
        if self._near is None:
            known = {term: term for _, having in self._having for term in having}
            known |= {one: term for one in self.words() if self.knows(term := term_of(one))}
            self._near = _Spellings(known)
        term = term_of(word)
        found = self._near.near(word)
        return found | self._near.near(term) if len(term) >= _LEAST_LETTERS else found

    def words(self) -> set[str]:
        """Return the lower-case words in which slips are looked for."""
        pieces = set(chain.from_iterable(map(pieces_of, self._texts)))
        return {word for word in words_in(" ".join(pieces)) if len(word) >= _LEAST_SPELLED}


def _texts_by_term(
    documents: Mapping[str, str], weight: int, lengths: dict[str, int]
) -> Mapping[str, list[str]]:
    """Return the names of the texts that have each term, once for each time that a text has it."""
    having: dict[str, list[str]] = defaultdict(list)
    for name, found in documents.items():
        split = found.split()
        lengths[name] = lengths.get(name, 0) + weight * len(split)
        for term in split:
            having[term].append(name)
    return {**having}


def is_from(query: str, message: str) -> bool:
    """Return whether at least half of the words of a query are also in a message."""
    asked, said = set(terms(query)), set(terms(message))
    return len(asked & said) >= _FROM_MESSAGE * len(asked)


def similarities(query: Sequence[float], vectors: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the cosine, by name, between one vector and each of several; all have the shape (n,)."""
    own = hypot(*query) or 1.0
    products = {name: sum(map(mul, query, each)) for name, each in vectors.items()}
    return {name: product / (own * (hypot(*vectors[name]) or 1.0)) for name, product in products.items()}


def best(scores: Scores, others: Scores = MappingProxyType({})) -> Iterator[str]:
    """Yield the names by score, the best first; equal scores are ordered by other scores, then by name."""
    # Of thousands, a search takes a few: a heap finds these in a fraction of the time that sorting takes.
    left = [(-score, -others.get(name, 0.0), name) for name, score in scores.items()]
    heapify(left)
    while left:
        yield heappop(left)[2]


def fused(rankings: Iterable[Sequence[str]]) -> dict[str, float]:
    """Return the scores, by name, from the ranks in several lists that begin with the best."""
    found: dict[str, float] = {}
    for names in rankings:
        for rank, name in enumerate(names, 1):
            found[name] = found.get(name, 0.0) + 1 / (_FUSION + rank)
    return found


def in_turn(*rankings: Iterable[str]) -> Iterator[str]:
    """Yield the names of several rankings: the first of each, the second of each, and so on, each once."""
    known = set[str]()
    for place in zip_longest(*rankings):
        for name in place:
            if name is not None and name not in known:
                known.add(name)
                yield name
