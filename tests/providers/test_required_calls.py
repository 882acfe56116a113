"""A choice that requires a call goes only to a provider that takes it, also while the model thinks."""

import json
from dataclasses import dataclass
from itertools import product

import pytest
from test_moves import PROVIDERS

from operator_schema import RawCall, Toolset, tool
from operator_schema.providers import Features, anthropic, bedrock, deepseek, openai_compatible
from operator_schema.testing import ScriptedModel


@dataclass
class Report:
    """A report."""

    title: str


@tool
def search(query: str) -> str:
    """Search."""
    return query


NEVER = openai_compatible("GLM", features=Features(required=False))
THINKING = openai_compatible("Kimi", needs_reasoning=True, features=Features(required_while_thinking=False))
ALL = [*PROVIDERS, NEVER, THINKING]
TOOLS = Toolset(search)
REFUSING = {"Anthropic", "Bedrock Converse", "DeepSeek", "Kimi"}


def requires(provider, thinking):
    return provider is not NEVER and not (thinking and provider.name in REFUSING)


def choice_in(provider, body):
    """Return what a request says of the tools that the model may or must call, and which it lists."""
    chosen = {key: body.get(key) for key in ("tool_choice", "toolConfig")}
    if provider.name == "Bedrock Converse":
        chosen["toolConfig"] = (body.get("toolConfig") or {}).get("toolChoice")
    return json.dumps(chosen)


each_way = pytest.mark.parametrize(
    ("provider", "thinking"), [*product(ALL, [True, None])], ids=lambda one: getattr(one, "name", one)
)


@each_way
@pytest.mark.parametrize("required", ["any", search])
def test_a_required_call_is_refused_aloud_where_the_provider_would_refuse_it(provider, thinking, required):
    offer = TOOLS.offer(required=required)
    if requires(provider, thinking):
        assert provider.request(offer, thinking=thinking) == provider.request(offer)
        return
    with pytest.raises(ValueError, match=r"offer without required=, and ask for the call in the prompt"):
        provider.request(offer, thinking=thinking)


@each_way
@pytest.mark.parametrize("required", [None, "none"])
def test_any_other_choice_is_the_same_while_the_model_thinks(provider, thinking, required):
    offer = TOOLS.offer(required=required)
    assert provider.request(offer, thinking=thinking) == provider.request(offer)


@each_way
@pytest.mark.parametrize("offered", [[], TOOLS.offer()], ids=["alone", "with tools"])
def test_a_tool_that_takes_the_answer_is_required_only_where_a_call_may_be(provider, thinking, offered):
    body = provider.request(offered, ["Hi."], output=Report, thinking=thinking)
    if not requires(provider, thinking) and "final_answer" in json.dumps(body.get("tools") or []):
        free = provider.request(TOOLS.offer())
        assert choice_in(provider, body) == choice_in(provider, free)
    for said in (json.dumps({"title": "x"}), RawCall("call_1", "final_answer", {"title": "x"})):
        if isinstance(said, RawCall) and "final_answer" not in json.dumps(body.get("tools") or []):
            continue
        response = ScriptedModel(provider, [said])(**body)
        assert provider.answer(response, offered, output=Report).output == Report("x")


@pytest.mark.parametrize("provider", [anthropic, bedrock, deepseek], ids=lambda provider: provider.name)
def test_the_message_says_that_thinking_is_the_reason(provider):
    with pytest.raises(ValueError, match=r"while the model thinks: .*, or switch thinking off$"):
        provider.request(TOOLS.offer(required="any"), thinking=True)


@pytest.mark.parametrize("value", ["on", 1, {"type": "enabled"}])
def test_thinking_is_a_switch(value):
    with pytest.raises(TypeError, match="thinking must be True or False"):
        anthropic.request(TOOLS, thinking=value)
