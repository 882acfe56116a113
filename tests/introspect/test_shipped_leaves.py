"""The shipped leaves: what each takes and refuses, by value and under two independent judges."""

from __future__ import annotations

import decimal
import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import ParseResult, SplitResult, urlparse, urlsplit
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from judge import validator

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf, decode
from operator_schema.engine import shipped_leaf
from operator_schema.immutable import content_of
from operator_schema.introspect.other_leaves import _UTC_FILE, zone_leaf
from operator_schema.types import URL

CONCRETE_PATH = pathlib.WindowsPath if os.name == "nt" else pathlib.PosixPath
needs_processes = pytest.mark.skipif(
    sys.platform == "emscripten", reason="no processes in the browser's Python"
)

DURATION = (
    r"^-?P([0-9]+[WD]|([0-9]+D)?T(([0-9]+H)?([0-9]+M)?[0-9]+(\.[0-9]{1,6})?S|([0-9]+H)?[0-9]+M|[0-9]+H))$"
)
STRING = {"type": "string"}
SCHEMAS = {
    SplitResult: STRING,
    ParseResult: STRING,
    datetime: {
        **STRING,
        "format": "date-time",
        "description": "date, time and UTC offset, such as 2026-01-31T09:30:00+01:00",
    },
    date: {**STRING, "format": "date", "description": "date, such as 2026-01-31"},
    time: {**STRING, "format": "time", "description": "time and UTC offset, such as 09:30:00+01:00"},
    timedelta: {
        **STRING,
        "pattern": DURATION,
        "description": "ISO 8601 duration without years or months, such as P1DT2H30M",
    },
    ZoneInfo: {**STRING, "description": "IANA time zone name"},
    UUID: {**STRING, "format": "uuid", "description": "UUID string"},
    Decimal: {"type": ["string", "number"], "pattern": r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"},
    bytes: {**STRING, "contentEncoding": "base64"},
    re.Pattern: {**STRING, "description": "Python regular expression"},
    PurePath: STRING,
    PurePosixPath: STRING,
    PureWindowsPath: STRING,
    Path: STRING,
    CONCRETE_PATH: STRING,
    IPv4Address: {**STRING, "format": "ipv4"},
    IPv6Address: {**STRING, "format": "ipv6"},
    IPv4Network: {**STRING, "description": "IPv4 network"},
    IPv6Network: {**STRING, "description": "IPv6 network"},
    IPv4Interface: {**STRING, "description": "IPv4 address and prefix length"},
    IPv6Interface: {**STRING, "description": "IPv6 address and prefix length"},
}
SHIPPED = list(SCHEMAS)
every_leaf = pytest.mark.parametrize("cls", SHIPPED, ids=lambda cls: cls.__name__)

OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
URLS = [
    "https://user@example.com:8080/a;p?b=c#d",
    "http://[2001:db8::1]/",
    "file:///etc/hosts",
    "file:////server/share",
    "mailto:a@example.com",
    "sip:a@example.com",
    "urn:isbn:0451450523",
    "x://h//y",
]
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
PATTERNS = ["^a(b|c)*[x-z]{1,3}$", "(?i)a", "(?P<n>x)(?P=n)", r"\d+\.\w", "(?<=a)b", "(?x) a  # c", ""]


def paths(cls: Any) -> st.SearchStrategy[Any]:
    # Before Python 3.12 PureWindowsPath("./a:b") forgets its dot and can't be written.
    return (NAMES | st.lists(NAMES, min_size=1).map("/".join)).map(cls).filter(lambda p: cls(str(p)) == p)


VALUES: dict[Any, st.SearchStrategy[Any]] = {
    SplitResult: st.sampled_from(URLS).map(urlsplit),
    ParseResult: st.sampled_from(URLS).map(urlparse),
    datetime: st.datetimes(timezones=OFFSETS),
    date: st.dates(),
    time: st.times(timezones=OFFSETS),
    timedelta: st.timedeltas(),
    ZoneInfo: st.sampled_from(["UTC", "Europe/Paris", "Etc/GMT+1", "America/Argentina/Ushuaia"]).map(
        ZoneInfo
    ),
    UUID: st.uuids(),
    Decimal: st.decimals(allow_nan=False, allow_infinity=False),
    bytes: st.binary(),
    re.Pattern: st.sampled_from(PATTERNS).map(re.compile) | NAMES.map(re.escape).map(re.compile),
    **{cls: paths(cls) for cls in (PurePath, PurePosixPath, PureWindowsPath, Path, CONCRETE_PATH)},
    IPv4Address: st.ip_addresses(v=4),
    IPv6Address: st.ip_addresses(v=6),
    IPv4Network: st.builds(lambda a, n: ip_network((a, n), False), st.ip_addresses(v=4), st.integers(0, 32)),
    IPv6Network: st.builds(lambda a, n: ip_network((a, n), False), st.ip_addresses(v=6), st.integers(0, 128)),
    IPv4Interface: st.builds(lambda a, n: ip_interface((a, n)), st.ip_addresses(v=4), st.integers(0, 32)),
    IPv6Interface: st.builds(lambda a, n: ip_interface((a, n)), st.ip_addresses(v=6), st.integers(0, 128)),
}

CHARACTERS = "0123456789+-.:TZPWDHMSeE/%\\ \nAaf\x00٣²é=_,;()[]{}?*|#\u2028"
PUT = [*CHARACTERS, *[""] * len(CHARACTERS)]
EDITS = st.lists(
    # Of one edit all is drawn at once: most of the time goes into drawing.
    st.integers(0, 200 * len(PUT) - 1).map(lambda n: (n // 2 // len(PUT), n % 2, PUT[n // 2 % len(PUT)])),
    max_size=3,
)


def near(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Return a text like a valid one, with some characters put in, left out or replaced."""
    for hundredth, left_out, put in edits:
        place = len(text) * hundredth // 99
        text = text[:place] + put + text[place + left_out :]
    return text


@cache
def codec_of(cls: Any) -> Codec[Any]:
    return Codec(cls)


@cache
def judge_of(cls: Any) -> Draft202012Validator:
    # A bare FormatChecker knows "time" as draft 3 had it.
    judge = validator(codec_of(cls).json_schema())
    return judge.evolve(format_checker=Draft202012Validator.FORMAT_CHECKER)


@cache
def judges_of(cls: Any) -> list[Any]:
    """Return two independent validators, or one where jsonschema_rs has no build for the platform."""
    try:
        import jsonschema_rs as rust
    except ImportError:
        return [judge_of(cls)]
    second = rust.Draft202012Validator(codec_of(cls).json_schema(), validate_formats=True)
    return [judge_of(cls), second]


@every_leaf
def test_schema(cls):
    assert Codec(cls).json_schema() == SCHEMAS[cls]


@every_leaf
def test_placeholder(cls):
    """A shipped leaf is as a user's own would have to be."""
    leaf = shipped_leaf(cls)
    assert SchemaLeaf(*content_of(leaf)) == leaf
    assert judge_of(cls).is_valid(leaf.encode(leaf.placeholder))
    assert shipped_leaf(cls) is leaf


@pytest.mark.slow("draws many values of each leaf")
@every_leaf  # nearly each has a decoder of its own, so they share few examples
@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_the_laws_of_each_leaf(cls, data):
    """What is written is read as it was, and what is read fits the schema: drawing takes most of the time."""
    value = data.draw(VALUES[cls])
    check_round_trip(cls, value)
    check_never_looser(cls, near(codec_of(cls).encode(value), data.draw(EDITS)))


def check_round_trip(cls, value):
    encoded = codec_of(cls).encode(value)
    assert all(judge.is_valid(encoded) for judge in judges_of(cls))
    decoded = codec_of(cls).decode_json(json.dumps(encoded))
    assert decoded == value
    assert type(decoded) is type(value)
    assert codec_of(cls).encode(decoded) == encoded


def check_never_looser(cls, text):
    """The decoder takes nothing that the schema refuses."""
    try:
        decoded = codec_of(cls).decode(text)
    except DecodeError:
        return
    assert all(judge.is_valid(text) for judge in judges_of(cls))
    encoded = codec_of(cls).encode(decoded)
    assert judge_of(cls).is_valid(encoded)
    assert codec_of(cls).decode(encoded) == decoded


@pytest.mark.slow("draws hundreds of durations")
@given(st.from_regex(DURATION.replace("0-9]+", "0-9]{1,4}")))
def test_every_duration_of_the_pattern_decodes(text):
    if text.endswith("\n"):  # `$` of Python's re stands before it
        assert codec_of(timedelta).report(text)
    else:
        assert type(codec_of(timedelta).decode(text)) is timedelta


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_as_decimals(number):
    decoded = codec_of(Decimal).decode(number)
    assert judge_of(Decimal).is_valid(number)
    assert decoded == number if isinstance(number, int) else decoded == Decimal(repr(number))
    assert codec_of(Decimal).decode(codec_of(Decimal).encode(decoded)) == decoded


@given(st.datetimes(timezones=OFFSETS), st.booleans())
def test_moments_with_a_fixed_offset_are_written_as_isoformat_writes_them(moment, whole):
    moment = moment.replace(microsecond=0) if whole else moment
    encode = codec_of(datetime).encode
    assert encode(moment) == encode(moment) == moment.isoformat()


def test_every_fixed_offset_is_written_as_it_is():
    for minutes in [*range(-1439, 1440), 0, 60]:
        moment = datetime(2026, 1, 31, 9, 30, tzinfo=timezone(timedelta(minutes=minutes), "named"))
        for year in (2026, 999, 1, 9999):
            assert (
                codec_of(datetime).encode(moment.replace(year=year)) == moment.replace(year=year).isoformat()
            )


@given(st.datetimes(timezones=st.timezones()))
def test_moments_of_every_zone(moment):
    """Offsets of whole minutes are written; those with seconds, as before 1900, are refused."""
    if moment.utcoffset() % timedelta(minutes=1):
        with pytest.raises(EncodeError, match="seconds"):
            codec_of(datetime).encode(moment)
    else:
        decoded = codec_of(datetime).decode(codec_of(datetime).encode(moment))
        assert decoded.replace(tzinfo=None) == moment.replace(tzinfo=None)
        assert decoded.utcoffset() == moment.utcoffset()


@pytest.mark.parametrize(
    ("cls", "given", "value"),
    [
        (datetime, "2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
        (datetime, "2026-01-31T09:30:00.25-05:00", datetime(2026, 1, 31, 14, 30, 0, 250000, tzinfo=UTC)),
        (datetime, "2026-01-31T09:30:00.123456789Z", datetime(2026, 1, 31, 9, 30, 0, 123456, tzinfo=UTC)),
        (
            datetime,
            "0001-01-01T00:00:00+23:59",
            datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23, minutes=59))),
        ),
        (
            datetime,
            "9999-12-31T23:59:59.999999-23:59",
            datetime.max.replace(tzinfo=timezone(-timedelta(hours=23, minutes=59))),
        ),
        (date, "2026-01-31", date(2026, 1, 31)),
        (time, "09:30:00Z", time(9, 30, tzinfo=UTC)),
        (time, "09:30:00.5+05:30", time(9, 30, 0, 500000, timezone(timedelta(hours=5, minutes=30)))),
        (time, "23:59:59.9999999-00:00", time(23, 59, 59, 999999, UTC)),
        (timedelta, "P1DT2H30M4.5S", timedelta(days=1, hours=2, minutes=30, seconds=4.5)),
        (timedelta, "-PT1.5S", timedelta(seconds=-1.5)),
        (timedelta, "P2W", timedelta(weeks=2)),
        (timedelta, "PT1H5S", timedelta(hours=1, seconds=5)),
        (timedelta, "PT36H", timedelta(hours=36)),
        (timedelta, "PT0.000001S", timedelta(microseconds=1)),
        (timedelta, "-PT0S", timedelta()),
        (timedelta, "-P999999999D", timedelta.min),
        (ZoneInfo, "Europe/Paris", ZoneInfo("Europe/Paris")),
        (UUID, "12345678-1234-5678-1234-56781234567A", UUID("12345678-1234-5678-1234-56781234567a")),
        (SplitResult, "https://example.com:8080/a?b=c#d", urlsplit("https://example.com:8080/a?b=c#d")),
        (SplitResult, "file:///etc/hosts", urlsplit("file:///etc/hosts")),
        (SplitResult, "mailto:a@example.com", urlsplit("mailto:a@example.com")),
        (ParseResult, "https://example.com/a;b?c#d", urlparse("https://example.com/a;b?c#d")),
        (Decimal, "12.50", Decimal("12.50")),
        (Decimal, "-0.1e-7", Decimal("-1E-8")),
        (Decimal, 0.1, Decimal("0.1")),
        (Decimal, 1e300, Decimal("1E+300")),
        (Decimal, 2**70 + 1, Decimal(2**70 + 1)),
        (Decimal, "1" + "0" * 4299, Decimal("1" + "0" * 4299)),
        (Decimal, "1e6144", Decimal("1E+6144")),
        (bytes, "", b""),
        (bytes, "+/8=", b"\xfb\xff"),
        (Path, "docs//a/./b.txt", Path("docs/a/b.txt")),
        (PureWindowsPath, "C:/a", PureWindowsPath("C:\\a")),
        (PurePosixPath, "a\\b", PurePosixPath("a\\b")),
        (IPv4Address, "192.0.2.1", ip_address("192.0.2.1")),
        (IPv6Address, "::FFFF:192.0.2.1", ip_address("::ffff:192.0.2.1")),
        (IPv4Network, "192.0.2.0/255.255.255.0", ip_network("192.0.2.0/24")),
        (IPv6Network, "2001:db8::/32", ip_network("2001:db8::/32")),
        (IPv4Interface, "192.0.2.1/24", ip_interface("192.0.2.1/24")),
        (IPv6Interface, "::1", ip_interface("::1/128")),
        (re.Pattern, "(?i)^a+$", re.compile("(?i)^a+$")),
    ],
)
def test_what_they_take(cls, given, value):
    codec = codec_of(cls)
    decoded = codec.decode(given)
    assert decoded == value
    assert codec.decode(codec.encode(decoded)) == decoded
    assert judge_of(cls).is_valid(given)


REFUSED = {
    datetime: [
        "2026-01-31",
        "2026-01-31T09:30:00",  # no UTC offset: not what the format promises
        "2026-01-31 09:30:00Z",
        "20260131T093000Z",
        "2026-02-30T09:30:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T23:59:60Z",
        "2026-01-31T09:30:00+24:00",
        "0000-01-01T00:00:00Z",
        "2026-01-31T09:30:00Z\n",
        "٢٠٢٦-01-31T09:30:00Z",
        1769851800,
    ],
    date: ["2026-1-31", "20260131", "2026-W05-6", "2026-02-30", "2026-01-31T00:00:00Z"],
    time: [
        "09:30:00",
        "09:30Z",
        "9:30:00Z",
        "T09:30:00Z",
        "24:00:00Z",
        "23:59:60Z",
        "09:30:00,5Z",
        "09:30:00Z\n",
    ],
    timedelta: [
        "",
        "P",
        "PT",
        "P1DT",
        "1D",
        "P1Y",
        "P1M",
        "P1W1D",
        "P1.5D",
        "PT1.5H",
        "PT1S1M",
        "PT.5S",
        "PT1.S",
        "PT1,5S",
        "PT0.0000001S",
        "+P1D",
        "P-1D",
        "P٣D",
        "P1D\n",
        "p1d",
        "P1000000000D",
        "P142857143W",
        "-P999999999DT1S",
        "P999999999DT24H",
        "PT" + "9" * 30 + "S",
        "P" + "9" * 5000 + "D",
        "1 day, 0:00:00",
        90,
    ],
    ZoneInfo: [
        "",
        "Europe",
        "Europe/Pariss",
        "Europe//Paris",
        "Europe/Paris/",
        "../zoneinfo/UTC",
        "/etc/localtime",
        "tzdata.zi",
        "leapseconds",
        "UTC\0",
        "UTC\n",
        "\ud800",
        "a" * 1000,
        "a/" * 10_000 + "a",
        "+02:00",
    ],
    UUID: [
        "12345678123456781234567812345678",
        "{12345678-1234-5678-1234-567812345678}",
        "urn:uuid:12345678-1234-5678-1234-567812345678",
        "1234567-81234-5678-1234-567812345678",
        "12345678-1234-5678-1234-56781234567g",
        "123456  -1234-5678-1234-567812345678",
    ],
    SplitResult: [
        "",
        "example.com/a",
        "/a/b",
        "localhost:8080/a",
        "example.com:8080/a",
        "https://",
        "https:///path",
        "urn:",
        "https://example.com:99999/",
        "https://example.com:port/",
        "https://[::1/",
        "https://exa mple.com",
        "https://example.com/\n",
        " https://example.com/",
        "https://example.com/\ud800",
        None,
    ],
    ParseResult: ["example.com/a;b", "https://[::1/;", "https://example.com/;\n", ";"],
    Decimal: [
        "",
        "NaN",
        "sNaN",
        "Infinity",
        "-inf",
        "1_000",
        " 1",
        "1\n",
        "٣",
        "1.",
        ".5",
        "+1",
        "1e",
        "0x10",
        "1,5",
        "1e6145",
        "1e-6145",
        "1e999999999",
        "0e999999999",
        "1e-999999999",
        "1e99999999999999999999",
        "9" * 4301,
        "0." + "0" * 6145,
        10**4300,
        -(10**100_000),
        float("nan"),
        float("inf"),
        True,
        None,
    ],
    bytes: [
        "A",
        "AA",
        "AAA",
        "QQ=",
        "QR==",
        "=",
        "====",
        "QQ==QQ==",
        "QQ==\n",
        "Q Q==",
        "-_8=",
        "é===",
        "data:,a",
        "\ud800AAA",
    ],
    Path: ["", "a\0", "\ud800", None],
    PureWindowsPath: ["", "a\0"],
    IPv4Address: [
        "",
        "192.0.2",
        "192.0.2.01",
        "192.0.2.256",
        "192.0.2.1/24",
        "192.0.2.1 ",
        "\u0661.0.2.1",
        3221225985,
    ],
    IPv6Address: ["", ":", "fe80::1%eth0", "::1/64", "1::2::3", "::12345", "[::1]", "::1\n", 1],
    IPv4Network: ["192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/-1", "192.0.2.0/24/1", 1],
    IPv6Network: ["2001:db8::1/32", "2001:db8::/129", "fe80::%1/64", ""],
    IPv4Interface: ["192.0.2.1/33", "192.0.2.1/x", "", 1],
    IPv6Interface: ["::1/129", "fe80::1%1/64", ""],
    re.Pattern: [
        "(",
        "[a",
        "*",
        "a**",
        "\\",
        "(?P<n>",
        "(?<=a*)b",
        "a(?i)",
        "(?L)a",
        "\\p{L}",
        "a{99999999999999999999}",
        "(" * 10_000,
        "[[a]",  # a FutureWarning, and here warnings are errors
        "\ud800",
        "a{" + "9" * 5000 + "}",
    ],
}


@pytest.mark.parametrize(
    ("cls", "value"),
    [
        pytest.param(cls, value, id=f"{cls.__name__}-{i}")
        for cls in REFUSED
        for i, value in enumerate(REFUSED[cls])
    ],
)
def test_what_they_refuse(cls, value):
    with pytest.raises(DecodeError) as caught:
        decode(cls, value)
    assert caught.value.findings[0].code in {"bad_format", "wrong_type", "out_of_range"}


@pytest.mark.parametrize(
    ("cls", "value", "words"),
    [
        (datetime, "tomorrow", "2026-01-31T09:30:00+01:00 or 2026-01-31T09:30:00Z"),
        (time, "noon", "09:30:00Z"),
        (timedelta, "90 minutes", "P1DT2H30M4.5S"),
        (timedelta, "P3000000Y", "without years"),
        (timedelta, "P1000000000D", "999999999 days"),
        (ZoneInfo, "Mars/Base", '"Mars/Base"; write an IANA name such as Europe/Paris'),
        (Decimal, "ten", "12.50"),
        (Decimal, "1e7000", "4300 digits and an exponent between -6144 and 6144"),
        (bytes, "hello", "aGVsbG8="),
        (Path, "", "docs/report.txt"),
        (IPv4Address, "localhost", "an IPv4 address as in 192.0.2.1"),
        (IPv6Address, "fe80::1%eth0", "without a scope id"),
        (IPv4Network, "192.0.2.1/24", "its host bits 0, as in 192.0.2.0/24"),
        (re.Pattern, "(a", "unterminated subpattern"),
    ],
)
def test_what_a_refusal_says(cls, value, words):
    assert words in codec_of(cls).report(value)[0].message


class Finer(timedelta):
    """As pandas.Timedelta is, which counts nanoseconds."""

    def __ne__(self, other):
        return True


@pytest.mark.parametrize(
    ("cls", "value", "words"),
    [
        (datetime, datetime(2026, 1, 31), "give it a tzinfo"),  # noqa: DTZ001  # a naive one, on purpose
        (datetime, datetime(2026, 1, 31, tzinfo=timezone(timedelta(seconds=1))), "offset has seconds"),
        (datetime, date(2026, 1, 31), "expected datetime"),
        (date, datetime(2026, 1, 31, tzinfo=UTC), "more than a date"),
        (time, time(9, 30), "give it a tzinfo"),
        (time, time(9, 30, tzinfo=ZoneInfo("Europe/Paris")), "give it a tzinfo that has one"),
        (time, time(9, 30, tzinfo=timezone(timedelta(microseconds=1))), "offset has seconds"),
        (timedelta, Finer(1), "more precise than microseconds"),
        (SplitResult, urlsplit("/relative"), "starts with its scheme"),
        (SplitResult, SplitResult("https", "h", "a", "", ""), "another value"),
        (SplitResult, SplitResult("https", "h", 5, None, None), "another value"),
        (SplitResult, SplitResult(b"https", b"h", b"/a", b"b", b""), "bytes"),
        (ParseResult, ParseResult("https", "h", "/a;b", "", "", ""), "another value"),
        (UUID, "12345678-1234-5678-1234-567812345678", "expected UUID"),
        (Decimal, Decimal("NaN"), "finite"),
        (Decimal, Decimal("sNaN"), "finite"),
        (Decimal, Decimal("-Infinity"), "finite"),
        (Decimal, Decimal("1e7000"), "exponent"),
        (bytes, bytearray(b"a"), "expected bytes"),
        (PurePath, (PurePosixPath if os.name == "nt" else PureWindowsPath)("a"), "another value"),
        (Path, Path("a\0"), "NUL"),
        (Path, Path("\udcff"), "surrogates"),
        (IPv4Address, ip_interface("192.0.2.1/24"), "another value"),
        (IPv4Address, ip_interface("192.0.2.1"), "another value"),
        (IPv6Address, ip_address("fe80::1%eth0"), "scope id"),
        (re.Pattern, re.compile(b"a"), "of bytes"),
        (re.Pattern, re.compile("a", re.IGNORECASE), "(?i)"),
        (re.Pattern, re.compile("a", re.ASCII), "(?i)"),
        (re.Pattern, re.compile("a #(", re.VERBOSE), "unterminated subpattern"),
    ],
)
def test_what_they_cannot_write(cls, value, words):
    with pytest.raises(EncodeError, match=re.escape(words)):
        Codec(cls).encode(value)


@pytest.mark.parametrize("text", ["./a:b", ".//a:b/", "a:b", "./C:", "C:", "..", "//host/share/a:b"])
def test_a_path_is_never_shortened_into_another(text):
    """Python 3.11 writes PureWindowsPath("./a:b") as "a:b", which is on drive A: so it is refused there."""
    codec = codec_of(PureWindowsPath)
    if codec.report(text):
        assert sys.version_info < (3, 12)
        assert "another path" in codec.report(text)[0].message
        with pytest.raises(EncodeError, match="another value"):
            codec.encode(PureWindowsPath(text))
    else:
        assert codec.decode(codec.encode(codec.decode(text))) == PureWindowsPath(text)


def test_decimals_are_read_the_same_in_every_context():
    with decimal.localcontext() as context:
        context.prec = 3
        context.capitals = 0
        context.traps = dict.fromkeys(context.traps, False)
        assert codec_of(Decimal).encode(codec_of(Decimal).decode("1.23456e50")) == "1.23456e+50"
        assert codec_of(Decimal).report("1e99999999999999999999")
        context.traps[decimal.FloatOperation] = True
        assert codec_of(Decimal).decode(1.5) == Decimal("1.5")


def test_zones_without_a_database(monkeypatch):
    class Fresh(ZoneInfo):
        pass

    for name in ("tzdata", "tzdata.zoneinfo"):
        monkeypatch.setitem(sys.modules, name, None)
    paths = zoneinfo.TZPATH
    zoneinfo.reset_tzpath(to=[])
    try:
        leaf = zone_leaf(Fresh)
        assert leaf.encode(leaf.placeholder) == "UTC"
        assert leaf.placeholder.utcoffset(datetime(2026, 1, 31)) == timedelta()  # noqa: DTZ001  # of that zone
        with pytest.raises(ValueError, match="no time zone"):
            leaf.decode("UTC")
    finally:
        zoneinfo.reset_tzpath(to=paths)
    with pytest.raises(ValueError, match="IANA"):
        leaf.encode(Fresh.from_file(io.BytesIO(_UTC_FILE)))
    with pytest.raises(ValueError, match="IANA"):
        leaf.encode(Fresh.from_file(io.BytesIO(_UTC_FILE), key="my.zone"))


def test_only_the_type_itself_is_shipped():
    class Later(datetime):
        pass

    impostor = type("UUID", (), {"__module__": "uuid"})
    stray = type("Decimal", (), {"__module__": "no.such.module"})
    foreign_path = pathlib.PosixPath if os.name == "nt" else pathlib.WindowsPath
    for cls in (Later, impostor, stray, foreign_path):
        with pytest.raises(SchemaError):
            Codec(cls)
    assert URL is SplitResult


REGISTERING = """
import sys, dataclasses, {module}
import operator_schema.codec.codec as c
import operator_schema.introspect.shipped_leaves
before = set(sys.modules)
for t in ({types},):
    c.Codec(t).json_schema()
print(*sorted(set(sys.modules) - before))
"""


def output_of(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def module_of(cls):
    first = cls.__module__.partition(".")[0]
    return "urllib.parse" if first == "urllib" else first


@needs_processes
@pytest.mark.parametrize("module", sorted(set(map(module_of, SHIPPED))))
def test_registering_imports_nothing(module):
    types = [f"{module}.{cls.__name__}" for cls in SHIPPED if module_of(cls) == module]
    brought = output_of(REGISTERING.format(module=module, types=", ".join(types)))
    assert {name for name in brought if not name.startswith("operator_schema.")} == set()


@needs_processes
def test_importing_the_leaves_brings_no_types_module():
    code = "import sys; {}; print(*sys.modules)"
    bare = output_of(code.format("import dataclasses, typing"))
    brought = (
        output_of(code.format("import dataclasses, typing, operator_schema.introspect.shipped_leaves")) - bare
    )
    modules = {
        "uuid",
        "decimal",
        "ipaddress",
        "pathlib",
        "urllib.parse",
        "zoneinfo",
        "base64",
        "binascii",
        "json",
    }
    assert not brought & (modules | {"datetime"})


def test_a_set_of_time_zones_has_each_once():
    paris = "Europe/Paris"
    assert decode(set[ZoneInfo], [paris, "UTC"]) == {ZoneInfo(paris), ZoneInfo("UTC")}
    with pytest.raises(DecodeError) as caught:
        decode(set[ZoneInfo], [paris, paris])
    assert [problem.code for problem in caught.value.findings] == ["duplicate"]


# --- shortcuts -----------------------------------------------------------------------------------

FULL_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
MOMENT = re.compile(rf"\d{{4}}-\d\d-\d\d[Tt]{FULL_TIME}", re.ASCII)
HYPHENATED = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TEXTS = [
    "2026-01-31T09:30:00Z",
    "2026-12-01T23:59:59+01:30",
    "0001-01-01T00:00:00-23:59",
    "2026-01-31T24:00:00Z",
    "2026-01-31T09:30:00+01:60",
    "2026-W05-6T09:30:00Z",
    "12345678-1234-5678-1234-56781234567A",
    "00000000-0000-0000-0000-000000000000",
]


@st.composite
def misspelt(draw):
    text = list(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(0, 2))):
        i = draw(st.integers(0, len(text) - 1))
        text[i : i + draw(st.integers(0, 1))] = draw(
            st.text("012345679abF-+:TtZzW .,_\n\0٣é\ud800", max_size=2)
        )
    return "".join(text)


def by_pattern(pattern, make, text):
    try:
        return make(text.upper()) if pattern.fullmatch(text) else None
    except ValueError:
        return None


@given(misspelt())
def test_shortcuts_read_what_the_patterns_say(text):
    for cls, pattern, make in ((datetime, MOMENT, datetime.fromisoformat), (UUID, HYPHENATED, UUID)):
        expected = by_pattern(pattern, make, text)
        try:
            made = shipped_leaf(cls).decode(text)
        except ValueError:
            made = None
        assert made == expected
        assert repr(made) == repr(expected)


def test_a_uuid_made_past_its_init_is_like_any_other():
    text = "12345678-1234-5678-1234-567812345678"
    made, other = codec_of(UUID).decode(text), UUID(text)
    assert (made.int, made.is_safe, hash(made), str(made)) == (
        other.int,
        other.is_safe,
        hash(other),
        str(other),
    )
    assert pickle.loads(pickle.dumps(made)) == other
    assert {slot for slot in UUID.__slots__ if slot != "__weakref__"} == {"int", "is_safe"}


def test_subclasses_are_written_like_their_base():
    class Other(UUID):
        def __str__(self):
            return "other"

    class Moment(datetime):
        pass

    assert codec_of(UUID).encode(Other(int=5)) == str(UUID(int=5))
    moment = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
    assert codec_of(datetime).encode(Moment(2026, 1, 31, 9, 30, tzinfo=UTC)) == codec_of(datetime).encode(
        moment
    )
