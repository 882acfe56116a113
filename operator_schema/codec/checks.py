"""Constraints applied: the same check on the way in and on the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..wording import excerpt
from .problems import INVALID

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from ..introspect.nodes import Constraints
    from .problems import Path, Problems

__all__ = ["check_length", "check_number", "check_text", "is_no_multiple"]


def check_number(constraints: Constraints, problems: Problems, value: float, path: Path) -> Any:
    """Return the number, or note the limit that it breaks."""
    for slot, breaks, words in _NUMBER_LIMITS:
        limit = getattr(constraints, slot)
        if limit is not None and breaks(value, limit):
            return problems.out_of_range(path, value, f"is {words} {excerpt(limit)}")
    return value


def is_no_multiple(value: float, of: float) -> bool:
    """Say whether a number does not divide another one exactly."""
    numerator, denominator = value.as_integer_ratio()
    divisor, unit = of.as_integer_ratio()
    return (numerator * unit) % (denominator * divisor) != 0


_NUMBER_LIMITS: tuple[tuple[str, Callable[[float, float], bool], str], ...] = (
    ("minimum", lambda value, limit: value < limit, "below the minimum"),
    ("exclusive_minimum", lambda value, limit: value <= limit, "not above"),
    ("maximum", lambda value, limit: value > limit, "above the maximum"),
    ("exclusive_maximum", lambda value, limit: value >= limit, "not below"),
    ("multiple_of", is_no_multiple, "no multiple of"),
)


def check_text(constraints: Constraints, problems: Problems, value: str, path: Path) -> Any:
    """Return the string, or note its length or the pattern that is not in it."""
    if check_length(constraints, problems, value, path, "characters") is INVALID:
        return INVALID
    pattern = constraints.pattern
    if pattern is None or pattern.search(value):
        return value
    return problems.bad_pattern(path, value, pattern.pattern)


def check_length(
    constraints: Constraints | None, problems: Problems, value: Sized, path: Path, unit: str
) -> Any:
    """Return the value, or note that it has too few or too many characters, items or keys."""
    if constraints is None:
        return value
    size, least, most = len(value), constraints.min_length, constraints.max_length
    if least is not None and size < least:
        return problems.bad_length(path, value, f"{_count(size, unit)}, at least {least} expected")
    if most is not None and size > most:
        return problems.bad_length(path, value, f"{_count(size, unit)}, at most {most} expected")
    return value


def _count(size: int, unit: str) -> str:
    return f"{size} {unit.removesuffix('s') if size == 1 else unit}"
