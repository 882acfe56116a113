"""`schema --provider`: the schema that a provider gets, and what differs from ours."""

from __future__ import annotations

import json

import pytest

from operator_schema import providers
from operator_schema.providers import provider_names

TOOLS = '''
from dataclasses import dataclass
from typing import Any

from operator_schema import Registry, tool


@dataclass
class Order:
    number: int
    priority: str | None = None


@tool
def place(number: int, urgent: bool = False) -> int:
    """Place an order."""
    return number


@tool
def ping() -> int:
    """Answer."""
    return 1


@tool
def anything(value: dict[int, Any]) -> int:
    """Take anything."""
    return 1


registry = Registry([place])
Numbers = list[int]
'''


@pytest.fixture
def shown(run, folder):
    (folder / "sent.py").write_text(TOOLS)

    def call(*words):
        return run("schema", *words)

    return call


def sides(text):
    """Return ours and theirs, as far as the marked lines have them."""
    lines = text.partition("\n\n")[0].splitlines()
    lines = [line for line in lines if line[:1] in "+- " and " for " not in line]
    ours = "".join(line[1:] for line in lines if line[0] in " -")
    return ours, "".join(line[1:] for line in lines if line[0] in " +")


@pytest.mark.parametrize("strict", [(), ("--strict",)])
@pytest.mark.parametrize("name", provider_names())
def test_the_lines_without_minus_are_what_the_provider_gets(shown, name, strict):
    words = ("--provider", name, *strict, "sent:place")
    if strict and getattr(providers, name).dialect is None:
        status, out, err = shown(*words)
        assert (status, out) == (2, "")
        assert "has no known strict mode: leave out --strict" in err
        return
    status, out, err = shown(*words)
    assert (status, err) == (0, "")
    data = json.loads(shown(*words, "--json")[1])
    assert json.loads(shown(*words, "--compact")[1]) == data["schema"]
    written = json.dumps(data["schema"], indent=2, ensure_ascii=False).replace("\n", "")
    assert sides(out)[1].replace(",", "") == written.replace(",", "")
    assert out.endswith((f"{len(data['losses'])} losses\n", "1 loss\n"))
    assert data["strict"] is bool(strict)
    for loss in data["losses"]:
        assert f"{loss['code']:<9}  {loss['path']}" in out


def test_a_schema_that_stays_has_no_marks(shown):
    status, out, _ = shown("--provider", "anthropic", "sent:Order")
    ours = json.loads(shown("sent:Order")[1])
    assert status == 0
    assert sides(out)[0] == sides(out)[1]
    assert json.loads(sides(out)[0]) == ours
    assert "order for Anthropic: " in out


def test_a_tool_of_a_registry_is_shown_too(shown):
    of_registry, of_module = (
        shown("--provider", "xai", f"sent:{name}") for name in ("registry.place", "place")
    )
    assert of_registry == of_module


@pytest.mark.parametrize("name", provider_names())
def test_a_tool_without_parameters_has_a_schema_too(shown, name):
    found = json.loads(shown("--provider", name, "--json", "sent:ping")[1])["schema"]
    assert found["type"].lower() == "object"


def test_what_a_provider_refuses_is_an_error_with_its_remedy(shown):
    words = ("--provider", "openai_chat", "--strict", "sent:anything")
    status, out, err = shown(*words)
    if status == 0:
        pytest.fail(f"it isn't refused: {out}")
    assert out == ""
    assert "value" in err
    status, out, _ = shown(*words, "--json")
    data = json.loads(out)
    assert (status, data["schema"]) == (1, None)
    assert data["refused"][0]["line"] in err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--strict", "sent:Order"), 2, "--strict is for --provider"),
        (("--provider", "opnai_chat", "sent:Order"), 2, "did you mean openai_chat?"),
        (("--provider", "anthropic", "sent:Numbers"), 1, "arguments are a JSON object"),
        (("--provider", "anthropic", "sent:nothing"), 2, "the module sent has no nothing"),
    ],
)
def test_wrong_use_is_said(shown, words, status, said):
    found, out, err = shown(*words)
    assert (found, out) == (status, "")
    assert said in err
