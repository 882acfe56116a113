"""Patterns of names: what is found in one text is what comparing each name finds."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

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


def test_a_name_with_a_line_end_stays_one_name():
    table = NameTable([lines_of(["a\nb", "c"], any_case=False)])
    assert list(table.matches(Pattern("c"))) == [(0, 1)]
    two = NameTable([lines_of(["a", "b"], any_case=False)])
    for pattern in ("a\nb", "*a\nb*", "a\n*", "\n", "?\n?"):
        assert list(two.matches(Pattern(pattern))) == []
