"""Gateways that start each other: none starts without end."""

from __future__ import annotations

import json

import anyio
import pytest
from gateway_cases import behind
from mcp import StdioServerParameters

from operator_schema import tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.adapters.mcp.nesting import gateways_above, started_below

VARIABLE = "OPERATOR_SCHEMA_GATEWAYS"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def above(source):
    return json.loads(source.env[VARIABLE])


def opened():
    async def main():
        async with Gateway(behind(server([add]))) as gateway:
            return [one.name for one in gateway.registry]

    return anyio.run(main)


def test_a_server_that_is_started_knows_of_the_gateways_above_it(monkeypatch):
    first = started_below(StdioServerParameters(command="x", args=["y"], env={"KEY": "1"}), "/a.json")
    assert (first.command, first.args, first.env["KEY"], above(first)) == ("x", ["y"], "1", ["/a.json"])
    assert started_below(first) is first
    monkeypatch.setenv(VARIABLE, first.env[VARIABLE])
    assert gateways_above() == ["/a.json"]
    second = started_below(["x", "y"])
    assert (second.command, second.args, above(second)) == ("x", ["y"], ["/a.json", ""])
    assert above(started_below(StdioServerParameters(command="x"), "/b.json")) == ["/a.json", "/b.json"]


@pytest.mark.parametrize("given", ["[]", '["/b.json", "/c.json"]', "null", '["/a.json"]'])
def test_a_server_can_not_be_given_another_past(monkeypatch, given):
    monkeypatch.setenv(VARIABLE, '["/a.json"]')
    source = StdioServerParameters(command="x", env={VARIABLE: given})
    assert above(started_below(source)) == ["/a.json", ""]


def test_what_is_not_started_stays_as_it_is():
    def transport():
        raise NotImplementedError

    assert started_below("https://example.com/mcp") == "https://example.com/mcp"
    assert started_below(transport) is transport


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}", "[" * 100_000])
def test_what_is_not_a_list_of_files_counts_as_one_gateway(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    assert gateways_above() == [""]


def test_at_most_four_gateways_may_be_behind_each_other(monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps([""] * 3))
    assert opened() == ["add"]
    monkeypatch.setenv(VARIABLE, json.dumps([""] * 4))
    with pytest.raises(
        ConnectionError, match="more than 4 gateways are behind each other: put the servers of the last into"
    ):
        opened()
