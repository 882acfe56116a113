"""Is a regular expression found in a text? Answers in time that grows linearly with the text.

`re` tries alternatives one after the other, so that an expression such as `(a+)+$` takes hours for thirty
characters. Here all alternatives are followed at the same time. The places of an expression at which a
character is read (Glushkov 1961) are the bits of one number. Each set of places is a state, which remembers
the next state for each character.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from ..json_values import has_surrogate
from .pattern_syntax import (
    ALWAYS,
    EDGE,
    LAST_CODE,
    LOOKS_AHEAD,
    OTHER,
    SIDES,
    START,
    TOO_LARGE,
    WORD,
    WORDS,
    Assertion,
    Characters,
    Choice,
    Look,
    Repeat,
    Sequence,
    TooHardError,
    read_expression,
    side_bit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .pattern_syntax import Expression, Ranges

    Count = Callable[[int], None]
    """A function that is called with a number of steps before they are done."""

MAX_PATTERN: Final = 1000
"""The most characters of an expression."""

_MOST_PLACES_TOGETHER = 50_000
_MOST_BITS = 1_000_000
_MOST_REMEMBERED = 300_000  # bytes, about
_TRANSITION = 150  # bytes, without its places
_LINKS_A_STEP = 16
"""How many links count as one step when the next state is computed."""
_MANY_LINKS = 32


def count_nothing(_steps: int) -> None:
    """Count nothing, for work that is bounded already."""


def linear_pattern(text: object) -> LinearPattern | None:
    """Prepare a regular expression for searches that take linear time.

    Args:
        text: the value of the keyword `pattern`, or any other object.

    Returns:
        The expression; None if it isn't ECMA 262 in the spelling that all engines share, if it is too large,
        or if no automaton can decide it: with references to groups, or with lookahead or lookbehind anywhere
        except lookahead directly after a leading `^`.
    """
    try:
        return _read(text)
    except TooHardError:
        return None


def why_unread(texts: Iterable[object]) -> str:
    """Return the reason why one of some expressions can't be run."""
    for text in texts:
        try:
            _read(text)
        except TooHardError as error:
            return str(error)
    return "all expressions together are too large"


def _read(text: object) -> LinearPattern:
    """Prepare a regular expression for searches that take linear time.

    Raises:
        TooHardError: the expression is one for which `linear_pattern` returns None.
    """
    if not isinstance(text, str) or has_surrogate(text):
        raise TooHardError
    if len(text) > MAX_PATTERN:
        raise TooHardError(TOO_LARGE)
    return LinearPattern(text, read_expression(text))


class Patterns:
    """The expressions of one document, each prepared once; there is one limit on their places together."""

    def __init__(self) -> None:
        self._known: dict[str, LinearPattern | None] = {}
        self._left = _MOST_PLACES_TOGETHER

    def get(self, text: object) -> LinearPattern | None:
        """Return a prepared expression; None for one that can't be run."""
        if not isinstance(text, str) or self._left < 0:
            return None
        if text not in self._known:
            self._known[text] = found = linear_pattern(text)
            self._left -= 1 if found is None else 1 + found.size
        return self._known[text]


class LinearPattern:
    """A regular expression with the methods and attributes of `re.Pattern` that checking a text needs.

    Attributes:
        pattern: its text.
        flags: 0, the flags of `re.Pattern`.
        size: number of places in it.
        is_slow: whether one character may take so long that the steps have to be counted.
    """

    __slots__ = ("_automaton", "_conditions", "flags", "is_slow", "pattern", "size")

    def __init__(self, text: str, tree: Expression) -> None:
        self.pattern = text
        self.flags = 0
        looks, rest = _leading_looks(tree)
        self._automaton = _Automaton(rest)
        self._conditions = tuple(
            [(_Automaton(Sequence((START, look.body))), look.is_negated) for look in looks]
        )
        automata = [self._automaton, *[one for one, _ in self._conditions]]
        self.size = sum([one.size for one in automata])
        self.is_slow = sum([one.links for one in automata]) > _MANY_LINKS

    def search(self, text: str, count: Count = count_nothing) -> bool:
        """Return whether the expression is found in a text.

        Args:
            text: the text to search.
            count: called with a number of steps other than looking at characters.
        """
        for condition, is_negated in self._conditions:
            if condition.search(text, count) is is_negated:
                return False
        return self._automaton.search(text, count)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearPattern) and self.pattern == other.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        return f"LinearPattern({self.pattern!r})"


def _leading_looks(tree: Expression) -> tuple[list[Look], Expression]:
    """Split an expression into its lookaheads from the start of the text and the rest."""
    if not isinstance(tree, Sequence) or tree.items[:1] != (START,):
        return [], tree
    looks: list[Look] = []
    for item in tree.items[1:]:
        if not isinstance(item, Look):
            break
        looks.append(item)
    return looks, Sequence((START, *tree.items[1 + len(looks) :]))


# --- running -----------------------------------------------------------------------------------------

_Places = dict[int, int]
"""Places as the bits of a number, by the sides of the text where they count."""


class _Part(NamedTuple):
    """A part of an expression.

    Attributes:
        empty: the pairs of sides between which it matches the empty text.
        first: places where it may begin.
        last: places where it may end.
    """

    empty: int
    first: _Places
    last: _Places


_NOTHING = _Part(ALWAYS, {}, {})


def _either(one: _Places, other: _Places, sides: int = ALWAYS) -> _Places:
    """Combine two sets of places, those of the second one only between some sides."""
    found = dict(one)
    for its_sides, places in other.items():
        if its_sides & sides:
            found[its_sides & sides] = found.get(its_sides & sides, 0) | places
    return found


class _Between(NamedTuple):
    """The automaton's transitions at a position between two sides of the text.

    Attributes:
        links: pairs of places: from the first ones, the search goes on to the second ones.
        chained: places from which it goes on to the place with the next number.
        first: places where the expression may begin.
        last: places where it may end.
        is_empty: whether the empty text matches there.
    """

    links: tuple[tuple[int, int], ...]
    chained: int
    first: int
    last: int
    is_empty: bool


class _State(dict[str, "_State"]):
    """A set of places reached at the same time; a dict from each character to the next state.

    Attributes:
        places: the places that were reached together, as bits.
        before: the side of the last character: start of the text, word character or other.
        verdict: whether the expression is found, if that is known already.
    """

    __slots__ = ("before", "places", "verdict")

    def __init__(self, places: int, before: int, verdict: bool | None) -> None:
        super().__init__()
        self.places = places
        self.before = before
        self.verdict = verdict


class _Automaton:
    """The places of an expression and the transitions between them.

    Attributes:
        size: number of places.
        links: number of transitions.
    """

    def __init__(self, tree: Expression) -> None:
        self.size = 0
        self._places_of: dict[Ranges, int] = {}
        self._links: dict[tuple[int, int], int] = {}
        self._chained: _Places = {}
        self._whole = self._part(tree)
        self.links = len(self._links)
        used = [
            *self._whole.first,
            *self._whole.last,
            self._whole.empty,
            *self._links.values(),
            *self._chained,
        ]
        self._knows_words = any(not _ignores_words(sides) for sides in used)
        self._edges = sorted(
            {edge for ranges in self._places_of for low, high in ranges for edge in (low, high + 1)}
        )
        self._read_by: dict[int, int] = {}
        self._between: dict[tuple[int, int], _Between] = {}
        later = [self._sides(before, after) for before in (WORD, OTHER) for after in SIDES]
        self._begins_later = any(sides.first or sides.is_empty for sides in later)
        self._forget()

    # --- making it -------------------------------------------------------------------------------

    def _part(self, node: Expression) -> _Part:
        match node:
            case Characters(ranges):
                return self._place(ranges)
            case Assertion(sides):
                return _NOTHING._replace(empty=sides)
            case Sequence(items):
                whole = _NOTHING
                for item in items:
                    whole = self._then(whole, self._part(item))
                return whole
            case Choice(branches):
                whole = _NOTHING._replace(empty=0)
                for branch in branches:
                    part = self._part(branch)
                    whole = _Part(
                        whole.empty | part.empty,
                        _either(whole.first, part.first),
                        _either(whole.last, part.last),
                    )
                return whole
            case Repeat(body, least, most):
                return self._repeated(body, least, most)
            case _:
                raise TooHardError(LOOKS_AHEAD)

    def _place(self, ranges: Ranges) -> _Part:
        place = {ALWAYS: 1 << self.size}
        self.size += 1
        self._places_of[ranges] = self._places_of.get(ranges, 0) | place[ALWAYS]
        return _Part(0, place, place)

    def _then(self, one: _Part, other: _Part) -> _Part:
        self._link(one.last, other.first)
        return _Part(
            one.empty & other.empty,
            _either(one.first, other.first, one.empty),
            _either(other.last, one.last, other.empty),
        )

    def _repeated(self, body: Expression, least: int, most: int | None) -> _Part:
        """Write out a repetition, each optional one nested in the one before."""
        if most == 0:
            return _NOTHING
        copies = [self._part(body) for _ in range(max(least, 1) if most is None else most)]
        whole = copies.pop()
        if most is None:
            self._link(whole.last, whole.first)
        if least <= len(copies):
            whole = whole._replace(empty=ALWAYS)
        while copies:
            whole = self._then(copies.pop(), whole)
            if least <= len(copies):
                whole = whole._replace(empty=ALWAYS)
        return whole

    def _link(self, before: _Places, after: _Places) -> None:
        for one, places in before.items():
            for other, following in after.items():
                sides = one & other
                if following == places << 1 and not places & (places - 1):
                    self._chained[sides] = self._chained.get(sides, 0) | places
                elif sides:
                    self._links[places, following] = self._links.get((places, following), 0) | sides
        if len(self._links) * self.size > _MOST_BITS:
            raise TooHardError(TOO_LARGE)

    def _sides(self, before: int, after: int) -> _Between:
        """Return the transitions between two sides."""
        found = self._between.get((before, after))
        if found is None:
            bit = side_bit(before, after)
            found = self._between[before, after] = _Between(
                tuple([link for link, sides in self._links.items() if sides & bit]),
                _places(self._chained, bit),
                _places(self._whole.first, bit),
                _places(self._whole.last, bit),
                bool(self._whole.empty & bit),
            )
        return found

    # --- finding ---------------------------------------------------------------------------------

    def search(self, text: str, count: Count) -> bool:
        """Return whether the expression is found in a text."""
        state = self._start
        for character in text:
            try:
                state = state[character]
            except KeyError:
                count(1 + self.links // _LINKS_A_STEP)
                before, state = state, self._after(state, character)
                before[character] = state
            if state.verdict is not None:
                return state.verdict
        end = self._sides(state.before, EDGE)
        return end.is_empty or bool(end.last & state.places)

    def _after(self, state: _State, character: str) -> _State:
        """Return the next state after reading a character."""
        self._known += 1
        if self._known * (_TRANSITION + self.size // 8) > _MOST_REMEMBERED:
            self._forget()
        kind = WORD if self._knows_words and character in _WORD_CHARACTERS else OTHER
        here = self._sides(state.before, kind)
        places = state.places
        if here.is_empty or here.last & places:
            return self._state(0, kind, verdict=True)
        reached = here.first | (places & here.chained) << 1
        for before, following in here.links:
            if places & before:
                reached |= following
        reached &= self._reading(ord(character))
        return self._state(reached, kind, verdict=None if reached or self._begins_later else False)

    def _reading(self, code: int) -> int:
        """Return the places at which a character can be read."""
        index = bisect_right(self._edges, code)
        found = self._read_by.get(index)
        if found is None:
            found = 0
            for ranges, places in self._places_of.items():
                if _contains(ranges, code):
                    found |= places
            self._read_by[index] = found
        return found

    def _state(self, places: int, before: int, *, verdict: bool | None) -> _State:
        key = (places, before, verdict)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = _State(places, before, verdict)
        return found

    def _forget(self) -> None:
        self._known = 0
        self._states: dict[tuple[int, int, bool | None], _State] = {}
        self._start = _State(0, EDGE, None)


_WORD_CHARACTERS = frozenset([chr(code) for low, high in WORDS for code in range(low, high + 1)])


def _ignores_words(sides: int) -> bool:
    """Return whether a set of sides treats word characters and others alike."""
    return all(
        bool(sides & side_bit(WORD, side)) == bool(sides & side_bit(OTHER, side))
        and bool(sides & side_bit(side, WORD)) == bool(sides & side_bit(side, OTHER))
        for side in SIDES
    )


def _places(by_sides: _Places, bit: int) -> int:
    found = 0
    for sides, places in by_sides.items():
        if sides & bit:
            found |= places
    return found


def _contains(ranges: Ranges, code: int) -> bool:
    index = bisect_right(ranges, (code, LAST_CODE))
    return index > 0 and code <= ranges[index - 1][1]
