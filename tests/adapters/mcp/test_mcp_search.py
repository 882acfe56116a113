"""Searches of several clients on one server: each sees what it found itself."""

from __future__ import annotations

import anyio
import pytest
from hearing import hearing_client
from mcp import Client
from mcp_types import ToolListChangedNotification
from patience import LONGEST_WAIT

from operator_schema import Executor, RawCall, Registry, tool
from operator_schema.adapters.mcp import server
from operator_schema.rounds import FoundTools, ToolSearch

MODES = ["legacy", "2026-07-28"]


@tool
def pay_invoice(invoice_id: str) -> str:
    """Settle a bill of a supplier."""
    return f"paid {invoice_id}"


@tool
def forecast(city: str) -> str:
    """Say what the weather will be."""
    return f"sun in {city}"


def many():
    return ToolSearch([pay_invoice, forecast])


async def names(client):
    return [one.name for one in (await client.list_tools()).tools]


def test_what_one_client_finds_is_listed_for_it_alone_and_only_it_is_told():
    heard: list[str] = []

    def hearing(name):
        async def handle(message):
            if isinstance(message, ToolListChangedNotification):
                heard.append(name)

        return handle

    async def main():
        made = server(many())
        one = Client(made, mode="legacy", message_handler=hearing("one"))
        two = Client(made, mode="legacy", message_handler=hearing("two"))
        async with one, two:
            await one.call_tool("search_tools", {"query": "bill"})
            await two.call_tool("search_tools", {"query": "weather"})
            found = [await names(one), await names(two)]
            with anyio.fail_after(LONGEST_WAIT):
                while len(heard) < 2:
                    await names(one)
            assert (await one.call_tool("forecast", {"city": "Rome"})).content[0].text == "sun in Rome"
        async with Client(made, mode="legacy") as three:
            return [*found, await names(three)]

    found = anyio.run(main)
    assert found == [["search_tools", "pay_invoice"], ["search_tools", "forecast"], ["search_tools"]]
    assert sorted(heard) == ["one", "two"]


@pytest.mark.parametrize("mode", MODES)
def test_a_client_hears_of_what_it_found(mode):
    async def main():
        async with hearing_client(server(many()), mode) as (client, told):
            await client.call_tool("search_tools", {"query": "bill"})
            with anyio.fail_after(LONGEST_WAIT):
                await told.wait()
            return await names(client)

    assert anyio.run(main) == ["search_tools", "pay_invoice"]


def test_a_change_of_the_registry_is_told_to_every_client():
    search, heard = many(), set()

    def hearing(name):
        async def handle(message):
            if isinstance(message, ToolListChangedNotification):
                heard.add(name)

        return handle

    async def main():
        made = server(search)
        one = Client(made, mode="legacy", message_handler=hearing("one"))
        two = Client(made, mode="legacy", message_handler=hearing("two"))
        async with one, two:
            await one.call_tool("search_tools", {"query": "bill"})
            search.unregister("pay_invoice")
            with anyio.fail_after(LONGEST_WAIT):
                while len(heard) < 2:
                    await names(one)
            return [await names(one), await names(two)]

    assert anyio.run(main) == [["search_tools"], ["search_tools"]]


def test_found_tools_of_a_context_are_apart_from_those_of_the_registry():
    search, told = many(), []
    found = FoundTools(lambda: told.append(found.names))
    context = {FoundTools: found}
    executor = Executor(search)
    for query in ("bill", "bill", "weather"):
        executor.run_sync(RawCall("1", "search_tools", {"query": query}), context=context)
    assert search.found == ()
    assert told == [("pay_invoice",), ("pay_invoice", "forecast")]
    search.switch(pay_invoice, enabled=False)
    assert [one.name for one in search.offered(context=context)] == ["search_tools", "forecast"]
    search.unregister("forecast")
    assert [one.name for one in search.offered(context=context)] == ["search_tools"]
    assert [one.name for one in Registry(search).offered(context=context)] == []
