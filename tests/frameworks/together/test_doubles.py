"""Doubles and cassettes inside of frameworks: their adapters take them for the tools."""

from __future__ import annotations

import asyncio

from agents.tool_context import ToolContext
from langchain_core.messages import ToolCall

from operator_schema import Executor, tool
from operator_schema.adapters import langchain_core, openai_agents
from operator_schema.testing import ToolDouble, assert_calls, playback, record


@tool
def find(order_id: str, limit: int = 3) -> list[str]:
    """Find orders."""
    raise SystemError


def langchain(made):
    """Return what the model reads of a right call and a wrong one."""
    calls = [ToolCall(name="find", args={"order_id": one}, id="c1", type="tool_call") for one in ("A7", 7)]
    return [made.invoke(call).content for call in calls]


def agents(made):
    """Return what the model reads of a right call and a wrong one."""

    async def run():
        found = []
        for arguments in ('{"order_id": "A7"}', '{"order_id": 7}'):
            context = ToolContext(None, tool_name="find", tool_call_id="c1", tool_arguments=arguments)
            found.append(await made.on_invoke_tool(context, arguments))
        return found

    return asyncio.run(run())


def test_adapters_take_doubles(tmp_path):
    for adapter, ask in ((langchain_core, langchain), (openai_agents, agents)):
        double = ToolDouble(find, ["a", "b"])
        good, bad = ask(adapter.to_tool(double))
        assert good == '["a","b"]'
        assert "order_id: expected string" in bad
        assert_calls(double, [{"order_id": "A7"}])


def test_adapters_record_and_play_back(tmp_path):
    for adapter, ask in ((langchain_core, langchain), (openai_agents, agents)):
        path = tmp_path / f"{ask.__name__}.jsonl"
        recording = record(Executor(ToolDouble(find, ["a", "b"])), path)
        (made,) = adapter.to_tools(recording)
        found = ask(made)
        playing = playback(find, path)
        (made,) = adapter.to_tools(playing)
        assert ask(made) == found
        assert playing.left == 0
