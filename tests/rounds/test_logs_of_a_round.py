"""Every log line of a round has its id and its conversation, wherever it is written."""

from __future__ import annotations

import asyncio
import logging

import pytest

from operator_schema import Defer, Executor, RawCall, Toolset, hook, tool
from operator_schema.rounds import SqliteStore

pytestmark = pytest.mark.needs_threads


@tool
def fail(order: str) -> str:
    """Fail, in a thread."""
    raise ValueError(order)


@tool
async def slow() -> str:
    """Take too long."""
    await asyncio.sleep(3600)
    return ""


@tool(confirm=True)
def pay(order: str) -> str:
    """Pay."""
    return order


@hook(fail)
def agrees(call):
    return Defer("more than usual") if call.input.order == "B2" else None


TOOLS = Toolset(fail, slow, pay, hooks=[agrees])
CALLS = [("fail", {"order": "A7"}), ("fail", {"order": "B2"}), ("slow", {}), ("pay", {"order": "A7"})]


def sent(conversation):
    calls = [RawCall(str(number), *call) for number, call in enumerate(CALLS)]
    return TOOLS.offer().round(calls, conversation=conversation)


@pytest.mark.parametrize("conversation", ["customer 7", None])
@pytest.mark.parametrize("stored", [True, False])
def test_every_line_of_a_round_has_its_id_and_conversation(tmp_path, caplog, conversation, stored):
    caplog.set_level(logging.DEBUG, logger="operator_schema")
    store = SqliteStore(tmp_path / "desk.db") if stored else None

    def breaks(call, work):
        raise OSError("no mail server")

    executor = Executor(TOOLS, store=store, timeout=0.05, on_waiting=breaks)
    work = executor.run_sync(sent(conversation))
    work = work.approve("1", by="anna").reject("3", by="bert")
    executor.run_sync(work)
    ours = [record for record in caplog.records if record.name == "operator_schema"]
    assert {(record.round_id, record.conversation) for record in ours} == {(work.id, conversation)}
    said = "\n".join(caplog.messages)
    parts = "fail (call 0)", "decided Defer", "no result within", "on_waiting failed", "anna", "bert"
    for part in parts:
        assert part in said, said


def test_lines_outside_of_a_round_say_so(caplog):
    caplog.set_level(logging.DEBUG, logger="operator_schema")
    Executor(TOOLS).run_sync(RawCall("1", "fail", {"order": "A7"}))
    assert {(record.round_id, record.conversation) for record in caplog.records} == {(None, None)}
