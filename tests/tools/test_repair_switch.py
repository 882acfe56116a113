"""One switch corrects the arguments of all tools, at whatever entrance a call comes in."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from operator_schema import Executor, RawCall, Registry, Reject, Toolset, hook, tool
from operator_schema.adapters.base import Adapter
from operator_schema.adapters.process import answer, tools_of
from operator_schema.adapters.runner import Runner
from operator_schema.errors import DuplicateToolError
from operator_schema.providers import anthropic, gemini, openai_chat, openai_responses
from operator_schema.rounds import Hooks

WRONG = {"Number": "21"}
PROGRAM = """
from operator_schema import tool
from operator_schema.adapters.process import main


@tool
def double(number: int) -> int:
    return 2 * number


main([double])
"""


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@tool
def triple(number: int) -> int:
    """Triple a number."""
    return 3 * number


def content_of(results: Any) -> str:
    [result] = results
    return result.content


def executed(tools: Any) -> str:
    return Executor(tools).run_sync(RawCall("1", "double", WRONG)).content


def executed_from_text(tools: Any) -> str:
    return content_of(Executor(tools).run_sync([RawCall("1", "double", json.dumps(WRONG))]))


def in_a_round(tools: Any) -> str:
    own = tools if isinstance(tools, Toolset) else Toolset(*tools)
    plan = Executor(own).run_sync(own.offer().round([RawCall("1", "double", WRONG)]))
    return content_of(plan.commit([]).results)


def in_a_round_of_an_offer(tools: Any) -> str:
    offer = Toolset(*tools).offer()
    plan = Executor(tools).run_sync(offer.round([RawCall("1", "double", WRONG)]))
    return content_of(plan.commit([]).results)


def in_a_hooked_round(tools: Any) -> str:
    own = Toolset(*tools)

    @hook(own["double"])
    def note(call: Any) -> None:
        assert call.input.number == 21

    plan = Executor(own).run_sync(own.offer().round([RawCall("1", "double", WRONG)]), hooks=Hooks(note))
    return content_of(plan.commit([]).results)


ADAPTER = Adapter[Runner]("a framework", lambda _tool, runner: runner)


def in_an_adapter(tools: Any) -> str:
    runner, *_ = ADAPTER.to_tools(tools)
    return asyncio.run(runner.run("double", WRONG)).content


def in_an_adapter_of_one_tool(tools: Any) -> str:
    [found] = [each for each in tools if each.name == "double"]
    return ADAPTER.to_tool(found).run_sync("double", json.dumps(WRONG)).content


def over_a_process(tools: Any) -> str:
    said = answer(tools, {"action": "run", "tool": "double", "arguments": WRONG})
    return str(said.get("content", said.get("message")))


def over_chat(tools: Any) -> str:
    function = {"name": "double", "arguments": json.dumps(WRONG)}
    message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    said = openai_chat.answer({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, tools)
    return content_of(Executor(tools).run_sync(said.calls))


def over_responses(tools: Any) -> str:
    item = {"type": "function_call", "call_id": "1", "name": "double", "arguments": json.dumps(WRONG)}
    said = openai_responses.answer({"output": [item]}, tools)
    return content_of(Executor(tools).run_sync(said.calls))


def over_messages(tools: Any) -> str:
    block = {"type": "tool_use", "id": "1", "name": "double", "input": WRONG}
    said = anthropic.answer({"content": [block], "stop_reason": "tool_use"}, tools)
    return content_of(Executor(tools).run_sync(said.calls))


def over_a_stream(tools: Any) -> str:
    part = {"functionCall": {"name": "double", "args": WRONG}}
    stream = gemini.stream(tools)
    stream.feed({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})
    return content_of(Executor(tools).run_sync(stream.close().calls))


def over_mcp(tools: Any) -> str:
    mcp = pytest.importorskip("mcp", reason="not on every Python")
    from operator_schema.adapters.mcp import server

    async def main() -> Any:
        async with mcp.Client(server(Registry(tools))) as client:
            return (await client.call_tool("double", WRONG)).content[0].text

    return asyncio.run(main())


ENTRANCES = [
    executed,
    executed_from_text,
    in_a_round,
    in_a_round_of_an_offer,
    in_a_hooked_round,
    in_an_adapter,
    in_an_adapter_of_one_tool,
    over_a_process,
    over_chat,
    over_responses,
    over_messages,
    over_a_stream,
    over_mcp,
]


@pytest.mark.needs_threads
@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("tools", [Registry([double, triple]), Toolset(double, triple)])
def test_arguments_are_corrected_at_every_entrance_if_the_switch_is_on(entrance, tools):
    assert "42" not in entrance(tools)
    assert entrance(Toolset(tools).with_(repair=True)) == "42"
    assert "42" not in entrance(Toolset(tools).with_(repair=True).with_(repair=False))


@pytest.mark.slow("starts a process")
@pytest.mark.needs_process
def test_arguments_for_another_process_are_corrected_before_they_leave(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "program.py")]
    assert "42" not in executed(Registry(tools_of(command)))
    assert executed(Registry(tools_of(command, repair=True))) == "42"
    assert executed(Toolset(tools_of(command)).with_(repair=True)) == "42"


@pytest.mark.needs_process
def test_arguments_for_another_server_are_corrected_before_they_leave():
    mcp = pytest.importorskip("mcp", reason="not on every Python")
    from operator_schema.adapters.mcp import server
    from operator_schema.adapters.mcp_client import tools_from

    async def main(**options: Any) -> str:
        async with mcp.Client(server(Registry([double]))) as client:
            own = Registry(await tools_from(client, **options))
            return (await Executor(own).run(RawCall("1", "double", WRONG))).content

    assert "42" not in asyncio.run(main())
    assert asyncio.run(main(repair=True)) == "42"


# --- what else the switch of a toolset leaves and changes -------------------------------------------


@pytest.mark.needs_threads
def test_hooks_for_a_toolset_apply_to_the_one_with_other_options():
    plain = Toolset(double, triple)

    @hook(plain["double"])
    def refuse(call: Any) -> Reject:
        return Reject(f"not {call.input.number}")

    own = plain.with_(repair=True)
    hooks = Hooks(refuse, toolset=plain)
    plan = Executor(own).run_sync(own.offer().round([RawCall("1", "double", WRONG)]), hooks=hooks)
    assert "not 21" in content_of(plan.commit([]).results)


def test_a_toolset_with_other_options_is_another_value_of_the_same_names():
    plain = Toolset(double, triple)
    assert plain.with_() == plain
    assert plain.with_(repair=True) == plain.with_(repair=True) != plain
    assert [each.name for each in plain.with_(timeout=3)] == ["double", "triple"]
    assert [each.timeout for each in plain.with_(timeout=3)] == [3, 3]
    with pytest.raises(TypeError, match="repare"):
        plain.with_(repare=True)
    with pytest.raises(DuplicateToolError):
        plain.with_(name="one")
