"""The pictures of the pages are those that their scripts draw today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


@pytest.mark.needs_threads
@pytest.mark.parametrize("script", sorted(PICTURES.glob("*.py")), ids=lambda path: path.stem)
def test_the_picture_is_that_of_its_script(script):
    drawn = runpy.run_path(str(script))["picture"]()
    assert script.with_suffix(".svg").read_text(encoding="utf-8") == drawn, f"run python {script.name}"
