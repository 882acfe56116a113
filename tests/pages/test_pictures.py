"""The pictures of the pages are those that their scripts draw today."""

from __future__ import annotations

import re
import runpy
from html import unescape
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.needs_threads
@pytest.mark.parametrize("script", sorted(PICTURES.glob("*.py")), ids=lambda path: path.stem)
def test_the_pictures_are_those_of_their_script(script):
    for name, drawn in runpy.run_path(str(script))["pictures"]().items():
        assert (PICTURES / name).read_text(encoding="utf-8") == drawn, f"run python {script.name}"


PHONE = 390 - 2 * 16
"""Pixels: the width of a telephone's screen, less the margins of a page."""


def test_the_narrow_picture_can_be_read_on_a_telephone():
    drawing = (PICTURES / "refund-narrow.svg").read_text(encoding="utf-8")
    width = int(re.search(r'viewBox="0 0 (\d+) ', drawing)[1])
    letters = min(int(size) for size in re.findall(r"(\d+)px", drawing))
    assert letters * min(1, PHONE / width) >= 11
    longest = max(len(unescape(line)) for line in re.findall(r">([^<\n]+)</text>", drawing))
    assert longest * 7.3 < width
