"""How are durations, decimals, addresses, paths and other rare types of the standard library read?

`shipped_leaves` has the table of all leaves, and those of identifiers, dates and times.
"""

from __future__ import annotations

import io
import re
import sys
from typing import TYPE_CHECKING, Any

from ..message_text import quote
from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from .leaves import SchemaLeaf


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


def url_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of a URL that `urllib.parse` has split."""
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


def path_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of a path of `pathlib`."""
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


def internet_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of an address, a network or an interface of `ipaddress`."""
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


_DECIMAL = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"

_MOST_DIGITS = 4300


_MOST_BITS = 14285  # of an integer of so many digits

_LARGEST_EXPONENT = 6144
"""The limit of decimal128 (IEEE 754). Without a bound, `int(Decimal("1e999999999"))` would never end."""


def decimal_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of `Decimal`."""
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


def bytes_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of bytes, in base64."""

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


def pattern_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of a regular expression."""
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


def timedelta_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of `timedelta`, as a duration of ISO 8601."""
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


def zone_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of `ZoneInfo`."""
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
