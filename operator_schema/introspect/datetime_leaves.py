"""Leaves of time: dates, times, moments, durations and time zones."""

from __future__ import annotations

import io
import re
from functools import cache, partial
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any

from ..wording import quote
from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from .leaves import SchemaLeaf

__all__ = ["date_leaf", "datetime_leaf", "time_leaf", "timedelta_leaf", "zone_leaf"]

# RFC 3339, section 5.6. It is stricter than ISO 8601 and than `fromisoformat`, and it is what the
# formats in the schema promise. Leap seconds have no place in datetime; digits of a second past
# the sixth are dropped, as `fromisoformat` does, because other languages write nine.
_FULL_DATE = r"\d{4}-\d\d-\d\d"
_FULL_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"


def datetime_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a moment as RFC 3339 says, with its UTC offset."""
    schema = {"type": "string", "format": "date-time", "description": "ISO 8601 date string"}
    hint = "write date, time and UTC offset as in 2026-01-31T09:30:00Z"
    leaf = _clock_leaf(cls, f"{_FULL_DATE}T{_FULL_TIME}", schema, hint, _SAMPLE)
    encode = _moment_writer(cls, leaf.placeholder.tzinfo.__class__, leaf.encode)
    return trusted_leaf(cls, schema, leaf.decode, encode, leaf.placeholder)


def time_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a time of day as RFC 3339 says, with its UTC offset."""
    schema = {"type": "string", "format": "time"}
    hint = "write time and UTC offset as in 09:30:00Z"
    return _clock_leaf(cls, _FULL_TIME, schema, hint, "09:30:00+00:00")


_SAMPLE = "2026-01-31T09:30:00+00:00"
_LEAST_YEAR = 1000
_MOST_OFFSETS = 100


def _moment_writer(cls: Any, fixed: type, write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return what writes usual moments in less than half the time that `isoformat` takes.

    Args:
        cls: of the moments.
        fixed: the class of time zones with a fixed offset.
        write: writes any moment, or refuses it.
    """
    offsets: dict[Any, str] = {}
    two_digits: list[str] = []

    def encode(value: Any) -> str:
        zone = value.tzinfo
        if type(zone) is not fixed or value.__class__ is not cls or value.microsecond:
            return write(value)
        offset, year = offsets.get(zone), value.year
        if offset is not None and year >= _LEAST_YEAR:
            two = two_digits
            return (
                f"{year}-{two[value.month]}-{two[value.day]}"
                f"T{two[value.hour]}:{two[value.minute]}:{two[value.second]}{offset}"
            )
        text = write(value)
        if not two_digits:
            two_digits.extend([f"{number:02d}" for number in range(60)])
        if len(offsets) >= _MOST_OFFSETS:
            offsets.clear()
        offsets[zone] = text[len("2026-01-31T09:30:00") :]
        return text

    return encode


# A moment without fraction, by each third of its characters from the fifth on: what separates its
# digits. And the length that it has then.
_USUAL_MOMENTS = {"--T::Z": 20, "--T::+:": 25, "--T::-:": 25}


def _clock_leaf(cls: Any, pattern: str, schema: dict[str, Any], hint: str, sample: str) -> SchemaLeaf[Any]:
    # Compiling it takes longer than registering most types, and usual moments don't need it.
    rfc3339 = cache(partial(re.compile, pattern, re.ASCII))
    parse = cls.fromisoformat
    written = cls.fromisoformat(sample)
    # Only the one in C takes no digits but those of ASCII.
    usual = _USUAL_MOMENTS if isinstance(parse, BuiltinMethodType) and "T" in sample else {}
    lengths = {len(sample), len(sample) + len(".123456")}

    def decode(text: str) -> Any:
        # A third of the time that the pattern takes. `parse` sees to the digits and to their ranges,
        # but for an hour 24 and the minutes of the offset.
        if (
            usual.get(text[4::3]) == len(text)
            and (text[11] != "2" or text[12] < "4")
            and (text[-1] == "Z" or text[23] < "6")
        ):
            try:
                return parse(text)
            except ValueError:
                pass  # for the reason that is found below
        if not rfc3339().fullmatch(text):
            raise ValueError(hint)
        return parse(text)

    def encode(value: Any) -> str:
        text: str = value.isoformat()
        # Without UTC offset it is shorter, with seconds in its offset longer.
        if len(text) in lengths and value.__class__ is cls:
            return text
        if value.utcoffset() is None:
            message = f"a {cls.__name__} without UTC offset has no JSON form; give it a tzinfo that has one"
            raise ValueError(message)
        if not rfc3339().fullmatch(text):
            message = f"{text} is not as RFC 3339 has it: its UTC offset has seconds"
            raise ValueError(message)
        return text

    return trusted_leaf(cls, schema, decode, encode, written)


def date_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a date as RFC 3339 says."""
    full_date = re.compile(_FULL_DATE, re.ASCII)

    def decode(text: str) -> Any:
        if not full_date.fullmatch(text):
            message = "write a date as in 2026-01-31"
            raise ValueError(message)
        return cls.fromisoformat(text)

    def encode(day: Any) -> str:
        text: str = day.isoformat()
        if not full_date.fullmatch(text):
            message = "a datetime is more than a date"
            raise ValueError(message)
        return text

    schema = {"type": "string", "format": "date"}
    return trusted_leaf(cls, schema, decode, encode, cls(2026, 1, 31))


# The format "duration" (RFC 3339, appendix A) has neither sign nor fractions, and years and months
# are no fixed time: so a pattern of its own, without lookahead, which not every reader of patterns has.
_DURATION = (
    r"^-?P([0-9]+[WD]|([0-9]+D)?T(([0-9]+H)?([0-9]+M)?[0-9]+(\.[0-9]{1,6})?S|([0-9]+H)?[0-9]+M|[0-9]+H))$"
)
_DURATION_PART = r"([0-9]+)(?:\.([0-9]+))?([A-Z])"
_UNITS = {"W": "weeks", "D": "days", "H": "hours", "M": "minutes", "S": "seconds"}
_LONGEST_DURATION = 100
"""Characters that are looked at: far more than `timedelta.max` has."""


def timedelta_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a duration as ISO 8601 says, with a leading minus for a negative one."""
    duration = re.compile(_DURATION)
    part = re.compile(_DURATION_PART)

    def decode(text: str) -> Any:
        if not duration.fullmatch(text):
            message = "write days, hours, minutes and seconds as in P1DT2H30M4.5S, without years and months"
            raise ValueError(message)
        parts = part.findall(text) if len(text) <= _LONGEST_DURATION else ()
        sign = -1 if text[0] == "-" else 1
        amounts = {_UNITS[unit]: sign * int(number) for number, _, unit in parts}
        fraction = parts[-1][1] if parts else ""
        try:
            if amounts:
                return cls(**amounts, microseconds=sign * int(fraction.ljust(6, "0")))
        except OverflowError:
            pass
        message = "a duration has at most 999999999 days"
        raise ValueError(message)

    def encode(span: Any) -> str:
        if cls(span.days, span.seconds, span.microseconds) != span:
            message = "it is finer than microseconds"
            raise ValueError(message)
        return _write_duration(span)

    schema = {"type": "string", "pattern": _DURATION, "description": "ISO 8601 duration"}
    return trusted_leaf(cls, schema, decode, encode, cls(hours=1, minutes=30))


def _write_duration(span: Any) -> str:
    size = abs(span)
    hours, rest = divmod(size.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{size.microseconds:06d}".rstrip("0").rstrip(".")
    amounts = ((hours, "", "H"), (minutes, "", "M"), (seconds, fraction, "S"))
    clock = "".join([f"{number}{dot}{unit}" for number, dot, unit in amounts if number or dot])
    days = f"{size.days}D" if size.days else ""
    if not clock and not days:
        return "PT0S"
    sign = "-" if span.days < 0 else ""
    return f"{sign}P{days}T{clock}" if clock else f"{sign}P{days}"


# Names of the IANA database ("America/Argentina/Ushuaia"). ZoneInfo imports a package for each part
# of a name where it takes the database from `tzdata`: nothing else may get that far.
_ZONE = r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,3}"

# A time zone file (RFC 8536) of UTC alone, so that the placeholder needs no database.
_UTC_FILE = b"TZif" + bytes(16 + 16) + b"\0\0\0\1\0\0\0\4" + bytes(6) + b"UTC\0"


def zone_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a time zone as its name in the IANA database."""
    zone_name = re.compile(_ZONE)

    def decode(key: str) -> Any:
        try:
            if zone_name.fullmatch(key):
                return cls(key)
        # What an unknown name raises depends on Python's version and on where the database lies.
        except (LookupError, OSError, ImportError, ValueError):
            pass
        message = f"there is no time zone {quote(key)}; write an IANA name such as Europe/Paris"
        raise ValueError(message)

    def encode(zone: Any) -> str:
        key: str | None = zone.key
        if key is None or not zone_name.fullmatch(key):
            message = "only a time zone of the IANA database has a JSON form: its name"
            raise ValueError(message)
        return key

    schema = {"type": "string", "description": "IANA time zone name"}
    return trusted_leaf(cls, schema, decode, encode, cls.from_file(io.BytesIO(_UTC_FILE), key="UTC"))
