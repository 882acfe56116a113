"""The oldest SDK of MCP that is supported: a server, a client, and a gateway of both."""

from __future__ import annotations

from importlib.metadata import version

import anyio
import pytest
from mcp import Client

from operator_schema import Registry, tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp_client import tools_from


@tool
def add(a: int, b: int = 0) -> dict[str, int]:
    """Add."""
    return {"total": a + b}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_gateway_before_a_server(mode):
    async def main():
        async with Client(server([add]), mode=mode) as behind:
            gateway = server(Registry(await tools_from(behind, repair=True)))
            async with Client(gateway, mode=mode) as client:
                names = [one.name for one in (await client.list_tools()).tools]
                right = await client.call_tool("add", {"a": "1", "b": 2})
                wrong = await client.call_tool("add", {})
                return names, right.structured_content, wrong.content[0].text

    assert version("mcp").startswith("2.1.")
    names, right, wrong = anyio.run(main)
    assert (names, right) == (["add"], {"total": 3})
    assert "a: missing (integer, required)" in wrong
