"""Which regular expressions of others are run."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE, cpu_time

from operator_schema.documents.patterns import MAX_PATTERN, harmless_pattern

HARMLESS = [
    "",
    "^/",
    "é+ü",
    "[é-ü]+x",
    r"^[\w.-]+$",
    r".*\.pdf$",
    r"^.*foo.*$",
    r"^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[^@]+@[^@]+\.[^@]+$",
    "^#[0-9a-fA-F]{6}$",
    "^(foo|bar|baz)$",
    "^[A-Z]{2}[A-Z0-9]{9}[0-9]$",
    r"^([01]?[0-9]|2[0-3]):[0-5][0-9]$",
    r"^https?://[^\s/$.?#].[^\s]*$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    "^(a|b)*$",
]
LEFT_ALONE = [
    "(a+)+$",
    "(a|aa)+$",
    "(a*)*",
    "(x+x+)+y",
    ".*.*=",
    "(a?){30}a{30}",
    "((a{0,9}){0,9}){0,9}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(?=a)b",
    r"(a)\1",
    r"\p{L}",
    "(",
    "(?i)a",
    "a" * (MAX_PATTERN + 1),
    "(" * 500 + ")" * 500,
    "|".join("ab" * 200) + "(ab?)*" * 80,
    None,
    7,
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_expression_is_run(text: str) -> None:
    assert harmless_pattern(text) == re.compile(text)


@pytest.mark.parametrize("text", LEFT_ALONE, ids=lambda text: str(text)[:30])
def test_what_may_take_too_long_or_isnt_understood_is_left_alone(text: object) -> None:
    assert harmless_pattern(text) is None


PARTS = st.sampled_from(["a", "b", "[ab]", ".", r"\w", r"\D", "[^a]", "é", "^", "$", "x"])
EXPRESSIONS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2,}", "{1,70}", "{2}", "*?"])).map(
            "(%s)%s".__mod__
        ),
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: f"({'|'.join(some)})"),
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(EXPRESSIONS)
def test_no_text_keeps_a_harmless_expression_busy(text: str) -> None:
    pattern = harmless_pattern(text)
    if pattern is None:
        return
    started = cpu_time()
    for unit in ("a", "b", "ab", "aé", "x"):
        pattern.search(unit * 100 + "!")
        pattern.search(unit * 100)
    assert cpu_time() - started < 2 * PATIENCE
