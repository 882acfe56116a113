"""The leaves that this package has for types of the standard library.

Everything that a leaf needs is taken from the module that defines its type, so that registration
imports nothing that the user hasn't imported. Patterns are compiled when their leaf is made: most
programs never need most of them.
"""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from .leaves import trusted_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from .leaves import SchemaLeaf

__all__ = ["shipped_leaf"]


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
    """Return an encoder that refuses what its own text would not give back."""

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
        message = f"a URL of scheme {parts.scheme} names a host, as in {parts.scheme}://example.com"
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
            message = "a path isn't empty and has neither NUL nor lone surrogates, as in docs/report.txt"
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
"""By name: what the schema says, what the type is, and a sample."""


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
        # With a hyphen after every two bytes, the first and the last two of which are too many.
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
"""That of decimal128 (IEEE 754). Without a bound, `int(Decimal("1e999999999"))` would never end."""


def _decimal_leaf(cls: Any) -> SchemaLeaf[Any]:
    notation = re.compile(_DECIMAL)

    def decode(value: str | float) -> Any:
        number: Any = None
        if isinstance(value, int):
            number = cls(value) if value.bit_length() <= _MOST_BITS else None
        else:
            text = value if isinstance(value, str) else float.__repr__(value)
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
        import binascii

        try:
            data = binascii.a2b_base64(text, strict_mode=True)
        except ValueError:
            data = None
        # RFC 4648, section 3.5: bits that the padding leaves over are zero, so that the same
        # bytes are always the same text.
        if data is None or text != _write_base64(data):
            message = "write base64 with its padding and without line breaks, as in aGVsbG8="
            raise ValueError(message)
        return data

    schema = {"type": "string", "contentEncoding": "base64"}
    return trusted_leaf(cls, schema, decode, _write_base64, b"hello")


def _write_base64(data: bytes) -> str:
    import binascii

    return binascii.b2a_base64(data, newline=False).decode("ascii")


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


def _of_datetimes(name: str, cls: Any) -> SchemaLeaf[Any]:
    from . import datetime_leaves  # many programs have none

    leaf: SchemaLeaf[Any] = getattr(datetime_leaves, name)(cls)
    return leaf


_PATHS = (
    "PurePath",
    "PurePosixPath",
    "PureWindowsPath",
    "Path",
    "WindowsPath" if os.name == "nt" else "PosixPath",
)

_IN_ORDER: tuple[tuple[Callable[[Any], SchemaLeaf[Any]], str, tuple[str, ...]], ...] = (
    (_uuid_leaf, "uuid", ("UUID",)),
    (partial(_of_datetimes, "datetime_leaf"), "datetime", ("datetime",)),
    (partial(_of_datetimes, "date_leaf"), "datetime", ("date",)),
    (partial(_of_datetimes, "time_leaf"), "datetime", ("time",)),
    (partial(_of_datetimes, "timedelta_leaf"), "datetime", ("timedelta",)),
    *[(_internet_leaf, "ipaddress", (name,)) for name in _INTERNET],
    (_decimal_leaf, "decimal", ("Decimal",)),
    (_url_leaf, "urllib.parse", ("SplitResult", "ParseResult")),
    (partial(_of_datetimes, "zone_leaf"), "zoneinfo", ("ZoneInfo",)),
    (_bytes_leaf, "builtins", ("bytes",)),
    (_pattern_leaf, "re", ("Pattern",)),
    (_path_leaf, "pathlib", _PATHS),
    (_path_leaf, "pathlib._local", _PATHS),  # Python 3.13
)
"""What makes the leaf, and the types that it is for: the most particular first, as unions try them.

Types of one row read the same texts, so that a union can't have two of them.
"""

_SHIPPED = {
    (module, name): (rank, make) for rank, (make, module, names) in enumerate(_IN_ORDER, 1) for name in names
}
