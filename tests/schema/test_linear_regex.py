"""Regular expressions of others: which are run, what they mean, and that no text keeps one busy."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from patience import assert_linear, assert_takes, slowness

sys.path.insert(0, str(Path(__file__).parent.parent / "campaign"))

from expressions import LONGEST_TIME, chunk

from operator_schema.schema.linear_regex import MAX_PATTERN, LinearPattern, Patterns, linear_pattern
from operator_schema.schema.pattern_syntax import MAX_PLACES

HARD = [
    # Repetitions inside of repetitions
    "(a+)+$",
    "(a*)*$",
    "(a*)+$",
    "^(a+)*$",
    "^((a+)+)+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a+a+)+b",
    "(x+x+)+y",
    "^(a?)*$",
    "^(a?a?)*$",
    "^(a*b*)*$",
    "^((a|b)*)*c",
    "(a{1,9})+$",
    "((a{0,9}){0,9}){0,9}$",
    "^(a{2,})+$",
    r"^(\w+\s?)*$",
    r"^(\w+\.?)+@",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@)",
    "^(([^,]+),?)+$",
    r"^(\d+)*\.$",
    "(.*)*x",
    "(.+)+x",
    "(?:.*a){12}$",
    # Alternatives that fit the same
    "^(a|a)*$",
    "^(ab|ab)*$",
    "^(a|[a])*$",
    r"^(a|\x61)*$",
    "^(x(y|y))+$",
    "(a|a)*b",
    "^(a|a){30}b",
    "(a|aa)+$",
    "^(a|ab|b)*c",
    "^(a|a?)+$",
    "^(a|b|ab)*$!",
    "^(|a)*$",
    "^(|a|a)+b",
    "^(a|)(a|)*b$",
    "^(.|a)*$!",
    r"^(\w|a)*$!",
    r"^(\d|\w)+$!",
    r"^([ab]|[bc])+$!",
    "^((a|a)|(a|a))*$",
    # Neighbours that fit the same
    "a*a*a*a*b",
    "^a*a*a*a*$!",
    ".*.*=",
    ".*.*.*=",
    "^.*.*.*.*.*=$",
    r"\s*\s*\s*x",
    r"\w*\d*\w*!x",
    "[ab]*[bc]*[ca]*!",
    # Lazy ones
    "a*?a*?c",
    "a*?a*?a*?c",
    "a+?a+?x",
    r"\w*?\w*?!x",
    "a*a*b",
    "^a*?a*?a*?b",
    "(a*?)*?b",
    "(a+?)+?b",
    "^(a??)*b",
    "(.*?,){11}P",
    # Counted ones
    "(a?){30}a{30}",
    "^(a?){25}a{25}$",
    "a{0,20}a{0,20}a{0,20}!",
    "(a{1,5}){1,5}b",
    "(?:a{1,30}){1,30}!",
    "^.{0,1000}x$",
    ".{0,1000}x",
    "[ab]{100,}c",
    "(ab?){0,40}c",
    # The search itself
    r"\s+$",
    "a+$",
    "a*b",
    r"[a-z]+@[a-z]+\.com",
    r"\d+x",
    # Assertions inside
    r"(\ba)*b",
    r"(a\b|a)*!x",
    "(^a|a)*b",
    "(a$|a)*b",
    r"(\B|a)*b",
    r"^(\b|\B|a)*$!",
    "^(?=(a+)+$)b",
    "^(?!(a|a)*$)b",
    r"^(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$",
    # Large ones
    "|".join("ab" * 100) + "(ab?)*" * 80,
    "(?:a|b)*a(?:a|b){200}c",
    "(?:a|b)*a[ab]{3000}c",
    "(a?b?){240}c",
    "(a?){998}c",
    "(a*b*){400}c",
]
UNITS = ["a", "ab", "aab", "x", "xy", " ", "1", "a1", "a,", "é", "a."]
LENGTH = 3000


@pytest.mark.parametrize("text", HARD, ids=lambda text: str(text)[:30])
def test_no_text_keeps_a_hard_expression_busy(text: str) -> None:
    def search(pattern: LinearPattern | None) -> None:
        assert pattern is not None
        for unit in UNITS:
            repeated = (unit * LENGTH)[:LENGTH]
            pattern.search(repeated)
            pattern.search(f"{repeated}!")

    assert_takes(2, search, lambda: linear_pattern(text))


def test_time_and_memory_grow_linearly_with_the_text() -> None:
    # A linear congruential generator: no two parts of the text are equal, so hardly any state comes again.
    seed, text = 1, ""
    for _ in range(10_000):
        seed = (seed * 1103515245 + 12345) % 2**31
        text += "ab"[seed >> 30]

    def search(given: tuple[LinearPattern | None, str]) -> None:
        pattern, part = given
        assert pattern is not None
        assert not pattern.search(part)
        assert len(pattern._automaton._states) < 5000  # else nothing shows it

    # A pattern remembers what it found, so each try has a new one.
    hard = "(?:a|b)*a(?:a|b){150}c"
    assert_linear(search, 1250, setup=lambda size: (linear_pattern(hard), text[:size]), slack=4)
    pattern = linear_pattern(hard)
    assert pattern is not None
    assert pattern.search(f"{text}c") == bool(re.search("a[ab]{150}c", f"{text}c"))


@pytest.mark.parametrize(
    "text",
    [
        "(?<=a)b",
        "(?<!a)b",
        "a(?=b)",
        "(?=a)b",
        "^a(?!b)",
        "(^(?=a)|b)",
        r"(a)\1",
        r"(?<x>a)\k<x>",
        r"\p{Script=Greek}",
        r"\p{Nonsense}",
        r"\p{}",
        r"\pL",
        r"\p{L",
        "(?i)a",
        "(?i:a)",
        "(?P<x>a)",
        "(?#x)",
        "(?<1>a)",
        "(?<x",
        "(",
        "(a",
        "(?=a",
        "a)",
        "[a",
        "[",
        "[]",
        "[]a]",
        "[^]",
        "[b-a]",
        "*",
        "a**",
        "a*+",
        "a++",
        "a?+",
        "a{2}{3}",
        "a{2,1}",
        "a{,2}",
        "a{2",
        "a{2,",
        "{2}",
        "^*",
        r"\b+",
        "^(?=a)*b",
        "\\",
        r"\a",
        r"\A",
        r"\Z",
        r"\z",
        r"\G",
        r"\07",
        r"\c1",
        r"\c",
        r"\x1",
        r"\xg1",
        r"\u12",
        r"\u{110000}",
        r"\u{12",
        r"\u{}",
        r"\ud83d\u0041",
        "\ud800",
        "a{5001}",
        "(a{100}){100}",
        "a{99999999999999999999}",
        "(a|b){4000}",
        "(" * 51 + ")" * 51,
        "(" * 500 + ")" * 500,
        None,
        7,
    ],
    ids=lambda text: str(text).encode("ascii", "backslashreplace").decode()[:30],
)
def test_what_no_automaton_decides_or_engines_read_differently_is_left_alone(text: object) -> None:
    assert linear_pattern(text) is None


@pytest.mark.parametrize(
    ("text", "found", "not_found"),
    [
        ("", ["", "x"], []),
        ("^$", [""], ["x", "\n"]),
        ("b$", ["ab"], ["ab\n", "ba"]),
        (".", ["é", "\x85"], ["\n", "\r", "\u2028", "\u2029", ""]),
        (r"^\d$", ["7"], ["\u0667", "a"]),
        (r"^\D$", ["\u0667", "é", "a"], ["7"]),
        (r"^\w$", ["a", "_", "7"], ["é", "\u0667", "-", "\u017f"]),
        (r"^\W$", ["é", "\u0667", "-"], ["a", "_"]),
        (
            r"^\s$",
            [" ", "\t", "\v", "\u00a0", "\ufeff", "\u2028", "\u3000", "\u1680"],
            ["\x1c", "\x85", "\u180e", "a"],
        ),
        (r"^\S$", ["a", "\x1c", "\x85"], [" ", "\ufeff"]),
        (r"^(\S+ )*$", ["", "ab c "], ["ab c", " a"]),
        (r"\bfoo\b", ["foo", "a foo!", "éfooé"], ["food", "1foo", "_foo"]),
        (r"^\B$", [""], []),
        (r"\Bo", ["foo"], ["o", "a o"]),
        (r"[\b]", ["\b"], ["b"]),
        (r"^[^\d\s]$", ["a", "é"], ["1", " ", "\ufeff"]),
        (r"^[\w-.]+$", ["a-b.c"], ["a b"]),
        (r"^[.\-a-c]+$", ["a-b."], ["d"]),
        (r"^[-a]+$", ["-a"], ["b"]),
        (r"^[a-]+$", ["-a"], ["b"]),
        (r"^[\]\[]+$", ["[]"], ["\\"]),
        ("^[[&|~]+$", ["[&&|~"], ["a"]),
        (r"^\/\-\@\.$", ["/-@."], ["/-@a"]),
        (r"^\t\n\v\f\r\0\cA\ca$", ["\t\n\v\f\r\0\1\1"], [""]),
        (r"^\x41\u0042\u{1f600}\ud83d\ude00$", ["AB\U0001f600\U0001f600"], ["AB"]),
        (r"^[\ud83d\ude00-\ud83d\ude02]$", ["\U0001f601"], ["\U0001f603"]),
        ("^.$", ["\U0001f600"], ["ab"]),
        (r"^\p{L}\p{Lu}\P{Lu}\p{Letter}$", ["éAbé"], ["éabé", "1Abc"]),
        (r"^[\p{gc=Nd}_]\p{General_Category=Nd}+$", ["_\u0667", "12"], ["a1"]),
        ("^{a}x{$", ["{a}x{"], ["x"]),
        ("^a{0}b{1}c{1}?d{2,3}?$", ["bcdd", "bcddd"], ["abcdd", "bcd"]),
        ("^(?:a)(?<name>b)(c)$", ["abc"], ["ab"]),
        ("^a{2,}$", ["aa", "aaaa"], ["a"]),
        ("^(ab{0,2}){2}$", ["aa", "abbab"], ["abbb", "aaa"]),
        (r"^(?=.*\d)(?!.*--)[a-z\d-]+$", ["a1-b"], ["a-b", "a1--b"]),
        ("^(?!a|b)", ["c", ""], ["a", "b"]),
        ("(^a|b$)", ["ax", "xb"], ["xa", "bx"]),
        ("a^", [], ["a", "aa"]),
        ("a|b|", ["c"], []),
        ("\u017f", ["\u017f"], ["s", "S"]),
        ("a", ["cat"], ["A"]),
    ],
)
def test_an_expression_means_what_ecma_262_says(text: str, found: list[str], not_found: list[str]) -> None:
    pattern = linear_pattern(text)
    assert pattern is not None
    assert {value: pattern.search(value) for value in [*found, *not_found]} == {
        **dict.fromkeys(found, True),
        **dict.fromkeys(not_found, False),
    }


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_are_found_where_re_finds_them(seed: int) -> None:
    outcome = chunk(f"test:{seed}")
    assert outcome.disagreements == []
    assert outcome.taken > 40
    assert 0.1 < outcome.found / outcome.compared < 0.9
    assert outcome.slowest[0] < LONGEST_TIME * slowness()


def test_the_limits_are_exact() -> None:
    assert linear_pattern("a" * MAX_PATTERN) is not None
    assert linear_pattern("a" * (MAX_PATTERN + 1)) is None
    assert linear_pattern(f"a{{{MAX_PLACES - 1}}}") is not None
    assert linear_pattern(f"a{{{MAX_PLACES}}}") is None
    assert linear_pattern("(" * 49 + ")" * 49) is not None
    assert linear_pattern("(" * 50 + ")" * 50) is None


def test_all_expressions_of_a_document_together_are_bounded() -> None:
    patterns = Patterns()
    taken = [patterns.get(f"{i}a{{4000}}") for i in range(20)]
    assert [pattern is not None for pattern in taken] == [True] * 13 + [False] * 7
    assert patterns.get("0a{4000}") is None
    assert Patterns().get(7) is None


def test_an_expression_is_known_by_its_text() -> None:
    one, same, other = (linear_pattern(text) for text in ("a+", "a+", "b+"))
    assert one == same != other
    assert hash(one) == hash(same)
    assert isinstance(one, LinearPattern)
    assert (one.pattern, one.flags, repr(one)) == ("a+", 0, "LinearPattern('a+')")
    patterns = Patterns()
    assert patterns.get("a+") is patterns.get("a+")
