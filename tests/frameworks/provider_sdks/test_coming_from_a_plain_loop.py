"""The page for people who have a loop of their own: both programs do the same, with the real SDKs."""

from __future__ import annotations

import pytest
from anthropic import Anthropic
from coming_from import SECTIONS, run_here, run_there
from openai import OpenAI

from operator_schema import RawCall
from operator_schema.testing import ScriptedModel

SCRIPT = [RawCall(name="get_weather", arguments={"city": "Oslo"}), "It is sunny."]
QUESTION = {"role": "user", "content": "How is Oslo?"}


@pytest.mark.parametrize("run", [run_there, run_here])
def test_both_loops_ask_the_model_twice(run):
    ask = run("A plain loop")["ask"]
    messages = [QUESTION]
    model = ScriptedModel(SCRIPT)
    with model.serve() as address:
        assert ask(OpenAI(api_key="none", base_url=address), messages) == "It is sunny."
    sent = model.requests[1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[2]["content"] == "sunny in Oslo"
    assert sent[1]["tool_calls"][0]["function"]["arguments"].replace(" ", "") == '{"city":"Oslo"}'
    assert len(messages) == 4


def test_the_loop_here_reads_what_the_page_says_with_anthropic():
    block = SECTIONS["A plain loop"].partition("```python\n")[2].partition("```")[0]
    program = block.replace("openai_chat", "anthropic").replace(
        'client.chat.completions.create(model="gpt-5.2",',
        'client.messages.create(model="any", max_tokens=99,',
    )
    names = {"__name__": "plain_loop"}
    exec(program, names)  # noqa: S102  # the page's own code
    messages = [QUESTION]
    with ScriptedModel(SCRIPT).serve() as address:
        assert names["ask"](Anthropic(api_key="none", base_url=address), messages) == "It is sunny."
    assert messages[2]["content"][0]["content"] == [{"type": "text", "text": "sunny in Oslo"}]


def test_a_wrong_call_ends_the_plain_loop_and_not_ours():
    script = [RawCall(name="get_weather", arguments={"town": "Oslo"}), *SCRIPT]
    with ScriptedModel(script).serve() as address, pytest.raises(TypeError, match="town"):
        run_there("A plain loop")["ask"](OpenAI(api_key="none", base_url=address), [QUESTION])
    with ScriptedModel(script).serve() as address:
        said = run_here("A plain loop")["ask"](OpenAI(api_key="none", base_url=address), [QUESTION])
    assert said == "It is sunny."
