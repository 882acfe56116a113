"""Time grows with the text, whatever is in it; `make campaign-parsers` runs the whole of it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from parsers import OWN, PRODUCTS, Shape, slow_at_any_size, slow_questions
from patience import assert_linear, slowness

from operator_schema.code_tools.language import language_named
from operator_schema.code_tools.parsing import SlowParseError

pytestmark = pytest.mark.slow("measures how time grows with the text")

EACH = [*OWN, *PRODUCTS]
# Time that grows with the square shows in short texts too, where less of it is too much.
ASKED, ASKED_SECONDS = 2000, 0.009
LONG, LONG_SECONDS = 10_000, 0.004


@pytest.mark.parametrize("place", range(len(EACH)), ids=lambda place: f"{place}:{EACH[place].language}")
def test_four_times_the_text_takes_about_four_times_as_long(place):
    shape = EACH[place]
    found = slow_questions(shape, ASKED, most=ASKED_SECONDS)
    # On a busy machine now this question takes longer, now that one.
    assert not (found and slow_questions(shape, ASKED, most=ASKED_SECONDS * slowness())), found


@pytest.mark.parametrize("place", range(len(EACH)), ids=lambda place: f"{place}:{EACH[place].language}")
def test_what_was_parsed_is_read_in_time_that_grows_with_the_text(place):
    shape = EACH[place]
    language = language_named(shape.language)

    def read(source):
        with suppress(SlowParseError):  # the parser has a limit of its own
            language.parse(source)

    assert_linear(read, LONG // 8, setup=lambda size: shape.text(size).encode(), slack=4, least=LONG_SECONDS)


def test_a_statement_with_many_declarators_takes_time_that_grows_with_it():
    """The parser goes through all parts of a statement to find one."""
    shape = Shape("cpp", "class A {\n", "|a, ||\n", "", "};\n")
    assert_linear(language_named("cpp").parse, 8_000, setup=lambda size: shape.text(size).encode())


def test_a_shape_repeats_its_unit_up_to_a_size():
    assert Shape("python", "[", "a{}(", ")", "]").text(20) == "[a0(a1())]"


@pytest.mark.parametrize(
    ("took", "size", "is_slow"),
    [
        (lambda size: size * 1e-6, 40_000, False),
        (lambda size: size**2 * 1e-12 + size * 1e-6, 40_000, False),
        (lambda size: size**2 * 1e-10, 160_000, True),
        (lambda size: size**2 * 1e-11, 1_000_000, True),
        (lambda size: size**2 * 5e-12, 1_000_000, False),
        (lambda _: "ValueError", 40_000, True),
    ],
)
def test_longer_texts_are_asked_about_where_the_time_grows_faster(monkeypatch, took, size, is_slow):
    monkeypatch.setattr("parsers.seconds", lambda _folder, _shape, size: {"ask": took(size)})
    found, largest = slow_at_any_size(OWN[0])
    assert (largest, bool(found)) == (size, is_slow)
