"""Which types of the standard library have a leaf? The table, and the leaves of UUIDs, dates and times.

A leaf takes everything that it needs from the module that defines its type, so that registration imports
nothing that the user hasn't imported. Patterns are compiled when their leaf is made: most programs never need
most of them.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache, partial
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Final

from ..immutable import Value
from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .leaves import SchemaLeaf


def shipped_leaf(cls: type) -> SchemaLeaf[Any] | None:
    """Return this package's own leaf for a type of the standard library, recognised by module and name."""
    known = _made.get(cls)
    if known is not None:
        return known
    row = _SHIPPED.get((cls.__module__, cls.__qualname__))
    if row is None or getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is not cls:
        return None
    rank, make = row
    leaf = make(cls)
    ranked = trusted_leaf(cls, leaf.json_schema, leaf.decode, leaf.encode, leaf.placeholder, rank)
    return _made.setdefault(cls, ranked)


_made: dict[type, SchemaLeaf[Any]] = {}


def _uuid_leaf(cls: Any) -> SchemaLeaf[Any]:
    # Past an `__init__` that takes longer than all the rest.
    new, set_number, set_safety = object.__new__, cls.int.__set__, cls.is_safe.__set__
    unknown = vars(sys.modules[cls.__module__])["SafeUUID"].unknown
    from_hex, from_bytes = bytes.fromhex, int.from_bytes

    def decode(text: str) -> Any:
        if len(text) == _UUID_LENGTH and text[8:24:5] == "----":
            try:
                data = from_hex(text.replace("-", ""))
            except ValueError:
                data = b""
            # Less where there are more hyphens, or spaces, which `fromhex` passes over.
            if len(data) == _UUID_BYTES:
                made = new(cls)
                set_number(made, from_bytes(data, "big"))
                set_safety(made, unknown)
                return made
        message = (
            "a UUID has 32 hexadecimal digits in five groups with hyphens between them,"
            " as in 12345678-1234-5678-1234-567812345678"
        )
        raise ValueError(message)

    def encode(value: Any) -> str:
        if value.__class__ is not cls:
            return cls.__str__(value)  # type: ignore[no-any-return]  # of a UUID
        # With a hyphen after every two bytes; the first and the last two hyphens are too many.
        digits = value.int.to_bytes(_UUID_BYTES, "big").hex("-", 2)
        return f"{digits[:4]}{digits[5:29]}{digits[30:34]}{digits[35:]}"

    schema = {"type": "string", "format": "uuid", "description": "UUID string"}
    placeholder = cls("12345678-1234-5678-1234-567812345678")
    return trusted_leaf(cls, schema, decode, encode, placeholder)


_UUID_LENGTH = 36
_UUID_BYTES = 16


# RFC 3339, section 5.6. It is stricter than ISO 8601 and than `fromisoformat`, and it is what the
# formats in the schema promise; its `T` and `Z` may be in lower case. A datetime can't hold leap
# seconds. Digits of a second past the sixth are dropped, as `fromisoformat` does, because other
# languages write nine.
_FULL_DATE = r"\d{4}-\d\d-\d\d"
_PARTIAL_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?"
_FULL_TIME = rf"{_PARTIAL_TIME}([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
_WITHOUT_OFFSET = rf"({_FULL_DATE}[Tt ])?\d\d:\d\d(:\d\d(\.\d+)?)?"


def _datetime_leaf(cls: Any) -> SchemaLeaf[Any]:
    leaf = _clock_leaf(cls, rf"{_FULL_DATE}[Tt]{_FULL_TIME}", _DATETIME)
    encode = _datetime_writer(cls, leaf.placeholder.tzinfo.__class__, leaf.encode)
    return trusted_leaf(cls, leaf.json_schema, leaf.decode, encode, leaf.placeholder)


def _time_leaf(cls: Any) -> SchemaLeaf[Any]:
    return _clock_leaf(cls, _FULL_TIME, _TIME)


class _ClockWords(Value):
    """The texts in the schema and the messages of a leaf with a UTC offset.

    Attributes:
        format: the `format` of JSON Schema.
        what: the parts of a value.
        sample: a value, without its offset.
        local: the public name of the leaf for values without an offset.
    """

    format: str
    what: str
    sample: str
    local: str

    @property
    def schema(self) -> dict[str, Any]:
        description = f"{self.what}, such as {self.sample}+01:00"
        return {"type": "string", "format": self.format, "description": description}

    def refuse(self, text: str) -> ValueError:
        """Return the error for a text that doesn't follow RFC 3339."""
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
    """Return a function that writes usual datetimes in less than half the time of `isoformat`.

    Args:
        cls: the class of the datetimes.
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
    sample = words.sample + _UTC
    decode = _clock_decoder(cls.fromisoformat, sample, rfc3339, words)
    encode = _clock_encoder(cls, {len(sample), len(sample) + len(".123456")}, rfc3339, words)
    return trusted_leaf(cls, words.schema, decode, encode, cls.fromisoformat(sample))


def _clock_decoder(
    parse: Callable[[str], Any], sample: str, rfc3339: Callable[[], re.Pattern[str]], words: _ClockWords
) -> Callable[[str], Any]:
    # Only the one in C takes no digits but those of ASCII.
    usual = _USUAL_SEPARATORS if isinstance(parse, BuiltinMethodType) and "T" in sample else {}

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

    return decode


def _clock_encoder(
    cls: Any, lengths: Collection[int], rfc3339: Callable[[], re.Pattern[str]], words: _ClockWords
) -> Callable[[Any], str]:
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

    return encode


def _date_leaf(cls: Any) -> SchemaLeaf[Any]:
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


_PATHS = (
    "PurePath",
    "PurePosixPath",
    "PureWindowsPath",
    "Path",
    "WindowsPath" if os.name == "nt" else "PosixPath",
)

_INTERNET = tuple(
    [f"IPv{version}{kind}" for version in (4, 6) for kind in ("Address", "Network", "Interface")]
)


def _other(name: str) -> Callable[[Any], SchemaLeaf[Any]]:
    """Return the function of `other_leaves` with a name; calling it imports them."""

    def make(cls: Any) -> SchemaLeaf[Any]:
        from . import other_leaves

        leaf: SchemaLeaf[Any] = getattr(other_leaves, name)(cls)
        return leaf

    return make


_IN_ORDER: tuple[tuple[Callable[[Any], SchemaLeaf[Any]], str, tuple[str, ...]], ...] = (
    (_uuid_leaf, "uuid", ("UUID",)),
    (_datetime_leaf, "datetime", ("datetime",)),
    (_date_leaf, "datetime", ("date",)),
    (_time_leaf, "datetime", ("time",)),
    (_other("timedelta_leaf"), "datetime", ("timedelta",)),
    *[(_other("internet_leaf"), "ipaddress", (name,)) for name in _INTERNET],
    (_other("decimal_leaf"), "decimal", ("Decimal",)),
    (_other("url_leaf"), "urllib.parse", ("SplitResult", "ParseResult")),
    (_other("zone_leaf"), "zoneinfo", ("ZoneInfo",)),
    (_other("bytes_leaf"), "builtins", ("bytes",)),
    (_other("pattern_leaf"), "re", ("Pattern",)),
    (_other("path_leaf"), "pathlib", _PATHS),
    (_other("path_leaf"), "pathlib._local", _PATHS),  # Python 3.13
)
"""The function that makes a leaf, and the types that it is for. Unions try the leaves in this order, the most
specific first. Types in one row read the same texts, so a union can't have two of them.
"""

_SHIPPED = {
    (module, name): (rank, make) for rank, (make, module, names) in enumerate(_IN_ORDER, 1) for name in names
}
