"""The page about round trips: what goes back to each provider is what it says."""

from __future__ import annotations

import json
import re

import pytest
from round_trips import SECTIONS, names_of_the_loop, recorded

from operator_schema import providers

pytestmark = pytest.mark.needs_threads
LISTS = ("messages", "contents", "input")


@pytest.fixture(scope="module")
def names():
    return names_of_the_loop()


@pytest.mark.parametrize("title", [title for title in SECTIONS if title != "Others"])
def test_the_result_goes_back_as_the_page_says(title, names):
    section = SECTIONS[title]
    provider = getattr(providers, re.search(r"operator_schema.providers import (\w+)", section)[1])
    said = json.loads(re.search(r"```json\n(.*?)```", section, re.DOTALL)[1])
    history, responses = ["What is 20 + 22?"], recorded(title)
    assert names["talk"](provider, history, lambda _body: responses.pop(0)) == "It is 42."
    body = provider.request(names["offer"], history)
    (items,) = [body[name] for name in LISTS if name in body]
    assert said in items


def test_every_provider_has_its_line():
    imports = re.findall(
        r"^from operator_schema.providers import (\w+)", "".join(SECTIONS.values()), re.MULTILINE
    )
    shown = set(imports)
    values = {name for name in providers.__all__ if isinstance(getattr(providers, name), providers.Provider)}
    assert shown == values - {"gemini_parameters"}  # the same API, with the older form of schemas
