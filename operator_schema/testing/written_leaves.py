"""How may the values of a leaf be written as JSON? Hypothesis strategies for them."""

from __future__ import annotations

import binascii
import re
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache, partial
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_network,
)
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import ParseResult, SplitResult
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from ..introspect.decimal_limits import limits_of
from ..introspect.local_times import LOCAL_DATETIME, LOCAL_TIME
from ..introspect.number_bounds import bounds_of
from ..introspect.shipped_leaves import shipped_leaf
from .scalar_values import CHARACTERS, FINITE, texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.leaves import SchemaLeaf
    from ..schema.keywords import Constraints


def leaf_values(leaf: SchemaLeaf[Any]) -> SearchStrategy[Any]:
    """Generate JSON values that a leaf decodes; for your own leaves, only the encoded placeholder.

    A shipped leaf has a row in `_SPELLED` if the pattern in its schema doesn't describe its spellings.
    """
    if shipped_leaf(leaf.type) is leaf:
        return _SPELLED[leaf.type] if leaf.type in _SPELLED else _of_pattern(leaf)
    limits = limits_of(leaf)
    if limits is not None:
        return _decimals_within(leaf, limits)
    if leaf in _LOCAL:
        return _LOCAL[leaf]
    return st.just(leaf.placeholder).map(leaf.encode)


@cache  # of the shipped leaves alone
def _of_pattern(leaf: SchemaLeaf[Any]) -> SearchStrategy[Any]:
    pattern: str = leaf.json_schema["pattern"]
    return st.from_regex(pattern, fullmatch=True, alphabet=CHARACTERS).filter(partial(_is_read, leaf))


def _is_read(leaf: SchemaLeaf[Any], text: str) -> bool:
    try:
        leaf.decode(text)
    except ValueError:
        return False
    return True


def _joined(*parts: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


def _optional(part: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.just("") | part


# --- URLs ----------------------------------------------------------------------------------------


def _urls() -> SearchStrategy[str]:
    word = st.text("abcxyzABC019-_~.é", min_size=1, max_size=6)
    names = st.lists(st.text("abcxyz019", min_size=1, max_size=6), min_size=1, max_size=3).map(".".join)
    return st.sampled_from(_OTHER_URLS) | _joined(
        st.sampled_from(["https://", "http://", "ftp://", "wss://"]),
        _optional(word.map(lambda user: f"{user}:%20@")),
        names | st.sampled_from(["192.0.2.1", "[2001:db8::1]"]),
        _optional(st.integers(0, 65535).map(lambda port: f":{port}")),
        st.lists(word.map(lambda step: f"/{step}"), max_size=3).map("".join),
        _optional(word.map(lambda text: f"?q={text}&r=%C3%A9")),
        _optional(word.map(lambda text: f"#{text}")),
    )


_OTHER_URLS = (
    "https://example.com/",
    "HTTPS://EXAMPLE.COM/;params?#",
    "file:///etc/hosts",
    "mailto:someone@example.com",
    "urn:isbn:0451450523",
    "data:,hello",
)


# --- time ----------------------------------------------------------------------------------------


def _times() -> SearchStrategy[str]:
    offset = _joined(st.sampled_from("+-"), st.times().map(lambda offset: f"{offset:%H:%M}"))
    return _joined(
        st.times().map(lambda clock: f"{clock:%H:%M:%S}"), _fractions(), st.sampled_from("Zz") | offset
    )


def _fractions() -> SearchStrategy[str]:
    return _optional(st.text("0123456789", min_size=1, max_size=9).map(lambda digits: f".{digits}"))


def _local_times() -> SearchStrategy[str]:
    return st.times().map(lambda clock: f"{clock:%H:%M}") | _joined(
        st.times().map(lambda clock: f"{clock:%H:%M:%S}"), _fractions()
    )


# --- the rest ------------------------------------------------------------------------------------


def _uuids() -> SearchStrategy[str]:
    return st.uuids().map(str) | st.uuids().map(lambda uuid: str(uuid).upper())


def _decimals() -> SearchStrategy[Any]:
    return st.decimals(allow_nan=False, allow_infinity=False).map(str) | st.integers() | FINITE


def _decimals_within(leaf: SchemaLeaf[Any], limits: Constraints) -> SearchStrategy[Any]:
    low, high = [bound and Decimal(repr(bound.limit)) for bound in bounds_of(limits)]
    step = Decimal(repr(limits.multiple_of or 1))
    near = leaf.placeholder
    steps = st.integers(-5, 5).map(lambda count: near + count * step)
    between = st.decimals(low, high, allow_nan=False, allow_infinity=False)

    def takes(number: Decimal) -> bool:
        try:
            leaf.encode(number)
        except ValueError:
            return False
        return True

    # A step between decimals is rarely hit by chance.
    numbers = st.just(near) | (steps if limits.multiple_of else steps | between).filter(takes)
    return numbers.map(str) | numbers.filter(_is_integer).map(int)


def _is_integer(number: Decimal) -> bool:
    return abs(number) < _LARGEST_INTEGER and number == number.to_integral_value()


_LARGEST_INTEGER = 10**18


def _base64() -> SearchStrategy[str]:
    return st.binary().map(lambda data: binascii.b2a_base64(data, newline=False).decode("ascii"))


def _patterns() -> SearchStrategy[str]:
    return st.sampled_from(_PATTERNS) | texts().map(re.escape)


_PATTERNS = ("", "^[a-z]+$", r"(?i)\bword\b", r"(?P<sign>[+-])(?P=sign)", "(?<=a)b|c{2,3}?", "(?x) a  # b")


def _paths() -> SearchStrategy[str]:
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    return st.lists(st.text(characters, min_size=1, max_size=8), min_size=1, max_size=3).map("/".join)


def _addresses(version: Literal[4, 6], *, prefix: bool = False) -> SearchStrategy[str]:
    addresses = st.ip_addresses(v=version).map(str)
    if not prefix:
        return addresses
    lengths = st.integers(0, 32 if version == 4 else 128)  # noqa: PLR2004  # bits of an address
    return addresses | _joined(addresses, lengths.map(lambda length: f"/{length}"))


def _networks(version: Literal[4, 6]) -> SearchStrategy[str]:
    return _addresses(version, prefix=True).map(lambda text: str(ip_network(text, strict=False)))


_SPELLED: Mapping[type, SearchStrategy[Any]] = {
    SplitResult: _urls(),
    ParseResult: _urls(),
    datetime: _joined(st.dates().map(date.isoformat), st.sampled_from("Tt"), _times()),
    date: st.dates().map(date.isoformat),
    time: _times(),
    ZoneInfo: st.timezone_keys(allow_prefix=False),
    UUID: _uuids(),
    Decimal: _decimals(),
    bytes: _base64(),
    re.Pattern: _patterns(),
    **{cls: _paths() for cls in (PurePath, PurePosixPath, PureWindowsPath, Path, type(Path()))},
    IPv4Address: _addresses(4),
    IPv6Address: _addresses(6),
    IPv4Network: _networks(4),
    IPv6Network: _networks(6),
    IPv4Interface: _addresses(4, prefix=True),
    IPv6Interface: _addresses(6, prefix=True),
}
"""The values of shipped leaves, by type."""

_LOCAL: Mapping[SchemaLeaf[Any], SearchStrategy[Any]] = {
    LOCAL_DATETIME: _joined(st.dates().map(date.isoformat), st.sampled_from("Tt "), _local_times()),
    LOCAL_TIME: _local_times(),
}
"""The values of leaves that belong to an annotation."""
