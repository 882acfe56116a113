"""The client of fastmcp, over both transports of our server."""

from __future__ import annotations

import anyio
import fastmcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp_processes import HERE, command, environment, http_server


def test_it_calls_tools_over_http():
    async def main(url):
        async with fastmcp.Client(url) as client:
            return (await client.call_tool("add", {"a": 1})).structured_content

    with http_server("mcp_app:registry") as (url, _):
        assert anyio.run(main, url) == {"total": 1}


def test_it_sees_what_a_toolset_has_on_over_stdio():
    async def main():
        program, *words = command("mcp_app:toolset")
        transport = StdioTransport(program, words, cwd=str(HERE), env=environment())
        async with fastmcp.Client(transport) as client:
            names = [one.name for one in await client.list_tools()]
            with pytest.raises(fastmcp.exceptions.ToolError, match="1 problem with the arguments"):
                await client.call_tool("add", {"a": "x"})
            return names, (await client.call_tool("add", {"a": 1})).structured_content

    assert anyio.run(main) == (["add"], {"total": 1})
