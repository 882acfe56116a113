"""A string in which a regular expression is found, for the plain part of the language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["matching_text"]

_LONGEST = 1000
_CATEGORIES = {
    "CATEGORY_DIGIT": "0",
    "CATEGORY_WORD": "a",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_NOT_WORD": "-",
    "CATEGORY_NOT_SPACE": "a",
}
_SAMPLES = "aA0-_ ./:@é"


class _TooHard(Exception):  # noqa: N818  # says that the expression is not plain; never leaves this module
    pass


def matching_text(pattern: re.Pattern[str]) -> str | None:
    """Make a short string for a pattern.

    Literals, sets, groups, repetitions and alternatives are followed, each in its shortest form.

    Args:
        pattern: compiled.

    Returns:
        A string in which the pattern is found; None where it was not understood.
    """
    # The parser of `re` has no public name; if it changes, there is no example and nothing else breaks.
    parser: Any = getattr(re, "_parser", None)
    try:
        text = _sequence(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    except (_TooHard, AttributeError, KeyError, TypeError, ValueError, RecursionError, re.error):
        return None
    return text if pattern.search(text) else None


def _sequence(items: Any) -> str:
    text = "".join([_one(str(code), argument) for code, argument in items])
    if len(text) > _LONGEST:
        raise _TooHard
    return text


def _one(code: str, argument: Any) -> str:
    match code:
        case "LITERAL":
            return chr(argument)
        case "ANY":
            return "a"
        case "NOT_LITERAL":
            return next(c for c in _SAMPLES if ord(c) != argument)
        case "IN":
            return _set(argument)
        case "AT":
            return ""
        case "SUBPATTERN":
            return _sequence(argument[-1])
        case "BRANCH":
            return _sequence(argument[1][0])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _repeat(argument[0], argument[2])
        case _:
            raise _TooHard


def _repeat(least: int, items: Any) -> str:
    if least > _LONGEST:
        raise _TooHard
    return _sequence(items) * least if least else ""


def _set(items: Any) -> str:
    first = str(items[0][0])
    if first == "NEGATE":
        allowed = [c for c in _SAMPLES if not any(_is_in(str(code), part, c) for code, part in items[1:])]
        if not allowed:
            raise _TooHard
        return allowed[0]
    return _one_of(first, items[0][1])


def _one_of(code: str, part: Any) -> str:
    if code == "LITERAL":
        return chr(part)
    if code == "RANGE":
        return chr(part[0])
    return _CATEGORIES[str(part)]


def _is_in(code: str, part: Any, character: str) -> bool:
    if code == "LITERAL":
        return bool(ord(character) == part)
    if code == "RANGE":
        return bool(part[0] <= ord(character) <= part[1])
    test = _TESTS.get(str(part))
    return test is None or test(character)


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": str.isalnum,
}
