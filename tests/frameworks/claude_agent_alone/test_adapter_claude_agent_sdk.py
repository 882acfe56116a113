"""claude-agent-sdk: our tools in Claude Code, whose model is a server that says what the test wants."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    ToolResultBlock,
    UserMessage,
    query,
)
from local_server import serving
from patience import LONGEST_WAIT
from turn_table import run_section
from turns import CALLS, CONTEXT, OURS, TOOLS, Answer, Call, add, book, check, check_schemas, turns

from operator_schema import Executor, Registry, tool
from operator_schema.adapters.claude_agent_sdk import allowed_tools, to_server
from operator_schema.tools import document_tool

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "its own text, which says what may have gone wrong",
    "unknown": "its own text: No such tool available",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by the permissions of Claude Code",
}
SCHEMA = OURS


def events(*messages):
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in messages)


def streamed(blocks, reason):
    """Return a stream of Anthropic's Messages API."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "usage": usage,
    }
    parts = [{"type": "message_start", "message": head}]
    for index, (block, delta) in enumerate(blocks):
        parts += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}
    return events(*parts, end, {"type": "message_stop"})


def asked(calls):
    def text_of(arguments):
        return arguments if isinstance(arguments, str) else json.dumps(arguments)

    blocks = [
        (
            {"type": "tool_use", "id": f"toolu_{number}", "name": f"mcp__tools__{one.name}", "input": {}},
            {"type": "input_json_delta", "partial_json": text_of(one.arguments)},
        )
        for number, one in enumerate(calls)
    ]
    return streamed(blocks, "tool_use")


DONE = streamed([({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})], "end_turn")


@pytest.fixture
def options(tmp_path):
    """Return what makes the options of Claude Code, which keeps its files in a folder of the test."""

    def make(address, tools, **more):
        env = {
            "ANTHROPIC_API_KEY": "x",
            "ANTHROPIC_BASE_URL": address,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "HOME": str(tmp_path),
        }
        return ClaudeAgentOptions(
            mcp_servers={"tools": to_server(tools, **more)},
            allowed_tools=allowed_tools(tools),
            cwd=tmp_path,
            env=env,
            max_turns=3,
            setting_sources=[],
            tools=[],
        )

    return make


@pytest.fixture
def talk(options):
    """Return what the model reads of its calls, and the requests."""

    def run(calls, tools=TOOLS, **more):
        async def main(address):
            found = []
            async for message in query(prompt="go", options=options(address, tools, **more)):
                if isinstance(message, UserMessage):
                    found += [block for block in message.content if isinstance(block, ToolResultBlock)]
                if isinstance(message, ResultMessage):
                    assert (message.subtype, message.result) == ("success", "done")
            return found

        with serving(asked(calls), DONE) as (address, requests):
            found = asyncio.run(asyncio.wait_for(main(address), LONGEST_WAIT))
        found.sort(key=lambda block: block.tool_use_id)
        return [
            Answer(_text(one.content), bool(one.is_error), "image" in str(one.content)) for one in found
        ], requests

    return run


def _text(content):
    if isinstance(content, str):
        return content
    return "\n".join([part["text"] for part in content if part["type"] == "text"])


@pytest.mark.parametrize("turn", turns(TURNS))
def test_a_turn_goes_as_everywhere(turn, talk):
    check(turn, talk(CALLS[turn], context=CONTEXT)[0])


def test_malformed_json_is_told_in_its_words(talk):
    ((found,), _) = talk(CALLS["malformed"])
    assert "could not be parsed as JSON" in found.text
    assert found.is_error


def test_an_unknown_tool_is_told_in_its_words(talk):
    ((found,), _) = talk(CALLS["unknown"])
    assert "No such tool available: mcp__tools__ad" in found.text


def test_the_model_reads_our_schemas(talk):
    _, requests = talk(CALLS["good"])
    sent = {one["name"]: one for one in requests[0]["tools"]}
    for made in TOOLS:
        one = sent[f"mcp__tools__{made.name}"]
        assert one["input_schema"] == made.input_schema()
        assert one["description"] == made.definition()["description"]
    check_schemas(SCHEMA, {made.name: sent[f"mcp__tools__{made.name}"]["input_schema"] for made in TOOLS})


def test_a_tool_whose_schema_the_api_would_refuse_is_there_without_that_part(talk):
    schema = {
        "type": "object",
        "properties": {"mode": {"type": "string"}, "size": {"type": "integer"}},
        "anyOf": [{"required": ["mode"]}, {"required": ["size"]}],
    }
    foreign = document_tool(lambda arguments: "ok", schema, name="foreign", description="Do it.")
    found, requests = talk([Call("foreign", {}), Call("foreign", {"size": 1})], tools=[foreign])
    (sent,) = [one for one in requests[0]["tools"] if one["name"] == "mcp__tools__foreign"]
    assert "anyOf" not in sent["input_schema"]
    assert sent["description"].endswith("Use at least one of these sets of arguments: (1) mode · (2) size.")
    assert [answer.is_error for answer in found] == [True, False]


def test_interrupting_the_agent_cancels_the_tool(options):
    begun, ended = asyncio.Event(), []

    @tool
    async def hang() -> int:
        """Hang."""
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        return 1

    async def main(address):
        async with ClaudeSDKClient(options(address, [hang])) as client:
            await client.query("go")
            reading = asyncio.create_task(_read(client))
            await begun.wait()
            await client.interrupt()
            await reading

    with serving(asked([Call("hang", {})]), DONE, DONE) as (address, _):
        asyncio.run(asyncio.wait_for(main(address), LONGEST_WAIT))
    assert ended == [True]


async def _read(client):
    return [message async for message in client.receive_response()]


def test_tools_that_are_off_are_not_there(talk):
    registry = Registry([add, book])
    registry.switch("book", enabled=False)
    assert allowed_tools(registry, name="mine") == ["mcp__mine__add"]
    _, requests = talk(CALLS["good"], registry)
    names = {one["name"] for one in requests[0]["tools"]}
    assert "mcp__tools__add" in names
    assert "mcp__tools__book" not in names


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_tool_that_is_replaced_by_one_that_needs_a_person_doesnt_run_unasked(options, when):
    """Claude Code got the list of allowed names before; what it asks about by itself runs as ever."""
    ran = []

    @tool
    async def pay(amount: int) -> int:
        """Pay."""
        ran.append(amount)
        return amount

    async def agree(_name, arguments, _context):
        return PermissionResultAllow(updated_input=arguments)

    registry = Registry([pay])

    def give_another():
        registry.unregister("pay")
        registry.register(pay.with_(confirm=True))

    if when == "before":
        give_another()

    async def main(address):
        chosen = options(address, registry)
        if when == "before":
            chosen = replace(chosen, can_use_tool=agree)
        else:
            give_another()
        async with ClaudeSDKClient(chosen) as client:
            await client.query("go")
            return [
                block
                for message in await _read(client)
                if isinstance(message, UserMessage)
                for block in message.content
                if isinstance(block, ToolResultBlock)
            ]

    with serving(asked([Call("pay", {"amount": 5})]), DONE) as (address, _):
        (found,) = asyncio.run(asyncio.wait_for(main(address), LONGEST_WAIT))
    if when == "before":
        assert ran == [5]
    else:
        assert ran == []
        assert found.is_error
        assert "a person has to agree" in _text(found.content)


@pytest.mark.parametrize(("arguments", "paid"), [({"amount": 5}, [5]), ({"amount": 5, "dry_run": True}, [])])
def test_what_a_person_approved_in_claude_code_has_no_key_that_is_ignored(options, arguments, paid):
    ran, read = [], []

    @tool(confirm=True)
    def pay(amount: int, dry: bool = False) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    async def agree(_name, arguments, _context):
        read.append(arguments)
        return PermissionResultAllow(updated_input=arguments)

    async def main(address):
        async with ClaudeSDKClient(replace(options(address, [pay]), can_use_tool=agree)) as client:
            await client.query("go")
            said = [message for message in await _read(client) if isinstance(message, UserMessage)]
            blocks = [block for message in said for block in message.content]
            return [_text(block.content) for block in blocks if isinstance(block, ToolResultBlock)]

    with serving(asked([Call("pay", arguments)]), DONE) as (address, _):
        (told,) = asyncio.run(asyncio.wait_for(main(address), LONGEST_WAIT))
    assert read == [arguments]
    assert ran == paid
    assert ("the tool doesn't know: dry_run" in told) == (not paid)


def test_an_executor_of_ones_own(talk):
    @tool
    async def slow() -> int:
        """Take long."""
        await asyncio.sleep(60)
        return 1

    registry = Registry([slow])
    ((found,), _) = talk([Call("slow", {})], registry, executor=Executor(registry, timeout=0.2))
    assert found.is_error
    assert "0.2" in found.text


@pytest.mark.parametrize("name", ["", "my tools", "a.b", "é"])
def test_a_name_must_fit_into_the_name_of_a_tool(name):
    with pytest.raises(ValueError, match="letters, digits, _ and -"):
        to_server(TOOLS, name=name)
    with pytest.raises(TypeError, match="a string, not integer 5"):
        allowed_tools(TOOLS, name=5)


def test_wrong_use_is_told():
    with pytest.raises(TypeError, match="isn't a Tool; decorate it with @tool"):
        to_server(len)
    with pytest.raises(TypeError, match="structurd"):
        to_server(TOOLS, structurd="all")


def test_the_examples_of_the_page_run():
    assert run_section("claude-agent-sdk")["options"].allowed_tools == ["mcp__tools__search"]
