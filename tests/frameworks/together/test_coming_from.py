"""The page for people who come from another library: both programs of a pair do the same."""

from __future__ import annotations

import asyncio
import json

from agents.tool_context import ToolContext
from coming_from import run_here, run_there
from fastmcp import Client
from fastmcp.exceptions import ToolError

from operator_schema import Executor, RawCall

REFUSED = "At most 100 can be counted."


def test_fastmcp():
    there, here = run_there("FastMCP"), run_here("FastMCP")

    async def call(items):
        async with Client(there["server"]) as client:
            (listed,) = await client.list_tools()
            try:
                return listed, (await client.call_tool("count", {"items": items})).data
            except ToolError as error:
                return listed, str(error)

    count = here["count"]
    listed, result = asyncio.run(call(3))
    _, refused = asyncio.run(call(101))
    ours = [Executor(here["desk"]).run_sync(RawCall("1", "count", {"items": n})) for n in (3, 101)]
    assert [result, refused] == [ours[0].value, ours[1].content] == [3, REFUSED]
    assert listed.annotations.read_only_hint is count.annotations.read_only is True
    schema = count.definition()["input_schema"]
    assert listed.input_schema["properties"]["items"] == schema["properties"]["items"]
    assert listed.input_schema["required"] == schema["required"]


def test_langchain():
    there, here = run_there("LangChain"), run_here("LangChain")
    assert str(there["result"]) == here["result"] == "42"
    schema = there["multiply"].tool_call_schema.model_json_schema()
    described = {name: value["description"] for name, value in schema["properties"].items()}
    ours = here["multiply"].definition()["input_schema"]["properties"]
    assert described == {name: value["description"] for name, value in ours.items()}


def test_openai_agents():
    there, here = run_there("openai-agents"), run_here("openai-agents")
    arguments = json.dumps({"item": "lamp"})
    shop = there["Shop"]({"lamp": 40})
    context = ToolContext(shop, tool_name="buy", tool_call_id="1", tool_arguments=arguments)
    result = asyncio.run(there["buy"].on_invoke_tool(context, arguments))
    assert result == here["executor"].run_sync(RawCall("1", "buy", arguments)).content == "bought for 40"
    assert there["buy"].needs_approval is here["buy"].annotations.confirm is True
