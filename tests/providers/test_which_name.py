"""The table that says which provider to take for a service: each is one, and holds a conversation."""

import re
from pathlib import Path

import pytest
from wire_rules import faults

from operator_schema import Executor, RawCall, Toolset, Transcript, providers, tool
from operator_schema.testing import ScriptedModel

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"
_, TABLE, _ = PAGE.read_text(encoding="utf-8").split("<!-- which name -->")
ROWS = [row.strip("| ").split(" | ") for row in TABLE.strip().split("\n")[2:]]
"""Of each service: what the reader uses, what to take, and what is good to know."""

TAKEN = [(uses, code) for uses, taken, *_ in ROWS for code in re.findall("`([^`]+)`", taken)]


@tool
def find(query: str) -> str:
    """Find it."""
    return query


TOOLS = Toolset(find)


def taken(code):
    return eval(code, {name: getattr(providers, name) for name in providers.__all__})  # noqa: S307  # the page's own code


@pytest.mark.needs_threads
@pytest.mark.parametrize(("uses", "code"), TAKEN)
def test_a_conversation_is_held_and_moves(uses, code):
    provider = taken(code)
    model = ScriptedModel(provider, [RawCall("call_0001", "find", {"query": "x"}), "Found."])
    history, offer = Transcript(["Find x."]), TOOLS.offer()
    for _ in range(2):
        answer = provider.answer(model(**provider.request(offer, history)), offer)
        turn = Executor(TOOLS).run_sync(offer.round(answer)).commit(history)
    assert (answer.text, turn.provider) == ("Found.", provider.name), uses
    for other in (providers.anthropic, providers.mistral, providers.openai_chat, providers.openai_responses):
        assert faults(other, other.request(offer, history)) == []


def test_each_service_keeps_a_name_of_its_own():
    names = [taken(code).name for _, code in TAKEN]
    assert len(set(names)) == len(names)
    own = {getattr(providers, name).name for name in providers.provider_names()}
    assert set(names) & own == {"Gemini"}


def test_who_imports_a_service_by_its_name_reads_what_to_take():
    services = [
        (word.lower(), "".join(code for uses, code in TAKEN if word in uses))
        for word in sorted({word for uses, _ in TAKEN for word in re.findall("[A-Za-z]+", uses)})
        if word.lower() in providers._OTHER_NAMES
    ]
    assert len(services) > 20
    for service, codes in services:
        with pytest.raises(ImportError) as caught:
            exec(f"from operator_schema.providers import {service}")  # noqa: S102  # a name of the table
        assert re.search(r"did you mean (\w+)\?", str(caught.value))[1] in codes, service
