"""Which date or time does a text such as `31.01.2026` or `9:30 pm` mean?

These readings are too uncertain for repair, but an error can propose them.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .spellings import NOTHING

_LONGEST = 100
"""The most characters of a text that is read."""

_MOMENT = re.compile(
    r"(?P<day>.+?)(?:[Tt]|,? )(?P<clock>\d{1,2}:.+?)(?P<offset>[Zz]| ?UTC|[+-]\d\d:?\d\d)?", re.ASCII
)


def meant_times(format: Any, text: str) -> Any:  # noqa: A002  # its name in JSON Schema
    """Rewrite a text as a date, a time or a datetime of RFC 3339; return `NOTHING` if it isn't clear.

    Args:
        format: the `format` in the value's schema; None for a datetime without an offset.
        text: the received text.
    """
    if len(text) > _LONGEST:
        return NOTHING
    text = text.strip()
    if format == "date":
        return _read_day(text) or NOTHING
    found = _MOMENT.fullmatch(text)
    if found is None:
        return _read_clock(text) or NOTHING
    day, clock, offset = _read_day(found["day"]), _read_clock(found["clock"]), found["offset"] or ""
    if day is None or clock is None:
        return NOTHING
    offset = "Z" if offset.strip().upper() in {"Z", "UTC"} else offset
    return f"{day}T{clock}{offset}"


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MIDNIGHT = re.compile(r"(?P<day>.*?)[ Tt]+00:00(?::00(?:\.0+)?)?(?:[Zz]|\+00:?00)?", re.DOTALL)
_YEAR_FIRST = re.compile(r"(\d{4})([-/. ]?)(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])\s?(\d{1,2})\2\s?(\d{4})", re.ASCII)
_MONTH = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_IN_WORDS = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[ -]{_MONTH}\.?,?[ -](\d{{4}})", re.ASCII)
_MONTH_IN_WORDS = re.compile(rf"{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})", re.ASCII)
_LAST_MONTH: Final = 12
_MIDDAY: Final = 12


def _read_day(text: str) -> str | None:
    """Return the day in a text, as `2026-01-31`: `31.01.2026`, `Jan 31, 2026`, `2026-01-31T00:00:00`.

    The result is None if each of the first two numbers may be the month, as in `01/02/2026`.
    """
    at_midnight = _MIDNIGHT.fullmatch(text)
    text = (at_midnight["day"] if at_midnight else text).casefold()
    if found := _YEAR_FIRST.fullmatch(text):
        year, by, month, day = found.groups()
        return None if not by and len(text) != len("20260131") else _iso_date(year, month, day)
    if found := _YEAR_LAST.fullmatch(text):
        one, _, other, year = found.groups()
        if int(one) <= _LAST_MONTH and int(other) <= _LAST_MONTH and int(one) != int(other):
            return None
        return _iso_date(year, *((other, one) if int(other) <= _LAST_MONTH else (one, other)))
    if found := _DAY_IN_WORDS.fullmatch(text):
        return _iso_date(found[3], _month_number(found[2]), found[1])
    if found := _MONTH_IN_WORDS.fullmatch(text):
        return _iso_date(found[3], _month_number(found[1]), found[2])
    return None


def _month_number(month: str) -> str:
    return str(_MONTHS.index(month[:3]) + 1)


def _iso_date(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


def _read_clock(text: str) -> str | None:
    """Return the time of day in a text, as `09:30:00`: `9:30`, `9:30 am`; None if it has a date."""
    found = re.fullmatch(r"(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s*([ap])?\.?(?:m\.?)?", text.strip().casefold())
    if found is None or (found[2] is None and found[4] is None):
        return None
    hour = int(found[1])
    if found[4]:
        if not 1 <= hour <= _MIDDAY:
            return None
        hour = hour % _MIDDAY + _MIDDAY * (found[4] == "p")
    return f"{hour:02}:{found[2] or '00'}:{found[3] or '00'}"
