"""An executor as what is served: its hooks, context and limits hold, over pipes and in memory."""

from __future__ import annotations

import anyio
import mcp_types as types
import pytest
import warm_processes
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_processes import environment, over_stdio
from patience import LONGEST_WAIT

from operator_schema import Defer, Executor, Reject, tool
from operator_schema.adapters.mcp import server

DESK = """
from typing import Annotated

from operator_schema import Executor, Reject, RunNormally, skip, tool
from operator_schema.adapters import mcp


class Desk:
    name = "front desk"


@tool
def refund(amount: float, *, desk: Annotated[Desk, skip]) -> str:
    "Pay money back."
    return f"{desk.name} paid {amount:g}"


def no_large_refunds(call):
    return Reject("100 at most") if call.input.amount > 100 else None


executor = Executor([refund], hooks=[no_large_refunds], context={Desk: Desk()}, timeout=10)

if __name__ == "__main__":
    mcp.serve(executor)
"""


@pytest.mark.needs_process
@pytest.mark.slow("starts a server in a process for each question")
@pytest.mark.parametrize("way", ["mcp.serve", "operator-schema serve"])
def test_its_rules_hold_over_pipes(tmp_path, way):
    (tmp_path / "desk.py").write_text(DESK, encoding="utf-8")
    program, *words = warm_processes.script("desk.py", serves=True)
    own = StdioServerParameters(command=program, args=words, cwd=tmp_path, env=environment())
    transport = own if way == "mcp.serve" else over_stdio("desk:executor", folder=tmp_path)

    async def main():
        async with Client(transport) as client:
            with anyio.fail_after(LONGEST_WAIT):
                answers = [await client.call_tool("refund", {"amount": amount}) for amount in (6, 600)]
        return [answer.content[0].text for answer in answers]

    assert anyio.run(main) == ["front desk paid 6", "This call was rejected: 100 at most"]


wiped = []


@tool
def wipe(path: str) -> str:
    """Wipe a folder."""
    wiped.append(path)
    return f"wiped {path}"


def decide(call):
    return Reject("not that one") if call.input.path == "/" else Defer("it can't be undone")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("agrees", [True, False])
def test_the_client_is_asked_about_what_a_hook_defers(mode, agrees):
    wiped.clear()
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept" if agrees else "decline", content={} if agrees else None)

    async def main():
        made = server(Executor([wipe], hooks=decide))
        async with Client(made, mode=mode, elicitation_callback=elicit) as client:
            refused = await client.call_tool("wipe", {"path": "/"})
            assert asked == []  # nobody is asked about what a hook refuses
            return refused, await client.call_tool("wipe", {"path": "x"})

    refused, answer = anyio.run(main)
    assert refused.content[0].text == "This call was rejected: not that one"
    assert asked == ['Run wipe?\n(it can\'t be undone)\npath: "x"']
    assert wiped == (["x"] if agrees else [])
    assert ("wiped x" in answer.content[0].text) is agrees
