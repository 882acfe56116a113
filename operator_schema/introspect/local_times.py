"""How does a tool take dates and times without a UTC offset?

`datetime` and `time` themselves mean values with an offset, because without one nobody knows which point in
time a model means. A tool that needs local time uses one of these annotations.
"""

from __future__ import annotations

import re
from datetime import datetime, time
from typing import Annotated, Any, Final

from .leaves import trusted_leaf

_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
_TIME_PATTERN: Final = re.compile(f"^{_TIME}$")
_DATETIME_PATTERN: Final = re.compile(f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{_TIME}$")


def _read_datetime(text: str) -> datetime:
    return datetime.fromisoformat(_checked(text, _DATETIME_PATTERN, _DATETIME_HINT))


def _write_datetime(value: datetime) -> str:
    return _checked(value.isoformat(), _DATETIME_PATTERN, _OFFSET_GIVEN)


def _read_time(text: str) -> time:
    return time.fromisoformat(_checked(text, _TIME_PATTERN, _TIME_HINT))


def _write_time(value: time) -> str:
    return _checked(value.isoformat(), _TIME_PATTERN, _OFFSET_GIVEN)


def _checked(text: str, pattern: re.Pattern[str], message: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError(message)
    return text


_DATETIME_HINT: Final = "write the local date and time without a UTC offset, as in 2026-01-31T09:30:00"
_TIME_HINT: Final = "write the local time without a UTC offset, as in 09:30:00"
_OFFSET_GIVEN: Final = "it has a time zone, so it isn't a local time; replace(tzinfo=None) removes it"


def _schema(what: str, sample: str, pattern: re.Pattern[str]) -> dict[str, Any]:
    description = f"{what} (no offset), such as {sample}"
    return {"type": "string", "pattern": pattern.pattern, "description": description}


LOCAL_DATETIME: Final = trusted_leaf(
    datetime,
    _schema("local date and time", "2026-01-31T09:30:00", _DATETIME_PATTERN),
    _read_datetime,
    _write_datetime,
    datetime(2026, 1, 31, 9, 30),  # noqa: DTZ001  # a local one
    rank=-2,
)
"""The leaf of `LocalDateTime`. The texts that it reads are so special that it is tried before others in a
union."""

LOCAL_TIME: Final = trusted_leaf(
    time, _schema("local time", "09:30:00", _TIME_PATTERN), _read_time, _write_time, time(9, 30), rank=-1
)
"""The leaf of `LocalTime`."""

LocalDateTime = Annotated[datetime, LOCAL_DATETIME]
"""A `datetime` without UTC offset: `2026-01-31T09:30:00`, with or without seconds."""

LocalTime = Annotated[time, LOCAL_TIME]
"""A `time` without UTC offset: `09:30:00`, with or without seconds."""
