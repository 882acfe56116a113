"""Time grows with the text, whatever is in it; `make campaign-parsers` runs the whole of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from parsers import OWN, PRODUCTS, Shape, slow_questions

EACH = [*OWN, *PRODUCTS]


@pytest.mark.parametrize("place", range(len(EACH)), ids=lambda place: f"{place}:{EACH[place].language}")
def test_four_times_the_text_takes_about_four_times_as_long(place):
    assert slow_questions(EACH[place], 8000, most=0.15) == []


def test_a_shape_repeats_its_unit_up_to_a_size():
    assert Shape("python", "[", "a{}(", ")", "]").text(20) == "[a0(a1())]"
