"""Does a value meet its constraints? The same checks for decoding and encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..message_text import count_of, excerpt
from ..schema.keywords import LENGTHS, NUMBERS, TEXTS
from .problems import INVALID

if TYPE_CHECKING:
    from collections.abc import Sized

    from ..message_text import Path
    from ..schema.keywords import Constraints, Limit
    from .problems import Problems


def check_number(constraints: Constraints, problems: Problems, value: float, path: Path) -> Any:
    """Return the number, or note the limit that it breaks."""
    row = _broken_limit(constraints, value)
    return value if row is None else _out_of_range(constraints, row, problems, value, path, "is")


def check_float(constraints: Constraints, problems: Problems, value: float, number: float, path: Path) -> Any:
    """Return the float that a number becomes, or note the limit that one of the two breaks.

    An integer past 2**53 may be within limits while the nearest float isn't.
    """
    if check_number(constraints, problems, value, path) is INVALID:
        return INVALID
    row = None if number == value else _broken_limit(constraints, number)
    return number if row is None else _out_of_range(constraints, row, problems, value, path, "as a float is")


def _broken_limit(constraints: Constraints, value: float) -> Limit | None:
    for row in NUMBERS:
        limit = getattr(constraints, row.slot)
        if limit is not None and row.breaks(value, limit):
            return row
    return None


def _out_of_range(
    constraints: Constraints, row: Limit, problems: Problems, value: float, path: Path, verb: str
) -> Any:
    limit = excerpt(getattr(constraints, row.slot))
    return problems.out_of_range(path, value, f"{verb} {row.said} {limit}", f"{row.sign} {limit}")


def check_text(constraints: Constraints, problems: Problems, value: str, path: Path) -> Any:
    """Return the string, or note the limit on its length or content that it breaks."""
    if check_length(constraints, problems, value, path, "characters") is INVALID:
        return INVALID
    for row in TEXTS:
        limit = getattr(constraints, row.slot)
        if limit is not None and row.breaks(value, limit):
            return problems.bad_content(path, value, row.said, row.written(limit))
    return value


def check_length(
    constraints: Constraints | None, problems: Problems, value: Sized, path: Path, unit: str
) -> Any:
    """Return the value, or note that it has too few or too many characters, items or keys."""
    if constraints is None:
        return value
    size = len(value)
    for row in LENGTHS:
        limit = getattr(constraints, row.slot)
        if limit is not None and row.breaks(size, limit):
            said = f"{count_of(size, unit)}, {row.said} {excerpt(limit)} expected"
            return problems.bad_length(path, value, said, f"{row.sign} {excerpt(limit)}")
    return value
