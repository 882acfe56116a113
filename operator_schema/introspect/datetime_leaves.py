"""Leaves for datetimes, dates, times, durations and time zones."""

from __future__ import annotations

import io
import re
from functools import cache, partial
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Final

from ..wording import quote
from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from .leaves import SchemaLeaf

__all__ = ["date_leaf", "datetime_leaf", "time_leaf", "timedelta_leaf", "zone_leaf"]

# RFC 3339, section 5.6. It is stricter than ISO 8601 and than `fromisoformat`, and it is what the
# formats in the schema promise; its `T` and `Z` may be in lower case. A datetime can't hold leap
# seconds. Digits of a second past the sixth are dropped, as `fromisoformat` does, because other
# languages write nine.
_FULL_DATE = r"\d{4}-\d\d-\d\d"
_PARTIAL_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?"
_FULL_TIME = rf"{_PARTIAL_TIME}([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
_WITHOUT_OFFSET = rf"({_FULL_DATE}[Tt ])?\d\d:\d\d(:\d\d(\.\d+)?)?"


def datetime_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a datetime as RFC 3339 says, with its UTC offset."""
    leaf = _clock_leaf(cls, rf"{_FULL_DATE}[Tt]{_FULL_TIME}", _DATETIME)
    encode = _datetime_writer(cls, leaf.placeholder.tzinfo.__class__, leaf.encode)
    return trusted_leaf(cls, leaf.json_schema, leaf.decode, encode, leaf.placeholder)


def time_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Read and write a time of day as RFC 3339 says, with its UTC offset."""
    return _clock_leaf(cls, _FULL_TIME, _TIME)


class _ClockWords:
    """What the schema and the messages of a leaf with a UTC offset say.

    Attributes:
        format: of JSON Schema.
        what: the parts that a value has.
        sample: a value, without its offset.
        local: the public name of the leaf for values without an offset.
    """

    __slots__ = ("format", "local", "sample", "what")

    def __init__(self, format: str, what: str, sample: str, local: str) -> None:  # noqa: A002  # the keyword of JSON Schema
        self.format, self.what, self.sample, self.local = format, what, sample, local

    @property
    def schema(self) -> dict[str, Any]:
        description = f"{self.what}, such as {self.sample}+01:00"
        return {"type": "string", "format": self.format, "description": description}

    def refuse(self, text: str) -> ValueError:
        """Return the error for a text that isn't as RFC 3339 has it."""
        forms = f"{self.sample}+01:00 or {self.sample}Z"
        if re.fullmatch(_WITHOUT_OFFSET, text, re.ASCII):
            return ValueError(
                f"it has no UTC offset; write one, as in {forms} (a tool that wants local times"
                f" declares {self.local})"
            )
        return ValueError(f"write {self.what} as in {forms}")


_DATETIME: Final = _ClockWords(
    "date-time", "date, time and UTC offset", "2026-01-31T09:30:00", "LocalDateTime"
)
_TIME: Final = _ClockWords("time", "time and UTC offset", "09:30:00", "LocalTime")
_UTC: Final = "+00:00"
_LEAST_YEAR = 1000
_MOST_OFFSETS = 100


def _datetime_writer(cls: Any, fixed: type, write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return what writes usual datetimes in less than half the time that `isoformat` takes.

    Args:
        cls: of the datetimes.
        fixed: the class of time zones with a fixed offset.
        write: writes any datetime, or refuses it.
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


# A datetime without fraction, by each third of its characters from the fifth on: what separates its
# digits. And the length that it has then.
_USUAL_SEPARATORS = {"--T::Z": 20, "--T::+:": 25, "--T::-:": 25}


def _clock_leaf(cls: Any, pattern: str, words: _ClockWords) -> SchemaLeaf[Any]:
    # Compiling it takes longer than registering most types, and usual datetimes don't need it.
    rfc3339 = cache(partial(re.compile, pattern, re.ASCII))
    parse = cls.fromisoformat
    sample = words.sample + _UTC
    placeholder = parse(sample)
    # Only the one in C takes no digits but those of ASCII.
    usual = _USUAL_SEPARATORS if isinstance(parse, BuiltinMethodType) and "T" in sample else {}
    lengths = {len(sample), len(sample) + len(".123456")}

    def decode(text: str) -> Any:
        # A third of the time that the pattern takes. `parse` checks the digits and their ranges,
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
            raise words.refuse(text)
        return parse(text.upper())

    def encode(value: Any) -> str:
        text: str = value.isoformat()
        # Without UTC offset it is shorter, with seconds in its offset longer.
        if len(text) in lengths and value.__class__ is cls:
            return text
        if value.utcoffset() is None:
            message = (
                f"a {cls.__name__} without a UTC offset doesn't fit {words.format};"
                f" give it a tzinfo that has one, or declare {words.local}"
            )
            raise ValueError(message)
        if not rfc3339().fullmatch(text):
            message = f"{text} isn't RFC 3339: its UTC offset has seconds"
            raise ValueError(message)
        return text

    return trusted_leaf(cls, words.schema, decode, encode, placeholder)


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
            message = "it is a datetime, which is more than a date; call its date()"
            raise ValueError(message)
        return text

    schema = {"type": "string", "format": "date", "description": "date, such as 2026-01-31"}
    return trusted_leaf(cls, schema, decode, encode, cls(2026, 1, 31))


# The format "duration" (RFC 3339, appendix A) has neither sign nor fractions, and years and months
# have no fixed length: hence a pattern, without lookahead, which some pattern engines lack.
_DURATION = (
    r"^-?P([0-9]+[WD]|([0-9]+D)?T(([0-9]+H)?([0-9]+M)?[0-9]+(\.[0-9]{1,6})?S|([0-9]+H)?[0-9]+M|[0-9]+H))$"
)
_DURATION_DESCRIPTION = "ISO 8601 duration without years or months, such as P1DT2H30M"
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
            message = "write days, hours, minutes and seconds as in P1DT2H30M4.5S, without years or months"
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

    schema = {"type": "string", "pattern": _DURATION, "description": _DURATION_DESCRIPTION}
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
