"""Patterns of names: what is found in one text is what comparing each name finds."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_domains import texts_of

from operator_schema.code_tools.name_patterns import NameTable, Pattern, lines_of

NAMES = st.text(st.sampled_from("abAB_.é"), min_size=1, max_size=6)
FILES = st.lists(st.lists(NAMES, max_size=5), max_size=5)
PATTERNS = st.text(st.sampled_from("abAB_.é*?"), min_size=1, max_size=7)


def fits(pattern, name, *, any_case):
    """Say whether a name fits, by an expression for all of it."""
    expression = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(expression, name, re.IGNORECASE if any_case else 0) is not None


@given(FILES, PATTERNS, st.booleans())
@example([["abc"], [], ["xabc", "abc"]], "abc*", False)
@example([["abc"], [], ["xabc", "abc"]], "*abc*", False)
@example([["a", "b"]], "*", False)
@example([["a", "bb", "c"]], "?", False)
def test_a_table_finds_what_fits(files, pattern, any_case):
    table = NameTable([lines_of(names, any_case=any_case) for names in files])
    found = list(table.matches(Pattern(pattern, any_case=any_case)))
    assert found == [
        (number, place)
        for number, names in enumerate(files)
        for place, name in enumerate(names)
        if fits(pattern, name, any_case=any_case)
    ]


@cache
def is_name_of(pattern, name):
    """Say whether a name fits, one character at a time: no expression, unlike the search itself."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return is_name_of(pattern[1:], name) or (name != "" and is_name_of(pattern, name[1:]))
    return name != "" and pattern[0] in {"?", name[0]} and is_name_of(pattern[1:], name[1:])


@pytest.mark.parametrize("any_case", [False, True])
def test_each_short_pattern_finds_the_short_names_that_fit(any_case):
    names, patterns = texts_of("aB.", 3)[1:], texts_of("aB.*?", 5)[1:]
    assert (len(names), len(patterns)) == (39, 3905)
    names += [name.swapcase() for name in names]
    table = NameTable([lines_of(names, any_case=any_case)])
    fold = str.lower if any_case else str
    wrong = [
        pattern
        for pattern in patterns
        if [names[place] for _, place in table.matches(Pattern(pattern, any_case=any_case))]
        != [name for name in names if is_name_of(fold(pattern), fold(name))]
    ]
    assert wrong == []


def test_a_name_with_a_line_end_stays_one_name():
    table = NameTable([lines_of(["a\nb", "c"], any_case=False)])
    assert list(table.matches(Pattern("c"))) == [(0, 1)]
    two = NameTable([lines_of(["a", "b"], any_case=False)])
    for pattern in ("a\nb", "*a\nb*", "a\n*", "\n", "?\n?"):
        assert list(two.matches(Pattern(pattern))) == []
