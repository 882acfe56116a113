"""Messages: bounded, on one line, safe to print, whatever is shown."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path, PurePosixPath

import pytest
from hostile_values import ERRORS, GIVING, error_of, named
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON_VALUES

from operator_schema.message_text import (
    EXCERPT_LENGTH,
    checked_path,
    class_name,
    class_name_of,
    clip,
    escape,
    exception_text,
    excerpt,
    key_step,
    kind,
    listed,
    one_line,
    quote,
    received,
    said_by,
    show_error,
    show_path,
)
from operator_schema.similar_names import nearest, nearest_names, words_of


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ('say "hi"\\', '"say \\"hi\\"\\\\"'),
        ("a\nb\x1b[31m", '"a\\u000ab\\u001b[31m"'),
        ("\u202egnp", '"\\u202egnp"'),
        ("\ud800", '"\\ud800"'),
        ("\U000e0001", '"\\udb40\\udc01"'),
        ("x" * 100, '"' + "x" * 57 + '…"'),
        (True, "true"),
        (None, "null"),
        (12, "12"),
        (10**50, "an integer of about 51 digits"),
        (0.5, "0.5"),
        (float("nan"), "nan"),
        ([1, "a"], '[1, "a"]'),
        ({"a": [1], 2: None}, '{"a": [1], 2: null}'),
        ([], "[]"),
        ({}, "{}"),
        (object(), "object"),
    ],
)
def test_excerpt(value, shown):
    assert excerpt(value) == shown


@given(JSON_VALUES | st.text(st.characters()), st.integers(8, 80))
def test_every_excerpt_is_bounded_printable_and_writable(value, limit):
    shown = excerpt(value, limit)
    assert len(shown) <= max(limit, 32)
    assert shown.isprintable()
    shown.encode()


def test_huge_values_are_shown_at_once():
    deep = []
    for _ in range(50_000):
        deep = [deep]
    for value in ("x" * 10**7, [0] * 10**6, {i: i for i in range(10**5)}, 10**10**6, deep):
        assert len(received(value)) <= EXCERPT_LENGTH + 20
    while deep:
        deep = deep.pop()


def test_what_doubles_at_each_level_is_shown_at_once():
    twice, named = [], {}
    twice += [twice, twice]
    named |= {"a": named, "b": named}
    chain = []
    chain += [chain]
    calls = 0

    def profile(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        shown = [excerpt(each) for each in (twice, named, [chain, twice, twice], [twice, chain] * 9)]
    finally:
        sys.setprofile(before)
    assert all(len(text) == EXCERPT_LENGTH for text in shown)
    assert calls < 1000


def test_received_and_kind():
    assert received("5") == 'string "5"'
    assert received(10**400) == "an integer of about 401 digits"
    assert received(None) == "null"
    assert received(True) == "boolean true"
    assert received((1,)) == "tuple"
    assert kind({}) == "object"


@pytest.mark.parametrize("show", [excerpt, kind, received, key_step, class_name_of])
@pytest.mark.parametrize("gives", GIVING)
def test_a_value_has_the_name_of_its_class_whatever_its_metaclass_says(show, gives):
    value = named(gives)()
    assert show(value).startswith("Hostile") or show is key_step
    assert class_name(type(value)) == "Hostile"


@pytest.mark.parametrize(("name", "text"), ERRORS)
def test_an_exception_is_shown_whatever_its_own_code_does(name, text):
    error = error_of(name, text)
    said = {"as usual": "said", "a text of its own": "own"}.get(text)
    assert exception_text(error) == show_error(error) == (f"Hostile: {said}" if said else "Hostile")
    assert said_by(error, 100) == (said or "Hostile")


@given(st.text(st.characters()), st.integers(20, 80))
def test_a_shown_exception_is_bounded_and_printable(text, limit):
    for shown in (said_by(ValueError(text), limit), exception_text(ValueError(text), limit)):
        assert len(shown) <= limit
        assert all(line.isprintable() for line in shown.split("\n"))
    assert len(show_error(ValueError(text), limit)) <= len("ValueError: ") + limit
    assert show_error(ValueError(text), limit).isprintable()


def test_an_exception_without_a_message_is_its_class_alone():
    for shown in (said_by(KeyError(), 9), show_error(KeyError()), exception_text(KeyError())):
        assert shown == "KeyError"
    assert show_error(ValueError("ValueError")) == "ValueError: ValueError"


class BytesPath:
    def __fspath__(self):
        return b"a"


@pytest.mark.parametrize("path", ["a", "", Path("a"), PurePosixPath("a")])
def test_a_path_is_a_string_or_an_object_such_as_a_path(path):
    assert checked_path("the path", path) == ("" if path == "" else "a")


@pytest.mark.parametrize("path", [None, 5, b"a", ["a"], Path, BytesPath()])
def test_what_is_no_path_is_named(path):
    with pytest.raises(TypeError, match="the path must be a string or a Path, not "):
        checked_path("the path", path)


@given(st.text(st.characters()), st.integers(1, 80))
def test_a_text_on_one_line_is_the_beginning_of_the_escaped_text(text, limit):
    assert one_line(text, limit) == clip(escape(text), limit)
    assert len(one_line(text, limit)) <= limit


def test_quote_and_clip():
    assert quote("x" * 60) == '"' + "x" * 57 + '…"'
    assert quote('"' * 60, 20) == '"' + '\\"' * 8 + "\\" + '…"'
    assert clip("abc", 2) == "a…"
    assert escape("plain") == "plain"
    assert escape("größe 日本語 \U0001f600") == "größe 日本語 \U0001f600"
    for character in "\u034f\u115f\u1160\u17b4\u180b\u180f\u3164\ufe00\ufe0f\uffa0":
        assert escape(f"a{character}") == f"a\\u{ord(character):04x}"
    assert escape("\U000e0100") == "\\udb40\\udd00"


@pytest.mark.parametrize(
    ("name", "names", "found"),
    [
        ("naem", ["name", "age"], "name"),
        ("maxResults", ["max_results", "maxresult"], "max_results"),
        ("Max-Results", ["max_results"], "max_results"),
        ("zzz", ["name"], None),
        ("", ["name"], None),
        ("name", [], None),
        ("x" * 65, ["x" * 64], None),
        ("naem", ["n" * 100, "name"], "name"),
        ("edned", ["ended"], "ended"),
        ("rul", ["rules", "url"], "url"),
        ("ab", ["ac"], None),
        ("regstry", ["Registry", "registry"], "registry"),
        ("Regstry", ["registry", "Registry"], "Registry"),
    ],
)
def test_nearest(name, names, found):
    assert nearest(name, names) == found


def slips(name, letters):
    """Return all that a single slip makes of a name."""
    return {
        slip
        for at in range(len(name) + 1)
        for slip in (
            name[:at] + name[at + 1 :],
            name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            *(name[:at] + letter + name[at:] for letter in letters),
            *(name[:at] + letter + name[at + 1 :] for letter in letters if at < len(name)),
        )
    } - {name}


def test_names_that_a_single_slip_makes_come_first():
    names = ["".join(letters) for size in range(1, 5) for letters in product("abc", repeat=size)]
    for name in names:
        near = {other for other in names if other in slips(name, "abc") and max(len(name), len(other)) > 2}
        for order in (names, names[::-1]):
            others = [other for other in order if other != name]
            assert set(nearest_names(name, others, len(near))) == near


def test_listed():
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcde"), 2, " | ") == "a | b | … (3 more)"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ((), ""),
        (("a", 0, "b"), "a[0].b"),
        ((0, "a"), "[0].a"),
        (("x-y", "a.b", ""), '["x-y"]["a.b"][""]'),
        (("a\nb",), '["a\\u000ab"]'),
        (("größe",), "größe"),
    ],
)
def test_show_path(path, shown):
    assert show_path(path) == shown


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("readfile", ["read_file", "read_files"]),
        ("READ-FILE", ["read_file", "read_files"]),
        ("zzz", []),
        ("read_file" * 10, []),
    ],
)
def test_nearest_names(name, found):
    assert nearest_names(name, ["web_search", "read_files", "read_file"], 2) == found
    assert nearest_names(name, ["web_search", "read_files", "read_file"], 1) == found[:1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("api_key", ("api", "key")),
        ("apiKey", ("api", "key")),
        ("APIKey2", ("api", "key", "2")),
        ("userID", ("user", "id")),
        ("A", ("a",)),
        ("_", ()),
        ("", ()),
        ("max-results of it", ("max", "results", "of", "it")),
        ("parseHTML5Page", ("parse", "html", "5", "page")),
        ("b٣", ("b", "٣")),
        ("погода\n天气", ("погода", "天气")),
    ],
)
def test_words_of_names(name, words):
    assert words_of(name) == words


@given(st.lists(st.from_regex("[a-z]{2,9}", fullmatch=True), min_size=1, max_size=5))
def test_a_name_has_the_same_words_in_each_convention(words):
    camel = words[0] + "".join(word.title() for word in words[1:])
    for name in ("_".join(words), "-".join(words), " ".join(words), "_".join(words).upper(), camel):
        assert words_of(name) == tuple(words)
