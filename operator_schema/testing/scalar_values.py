"""Strings and numbers that meet a constraint or just miss it, and the spellings of shipped leaves."""

from __future__ import annotations

import binascii
import math
import re
import sys
from bisect import bisect_right
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
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
from itertools import accumulate
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import ParseResult, SplitResult
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from ..codec.interpret import SCALARS
from ..codec.problems import INVALID, Trial
from ..introspect.decimal_limits import limits_of
from ..introspect.local_times import LOCAL_DATETIME, LOCAL_TIME
from ..introspect.number_bounds import bounds_of, nearest_float
from ..introspect.shipped_leaves import shipped_leaf
from ..json_values import choice_key, has_surrogate, is_array, is_object
from ..schema.keywords import NUMBERS, Constraints
from ..schema.pattern_syntax import START, Assertion, Characters, Choice, Repeat, Sequence, read_expression

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import ScalarNode, ScalarType
    from ..schema.pattern_syntax import Expression, Ranges


_CHARACTERS = st.characters(exclude_categories=["Cs"])
"""All characters of UTF-8. Hypothesis finds them at once by category, but tries each one to find them by
codec."""


def texts(least: int = 0, most: int | None = None) -> SearchStrategy[str]:
    """Generate texts of a length."""
    return st.text(_CHARACTERS, min_size=least, max_size=most)


_FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON_SCALARS = st.none() | st.booleans() | st.integers() | _FINITE | texts()
JSON_VALUES: SearchStrategy[Any] = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value, most of them small."""

OF_TYPE: Mapping[str, SearchStrategy[Any]] = {
    "string": st.integers().map(str) | texts(),
    "integer": st.integers(),
    "number": _FINITE.filter(lambda number: not number.is_integer()),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(JSON_SCALARS, max_size=2),
    "object": st.dictionaries(texts(), JSON_SCALARS, max_size=2),
}
"""Values by JSON type; values of `number` aren't integers."""

_NONE = Constraints()


def scalars(node: ScalarNode) -> SearchStrategy[Any]:
    """Generate the JSON scalars that a node accepts."""
    if node.constraints is None:
        return _any_scalars(node.type)
    made = _likely_scalars(node.type, node.constraints)
    return made.filter(lambda value: not _refuses(node, value))


@cache  # Hypothesis looks through each new strategy before it draws from it
def _any_scalars(name: ScalarType) -> SearchStrategy[Any]:
    return _likely_scalars(name, _NONE)


def _likely_scalars(name: ScalarType, constraints: Constraints) -> SearchStrategy[Any]:
    """Generate scalars that mostly meet constraints; some constraints can only be checked, not generated."""
    match name:
        case "string":
            return _texts(constraints)
        case "integer":
            return _integers(constraints)
        case "number":
            return _numbers(constraints)
        case "boolean" | "null":
            return OF_TYPE[name]


def identity(value: Any) -> Hashable:
    """Return a key that is equal for two JSON values if, and only if, they are the same."""
    if is_array(value):
        return tuple(map(identity, value))
    if is_object(value):
        return frozenset([(key, identity(item)) for key, item in value.items()])
    return choice_key(value)


def with_floats(values: Iterable[Any]) -> list[Any]:
    """Return the values, and for each integer also the float that is the same JSON value."""
    known = list(values)
    floats = [_as_float(value) for value in known if type(value) is int]
    return known + [number for number in floats if type(number) is float]


def _as_float(number: int) -> float:
    try:
        same = float(number)
    except OverflowError:
        return number
    return same if same == number else number


def length_limits(constraints: Constraints | None) -> tuple[int, int | None]:
    """Return the least and the greatest length that the constraints allow."""
    if constraints is None:
        return 0, None
    return constraints.min_length or 0, constraints.max_length


# --- strings -------------------------------------------------------------------------------------

_REPEATED_CLASS = re.compile(r"(\^(?:\[(?:[^\]\\]|\\.)+\]|\\\w|\.))([+*])\$")
"""The pattern of an expression for a whole text of one kind of character, such as `^[a-z]+$`."""


def _texts(constraints: Constraints) -> SearchStrategy[str]:
    least, most = length_limits(constraints)
    pattern = constraints.pattern
    if pattern is None:
        return texts(least, most)
    repeated = _REPEATED_CLASS.fullmatch(pattern.pattern)
    if repeated:
        # Few texts of `[a-z]+` are as long as some constraints want them.
        fewest = max(least, 1) if repeated[2] == "+" else least
        if most is not None and fewest > most:
            return st.nothing()
        expression = f"{repeated[1]}{{{fewest},{'' if most is None else most}}}$"
        return st.from_regex(expression, alphabet=_CHARACTERS)
    if isinstance(pattern, re.Pattern):
        return st.from_regex(pattern, alphabet=_CHARACTERS)
    return _with_text_around(read_expression(pattern.pattern))  # of a document: `re` reads it in another way


def _with_text_around(tree: Expression) -> SearchStrategy[str]:
    """Generate texts in which an expression matches somewhere, unless it has anchors."""
    items = tree.items if isinstance(tree, Sequence) else (tree,)
    before = st.just("") if items[:1] == (START,) else _maybe(texts())
    after = st.just("") if items and isinstance(items[-1], Assertion) else _maybe(texts())
    return st.tuples(before, _texts_of(tree), after).map("".join)


def _texts_of(tree: Expression) -> SearchStrategy[str]:
    """Generate texts of an expression; if it has assertions about neighbouring characters, some don't fit."""
    match tree:
        case Characters(ranges):
            return _characters(ranges)
        case Sequence(items):
            return st.tuples(*map(_texts_of, items)).map("".join)
        case Choice(branches):
            return st.one_of(*map(_texts_of, branches))
        case Repeat(body, least, most):
            return st.lists(_texts_of(body), min_size=least, max_size=most).map("".join)
        case _:
            return st.just("")


def _characters(ranges: Ranges) -> SearchStrategy[str]:
    """Generate characters of some ranges, preferring readable ones."""
    ends = list(accumulate(high - low + 1 for low, high in ranges))
    if not ends:
        return st.nothing()

    def at(place: int) -> str:
        index = bisect_right(ends, place)
        return chr(ranges[index][1] + 1 - (ends[index] - place))

    every = st.integers(0, ends[-1] - 1).map(at).filter(lambda character: not has_surrogate(character))
    readable = [chr(code) for low, high in ranges for code in range(max(low, 0x20), min(high, 0x7E) + 1)]
    return st.sampled_from(readable) | every if readable else every


def _texts_just_refused(constraints: Constraints, valid: SearchStrategy[str]) -> list[SearchStrategy[Any]]:
    least, most = length_limits(constraints)
    found: list[SearchStrategy[Any]] = []
    if least:
        found += [valid.map(lambda text: text[: least - 1]), texts(0, least - 1)]
    if most is not None:
        found.append(valid.map(lambda text: text.ljust(most + 1, text[-1:] or "x")))
    if constraints.pattern is not None:
        found += [valid.map(lambda text: text[:-1]), valid.map(lambda text: f"{text}!"), texts()]
    return found


# --- numbers -------------------------------------------------------------------------------------


def _integers(constraints: Constraints) -> SearchStrategy[Any]:
    # An integer that divides by 3/4 divides by 3.
    step = Fraction(constraints.multiple_of or 1).numerator
    least, most = bounds_of(constraints).multiples(step)
    if least is not None and most is not None and least > most:
        return st.nothing()
    whole = st.integers(least, most).map(lambda multiple: multiple * step)
    return st.tuples(whole, st.booleans()).map(lambda drawn: _as_float(drawn[0]) if drawn[1] else drawn[0])


_EXACT = 2**53
"""Every integer up to this one has an exact float."""
_FAR = 2**32
"""Multiples on both sides of zero if nothing else limits them; their products are floats."""


def _numbers(constraints: Constraints) -> SearchStrategy[Any]:
    if constraints.multiple_of is not None:
        return _float_multiples(constraints, Fraction(constraints.multiple_of))
    bounds = bounds_of(constraints)
    least, most = bounds.floats()
    if least > most:
        return st.nothing()
    floats = st.floats(least, most, allow_nan=False, allow_infinity=False)
    first, last = bounds.multiples()
    first = -_EXACT if first is None else max(first, -_EXACT)
    last = _EXACT if last is None else min(last, _EXACT)
    return floats if first > last else st.integers(first, last) | floats


def _float_multiples(constraints: Constraints, step: Fraction) -> SearchStrategy[Any]:
    first, last = bounds_of(constraints).multiples(step)
    if first is None:
        first = min(0, last or 0) - _FAR
    if last is None:
        last = max(0, first) + _FAR
    reach = math.floor(Fraction(sys.float_info.max) / step)
    first, last = max(first, -reach), min(last, reach)
    if first > last:
        return st.nothing()
    return st.integers(first, last).map(lambda multiple: float(multiple * step))


def _numbers_just_refused(node: ScalarNode, constraints: Constraints) -> list[SearchStrategy[Any]]:
    found: list[SearchStrategy[Any]] = []
    limits = [getattr(constraints, slot) for slot in _ON_NUMBERS]
    near = [number for limit in limits if limit is not None for number in _around(limit)]
    beyond = [number for number in near if _refuses(node, number)]
    if beyond:
        found.append(st.sampled_from(beyond))
    step = constraints.multiple_of
    if step is not None and (node.type == "number" or Fraction(step).numerator > 1):
        aside = 1 if node.type == "integer" else step / 2
        found.append(scalars(node).map(lambda number: number + aside))
    return found


_ON_NUMBERS = [row.slot for row in NUMBERS]


def _around(limit: float) -> list[float]:
    whole = [limit, math.ceil(limit) - 1, math.floor(limit) + 1]
    nearest = [nearest_float(limit, towards, strict=True) for towards in (-math.inf, math.inf)]
    return whole + [number for number in nearest if math.isfinite(number)]


def _refuses(node: ScalarNode, value: object) -> bool:
    return SCALARS[node.type](Trial(), node, value, None) is INVALID


def scalars_just_refused(node: ScalarNode) -> SearchStrategy[Any]:
    """Generate scalars of the node's JSON type that its constraints refuse, and some that they accept."""
    if node.constraints is None:
        return st.nothing()
    if node.type == "string":
        return st.one_of(_texts_just_refused(node.constraints, scalars(node)))
    return st.one_of(_numbers_just_refused(node, node.constraints))


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
    return st.from_regex(pattern, fullmatch=True, alphabet=_CHARACTERS).filter(partial(_is_read, leaf))


def _is_read(leaf: SchemaLeaf[Any], text: str) -> bool:
    try:
        leaf.decode(text)
    except ValueError:
        return False
    return True


def _text(*parts: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


def _maybe(part: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.just("") | part


# --- URLs ----------------------------------------------------------------------------------------


def _urls() -> SearchStrategy[str]:
    word = st.text("abcxyzABC019-_~.é", min_size=1, max_size=6)
    names = st.lists(st.text("abcxyz019", min_size=1, max_size=6), min_size=1, max_size=3).map(".".join)
    return st.sampled_from(_OTHER_URLS) | _text(
        st.sampled_from(["https://", "http://", "ftp://", "wss://"]),
        _maybe(word.map(lambda user: f"{user}:%20@")),
        names | st.sampled_from(["192.0.2.1", "[2001:db8::1]"]),
        _maybe(st.integers(0, 65535).map(lambda port: f":{port}")),
        st.lists(word.map(lambda step: f"/{step}"), max_size=3).map("".join),
        _maybe(word.map(lambda text: f"?q={text}&r=%C3%A9")),
        _maybe(word.map(lambda text: f"#{text}")),
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
    offset = _text(st.sampled_from("+-"), st.times().map(lambda offset: f"{offset:%H:%M}"))
    return _text(
        st.times().map(lambda clock: f"{clock:%H:%M:%S}"), _fractions(), st.sampled_from("Zz") | offset
    )


def _fractions() -> SearchStrategy[str]:
    return _maybe(st.text("0123456789", min_size=1, max_size=9).map(lambda digits: f".{digits}"))


def _local_times() -> SearchStrategy[str]:
    return st.times().map(lambda clock: f"{clock:%H:%M}") | _text(
        st.times().map(lambda clock: f"{clock:%H:%M:%S}"), _fractions()
    )


# --- the rest ------------------------------------------------------------------------------------


def _uuids() -> SearchStrategy[str]:
    return st.uuids().map(str) | st.uuids().map(lambda uuid: str(uuid).upper())


def _decimals() -> SearchStrategy[Any]:
    return st.decimals(allow_nan=False, allow_infinity=False).map(str) | st.integers() | _FINITE


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
    return addresses | _text(addresses, lengths.map(lambda length: f"/{length}"))


def _networks(version: Literal[4, 6]) -> SearchStrategy[str]:
    return _addresses(version, prefix=True).map(lambda text: str(ip_network(text, strict=False)))


_SPELLED: Mapping[type, SearchStrategy[Any]] = {
    SplitResult: _urls(),
    ParseResult: _urls(),
    datetime: _text(st.dates().map(date.isoformat), st.sampled_from("Tt"), _times()),
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
    LOCAL_DATETIME: _text(st.dates().map(date.isoformat), st.sampled_from("Tt "), _local_times()),
    LOCAL_TIME: _local_times(),
}
"""The values of leaves that belong to an annotation."""
