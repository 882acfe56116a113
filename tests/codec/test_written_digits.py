"""A `Decimal` keeps the digits of a JSON number, and nothing else sees that they were kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Codec, DecodeError, Executor, RawCall, decode, decode_json, tool

DIGITS = st.text("0123456789", min_size=1, max_size=40)
WHOLES = st.just("0") | DIGITS.map(lambda text: text.lstrip("0") or "0")
EXPONENTS = st.just("") | st.integers(-260, 260).map(lambda number: f"e{number}") | st.just("E+2")
NUMBERS = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    WHOLES,
    st.just("") | DIGITS.map(lambda text: f".{text}"),
    EXPONENTS,
).filter(lambda text: text != "-0")  # an integer, which has no sign at zero


class Pair(NamedTuple):
    exact: Decimal
    rounded: float


@dataclass
class Amounts:
    one: Decimal
    rounded: float
    whole: float | str
    anything: Any
    some: list[Decimal]
    by_name: dict[str, Decimal | None]
    pair: Pair
    mixed: Decimal | bool | None
    inner: Amounts | None = None
    others: dict[str, Any] | None = None


def text_of(number, inner="null"):
    return (
        f'{{"one": {number}, "rounded": {number}, "whole": {number}, '
        f'"anything": [{number}, {{"a": {number}}}], '
        f'"some": [{number}, 1], "by_name": {{"a": {number}, "b": null}}, "unknown": {number}, '
        f'"pair": {{"exact": {number}, "rounded": {number}}}, "mixed": {number}, "inner": {inner}, '
        f'"others": {{"a": {number}, "b": [{number}]}}}}'
    )


def plain(value):
    """Return all that is in a value, to compare classes, too."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return type(value), repr(value)


def same(found, number):
    exact, usual = Decimal(number), json.loads(number)
    decimals = [found.one, found.some[0], found.by_name["a"], found.pair.exact, found.mixed]
    assert [str(each) for each in decimals] == [str(exact)] * 5
    assert [type(each) for each in decimals] == [Decimal] * 5
    assert plain([found.rounded, found.pair.rounded]) == plain([float(usual)] * 2)
    assert plain(found.anything) == plain([usual, {"a": usual}])
    assert plain(found.others) == plain({"a": usual, "b": [usual]})
    assert plain(found.whole) == plain(decode(float | str, usual))


@given(NUMBERS)
def test_a_decimal_has_the_digits_that_are_written(number):
    assert str(decode_json(Decimal, number)) == str(Decimal(number))
    assert str(decode_json(Decimal, f" {number} ".encode())) == str(Decimal(number))
    codec = Codec(Amounts)
    found = codec.decode_json(text_of(number, text_of(number)))
    for each in (found, found.inner):
        same(each, number)


CODECS = Codec(Amounts), Codec(Amounts, repair=True)


@given(st.lists(NUMBERS, min_size=3, max_size=3))
def test_it_has_them_in_each_tier_with_repair_and_in_reports(numbers):
    plain_codec, repairing = CODECS  # compiled after some of the examples
    for number in numbers:
        text = text_of(number)
        same(plain_codec.decode_json(text), number)
        same(plain_codec.decode_json_report(text).instance, number)
        same(repairing.decode_json(text), number)
        same(repairing.decode_json_report(f"{text[:-1]},}}").instance, number)


@pytest.mark.needs_threads
@given(NUMBERS)
def test_calls_keep_them_too(number):
    seen = []

    @tool
    def pay(amount: Decimal, about: Any = None) -> str:
        """Pay."""
        seen.append((amount, about))
        return str(amount)

    call = RawCall("1", "pay", f'{{"amount": {number}, "about": {number}}}')
    assert Executor(pay).run_sync(call).content == str(Decimal(number))
    assert plain(seen[0][1]) == plain(json.loads(number))


@pytest.mark.parametrize("number", ["1e400", "-1e999"])
def test_a_number_beyond_floats_has_to_be_a_string(number):
    with pytest.raises(DecodeError, match="beyond the range of a float"):
        decode_json(Decimal, number)
    assert decode_json(Decimal, f'"{number}"') == Decimal(number)


def test_a_decimal_may_be_smaller_than_each_float():
    assert decode_json(Decimal, "1e-400") == Decimal("1e-400")
    assert decode_json(list[float], "[1e-400]") == [0.0]


def test_limits_are_kept_exactly():
    @dataclass
    class Most:
        limit: int = 1

        le = 1

    annotation = Annotated[Decimal, Most()]
    assert decode_json(annotation, "1.00000000000000000000") == 1
    with pytest.raises(DecodeError):
        decode_json(annotation, "1.00000000000000000001")


def test_another_parser_gives_what_it_gives():
    codec = Codec(Decimal, json_loads=json.loads)
    assert codec.decode_json("0.30000000000000000001") == Decimal("0.3")


@pytest.mark.parametrize("number", ["12.50", "-0.30000000000000000001", "1e-3", "5", "2.5"])
def test_some_numbers_at_each_place(number):
    assert str(decode_json(tuple[Decimal, float], f"[{number}, {number}]")[0]) == str(Decimal(number))
    with pytest.raises(DecodeError):
        decode_json(tuple[Decimal, float], f"[{number}, {number}, {number}]")
    with pytest.raises(DecodeError):
        decode_json(Amounts, f"[{number}, {{}}]")
    with pytest.raises(DecodeError):
        decode_json(list[Decimal], f'{{"a": {number}}}')
    for codec in CODECS:
        found = codec.decode_json(text_of(number, text_of(number)))
        same(found, number)
        assert found.inner is not None
        same(found.inner, number)


@dataclass
class First:
    kind: Literal["first"]
    held: Amounts


@dataclass
class Second:
    kind: Literal["second"]
    held: Amounts


def test_members_of_a_union_that_hold_the_same():
    found = decode_json(First | Second, f'{{"kind": "second", "held": {text_of("1.10")}}}')
    same(found.held, "1.10")
