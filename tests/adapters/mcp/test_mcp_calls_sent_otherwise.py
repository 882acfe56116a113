"""mcp: calls of another name, in a wrapper or with text as arguments get the call to send, or are read."""

from __future__ import annotations

import json
from dataclasses import dataclass

import anyio
import mcp_types as types
import pytest
from mcp import Client

from operator_schema import Defer, Executor, Registry, Toolset, hook, tool
from operator_schema.adapters.mcp import server

ran: list[object] = []


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@tool
def fetch(url: str, retries: int = 1) -> dict[str, str]:
    """Fetch a page."""
    ran.append(url)
    return {"url": url}


@tool
def ping() -> str:
    """Say that it is there."""
    ran.append("ping")
    return "pong"


class TextParams(types.CallToolRequestParams):
    arguments: object


class TextRequest(types.CallToolRequest):
    params: TextParams


def answers(tools, *calls, mode="legacy", **options):
    """Return what the SDK's own client gets for calls, whatever their arguments are."""

    async def main():
        async with Client(server(tools, **options), mode=mode) as client:
            found = []
            for name, arguments in calls:
                request = TextRequest(params=TextParams(name=name, arguments=arguments))
                found.append(await client.session.send_request(request, types.CallToolResult))
            return found

    return anyio.run(main)


both_protocols = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
ARGUMENTS = {"url": "u"}
TEXT = json.dumps(ARGUMENTS)
SENT = [
    ("fetch", TEXT, ARGUMENTS),
    ("fetch", {"arguments": ARGUMENTS}, ARGUMENTS),
    ("fetch", {"input": TEXT}, ARGUMENTS),
    ("fetch", json.dumps({"arguments": ARGUMENTS}), ARGUMENTS),
    ("mcp__web__fetch", ARGUMENTS, {"name": "fetch", "arguments": ARGUMENTS}),
    ("functions.fetch", TEXT, {"name": "fetch", "arguments": ARGUMENTS}),
    ("fetch_tool", {"input": ARGUMENTS}, {"name": "fetch", "arguments": ARGUMENTS}),
]


@both_protocols
@pytest.mark.parametrize(
    "said", [{}, {"destructive": True, "repair": True}, {"confirm": True, "repair": True}]
)
def test_the_text_shows_what_to_send(said, mode):
    made = fetch.with_(**said)
    found = answers([made], *[(name, arguments) for name, arguments, _ in SENT], mode=mode, confirm=False)
    for (_, _, send), answer in zip(SENT, found, strict=True):
        assert answer.is_error
        assert answer.content[0].text.endswith(f"\nsend: {json.dumps(send)}")
    assert not ran


@both_protocols
def test_repair_reads_it_and_the_answer_is_that_of_the_tool(mode):
    found = answers([fetch.with_(repair=True)], *[(name, sent) for name, sent, _ in SENT], mode=mode)
    assert [answer.structured_content for answer in found] == [ARGUMENTS] * len(SENT)
    assert ran == ["u"] * len(SENT)


@pytest.mark.parametrize("repair", [False, True])
def test_what_no_call_can_be_made_of(repair):
    tools = Toolset(fetch, ping).with_(repair=repair)
    cut, blank, empty, unknown = answers(
        tools, ("fetch", '{"url": '), ("fetch", ""), ("ping", " "), ("nothing", TEXT)
    )
    assert "JSON" in cut.content[0].text
    assert "url: missing" in blank.content[0].text
    assert unknown.content[0].text == 'tool "nothing" not found; the tools are "fetch", "ping"'
    for answer in (cut, blank, unknown):
        assert answer.is_error
        assert "send: " not in answer.content[0].text
    assert empty.content[0].text == "pong"
    assert ran == ["ping"]


def test_a_class_that_fails_costs_one_call_alone():
    @dataclass
    class Failing:
        x: int

        def __post_init__(self):
            raise ZeroDivisionError

    @tool
    def take(failing: Failing) -> str:
        """Take it."""
        return "taken"

    (answer,) = answers([take], ("take", '{"x": 1}'))
    assert answer.content[0].text == "take failed: ZeroDivisionError"


def test_nobody_is_asked_about_a_call_that_the_client_did_not_send():
    @hook("fetch")
    def look(call):
        return Defer("a person has to look at it")

    executor = Executor(Registry(fetch.with_(repair=True)), hooks=look)
    (answer,) = answers(executor, ("functions.fetch", ARGUMENTS))
    assert answer.content[0].text.endswith(f"\nsend: {json.dumps(SENT[4][2])}")
    assert not ran


def test_a_server_that_a_tool_calls_has_its_own_arguments():
    async def inner(url: str) -> str:
        """Ask another server in this process."""
        async with Client(server([fetch])) as client:
            return (await client.call_tool("fetch", {"url": url})).structured_content["url"]

    (answer,) = answers([tool(inner, repair=True)], ("inner", TEXT))
    assert answer.content[0].text == "u"
    assert ran == ["u"]
