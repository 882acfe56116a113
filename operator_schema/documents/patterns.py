"""Regular expressions that others wrote, and texts that a model wrote: which of them may meet?

`re` tries alternatives one after the other, so that an expression such as `(a+)+$` takes hours for
thirty characters. Two kinds of expressions are known to be harmless: those in which the next character
always says how to go on, and those that have few alternatives in all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..complaints import UnfitError
from ..introspect.constraints import read_constraints

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MAX_PATTERN", "harmless_pattern"]

MAX_PATTERN = 1000
"""Characters of an expression."""

_MAX_PLACES = 300
_MAX_WAYS = 10_000
_LONG_REPEAT = 64

# Characters beyond ASCII, by what categories say of them.
_DIGIT, _WORD, _SPACE, _OTHER = 128, 129, 130, 131
_EVERY = frozenset(range(_OTHER + 1))
_ASCII_DIGITS = frozenset(map(ord, "0123456789"))
_ASCII_WORD = frozenset(i for i in range(128) if chr(i).isalnum() or chr(i) == "_")
_ASCII_SPACE = frozenset(i for i in range(128) if chr(i).isspace())
_CATEGORIES = {
    "CATEGORY_DIGIT": _ASCII_DIGITS | {_DIGIT},
    "CATEGORY_WORD": _ASCII_WORD | {_DIGIT, _WORD},
    "CATEGORY_SPACE": _ASCII_SPACE | {_SPACE},
}


def harmless_pattern(text: object) -> re.Pattern[str] | None:
    """Compile an expression if it can be run on any text in reasonable time.

    Args:
        text: of the keyword `pattern`, or anything else.

    Returns:
        The expression, which takes at most quadratic time; None for one that Python can't read, that
        means something else in JSON Schema, or that may take longer.
    """
    if not isinstance(text, str) or len(text) > MAX_PATTERN:
        return None
    try:
        pattern = re.compile(text)
        read_constraints([pattern])
        # The parser of `re` has no public name; if it changes, expressions are left to others.
        parsed: Any = list(vars(re)["_parser"].parse(text))
        is_harmless = _has_few_ways(parsed) or _is_deterministic(parsed)
    except (re.error, Warning, UnfitError, _TooHard, LookupError, TypeError, ValueError, ArithmeticError):
        return None
    except RecursionError:
        return None
    return pattern if is_harmless else None


class _TooHard(Exception):  # noqa: N818  # says that the expression is not plain; never leaves this module
    pass


_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


# --- few alternatives ------------------------------------------------------------------------------


def _has_few_ways(items: Any) -> bool:
    """Return whether there are few ways to match a text, but for one long repetition or two."""
    ways, long = _ways(items)
    is_anchored = bool(items) and str(items[0][0]) == "AT" and str(items[0][1]) == "AT_BEGINNING"
    return ways <= _MAX_WAYS and long <= (2 if is_anchored else 1)


def _ways(items: Any) -> tuple[int, int]:
    """Return the number of ways through a sequence, and the number of its long repetitions."""
    ways, long = 1, 0
    for i, (code, argument) in enumerate(items):
        inner_ways, inner_long = _ways_of(str(code), argument)
        ways *= inner_ways
        is_plain = inner_long and str(code) in _REPEATS and _ends_by_itself(argument, items[i + 1 : i + 2])
        long += 0 if is_plain else inner_long
        if ways > _MAX_WAYS:
            return ways, long
    return ways, long


def _ends_by_itself(repeat: Any, following: Any) -> bool:
    """Return whether a repetition of one character goes on exactly as far as it can."""
    body = repeat[-1]
    if len(body) != 1 or len(following) != 1:
        return False
    one, other = [(str(code), argument) for code, argument in (body[0], following[0])]
    if not {one[0], other[0]} <= _SINGLE:
        return False
    return not _characters(*one) & _characters(*other)


_SINGLE = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})


def _ways_of(code: str, argument: Any) -> tuple[int, int]:
    match code:
        case "SUBPATTERN":
            return _ways(argument[-1])
        case "BRANCH":
            found = [_ways(branch) for branch in argument[1]]
            return sum(ways for ways, _ in found), sum(long for _, long in found)
        case _ if code in _REPEATS:
            least, most, body = argument
            inside, long = _ways(body)
            if most <= 1:
                return inside + 1, long
            if long or (inside > 1 and most > _LONG_REPEAT):
                return _MAX_WAYS + 1, 0
            if most > _LONG_REPEAT and least != most:
                return 1, 1
            return inside**most * (most - least + 1), 0
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT":
            return 1, 0
        case _:  # references to groups, looking ahead and behind
            raise _TooHard


# --- one way, whatever comes -------------------------------------------------------------------------


class _Part(NamedTuple):
    """A part of an expression, as the places where a character is read (Glushkov 1961)."""

    is_empty: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING = _Part(is_empty=True, first=frozenset(), last=frozenset())


class _Automaton:
    """The places of an expression, and which of them may follow which."""

    def __init__(self) -> None:
        self.characters: list[frozenset[int]] = []
        self.follow: list[set[int]] = []

    def sequence(self, items: Any) -> _Part:
        whole = _NOTHING
        for code, argument in items:
            whole = self._then(whole, self._part(str(code), argument))
        return whole

    def _part(self, code: str, argument: Any) -> _Part:
        match code:
            case "AT":
                return _NOTHING
            case "SUBPATTERN":
                return self.sequence(argument[-1])
            case "BRANCH":
                parts = [self.sequence(branch) for branch in argument[1]]
                return _Part(
                    any(part.is_empty for part in parts),
                    frozenset().union(*[part.first for part in parts]),
                    frozenset().union(*[part.last for part in parts]),
                )
            case _ if code in _REPEATS:
                least, most, body = argument
                part = self.sequence(body)
                if most > 1:
                    self._link(part.last, part.first)
                return part._replace(is_empty=part.is_empty or least == 0)
            case _:
                return self._place(_characters(code, argument))

    def _place(self, characters: frozenset[int]) -> _Part:
        if len(self.characters) >= _MAX_PLACES:
            raise _TooHard
        place = frozenset({len(self.characters)})
        self.characters.append(characters)
        self.follow.append(set())
        return _Part(is_empty=False, first=place, last=place)

    def _then(self, one: _Part, other: _Part) -> _Part:
        self._link(one.last, other.first)
        return _Part(
            one.is_empty and other.is_empty,
            one.first | other.first if one.is_empty else one.first,
            one.last | other.last if other.is_empty else other.last,
        )

    def _link(self, places: Iterable[int], following: frozenset[int]) -> None:
        for place in places:
            if self.follow[place] & following:  # two repetitions, one in the other, that share a place
                raise _TooHard
            self.follow[place] |= following

    def are_distinct(self, places: Iterable[int]) -> bool:
        """Return whether no character leads to two of these places."""
        seen: set[int] = set()
        for place in places:
            characters = self.characters[place]
            if seen & characters:
                return False
            seen |= characters
        return True


def _is_deterministic(items: Any) -> bool:
    automaton = _Automaton()
    whole = automaton.sequence(items)
    return all(map(automaton.are_distinct, [whole.first, *automaton.follow]))


def _characters(code: str, argument: Any) -> frozenset[int]:
    match code:
        case "LITERAL":
            return frozenset({_kind(argument)})
        case "NOT_LITERAL":
            return _EVERY - {argument}
        case "ANY":
            return _EVERY
        case "IN":
            return _set(argument)
        case _:
            raise _TooHard


def _kind(character: int) -> int:
    if character < 128:  # noqa: PLR2004  # ASCII
        return character
    text = chr(character)
    return _DIGIT if text.isdecimal() else _WORD if text.isalnum() else _SPACE if text.isspace() else _OTHER


def _set(items: Any) -> frozenset[int]:
    found: set[int] = set()
    is_negated = False
    for code, argument in items:
        match str(code):
            case "NEGATE":
                is_negated = True
            case "LITERAL":
                found.add(_kind(argument))
            case "RANGE":
                low, high = argument
                found.update(range(low, min(high, 127) + 1))
                found.update({_DIGIT, _WORD, _SPACE, _OTHER} if high > 127 else ())  # noqa: PLR2004  # ASCII
            case "CATEGORY":
                found |= _category(str(argument))
            case _:
                raise _TooHard
    # What isn't ASCII is known by its kind alone: something of each kind may be left.
    return (_EVERY - found) | {_DIGIT, _WORD, _SPACE, _OTHER} if is_negated else frozenset(found)


def _category(name: str) -> frozenset[int]:
    if name in _CATEGORIES:
        return _CATEGORIES[name]
    return _EVERY - _CATEGORIES[name.replace("_NOT_", "_")]
