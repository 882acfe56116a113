"""Doubles and cassettes behind an MCP server: a client can't tell them from the tools."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import pytest
from mcp import Client

from operator_schema import Executor, Registry, tool
from operator_schema.adapters.mcp import server
from operator_schema.testing import ToolDouble, assert_calls, playback, record

pytestmark = pytest.mark.needs_threads


@dataclass
class Order:
    """An order."""

    id: str
    total: float


@tool(read_only=True)
def find(order_id: str, limit: int = 3) -> list[Order]:
    """Find orders."""
    return [Order(order_id, float(limit))]


def asked(question, tools, executor=None):
    """Return what a client's question gets from a server of these tools."""

    async def main():
        registry = tools if executor is None else executor.registry
        async with Client(server(registry, executor=executor, structured="all")) as client:
            return await question(client)

    return anyio.run(main)


async def listed(client):
    return [one.model_dump() for one in (await client.list_tools()).tools]


def test_a_server_of_doubles_is_the_server_of_the_tools():
    double = ToolDouble(find, [Order("A7", 1.0)])

    async def question(client):
        good = await client.call_tool("find", {"order_id": "A7"})
        bad = await client.call_tool("find", {"order_id": 7})
        return await listed(client), good.structured_content, bad.is_error, bad.content[0].text

    tools, content, is_error, text = asked(question, Registry([double]))
    assert tools == asked(listed, Registry([find]))
    assert content == [{"id": "A7", "total": 1.0}]
    assert (is_error, text) == (True, asked(question, Registry([find]))[3])
    assert_calls(double, [{"order_id": "A7"}])


def test_a_server_is_recorded_and_played_back(tmp_path):
    path = tmp_path / "calls.jsonl"

    async def question(client):
        results = [await client.call_tool("find", {"order_id": one}) for one in ("A7", 7)]
        return [result.model_dump(exclude={"meta"}) for result in results]

    recording = record(Executor(find), path)
    found = asked(question, None, recording)
    playing = playback(find, path)
    assert asked(question, None, playing) == found
    assert playing.left == 0
    assert_calls(recording, [("find", {"order_id": "A7"}), ("find", {"order_id": 7})])
