"""Strings and numbers that satisfy their constraints, as plain as they can be."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from sys import float_info
from typing import TYPE_CHECKING, Any, Literal

from ...introspect.nodes import Constraints, ScalarNode
from ...introspect.number_bounds import Bounds, bounds_of
from ..problems import INVALID, Trial
from ..scalars import SCALARS

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from ...introspect.number_bounds import Bound

__all__ = ["example_number", "example_text"]

_TEXT = "text"
_LONGEST = 1000
_NOTHING = Constraints()


def example_number(
    kind: Literal["integer", "number"], constraints: Constraints | None, turn: int
) -> float | None:
    """Find a number that fits; None where none was found.

    Args:
        kind: of number.
        constraints: on it.
        turn: number of those to pass over, for numbers that must differ.
    """
    if constraints is None:
        return turn
    numbers = _numbers(kind, constraints, turn)
    found = dict.fromkeys([number for number in numbers if _fits(kind, constraints, number)])
    return list(found)[turn] if len(found) > turn else None


def _numbers(kind: Literal["integer", "number"], constraints: Constraints, turn: int) -> Iterator[float]:
    """Yield integers first: they fit both kinds of numbers."""
    step = Fraction(constraints.multiple_of or 1)
    if kind == "integer":
        step = Fraction(step.numerator)  # a multiple of p/q is an integer where it is one of p
    low, high = bounds_of(constraints)
    if kind == "number":  # what is beyond floats restricts no float
        low = None if low is None or low.limit <= -float_info.max else low
        high = None if high is None or high.limit >= float_info.max else high
    least, most = Bounds(low, high).multiples(step)
    start = least or 0
    if most is not None and start > most:
        start = most
    for count in range(turn + 3):
        for way in (1, -1) if low is None else (1,):
            yield _plain((start + way * count) * step)
    if kind == "number" and low is not None and high is not None:
        yield _plain((Fraction(low.limit) + Fraction(high.limit)) / 2)
    if kind == "number":  # where floats are farther apart than the steps
        yield from _floats_from(low, inf, turn + 2)
        yield from _floats_from(high, -inf, turn + 2)


def _floats_from(bound: Bound | None, towards: float, count: int) -> Iterator[float]:
    if bound is not None:
        number = float(bound.limit)
        for _ in range(count):
            yield number
            number = nextafter(number, towards)


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def example_text(constraints: Constraints | None, turn: int) -> str | None:
    """Find a string that fits; None where none was found.

    Args:
        constraints: on it.
        turn: number of those to pass over, for strings that must differ.
    """
    limits = constraints or _NOTHING
    least, most = limits.min_length or 0, limits.max_length
    if least > _LONGEST:
        return None
    text = f"{_TEXT}{turn or ''}"
    text = text[len(text) - most :] if most is not None and most < len(text) else text
    candidates = [text.rjust(least, "x")]
    if limits.pattern is not None and not turn:
        candidates += _matching(limits.pattern, least)
    return next((text for text in candidates if _fits("string", limits, text)), None)


def _fits(kind: Any, constraints: Constraints, value: Any) -> bool:
    return SCALARS[kind](Trial(), ScalarNode(kind, constraints), value, None) is not INVALID


def _matching(pattern: re.Pattern[str], least: int) -> list[str]:
    from .pattern import matching_text

    text = matching_text(pattern)
    return [] if text is None else [text, text.ljust(least, text[-1:] or "x")]
