"""Be the client that the conformance tests of the protocol try: `client.py LIBRARY URL` calls every tool."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

import anyio
from mcp import Client, types

CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
_VALUES: dict[str, Any] = {"string": "text", "integer": 2, "number": 2, "boolean": True, "object": {}}


async def accept(_context: Any, asked: Any) -> types.ElicitResult:
    """Agree, with the defaults of the form."""
    fields = dict(asked.requested_schema.get("properties", {}))
    content = {
        name: field.get("default", _VALUES.get(field.get("type", ""), "text"))
        for name, field in fields.items()
    }
    return types.ElicitResult(action="accept", content=content)


def calls(tools: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Return a call of each tool: one that the scenario asks for, or one that fits the schema."""
    named = CONTEXT.get("toolCalls")
    if named is not None:
        return [(each["name"], each["arguments"]) for each in named]
    schemas = dict(tools)
    rich = schemas.get("json_schema_2020_12_tool")
    found = []
    for name, schema in tools:
        fields = schema.get("properties", {})
        filled = {key: _VALUES.get(fields.get(key, {}).get("type"), {}) for key in schema.get("required", [])}
        found.append((name, {"schema": rich} if "schema" in fields and rich is not None else filled))
    return found


async def as_ours(url: str) -> None:
    """Call the tools of a server as tools of ours."""
    from operator_schema import Executor, RawCall, Registry
    from operator_schema.adapters.mcp_client import tools_from

    async with Client(url, elicitation_callback=accept) as client:
        tools = await tools_from(client, repair=True)
        executor = Executor(Registry(tools), timeout=20)
        schemas = [(tool.name, tool.input_schema()) for tool in tools]
        for name, arguments in calls(schemas):
            await executor.run(RawCall(name=name, arguments=json.dumps(arguments)))


async def as_sdk(url: str) -> None:
    """Call the tools of a server by the SDK alone."""
    async with Client(url, elicitation_callback=accept) as client:
        listed = (await client.list_tools()).tools
        for name, arguments in calls([(tool.name, tool.input_schema) for tool in listed]):
            with suppress(Exception):  # the scenario looks at what was sent, and our executor raises nothing
                await client.call_tool(name, arguments)


async def as_fastmcp(url: str) -> None:
    """Call the tools of a server by FastMCP."""
    from fastmcp import Client as FastClient

    async def answer(message: str, response_type: Any, params: Any, context: Any) -> types.ElicitResult:
        return await accept(context, params)

    async with FastClient(url, elicitation_handler=answer) as client:
        listed = await client.list_tools()
        for name, arguments in calls([(tool.name, tool.input_schema) for tool in listed]):
            with suppress(Exception):
                await client.call_tool(name, arguments, raise_on_error=False)


if __name__ == "__main__":
    library, url = sys.argv[1:]
    anyio.run({"ours": as_ours, "sdk": as_sdk, "fastmcp": as_fastmcp}[library], url)
