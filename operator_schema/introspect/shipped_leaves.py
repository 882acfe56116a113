"""This package's leaves for types of the standard library.

A leaf takes everything that it needs from the module that defines its type, so that registration imports
nothing that the user hasn't imported. Patterns are compiled when their leaf is made: most programs never need
most of them.
"""

from __future__ import annotations

import io
import os
import re
import sys
from functools import cache, partial
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Final

from ..message_text import quote
from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .leaves import SchemaLeaf

__all__ = ["shipped_leaf", "write_base64"]


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


def _faithful(decode: Callable[[str], Any], write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return an encoder that refuses a value if its text would decode to another value."""

    def encode(value: Any) -> str:
        text = write(value)
        if decode(text) != value:
            message = f"its text {text} is read as another value"
            raise ValueError(message)
        return text

    return encode


_BAD_IN_URL = r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]"
_NEEDS_HOST = frozenset({"http", "https", "ws", "wss", "ftp"})


def _url_leaf(cls: Any) -> SchemaLeaf[Any]:
    name = "urlsplit" if cls.__name__ == "SplitResult" else "urlparse"
    split: Callable[[str], Any] = vars(sys.modules[cls.__module__])[name]
    bad_in_url = re.compile(_BAD_IN_URL)

    def decode(text: str) -> Any:
        if bad_in_url.search(text):
            message = "a URL has no spaces or control characters; write them as %XX"
            raise ValueError(message)
        parts = split(text)
        _check_absolute(parts)
        return parts

    encode = _faithful(decode, _write_url)
    return trusted_leaf(cls, {"type": "string"}, decode, encode, split("https://example.com/"))


def _write_url(url: Any) -> str:
    # `geturl` of the older Pythons turns "sip:a@b.c" into "sip:///a@b.c" and "file:////a" into "file://a".
    path = str(url.path or "")
    has_root = path.startswith("//") or (url.scheme == "file" and path.startswith("/"))
    opening = f"//{url.netloc or ''}" if url.netloc or has_root else ""
    tail = ((";", getattr(url, "params", "")), ("?", url.query), ("#", url.fragment))
    return f"{url.scheme}:{opening}{path}" + "".join([mark + part for mark, part in tail if part])


def _check_absolute(parts: Any) -> None:
    # In "example.com:8080/p" the host is read as a scheme; no registered scheme looks like that.
    if not parts.scheme or "." in parts.scheme or parts.scheme == "localhost":
        message = "an absolute URL starts with its scheme, such as https://"
        raise ValueError(message)
    host = parts.netloc
    if host and ":" not in host and "@" not in host and "[" not in host:
        return  # the host alone: no need to look for its parts, which takes most of the time
    if parts.scheme in _NEEDS_HOST and not parts.hostname:
        message = f"a URL with the scheme {parts.scheme} needs a host, as in {parts.scheme}://example.com"
        raise ValueError(message)
    if not (parts.netloc or parts.path):
        message = "nothing follows the scheme"
        raise ValueError(message)
    _ = parts.port  # raises ValueError for a port that is not a number up to 65535


_NOT_IN_PATH = r"[\x00\ud800-\udfff]"


def _path_leaf(cls: Any) -> SchemaLeaf[Any]:
    not_in_path = re.compile(_NOT_IN_PATH)

    def decode(text: str) -> Any:
        if not text or not_in_path.search(text):
            message = "a path can't be empty or contain NUL or lone surrogates, as in docs/report.txt"
            raise ValueError(message)
        path = cls(text)
        if cls(str(path)) != path:  # "./c:d" on Windows, where "c:d" is on drive C
            message = f"it would be shortened to {path}, which is another path"
            raise ValueError(message)
        return path

    encode = _faithful(decode, cls.__str__)
    return trusted_leaf(cls, {"type": "string"}, decode, encode, cls("docs/report.txt"))


_INTERNET = {
    "IPv4Address": ({"format": "ipv4"}, "an IPv4 address", "192.0.2.1"),
    "IPv6Address": ({"format": "ipv6"}, "an IPv6 address", "2001:db8::1"),
    "IPv4Network": ({"description": "IPv4 network"}, "an IPv4 network, its host bits 0,", "192.0.2.0/24"),
    "IPv6Network": ({"description": "IPv6 network"}, "an IPv6 network, its host bits 0,", "2001:db8::/32"),
    "IPv4Interface": (
        {"description": "IPv4 address and prefix length"},
        "an IPv4 address and its prefix length",
        "192.0.2.1/24",
    ),
    "IPv6Interface": (
        {"description": "IPv6 address and prefix length"},
        "an IPv6 address and its prefix length",
        "2001:db8::1/32",
    ),
}
"""By name of the class: a text for the schema, the kind of value, and a sample."""


def _internet_leaf(cls: Any) -> SchemaLeaf[Any]:
    keywords, what, sample = _INTERNET[cls.__name__]
    hint = f"write {what} as in {sample}"

    def decode(text: str) -> Any:
        if "%" in text:
            message = f"{hint}, without a scope id after %"
            raise ValueError(message)
        try:
            return cls(text)
        except ValueError:
            raise ValueError(hint) from None

    encode = _faithful(decode, cls.__str__)
    return trusted_leaf(cls, {"type": "string", **keywords}, decode, encode, cls(sample))


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


_DECIMAL = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_MOST_DIGITS = 4300
_MOST_BITS = 14285  # of an integer of so many digits
_LARGEST_EXPONENT = 6144
"""The limit of decimal128 (IEEE 754). Without a bound, `int(Decimal("1e999999999"))` would never end."""


def _decimal_leaf(cls: Any) -> SchemaLeaf[Any]:
    notation = re.compile(_DECIMAL)

    def decode(value: str | float) -> Any:
        number: Any = None
        if isinstance(value, int):
            number = cls(value) if value.bit_length() <= _MOST_BITS else None
        else:
            text = value if isinstance(value, str) else getattr(value, "text", None) or float.__repr__(value)
            if not notation.fullmatch(text):
                message = "write a finite decimal number as in 12.50 or 1.25e+3"
                raise ValueError(message)
            number = _make_decimal(cls, text)
        if number is None or not _is_bounded(number):
            message = (
                f"a decimal number has at most {_MOST_DIGITS} digits"
                f" and an exponent between -{_LARGEST_EXPONENT} and {_LARGEST_EXPONENT}"
            )
            raise ValueError(message)
        return number

    schema = {"type": ["string", "number"], "pattern": _DECIMAL}
    return trusted_leaf(cls, schema, decode, _faithful(decode, cls.__str__), cls("12.50"))


def _make_decimal(cls: Any, text: str) -> Any:
    try:
        return cls(text)
    except ArithmeticError:  # decimal.InvalidOperation: the exponent is beyond what decimal itself takes
        return None


def _is_bounded(number: Any) -> bool:
    # NaN and infinity, which `decimal` gives for the largest exponents where a context traps
    # nothing, have a letter for an exponent.
    _, digits, exponent = number.as_tuple()
    return isinstance(exponent, int) and len(digits) <= _MOST_DIGITS and abs(exponent) <= _LARGEST_EXPONENT


def _bytes_leaf(cls: Any) -> SchemaLeaf[Any]:
    def decode(text: str) -> Any:
        try:
            data = _binascii().a2b_base64(text, strict_mode=True)
        except ValueError:
            data = None
        # RFC 4648, section 3.5: bits that the padding leaves over are zero, so that the same
        # bytes are always the same text.
        if data is None or text != write_base64(data):
            message = "write base64 with its padding and without line breaks, as in aGVsbG8="
            raise ValueError(message)
        return data

    schema = {"type": "string", "contentEncoding": "base64"}
    return trusted_leaf(cls, schema, decode, write_base64, b"hello")


def _binascii() -> Any:
    import binascii

    return binascii


def write_base64(data: bytes) -> str:
    """Return the base64 of data (RFC 4648, section 4), with its padding and without line breaks."""
    text: str = _binascii().b2a_base64(data, newline=False).decode("ascii")
    return text


_SURROGATE = r"[\ud800-\udfff]"


def _pattern_leaf(cls: Any) -> SchemaLeaf[Any]:
    surrogate = re.compile(_SURROGATE)

    def decode(text: str) -> Any:
        try:
            if not surrogate.search(text):
                return re.compile(text)
            reason = "it has a lone surrogate"
        # FutureWarning is raised where warnings are errors.
        except (re.error, ArithmeticError, RecursionError, ValueError, Warning) as error:
            reason = str(error)
        message = f"it isn't a Python regular expression: {reason}"
        raise ValueError(message)

    def encode(pattern: Any) -> str:
        text = pattern.pattern
        if not isinstance(text, str):
            message = "a pattern of bytes has no JSON form"
            raise ValueError(message)  # noqa: TRY004  # becomes a problem
        if decode(text) != pattern:
            message = "its flags have no JSON form; write them into the pattern, as in (?i)"
            raise ValueError(message)
        return text

    schema = {"type": "string", "description": "Python regular expression"}
    return trusted_leaf(cls, schema, decode, encode, re.compile("^[a-z]+$"))


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


class _ClockWords:
    """The texts in the schema and the messages of a leaf with a UTC offset.

    Attributes:
        format: the `format` of JSON Schema.
        what: the parts of a value.
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


# The format "duration" (RFC 3339, appendix A) has neither sign nor fractions, and years and months
# have no fixed length: hence a pattern, without lookahead, which some pattern engines lack.
_DURATION = (
    r"^-?P([0-9]+[WD]|([0-9]+D)?T(([0-9]+H)?([0-9]+M)?[0-9]+(\.[0-9]{1,6})?S|([0-9]+H)?[0-9]+M|[0-9]+H))$"
)
_DURATION_DESCRIPTION = "ISO 8601 duration without years or months, such as P1DT2H30M"
_DURATION_PART = r"([0-9]+)(?:\.([0-9]+))?([A-Z])"
_UNITS = {"W": "weeks", "D": "days", "H": "hours", "M": "minutes", "S": "seconds"}
_LONGEST_DURATION = 100
"""The most characters that are read: far more than `timedelta.max` has."""


def _timedelta_leaf(cls: Any) -> SchemaLeaf[Any]:
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
            message = "it is more precise than microseconds"
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


def _zone_leaf(cls: Any) -> SchemaLeaf[Any]:
    zone_name = re.compile(_ZONE)

    def decode(key: str) -> Any:
        try:
            if zone_name.fullmatch(key):
                return cls(key)
        # The exception for an unknown name depends on Python's version and on the place of the database.
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


_PATHS = (
    "PurePath",
    "PurePosixPath",
    "PureWindowsPath",
    "Path",
    "WindowsPath" if os.name == "nt" else "PosixPath",
)

_IN_ORDER: tuple[tuple[Callable[[Any], SchemaLeaf[Any]], str, tuple[str, ...]], ...] = (
    (_uuid_leaf, "uuid", ("UUID",)),
    (_datetime_leaf, "datetime", ("datetime",)),
    (_date_leaf, "datetime", ("date",)),
    (_time_leaf, "datetime", ("time",)),
    (_timedelta_leaf, "datetime", ("timedelta",)),
    *[(_internet_leaf, "ipaddress", (name,)) for name in _INTERNET],
    (_decimal_leaf, "decimal", ("Decimal",)),
    (_url_leaf, "urllib.parse", ("SplitResult", "ParseResult")),
    (_zone_leaf, "zoneinfo", ("ZoneInfo",)),
    (_bytes_leaf, "builtins", ("bytes",)),
    (_pattern_leaf, "re", ("Pattern",)),
    (_path_leaf, "pathlib", _PATHS),
    (_path_leaf, "pathlib._local", _PATHS),  # Python 3.13
)
"""The function that makes a leaf, and the types that it is for. Unions try the leaves in this order, the most
specific first. Types in one row read the same texts, so a union can't have two of them.
"""

_SHIPPED = {
    (module, name): (rank, make) for rank, (make, module, names) in enumerate(_IN_ORDER, 1) for name in names
}
