"""The tools of MCP servers of others: read, called, and offered again by a gateway."""

from __future__ import annotations

import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from operator_schema import Registry
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp_client import tools_from


@asynccontextmanager
async def started(module, *arguments):
    parameters = StdioServerParameters(command=sys.executable, args=["-m", module, *arguments])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


def test_real_servers_are_read_as_a_whole(tmp_path):
    async def main():
        found = {}
        for module, arguments in (("mcp_server_time", ()), ("mcp_server_git", ()), ("mcp_server_fetch", ())):
            async with started(module, *arguments) as session:
                tools = await tools_from(session, repair=True)
                listed = (await session.list_tools()).tools
                assert [tool.codec.json_schema() for tool in tools] == [each.input_schema for each in listed]
                assert (tools.left, tools.refused) == ({}, {})
                found[module] = len(tools)
        return found

    counts = anyio.run(main)
    assert counts["mcp_server_git"] >= 10
    assert min(counts.values()) >= 1
    del tmp_path


def test_a_gateway_in_front_of_a_real_server():
    async def main():
        async with started("mcp_server_time") as session:
            gateway = server(Registry(await tools_from(session, prefix="time_", repair=True)))
            async with Client(gateway) as client:
                wrong = await client.call_tool("time_convert_time", {"source_timezone": "Etc/UTC", "time": 9})
                right = await client.call_tool("time_get_current_time", {"timeZone": "Etc/UTC"})
                return wrong, right

    wrong, right = anyio.run(main)
    assert wrong.is_error
    assert wrong.content[0].text.splitlines()[1:3] == [
        '- time: expected string, got integer 9; did you mean "9"?',
        "- target_timezone: missing (string, required)",
    ]
    assert right.structured_content["timezone"] == "Etc/UTC"


PAGE = Path(__file__).parents[3] / "docs" / "mcp-gateway.md"


def test_the_gateway_of_the_docs(tmp_path):
    program, page = tmp_path / "gateway.py", PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"```py\n(import anyio\nfrom mcp.server.stdio.*?)```", page, re.DOTALL)
    command = f'[{sys.executable!r}, "-m", "mcp_server_time"]'
    for source in ('["uvx", "mcp-server-time"]', '"https://notes.example.com/mcp"'):
        assert source in code
        code = code.replace(source, command)
    program.write_text(code)
    root = str(PAGE.parents[1])

    async def main():
        parameters = StdioServerParameters(
            command=sys.executable, args=[str(program)], env={"PYTHONPATH": root}
        )
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            listed = await session.list_tools()
            answer = await session.call_tool("time_get_current_time", {"timeZone": "Etc/UTC"})
            return listed, answer

    listed, answer = anyio.run(main)
    assert [each.name for each in listed.tools] == [
        *("time_get_current_time", "time_convert_time"),
        *("notes_get_current_time", "notes_convert_time"),
    ]
    assert not answer.is_error
    assert '"timezone": "Etc/UTC"' in answer.content[0].text
