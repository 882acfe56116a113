"""The page about round trips: its parts, and two responses of each provider."""

from __future__ import annotations

import json
import re
from doctest import DocTestParser
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "provider-round-trips.md"
RESPONSES = Path(__file__).resolve().parent / "providers" / "data" / "round_trips.json"
COMMON, _, _REST = PAGE.read_text(encoding="utf-8").partition("<!-- tabs -->")
SECTIONS = {section.partition("\n")[0]: section for section in _REST.split("\n### ")[1:]}


def recorded(title: str) -> list[dict[str, Any]]:
    """Return what a provider answers: first a call of `add`, then a text."""
    return json.loads(RESPONSES.read_text(encoding="utf-8"))[title]


def names_of_the_loop() -> dict[str, Any]:
    """Run the examples that all providers have in common, and return the names that they define."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", COMMON, re.DOTALL):
        for example in DocTestParser().get_examples(block):
            exec(example.source, names)  # noqa: S102  # the page's own code
    return names
